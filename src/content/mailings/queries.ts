import type { Queries, Transaction } from '../../db/database.ts';
import { insertInto } from '../../db/insert.ts';
import { atServiceClock } from '../../db/shop-clocks.ts';
import { sql } from '../../db/sql.ts';
import type { PageRange } from '../../http/paging.ts';
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

/** The schedule of a mailing before a restore is over as well. */
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
