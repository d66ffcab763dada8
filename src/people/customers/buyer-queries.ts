import type { Transaction } from '../../db/database.ts';
import { insertInto } from '../../db/insert.ts';
import { sql } from '../../db/sql.ts';
import type { Address } from '../../shops/countries/address.ts';

export interface FoundBuyer {
  orderId: string;
  /** The normalised email address that identifies customers. */
  emailKey: string;
  /** null: no customer has this address. */
  customerId: string | null;
  customerNumber: string | null;
  /** An order created a customer for this address, whether that customer still has it or not. */
  isOrderedAs: boolean;
}

/** Finds the customer of each order: the named one, or else the oldest one with its email address. */
export function findOrderBuyers(
  tx: Transaction,
  shopId: string,
  orders: readonly { orderId: string; customerId: string | null; email: string }[],
) {
  return tx.many<FoundBuyer>(sql`
    select upper(given.order_id::text) as "orderId", lower(given.email) as "emailKey",
      upper(coalesce(named.customer_id, found.customer_id)::text) as "customerId",
      coalesce(named.customer_number, found.customer_number) as "customerNumber",
      ordered.customer_id is not null as "isOrderedAs"
    from unnest(${orders.map(({ orderId }) => orderId)}::uuid[],
      ${orders.map(({ customerId }) => customerId)}::uuid[], ${orders.map(({ email }) => email)}::text[])
      as given (order_id, customer_id, email)
    left join lateral (
      select customer_id, customer_number from customer
      where shop_id = ${shopId} and customer_id = given.customer_id
    ) named on true
    left join lateral (
      select customer_id, customer_number from customer
      where shop_id = ${shopId} and email_key = lower(given.email)
      order by created_at, customer_id limit 1
    ) found on named.customer_id is null
    left join lateral (
      -- With a limit, so that PostgreSQL does not read all customers in order to look these up among them.
      select customer_id from customer where shop_id = ${shopId} and ordered_as = lower(given.email) limit 1
    ) ordered on true`);
}

export interface NewBuyer {
  customerId: string;
  emailKey: string;
  isOrderedAs: boolean;
  createdAt: Date;
  billingAddress: Address;
}

export type NumberedCustomer = NewBuyer & { number: number };

/**
 * Those of the next `count` customer numbers that a merchant has assigned by hand; they begin `skipped` after the
 * counter, which is locked.
 */
export async function findTakenNumbers(
  tx: Transaction,
  shopId: string,
  { skipped, count }: { skipped: number; count: number },
): Promise<Set<number>> {
  const rows = await tx.many<{ number: string }>(sql`
    select customer_number as number from customer
    where shop_id = ${shopId} and customer_number = any (array(
      select (value + ${skipped}::bigint + place)::text from counter cross join generate_series(1, ${count}) as place
      where shop_id = ${shopId} and name = 'customer'))`);
  return new Set(rows.map(({ number }) => Number(number)));
}

const insertCustomer = insertInto('customer', {
  customer_id: 'uuid',
  customer_number: 'text',
  created_at: 'timestamptz',
  billing_address: 'json',
  ordered_as: 'text',
});

/**
 * Creates the customers who order for the first time. Two orders cannot create the same customer twice, because
 * placing an order requires the counter of orders.
 */
export async function insertCustomers(
  tx: Transaction,
  shopId: string,
  customers: readonly NumberedCustomer[],
): Promise<void> {
  if (customers.length === 0) return;
  const rows = customers.map(({ customerId, emailKey, number, createdAt, billingAddress }) => ({
    customer_id: customerId,
    customer_number: String(number),
    created_at: createdAt,
    billing_address: billingAddress,
    ordered_as: emailKey,
  }));
  const givenUp = customers.flatMap(({ emailKey, isOrderedAs }) => (isOrderedAs ? [emailKey] : []));
  await Promise.all([
    // A customer who has changed the email address since is not matched again.
    givenUp.length > 0 &&
      tx.run(sql`
        update customer set ordered_as = null
        where shop_id = ${shopId} and ordered_as = any (${givenUp}::text[])`),
    tx.run(insertCustomer(shopId, rows)),
  ]);
}
