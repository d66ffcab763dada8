import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';

const HOUR = 3_600_000;

/** How long a link is valid. */
export const LINK_LIFETIME = { reset: 24 * HOUR, invitation: 7 * 24 * HOUR, forgotten: HOUR };

/**
 * Beyond this number per user and shop, the oldest expire; it is more than strangers can request while theirs are
 * valid. The invitations of one shop never end those of another.
 */
const MAX_LINKS = 10;

export interface AdminLink {
  linkId: string;
  /** null: it creates the first user of the installation. */
  userId: string | null;
  /** The shop of the invitation; null: it is for choosing a new password, and belongs to no shop. */
  shopId: string | null;
}

export async function insertLink(
  tx: Transaction,
  userId: string | null,
  lifetime: number,
  shopId: string | null = null,
): Promise<string> {
  const linkId = newId(tx.serviceNow);
  await tx.run(sql`
    insert into admin_link (link_id, user_id, invited_to, created_at, expires_at)
    values (${linkId}, ${userId}, ${shopId}, ${tx.serviceNow}, ${new Date(tx.serviceNow.getTime() + lifetime)})`);
  await tx.run(sql`
    delete from admin_link where link_id in (
      select link_id from admin_link
      where user_id is not distinct from ${userId}::uuid and invited_to is not distinct from ${shopId}::text
        and expires_at > ${tx.serviceNow}
      order by created_at desc, link_id desc offset ${MAX_LINKS})`);
  return linkId;
}

/** undefined: it was used, or has expired. */
export function findLink(db: Queries, linkId: string) {
  return db.one<AdminLink>(sql`
    select upper(link_id::text) as "linkId", upper(user_id::text) as "userId", invited_to as "shopId" from admin_link
    where link_id = ${linkId} and expires_at > ${db.serviceNow}`);
}

/**
 * Consumes a link, and all others of the same user, except those of other shops. false: another request was faster; of
 * two concurrent forms, the second waits for the rows that the first deletes.
 */
export async function takeLink(tx: Transaction, { linkId, userId, shopId }: AdminLink): Promise<boolean> {
  const taken = await tx.many<{ linkId: string }>(sql`
    delete from admin_link
    where user_id is not distinct from ${userId}::uuid and invited_to is not distinct from ${shopId}::text
    returning upper(link_id::text) as "linkId"`);
  return taken.some((link) => link.linkId === linkId);
}

/** Deletes links that have expired. */
export const adminLinkCleanup: CleanupStep = {
  name: 'admin links',
  run: (db, limit) =>
    db.run(sql`
      delete from admin_link where link_id in (
        select link_id from admin_link where expires_at < ${db.serviceNow} order by expires_at limit ${limit})`),
};

const TOKEN = /^([0-9A-F-]{36})\.[A-Za-z0-9_-]{43}$/;

/** The addresses of links. The proof is derived from the id when the link is shown or sent, and never stored. */
export function linkTokens(installationKey: Buffer) {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'kontor admin links', 32));
  const tokenOf = (linkId: string) =>
    `${linkId}.${createHmac('sha256', key).update(linkId).digest('base64url')}`;
  return {
    urlOf: (origin: string, linkId: string) => `${origin}/admin/link?token=${tokenOf(linkId)}`,

    /** The id of the link that the token belongs to; undefined: the token is invalid. */
    linkIdOf(token: string): string | undefined {
      const linkId = TOKEN.exec(token)?.[1];
      if (linkId === undefined) return undefined;
      return timingSafeEqual(Buffer.from(token), Buffer.from(tokenOf(linkId))) ? linkId : undefined;
    },
  };
}
