import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { givenShop } from '../../test/builders.ts';
import { startService, type Service } from '../../test/service.ts';
import { cleanupSteps, COUNTING_STEPS } from '../composition/cleanup-steps.ts';
import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../kernel/ids.ts';
import { addRuns, forEachShop, runCleanup, type CleanupOptions, type CleanupStep } from './cleanup.ts';

const NOW = new Date('2026-11-15T08:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Two processes on one database. */
let first: Service;
let second: Service;
let log: { msg: string; step?: string }[];
let options: CleanupOptions;

beforeAll(async () => {
  first = await startService();
  second = await startService({}, first);
});
beforeEach(async () => {
  await first.db.run(sql`delete from cleanup`);
  setClocks(0);
  log = [];
  const stream = { write: (line: string) => void log.push(JSON.parse(line)) };
  options = { log: pino({ level: 'info' }, stream) };
});
afterAll(async () => {
  await second.close();
  await first.close();
});

function setClocks(after: number): void {
  for (const service of [first, second]) service.setClock(new Date(NOW.getTime() + after));
}

/** A step that finds so many rows when it is run, and notes who runs it with which limit. */
function counted(name: string, rows: number, every?: number) {
  const runs: string[] = [];
  let left = rows;
  const step: CleanupStep = {
    name,
    ...(every !== undefined && { every }),
    run: async (db, limit) => {
      runs.push(`${db === first.db ? 'first' : 'second'} ${limit}`);
      const found = Math.min(left, limit);
      left -= found;
      return found;
    },
  };
  return { step, runs };
}

describe('the runner', () => {
  test('of two processes one cleans up in an hour, and in the next hour one again', async () => {
    const { step, runs } = counted('one', 0);
    await Promise.all([runCleanup(first.db, [step], options), runCleanup(second.db, [step], options)]);
    expect(runs).toHaveLength(1);
    setClocks(HOUR - 1);
    await Promise.all([runCleanup(first.db, [step], options), runCleanup(second.db, [step], options)]);
    expect(runs).toHaveLength(1);
    setClocks(HOUR);
    await Promise.all([runCleanup(first.db, [step], options), runCleanup(second.db, [step], options)]);
    expect(runs).toHaveLength(2);
  });

  test('a step runs until it finds fewer rows than it may take', async () => {
    const many = counted('many', 7);
    const none = counted('none', 0);
    await runCleanup(first.db, [many.step, none.step], { ...options, rows: 3 });
    expect(many.runs).toEqual(['first 3', 'first 3', 'first 3']);
    expect(none.runs).toEqual(['first 3']);
  });

  test('steps run one after the other, each at its own time', async () => {
    let running = 0;
    const order: string[] = [];
    const step = (name: string, every?: number): CleanupStep => ({
      name,
      ...(every !== undefined && { every }),
      run: async (db) => {
        expect(++running).toBe(1);
        order.push(name);
        await db.one(sql`select 1`);
        running--;
        return 0;
      },
    });
    const steps = [step('a'), step('b', DAY), step('c')];
    await runCleanup(first.db, steps, options);
    setClocks(HOUR);
    await runCleanup(second.db, steps, options);
    setClocks(DAY);
    await runCleanup(first.db, steps, options);
    expect(order).toEqual(['a', 'b', 'c', 'a', 'c', 'a', 'b', 'c']);
  });

  test('a step that fails is logged, does not stop the others, and comes again in an hour', async () => {
    let fails = 0;
    const failing: CleanupStep = {
      name: 'failing',
      run: async () => {
        fails++;
        throw new Error('broken');
      },
    };
    const { step, runs } = counted('next', 0);
    await runCleanup(first.db, [failing, step], options);
    expect(runs).toHaveLength(1);
    expect(log).toMatchObject([{ step: 'failing', msg: 'a step of the clean-up failed' }]);
    await runCleanup(second.db, [failing, step], options);
    expect(fails).toBe(1);
    setClocks(HOUR);
    await runCleanup(second.db, [failing, step], options);
    expect(fails).toBe(2);
  });

  test('what a process has begun that was killed, another one takes over when its lease has ended', async () => {
    let die = () => {};
    const dead = new Promise<number>((resolve) => (die = () => resolve(0)));
    let begin = () => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const slow: CleanupStep = {
      name: 'slow',
      run: (db) => {
        if (db === second.db) return Promise.resolve(0);
        begin();
        return dead;
      },
    };
    const { step, runs } = counted('next', 0);
    const killed = runCleanup(first.db, [slow, step], options);
    await begun;
    setClocks(MINUTE - 1);
    await runCleanup(second.db, [slow, step], options);
    expect(runs).toEqual([]);
    setClocks(MINUTE);
    await runCleanup(second.db, [slow, step], options);
    expect(runs).toEqual(['second 500']);
    // It comes back to life and does not disturb what the other one has noted.
    die();
    await killed;
    expect(runs).toEqual(['second 500']);
    const rows = await first.db.many(sql`select name, due_at as "dueAt" from cleanup order by name`);
    const dueAt = new Date(NOW.getTime() + 61 * MINUTE);
    expect(rows).toEqual([
      { name: 'next', dueAt },
      { name: 'slow', dueAt },
    ]);
  });

  test('a process that stops leaves the rest to the others at once', async () => {
    const stopping = new AbortController();
    const { step, runs } = counted('next', 0);
    const stops: CleanupStep = {
      name: 'stops',
      run: async () => {
        stopping.abort();
        return 0;
      },
    };
    await runCleanup(first.db, [stops, step], { ...options, signal: stopping.signal });
    expect(runs).toEqual([]);
    await runCleanup(second.db, [step], options);
    expect(runs).toEqual(['second 500']);
  });
});

describe('a shop that is deleted while steps run', () => {
  beforeEach(async () => {
    await givenShop(first, 'Stays');
    await givenShop(first, 'Goes');
  });
  afterEach(() => first.db.run(sql`delete from shop`));

  /** Deletes the shop, but commits only when a statement of the work waits for it. */
  async function deletedDuring(shopId: string, work: () => Promise<void>): Promise<void> {
    let running = Promise.resolve();
    await second.db.transaction(async (tx) => {
      await tx.run(sql`delete from shop where shop_id = ${shopId}`);
      running = work();
      await vi.waitFor(async () => {
        const waiting = await second.db.one(sql`
          select pid from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' limit 1`);
        expect(waiting).toBeDefined();
      });
    });
    await running;
  }

  test.each(COUNTING_STEPS.map((step) => [step.name, step] as const))(
    '%s leave it out, and count the others',
    async (_name, step) => {
      await deletedDuring('Goes', () => runCleanup(first.db, [step], options));
      expect(log).toEqual([]);
      const counted = await first.db.many<{ name: string; shopId: string }>(sql`
        select 'report sums' as name, shop_id as "shopId" from report_run
        union all select 'customer totals', shop_id from customer_total_run
        union all select 'cart days', shop_id from cart_day_run
        union all select 'days of shops', shop_id from shop_day where media_bytes is not null`);
      expect(counted.filter(({ name }) => name === step.name)).toEqual([
        { name: step.name, shopId: 'Stays' },
      ]);
    },
  );

  test('a step that has found something of it goes on with the next shop', async () => {
    const done: string[] = [];
    const step: CleanupStep = {
      name: 'of each shop',
      run: async (db) => {
        await forEachShop(db, [{ shopId: 'Goes' }, { shopId: 'Stays' }], async (ofShop, { shopId }) => {
          if (shopId === 'Goes') await second.db.run(sql`delete from shop where shop_id = ${shopId}`);
          await ofShop.run(sql`
            insert into report_run (shop_id, due_at, checked_until) values (${shopId}, ${NOW}, ${NOW})
            on conflict (shop_id) do nothing`);
          done.push(shopId);
        });
        return 0;
      },
    };
    await runCleanup(first.db, [step], options);
    expect(done).toEqual(['Stays']);
    expect(log).toEqual([]);
  });

  test('another failure is logged, after the other shops had their turn', async () => {
    const done: string[] = [];
    const step: CleanupStep = {
      name: 'of each shop',
      run: async (db) => {
        await forEachShop(db, [{ shopId: 'Goes' }, { shopId: 'Stays' }], async (_ofShop, { shopId }) => {
          if (shopId === 'Goes') throw new Error('broken');
          done.push(shopId);
        });
        return 0;
      },
    };
    await runCleanup(first.db, [step], options);
    expect(done).toEqual(['Stays']);
    expect(log).toMatchObject([
      { step: 'of each shop', msg: 'a step of the clean-up failed', err: { message: 'broken' } },
    ]);
  });

  test('a row that violates something else is a failure', async () => {
    const wrong = addRuns(
      first.db,
      sql`insert into report_run (shop_id, due_at, checked_until) select shop_id, null, ${NOW} from shop`,
    );
    await expect(wrong).rejects.toMatchObject({ code: '23502' });
  });
});

describe('the steps of the modules', () => {
  const ago = (ms: number) => new Date(NOW.getTime() - ms);
  const shops = Array.from({ length: 12 }, (_, index) => `Shop${index}`);

  /** One old and one fresh row of everything in each of the shops. */
  beforeAll(async () => {
    for (const shopId of shops) {
      await givenShop(first, shopId);
      const productId = newId(NOW);
      await first.db.run(sql`
        insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, facts)
        values (${shopId}, ${productId}, 'P', 'regular', ${NOW}, 1, true, '{}')`);
      const campaignId = newId(NOW);
      await first.db.run(sql`
        insert into newsletter_campaign (shop_id, campaign_id, identifier, language, name, position)
        values (${shopId}, ${campaignId}, 'news', 'en_GB', 'News', 0)`);
      const accountId = newId(NOW);
      await first.db.run(sql`
        insert into account (shop_id, account_id, email, created_at)
        values (${shopId}, ${accountId}, 'ada@mail.example', ${ago(900 * DAY)})`);
      for (const age of [0, 500 * DAY]) {
        const at = ago(age);
        const hash = Buffer.from(`${shopId} ${age}`);
        await first.db.run(sql`
          insert into idempotent_answer (shop_id, caller, key, request_hash, created_at)
          values (${shopId}, ${hash}, 'key', ${hash}, ${at})`);
        await first.db.run(sql`
          insert into rate_window (caller, starts_at, calls) values (${shopId}, ${at}, 1)`);
        await first.db.run(sql`
          insert into cart (shop_id, cart_id, token_hash, created_at, changed_at, version, currency, locale, tax_type,
            lines, product_ids)
          values (${shopId}, ${newId(at)}, ${hash}, ${at}, ${at}, 1, 'EUR', 'en_GB', 'GROSS', '[]', '{}')`);
        await first.db.run(sql`
          insert into audit_entry (shop_id, entry_id, at, method, route, object)
          values (${shopId}, ${newId(at)}, ${at}, 'COMMAND', 'kontor', '{}')`);
        await first.db.run(sql`
          insert into newsletter_request (shop_id, token_hash, campaign_id, email, name, created_at)
          values (${shopId}, ${hash}, ${campaignId}, 'ada@mail.example', 'Ada', ${at})`);
        await first.db.run(sql`
          insert into sign_in_request (shop_id, request_id, email, created_at)
          values (${shopId}, ${newId(at)}, 'ada@mail.example', ${at})`);
        await first.db.run(sql`
          insert into account_session (shop_id, session_id, account_id, token_hash, created_at, seen_at)
          values (${shopId}, ${newId(at)}, ${accountId}, ${hash}, ${at}, ${NOW})`);
        await first.db.run(sql`
          insert into wish (shop_id, visitor_hash, product_id, created_at)
          values (${shopId}, ${hash}, ${productId}, ${at})`);
      }
      // A cart that was made long ago and is still in use.
      await first.db.run(sql`
        insert into cart (shop_id, cart_id, token_hash, created_at, changed_at, version, currency, locale, tax_type,
          lines, product_ids)
        values (${shopId}, ${newId(NOW)}, ${Buffer.from('used')}, ${ago(60 * DAY)}, ${ago(DAY)}, 1, 'EUR', 'en_GB',
          'GROSS', '[]', '{}')`);
    }
  });

  test('delete what is old in all shops in small steps, and nothing else', async () => {
    const statements: number[] = [];
    const db: Database = {
      ...first.db,
      get now() {
        return first.db.now;
      },
      run: async (query) => {
        const rows = await first.db.run(query);
        statements.push(rows);
        return rows;
      },
    };
    const steps = cleanupSteps(first.config, options.log);
    await runCleanup(db, steps, { ...options, rows: 5 });
    expect(log).toEqual([]);
    const rows = await first.db.many(sql`
      select (select count(*) from idempotent_answer) as answers, (select count(*) from rate_window) as windows,
        (select count(*) from cart) as carts, (select count(*) from audit_entry) as entries,
        (select count(*) from newsletter_request) as requests, (select count(*) from wish) as wishes,
        (select count(*) from sign_in_request) as "signInRequests", (select count(*) from account_session) as sessions,
        (select count(*) from account) as accounts`);
    expect(rows).toEqual([
      {
        answers: 12,
        windows: 12,
        carts: 24,
        entries: 12,
        requests: 12,
        wishes: 12,
        signInRequests: 12,
        sessions: 12,
        accounts: 12,
      },
    ]);
    const oldest = await first.db.many(sql`
      select least((select min(created_at) from idempotent_answer), (select min(starts_at) from rate_window),
        (select min(changed_at) from cart), (select min(at) from audit_entry),
        (select min(created_at) from newsletter_request), (select min(created_at) from wish),
        (select min(created_at) from sign_in_request), (select min(created_at) from account_session)) as at`);
    expect(oldest).toEqual([{ at: ago(DAY) }]);
    // Each step takes three statements for twelve rows of twelve shops, none with more than five rows. All others look
    // once and find nothing; beside them, each step says once who runs it.
    const deleted = statements.filter((count) => count > 0 && count <= 5);
    expect(deleted.filter((count) => count === 5).length).toBeGreaterThanOrEqual(12);
    expect(statements.length).toBeLessThan(2 * steps.length + 8);
  });
});
