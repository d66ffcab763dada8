import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

export interface ListedCustomer {
  customerId: string;
  customerNumber: string;
  createdAt: Date;
  firstName: string | null;
  lastName: string | null;
  company: string | null;
  email: string | null;
}

export interface CustomerFilter {
  /** The beginning of an email address, or a whole number; '': all. */
  text: string;
}

/** A string is a prefix of all strings from itself to this one. */
const endOf = (prefix: string) => `${prefix}\u{10FFFF}`;

const matches = (shopId: string, { text }: CustomerFilter) =>
  text === ''
    ? sql`shop_id = ${shopId}`
    : sql`shop_id = ${shopId} and (customer_number = ${text}
        or (email_key >= ${text.toLowerCase()} and email_key < ${endOf(text.toLowerCase())}))`;

/** Newest first. */
export function findListedCustomers(
  db: Queries,
  shopId: string,
  filter: CustomerFilter,
  { limit, offset }: { limit: number; offset: number },
) {
  return db.many<ListedCustomer>(sql`
    select upper(customer_id::text) as "customerId", customer_number as "customerNumber", created_at as "createdAt",
      billing_address ->> 'firstName' as "firstName", billing_address ->> 'lastName' as "lastName",
      billing_address ->> 'company' as company, billing_address ->> 'emailAddress' as email
    from customer where ${matches(shopId, filter)}
    order by created_at desc, customer_id desc limit ${limit} offset ${offset}`);
}

export async function countListedCustomers(
  db: Queries,
  shopId: string,
  filter: CustomerFilter,
): Promise<number> {
  const row = await db.one<{ count: number }>(
    sql`select count(*) as count from customer where ${matches(shopId, filter)}`,
  );
  return row!.count;
}
