import type { Queries } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import { FAR_AHEAD, isInSegment, LONG_AGO, MAX_VALUE, withTotals } from '../../orders/customer-segments.ts';
import { hasValues, idsWith, type WantedValue } from '../../fields/filter.ts';
import {
  foundCustomers,
  matches,
  type CustomerFilter,
  type CustomerSort,
} from '../../people/customers/find-people.ts';

/*
 * Customers are chosen by several conditions at once, of which no single index knows all. The condition that the fewest
 * customers meet is read from its index, and the others are checked for these customers only. Where each condition alone
 * is met by very many, the newest customers are compared, and the list says that there may be more. A file contains all
 * of them: it walks through the customers in pieces.
 */

/** Customers that are compared for one page. */
const MAX_COMPARED = 20_000;

/** Whether the filter has more than a text and a group, for which the list has indexes of its own. */
export function isSegment(filter: CustomerFilter): boolean {
  const { tags, country, language, isSubscribed, minOrders, maxOrders } = filter;
  const { minWorth, maxWorth, lastOrderFrom, lastOrderBefore } = filter;
  return (
    tags.length > 0 ||
    country !== '' ||
    language !== '' ||
    [isSubscribed, minOrders, maxOrders, minWorth, maxWorth, lastOrderFrom, lastOrderBefore].some(
      (value) => value !== undefined,
    )
  );
}

/** The customers that meet one of the conditions, each from an index. */
function sourcesOf(shopId: string, filter: CustomerFilter, wanted: readonly WantedValue[]): Sql[] {
  const { text, tags, country, language, isSubscribed, customerGroupId, currency } = filter;
  const { minOrders, maxOrders, minWorth, maxWorth, lastOrderFrom, lastOrderBefore } = filter;
  const total = sql`select customer_id from customer_total where shop_id = ${shopId}`;
  const ofAll = sql`${total} and currency = ''`;
  return [
    text !== '' && sql`select customer_id from (${foundCustomers(shopId, filter, MAX_COMPARED)}) found`,
    ...tags.map(
      (tag) => sql`select customer_id from customer_tag where shop_id = ${shopId} and tag_key = ${tag}`,
    ),
    customerGroupId !== '' &&
      sql`select customer_id from customer where shop_id = ${shopId} and customer_group_id = ${customerGroupId}::uuid`,
    ...wanted.map(
      (value) => sql`select resource_id as customer_id from (${idsWith(shopId, value)}) with_value`,
    ),
    country !== '' &&
      sql`select customer_id from customer where shop_id = ${shopId} and billing_address ->> 'country' = ${country}`,
    language !== '' && sql`${ofAll} and language = ${language}`,
    minOrders !== undefined &&
      minOrders > 0 &&
      sql`${ofAll} and orders between ${minOrders} and ${maxOrders ?? MAX_VALUE}`,
    minWorth !== undefined &&
      minWorth > 0 &&
      sql`${total} and currency = ${currency} and currency <> '' and worth between ${minWorth} and ${maxWorth ?? MAX_VALUE}`,
    (lastOrderFrom !== undefined || lastOrderBefore !== undefined) &&
      sql`${ofAll} and last_order_at >= ${lastOrderFrom ?? LONG_AGO} and last_order_at < ${lastOrderBefore ?? FAR_AHEAD}`,
    isSubscribed === true &&
      sql`
        select customer.customer_id from newsletter_subscriber cross join lateral (
          select customer_id from customer
          where customer.shop_id = ${shopId} and customer.email_key = newsletter_subscriber.email offset 0
        ) customer
        where newsletter_subscriber.shop_id = ${shopId} and newsletter_subscriber.subscribed`,
  ].filter((source) => source !== false);
}

/** The source with the fewest customers; undefined: each has too many. */
async function smallestSource(
  db: Queries,
  shopId: string,
  filter: CustomerFilter,
  wanted: readonly WantedValue[],
): Promise<Sql | undefined> {
  const counted = await Promise.all(
    sourcesOf(shopId, filter, wanted).map(async (source) => {
      const row = await db.one<{ count: number }>(sql`
        select count(*) as count from (${source} limit ${MAX_COMPARED + 1}) counted`);
      return { source, count: row!.count };
    }),
  );
  const [smallest] = counted.toSorted((left, right) => left.count - right.count);
  return smallest && smallest.count <= MAX_COMPARED ? smallest.source : undefined;
}

export interface FoundSegment {
  customerIds: string[];
  results: number;
  isMore: boolean;
}

/** A page of the customers that match, by the day since when they are customers. */
export async function findSegmentCustomers(
  db: Queries,
  shopId: string,
  filter: CustomerFilter,
  { isOldestFirst, limit, offset }: CustomerSort,
  wanted: readonly WantedValue[] = [],
): Promise<FoundSegment> {
  const direction = isOldestFirst ? sql`asc` : sql`desc`;
  const source = await smallestSource(db, shopId, filter, wanted);
  const compared =
    source ??
    sql`select customer_id from customer where shop_id = ${shopId} order by created_at ${direction}, customer_id ${direction}`;
  const row = await db.one<{ customerIds: string[]; results: number; compared: number }>(sql`
    with compared as materialized (${compared} limit ${MAX_COMPARED + 1}), hit as materialized (
      select customer.customer_id, customer.created_at from customer ${withTotals(shopId, filter)}
      where customer.shop_id = ${shopId} and customer.customer_id = any (array(select customer_id from compared))
        and ${isInSegment(shopId, filter)} and ${matches(shopId, filter)}
        and ${hasValues(shopId, sql`customer.customer_id`, wanted)}
    )
    select (select count(*) from compared) as compared, (select count(*) from hit) as results, array(
        select upper(customer_id::text) from hit
        order by created_at ${direction}, customer_id ${direction} limit ${limit} offset ${offset}
      ) as "customerIds"
    from shop where shop_id = ${shopId}`);
  const { customerIds, results } = row!;
  return { customerIds, results, isMore: row!.compared > MAX_COMPARED };
}
