import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId, newSecret, secretHash } from '../../kernel/ids.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import { browserName } from '../../people/accounts/browser-name.ts';
import type { SupportSession } from '../../host/support.ts';
import type { Role } from './permissions.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Milliseconds after which a browser has to sign in again. */
export const ADMIN_SESSION_LIFETIME = 30 * DAY;

/** More than anyone's number of browsers; the oldest sessions end. */
const MAX_SESSIONS = 20;

const before = ({ now }: Queries, milliseconds: number) => new Date(now.getTime() - milliseconds);

export interface User {
  userId: string;
  email: string;
  /** null: the browser's language. */
  language: string | null;
  isHost: boolean;
}

const userColumns = sql`
  upper(admin_user.user_id::text) as "userId", email, language, is_host as "isHost"`;

export interface SignedInUser extends User {
  sessionId: string;
  seenAt: Date;
  confirmedAt: Date;
  /**
   * A person of the host who is in by support access; absent: a user. The id of the user is then that of the session,
   * and the email is the text by which logs name the person.
   */
  support?: SupportSession;
}

/** undefined: the session was ended or has expired. Read for every page, so that removal takes effect at once. */
export async function findSignedInUser(
  db: Queries,
  token: string | undefined,
): Promise<SignedInUser | undefined> {
  if (token === undefined) return undefined;
  return db.one<SignedInUser>(sql`
    select ${userColumns}, upper(session_id::text) as "sessionId", seen_at as "seenAt", confirmed_at as "confirmedAt"
    from admin_session join admin_user on admin_user.user_id = admin_session.user_id
    where token_hash = ${secretHash(token)} and admin_session.created_at > ${before(db, ADMIN_SESSION_LIFETIME)}`);
}

export interface UserWithSecrets extends User {
  /** null: none has been chosen yet. */
  passwordHash: string | null;
  /** A code of an authenticator app is required beside the password. */
  hasTotp: boolean;
}

const secretColumns = sql`
  ${userColumns}, password_hash as "passwordHash", totp_sealed is not null as "hasTotp"`;

export function findUserByEmail(db: Queries, email: string) {
  return db.one<UserWithSecrets>(
    sql`select ${secretColumns} from admin_user where email = ${email.toLowerCase()}`,
  );
}

export function findUser(db: Queries, userId: string) {
  return db.one<UserWithSecrets>(sql`select ${secretColumns} from admin_user where user_id = ${userId}`);
}

export async function findOrCreateUser(tx: Transaction, email: string): Promise<string> {
  await tx.run(sql`
    insert into admin_user (user_id, email, created_at) values (${newId(tx.now)}, ${email.toLowerCase()}, ${tx.now})
    on conflict (email) do nothing`);
  return (await findUserByEmail(tx, email))!.userId;
}

export function updateHost(tx: Transaction, userId: string, isHost: boolean) {
  return tx.run(sql`update admin_user set is_host = ${isHost} where user_id = ${userId}`);
}

export function updateLanguage(db: Queries, userId: string, language: string | null) {
  return db.run(sql`update admin_user set language = ${language} where user_id = ${userId}`);
}

/** false: the user already has one. */
export async function insertPassword(
  tx: Transaction,
  userId: string,
  passwordHash: string,
): Promise<boolean> {
  const updated = await tx.run(sql`
    update admin_user set password_hash = ${passwordHash} where user_id = ${userId} and password_hash is null`);
  return updated === 1;
}

export function updatePassword(tx: Transaction, userId: string, passwordHash: string) {
  return tx.run(sql`update admin_user set password_hash = ${passwordHash} where user_id = ${userId}`);
}

/** Returns the token for the cookie, which is never stored. */
export async function insertAdminSession(
  tx: Transaction,
  userId: string,
  userAgent: string,
  signedInBy: string | null = null,
): Promise<string> {
  const token = newSecret(32);
  const { browser, system } = browserName(userAgent);
  await tx.run(sql`
    insert into admin_session (
      session_id, user_id, token_hash, created_at, seen_at, confirmed_at, browser, system, signed_in_by)
    values (${newId(tx.now)}, ${userId}, ${secretHash(token)}, ${tx.now}, ${tx.now}, ${tx.now}, ${browser}, ${system},
      ${signedInBy})`);
  await tx.run(sql`update admin_user set signed_in_at = ${tx.now} where user_id = ${userId}`);
  await tx.run(sql`
    delete from admin_session where user_id = ${userId} and session_id in (
      select session_id from admin_session where user_id = ${userId}
      order by created_at desc, session_id desc offset ${MAX_SESSIONS})`);
  return token;
}

export function touchAdminSession(db: Queries, sessionId: string) {
  return db.run(sql`update admin_session set seen_at = ${db.now} where session_id = ${sessionId}`);
}

export function deleteAdminSession(db: Queries, userId: string, sessionId: string) {
  return db.run(sql`delete from admin_session where user_id = ${userId} and session_id = ${sessionId}`);
}

export interface AdminSessionRow {
  sessionId: string;
  browser: string | null;
  system: string | null;
  createdAt: Date;
  seenAt: Date;
  /** The panel of the host that opened it; null: the user signed in here. */
  signedInBy: string | null;
}

export function findAdminSessions(db: Queries, userId: string) {
  return db.many<AdminSessionRow>(sql`
    select upper(session_id::text) as "sessionId", browser, system, created_at as "createdAt", seen_at as "seenAt",
      signed_in_by as "signedInBy"
    from admin_session where user_id = ${userId} and created_at > ${before(db, ADMIN_SESSION_LIFETIME)}
    order by seen_at desc, session_id limit ${MAX_SESSIONS}`);
}

/** null: in all browsers. */
export function deleteOtherAdminSessions(db: Queries, userId: string, sessionId: string | null) {
  return db.run(sql`
    delete from admin_session
    where user_id = ${userId} and session_id is distinct from ${sessionId}::uuid`);
}

/** The user has reauthenticated. */
export function confirmSession(db: Queries, sessionId: string) {
  return db.run(sql`update admin_session set confirmed_at = ${db.now} where session_id = ${sessionId}`);
}

/** Deletes sessions that have expired. */
export const adminSessionCleanup: CleanupStep = {
  name: 'admin sessions',
  run: (db, limit) =>
    db.run(sql`
      delete from admin_session where session_id in (
        select session_id from admin_session where created_at < ${before(db, ADMIN_SESSION_LIFETIME)}
        order by created_at limit ${limit})`),
};

/** undefined: this user does not work in the shop, or has not accepted the invitation yet. */
export interface Membership {
  role: Role;
  settingsVersion: number;
}

/** The role of a user in a shop, and the version of its settings; undefined: the user does not work there. */
export function findMembership(db: Queries, shopId: string, userId: string) {
  return db.one<Membership>(sql`
    select role, settings_version as "settingsVersion"
    from shop_user join shop on shop.shop_id = shop_user.shop_id
    where shop_user.shop_id = ${shopId} and user_id = ${userId} and not is_pending`);
}

export async function findRole(db: Queries, shopId: string, userId: string): Promise<Role | undefined> {
  const row = await db.one<{ role: Role }>(sql`
    select role from shop_user where shop_id = ${shopId} and user_id = ${userId} and not is_pending`);
  return row?.role;
}

export interface ShopOfUser {
  shopId: string;
  name: string;
  role: Role;
  /** The user was invited and has not accepted yet. */
  isPending: boolean;
}

const MAX_SHOPS = 200;

/**
 * Including shops with a pending invitation. Over all nodes of a cluster, because nothing records where a user works:
 * only for the choice of a shop.
 */
export function findShopsOf(db: Queries, userId: string): Promise<ShopOfUser[]> {
  return db.many<ShopOfUser>(sql`
    select shop.shop_id as "shopId", coalesce(settings -> 'name' ->> default_locale, shop.shop_id) as name, role,
      is_pending as "isPending"
    from shop_user join shop on shop.shop_id = shop_user.shop_id
    where user_id = ${userId} order by is_pending, name, shop.shop_id limit ${MAX_SHOPS}`);
}

/** Gives a role without an invitation. */
export function putRole(tx: Transaction, shopId: string, userId: string, role: Role) {
  return tx.run(sql`
    insert into shop_user (shop_id, user_id, role, created_at) values (${shopId}, ${userId}, ${role}, ${tx.now})
    on conflict (shop_id, user_id) do update set role = excluded.role, is_pending = false`);
}

/** The staff of a shop also work in its copy. An invitation is for one shop. */
export function copyRoles(tx: Transaction, from: string, to: string) {
  return tx.run(sql`
    insert into shop_user (shop_id, user_id, role, created_at)
    select ${to}::text, user_id, role, ${tx.now}::timestamptz from shop_user
    where shop_id = ${from} and not is_pending`);
}

/** The role starts when the user accepts the invitation. false: the user already has one in this shop. */
export async function insertPendingRole(
  tx: Transaction,
  shopId: string,
  userId: string,
  role: Role,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into shop_user (shop_id, user_id, role, created_at, is_pending)
    values (${shopId}, ${userId}, ${role}, ${tx.now}, true)
    on conflict (shop_id, user_id) do nothing`);
  return inserted === 1;
}

/** A user who has not accepted yet still has to. */
export function updateRole(tx: Transaction, shopId: string, userId: string, role: Role) {
  return tx.run(sql`
    update shop_user set role = ${role} where shop_id = ${shopId} and user_id = ${userId}`);
}

/** false: the invitation was withdrawn. */
export async function acceptRole(tx: Transaction, shopId: string, userId: string): Promise<boolean> {
  const accepted = await tx.run(sql`
    update shop_user set is_pending = false where shop_id = ${shopId} and user_id = ${userId}`);
  return accepted === 1;
}

/**
 * Makes the roles in all other shops wait for their own invitation, over all nodes of a cluster. It concerns roles
 * that were given without one to a user who had no password yet.
 */
export function suspendOtherRoles(tx: Transaction, shopId: string, userId: string) {
  return tx.run(sql`
    update shop_user set is_pending = true
    where user_id = ${userId} and shop_id <> ${shopId} and not is_pending`);
}

/** Ends a user's work in a shop, and deletes data that only this user used there. */
export async function deleteRole(tx: Transaction, shopId: string, userId: string): Promise<void> {
  await tx.run(sql`delete from shop_user where shop_id = ${shopId} and user_id = ${userId}`);
  await tx.run(sql`delete from saved_view where shop_id = ${shopId} and user_id = ${userId}`);
}

/** Also deletes the sessions, links, passkeys and recovery codes. The roles must have been deleted before. */
export function deleteUser(tx: Transaction, userId: string) {
  return tx.run(sql`delete from admin_user where user_id = ${userId}`);
}

/** The owner of all existing shops, over all nodes of a cluster. */
export function putOwnerOfAllShops(tx: Transaction, userId: string) {
  return tx.run(sql`
    insert into shop_user (shop_id, user_id, role, created_at)
    select shop_id, ${userId}::uuid, 'owner', ${tx.now}::timestamptz from shop
    on conflict (shop_id, user_id) do update set role = excluded.role, is_pending = false`);
}

/** More than any shop's number of staff. */
export const MAX_MEMBERS = 200;

export interface Member extends User {
  role: Role;
  /** The invitation is pending. */
  isPending: boolean;
  /** The user's last sign-in, in any shop; null: never. */
  signedInAt: Date | null;
}

/**
 * The staff of a shop. Two statements, because on a cluster users are on the coordinator and the rows of a shop are
 * elsewhere.
 */
export async function findMembers(db: Queries, shopId: string): Promise<Member[]> {
  const roles = await db.many<Pick<Member, 'userId' | 'role' | 'isPending'>>(sql`
    select upper(user_id::text) as "userId", role, is_pending as "isPending" from shop_user
    where shop_id = ${shopId} order by user_id limit ${MAX_MEMBERS}`);
  const users = await db.many<User & Pick<Member, 'signedInAt'>>(sql`
    select ${userColumns}, signed_in_at as "signedInAt" from admin_user
    where user_id = any (${roles.map(({ userId }) => userId)}::uuid[]) order by email`);
  const roleOf = new Map(roles.map((role) => [role.userId, role]));
  return users.map((user) => ({ ...user, ...roleOf.get(user.userId)! }));
}

/** Locks the roles of the owners who have accepted theirs, so that two of them can't remove each other at once. */
export async function lockOwners(tx: Transaction, shopId: string): Promise<string[]> {
  const rows = await tx.many<{ userId: string }>(sql`
    select upper(user_id::text) as "userId" from shop_user
    where shop_id = ${shopId} and role = 'owner' and not is_pending
    order by user_id for update`);
  return rows.map(({ userId }) => userId);
}

/** Whether one of these users has ever signed in: an owner who was only invited can't help a shop. */
export async function hasSignedIn(db: Queries, userIds: readonly string[]): Promise<boolean> {
  const row = await db.one(sql`
    select from admin_user where user_id = any (${userIds}::uuid[]) and signed_in_at is not null limit 1`);
  return row !== undefined;
}

export interface ListedUser extends User {
  hasPassword: boolean;
  signedInAt: Date | null;
}

export function findUsers(db: Queries, limit: number) {
  return db.many<ListedUser>(sql`
    select ${userColumns}, password_hash is not null as "hasPassword", signed_in_at as "signedInAt"
    from admin_user order by email limit ${limit}`);
}

/** Whether there is any other user. */
export async function hasUsersBeside(db: Queries, email: string): Promise<boolean> {
  return (await db.one(sql`select from admin_user where email <> ${email} limit 1`)) !== undefined;
}
