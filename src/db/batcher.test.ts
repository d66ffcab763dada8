import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { BUSY, createBatcher, type BatcherLimits } from './batcher.ts';
import type { Database } from './database.ts';
import { LockWaitTooLong } from './failure.ts';

const database = () => {
  const db: object = { atClockOf: () => db };
  return db as Database;
};
const withCode = (code: string) => Object.assign(new Error(code), { code });

/** Doubles its items, notes what was in one batch, and waits until it is released. */
function doubling(limits?: Partial<BatcherLimits>) {
  const batches: number[][] = [];
  const held: (() => void)[] = [];
  const double = async (items: readonly number[]) => {
    batches.push([...items]);
    await new Promise<void>((resolve) => held.push(resolve));
    if (items.includes(13)) throw new Error('thirteen');
    if (items.includes(57)) throw withCode('57014');
    if (items.includes(99)) throw withCode('ECONNRESET');
    return items.map((item) => item * 2);
  };
  const release = async () => {
    for (let idle = 0; idle < 3; idle++) {
      await turn();
      if (held.length > 0) idle = 0;
      for (const resolve of held.splice(0)) resolve();
    }
  };
  const add = createBatcher<number, number>(
    database(),
    {
      runMany: (_db, _shopId, items) => double(items),
      runOne: async (_db, _shopId, item) => (await double([item]))[0]!,
    },
    limits,
  );
  return { add, batches, release };
}

test('items that come at the same time are one batch, and each gets its own result', async () => {
  const { add, batches, release } = doubling();
  const results = [1, 2, 3].map((item) => add('Harbour', item));
  await release();
  expect(await Promise.all(results)).toEqual([2, 4, 6]);
  expect(batches).toEqual([[1, 2, 3]]);
});

test('items that come while enough batches run wait for the next one, in the order they came', async () => {
  const { add, batches, release } = doubling({ size: 2, running: 1 });
  const results = [add('Harbour', 1)];
  await turn();
  for (const item of [2, 3, 4]) results.push(add('Harbour', item));
  await turn();
  expect(batches).toEqual([[1]]);
  await release();
  expect(await Promise.all(results)).toEqual([2, 4, 6, 8]);
  expect(batches).toEqual([[1], [2, 3], [4]]);
});

test('shops do not wait for each other', async () => {
  const { add, batches, release } = doubling({ size: 5, running: 1 });
  const results = [add('Harbour', 1), add('Quay', 2)];
  await turn();
  expect(batches).toEqual([[1], [2]]);
  await release();
  expect(await Promise.all(results)).toEqual([2, 4]);
});

test('the work runs on the database that the batcher was made with', async () => {
  const db = database();
  const seen: [Database, number[]][] = [];
  const add = createBatcher<number, number>(db, {
    runMany: async (given, _shopId, items) => {
      seen.push([given, [...items]]);
      return items;
    },
    runOne: async (given, _shopId, item) => {
      seen.push([given, [item]]);
      return item;
    },
  });
  await Promise.all([add('Harbour', 1), add('Harbour', 2), add('Quay', 3)]);
  expect(seen).toEqual([
    [db, [1, 2]],
    [db, [3]],
  ]);
  expect(seen.every(([given]) => given === db)).toBe(true);
});

test.each([
  [13, 'thirteen'],
  [57, '57014'],
])('what is wrong with one item fails this one alone: %s', async (item, message) => {
  const { add, batches, release } = doubling();
  const settled = Promise.allSettled([1, item, 3].map((one) => add('Harbour', one)));
  await release();
  expect(await settled).toMatchObject([
    { status: 'fulfilled', value: 2 },
    { status: 'rejected', reason: { message } },
    { status: 'fulfilled', value: 6 },
  ]);
  expect(batches).toEqual([[1, item, 3], [1], [item], [3]]);
});

test('when the database goes away, nothing is tried again: it may have been done', async () => {
  const { add, batches, release } = doubling();
  const settled = Promise.allSettled([1, 99, 3].map((item) => add('Harbour', item)));
  await release();
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(batches).toEqual([[1, 99, 3]]);
});

test('shops that have nothing to do are forgotten', async () => {
  const set = vi.spyOn(Map.prototype, 'set');
  const { add, release } = doubling();
  const results = Array.from({ length: 50 }, (_, shop) => add(`Shop${shop}`, 1));
  const queues = set.mock.contexts.find((map) => (map as Map<string, unknown>).has('Shop0')) as Map<
    string,
    unknown
  >;
  set.mockRestore();
  expect(queues.size).toBe(50);
  await release();
  await Promise.all(results);
  await turn();
  expect(queues.size).toBe(0);
});

test('an item that runs by itself for long lets the next batch begin', async () => {
  let releaseSlow = () => {};
  const slow = new Promise<void>((resolve) => (releaseSlow = resolve));
  const add = createBatcher<string, string>(
    database(),
    {
      runMany: async (_db, _shopId, items) => items,
      runOne: async (_db, _shopId, item) => {
        await slow;
        return item;
      },
    },
    { running: 1 },
  );
  const first = add('Harbour', 'locked');
  // This comes through only because the first one does not count any more.
  await turn();
  expect(await Promise.all([add('Harbour', 'other'), add('Harbour', 'another')])).toEqual([
    'other',
    'another',
  ]);
  // While one waits, a single item takes the way that does not wait.
  expect(await add('Harbour', 'single')).toBe('single');
  releaseSlow();
  expect(await first).toBe('locked');
});

/** Items are names of rows; those in `locked` are busy. Counts how many tries run at the same time. */
function lockable(limits: Partial<BatcherLimits>) {
  const locked = new Set<string>();
  const seen = { running: 0, most: 0 };
  const tryAll = async (items: readonly string[]) => {
    seen.running++;
    seen.most = Math.max(seen.most, seen.running);
    await turn();
    seen.running--;
    return items.map((item) => (locked.has(item) ? BUSY : item));
  };
  const add = createBatcher<string, string>(
    database(),
    {
      runMany: (_db, _shopId, items) => tryAll(items),
      runOne: async (_db, _shopId, item) => item,
    },
    { size: 50, running: 1, ...limits },
  );
  return { add, locked, seen };
}

test('items whose rows are locked wait a few at a time, and hold up nobody', async () => {
  const { add, locked, seen } = lockable({});
  for (let row = 0; row < 10; row++) locked.add(`row ${row}`);
  const waiting = [...locked].map((row) => add('Harbour', row));
  expect(await Promise.all([add('Harbour', 'free'), add('Harbour', 'also free')])).toEqual([
    'free',
    'also free',
  ]);
  // The last one is free first, though all before it are still locked.
  locked.delete('row 9');
  expect(await waiting[9]).toBe('row 9');
  locked.clear();
  expect(await Promise.all(waiting)).toEqual(Array.from({ length: 10 }, (_, row) => `row ${row}`));
  // Three that wait, and one batch.
  expect(seen.most).toBeLessThanOrEqual(4);
});

test('an item whose row stays locked is refused in the end, and no other', async () => {
  const { add, locked } = lockable({ patience: 30 });
  locked.add('locked');
  const [refused, ...others] = await Promise.allSettled(
    ['locked', 'one', 'two'].map((row) => add('Harbour', row)),
  );
  expect(refused).toEqual({ status: 'rejected', reason: new LockWaitTooLong() });
  expect(others).toMatchObject([{ value: 'one' }, { value: 'two' }]);
});
