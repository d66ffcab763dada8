import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Queries } from './database.ts';
import { togetherBy } from './together.ts';

const database = () => ({ source: {} }) as Queries;

/** Doubles its items, notes what came together, and waits until it is let go. */
function doubling(limits?: { together: number; underWay: number }) {
  const batches: number[][] = [];
  const held: (() => void)[] = [];
  const run = async (_db: Queries, _shopId: string, items: readonly number[]) => {
    batches.push([...items]);
    await new Promise<void>((resolve) => held.push(resolve));
    if (items.includes(13)) throw new Error('thirteen');
    if (items.includes(99)) throw Object.assign(new Error('away'), { code: 'ECONNRESET' });
    return items.map((item) => item * 2);
  };
  const letGo = async () => {
    for (let idle = 0; idle < 3; idle++) {
      await turn();
      if (held.length > 0) idle = 0;
      for (const resolve of held.splice(0)) resolve();
    }
  };
  return { double: togetherBy(run, limits), batches, letGo };
}

test('what comes at the same time goes together, and each gets its own result', async () => {
  const { double, batches, letGo } = doubling();
  const db = database();
  const results = [1, 2, 3].map((item) => double(db, 'Harbour', item));
  await letGo();
  expect(await Promise.all(results)).toEqual([2, 4, 6]);
  expect(batches).toEqual([[1, 2, 3]]);
});

test('what comes while enough is under way waits for the next, in the order it came', async () => {
  const { double, batches, letGo } = doubling({ together: 2, underWay: 1 });
  const db = database();
  const results = [double(db, 'Harbour', 1)];
  await turn();
  for (const item of [2, 3, 4]) results.push(double(db, 'Harbour', item));
  await turn();
  expect(batches).toEqual([[1]]);
  await letGo();
  expect(await Promise.all(results)).toEqual([2, 4, 6, 8]);
  expect(batches).toEqual([[1], [2, 3], [4]]);
});

test('shops and databases do not wait for each other', async () => {
  const { double, batches, letGo } = doubling({ together: 5, underWay: 1 });
  const [db, other] = [database(), database()];
  const results = [double(db, 'Harbour', 1), double(db, 'Quay', 2), double(other, 'Harbour', 3)];
  await turn();
  expect(batches).toEqual([[1], [2], [3]]);
  await letGo();
  expect(await Promise.all(results)).toEqual([2, 4, 6]);
});

test('what is wrong with one fails this one alone', async () => {
  const { double, batches, letGo } = doubling();
  const db = database();
  const results = [1, 13, 3].map((item) => double(db, 'Harbour', item));
  const settled = Promise.allSettled(results);
  await letGo();
  expect(await settled).toEqual([
    { status: 'fulfilled', value: 2 },
    { status: 'rejected', reason: new Error('thirteen') },
    { status: 'fulfilled', value: 6 },
  ]);
  expect(batches).toEqual([[1, 13, 3], [1], [13], [3]]);
});

test('when the database goes away, nothing is tried again: it may have been done', async () => {
  const { double, batches, letGo } = doubling();
  const db = database();
  const settled = Promise.allSettled([1, 99, 3].map((item) => double(db, 'Harbour', item)));
  await letGo();
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(batches).toEqual([[1, 99, 3]]);
});
