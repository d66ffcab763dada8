import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop } from '../../../test/builders.ts';
import { waitFor } from '../../../test/process.ts';
import { databaseOptions, startService, type Service } from '../../../test/service.ts';
import { openDatabase, type Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { runCleanup } from '../cleanup.ts';
import { failedJobCleanup, JOB_STATE } from './queries.ts';
import { queueJobs } from './queue.ts';
import { startWorker, type Job } from './worker.ts';

let service: Service;
let log: Record<string, unknown>[];
const workers: { stop: () => Promise<void> }[] = [];

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Harbour');
  await givenShop(service, 'Pelican');
});
afterAll(() => service.close());
beforeEach(async () => {
  log = [];
  await service.db.run(sql`delete from job`);
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop();
});

interface Content {
  text: string;
}

function start(run: (job: Job<Content>) => Promise<void>, db: Database = service.db) {
  const giveUp = () => {};
  const lines = { write: (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>) };
  const worker = startWorker<Content>(db, 'mail', {
    log: pino({ base: null }, lines),
    run,
    giveUp,
    pause: 10,
  });
  workers.push(worker);
  return worker;
}

const queue = (count: number, { db = service.db, shopId = 'Harbour', name = 'job' } = {}) =>
  db.transaction((tx) =>
    queueJobs(
      tx,
      shopId,
      'mail',
      Array.from({ length: count }, (_, index) => ({
        id: newId(tx.now),
        content: { text: `${name} ${index}` },
      })),
    ),
  );

const states = async () =>
  (await service.db.many<{ state: string }>(sql`select ${JOB_STATE} as state from job`)).map(
    ({ state }) => state,
  );

/** Lets a job go on when the test says so. */
function latch() {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { release, released };
}

/** As if the one who took them had died a while ago. */
const loseJobs = () => service.db.run(sql`update job set run_at = taken_at where taken_at is not null`);

describe('queueing', () => {
  test('a job is there when the transaction is committed, not before', async () => {
    await service.db.transaction(async (tx) => {
      await queueJobs(tx, 'Harbour', 'mail', [{ id: newId(tx.now), content: {} }]);
      expect(await states()).toEqual([]);
    });
    expect(await states()).toEqual(['created']);
  });

  test('a rollback leaves none', async () => {
    const failed = service.db.transaction(async (tx) => {
      await queueJobs(tx, 'Harbour', 'mail', [{ id: newId(tx.now), content: {} }]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await states()).toEqual([]);
  });

  test('no jobs are no statement', async () => {
    await service.db.transaction((tx) =>
      queueJobs({ ...tx, run: () => Promise.reject(new Error('a statement')) }, 'Harbour', 'mail', []),
    );
    expect(await states()).toEqual([]);
  });

  test('a queue that does not exist fails loudly', async () => {
    const failed = service.db.transaction((tx) =>
      queueJobs(tx, 'Harbour', 'no-such-queue', [{ id: newId(tx.now), content: {} }]),
    );
    await expect(failed).rejects.toThrow('violates check constraint "job_queue"');
  });

  test('works behind a transaction pooler, without named statements', async () => {
    const db = openDatabase({ ...databaseOptions(service.database), namedStatements: false });
    const seen: string[] = [];
    const worker = start(async ({ content }) => void seen.push(content.text), db);
    await queue(3, { db });
    await waitFor(async () => (await states()).length === 0);
    expect(seen.toSorted()).toEqual(['job 0', 'job 1', 'job 2']);
    await worker.stop();
    await db.close();
  });
});

describe('a worker', () => {
  test('runs each job once, also beside others, and leaves nothing behind', async () => {
    const seen: string[] = [];
    const run = async ({ content }: Job<Content>) => void seen.push(content.text);
    start(run);
    start(run);
    await queue(60);
    await waitFor(async () => (await states()).length === 0);
    expect(seen.toSorted()).toEqual(Array.from({ length: 60 }, (_, index) => `job ${index}`).toSorted());
  });

  test('does not wait for a slow job before it takes the next ones', async () => {
    const { release, released } = latch();
    const seen: string[] = [];
    start(async ({ content }) => {
      if (content.text === 'job 0') await released;
      seen.push(content.text);
    });
    await queue(30);
    await waitFor(() => seen.length === 29);
    expect(seen).not.toContain('job 0');
    release();
    await waitFor(async () => (await states()).length === 0);
  });

  test('takes the job of one that died', async () => {
    const { release, released } = latch();
    const dying = start(() => released);
    await queue(1);
    await waitFor(async () => (await states())[0] === 'active');
    const ended = dying.stop();
    await loseJobs();
    const seen: string[] = [];
    start(async ({ content }) => void seen.push(content.text));
    await waitFor(async () => (await states()).length === 0);
    expect(seen).toEqual(['job 0']);
    release();
    await ended;
  });

  test('leaves the job of one that is alive', async () => {
    const { release, released } = latch();
    start(() => released);
    await queue(1);
    await waitFor(async () => (await states())[0] === 'active');
    const seen: string[] = [];
    const second = start(async ({ content }) => void seen.push(content.text));
    await second.stop();
    expect(seen).toEqual([]);
    expect(await states()).toEqual(['active']);
    release();
  });

  test('finishes what it has begun before it stops', async () => {
    let ended = false;
    const worker = start(async () => {
      await sleep(200);
      ended = true;
    });
    await queue(1);
    await waitFor(async () => (await states())[0] === 'active');
    await worker.stop();
    expect(ended).toBe(true);
    expect(await states()).toEqual([]);
  });

  test('says a job that is done again when the database was away, and does not repeat it', async () => {
    const db = openDatabase(databaseOptions(service.database));
    const run = db.run.bind(db);
    let isAway = false;
    db.run = (query) => (isAway ? Promise.reject(new Error('away')) : run(query));
    let runs = 0;
    const worker = start(async () => {
      runs++;
      isAway = true;
    }, db);
    await queue(1);
    await waitFor(() => log.length > 0);
    expect(log[0]).toMatchObject({ level: 40, msg: 'job could not be ended' });
    expect(await states()).toEqual(['active']);
    isAway = false;
    await waitFor(async () => (await states()).length === 0);
    expect(runs).toBe(1);
    await worker.stop();
    await db.close();
  });

  test('says what a defect is, with its stack', async () => {
    start(async () => {
      throw new TypeError('facts is undefined');
    });
    await queue(1);
    await waitFor(async () => (await states())[0] === 'retry');
    expect(log[0]).toMatchObject({
      attempt: 1,
      err: { message: 'facts is undefined', stack: expect.any(String) },
    });
  });

  test('lets the shops take turns', async () => {
    await queue(100, { name: 'newsletter' });
    await queue(2, { shopId: 'Pelican', name: 'order' });
    const seen: string[] = [];
    start(async ({ content }) => void seen.push(content.text));
    await waitFor(async () => (await states()).length === 0);
    expect(seen).toHaveLength(102);
    expect(
      seen
        .slice(0, 40)
        .filter((text) => text.startsWith('order'))
        .toSorted(),
    ).toEqual(['order 0', 'order 1']);
  });

  test('runs what is queued later in another shop before the rest of a long list', async () => {
    await queue(400, { name: 'newsletter' });
    const seen: string[] = [];
    start(async ({ content }) => {
      if (content.text === 'newsletter 0') await queue(1, { shopId: 'Pelican', name: 'order' });
      seen.push(content.text);
      await sleep(20);
    });
    await waitFor(() => seen.includes('order 0'));
    expect(seen.length).toBeLessThan(200);
    await waitFor(async () => (await states()).length === 0);
    expect(seen).toHaveLength(401);
  });

  test('stores why a job failed, and gives up after twelve attempts', async () => {
    start(async () => {
      throw new Error(`refused \0 ${'x'.repeat(3_000)}`);
    });
    await queue(1);
    const job = () =>
      service.db.one<{ attempts: number; error: string; wait: number | null }>(sql`
        select attempts, error, extract(epoch from run_at - clock_timestamp())::float8 as wait from job
        where taken_at is null and error is not null`);
    for (let attempt = 1; attempt <= 12; attempt++) {
      await waitFor(async () => (await job())?.attempts === attempt);
      const { wait, error } = (await job())!;
      expect(error).toBe(`refused  ${'x'.repeat(1_991)}`);
      if (attempt === 12) {
        expect(wait).toBeNull();
        break;
      }
      expect(wait).toBeGreaterThan(30 * 2 ** (attempt - 1) - 10);
      expect(wait).toBeLessThanOrEqual(60 * 2 ** (attempt - 1));
      await service.db.run(sql`update job set run_at = created_at`);
    }
    expect(await states()).toEqual(['failed']);
    expect(log.map(({ attempt, level }) => [attempt, level])).toEqual([
      ...Array.from({ length: 11 }, (_, index) => [index + 1, 40]),
      [12, 50],
    ]);
  });

  test('gives up a job that has ended every process that took it', async () => {
    await queue(1);
    await service.db.run(sql`update job set attempts = 12, taken_at = created_at`);
    const seen: string[] = [];
    start(async ({ content }) => void seen.push(content.text));
    await waitFor(async () => (await states())[0] === 'failed');
    expect(seen).toEqual([]);
  });

  test('that comes back late leaves the job to the one that has it now', async () => {
    const [first, second] = [latch(), latch()];
    const late = start(async () => {
      await first.released;
      throw new Error('too late');
    });
    await queue(1);
    await waitFor(async () => (await states())[0] === 'active');
    const ended = late.stop();
    await loseJobs();
    let isTaken = false;
    start(async () => {
      isTaken = true;
      await second.released;
    });
    await waitFor(() => isTaken);
    first.release();
    await ended;
    expect(await service.db.many(sql`select ${JOB_STATE} as state, attempts, error from job`)).toEqual([
      { state: 'active', attempts: 2, error: null },
    ]);
    second.release();
    await waitFor(async () => (await states()).length === 0);
  });
});

test('failed jobs are deleted after two weeks', async () => {
  const DAY = 86_400_000;
  const now = new Date();
  await queue(3);
  await service.db.run(sql`
    update job set run_at = null, failed_at = ${now}, attempts = 12
    where job_id in (select job_id from job where shop_id = 'Harbour' order by job_id limit 2)`);
  const clean = async (days: number) => {
    service.setClock(new Date(now.getTime() + days * DAY));
    await runCleanup(service.db, [failedJobCleanup], { log: pino({ level: 'silent' }) });
    service.setClock(undefined);
    return (await states()).toSorted();
  };
  expect(await clean(14)).toEqual(['created', 'failed', 'failed']);
  expect(await clean(15)).toEqual(['created']);
});
