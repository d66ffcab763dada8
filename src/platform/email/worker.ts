import { setImmediate } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../config.ts';
import type { Database, Queries } from '../../db/database.ts';
import type { Background } from '../background.ts';
import { startWorker } from '../jobs/worker.ts';
import { limitOf } from '../plans/limits.ts';
import { giveBackEmail, takeEmail } from '../plans/shop-days.ts';
import { countEmail } from './daily-limit.ts';
import type { Attachment, EmailMessage } from './delivery.ts';
import type { EmailKind } from './kind.ts';
import { serverAnswer, finalOutcome } from './outcome.ts';
import { forgetProblem, saveProblem } from './problems.ts';
import { EMAIL_QUEUE, type QueuedEmail } from './queue.ts';
import type { Sending } from './sending.ts';

/** The shop's data that the worker needs to send an email. */
export interface EmailShop {
  /** Emails of limited kinds to one recipient and day. */
  dailyEmailsPerRecipient: number;
  render(kind: EmailKind, email: QueuedEmail): Omit<EmailMessage, 'id' | 'to' | 'attachments'>;
  /** A sandbox keeps its emails in the place of sending them; undefined: the shop sends them. */
  keep: ((message: EmailMessage, template: string) => Promise<void>) | undefined;
}

export interface EmailWorkerOptions {
  db: Database;
  config: Config;
  log: FastifyBaseLogger;
  kinds: readonly EmailKind[];
  /** undefined: the shop was deleted. */
  loadShop: (shopId: string) => Promise<EmailShop | undefined>;
  sending: Sending;
  /** Milliseconds between two reads of an empty queue. */
  pause?: number | undefined;
}

/** Reads data missing in the queue; undefined: the subject of the email no longer exists. */
export async function loadContent(
  db: Queries,
  config: Config,
  kind: EmailKind,
  email: QueuedEmail,
): Promise<{ email: QueuedEmail; attachments: Attachment[] } | undefined> {
  const facts = kind.load ? await kind.load(db, email) : email.facts;
  if (!facts) return undefined;
  const secrets = kind.secrets ? await kind.secrets(db, { ...email, facts }, config) : {};
  const loaded = { ...email, facts: { ...facts, ...secrets } };
  const attachments = kind.attachments ? await kind.attachments(db, loaded, config) : [];
  return attachments && { email: loaded, attachments };
}

/**
 * Sends an email that counts for the day of its shop, and only then. One beyond the plan of the shop fails, and is tried
 * again like one that could not be delivered.
 */
export async function countedOnce(
  db: Database,
  config: Config,
  shopId: string,
  send: () => Promise<boolean>,
): Promise<void> {
  const { limit, plan } = (await limitOf({ db, config }, shopId, 'emailsPerDay')) ?? NO_LIMIT;
  if (!(await takeEmail(db, shopId, limit))) throw new Error(`The plan ${plan} allows ${limit} emails a day`);
  let isSent = false;
  try {
    isSent = await send();
  } finally {
    if (!isSent) await giveBackEmail(db, shopId);
  }
}

const NO_LIMIT = { limit: Number.MAX_SAFE_INTEGER, plan: '' };

export interface EmailWorker extends Background {
  /** Milliseconds since it had an email to send. */
  quietFor(): number;
}

/** Sends the emails in the queue until it is stopped. */
export function startEmailWorker(options: EmailWorkerOptions): EmailWorker {
  const { db, config, log, kinds, loadShop, sending, pause } = options;

  let turn = Promise.resolve();
  /** Rendering an email takes a while, so requests are served before the next one is rendered. */
  const nextTurn = () => (turn = turn.then(() => setImmediate()));

  const worker = startWorker<QueuedEmail>(db, EMAIL_QUEUE, {
    log,
    ...(pause !== undefined && { pause }),
    giveUp: () => sending.close(),
    choose: (shopId, due, running) => sending.choose(EMAIL_QUEUE, shopId, due, running),
    run: async ({ id, content: email }) => {
      const { shopId, template, to } = email;
      const kind = kinds.find(({ name }) => name === template);
      if (!kind) throw new Error(`There is no kind of email ${JSON.stringify(template)}`);
      const shop = await loadShop(shopId);
      if (!shop) return;
      const isLimited = kind.isLimited && !kind.isAlwaysSent?.(email.facts);
      const isWithinLimit =
        !isLimited || (await countEmail(db, shopId, { id, to }, shop.dailyEmailsPerRecipient));
      // Neither the address nor the words: more people read a log than read the email.
      const line = { email: id, template, shop: shopId };
      if (!isWithinLimit) {
        await kind.onLimited?.(db, shopId, id, email.facts);
        log.warn(line, 'email not sent: its address has reached the limit of the day');
        return;
      }
      await countedOnce(db, config, shopId, async () => {
        const content = await loadContent(db.atClockOf(shopId), config, kind, email);
        if (!content) return false;
        const { attachments } = content;
        await nextTurn();
        const message = { ...shop.render(kind, content.email), id, to, attachments };
        if (shop.keep && !kind.isOfService) {
          await shop.keep(message, template);
          log.info(line, 'email of a sandbox kept');
          return false;
        }
        try {
          await sending.deliver(shopId, message);
        } catch (error) {
          const outcome = finalOutcome(error);
          if (outcome)
            await saveProblem(db, shopId, { to, template, kind: outcome, answer: serverAnswer(error) });
          // Only what may be taken later is tried again.
          if (outcome !== 'bounced') throw error;
          log.warn(line, 'email not sent: its address does not exist');
          return false;
        }
        await forgetProblem(db, shopId, to);
        log.info(line, 'email sent');
        return true;
      });
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
