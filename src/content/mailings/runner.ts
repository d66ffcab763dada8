import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../config.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { newId } from '../../kernel/ids.ts';
import { findSegmentEmails } from '../../orders/customer-segments.ts';
import { toFilter } from '../../people/customers/customer-filter.ts';
import { findSegment } from '../../people/customers/segments.ts';
import { findAddressees } from '../../people/newsletters/queries.ts';
import { queueJobs } from '../../platform/jobs/queue.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { emailsAtOnce, localeOfAddressee, nextBatchAt } from './mailing.ts';
import { endMailing, pauseMailing } from './queries.ts';
import {
  addRecipients,
  countQueued,
  findDueRun,
  findPace,
  findWaitingRecipients,
  lockCurrentMailings,
  lockRun,
  markQueued,
  moveRun,
  refuseLost,
  startMailing,
  takeRun,
  type TakenRun,
} from './run-queries.ts';
import { MAILING_QUEUE, type QueuedMailing } from './worker.ts';

/** Recipients of one transaction. */
const COLLECTED_AT_ONCE = 1_000;
/** Up to this many emails that wait for another try do not hold up the others. */
const MAX_QUEUED = 10_000;
/** When a mailing is looked at again whose emails are not sent yet. */
const CHECK_AGAIN = 5_000;

interface Deps {
  db: Database;
  config: Pick<Config, 'MAILING_RATE'>;
  log: FastifyBaseLogger;
}

/** Takes the mailings that are due a step further, one after the other. */
export async function runDueMailings(
  { db, config, log }: Deps,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  while (!signal.aborted) {
    const due = await findDueRun(db);
    if (!due) return;
    const taken = await takeRun(db, due.shopId, due.mailingId);
    if (!taken) continue;
    try {
      await db.atClockOf(due.shopId).transaction((tx) => runStep(tx, due.shopId, taken, config.MAILING_RATE));
    } catch (error) {
      // It is taken again after the lease has expired.
      log.warn({ err: error, shopId: due.shopId, mailing: due.mailingId }, 'a step of a mailing failed');
    }
  }
}

/**
 * A step is one transaction: it collects some recipients, or queues as many emails as may be sent in a minute. A process
 * that dies leaves whole steps behind, and the next one goes on after them.
 */
async function runStep(tx: Transaction, shopId: string, taken: TakenRun, maxPerHour: number): Promise<void> {
  const { mailingId } = taken;
  const current = await lockCurrentMailings(tx, shopId);
  const mailing = current.find((one) => one.mailingId === mailingId);
  // Paused or cancelled meanwhile, or taken by another process because this one was slow.
  if (!mailing || !(await lockRun(tx, shopId, taken))) return;
  const settings = await shopSettings(tx, shopId);
  if (settings.emailsFrozen !== null) return pauseMailing(tx, shopId, mailingId, 'emailsFrozen');
  if (settings.isSuspended || !settings.publicCatalogue)
    return pauseMailing(tx, shopId, mailingId, 'shopNotPublic');
  if (mailing.state === 'scheduled') await startMailing(tx, shopId, mailingId);
  if (!taken.isCollected) return collect(tx, shopId, taken, mailing, settings);
  const perHour = Math.min(maxPerHour, mailing.perHour ?? maxPerHour);
  await queueBatch(tx, shopId, mailingId, perHour);
}

/** Only people who are subscribed now; that is checked again before each email. */
async function collect(
  tx: Transaction,
  shopId: string,
  { mailingId, collectedTo }: TakenRun,
  { newsletterIds, segmentId }: { newsletterIds: readonly string[]; segmentId: string | null },
  settings: Settings,
): Promise<void> {
  const found = await findAddressees(tx, shopId, newsletterIds, {
    after: collectedTo,
    limit: COLLECTED_AT_ONCE,
  });
  const locales = new Map<string, string | null>();
  for (const addressee of found) {
    if (!locales.has(addressee.email)) locales.set(addressee.email, localeOfAddressee(addressee, settings));
  }
  let emails = [...locales.keys()];
  if (segmentId !== null && emails.length > 0) {
    const segment = await findSegment(tx, shopId, segmentId);
    if (!segment) return endMailing(tx, shopId, mailingId, 'cancelled', 'segmentGone');
    const filter = toFilter((name) => segment.filter[name] ?? '', settings);
    const inSegment = await findSegmentEmails(tx, shopId, filter, emails);
    emails = emails.filter((email) => inSegment.has(email));
  }
  const recipients = emails.map((email) => ({ email, locale: locales.get(email)! }));
  await addRecipients(tx, shopId, mailingId, recipients, {
    collectedTo: found.at(-1)?.email ?? collectedTo,
    isCollected: found.length < COLLECTED_AT_ONCE,
  });
}

/**
 * Queues the next emails, and none while those of an hour still wait: a mail server that is down for a day would get all of
 * them at once when it is back.
 */
async function queueBatch(
  tx: Transaction,
  shopId: string,
  mailingId: string,
  perHour: number,
): Promise<void> {
  const pacedUntil = await findPace(tx, shopId);
  if (pacedUntil && pacedUntil > tx.now) {
    await moveRun(tx, shopId, mailingId, pacedUntil);
    return;
  }
  const maxQueued = Math.min(perHour, MAX_QUEUED);
  if ((await countQueued(tx, shopId, mailingId, maxQueued)) >= maxQueued) {
    await refuseLost(tx, shopId, mailingId);
    await moveRun(tx, shopId, mailingId, new Date(tx.now.getTime() + CHECK_AGAIN));
    return;
  }
  const emails = await findWaitingRecipients(tx, shopId, mailingId, emailsAtOnce(perHour));
  if (emails.length === 0) return endOrWait(tx, shopId, mailingId);
  const queued = emails.map((email) => ({ email, jobId: newId(tx.now) }));
  const jobs = queued.map(({ email, jobId }) => ({
    id: jobId,
    content: { shopId, mailingId, to: email } satisfies QueuedMailing,
  }));
  const next = nextBatchAt(tx.now, emails.length, perHour);
  await queueJobs(tx, shopId, MAILING_QUEUE, jobs);
  await markQueued(tx, shopId, mailingId, queued, next);
  await moveRun(tx, shopId, mailingId, next);
}

async function endOrWait(tx: Transaction, shopId: string, mailingId: string): Promise<void> {
  await refuseLost(tx, shopId, mailingId);
  if ((await countQueued(tx, shopId, mailingId, 1)) === 0) return endMailing(tx, shopId, mailingId, 'sent');
  await moveRun(tx, shopId, mailingId, new Date(tx.now.getTime() + CHECK_AGAIN));
}
