import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { smtpProblem } from '../platform/email/delivery.ts';
import { EMAIL_QUEUE } from '../platform/email/queue.ts';
import { findWaitingJobs } from '../platform/jobs/queries.ts';

export const STATUS_PARTS = ['shops', 'search', 'emails'] as const;
export type StatusPart = (typeof STATUS_PARTS)[number];
export type PartState = 'works' | 'delayed' | 'down';
export type Status = Readonly<Record<StatusPart, PartState>>;

/** For so long is an answer used again, however many ask. */
const CACHED = 5_000;
const MAIL_SERVER_CACHED = 60_000;
/** A database that does not answer in this time is down, for who waits for a page. */
const MAX_WAIT = 2_000;
/** Work that has been due for longer is late. */
const LATE = 5 * 60_000;

/** What strangers may know of the health of the service. */
export function createStatus({ db, config }: { db: Database; config: Pick<Config, 'SMTP_URL'> }) {
  let current: { at: number; status: Promise<Status> } | undefined;
  let mailServer: { at: number; takes: boolean } = { at: -Infinity, takes: true };

  /** Asked in the background, so that nobody waits for a mail server: the next visitor learns of it. */
  const askMailServer = () => {
    const { SMTP_URL } = config;
    if (SMTP_URL === undefined || performance.now() - mailServer.at < MAIL_SERVER_CACHED) return;
    mailServer = { ...mailServer, at: performance.now() };
    smtpProblem(SMTP_URL, MAX_WAIT * 2).then(
      (problem) => (mailServer = { ...mailServer, takes: problem === undefined }),
      () => (mailServer = { ...mailServer, takes: false }),
    );
  };

  const load = async (): Promise<Status> => {
    askMailServer();
    const found = await inTime(findDelays(db)).catch(() => undefined);
    if (!found) return { shops: 'down', search: 'down', emails: 'down' };
    return {
      shops: 'works',
      search: found.isSearchLate ? 'delayed' : 'works',
      emails: !mailServer.takes || found.isEmailLate ? 'delayed' : 'works',
    };
  };

  return (): Promise<Status> => {
    if (!current || performance.now() - current.at > CACHED)
      current = { at: performance.now(), status: load() };
    return current.status;
  };
}

async function findDelays(db: Database): Promise<{ isSearchLate: boolean; isEmailLate: boolean }> {
  const before = new Date(db.now.getTime() - LATE);
  const [emails, search] = await Promise.all([
    findWaitingJobs(db, EMAIL_QUEUE, 1),
    db.one<{ isLate: boolean }>(sql`
      select exists (select from listing_rebuild where leased_until < ${before}) as "isLate"`),
  ]);
  return { isSearchLate: search!.isLate, isEmailLate: emails.since !== null && emails.since < before };
}

async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), MAX_WAIT);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
