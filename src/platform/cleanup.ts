import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../kernel/ids.ts';

/**
 * One kind of old data that a module deletes. The steps of all modules are listed in `src/composition/cleanup-steps.ts`; one
 * process at a time runs them, one after the other.
 */
export interface CleanupStep {
  /** Names it in the log and in the table `cleanup`, so it must not change. */
  name: string;
  /** Milliseconds between two runs; default: an hour. */
  every?: number;
  /**
   * Processes at most `limit` rows in one short statement or transaction, and returns how many it found. It is called
   * again until it finds fewer than `limit`. It may run twice at the same time, after a process was presumed dead.
   */
  run(db: Database, limit: number): Promise<number>;
}

const HOUR = 3_600_000;

/** A process that has not renewed its lease for this long has died. */
const LEASE = 10 * 60_000;
const RENEW_AFTER = 60_000;

/** Rows of one statement: few enough that others do not wait for it. */
const ROWS = 500;

export interface CleanupOptions {
  log: FastifyBaseLogger;
  signal?: AbortSignal;
  /** How many rows a step processes at once. */
  rows?: number;
}

/**
 * Runs the steps that are due and that no other process runs: usually none, which takes two short statements. A step
 * that fails is logged and runs again when it is due next.
 */
export async function runCleanup(
  db: Database,
  steps: readonly CleanupStep[],
  { log, signal, rows = ROWS }: CleanupOptions,
): Promise<void> {
  const holder = newId(db.now);
  const claimed = await claimDue(db, steps, holder);
  const left = steps.filter(({ name }) => claimed.has(name));
  for (;;) {
    const [step] = left;
    if (!step || signal?.aborted) break;
    const lease = { holder, names: left.map(({ name }) => name), renewedAt: performance.now() };
    try {
      const found = await runStep(db, step, lease, { rows, ...(signal && { signal }) });
      // Another process has taken over, because this one was too slow.
      if (found === 'lost') return;
      log.debug({ step: step.name, rows: found }, 'a step of the clean-up has ended');
    } catch (error) {
      log.warn({ err: error, step: step.name }, 'a step of the clean-up failed');
    }
    // Interrupted work is repeated by another process.
    if (signal?.aborted) break;
    left.shift();
    if (!(await endStep(db, step, holder))) return;
  }
  if (left.length > 0) await release(db, holder);
}

interface Lease {
  holder: string;
  names: readonly string[];
  renewedAt: number;
}

async function runStep(
  db: Database,
  step: CleanupStep,
  lease: Lease,
  { rows, signal }: { rows: number; signal?: AbortSignal },
): Promise<number | 'lost'> {
  for (let found = 0; ;) {
    const began = performance.now();
    const count = await step.run(db, rows);
    found += count;
    if (count < rows || signal?.aborted) return found;
    const now = performance.now();
    if (now - lease.renewedAt > RENEW_AFTER) {
      if (!(await renew(db, lease))) return 'lost';
      lease.renewedAt = now;
    }
    // It rests as long as it has worked: most of the database belongs to the visitors.
    await sleep(Math.min(now - began, 1_000));
  }
}

/** The names of the steps that this process runs now. A new step is due at once. */
async function claimDue(db: Database, steps: readonly CleanupStep[], holder: string): Promise<Set<string>> {
  const names = steps.map(({ name }) => name);
  const { now } = db;
  await db.run(sql`
    insert into cleanup (name, due_at, leased_until)
    select name, ${now}, ${now} from unnest(${names}::text[]) as name
    where not exists (select from cleanup where cleanup.name = name.name)
    on conflict (name) do nothing`);
  const claimed = await db.many<{ name: string }>(sql`
    update cleanup set holder = ${holder}, leased_until = ${leaseEnd(now)}
    where name = any (${names}::text[]) and due_at <= ${now} and leased_until <= ${now}
    returning name`);
  return new Set(claimed.map(({ name }) => name));
}

const leaseEnd = (now: Date) => new Date(now.getTime() + LEASE);

async function renew(db: Database, { holder, names }: Lease): Promise<boolean> {
  const renewed = await db.run(sql`
    update cleanup set leased_until = ${leaseEnd(db.now)}
    where holder = ${holder} and name = any (${names}::text[])`);
  return renewed === names.length;
}

/** Renews the lease of the other steps of this process. false: another process has it. */
async function endStep(db: Database, { name, every = HOUR }: CleanupStep, holder: string): Promise<boolean> {
  const { now } = db;
  const ended = await db.run(sql`
    update cleanup
    set due_at = case when name = ${name} then ${new Date(now.getTime() + every)}::timestamptz else due_at end,
      leased_until = case when name = ${name} then ${now}::timestamptz else ${leaseEnd(now)}::timestamptz end
    where holder = ${holder} and leased_until > ${now}`);
  return ended > 0;
}

async function release(db: Database, holder: string): Promise<void> {
  await db.run(
    sql`update cleanup set leased_until = ${db.now} where holder = ${holder} and leased_until > ${db.now}`,
  );
}
