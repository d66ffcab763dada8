import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId, newSecret, secretHash } from '../../kernel/ids.ts';
import { browserName } from '../../people/accounts/browser-name.ts';
import type { Role } from './permissions.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Milliseconds after which a browser has to sign in again. */
export const SESSION_LIFETIME = 30 * DAY;

/** Nobody uses more browsers; the oldest sessions end. */
const MAX_SESSIONS = 20;

const before = ({ now }: Queries, milliseconds: number) => new Date(now.getTime() - milliseconds);

export interface User {
  userId: string;
  email: string;
  /** null: that of the browser. */
  language: string | null;
  isHost: boolean;
}

const userColumns = sql`
  upper(admin_user.user_id::text) as "userId", email, language, is_host as "isHost"`;

export interface SignedInUser extends User {
  sessionId: string;
  seenAt: Date;
  confirmedAt: Date;
}

/** undefined: the session was ended or has expired. Read for every page, so that whoever is thrown out is out at once. */
export async function findSignedInUser(
  db: Queries,
  token: string | undefined,
): Promise<SignedInUser | undefined> {
  if (token === undefined) return undefined;
  return db.one<SignedInUser>(sql`
    select ${userColumns}, upper(session_id::text) as "sessionId", seen_at as "seenAt", confirmed_at as "confirmedAt"
    from admin_session join admin_user on admin_user.user_id = admin_session.user_id
    where token_hash = ${secretHash(token)} and admin_session.created_at > ${before(db, SESSION_LIFETIME)}`);
}

/** With the hash of the password; null: none was chosen yet. */
export function findUserByEmail(db: Queries, email: string) {
  return db.one<User & { passwordHash: string | null }>(sql`
    select ${userColumns}, password_hash as "passwordHash" from admin_user where email = ${email.toLowerCase()}`);
}

export async function findOrCreateUser(tx: Transaction, email: string): Promise<string> {
  await tx.run(sql`
    insert into admin_user (user_id, email, created_at) values (${newId(tx.now)}, ${email.toLowerCase()}, ${tx.now})
    on conflict (email) do nothing`);
  return (await findUserByEmail(tx, email))!.userId;
}

export function updatePassword(tx: Transaction, userId: string, passwordHash: string) {
  return tx.run(sql`update admin_user set password_hash = ${passwordHash} where user_id = ${userId}`);
}

/** The token for the cookie, which is stored nowhere. */
export async function insertSession(tx: Transaction, userId: string, userAgent: string): Promise<string> {
  const token = newSecret(32);
  const { browser, system } = browserName(userAgent);
  await tx.run(sql`
    insert into admin_session (session_id, user_id, token_hash, created_at, seen_at, confirmed_at, browser, system)
    values (${newId(tx.now)}, ${userId}, ${secretHash(token)}, ${tx.now}, ${tx.now}, ${tx.now}, ${browser}, ${system})`);
  await tx.run(sql`
    delete from admin_session where user_id = ${userId} and session_id in (
      select session_id from admin_session where user_id = ${userId}
      order by created_at desc, session_id desc offset ${MAX_SESSIONS})`);
  return token;
}

export function touchSession(db: Queries, sessionId: string) {
  return db.run(sql`update admin_session set seen_at = ${db.now} where session_id = ${sessionId}`);
}

export function deleteSession(db: Queries, userId: string, sessionId: string) {
  return db.run(sql`delete from admin_session where user_id = ${userId} and session_id = ${sessionId}`);
}

/** undefined: this person does not work in the shop. */
export async function findRole(db: Queries, shopId: string, userId: string): Promise<Role | undefined> {
  const row = await db.one<{ role: Role }>(sql`
    select role from shop_user where shop_id = ${shopId} and user_id = ${userId}`);
  return row?.role;
}

export interface ShopOfUser {
  shopId: string;
  name: string;
  role: Role;
}

const MAX_SHOPS = 200;

/** Over all nodes of a cluster, because nothing says where a person works: for the choice of a shop only. */
export function findShopsOf(db: Queries, userId: string): Promise<ShopOfUser[]> {
  return db.many<ShopOfUser>(sql`
    select shop.shop_id as "shopId", coalesce(settings -> 'name' ->> default_locale, shop.shop_id) as name, role
    from shop_user join shop on shop.shop_id = shop_user.shop_id
    where user_id = ${userId} order by name, shop.shop_id limit ${MAX_SHOPS}`);
}

export function putRole(tx: Transaction, shopId: string, userId: string, role: Role) {
  return tx.run(sql`
    insert into shop_user (shop_id, user_id, role, created_at) values (${shopId}, ${userId}, ${role}, ${tx.now})
    on conflict (shop_id, user_id) do update set role = excluded.role`);
}
