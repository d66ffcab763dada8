import { sql, type Sql } from '../../db/sql.ts';

/** How a person is found. */
export interface PeopleFilter {
  /**
   * The beginning of an email address, a name, a company, a street, a postcode or a number, or a telephone number; '':
   * all.
   */
  text: string;
  /** '': all. */
  customerGroupId: string;
}

/** The conditions of the list. All of them hold for a customer in it. */
export interface CustomerFilter extends PeopleFilter {
  /** All of them, in lower case. */
  tags: readonly string[];
  /** Of the address; '': all. */
  country: string;
  /** Of the last order; '': all. */
  language: string;
  /** To a newsletter; undefined: both. */
  isSubscribed: boolean | undefined;
  minOrders: number | undefined;
  maxOrders: number | undefined;
  /** Of the amounts. */
  currency: string;
  /** Minor units. */
  minWorth: number | undefined;
  maxWorth: number | undefined;
  lastOrderFrom: Date | undefined;
  lastOrderBefore: Date | undefined;
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
export const foundCustomers = (shopId: string, { text, customerGroupId }: PeopleFilter, limit: number) =>
  waysToFind(text)
    .map(
      (isFound) => sql`(
        select customer_id, created_at from customer
        where shop_id = ${shopId} and ${isFound} ${ofGroup(customerGroupId)} limit ${limit})`,
    )
    .reduce((all, one) => sql`${all} union ${one}`);

/** A condition on customers. */
export const matches = (shopId: string, { text, customerGroupId }: PeopleFilter) => {
  const isListed = sql`customer.shop_id = ${shopId} ${ofGroup(customerGroupId)}`;
  if (text === '') return isListed;
  const isFound = waysToFind(text).reduce((all, one) => sql`${all} or (${one})`, sql`false`);
  return sql`${isListed} and (${isFound})`;
};

export interface CustomerSort {
  isOldestFirst: boolean;
  limit: number;
  offset: number;
}
