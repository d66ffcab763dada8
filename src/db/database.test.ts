import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { CITUS_URL } from '../../test/cluster.ts';
import { IS_POOLED } from '../../test/pgbouncer.ts';
import { cloneDatabase, databaseOptions } from '../../test/service.ts';
import { openDatabase, type Database, type DatabaseOptions, type Queries } from './database.ts';
import { isBadValue, isDatabaseAway, violatedConstraint } from './failure.ts';
import { sql } from './sql.ts';

let name: string;
let drop: () => Promise<void>;
let db: Database;

const open = (options: Partial<DatabaseOptions> = {}) =>
  openDatabase({ ...databaseOptions(name), ...options });

/** Without PgBouncer, for what is about the connections themselves. */
const openDirectly = (options: Partial<DatabaseOptions>) =>
  openDatabase({ connection: { ...inject('server'), database: name }, ...options });

beforeAll(async () => {
  ({ name, drop } = await cloneDatabase());
  db = open();
  await db.run(sql`create table bank_account (id integer primary key, balance bigint not null)`);
});
beforeEach(async () => {
  await db.run(sql`truncate bank_account`);
  await db.run(sql`insert into bank_account values (1, 100), (2, 100)`);
});
afterAll(async () => {
  await db.close();
  await drop();
});

async function balances(): Promise<number[]> {
  const rows = await db.many<{ balance: number }>(sql`select balance from bank_account order by id`);
  return rows.map((row) => row.balance);
}

const add = (queries: Queries, id: number, amount: number) =>
  queries.run(sql`update bank_account set balance = balance + ${amount} where id = ${id}`);

/** Lets `count` parties go on together, once; those who come later (another try) do not wait. */
function meeting(count: number): () => Promise<void> {
  let missing = count;
  let open: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    if (--missing === 0) open();
    return opened;
  };
}

describe('statements', () => {
  test('many gives all rows, one the first or undefined, run how many were touched', async () => {
    expect(await db.many(sql`select id from bank_account order by id`)).toEqual([{ id: 1 }, { id: 2 }]);
    expect(await db.one(sql`select id from bank_account order by id`)).toEqual({ id: 1 });
    expect(await db.one(sql`select id from bank_account where id = ${3}`)).toBeUndefined();
    expect(await db.run(sql`update bank_account set balance = 0`)).toBe(2);
  });

  // Behind a pooler a connection belongs to nobody, so that nothing can be set for it.
  test.skipIf(IS_POOLED)(
    'plans are made once, and by the choice of Citus where it is installed',
    async () => {
      const mode = CITUS_URL === undefined ? 'force_generic_plan' : 'auto';
      expect(await db.one(sql`select current_setting('plan_cache_mode') as mode`)).toEqual({ mode });
    },
  );

  test('bigint is a number, jsonb an object, timestamptz a Date', async () => {
    const moment = new Date('2026-11-15T08:30:00.123Z');
    const row = await db.one(sql`
      select ${9_007_199_254_740_991}::bigint as big, ${{ a: [1, null] }}::jsonb as json, ${moment}::timestamptz as moment`);
    expect(row).toEqual({ big: 9_007_199_254_740_991, json: { a: [1, null] }, moment });
  });

  test('what a client sends never becomes SQL', async () => {
    const text = "'; drop table bank_account; --";
    expect(await db.one(sql`select ${text}::text as text`)).toEqual({ text });
    expect(await balances()).toEqual([100, 100]);
  });
});

describe('a transaction', () => {
  test('sends what is asked for at the same moment at once, with its begin', async () => {
    const own = openDirectly({ poolSize: 1 });
    await own.one(sql`select 1`);
    const sent = vi.spyOn(Socket.prototype as unknown as { _writev: () => void }, '_writev');
    const single = vi.spyOn(Socket.prototype, '_write');
    await own.transaction((tx) => Promise.all([add(tx, 1, 5), add(tx, 2, 5), add(tx, 1, 1)]));
    const calls = [sent, single].map(({ mock }) => mock.calls.length);
    sent.mockRestore();
    single.mockRestore();
    await own.close();
    // The statements, and then the commit.
    expect(calls).toEqual([1, 1]);
    expect(await balances()).toEqual([106, 105]);
  });

  test('commits all of its work and returns its result', async () => {
    const result = await db.transaction(async (tx) => {
      await add(tx, 1, -30);
      await add(tx, 2, 30);
      return 'done';
    });
    expect(result).toBe('done');
    expect(await balances()).toEqual([70, 130]);
  });

  test('that throws leaves nothing behind, and the error comes out as it was', async () => {
    const error = new Error('changed my mind');
    const work = db.transaction(async (tx) => {
      await add(tx, 1, -30);
      throw error;
    });
    await expect(work).rejects.toBe(error);
    expect(await balances()).toEqual([100, 100]);
  });

  test('whose statement fails leaves nothing behind and is not tried again', async () => {
    let tries = 0;
    const work = db.transaction(async (tx) => {
      tries++;
      await add(tx, 1, -30);
      await tx.run(sql`insert into bank_account values (2, 0)`);
    });
    await expect(work).rejects.toMatchObject({ code: '23505' });
    expect(tries).toBe(1);
    expect(await balances()).toEqual([100, 100]);
  });

  test('is not seen from outside before it commits', async () => {
    await db.transaction(async (tx) => {
      await add(tx, 1, 1);
      expect(await balances()).toEqual([100, 100]);
    });
    expect(await balances()).toEqual([101, 100]);
  });

  test('gives its connection back, whatever happens', async () => {
    const small = open({ poolSize: 1 });
    for (let round = 0; round < 5; round++) {
      await small.transaction((tx) => add(tx, 1, 1));
      await expect(small.transaction(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    }
    expect(small.pool.idleCount).toBe(1);
    expect(small.pool.waitingCount).toBe(0);
    await small.close();
    expect(await balances()).toEqual([105, 100]);
  });

  test('that loses its connection fails as "the database is away", and the next one works', async () => {
    const own = open({ poolSize: 1 });
    const lost = own.transaction(async (tx) => {
      await add(tx, 1, -30);
      const row = await tx.one<{ pid: number }>(sql`select pg_backend_pid() as pid`);
      await db.run(sql`select pg_terminate_backend(${row!.pid}::int)`);
      // The connection breaks while no statement runs on it: nobody but the transaction can notice.
      await sleep(100);
      await add(tx, 2, 30);
    });
    const error: unknown = await lost.catch((failure: unknown) => failure);
    expect(isDatabaseAway(error)).toBe(true);
    expect(await balances()).toEqual([100, 100]);
    await own.transaction((tx) => add(tx, 1, 1));
    expect(await balances()).toEqual([101, 100]);
    await own.close();
  });
});

describe('another try', () => {
  test('follows a serialisation failure, so that no update is lost', async () => {
    const bothHaveRead = meeting(2);
    let tries = 0;
    const withdraw = () =>
      db.transaction(
        async (tx) => {
          tries++;
          const row = await tx.one<{ balance: number }>(sql`select balance from bank_account where id = 1`);
          await bothHaveRead();
          await tx.run(sql`update bank_account set balance = ${row!.balance - 10} where id = 1`);
        },
        { isolation: 'serializable' },
      );
    await Promise.all([withdraw(), withdraw()]);
    expect(tries).toBe(3);
    expect(await balances()).toEqual([80, 100]);
  });

  test('follows a deadlock of two transactions', async () => {
    const bothHoldOne = meeting(2);
    let tries = 0;
    const transfer = (from: number, to: number) =>
      db.transaction(async (tx) => {
        tries++;
        await add(tx, from, -10);
        await bothHoldOne();
        await add(tx, to, 10);
      });
    await Promise.all([transfer(1, 2), transfer(2, 1)]);
    expect(tries).toBe(3);
    expect(await balances()).toEqual([100, 100]);
  });

  test('is not made for ever', async () => {
    let tries = 0;
    const hopeless = db.transaction(async (tx) => {
      tries++;
      await add(tx, 1, 1);
      await tx.run(sql`do $$ begin raise exception 'again' using errcode = '40001'; end $$`);
    });
    await expect(hopeless).rejects.toMatchObject({ code: '40001' });
    expect(tries).toBe(10);
    expect(await balances()).toEqual([100, 100]);
  });
});

describe('the clock', () => {
  test('is the one that was given, and stands still in a transaction', async () => {
    let minute = 0;
    const timed = open({ clock: () => new Date(Date.UTC(2026, 10, 15, 8, minute++)) });
    expect(timed.now.toISOString()).toBe('2026-11-15T08:00:00.000Z');
    await timed.transaction(async (tx) => {
      expect(tx.now.toISOString()).toBe('2026-11-15T08:01:00.000Z');
      expect(tx.now).toBe(tx.now);
      expect(await tx.one(sql`select ${tx.now}::timestamptz as moment`)).toEqual({
        moment: new Date('2026-11-15T08:01:00Z'),
      });
    });
    expect(timed.now.toISOString()).toBe('2026-11-15T08:02:00.000Z');
    await timed.close();
  });

  test("is the machine's when none was given", () => {
    expect(Math.abs(db.now.getTime() - Date.now())).toBeLessThan(1_000);
  });
});

describe('prepared statements', () => {
  const prepared = (own: Database) => own.pool.query('select name from pg_prepared_statements order by name');
  const use = async (own: Database) => {
    for (const id of [1, 2, 1]) await own.one(sql`select balance from bank_account where id = ${id}`);
    await own.transaction((tx) => tx.one(sql`select balance from bank_account where id = ${1} for update`));
  };

  test('are kept by name, one per text', async () => {
    const own = openDirectly({ poolSize: 1 });
    await use(own);
    expect((await prepared(own)).rows).toEqual([
      { name: expect.stringMatching(/^k\d+$/) },
      { name: expect.stringMatching(/^k\d+$/) },
    ]);
    await own.close();
  });

  test('have no names behind a transaction pooler', async () => {
    const own = open({ poolSize: 1, namedStatements: false });
    await use(own);
    expect((await prepared(own)).rows).toEqual([]);
    await own.close();
  });
});

describe.each([
  ['a connection of its own', {}],
  ['a transaction pooler', { namedStatements: false }],
  ['a transaction pooler that keeps prepared statements', { pooler: true }],
])('through %s', (_, options: Partial<DatabaseOptions>) => {
  let own: Database;
  beforeEach(() => {
    own = openDirectly({ poolSize: 1, ...options });
  });
  afterEach(() => own.close());

  test('every statement has a time limit', async () => {
    const limit = (queries: Queries) =>
      queries.one(sql`select current_setting('statement_timeout') as limit`);
    expect(await limit(own)).toEqual({ limit: '15s' });
    expect(await own.transaction(limit)).toEqual({ limit: '15s' });
    const unlimited = await own.transaction(async (tx) => {
      await tx.run(sql`set local statement_timeout = 0`);
      return limit(tx);
    });
    expect(unlimited).toEqual({ limit: '0' });
    expect(await limit(own)).toEqual({ limit: '15s' });
  });

  test('a single statement is committed, and one that fails changes nothing and harms nobody', async () => {
    expect(await add(own, 1, 5)).toBe(1);
    await expect(own.run(sql`insert into bank_account values (1, 0)`)).rejects.toMatchObject({
      constraint: 'bank_account_pkey',
    });
    expect(await add(own, 2, 7)).toBe(1);
    expect(await balances()).toEqual([105, 107]);
  });

  test('a single statement on a connection that breaks fails, and the next one has another', async () => {
    const broken = own.one(sql`select pg_terminate_backend(pg_backend_pid())`);
    expect(isDatabaseAway(await broken.catch((error: unknown) => error))).toBe(true);
    expect(await own.one(sql`select 1 as n`)).toEqual({ n: 1 });
  });
});

describe('a failed statement', () => {
  const failure = (query: ReturnType<typeof sql>): Promise<unknown> =>
    db.run(query).catch((error: unknown) => error);

  test('says which constraint it violated', async () => {
    expect(violatedConstraint(await failure(sql`insert into bank_account values (1, 0)`))).toBe(
      'bank_account_pkey',
    );
    expect(violatedConstraint(await failure(sql`insert into counter values ('nobody', 'customer', 0)`))).toBe(
      'counter_shop',
    );
  });

  test.each([
    ['a name', { code: '23505', constraint: 'customer_number' }, 'customer_number'],
    ["a shard's number", { code: '23505', constraint: 'customer_number_102008' }, 'customer_number'],
    [
      'only a message',
      { code: '23505', message: 'duplicate key value violates unique constraint "customer_number_102008"' },
      'customer_number',
    ],
    [
      'an empty name and a message',
      {
        code: '23503',
        constraint: '',
        message: 'insert on table "x_102010" violates foreign key constraint "x_shop"',
      },
      'x_shop',
    ],
    ['a name that ends with a short number', { code: '23514', constraint: 'address_2' }, 'address_2'],
    ['no constraint', { code: '23502', message: 'null value in column "a"' }, undefined],
    ['another failure', { code: '42P01', constraint: 'customer_number' }, undefined],
    ['no code', new Error('violates unique constraint "customer_number"'), undefined],
  ])('with %s is told apart', (_, error, constraint) => {
    expect(violatedConstraint(error)).toBe(constraint);
  });

  test('with a value that no column can hold is told apart', async () => {
    expect(isBadValue(await failure(sql`insert into bank_account values (${3_000_000_000}, 0)`))).toBe(true);
    expect(isBadValue(await failure(sql`select ${'not a uuid'}::uuid`))).toBe(true);
    expect(isBadValue(await failure(sql`insert into bank_account values (1, 0)`))).toBe(false);
    expect(isBadValue(await failure(sql`select * from nowhere`))).toBe(false);
  });

  test('for want of a database is told apart', async () => {
    const nowhere = openDatabase({ connection: { host: '/nowhere/at/all' } });
    expect(isDatabaseAway(await nowhere.run(sql`select 1`).catch((error: unknown) => error))).toBe(true);
    await nowhere.close();
    expect(isDatabaseAway(await nowhere.run(sql`select 1`).catch((error: unknown) => error))).toBe(true);
    expect(isDatabaseAway(await failure(sql`insert into bank_account values (1, 0)`))).toBe(false);
    expect(isDatabaseAway(new Error('something else'))).toBe(false);
  });

  test.each([
    [
      '08006',
      'connection to the remote node kontor@db2:5432 failed with the following error: Connection refused',
    ],
    ['XX000', 'could not commit transaction for shard 102118 on at least one active node'],
  ])("for want of the shop's node is told apart: %s %s", (code, message) => {
    expect(isDatabaseAway(Object.assign(new Error(message), { code }))).toBe(true);
    expect(isDatabaseAway(Object.assign(new Error('a defect'), { code: 'XX000' }))).toBe(false);
  });
});

test('a queue for connections that is too long refuses what comes on top, and answers the rest', async () => {
  const answers = await Promise.allSettled(
    Array.from({ length: 2_100 }, () => db.one<{ n: number }>(sql`select 1 as n`)),
  );
  const refused = answers.filter((answer) => answer.status === 'rejected');
  expect(answers.length - refused.length).toBeGreaterThanOrEqual(2_000);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.every(({ reason }) => isDatabaseAway(reason))).toBe(true);
  expect(await db.one(sql`select 2 as n`)).toEqual({ n: 2 });
});

describe('the share of a shop', () => {
  /** Transactions of a shop that stay open until `end` is called. */
  const openTransactions = (own: Database, shopId: string, count: number) => {
    let open = 0;
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const all = Promise.all(
      Array.from({ length: count }, () =>
        own.ofShop(shopId).transaction(async (tx) => {
          await tx.one(sql`select 1`);
          open++;
          await ended;
          return open;
        }),
      ),
    );
    return { count: () => open, end: () => (end(), all) };
  };

  test('is all connections while no other shop is busy', async () => {
    const own = open({ poolSize: 8 });
    const noisy = openTransactions(own, 'Noisy', 8);
    await expect.poll(noisy.count).toBe(8);
    await noisy.end();
    await own.close();
  });

  test('is a quarter of them while others are: they do not wait for it', async () => {
    const own = open({ poolSize: 8 });
    await own.ofShop('Quiet').one(sql`select 1`);
    const noisy = openTransactions(own, 'Noisy', 20);
    await expect.poll(noisy.count).toBe(2);
    expect(own.shares.waiting).toBe(18);
    for (const shopId of ['Quiet', 'Third']) {
      expect(await own.ofShop(shopId).one(sql`select 2 as n`)).toEqual({ n: 2 });
      expect(await own.ofShop(shopId).transaction((tx) => tx.one(sql`select 3 as n`))).toEqual({ n: 3 });
    }
    // Reads of the shop do not wait behind its transactions, which may wait for a locked row.
    expect(await own.ofShop('Noisy').one(sql`select 4 as n`)).toEqual({ n: 4 });
    expect(noisy.count()).toBe(2);
    expect(await noisy.end()).toHaveLength(20);
    expect(own.shares.waiting).toBe(0);
    await own.close();
  });

  test('is apart for searches: other reads of the shop do not wait behind them', async () => {
    const own = open({ poolSize: 8 });
    await own.ofShop('Quiet').one(sql`select 1`);
    const shop = own.ofShop('Noisy');
    const held = await db.transaction(async (tx) => {
      await tx.one(sql`select pg_advisory_xact_lock(1)`);
      const searches = [1, 2, 3].map(() => shop.search(sql`select pg_advisory_xact_lock_shared(1)`));
      // The lock holds all searches back, so this ends only when it does not wait for one of them.
      await shop.one(sql`select 1`);
      return { searches };
    });
    expect(await Promise.all(held.searches)).toHaveLength(3);
    await own.close();
  });

  test('is given back by what fails', async () => {
    const own = open({ poolSize: 4 });
    await own.ofShop('Quiet').one(sql`select 1`);
    const shop = own.ofShop('Noisy');
    const failures = await Promise.allSettled([
      shop.run(sql`select * from nowhere`),
      shop.transaction(() => Promise.reject(new Error('no'))),
      shop.one(sql`select 1 / 0`),
    ]);
    expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await shop.one(sql`select 4 as n`)).toEqual({ n: 4 });
    expect(own.shares.waiting).toBe(0);
    await own.close();
  });

  test('has a bounded queue, which refuses this shop and no other', async () => {
    const own = open({ poolSize: 4 });
    await own.ofShop('Quiet').one(sql`select 1`);
    const noisy = openTransactions(own, 'Noisy', 1 + 500);
    await expect.poll(noisy.count).toBe(1);
    const refused: unknown = await own
      .ofShop('Noisy')
      .transaction((tx) => tx.one(sql`select 1`))
      .catch((error: unknown) => error);
    expect(isDatabaseAway(refused)).toBe(true);
    expect(await own.ofShop('Quiet').one(sql`select 5 as n`)).toEqual({ n: 5 });
    await noisy.end();
    await own.close();
  });
});

describe('connections', () => {
  test('are replaced after some uses, and nobody notices', async () => {
    const recycled = openDirectly({ poolSize: 4, maxUses: 5 });
    try {
      const pidOf = async (db: Queries) =>
        (await db.one<{ pid: number }>(sql`select pg_backend_pid() as pid`))!.pid;
      const pids = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          index % 3 === 0
            ? recycled.transaction(async (tx) => {
                const [first, second] = [await pidOf(tx), await pidOf(tx)];
                expect(second).toBe(first);
                return first;
              })
            : pidOf(recycled),
        ),
      );
      expect(pids).toHaveLength(200);
      expect(new Set(pids).size).toBeGreaterThanOrEqual(40);
    } finally {
      await recycled.close();
    }
  });
});
