import type { Queries } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import type { Address } from '../../shops/countries/address.ts';

/** A customer's orders in one currency. Cancelled and rejected orders are not counted. */
export interface OrderSum {
  currency: string;
  orders: number;
  /** Minor units. */
  gross: number;
  /** As in JSON. */
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
  sums: OrderSum[];
}

export interface CustomerFilter {
  /**
   * The beginning of an email address, a name, a company, a street, a postcode or a number, or a telephone number; '':
   * all.
   */
  text: string;
  /** '': all. */
  customerGroupId: string;
}

/** In the order of bytes, a string is a prefix of all strings from itself to this one. */
export const endOf = (prefix: string) => `${prefix}\u{10FFFF}`;

/** The same for any collation: the last character becomes the next one. Rows in between are checked again. */
export function afterAll(prefix: string): string {
  const characters = Array.from(prefix);
  const last = characters.pop()!.codePointAt(0)!;
  return characters.join('') + String.fromCodePoint(Math.min(last + 1, 0x10ffff));
}

/** The names of customers as their indexes hold them. */
const fullName = sql`
  lower(coalesce(billing_address ->> 'firstName', '') || ' ' || coalesce(billing_address ->> 'lastName', ''))`;
const lastName = sql`lower(billing_address ->> 'lastName')`;
const company = sql`lower(billing_address ->> 'company')`;
const street = sql`lower(billing_address ->> 'street')`;
const zipCode = sql`lower(replace(billing_address ->> 'zipCode', ' ', ''))`;

/** The digits of a telephone number backwards, as the indexes hold them. */
const phoneKey = (number: Sql) =>
  sql`reverse(ltrim(regexp_replace(replace(${number}, '(0)', ''), '\\D', '', 'g'), '0'))`;

const PHONES = [
  phoneKey(sql`billing_address ->> 'phoneNumber'`),
  phoneKey(sql`billing_address ->> 'mobilePhoneNumber'`),
  phoneKey(sql`billing_address ->> 'businessPhoneNumber'`),
  phoneKey(sql`billing_address ->> 'privatePhoneNumber'`),
];

const ofGroup = (customerGroupId: string) =>
  customerGroupId === '' ? sql`` : sql`and customer.customer_group_id = ${customerGroupId}::uuid`;

/** Conditions on customers, one for each way to match a text. Each is a range of one index. */
function waysToFind(text: string): Sql[] {
  const key = text.toLowerCase();
  const last = endOf(key);
  return [
    sql`customer_number >= ${text} and customer_number < ${afterAll(text)} and starts_with(customer_number, ${text})`,
    sql`email_key >= ${key} and email_key < ${afterAll(key)} and starts_with(email_key, ${key})`,
    sql`${fullName} ~>=~ ${key} and ${fullName} ~<~ ${last}`,
    sql`${lastName} ~>=~ ${key} and ${lastName} ~<~ ${last}`,
    sql`${company} ~>=~ ${key} and ${company} ~<~ ${last}`,
    sql`${street} ~>=~ ${key} and ${street} ~<~ ${last}`,
    sql`${zipCode} ~>=~ ${zipCodeKey(text)} and ${zipCode} ~<~ ${endOf(zipCodeKey(text))}`,
    ...PHONES.map((number) => hasPhone(number, text)),
  ];
}

/** As an index holds a postcode. */
export const zipCodeKey = (text: string) => text.toLowerCase().replaceAll(' ', '');

/** Fewer digits end too many telephone numbers. */
const MIN_PHONE_DIGITS = 5;
/** Two numbers whose last digits are equal are compared as a whole. */
const PHONE_END = 6;

/**
 * The typed and the stored number are the same when one ends with the other: either may lack the country or the area.
 * The text of the statement is the same for a text that is no telephone number; nothing sorts between its ends then.
 */
function hasPhone(number: Sql, text: string): Sql {
  const typed = phoneDigits(text);
  const end = typed.slice(0, PHONE_END);
  return sql`${number} ~>=~ ${end} and ${number} ~<~ ${end === '' ? '' : endOf(end)}
    and (starts_with(${number}, ${typed}) or starts_with(${typed}, ${number}))`;
}

/** The digits backwards, without the zeros in front; '': it is no telephone number. */
function phoneDigits(text: string): string {
  if (!/^\+?[\d\s()/.-]+$/.test(text)) return '';
  const digits = text.replace('(0)', '').replaceAll(/\D/g, '').replace(/^0+/, '');
  return digits.length < MIN_PHONE_DIGITS ? '' : Array.from(digits).toReversed().join('');
}

/**
 * The customers that match a text, at most `limit` per way: a letter that starts every tenth name costs as much as a
 * whole name.
 */
export const foundCustomers = (shopId: string, { text, customerGroupId }: CustomerFilter, limit: number) =>
  waysToFind(text)
    .map(
      (isFound) => sql`(
        select customer_id, created_at from customer
        where shop_id = ${shopId} and ${isFound} ${ofGroup(customerGroupId)} limit ${limit})`,
    )
    .reduce((all, one) => sql`${all} union ${one}`);

/** A condition on customers. */
export const matches = (shopId: string, { text, customerGroupId }: CustomerFilter) => {
  const isListed = sql`customer.shop_id = ${shopId} ${ofGroup(customerGroupId)}`;
  if (text === '') return isListed;
  const isFound = waysToFind(text).reduce((all, one) => sql`${all} or (${one})`, sql`false`);
  return sql`${isListed} and (${isFound})`;
};

const sums = (shopId: string) => sql`(
  select coalesce(json_agg(sum order by sum.gross desc), '[]') from (
    select currency, count(*) as orders, sum(grand_total) as gross, max(customer_order.created_at) as "lastAt"
    from customer_order
    where customer_order.shop_id = ${shopId} and customer_order.customer_id = customer.customer_id
      and cancelled_at is null and rejected_at is null
    group by currency) sum)`;

const groupName = (shopId: string) => sql`(
  select name from customer_group
  where customer_group.shop_id = ${shopId} and customer_group.customer_group_id = customer.customer_group_id)`;

export interface CustomerSort {
  isOldestFirst: boolean;
  limit: number;
  offset: number;
}

/** Matches of a text are compared up to this number of each kind: users do not page through more. */
const MAX_FOUND = 1_000;
/** Customers are counted up to this number. */
const MAX_COUNTED = 10_000;

/**
 * Rows before the page are read from an index alone; sums are read for the page only. Its ids are put into an array,
 * because PostgreSQL expects few elements in an array; with a subquery join it would read all customers.
 */
export function findListedCustomers(
  db: Queries,
  shopId: string,
  filter: CustomerFilter,
  { isOldestFirst, limit, offset }: CustomerSort,
) {
  const direction = isOldestFirst ? sql`asc` : sql`desc`;
  const listed =
    filter.text === ''
      ? sql`customer where ${matches(shopId, filter)}`
      : sql`(${foundCustomers(shopId, filter, MAX_FOUND)}) customer`;
  return db.many<ListedCustomer>(sql`
    select upper(customer.customer_id::text) as "customerId", customer.customer_number as "customerNumber",
      customer.created_at as "createdAt", ${groupName(shopId)} as "customerGroup",
      billing_address ->> 'firstName' as "firstName", billing_address ->> 'lastName' as "lastName",
      billing_address ->> 'company' as company, billing_address ->> 'city' as city,
      billing_address ->> 'emailAddress' as email, ${sums(shopId)} as sums
    from customer
    where customer.shop_id = ${shopId} and customer.customer_id = any (array(
      select customer.customer_id from ${listed}
      order by customer.created_at ${direction}, customer.customer_id ${direction} limit ${limit} offset ${offset}))
    order by customer.created_at ${direction}, customer.customer_id ${direction}`);
}

/** The number of customers, and whether there are more, which are not counted. */
export async function countListedCustomers(
  db: Queries,
  shopId: string,
  filter: CustomerFilter,
): Promise<{ results: number; isMore: boolean }> {
  const most = filter.text === '' ? MAX_COUNTED : MAX_FOUND;
  const listed =
    filter.text === ''
      ? sql`select from customer where ${matches(shopId, filter)} limit ${most + 1}`
      : foundCustomers(shopId, filter, most + 1);
  const row = await db.one<{ count: number }>(sql`select count(*) as count from (${listed}) counted`);
  const { count } = row!;
  return { results: Math.min(count, most), isMore: count > most };
}

export interface CustomerSummary {
  customerGroupId: string | null;
  sums: OrderSum[];
  /** When the account of the email address was created; null: there is none. */
  accountSince: Date | null;
  /** Names of the newsletters that the address is subscribed to. */
  newsletters: string[];
}

/** Data about a customer beyond the API's. */
export function findCustomerSummary(db: Queries, shopId: string, customerId: string) {
  return db.one<CustomerSummary>(sql`
    select upper(customer_group_id::text) as "customerGroupId", ${sums(shopId)} as sums,
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
  sums: OrderSum[];
}

/** The customers after one, oldest first: the next part of an export. */
export function findCustomersAfter(
  db: Queries,
  shopId: string,
  filter: CustomerFilter,
  { after, limit }: { after: { createdAt: Date; customerId: string }; limit: number },
) {
  return db.many<ExportedCustomer>(sql`
    select upper(customer.customer_id::text) as "customerId", customer_number as "customerNumber",
      customer.created_at as "createdAt", ${groupName(shopId)} as "customerGroup",
      billing_address as "billingAddress", ${sums(shopId)} as sums
    from customer
    where ${matches(shopId, filter)}
      and (customer.created_at, customer.customer_id) > (${after.createdAt}, ${after.customerId}::uuid)
    order by customer.created_at, customer.customer_id limit ${limit}`);
}
