import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { hasValues, idsWith, MAX_WITH_VALUE, rarestValue, type WantedValue } from '../../fields/filter.ts';
import type { Address } from '../../shops/countries/address.ts';
import { takeNumber } from '../../platform/counters.ts';

export interface CustomerRow {
  customerId: string;
  customerNumber: string;
  createdAt: Date;
  billingAddress: Address | null;
  internalNote: string | null;
}

const columns = sql`
  customer_id as "customerId", customer_number as "customerNumber", created_at as "createdAt",
  billing_address as "billingAddress", internal_note as "internalNote"`;

export function findCustomer(db: Queries, shopId: string, customerId: string) {
  return db.one<CustomerRow>(
    sql`select ${columns} from customer where shop_id = ${shopId} and customer_id = ${customerId}`,
  );
}

export function lockCustomer(tx: Transaction, shopId: string, customerId: string) {
  return tx.one<CustomerRow>(sql`
    select ${columns} from customer where shop_id = ${shopId} and customer_id = ${customerId} for no key update`);
}

export function findCustomers(db: Queries, shopId: string, limit: number, offset: number) {
  return db.many<CustomerRow>(sql`
    select ${columns} from customer where shop_id = ${shopId}
    order by created_at, customer_id limit ${limit} offset ${offset}`);
}

export async function countCustomers(db: Queries, shopId: string): Promise<number> {
  const row = await db.one<{ count: number }>(
    sql`select count(*) as count from customer where shop_id = ${shopId}`,
  );
  return row!.count;
}

/** Customers with values of custom fields, looked at from the one that the fewest have. */
const withValues = (shopId: string, rarest: WantedValue, wanted: readonly WantedValue[]) => sql`
  shop_id = ${shopId} and customer_id = any (array(${idsWith(shopId, rarest)} limit ${MAX_WITH_VALUE}))
  and ${hasValues(shopId, sql`customer.customer_id`, wanted)}`;

/** A page of these, oldest first, and how many there are. */
export async function findCustomersWith(
  db: Queries,
  shopId: string,
  wanted: readonly WantedValue[],
  { limit, offset }: { limit: number; offset: number },
): Promise<{ results: number; rows: CustomerRow[] }> {
  const { value } = await rarestValue(db, shopId, wanted, MAX_WITH_VALUE);
  const matching = withValues(shopId, value, wanted);
  const [counted, rows] = await Promise.all([
    db.one<{ results: number }>(sql`select count(*) as results from customer where ${matching}`),
    db.many<CustomerRow>(sql`
      select ${columns} from customer where ${matching}
      order by created_at, customer_id limit ${limit} offset ${offset}`),
  ]);
  return { results: counted!.results, rows };
}

export interface NewCustomer {
  customerId: string;
  customerNumber: string;
  billingAddress: Address | null;
  internalNote: string | null;
}

/** undefined: the number is taken. */
export function insertCustomer(tx: Transaction, shopId: string, customer: NewCustomer) {
  return tx.one<CustomerRow>(sql`
    insert into customer (shop_id, customer_id, customer_number, created_at, billing_address, internal_note)
    values (${shopId}, ${customer.customerId}, ${customer.customerNumber}, ${tx.now},
      ${customer.billingAddress}, ${customer.internalNote})
    on conflict (shop_id, customer_number) do nothing
    returning ${columns}`);
}

/** Gives the customer the next number that is not yet assigned by hand. */
export async function insertNumberedCustomer(
  tx: Transaction,
  shopId: string,
  customer: Omit<NewCustomer, 'customerNumber'>,
): Promise<CustomerRow> {
  for (;;) {
    const customerNumber = String(await takeNumber(tx, shopId, 'customer'));
    const row = await insertCustomer(tx, shopId, { ...customer, customerNumber });
    if (row) return row;
  }
}

export function updateCustomerRow(tx: Transaction, shopId: string, customer: CustomerRow) {
  return tx.run(sql`
    update customer
    set customer_number = ${customer.customerNumber}, billing_address = ${customer.billingAddress},
      internal_note = ${customer.internalNote}
    where shop_id = ${shopId} and customer_id = ${customer.customerId}`);
}

/** The group whose prices the customer gets; null: none. 0: there is no such customer. */
export function updateCustomerGroup(
  tx: Transaction,
  shopId: string,
  customerId: string,
  customerGroupId: string | null,
) {
  return tx.run(sql`
    update customer set customer_group_id = ${customerGroupId}
    where shop_id = ${shopId} and customer_id = ${customerId}`);
}
