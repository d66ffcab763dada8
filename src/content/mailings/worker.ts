import { setImmediate } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { newId } from '../../kernel/ids.ts';
import { saveBounces } from '../../people/newsletters/queries.ts';
import { countEmail } from '../../platform/email/daily-limit.ts';
import type { EmailMessage } from '../../platform/email/delivery.ts';
import { finalOutcome, isAuthRefusal } from '../../platform/email/outcome.ts';
import { EMAIL_QUEUE } from '../../platform/email/queue.ts';
import type { Sending } from '../../platform/email/sending.ts';
import { countedOnce, type EmailWorker } from '../../platform/email/worker.ts';
import { findDueJobs } from '../../platform/jobs/queries.ts';
import { queueJobs } from '../../platform/jobs/queue.ts';
import { Postponed, startWorker } from '../../platform/jobs/worker.ts';
import type { Transaction } from '../../db/database.ts';
import { createSenderLoader, type EmailSender } from '../../shops/email/shop.ts';
import { cachedLetter, letterHtml, letterText, type MailingLetter } from './letter.ts';
import { unsubscribeUrl } from './links.ts';
import { textFor } from './mailing.ts';
import { findMailing, findMailingTexts, lockMailing, pauseMailing } from './queries.ts';
import { findQueuedRecipient, recordOutcome, returnToWaiting, type RecipientOutcome } from './run-queries.ts';
import type { MailingProblem } from './schema.ts';

/** Emails of mailings wait in a queue of their own: those of orders never wait for them. */
export const MAILING_QUEUE = 'mailing';

/** An email as it waits in the queue. It names its recipient, and holds no content. */
export interface QueuedMailing {
  shopId: string;
  mailingId: string;
  to: string;
  /** A test, in this language. Its recipient is a person of the shop. */
  test?: { locale: string };
}

/** Sends a mailing to a person of the shop alone, as it is stored. */
export function queueTest(
  tx: Transaction,
  shopId: string,
  { mailingId, to, locale }: { mailingId: string; to: string; locale: string },
): Promise<void> {
  const content: QueuedMailing = { shopId, mailingId, to, test: { locale } };
  return queueJobs(tx, shopId, MAILING_QUEUE, [{ id: newId(tx.now), content }]);
}

/** A server that refuses this many in a row refuses all of them. */
const MAX_REFUSED_IN_ROW = 50;

/** As many connections to the mail server as the emails of orders have. */
export const AT_ONCE = 5;

export interface MailingWorkerOptions {
  db: Database;
  config: Config;
  log: FastifyBaseLogger;
  /** Scheme and host of the links in emails. */
  origin: string;
  /** With connections of its own, so that no other email waits for one. */
  sending: Sending;
  /** Milliseconds between two reads of an empty queue. */
  pause?: number | undefined;
}

/** Sends the emails of mailings while no other email waits, until it is stopped. */
export function startMailingWorker({
  db,
  config,
  log,
  origin,
  sending,
  pause,
}: MailingWorkerOptions): EmailWorker {
  const loadSender = createSenderLoader({ db, config, origin });

  const record = (job: SentJob, outcome: RecipientOutcome) =>
    db.transaction(async (tx) => {
      const { refusedInRow } = await recordOutcome(tx, job.shopId, job, outcome);
      if (outcome === 'bounced') await saveBounces(tx, job.shopId, 'bounced', [job.email]);
      if (refusedInRow >= MAX_REFUSED_IN_ROW) await stopMailing(tx, job, 'allRefused');
    });

  /** A merchant who resumes it has done something about the problem. */
  const stopMailing = async (
    tx: Transaction,
    { shopId, mailingId }: SentJob,
    problem: MailingProblem,
  ): Promise<void> => {
    const mailing = await lockMailing(tx, shopId, mailingId);
    if (mailing?.state === 'sending') await pauseMailing(tx, shopId, mailingId, problem);
  };

  /** The server lets us send nothing: the rest waits for somebody. */
  const waitForServer = (job: SentJob) =>
    db.transaction(async (tx) => {
      await stopMailing(tx, job, 'serverRefuses');
      await returnToWaiting(tx, job.shopId, job);
    });

  const deliver = (sender: EmailSender, message: EmailMessage): Promise<void> => {
    if (sender.keep) return sender.keep(message, MAILING_QUEUE);
    return countedOnce(db, config, sender.settings.shopId, async () => {
      await sending.deliver(sender.settings.shopId, message);
      return true;
    });
  };

  const sendTo = async (job: SentJob): Promise<void> => {
    const { shopId, mailingId, email, jobId } = job;
    const recipient = await findQueuedRecipient(db, shopId, job);
    const sender = recipient && (await loadSender(shopId));
    if (!sender) return;
    if (recipient.state === 'paused') return void (await returnToWaiting(db, shopId, job));
    const isWanted = recipient.state === 'sending' && recipient.isSubscribed;
    const { dailyEmailsPerRecipient } = sender.settings;
    if (!isWanted || !(await countEmail(db, shopId, { id: jobId, to: email }, dailyEmailsPerRecipient)))
      return record(job, 'skipped');
    const { locale, version, newsletterIds } = recipient;
    const text = textFor(await findMailingTexts(db, shopId, mailingId), locale, sender.settings);
    if (!text) return record(job, 'skipped');
    const letter = await cachedLetter(db, shopId, sender, { mailingId, version, newsletterIds, text });
    // Rendering and encoding take a while, so requests are served before.
    await setImmediate();
    try {
      await deliver(sender, toMessage(letter, sender, { id: jobId, mailingId, to: email }));
    } catch (error) {
      const outcome = finalOutcome(error);
      if (isAuthRefusal(error instanceof Postponed ? error.cause : error)) return waitForServer(job);
      if (!outcome) throw error;
      log.info({ mailing: mailingId, shop: shopId, email: jobId, outcome }, 'email of a mailing was refused');
      return record(job, outcome);
    }
    await record(job, 'sent');
  };

  const sendTest = async (jobId: string, { shopId, mailingId, to, test }: QueuedMailing): Promise<void> => {
    const sender = await loadSender(shopId);
    const mailing = await findMailing(db, shopId, mailingId);
    if (!sender || !mailing) return;
    const text = textFor(await findMailingTexts(db, shopId, mailingId), test!.locale, sender.settings);
    const { dailyEmailsPerRecipient } = sender.settings;
    if (!text || !(await countEmail(db, shopId, { id: jobId, to }, dailyEmailsPerRecipient))) return;
    const { version, newsletterIds } = mailing;
    const letter = await cachedLetter(db, shopId, sender, { mailingId, version, newsletterIds, text });
    const subject = messagesIn(letter.locale).email.mailing.test({ subject: letter.subject });
    await deliver(sender, toMessage({ ...letter, subject }, sender, { id: jobId, mailingId, to }));
    log.info({ mailing: mailingId, shop: shopId, email: jobId }, 'test of a mailing sent');
  };

  const worker = startWorker<QueuedMailing>(db, MAILING_QUEUE, {
    log,
    ...(pause !== undefined && { pause }),
    atOnce: AT_ONCE,
    mayTake: async (except) =>
      (await findDueJobs(db, EMAIL_QUEUE, { afterShop: '', limit: 1, except })).length === 0,
    giveUp: () => sending.close(),
    choose: (shopId, due, running) => sending.choose(MAILING_QUEUE, shopId, due, running),
    run: ({ id: jobId, content }) => {
      const { shopId, mailingId, to: email, test } = content;
      return test ? sendTest(jobId, content) : sendTo({ shopId, mailingId, email, jobId });
    },
  });
  return {
    quietFor: () => worker.quietFor(),
    stop: async () => {
      await worker.stop();
      sending.close();
    },
  };
}

interface SentJob {
  shopId: string;
  mailingId: string;
  email: string;
  jobId: string;
}

/** RFC 2369 and RFC 8058: email programs show a button that unsubscribes at once. */
function toMessage(
  letter: MailingLetter,
  sender: EmailSender,
  { id, mailingId, to }: { id: string; mailingId: string; to: string },
): EmailMessage {
  const { locale, subject } = letter;
  const url = unsubscribeUrl(sender, mailingId, { email: to, locale });
  return {
    ...sender.envelope(locale),
    id,
    to,
    subject,
    language: locale.slice(0, 2),
    html: String(letterHtml(letter, sender, url)),
    text: letterText(letter, url),
    attachments: [],
    headers: {
      'List-Unsubscribe': `<${url}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      Precedence: 'bulk',
    },
  };
}
