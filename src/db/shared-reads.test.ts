import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createSharedReads, unsharedReads } from './shared-reads.ts';

/** A read that ends when it is told to, and what it was asked for. */
function heldRead() {
  const asked: (readonly string[])[] = [];
  const ends: (() => void)[] = [];
  const read = async (ids: readonly string[]) => {
    asked.push(ids);
    const place = asked.length;
    await new Promise<void>((end) => ends.push(end));
    return new Map(ids.filter((id) => id !== 'unknown').map((id) => [id, `${id} of read ${place}`]));
  };
  const end = async () => {
    await sleep(5);
    ends.shift()!();
    await sleep(5);
  };
  return { asked, read, end };
}

describe('reads by id', () => {
  test('those that come in the same moment share a read, and each gets its own', async () => {
    const shared = createSharedReads();
    const { asked, read, end } = heldRead();
    const answers = Promise.all(
      ['a', 'b', 'a', 'unknown'].map((id) => shared.byId('Shop', 'things', id, read)),
    );
    await end();
    expect(await answers).toEqual(['a of read 1', 'b of read 1', 'a of read 1', undefined]);
    expect(asked).toEqual([['a', 'b', 'unknown']]);
  });

  test('what is asked while a read is under way is answered by the next one', async () => {
    const shared = createSharedReads();
    const { asked, read, end } = heldRead();
    const first = shared.byId('Shop', 'things', 'a', read);
    await sleep(5);
    const later = shared.byId('Shop', 'things', 'a', read);
    await end();
    expect(await first).toBe('a of read 1');
    await end();
    expect(await later).toBe('a of read 2');
    expect(asked).toEqual([['a'], ['a']]);
  });

  test('shops and kinds of things have reads of their own', async () => {
    const shared = createSharedReads();
    const read = async (ids: readonly string[]) => new Map(ids.map((id) => [id, ids.length]));
    const answers = [
      shared.byId('Shop', 'things', 'a', read),
      shared.byId('Other', 'things', 'b', read),
      shared.byId('Shop', 'others', 'c', read),
    ];
    expect(await Promise.all(answers)).toEqual([1, 1, 1]);
  });

  test('a read has at most twenty ids', async () => {
    const shared = createSharedReads();
    const sizes: number[] = [];
    const read = async (ids: readonly string[]) => {
      sizes.push(ids.length);
      return new Map(ids.map((id) => [id, id]));
    };
    const ids = Array.from({ length: 45 }, (_, index) => `id ${index}`);
    expect(await Promise.all(ids.map((id) => shared.byId('Shop', 'things', id, read)))).toEqual(ids);
    expect(sizes).toEqual([20, 20, 5]);
  });

  test('a failure is told to those who shared it, and the next read is made', async () => {
    const shared = createSharedReads();
    let reads = 0;
    const read = async () => {
      if (++reads === 1) throw new Error('lost');
      return new Map([['a', 'found']]);
    };
    const failed = await Promise.allSettled(['a', 'b'].map((id) => shared.byId('Shop', 'things', id, read)));
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await shared.byId('Shop', 'things', 'a', read)).toBe('found');
  });

  test('more than 2,000 that wait are refused', async () => {
    const shared = createSharedReads();
    const { read, end } = heldRead();
    const first = shared.byId('Shop', 'things', 'a', read);
    await sleep(5);
    const waiting = Array.from({ length: 2_000 }, () => shared.byId('Shop', 'things', 'a', read));
    await expect(shared.byId('Shop', 'things', 'a', read)).rejects.toThrow('Too many statements');
    await end();
    await end();
    expect(await first).toBe('a of read 1');
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['a of read 2']));
  });
});

test('what is the same for all is read once for those who ask at the same time', async () => {
  const shared = createSharedReads();
  let reads = 0;
  const read = () => shared.once('Shop', 'size', async () => ++reads);
  expect(await Promise.all([read(), read(), read()])).toEqual([1, 1, 1]);
  expect(await read()).toBe(2);
});

test('a transaction shares nothing', async () => {
  let reads = 0;
  const read = () => unsharedReads.once('Shop', 'size', async () => ++reads);
  expect(await Promise.all([read(), read()])).toEqual([1, 2]);
  const byId = (id: string) => unsharedReads.byId('Shop', 'things', id, async (ids) => new Map([['a', ids]]));
  expect(await Promise.all([byId('a'), byId('b')])).toEqual([['a'], undefined]);
});
