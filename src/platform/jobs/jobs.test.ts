import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { waitFor } from '../../../test/process.ts';
import { startService, type Service } from '../../../test/service.ts';
import { openDatabase, type Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { JOB_QUEUES } from '../../job-queues.ts';
import { createQueues, openQueues, queueJobs } from './queue.ts';
import { startWorker, type Job } from './worker.ts';

let service: Service;
let log: Record<string, unknown>[];
const workers: { stop: () => Promise<void> }[] = [];

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());
beforeEach(async () => {
  log = [];
  await service.db.run(sql`delete from pgboss.job`);
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

const queue = (count: number, db: Database = service.db) =>
  db.transaction((tx) =>
    queueJobs(
      tx,
      'mail',
      Array.from({ length: count }, (_, index) => ({ id: newId(tx.now), content: { text: `job ${index}` } })),
    ),
  );

const states = async () =>
  (await service.db.many<{ state: string }>(sql`select state::text as state from pgboss.job`)).map(
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
const loseJobs = () =>
  service.db.run(sql`
    update pgboss.job set started_on = started_on - expire_in, retry_delay = 0 where state = 'active'`);

describe('queueing', () => {
  test('a job is there when the transaction is committed, not before', async () => {
    await service.db.transaction(async (tx) => {
      await queueJobs(tx, 'mail', [{ id: newId(tx.now), content: {} }]);
      expect(await states()).toEqual([]);
    });
    expect(await states()).toEqual(['created']);
  });

  test('a rollback leaves none', async () => {
    const failed = service.db.transaction(async (tx) => {
      await queueJobs(tx, 'mail', [{ id: newId(tx.now), content: {} }]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await states()).toEqual([]);
  });

  test('no jobs are no statement', async () => {
    await service.db.transaction((tx) =>
      queueJobs({ ...tx, run: () => Promise.reject(new Error('a statement')) }, 'mail', []),
    );
    expect(await states()).toEqual([]);
  });

  test('a queue that does not exist fails loudly', async () => {
    const failed = service.db.transaction((tx) =>
      queueJobs(tx, 'no-such-queue', [{ id: newId(tx.now), content: {} }]),
    );
    await expect(failed).rejects.toThrow('no partition of relation "job" found for row');
  });

  test('works behind a transaction pooler, without named statements', async () => {
    const db = openDatabase({
      connection: { ...inject('connection'), database: service.database },
      namedStatements: false,
    });
    const seen: string[] = [];
    const worker = start(async ({ content }) => void seen.push(content.text), db);
    await queue(3, db);
    await waitFor(async () => (await states()).length === 0);
    expect(seen.toSorted()).toEqual(['job 0', 'job 1', 'job 2']);
    await worker.stop();
    await db.close();
  });
});

describe('the schema', () => {
  test('is made once by processes that start at the same time', async () => {
    await service.db.pool.query('drop schema pgboss cascade');
    const connection = { ...inject('connection'), database: service.database };
    const processes = Array.from({ length: 4 }, () => openDatabase({ connection, poolSize: 2 }));
    await Promise.all(processes.map((db) => createQueues(db, JOB_QUEUES)));
    for (const db of processes) await db.close();
    await queue(1);
    expect(await states()).toEqual(['created']);
  });

  test('that is broken leaves no connection in a transaction that failed', async () => {
    const connection = { ...inject('connection'), database: service.database };
    const db = openDatabase({ connection, poolSize: 1 });
    await db.run(sql`alter table pgboss.archive rename to elsewhere`);
    await expect(openQueues(db).maintain()).rejects.toThrow('relation "pgboss.archive" does not exist');
    await db.run(sql`alter table pgboss.elsewhere rename to archive`);
    await db.close();
  });

  test('made again keeps what waits', async () => {
    await queue(2);
    await createQueues(service.db, JOB_QUEUES);
    expect(await states()).toEqual(['created', 'created']);
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
    expect(await service.db.many(sql`select 1 from pgboss.archive`)).toEqual([]);
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
      await new Promise((resolve) => setTimeout(resolve, 200));
      ended = true;
    });
    await queue(1);
    await waitFor(async () => (await states())[0] === 'active');
    await worker.stop();
    expect(ended).toBe(true);
    expect(await states()).toEqual([]);
  });

  test('says a job that is done again when the database was away, and does not repeat it', async () => {
    const connection = { ...inject('connection'), database: service.database };
    const db = openDatabase({ connection });
    const connect = db.pool.connect.bind(db.pool);
    let isAway = false;
    db.pool.connect = (() => (isAway ? Promise.reject(new Error('away')) : connect())) as typeof connect;
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
});
