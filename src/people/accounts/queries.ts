import type { Queries, Transaction } from '../../db/database.ts';
import { deleteOld } from '../../db/delete-old.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import type { Address } from '../../shops/countries/address.ts';
import type { BrowserName } from './browser-name.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Milliseconds for which the link and the digits of an email are valid. */
const REQUEST_LIFETIME = 15 * MINUTE;

/** How often digits can be typed: too few tries to guess one code of a million. */
export const MAX_ATTEMPTS = 5;

/** Milliseconds after which a browser has to sign in again. */
export const SESSION_LIFETIME = 90 * DAY;

/**
 * Limits the emails to an address, to prevent flooded mailboxes and more than some fifty guesses of digits a day. Used
 * requests are deleted, so frequent sign-ins are not limited.
 */
const EMAILS_PER_HOUR = 5;
const EMAILS_PER_DAY = 10;

const before = ({ now }: Queries, milliseconds: number) => new Date(now.getTime() - milliseconds);

/**
 * Whether this address may get one more email. A browser in which its shopper has signed in before is counted
 * separately; null: any other browser, all counted together.
 */
export async function mayReceiveSignInEmail(
  tx: Transaction,
  shopId: string,
  email: string,
  deviceId: string | null,
): Promise<boolean> {
  const row = await tx.one<{ ofDay: number; ofHour: number }>(sql`
    select count(*) as "ofDay", count(*) filter (where created_at > ${before(tx, HOUR)}) as "ofHour"
    from sign_in_request
    where shop_id = ${shopId} and email = ${email} and created_at > ${before(tx, DAY)}
      and device_id is not distinct from ${deviceId}::text`);
  return row!.ofDay < EMAILS_PER_DAY && row!.ofHour < EMAILS_PER_HOUR;
}

export function insertRequest(
  tx: Transaction,
  shopId: string,
  { requestId, email, deviceId }: { requestId: string; email: string; deviceId: string | null },
) {
  return tx.run(sql`
    insert into sign_in_request (shop_id, request_id, email, created_at, device_id)
    values (${shopId}, ${requestId}, ${email}, ${tx.now}, ${deviceId})`);
}

/** undefined: there is no account with this address yet. */
export async function findAccountId(db: Queries, shopId: string, email: string): Promise<string | undefined> {
  const account = await db.one<{ accountId: string }>(sql`
    select upper(account_id::text) as "accountId" from account
    where shop_id = ${shopId} and email = ${email}`);
  return account?.accountId;
}

/** undefined: it was used, has expired, or never existed. */
export function findRequest(db: Queries, shopId: string, requestId: string) {
  return db.one<{ email: string }>(sql`
    select email from sign_in_request
    where shop_id = ${shopId} and request_id = ${requestId} and created_at > ${before(db, REQUEST_LIFETIME)}`);
}

/**
 * Counts a try before its digits are compared, so that concurrent tries can't exceed the limit. undefined: none is
 * left.
 */
export function countAttempt(tx: Transaction, shopId: string, requestId: string) {
  return tx.one<{ attempts: number }>(sql`
    update sign_in_request set attempts = attempts + 1
    where shop_id = ${shopId} and request_id = ${requestId} and created_at > ${before(tx, REQUEST_LIFETIME)}
      and attempts < ${MAX_ATTEMPTS}
    returning attempts`);
}

/** Consumes the request, which is valid once. undefined: it was already used, or has expired. */
export function takeRequest(tx: Transaction, shopId: string, requestId: string) {
  return tx.one<{ email: string }>(sql`
    delete from sign_in_request
    where shop_id = ${shopId} and request_id = ${requestId} and created_at > ${before(tx, REQUEST_LIFETIME)}
    returning email`);
}

/** The account with this address, created if missing. */
export async function findOrCreateAccount(
  tx: Transaction,
  shopId: string,
  email: string,
): Promise<{ accountId: string; cartId: string | null }> {
  await tx.run(sql`
    insert into account (shop_id, account_id, email, created_at)
    values (${shopId}, ${newId(tx.now)}, ${email}, ${tx.now})
    on conflict (shop_id, email) do nothing`);
  const account = await tx.one<{ accountId: string; cartId: string | null }>(sql`
    select upper(account_id::text) as "accountId", upper(cart_id::text) as "cartId" from account
    where shop_id = ${shopId} and email = ${email} for no key update`);
  return account!;
}

/** Null: the account no longer has a cart. */
export function updateAccountCart(db: Queries, shopId: string, accountId: string, cartId: string | null) {
  return db.run(sql`
    update account set cart_id = ${cartId} where shop_id = ${shopId} and account_id = ${accountId}`);
}

/** The language that all devices of the account show, unless another one was chosen there. */
export function updateAccountLocale(db: Queries, shopId: string, accountId: string, locale: string) {
  return db.run(sql`
    update account set locale = ${locale} where shop_id = ${shopId} and account_id = ${accountId}`);
}

/** More than anyone's number of browsers; the oldest sessions end. */
const MAX_SESSIONS = 20;

export async function insertAccountSession(
  tx: Transaction,
  shopId: string,
  accountId: string,
  { tokenHash, browser, system }: BrowserName & { tokenHash: Buffer },
): Promise<void> {
  await tx.run(sql`
    insert into account_session (shop_id, session_id, account_id, token_hash, created_at, seen_at, browser, system)
    values (${shopId}, ${newId(tx.now)}, ${accountId}, ${tokenHash}, ${tx.now}, ${tx.now}, ${browser}, ${system})`);
  await tx.run(sql`
    delete from account_session where shop_id = ${shopId} and account_id = ${accountId} and session_id in (
      select session_id from account_session where shop_id = ${shopId} and account_id = ${accountId}
      order by created_at desc, session_id desc offset ${MAX_SESSIONS})`);
}

/** Sessions that have not expired, for a condition. */
export const isOpenSession = (db: Queries) =>
  sql`account_session.created_at > ${before(db, SESSION_LIFETIME)}`;

export interface AccountSessionRow extends BrowserName {
  sessionId: string;
  createdAt: Date;
  seenAt: Date;
}

/** The most recently used one comes first. */
export function findSessions(db: Queries, shopId: string, accountId: string) {
  return db.many<AccountSessionRow>(sql`
    select upper(session_id::text) as "sessionId", created_at as "createdAt", seen_at as "seenAt", browser, system
    from account_session
    where shop_id = ${shopId} and account_id = ${accountId} and ${isOpenSession(db)}
    order by seen_at desc, session_id desc limit ${MAX_SESSIONS}`);
}

export function deleteSession(db: Queries, shopId: string, accountId: string, sessionId: string) {
  return db.run(sql`
    delete from account_session
    where shop_id = ${shopId} and account_id = ${accountId} and session_id = ${sessionId}`);
}

/** Ends all sessions but this one. */
export function deleteOtherSessions(db: Queries, shopId: string, accountId: string, sessionId: string) {
  return db.run(sql`
    delete from account_session
    where shop_id = ${shopId} and account_id = ${accountId} and session_id <> ${sessionId}`);
}

export function touchSession(db: Queries, shopId: string, sessionId: string) {
  return db.run(sql`
    update account_session set seen_at = ${db.now} where shop_id = ${shopId} and session_id = ${sessionId}`);
}

/** More than anyone's number of addresses. */
export const MAX_ADDRESSES = 20;

export interface AddressRow {
  addressId: string;
  address: Address;
}

/** Newest first. */
export function findAddresses(db: Queries, shopId: string, accountId: string) {
  return db.many<AddressRow>(sql`
    select upper(address_id::text) as "addressId", address from account_address
    where shop_id = ${shopId} and account_id = ${accountId}
    order by created_at desc, address_id desc limit ${MAX_ADDRESSES}`);
}

/** False: the address book is full. The account is locked, so that two concurrent requests can't exceed the limit. */
export async function insertAddress(
  tx: Transaction,
  shopId: string,
  accountId: string,
  address: Address,
): Promise<boolean> {
  await tx.run(sql`
    select from account where shop_id = ${shopId} and account_id = ${accountId} for no key update`);
  const { count } = (await tx.one<{ count: number }>(sql`
    select count(*) as count from account_address where shop_id = ${shopId} and account_id = ${accountId}`))!;
  if (count >= MAX_ADDRESSES) return false;
  await tx.run(sql`
    insert into account_address (shop_id, address_id, account_id, address, created_at)
    values (${shopId}, ${newId(tx.now)}, ${accountId}, ${address}, ${tx.now})`);
  return true;
}

/** 0: there is no such address in this address book. */
export function updateAddress(
  db: Queries,
  shopId: string,
  accountId: string,
  { addressId, address }: AddressRow,
) {
  return db.run(sql`
    update account_address set address = ${address}
    where shop_id = ${shopId} and account_id = ${accountId} and address_id = ${addressId}`);
}

export function deleteAddress(db: Queries, shopId: string, accountId: string, addressId: string) {
  return db.run(sql`
    delete from account_address
    where shop_id = ${shopId} and account_id = ${accountId} and address_id = ${addressId}`);
}

const deleteRequests = deleteOld('sign_in_request', 'created_at', { request_id: 'uuid' });
const deleteSessions = deleteOld('account_session', 'created_at', { session_id: 'uuid' });

/** Deletes requests that no longer count towards a limit. */
export const signInRequestCleanup: CleanupStep = {
  name: 'sign-in requests',
  run: (db, limit) => deleteRequests(db, before(db, DAY), limit),
};

/** Deletes sessions that have expired. */
export const accountSessionCleanup: CleanupStep = {
  name: 'account sessions',
  run: (db, limit) => deleteSessions(db, before(db, SESSION_LIFETIME), limit),
};
