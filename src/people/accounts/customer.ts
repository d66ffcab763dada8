import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { recordEvents, takeTimeOfCommit } from '../../platform/events/log.ts';
import { toAddress } from '../../shops/countries/address.ts';
import type { VatCheck } from '../../shops/vat-numbers/buyer.ts';
import { insertNumberedCustomer } from '../customers/queries.ts';

/** The oldest customer with this address: the one that an order with it belongs to. */
export async function findCustomerIdOf(
  db: Queries,
  shopId: string,
  email: string,
): Promise<string | undefined> {
  const row = await db.one<{ customerId: string }>(sql`
    select upper(customer_id::text) as "customerId" from customer
    where shop_id = ${shopId} and email_key = ${email} order by created_at, customer_id limit 1`);
  return row?.customerId;
}

export function updateVatCheck(db: Queries, shopId: string, customerId: string, check: VatCheck) {
  return db.run(sql`
    update customer set vat_check = ${check} where shop_id = ${shopId} and customer_id = ${customerId}`);
}

/** Creates a customer for an address that has none, so that the merchant can find every account holder. */
export async function findOrCreateCustomerOf(
  tx: Transaction,
  shopId: string,
  email: string,
): Promise<string> {
  const known = await findCustomerIdOf(tx, shopId, email);
  if (known !== undefined) return known;
  // Placing an order locks this counter before creating a customer, so no duplicate can be created meanwhile.
  await takeTimeOfCommit(tx, shopId);
  const sinceThen = await findCustomerIdOf(tx, shopId, email);
  if (sinceThen !== undefined) return sinceThen;
  const customerId = newId(tx.now);
  await insertNumberedCustomer(tx, shopId, {
    customerId,
    billingAddress: toAddress({ emailAddress: email }, ''),
    internalNote: null,
  });
  recordEvents(tx, shopId, [{ type: 'CUSTOMER_CREATE', resourceId: customerId }]);
  return customerId;
}
