import type { Queries, Transaction } from '../../db/database.ts';
import { insertInto } from '../../db/insert.ts';
import { leaseEnd } from '../../db/lease.ts';
import { sql } from '../../db/sql.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import type { MailingState } from './schema.ts';
import { atServiceClock } from '../../db/shop-clocks.ts';

export interface TakenRun {
  mailingId: string;
  attempts: number;
  collectedTo: string;
  isCollected: boolean;
}

export function findDueRun(db: Queries) {
  return db.one<{ shopId: string; mailingId: string }>(sql`
    select shop_id as "shopId", mailing_id as "mailingId" from mailing_run
    where run_at <= ${db.now} order by run_at limit 1`);
}

/** undefined: another process was faster. */
export function takeRun(db: Queries, shopId: string, mailingId: string) {
  return db.one<TakenRun>(sql`
    update mailing_run set run_at = ${leaseEnd(db.now)}, attempts = attempts + 1
    where shop_id = ${shopId} and mailing_id = ${mailingId} and run_at <= ${db.now}
    returning upper(mailing_id::text) as "mailingId", attempts, collected_to as "collectedTo",
      is_collected as "isCollected"`);
}

/**
 * Locks the mailings of a shop that are under way, so that the emails of all of them together are not more than the
 * bound.
 */
export function lockCurrentMailings(tx: Transaction, shopId: string) {
  return tx.many<{
    mailingId: string;
    state: MailingState;
    newsletterIds: string[];
    segmentId: string | null;
    perHour: number | null;
  }>(sql`
    select upper(mailing_id::text) as "mailingId", state, upper(newsletter_ids::text)::text[] as "newsletterIds",
      upper(segment_id::text) as "segmentId", per_hour as "perHour"
    from mailing where shop_id = ${shopId} and state in ('scheduled', 'sending')
    order by mailing_id for no key update`);
}

/** Keeps other processes from taking the run until the transaction ends. false: one of them has taken it. */
export async function lockRun(tx: Transaction, shopId: string, { mailingId, attempts }: TakenRun) {
  const run = await tx.one(sql`
    select from mailing_run
    where shop_id = ${shopId} and mailing_id = ${mailingId} and attempts = ${attempts} for no key update`);
  return run !== undefined;
}

export function moveRun(tx: Transaction, shopId: string, mailingId: string, runAt: Date) {
  return tx.run(sql`
    update mailing_run set run_at = ${atServiceClock(tx, runAt)} where shop_id = ${shopId} and mailing_id = ${mailingId}`);
}

export function startMailing(tx: Transaction, shopId: string, mailingId: string) {
  return tx.run(sql`
    update mailing set state = 'sending', started_at = ${tx.now}
    where shop_id = ${shopId} and mailing_id = ${mailingId}`);
}

/** When the next emails of the shop may be queued; null: at once. */
export async function findPace(tx: Transaction, shopId: string): Promise<Date | null> {
  const row = await tx.one<{ until: Date | null }>(sql`
    select max(paced_until) as until from mailing where shop_id = ${shopId}`);
  return row!.until;
}

const insertRecipient = insertInto(
  'mailing_recipient',
  { mailing_id: 'uuid', email: 'text', locale: 'text', state: 'text', changed_at: 'timestamptz' },
  { key: ['mailing_id', 'email'], keep: ['locale', 'state', 'changed_at'] },
);

/** Adds recipients, and says up to which address all are there. */
export async function addRecipients(
  tx: Transaction,
  shopId: string,
  mailingId: string,
  recipients: readonly { email: string; locale: string | null }[],
  { collectedTo, isCollected }: Pick<TakenRun, 'collectedTo' | 'isCollected'>,
): Promise<void> {
  const rows = recipients.map(({ email, locale }) => ({
    mailing_id: mailingId,
    email,
    locale,
    state: 'waiting',
    changed_at: tx.now,
  }));
  const added = rows.length === 0 ? 0 : await tx.run(insertRecipient(shopId, rows));
  await tx.run(sql`
    update mailing set recipients = recipients + ${added} where shop_id = ${shopId} and mailing_id = ${mailingId}`);
  await tx.run(sql`
    update mailing_run set collected_to = ${collectedTo}, is_collected = ${isCollected}, run_at = ${tx.serviceNow}
    where shop_id = ${shopId} and mailing_id = ${mailingId}`);
}

/** How many emails are queued and not sent yet, up to `limit`. */
export async function countQueued(
  tx: Transaction,
  shopId: string,
  mailingId: string,
  limit: number,
): Promise<number> {
  const row = await tx.one<{ queued: number }>(sql`
    select count(*) as queued from (
      select from mailing_recipient
      where shop_id = ${shopId} and mailing_id = ${mailingId} and state = 'queued' limit ${limit}) as counted`);
  return row!.queued;
}

export async function findWaitingRecipients(
  tx: Transaction,
  shopId: string,
  mailingId: string,
  limit: number,
): Promise<string[]> {
  const rows = await tx.many<{ email: string }>(sql`
    select email from mailing_recipient
    where shop_id = ${shopId} and mailing_id = ${mailingId} and state = 'waiting' order by email limit ${limit}`);
  return rows.map(({ email }) => email);
}

/** Records the jobs of recipients, and until when no further emails of the shop are queued. */
export async function markQueued(
  tx: Transaction,
  shopId: string,
  mailingId: string,
  queued: readonly { email: string; jobId: string }[],
  pacedUntil: Date,
): Promise<void> {
  await tx.run(sql`
    update mailing_recipient set state = 'queued', job_id = given."jobId", changed_at = ${tx.now}
    from jsonb_to_recordset(${JSON.stringify(queued)}) as given (email text, "jobId" uuid)
    where mailing_recipient.shop_id = ${shopId} and mailing_recipient.mailing_id = ${mailingId}
      and mailing_recipient.email = given.email and mailing_recipient.state = 'waiting'`);
  await tx.run(sql`
    update mailing set paced_until = ${pacedUntil} where shop_id = ${shopId} and mailing_id = ${mailingId}`);
}

/** Emails whose job has failed for the last time, or is gone, are never sent. Returns how many. */
export async function refuseLost(tx: Transaction, shopId: string, mailingId: string): Promise<number> {
  const lost = await tx.run(sql`
    update mailing_recipient set state = 'refused', changed_at = ${tx.now}
    where shop_id = ${shopId} and mailing_id = ${mailingId} and state = 'queued' and not exists (
      select from job
      where job.shop_id = ${shopId} and job.job_id = mailing_recipient.job_id and job.run_at is not null)`);
  if (lost > 0) {
    await tx.run(sql`
      update mailing set refused = refused + ${lost} where shop_id = ${shopId} and mailing_id = ${mailingId}`);
  }
  return lost;
}

export interface QueuedRecipient {
  state: MailingState;
  version: number;
  locale: string | null;
  newsletterIds: string[];
  /** Has still one of the newsletters, and the address has not bounced. */
  isSubscribed: boolean;
}

/** A recipient whose email is to be sent. undefined: it was sent, or the person was erased. */
export function findQueuedRecipient(
  db: Queries,
  shopId: string,
  { mailingId, email, jobId }: { mailingId: string; email: string; jobId: string },
) {
  return db.one<QueuedRecipient>(sql`
    select mailing.state, mailing.version, recipient.locale,
      upper(mailing.newsletter_ids::text)::text[] as "newsletterIds",
      exists (
        select from newsletter_subscriber subscriber
        where subscriber.shop_id = ${shopId} and subscriber.campaign_id = any (mailing.newsletter_ids)
          and subscriber.email = ${email} and subscriber.subscribed
      ) and not exists (
        select from newsletter_bounce where shop_id = ${shopId} and email = ${email}
      ) as "isSubscribed"
    from mailing_recipient recipient
    join mailing on mailing.shop_id = ${shopId} and mailing.mailing_id = recipient.mailing_id
    where recipient.shop_id = ${shopId} and recipient.mailing_id = ${mailingId} and recipient.email = ${email}
      and recipient.state = 'queued' and recipient.job_id = ${jobId}`);
}

export type RecipientOutcome = 'sent' | 'skipped' | 'refused' | 'bounced';

/** Records what has become of an email, once. Says how many were refused one after the other, this one included. */
export async function recordOutcome(
  tx: Transaction,
  shopId: string,
  { mailingId, email, jobId }: { mailingId: string; email: string; jobId: string },
  outcome: RecipientOutcome,
): Promise<{ refusedInRow: number }> {
  const changed = await tx.run(sql`
    update mailing_recipient set state = ${outcome}, changed_at = ${tx.now}
    where shop_id = ${shopId} and mailing_id = ${mailingId} and email = ${email} and state = 'queued'
      and job_id = ${jobId}`);
  if (changed === 0) return { refusedInRow: 0 };
  const row = await tx.one<{ refusedInRow: number }>(sql`
    update mailing set sent = sent + ${Number(outcome === 'sent')}, skipped = skipped + ${Number(outcome === 'skipped')},
      refused = refused + ${Number(outcome === 'refused')}, bounced = bounced + ${Number(outcome === 'bounced')},
      refused_in_row = case ${outcome} when 'sent' then 0 when 'skipped' then refused_in_row
        else refused_in_row + 1 end
    where shop_id = ${shopId} and mailing_id = ${mailingId}
    returning refused_in_row as "refusedInRow"`);
  return { refusedInRow: outcome === 'refused' || outcome === 'bounced' ? (row?.refusedInRow ?? 0) : 0 };
}

/** The mailing was paused before this email was sent: it waits again. */
export function returnToWaiting(
  db: Queries,
  shopId: string,
  { mailingId, email, jobId }: { mailingId: string; email: string; jobId: string },
) {
  return db.run(sql`
    update mailing_recipient set state = 'waiting', job_id = null
    where shop_id = ${shopId} and mailing_id = ${mailingId} and email = ${email} and state = 'queued'
      and job_id = ${jobId}`);
}

/** Counts a recipient who has unsubscribed by a link of the mailing. */
export async function recordUnsubscribed(
  tx: Transaction,
  shopId: string,
  mailingId: string,
  email: string,
): Promise<void> {
  const changed = await tx.run(sql`
    update mailing_recipient set unsubscribed = true
    where shop_id = ${shopId} and mailing_id = ${mailingId} and email = ${email} and state = 'sent' and not unsubscribed`);
  if (changed === 0) return;
  await tx.run(sql`
    update mailing set unsubscribed = unsubscribed + 1 where shop_id = ${shopId} and mailing_id = ${mailingId}`);
}

/** Counts bounces and complaints with the last mailing that each address was sent. */
export async function recordBounces(
  tx: Transaction,
  shopId: string,
  kind: 'bounced' | 'complained',
  emails: readonly string[],
): Promise<void> {
  const changed = await tx.many<{ mailingId: string }>(sql`
    update mailing_recipient set
      state = case ${kind} when 'bounced' then 'bounced' else state end,
      complained = complained or ${kind} = 'complained'
    from (
      select distinct on (email) mailing_id, email from mailing_recipient
      where shop_id = ${shopId} and email = any (${emails}::text[]) and state = 'sent'
      order by email, changed_at desc, mailing_id desc
    ) as last
    where mailing_recipient.shop_id = ${shopId} and mailing_recipient.mailing_id = last.mailing_id
      and mailing_recipient.email = last.email
      and mailing_recipient.state = 'sent' and (${kind} = 'bounced' or not mailing_recipient.complained)
    returning upper(mailing_recipient.mailing_id::text) as "mailingId"`);
  if (changed.length === 0) return;
  const ids = changed.map(({ mailingId }) => mailingId);
  const count = sql`cardinality(array_positions(${ids}::uuid[], mailing_id))`;
  await tx.run(sql`
    update mailing set sent = sent - case ${kind} when 'bounced' then ${count} else 0 end,
      bounced = bounced + case ${kind} when 'bounced' then ${count} else 0 end,
      complained = complained + case ${kind} when 'complained' then ${count} else 0 end
    where shop_id = ${shopId} and mailing_id = any (${ids}::uuid[])`);
}

/** Deletes the recipients of mailings that ended a while ago, some at a time. */
export const mailingCleanup: CleanupStep = {
  name: 'recipients of mailings',
  run: async (db, limit) => {
    const due = await db.one<{ shopId: string; mailingId: string }>(sql`
      select shop_id as "shopId", mailing_id as "mailingId" from mailing
      where forget_at <= ${db.now} order by forget_at limit 1`);
    if (!due) return 0;
    const { shopId, mailingId } = due;
    const deleted = await db.run(sql`
      delete from mailing_recipient
      where shop_id = ${shopId} and mailing_id = ${mailingId} and email = any (array(
        select email from mailing_recipient
        where shop_id = ${shopId} and mailing_id = ${mailingId} order by email limit ${limit}))`);
    if (deleted < limit) {
      await db.run(sql`
        update mailing set forget_at = null where shop_id = ${shopId} and mailing_id = ${mailingId}`);
    }
    // Others may be due.
    return limit;
  },
};
