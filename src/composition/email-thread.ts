import { existsSync, readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { openDatabase } from '../db/database.ts';
import { createLog } from '../platform/log.ts';
import { startEmails, STOP, type EmailThreadTask } from './emails.ts';

/** Few, because an email needs few statements, and requests need the database more. */
const CONNECTIONS = 2;
/** Of settings, for the most part. */
const CACHE_MEGABYTES = 16;
/** The next emails may come soon, and loading the program takes some tenths of a second. */
const QUIET = 60_000;

/** As `nice` counts: while the processors are busy, requests and the database come first. */
const PRIORITY = 10;

const port = parentPort!;
const { connection, config, origin } = workerData as EmailThreadTask;
const log = createLog(config.LOG_LEVEL, {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  write: (line) => port.postMessage(line),
});
yieldToRequests();
const db = openDatabase({
  connection,
  poolSize: CONNECTIONS,
  namedStatements: config.DATABASE_NAMED_STATEMENTS,
  cacheMegabytes: CACHE_MEGABYTES,
  ...(config.DATABASE_POOLER !== undefined && { pooler: config.DATABASE_POOLER }),
});
const emails = startEmails({ db, config, log, origin });

const end = async () => {
  clearInterval(checking);
  // Only the emails that are being sent keep the thread alive from here on.
  port.unref();
  await emails.stop();
  await db.close();
};
const checking = setInterval(() => {
  if (emails.quietFor() >= QUIET) void end();
}, 5_000);
port.once('message', (message) => {
  if (message === STOP) void end();
});

/** Linux has a priority for each thread; elsewhere this one has that of the process. */
function yieldToRequests(): void {
  const self = '/proc/thread-self';
  if (existsSync(self)) setPriority(Number(readlinkSync(self).split('/').at(-1)), PRIORITY);
}
