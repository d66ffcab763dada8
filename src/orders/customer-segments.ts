import type { Queries } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import { matches, type CustomerFilter } from '../people/customers/find-people.ts';
import { ALL_CURRENCIES } from './customer-totals.ts';

export const MAX_VALUE = Number.MAX_SAFE_INTEGER;
export const LONG_AGO = new Date(0);
export const FAR_AHEAD = new Date('9999-01-01T00:00:00Z');

/** The totals of the customers, for `isInSegment`. */
export const withTotals = (shopId: string, { currency }: CustomerFilter) => sql`
  left join customer_total total on total.shop_id = ${shopId} and total.customer_id = customer.customer_id
    and total.currency = ${ALL_CURRENCIES}
  left join customer_total spent on spent.shop_id = ${shopId} and spent.customer_id = customer.customer_id
    and spent.currency = ${currency}`;

/** A condition on customers with their totals. Its text is the same for every filter. */
export function isInSegment(shopId: string, filter: CustomerFilter): Sql {
  const { tags, country, language, isSubscribed, customerGroupId } = filter;
  const { minOrders, maxOrders, minWorth, maxWorth, lastOrderFrom, lastOrderBefore } = filter;
  const hasMoment = lastOrderFrom !== undefined || lastOrderBefore !== undefined;
  return sql`
    (${tags.length} = 0 or ${tags.length} = (
      select count(*) from customer_tag
      where customer_tag.shop_id = ${shopId} and customer_tag.customer_id = customer.customer_id
        and customer_tag.tag_key = any (${tags}::text[])))
    and (${customerGroupId} = '' or upper(customer.customer_group_id::text) = upper(${customerGroupId}))
    and (${country} = '' or customer.billing_address ->> 'country' = ${country})
    and (${language} = '' or total.language = ${language})
    and coalesce(total.orders, 0) between ${minOrders ?? 0} and ${maxOrders ?? MAX_VALUE}
    and coalesce(spent.worth, 0) between ${minWorth ?? -MAX_VALUE} and ${maxWorth ?? MAX_VALUE}
    and (not ${hasMoment}::boolean or (total.last_order_at >= ${lastOrderFrom ?? LONG_AGO}
      and total.last_order_at < ${lastOrderBefore ?? FAR_AHEAD}))
    and (${isSubscribed === undefined}::boolean or ${isSubscribed ?? false}::boolean = exists (
      select from newsletter_subscriber
      where newsletter_subscriber.shop_id = ${shopId} and newsletter_subscriber.email = customer.email_key
        and newsletter_subscriber.subscribed))`;
}

/** Those of the email addresses, in lower case, that customers of the segment have. */
export async function findSegmentEmails(
  db: Queries,
  shopId: string,
  filter: CustomerFilter,
  emails: readonly string[],
): Promise<Set<string>> {
  const rows = await db.many<{ email: string }>(sql`
    select distinct customer.email_key as email from customer ${withTotals(shopId, filter)}
    where customer.shop_id = ${shopId} and customer.email_key = any (${emails}::text[])
      and ${isInSegment(shopId, filter)} and ${matches(shopId, filter)}`);
  return new Set(rows.map(({ email }) => email));
}
