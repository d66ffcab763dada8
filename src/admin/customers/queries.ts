import type { Queries } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import { hasValues, type WantedValue } from '../../fields/filter.ts';
import { tagsOf } from '../../people/customers/tags.ts';
import type { Address } from '../../shops/countries/address.ts';
import {
  foundCustomers,
  matches,
  type CustomerFilter,
  type CustomerSort,
  type PeopleFilter,
} from '../../people/customers/find-people.ts';
import { isInSegment, withTotals } from '../../orders/customer-segments.ts';
import { findSegmentCustomers, isSegment } from './segment-queries.ts';

/** A customer's orders in one currency. Cancelled and rejected orders are not counted. */
export interface OrderSum {
  currency: string;
  orders: number;
  /** Minor units, without the refunds. */
  worth: number;
  refunded: number;
  /** As in JSON. */
  firstAt: string;
  lastAt: string;
}

export interface ListedCustomer {
  customerId: string;
  customerNumber: string;
  createdAt: Date;
  customerGroup: string | null;
  firstName: string | null;
  lastName: string | null;
  company: string | null;
  city: string | null;
  email: string | null;
  tags: string[];
  sums: OrderSum[];
}

const sums = (shopId: string) => sql`(
  select coalesce(json_agg(sum order by sum.worth desc), '[]') from (
    select currency, count(*) as orders, sum(grand_total - refunded_amount) as worth, sum(refunded_amount) as refunded,
      min(customer_order.created_at) as "firstAt", max(customer_order.created_at) as "lastAt"
    from customer_order
    where customer_order.shop_id = ${shopId} and customer_order.customer_id = customer.customer_id
      and cancelled_at is null and rejected_at is null
    group by currency) sum)`;

const groupName = (shopId: string) => sql`(
  select name from customer_group
  where customer_group.shop_id = ${shopId} and customer_group.customer_group_id = customer.customer_group_id)`;

/** Matches of a text are compared up to this number of each kind: users do not page through more. */
const MAX_FOUND = 1_000;
/** Customers are counted up to this number. */
const MAX_COUNTED = 10_000;

export interface CustomerPage {
  rows: ListedCustomer[];
  results: number;
  /** There are more, or may be: not all were compared. */
  isMore: boolean;
}

export async function findCustomerPage(
  db: Queries,
  shopId: string,
  filter: CustomerFilter,
  sort: CustomerSort,
  wanted: readonly WantedValue[] = [],
): Promise<CustomerPage> {
  if (!isSegment(filter) && wanted.length === 0) {
    const [rows, counted] = await Promise.all([
      findListedCustomers(db, shopId, listedIds(shopId, filter, sort), sort),
      countListedCustomers(db, shopId, filter),
    ]);
    return { rows, ...counted };
  }
  const { customerIds, ...counted } = await findSegmentCustomers(db, shopId, filter, sort, wanted);
  const ids = sql`select unnest(${customerIds}::uuid[])`;
  return { rows: await findListedCustomers(db, shopId, ids, sort), ...counted };
}

/** Rows before the page are read from an index alone. */
function listedIds(
  shopId: string,
  filter: PeopleFilter,
  { isOldestFirst, limit, offset }: CustomerSort,
): Sql {
  const direction = isOldestFirst ? sql`asc` : sql`desc`;
  const listed =
    filter.text === ''
      ? sql`customer where ${matches(shopId, filter)}`
      : sql`(${foundCustomers(shopId, filter, MAX_FOUND)}) customer`;
  return sql`
    select customer.customer_id from ${listed}
    order by customer.created_at ${direction}, customer.customer_id ${direction} limit ${limit} offset ${offset}`;
}

/**
 * Sums are read for the page only. Its ids are put into an array, because PostgreSQL expects few elements in an array;
 * with a subquery join it would read all customers.
 */
function findListedCustomers(db: Queries, shopId: string, ids: Sql, { isOldestFirst }: CustomerSort) {
  const direction = isOldestFirst ? sql`asc` : sql`desc`;
  return db.many<ListedCustomer>(sql`
    select upper(customer.customer_id::text) as "customerId", customer.customer_number as "customerNumber",
      customer.created_at as "createdAt", ${groupName(shopId)} as "customerGroup",
      billing_address ->> 'firstName' as "firstName", billing_address ->> 'lastName' as "lastName",
      billing_address ->> 'company' as company, billing_address ->> 'city' as city,
      billing_address ->> 'emailAddress' as email, array(${tagsOf(shopId)}) as tags, ${sums(shopId)} as sums
    from customer
    where customer.shop_id = ${shopId} and customer.customer_id = any (array(${ids}))
    order by customer.created_at ${direction}, customer.customer_id ${direction}`);
}

/** The number of customers, and whether there are more, which are not counted. */
async function countListedCustomers(
  db: Queries,
  shopId: string,
  filter: PeopleFilter,
): Promise<{ results: number; isMore: boolean }> {
  const max = filter.text === '' ? MAX_COUNTED : MAX_FOUND;
  const listed =
    filter.text === ''
      ? sql`select from customer where ${matches(shopId, filter)} limit ${max + 1}`
      : foundCustomers(shopId, filter, max + 1);
  const row = await db.one<{ count: number }>(sql`select count(*) as count from (${listed}) counted`);
  const { count } = row!;
  return { results: Math.min(count, max), isMore: count > max };
}

export interface CustomerSummary {
  customerGroupId: string | null;
  tags: string[];
  sums: OrderSum[];
  /** When the account of the email address was created; null: there is none. */
  accountSince: Date | null;
  /** Names of the newsletters that the address is subscribed to. */
  newsletters: string[];
}

/** Data about a customer beyond the API's. */
export function findCustomerSummary(db: Queries, shopId: string, customerId: string) {
  return db.one<CustomerSummary>(sql`
    select upper(customer_group_id::text) as "customerGroupId", array(${tagsOf(shopId)}) as tags,
      ${sums(shopId)} as sums,
      (select account.created_at from account where account.shop_id = ${shopId} and account.email = email_key)
        as "accountSince",
      array(
        select newsletter_campaign.name from newsletter_subscriber
        join newsletter_campaign on newsletter_campaign.shop_id = ${shopId}
          and newsletter_campaign.campaign_id = newsletter_subscriber.campaign_id
        where newsletter_subscriber.shop_id = ${shopId} and newsletter_subscriber.email = email_key and subscribed
        order by 1) as newsletters
    from customer where customer.shop_id = ${shopId} and customer.customer_id = ${customerId}`);
}

export interface CustomerOrderRow {
  orderId: string;
  orderNumber: string;
  createdAt: Date;
  currency: string;
  grandTotal: number;
  isCancelled: boolean;
  isRejected: boolean;
  isReturned: boolean;
  isDelivered: boolean;
  isShipped: boolean;
  isPaid: boolean;
}

/** Newest first. */
export function findOrdersOf(db: Queries, shopId: string, customerId: string, limit: number) {
  return db.many<CustomerOrderRow>(sql`
    select upper(order_id::text) as "orderId", order_number as "orderNumber", created_at as "createdAt", currency,
      grand_total as "grandTotal", cancelled_at is not null as "isCancelled", rejected_at is not null as "isRejected",
      returned_at is not null as "isReturned", delivered_at is not null as "isDelivered",
      dispatched_at is not null as "isShipped", paid_at is not null as "isPaid"
    from customer_order where shop_id = ${shopId} and customer_id = ${customerId}
    order by created_at desc limit ${limit}`);
}

export interface MonthSum {
  /** `2026-11` */
  month: string;
  gross: number;
}

/** Orders in one currency since a moment; months without an order are missing. */
export function findMonthsOf(
  db: Queries,
  shopId: string,
  { customerId, currency, since }: { customerId: string; currency: string; since: Date },
) {
  return db.many<MonthSum>(sql`
    select to_char(created_at at time zone 'UTC', 'YYYY-MM') as month, sum(grand_total)::bigint as gross
    from customer_order
    where shop_id = ${shopId} and customer_id = ${customerId} and currency = ${currency} and created_at >= ${since}
      and cancelled_at is null and rejected_at is null
    group by 1 order by 1`);
}

export interface ExportedCustomer {
  customerId: string;
  customerNumber: string;
  createdAt: Date;
  customerGroup: string | null;
  billingAddress: Address | null;
  tags: string[];
  language: string | null;
  sums: OrderSum[];
}

export interface WalkedCustomer {
  customerId: string;
  createdAt: Date;
}

/** The customers after one, oldest first: the next ones that an export compares. */
export function findCustomersAfter(
  db: Queries,
  shopId: string,
  { after, limit }: { after: WalkedCustomer; limit: number },
) {
  return db.many<WalkedCustomer>(sql`
    select upper(customer_id::text) as "customerId", created_at as "createdAt" from customer
    where shop_id = ${shopId} and (created_at, customer_id) > (${after.createdAt}, ${after.customerId}::uuid)
    order by created_at, customer_id limit ${limit}`);
}

/** Those of these customers that match, oldest first. */
export function findExportedCustomers(
  db: Queries,
  shopId: string,
  filter: CustomerFilter,
  customerIds: readonly string[],
  wanted: readonly WantedValue[],
) {
  return db.many<ExportedCustomer>(sql`
    select upper(customer.customer_id::text) as "customerId", customer_number as "customerNumber",
      customer.created_at as "createdAt", ${groupName(shopId)} as "customerGroup",
      billing_address as "billingAddress", array(${tagsOf(shopId)}) as tags, total.language, ${sums(shopId)} as sums
    from customer ${withTotals(shopId, filter)}
    where ${matches(shopId, filter)} and customer.customer_id = any (${customerIds}::uuid[])
      and ${isInSegment(shopId, filter)} and ${hasValues(shopId, sql`customer.customer_id`, wanted)}
    order by customer.created_at, customer.customer_id`);
}
