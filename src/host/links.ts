import type { Queries, Transaction } from '../db/database.ts';
import { deleteOld } from '../db/delete-old.ts';
import { sql } from '../db/sql.ts';
import { newSecret, secretHash } from '../kernel/ids.ts';
import type { CleanupStep } from '../platform/cleanup.ts';
import type { SupportPerson } from './support.ts';

/**
 * Links of one use with which the systems of the host let a person into the admin of a shop. The secret is in the part
 * of the address after the #, which no server gets: neither logs nor the Referer of another page can hold it.
 */

const SECOND = 1_000;

const LIFETIME = { person: 60 * SECOND, support: 300 * SECOND };

/** Whom a link lets in: a person of the shop, or one of the host by support access. */
export type HostLinkFor = { userId: string; target: string } | { grantId: string; person: SupportPerson };

/** Returns the address, which is shown this once. */
export async function insertHostLink(
  tx: Transaction,
  shopId: string,
  { origin, madeBy }: { origin: string; madeBy: string },
  who: HostLinkFor,
): Promise<{ url: string; expiresAt: Date }> {
  const secret = newSecret(32);
  const at = tx.serviceNow;
  const isOfPerson = 'userId' in who;
  const expiresAt = new Date(at.getTime() + (isOfPerson ? LIFETIME.person : LIFETIME.support));
  const { name = null, email = null, reason = null } = isOfPerson ? {} : who.person;
  await tx.run(sql`
    insert into host_link (
      shop_id, token_hash, made_by, created_at, expires_at, user_id, target, grant_id, name, email, reason)
    values (${shopId}, ${secretHash(secret)}, ${madeBy}, ${at}, ${expiresAt}, ${isOfPerson ? who.userId : null},
      ${isOfPerson ? who.target : null}, ${isOfPerson ? null : who.grantId}, ${name}, ${email}, ${reason})`);
  return { url: `${origin}/admin/enter#${shopId}.${secret}`, expiresAt };
}

interface HostLinkRow {
  madeBy: string;
  userId: string | null;
  target: string | null;
  grantId: string | null;
  name: string | null;
  email: string | null;
  reason: string | null;
}

const columns = sql`
  made_by as "madeBy", upper(user_id::text) as "userId", target, upper(grant_id::text) as "grantId", name, email, reason`;

export type HostLink = { shopId: string; madeBy: string } & HostLinkFor;

const TOKEN = /^([A-Za-z0-9][A-Za-z0-9_-]{0,62})\.([A-Za-z0-9]{32})$/;

function parse(token: string): { shopId: string; hash: Buffer } | undefined {
  const [, shopId, secret] = TOKEN.exec(token) ?? [];
  return shopId === undefined || secret === undefined ? undefined : { shopId, hash: secretHash(secret) };
}

function toLink(shopId: string, { madeBy, userId, target, grantId, ...person }: HostLinkRow): HostLink {
  if (userId !== null) return { shopId, madeBy, userId, target: target! };
  return { shopId, madeBy, grantId: grantId!, person: person as SupportPerson };
}

/** undefined: it was used, or has expired. */
export async function findHostLink(db: Queries, token: string): Promise<HostLink | undefined> {
  const parsed = parse(token);
  if (!parsed) return undefined;
  const { shopId, hash } = parsed;
  const row = await db.one<HostLinkRow>(sql`
    select ${columns} from host_link
    where shop_id = ${shopId} and token_hash = ${hash} and expires_at > ${db.serviceNow}`);
  return row && toLink(shopId, row);
}

/** Uses a link up. Of two requests at once, the second waits for the row that the first deletes, and gets none. */
export async function takeHostLink(tx: Transaction, token: string): Promise<HostLink | undefined> {
  const parsed = parse(token);
  if (!parsed) return undefined;
  const { shopId, hash } = parsed;
  const row = await tx.one<HostLinkRow>(sql`
    delete from host_link where shop_id = ${shopId} and token_hash = ${hash} and expires_at > ${tx.serviceNow}
    returning ${columns}`);
  return row && toLink(shopId, row);
}

const deleteLinks = deleteOld('host_link', 'expires_at', { token_hash: 'bytea' });

/** Deletes links that have expired. */
export const hostLinkCleanup: CleanupStep = {
  name: 'links of the host',
  run: (db, limit) => deleteLinks(db, db.serviceNow, limit),
};
