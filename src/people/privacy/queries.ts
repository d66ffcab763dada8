import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { ERASED_EMAIL, type Person } from '../../platform/personal-data.ts';
import type { Address } from '../../shops/countries/address.ts';
import type { VatCheck } from '../../shops/vat-numbers/buyer.ts';

export interface CustomerData extends Person {
  customerNumber: string;
  customerGroup: string | null;
  billingAddress: Address | null;
  vatCheck: VatCheck | null;
  internalNote: string | null;
}

const columns = (shopId: string) => sql`
  upper(customer.customer_id::text) as "customerId", customer.customer_number as "customerNumber",
  customer.created_at as "createdAt", (
    select name from customer_group
    where customer_group.shop_id = ${shopId}
      and customer_group.customer_group_id = customer.customer_group_id
  ) as "customerGroup",
  customer.billing_address as "billingAddress", customer.vat_check as "vatCheck",
  customer.internal_note as "internalNote",
  array(
    select lower(email) from (
      select unnest(array[customer.billing_address ->> 'emailAddress',
        customer.billing_address ->> 'privateEmailAddress', customer.billing_address ->> 'businessEmailAddress',
        customer.ordered_as]) as email
      union all
      select customer_order.billing_address ->> 'emailAddress' from customer_order
      where customer_order.shop_id = ${shopId} and customer_order.customer_id = customer.customer_id
    ) known
    where email <> '' and email <> ${ERASED_EMAIL}
    group by 1 order by 1
  ) as emails`;

export function findCustomerRecord(db: Queries, shopId: string, customerId: string) {
  return db.one<CustomerData>(sql`
    select ${columns(shopId)} from customer where shop_id = ${shopId} and customer_id = ${customerId}`);
}

/** Locks the customer against changes until the transaction ends. Orders of the customer can still be placed. */
export function lockCustomerRecord(tx: Transaction, shopId: string, customerId: string) {
  return tx.one<CustomerData>(sql`
    select ${columns(shopId)} from customer where shop_id = ${shopId} and customer_id = ${customerId} for no key update`);
}

export function findCustomerByNumber(db: Queries, shopId: string, customerNumber: string) {
  return db.one<{ customerId: string }>(sql`
    select upper(customer_id::text) as "customerId" from customer
    where shop_id = ${shopId} and customer_number = ${customerNumber}`);
}

export async function countOrdersOf(db: Queries, shopId: string, customerId: string): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from customer_order where shop_id = ${shopId} and customer_id = ${customerId}`);
  return row!.count;
}

/** Deletes responses that are stored for idempotent retries and name the customer, an order or one of these carts. */
export function deleteStoredResponses(
  tx: Transaction,
  shopId: string,
  { customerId, emails }: Person,
  cartIds: readonly string[],
) {
  // The addresses as they appear in JSON, without the quotation marks.
  const texts = emails.map((email) => JSON.stringify(email).slice(1, -1));
  return tx.run(sql`
    delete from idempotent_answer
    where shop_id = ${shopId} and (
      exists (select from unnest(${texts}::text[]) email where strpos(lower(body), email) > 0)
      or exists (
        select from regexp_matches(body, '"(?:customer|order|cart)Id":"([0-9A-F-]{36})"', 'g') named (ids)
        where ids[1] = ${customerId} or ids[1] = any (${cartIds}::text[]) or exists (
          select from customer_order
          where customer_order.shop_id = ${shopId} and customer_order.customer_id = ${customerId}
            and (customer_order.order_id = ids[1]::uuid or customer_order.cart_id = ids[1]::uuid))))`);
}

export async function hasUnerasedOrders(db: Queries, shopId: string, customerId: string): Promise<boolean> {
  const order = await db.one(sql`
    select from customer_order
    where shop_id = ${shopId} and customer_id = ${customerId} and erased_at is null limit 1`);
  return order !== undefined;
}

/** Returns whether the customer was deleted. A customer with orders stays as a number, because orders refer to it. */
export async function eraseCustomerRow(
  tx: Transaction,
  shopId: string,
  customerId: string,
): Promise<boolean> {
  const deleted = await tx.run(sql`
    delete from customer where shop_id = ${shopId} and customer_id = ${customerId} and not exists (
      select from customer_order
      where customer_order.shop_id = ${shopId} and customer_order.customer_id = ${customerId})`);
  if (deleted > 0) return true;
  await tx.run(sql`
    update customer set billing_address = null, vat_check = null, internal_note = null, ordered_as = null, customer_group_id = null
    where shop_id = ${shopId} and customer_id = ${customerId}`);
  return false;
}
