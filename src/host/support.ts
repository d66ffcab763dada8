import type { Queries, Transaction } from '../db/database.ts';
import { deleteOld } from '../db/delete-old.ts';
import { sql } from '../db/sql.ts';
import { newId, newSecret, secretHash } from '../kernel/ids.ts';
import type { CleanupStep } from '../platform/cleanup.ts';

/**
 * Support access: the owner of a shop lets people of the host in until a moment. A session of theirs counts only while
 * its grant is there and open, which the statement that reads the session checks. All moments are those of the
 * service: the clock of a sandbox ends no grant.
 */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export const MAX_GRANT = 30 * DAY;

/** A person of the host enters again on the next day. */
const VISIT_LIFETIME = 12 * HOUR;

/** Days for which the owner sees who was in. The audit log keeps it longer. */
const VISITS_KEPT = 90 * DAY;

export interface SupportGrant {
  grantId: string;
  role: string;
  grantedBy: string;
  grantedAt: Date;
  endsAt: Date;
}

const grantColumns = sql`
  upper(grant_id::text) as "grantId", role, granted_by as "grantedBy", granted_at as "grantedAt", ends_at as "endsAt"`;

/** undefined: there is none that is open. */
export function findGrant(db: Queries, shopId: string) {
  return db.one<SupportGrant>(sql`
    select ${grantColumns} from support_grant where shop_id = ${shopId} and ends_at > ${db.serviceNow}`);
}

/** Waits for an owner who is ending it. A shop that is about to be deleted has none. */
export function lockGrant(tx: Transaction, shopId: string, grantId: string) {
  return tx.one<SupportGrant>(sql`
    select ${grantColumns} from support_grant
    where shop_id = ${shopId} and grant_id = ${grantId} and ends_at > ${tx.serviceNow}
      and exists (select from shop where shop_id = ${shopId} and deletion_at is null)
    for update`);
}

/** In the place of an earlier one, whose sessions end. */
export async function putGrant(
  tx: Transaction,
  shopId: string,
  { role, grantedBy, endsAt }: Pick<SupportGrant, 'role' | 'grantedBy' | 'endsAt'>,
): Promise<void> {
  const at = tx.serviceNow;
  await tx.run(sql`
    insert into support_grant (shop_id, grant_id, role, granted_by, granted_at, ends_at)
    values (${shopId}, ${newId(at)}, ${role}, ${grantedBy}, ${at}, ${endsAt})
    on conflict (shop_id) do update set grant_id = excluded.grant_id, role = excluded.role,
      granted_by = excluded.granted_by, granted_at = excluded.granted_at, ends_at = excluded.ends_at`);
}

/** Ends its sessions and links as well. false: there was none. */
export async function deleteGrant(tx: Transaction, shopId: string): Promise<boolean> {
  await tx.run(sql`
    update support_visit set left_at = ${tx.serviceNow} where shop_id = ${shopId} and left_at is null`);
  return (await tx.run(sql`delete from support_grant where shop_id = ${shopId}`)) > 0;
}

/** A person of the host, as the host names it. */
export interface SupportPerson {
  name: string;
  email: string;
  reason: string;
}

/** Returns the token for the cookie, which is never stored. */
export async function insertSupportVisit(
  tx: Transaction,
  shopId: string,
  grantId: string,
  { name, email, reason }: SupportPerson,
): Promise<{ visitId: string; token: string }> {
  const secret = newSecret(32);
  const at = tx.serviceNow;
  const visitId = newId(at);
  await tx.run(sql`
    insert into support_visit (shop_id, visit_id, grant_id, token_hash, name, email, reason, entered_at, seen_at)
    values (${shopId}, ${visitId}, ${grantId}, ${secretHash(secret)}, ${name}, ${email}, ${reason}, ${at}, ${at})`);
  return { visitId, token: `support.${shopId}.${secret}` };
}

const TOKEN = /^support\.([A-Za-z0-9][A-Za-z0-9_-]{0,62})\.([A-Za-z0-9]{32})$/;

export const isSupportToken = (token: string): boolean => token.startsWith('support.');

/** The session of a person of the host. */
export interface SupportSession extends SupportPerson {
  shopId: string;
  visitId: string;
  role: string;
  seenAt: Date;
  endsAt: Date;
  settingsVersion: number;
}

/** undefined: it has ended, or its grant has. Read for every page, so that the end takes effect at once. */
export async function findSupportSession(db: Queries, token: string): Promise<SupportSession | undefined> {
  const [, shopId, secret] = TOKEN.exec(token) ?? [];
  if (shopId === undefined || secret === undefined) return undefined;
  const now = db.serviceNow;
  const row = await db.one<
    Omit<SupportSession, 'shopId' | 'endsAt'> & { grantEndsAt: Date; enteredAt: Date }
  >(sql`
    select upper(visit_id::text) as "visitId", name, email, reason, role, seen_at as "seenAt",
      ends_at as "grantEndsAt", entered_at as "enteredAt", settings_version as "settingsVersion"
    from support_visit
    join support_grant on support_grant.shop_id = ${shopId} and support_grant.grant_id = support_visit.grant_id
    join shop on shop.shop_id = ${shopId}
    where support_visit.shop_id = ${shopId} and token_hash = ${secretHash(secret)} and left_at is null
      and ends_at > ${now} and entered_at > ${new Date(now.getTime() - VISIT_LIFETIME)} and deletion_at is null`);
  if (!row) return undefined;
  const { grantEndsAt, enteredAt, ...session } = row;
  const endsAt = new Date(Math.min(grantEndsAt.getTime(), enteredAt.getTime() + VISIT_LIFETIME));
  return { ...session, shopId, endsAt };
}

export function touchSupportVisit(db: Queries, shopId: string, visitId: string) {
  return db.run(sql`
    update support_visit set seen_at = ${db.serviceNow} where shop_id = ${shopId} and visit_id = ${visitId}`);
}

export function endSupportVisit(tx: Queries, shopId: string, visitId: string) {
  return tx.run(sql`
    update support_visit set left_at = ${tx.serviceNow}
    where shop_id = ${shopId} and visit_id = ${visitId} and left_at is null`);
}

export interface SupportVisit extends SupportPerson {
  enteredAt: Date;
  seenAt: Date;
  isIn: boolean;
}

const MAX_VISITS = 50;

/** Who has entered lately, the last one first. */
export function findSupportVisits(db: Queries, shopId: string) {
  const now = db.serviceNow;
  return db.many<SupportVisit>(sql`
    select name, email, reason, entered_at as "enteredAt", seen_at as "seenAt",
      left_at is null and entered_at > ${new Date(now.getTime() - VISIT_LIFETIME)}
        and support_grant.ends_at is not null as "isIn"
    from support_visit
    left join support_grant on support_grant.shop_id = ${shopId} and support_grant.grant_id = support_visit.grant_id
      and support_grant.ends_at > ${now}
    where support_visit.shop_id = ${shopId} order by visit_id desc limit ${MAX_VISITS}`);
}

const deleteVisits = deleteOld('support_visit', 'entered_at', { visit_id: 'uuid' });

/** Deletes visits that owners no longer see. */
export const supportVisitCleanup: CleanupStep = {
  name: 'support visits',
  run: (db, limit) => deleteVisits(db, new Date(db.serviceNow.getTime() - VISITS_KEPT), limit),
};
