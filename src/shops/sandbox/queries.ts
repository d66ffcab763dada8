import { randomUUID } from 'node:crypto';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { Sandbox } from '../settings/settings.ts';

/** Sandboxes of one shop at the same time: each is a whole shop. */
export const MAX_SANDBOXES = 5;

/** Emails that a sandbox keeps. */
export const MAX_EMAILS = 200;

export function findClocks(db: Queries) {
  return db.many<{ shopId: string; clock: number }>(sql`
    select shop_id as "shopId", sandbox_clock as clock from shop where sandbox_of is not null`);
}

export async function countSandboxes(db: Queries, shopId: string): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from shop where sandbox_of = ${shopId}`);
  return row!.count;
}

/** The newest first. */
export function findSandboxes(db: Queries, shopId: string) {
  return db.many<{ shopId: string; createdAt: Date; clock: number }>(sql`
    select shop_id as "shopId", created_at as "createdAt", sandbox_clock as clock from shop
    where sandbox_of = ${shopId} order by created_at desc, shop_id limit ${MAX_SANDBOXES}`);
}

/** Two sandboxes of one shop are not finished at the same time. */
export function lockShopOfSandboxes(tx: Transaction, shopId: string) {
  return tx.run(sql`select shop_id from shop where shop_id = ${shopId} for no key update`);
}

/** undefined: it is a shop of its own. */
export async function lockSandbox(tx: Transaction, shopId: string): Promise<Sandbox | undefined> {
  return tx.one<Sandbox>(sql`
    select sandbox_of as "of", sandbox_clock as clock from shop
    where shop_id = ${shopId} and sandbox_of is not null for no key update`);
}

export function updateClock(tx: Transaction, shopId: string, clock: number) {
  return tx.run(sql`
    update shop set sandbox_clock = ${clock}, settings_version = settings_version + 1
    where shop_id = ${shopId} and sandbox_of is not null`);
}

/** A shop that was copied from another is new, and has a preview link of its own. undefined: it is no sandbox. */
export function updateCopy(tx: Transaction, shopId: string, sandbox: Sandbox | undefined) {
  return tx.run(sql`
    update shop
    set created_at = ${tx.now}, preview_seed = ${randomUUID()}, sandbox_of = ${sandbox?.of ?? null},
      sandbox_clock = ${sandbox?.clock ?? 0}
    where shop_id = ${shopId}`);
}

export interface SandboxEmail {
  emailId: string;
  at: Date;
  /** `orderConfirmation` */
  kind: string;
  recipient: string;
  subject: string;
  body: string;
  attachments: string[];
}

/** Keeps an email in the place of sending it, and deletes those that are too old to be among the last. */
export async function insertEmail(db: Queries, shopId: string, email: SandboxEmail): Promise<void> {
  const { emailId, at, kind, recipient, subject, body, attachments } = email;
  await db.run(sql`
    insert into sandbox_email (shop_id, email_id, at, kind, recipient, subject, body, attachments)
    select shop_id, ${emailId}::uuid, ${at}::timestamptz, ${kind}::text, ${recipient}::text, ${subject}::text,
      ${body}::text, ${attachments}::text[]
    from shop where shop_id = ${shopId}
    on conflict (shop_id, email_id) do nothing`);
  await db.run(sql`
    delete from sandbox_email where shop_id = ${shopId} and email_id in (
      select email_id from sandbox_email where shop_id = ${shopId}
      order by email_id desc offset ${MAX_EMAILS} limit ${MAX_EMAILS})`);
}

const columns = sql`upper(email_id::text) as "emailId", at, kind, recipient, subject, body, attachments`;

/** The newest first. */
export function findSandboxEmails(db: Queries, shopId: string) {
  return db.many<SandboxEmail>(sql`
    select ${columns} from sandbox_email where shop_id = ${shopId} order by email_id desc limit ${MAX_EMAILS}`);
}

export function findEmail(db: Queries, shopId: string, emailId: string) {
  return db.one<SandboxEmail>(sql`
    select ${columns} from sandbox_email where shop_id = ${shopId} and email_id = ${emailId}`);
}
