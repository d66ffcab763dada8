import type { Queries, Transaction } from '../../db/database.ts';
import { insertInto } from '../../db/insert.ts';
import { leaseEnd } from '../../db/lease.ts';
import { sql } from '../../db/sql.ts';
import type { PageRange } from '../../http/paging.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import { imageKeysOf } from '../pages/pictures.ts';
import type { MailingContent, StoredMailingText } from './mailing.ts';
import type { MailingProblem, MailingState } from './schema.ts';

export interface MailingRow {
  mailingId: string;
  state: MailingState;
  newsletterIds: string[];
  segmentId: string | null;
  couponCampaignId: string | null;
  perHour: number | null;
  sendAt: Date | null;
  startedAt: Date | null;
  endedAt: Date | null;
  problem: MailingProblem | null;
  author: string;
  version: number;
  createdAt: Date;
  changedAt: Date;
  recipients: number;
  sent: number;
  skipped: number;
  refused: number;
  bounced: number;
  complained: number;
  unsubscribed: number;
}

/**
 * In a restored shop a mailing that was under way has no run: it can be scheduled anew if nothing was sent, and else it
 * is over.
 */
const stateOf = (shopId: string) => sql`
  case when mailing.state in ('draft', 'sent', 'cancelled') or exists (
      select from mailing_run run where run.shop_id = ${shopId} and run.mailing_id = mailing.mailing_id
    ) then mailing.state when mailing.state = 'scheduled' then 'draft' else 'cancelled' end`;

const columns = (shopId: string) => sql`
  upper(mailing.mailing_id::text) as "mailingId", ${stateOf(shopId)} as state,
  upper(mailing.newsletter_ids::text)::text[] as "newsletterIds", upper(mailing.segment_id::text) as "segmentId",
  upper(mailing.coupon_campaign_id::text) as "couponCampaignId", mailing.per_hour as "perHour",
  mailing.send_at as "sendAt", mailing.started_at as "startedAt", mailing.ended_at as "endedAt", mailing.problem,
  mailing.author, mailing.version, mailing.created_at as "createdAt", mailing.changed_at as "changedAt",
  mailing.recipients, mailing.sent, mailing.skipped, mailing.refused, mailing.bounced, mailing.complained,
  mailing.unsubscribed`;

export interface ListedMailing extends MailingRow {
  texts: Pick<StoredMailingText, 'locale' | 'subject'>[];
}

/** The newest first. */
export function findMailings(db: Queries, shopId: string, { offset, resultsPerPage }: PageRange) {
  return db.many<ListedMailing>(sql`
    select ${columns(shopId)}, (
      select coalesce(json_agg(json_build_object('locale', locale, 'subject', subject) order by locale), '[]')
      from mailing_text where mailing_text.shop_id = ${shopId} and mailing_text.mailing_id = mailing.mailing_id
    ) as texts
    from mailing where mailing.shop_id = ${shopId}
    order by mailing.mailing_id desc limit ${resultsPerPage} offset ${offset}`);
}

export async function countMailings(db: Queries, shopId: string): Promise<number> {
  const row = await db.one<{ mailings: number }>(
    sql`select count(*) as mailings from mailing where shop_id = ${shopId}`,
  );
  return row!.mailings;
}

export function findMailing(db: Queries, shopId: string, mailingId: string) {
  return db.one<MailingRow>(sql`
    select ${columns(shopId)} from mailing where mailing.shop_id = ${shopId} and mailing.mailing_id = ${mailingId}`);
}

export function lockMailing(tx: Transaction, shopId: string, mailingId: string) {
  return tx.one<Pick<MailingRow, 'mailingId' | 'state' | 'version'> & { pacedUntil: Date | null }>(sql`
    select upper(mailing_id::text) as "mailingId", ${stateOf(shopId)} as state, version, paced_until as "pacedUntil"
    from mailing where shop_id = ${shopId} and mailing_id = ${mailingId} for no key update`);
}

export function findMailingTexts(db: Queries, shopId: string, mailingId: string) {
  return db.many<StoredMailingText>(sql`
    select locale, subject, preheader, blocks from mailing_text
    where shop_id = ${shopId} and mailing_id = ${mailingId} order by locale`);
}

export function insertMailing(
  tx: Transaction,
  shopId: string,
  mailingId: string,
  { newsletterIds, segmentId, couponCampaignId, perHour }: MailingContent,
  author: string,
) {
  return tx.run(sql`
    insert into mailing (shop_id, mailing_id, state, newsletter_ids, segment_id, coupon_campaign_id, per_hour, author,
      version, created_at, changed_at, recipients, sent, skipped, refused, bounced, complained, unsubscribed)
    values (${shopId}, ${mailingId}, 'draft', ${newsletterIds}::uuid[], ${segmentId}, ${couponCampaignId}, ${perHour},
      ${author}, 1, ${tx.now}, ${tx.now}, 0, 0, 0, 0, 0, 0, 0)`);
}

/** What was the schedule of a mailing before a restore is over as well. */
export function updateMailingRow(
  tx: Transaction,
  shopId: string,
  mailingId: string,
  { newsletterIds, segmentId, couponCampaignId, perHour }: MailingContent,
) {
  return tx.run(sql`
    update mailing set state = 'draft', newsletter_ids = ${newsletterIds}::uuid[], segment_id = ${segmentId},
      coupon_campaign_id = ${couponCampaignId}, per_hour = ${perHour}, version = version + 1, changed_at = ${tx.now},
      send_at = null, problem = null
    where shop_id = ${shopId} and mailing_id = ${mailingId}`);
}

const insertText = insertInto('mailing_text', {
  mailing_id: 'uuid',
  locale: 'text',
  subject: 'text',
  preheader: 'text',
  blocks: 'jsonb',
  image_keys: 'uuid[]',
});

export async function replaceMailingTexts(
  tx: Transaction,
  shopId: string,
  mailingId: string,
  texts: readonly StoredMailingText[],
): Promise<void> {
  await tx.run(sql`delete from mailing_text where shop_id = ${shopId} and mailing_id = ${mailingId}`);
  for (const { locale, subject, preheader, blocks } of texts) {
    const row = {
      mailing_id: mailingId,
      locale,
      subject,
      preheader,
      blocks,
      image_keys: imageKeysOf(blocks),
    };
    await tx.run(insertText(shopId, [row]));
  }
}

export function deleteMailingRow(tx: Transaction, shopId: string, mailingId: string) {
  return tx.run(sql`delete from mailing where shop_id = ${shopId} and mailing_id = ${mailingId}`);
}

/** For how long it can be seen who was sent a mailing. */
const RECIPIENTS_STAY = 30 * 86_400_000;

const forgetAt = ({ now }: Queries) => new Date(now.getTime() + RECIPIENTS_STAY);

/** Runs are taken by the clock of the service; that of a sandbox may be ahead. */
const atServiceClock = ({ now, serviceNow }: Transaction, moment: Date) =>
  new Date(moment.getTime() - (now.getTime() - serviceNow.getTime()));

/** Takes the runs of a sandbox earlier whose clock was advanced. */
export function bringMailingsForward(tx: Transaction, shopId: string, milliseconds: number) {
  return tx.run(sql`
    update mailing_run set run_at = run_at - ${milliseconds}::bigint * interval '1 millisecond'
    where shop_id = ${shopId} and run_at is not null`);
}

/** Schedules a mailing, or moves its time. */
export async function scheduleMailing(
  tx: Transaction,
  shopId: string,
  mailingId: string,
  sendAt: Date,
): Promise<void> {
  await tx.run(sql`
    update mailing set state = 'scheduled', send_at = ${sendAt}, problem = null
    where shop_id = ${shopId} and mailing_id = ${mailingId}`);
  await tx.run(sql`
    insert into mailing_run (shop_id, mailing_id, run_at, attempts, collected_to, is_collected)
    values (${shopId}, ${mailingId}, ${atServiceClock(tx, sendAt)}, 0, '', false)
    on conflict (shop_id, mailing_id) do update set run_at = excluded.run_at`);
}

/** A scheduled mailing becomes a draft again. */
export async function unscheduleMailing(tx: Transaction, shopId: string, mailingId: string): Promise<void> {
  await deleteRun(tx, shopId, mailingId);
  await tx.run(sql`
    update mailing set state = 'draft', send_at = null where shop_id = ${shopId} and mailing_id = ${mailingId}`);
}

export async function pauseMailing(
  tx: Transaction,
  shopId: string,
  mailingId: string,
  problem: MailingProblem | null = null,
): Promise<void> {
  await tx.run(sql`
    update mailing set state = 'paused', problem = ${problem}
    where shop_id = ${shopId} and mailing_id = ${mailingId}`);
  await tx.run(sql`
    update mailing_run set run_at = null where shop_id = ${shopId} and mailing_id = ${mailingId}`);
}

export async function resumeMailing(tx: Transaction, shopId: string, mailingId: string): Promise<void> {
  await tx.run(sql`
    update mailing set state = 'sending', problem = null, refused_in_row = 0, started_at = coalesce(started_at, ${tx.now}::timestamptz)
    where shop_id = ${shopId} and mailing_id = ${mailingId}`);
  await tx.run(sql`
    update mailing_run set run_at = ${tx.serviceNow} where shop_id = ${shopId} and mailing_id = ${mailingId}`);
}

export async function endMailing(
  tx: Transaction,
  shopId: string,
  mailingId: string,
  state: 'sent' | 'cancelled',
  problem: MailingProblem | null = null,
): Promise<void> {
  await deleteRun(tx, shopId, mailingId);
  await tx.run(sql`
    update mailing set state = ${state}, ended_at = ${tx.now}, forget_at = ${forgetAt(tx)}, problem = ${problem}
    where shop_id = ${shopId} and mailing_id = ${mailingId}`);
}

function deleteRun(tx: Transaction, shopId: string, mailingId: string) {
  return tx.run(sql`delete from mailing_run where shop_id = ${shopId} and mailing_id = ${mailingId}`);
}

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

export async function findWaiting(
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

export type Outcome = 'sent' | 'skipped' | 'refused' | 'bounced';

/** Records what has become of an email, once. Says how many were refused one after the other, this one included. */
export async function recordOutcome(
  tx: Transaction,
  shopId: string,
  { mailingId, email, jobId }: { mailingId: string; email: string; jobId: string },
  outcome: Outcome,
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
