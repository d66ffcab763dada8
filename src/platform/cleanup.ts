import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../db/database.ts';
import { isDatabaseAway, violatedConstraint } from '../db/failure.ts';
import { createLease, renewWhile } from '../db/lease.ts';
import { sql, type Sql } from '../db/sql.ts';
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
  /**
   * The same for one shop whose clock is ahead, by that clock, which `db` has; absent: it can wait until
   * the service's own clock is there too.
   */
  runForShop?(db: Database, shopId: string, limit: number): Promise<number>;
}

const HOUR = 3_600_000;

const lease = createLease(sql`cleanup`);

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
  if (claimed.length === 0) return;
  const rowsOfSteps = sql`name = any (${claimed}::text[])`;
  const isDone = await renewWhile(
    () => lease.renew(db, rowsOfSteps, holder),
    async (isHeld) => {
      const mayGoOn = () => isHeld() && !signal?.aborted;
      for (const step of steps.filter(({ name }) => claimed.includes(name))) {
        if (!mayGoOn()) return false;
        try {
          const found = await runStep(db, step, rows, mayGoOn);
          log.debug({ step: step.name, rows: found }, 'a step of the clean-up has ended');
        } catch (error) {
          log.warn({ err: error, step: step.name }, 'a step of the clean-up failed');
        }
        // Another process repeats interrupted work.
        if (!mayGoOn() || !(await endStep(db, step, holder))) return false;
      }
      return true;
    },
  );
  if (!isDone) await lease.release(db, rowsOfSteps, holder);
}

async function runStep(
  db: Database,
  step: CleanupStep,
  rows: number,
  mayGoOn: () => boolean,
): Promise<number> {
  let found = await repeatedly((limit) => step.run(db, limit), rows, mayGoOn);
  const ahead = step.runForShop ? db.clocks.ahead().map((shopId) => ({ shopId })) : [];
  await forEachShop(db, ahead, async (ofShop, { shopId }) => {
    if (!mayGoOn()) return;
    found += await repeatedly((limit) => step.runForShop!(ofShop, shopId, limit), rows, mayGoOn);
  });
  return found;
}

/**
 * Does the work of a step for what it has found, each by the clock of its shop. A shop that was deleted meanwhile needs
 * none. Another failure is thrown after everything had its turn, so that one shop does not hold up the others.
 */
export async function forEachShop<Found extends { shopId: string }>(
  db: Database,
  found: Iterable<Found>,
  work: (db: Database, one: Found) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const one of found) {
    try {
      await work(db.atClockOf(one.shopId), one);
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      if (await hasShop(db, one.shopId)) failures.push(error);
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, `the step has failed ${failures.length} times`);
}

async function hasShop(db: Database, shopId: string): Promise<boolean> {
  return (await db.one(sql`select shop_id from shop where shop_id = ${shopId}`)) !== undefined;
}

/**
 * Inserts a row for each shop that has none, by a statement that selects them. Where one of them is deleted at that moment
 * the statement inserts nothing, and is repeated without that shop; after a few times the next run of the step does it.
 */
export async function addRuns(db: Database, insertRuns: Sql): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    try {
      await db.run(insertRuns);
      return;
    } catch (error) {
      if (!violatedConstraint(error)?.endsWith('_shop')) throw error;
    }
  }
}

const MAX_ATTEMPTS = 5;

async function repeatedly(
  run: (limit: number) => Promise<number>,
  rows: number,
  mayGoOn: () => boolean,
): Promise<number> {
  for (let found = 0; ;) {
    const began = performance.now();
    const count = await run(rows);
    found += count;
    if (count < rows || !mayGoOn()) return found;
    // It rests as long as it has worked: most of the database belongs to the visitors.
    await sleep(Math.min(performance.now() - began, 1_000));
  }
}

/** Milliseconds that a caller waits for what its clock has made due; the background does the rest. */
const WAITS = 5_000;

/** Runs the steps of one shop at once, by its own clock, after that was advanced. */
export async function runCleanupOfShop(
  db: Database,
  steps: readonly CleanupStep[],
  shopId: string,
): Promise<void> {
  const until = performance.now() + WAITS;
  const mayGoOn = () => performance.now() < until;
  for (const step of steps) {
    if (!step.runForShop || !mayGoOn()) continue;
    await repeatedly((limit) => step.runForShop!(db.atClockOf(shopId), shopId, limit), ROWS, mayGoOn);
  }
}

/** The names of the steps that this process runs now. A new step is due at once. */
async function claimDue(db: Database, steps: readonly CleanupStep[], holder: string): Promise<string[]> {
  const names = steps.map(({ name }) => name);
  const { now } = db;
  await db.run(sql`
    insert into cleanup (name, due_at, leased_until)
    select name, ${now}, ${now} from unnest(${names}::text[]) as name
    where not exists (select from cleanup where cleanup.name = name.name)
    on conflict (name) do nothing`);
  const isDue = sql`name = any (${names}::text[]) and due_at <= ${now}`;
  const claimed = await lease.take<{ name: string }>(db, isDue, holder, sql`name`);
  return claimed.map(({ name }) => name);
}

/** Ends the lease of the step, too. false: another process has taken the step. */
async function endStep(db: Database, { name, every = HOUR }: CleanupStep, holder: string): Promise<boolean> {
  const ended = await db.run(sql`
    update cleanup
    set due_at = ${new Date(db.now.getTime() + every)}, holder = null, leased_until = ${db.now}
    where name = ${name} and holder = ${holder}`);
  return ended > 0;
}
