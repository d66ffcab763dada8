import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { PoolConfig } from 'pg';
import type { Config } from '../config.ts';
import { AT_ONCE, MAILING_QUEUE, startMailingWorker } from '../content/mailings/worker.ts';
import type { Database } from '../db/database.ts';
import type { Resolve } from '../http/public-address.ts';
import { readDemoAccess } from '../http/demo-access.ts';
import { repeat, type Background } from '../platform/background.ts';
import { deliveryPlace } from '../platform/email/delivery.ts';
import { EMAIL_QUEUE } from '../platform/email/queue.ts';
import { startEmailWorker, type EmailWorker } from '../platform/email/worker.ts';
import { findDueJobs } from '../platform/jobs/queries.ts';
import { startThread } from '../platform/thread.ts';
import { createSending } from '../shops/email/sending.ts';
import { createEmailShopLoader } from '../shops/email/shop.ts';
import { EMAIL_KINDS } from './email-kinds.ts';

export interface EmailDeps {
  db: Database;
  config: Config;
  log: FastifyBaseLogger;
  /** Scheme and host of the links in emails. */
  origin: string;
  /** Milliseconds between two reads of an empty queue. */
  pause?: number;
  /** Finds the addresses of mail servers of shops; absent: by DNS. */
  resolve?: Resolve;
}

/** Emails that go by mail servers of shops at the same time. */
const OWN_AT_ONCE = 10;

/** Starts to send the emails in the queue and those of mailings, in this thread. */
export function startEmails({ db, config, log, origin, pause, resolve }: EmailDeps): EmailWorker {
  const loadShop = createEmailShopLoader({ db, config, origin });
  const policy = { isLocalAllowed: async () => (await readDemoAccess(db, config)).isOpen(), resolve };
  const serviceKinds = EMAIL_KINDS.filter(({ isOfService }) => isOfService).map(({ name }) => name);
  const sendingOf = (ownAtOnce: number) => createSending({ db, config, policy, serviceKinds, ownAtOnce });
  const workers = [
    startEmailWorker({
      db,
      config,
      log,
      kinds: EMAIL_KINDS,
      loadShop,
      sending: sendingOf(OWN_AT_ONCE),
      pause,
    }),
    startMailingWorker({ db, config, log, origin, sending: sendingOf(Math.ceil(AT_ONCE / 2)), pause }),
  ];
  return {
    quietFor: () => Math.min(...workers.map((worker) => worker.quietFor())),
    stop: async () => void (await Promise.all(workers.map((worker) => worker.stop()))),
  };
}

/** The data with which the email thread starts. */
export interface EmailThreadTask {
  connection: PoolConfig;
  config: Config;
  origin: string;
}

/** The message to the thread when the service stops. */
export const STOP = 'stop';

export interface EmailThreadDeps extends EmailThreadTask {
  db: Database;
  log: FastifyBaseLogger;
  /** Takes the lines of its log. */
  write: (line: string) => void;
}

const CHECK_EMAILS = 2_000;
/** Longer than the worker in the thread gives its running jobs. */
const STUCK_AFTER = 15_000;
const MAX_MEGABYTES = 512;

/**
 * Sends the emails in the queue in a thread of their own: reading, rendering and encoding those of an order takes as much
 * time as half of its checkout, in which this thread would answer no request. The thread runs while there are emails, so it
 * takes no memory where there are none. A job that it has taken when it ends is due again after its lease.
 */
export function startEmailThread({ db, log, write, ...task }: EmailThreadDeps): Background {
  log.info(deliveryPlace(task.config));
  return repeat('sending emails', CHECK_EMAILS, log, async (signal) => {
    const due = await Promise.all(
      [EMAIL_QUEUE, MAILING_QUEUE].map((queue) => findDueJobs(db, queue, { afterShop: '', limit: 1 })),
    );
    if (due.flat().length > 0) await runEmailThread(task, write, signal);
  });
}

const EMAIL_THREAD = new URL(`email-thread${path.extname(import.meta.url)}`, import.meta.url);

/** Ends with the thread, which ends when it has had no email for a while or the signal is given. */
function runEmailThread(
  task: EmailThreadTask,
  write: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const thread = startThread(EMAIL_THREAD, {
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES },
    });
    let timer: NodeJS.Timeout | undefined;
    const stop = () => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      thread.postMessage(STOP);
      timer = setTimeout(() => void thread.terminate(), STUCK_AFTER);
    };
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    thread.on('message', write);
    thread.once('error', reject);
    thread.once('exit', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      resolve();
    });
  });
}
