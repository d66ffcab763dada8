import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

/** Work that ends when the test says so. */
function heldWork() {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () => {
    started.push(name);
    return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
  };
  return { started, work, end: (name: string) => ends.get(name)!() };
}

test('so many of one key run at the same time, the others in their order', async () => {
  const { started, work, end } = heldWork();
  const inTurn = createTurns({ running: 2, waiting: 10 });
  const answers = ['a', 'b', 'c', 'd'].map((name) => inTurn('one', work(name)));
  await nextTurn();
  expect(started).toEqual(['a', 'b']);
  end('b');
  await nextTurn();
  expect(started).toEqual(['a', 'b', 'c']);
  end('a');
  end('c');
  await nextTurn();
  end('d');
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c', 'd']);
});

test('keys do not wait for each other', async () => {
  const { started, work, end } = heldWork();
  const inTurn = createTurns({ running: 1, waiting: 10 });
  const answers = ['a', 'b'].map((name) => inTurn(name, work(name)));
  await nextTurn();
  expect(started).toEqual(['a', 'b']);
  end('a');
  end('b');
  await Promise.all(answers);
});

test('a queue that is too long is refused, and has room again later', async () => {
  const { work, end } = heldWork();
  const inTurn = createTurns({ running: 1, waiting: 1 });
  const [first, second] = [inTurn('one', work('a')), inTurn('one', work('b'))];
  await expect(inTurn('one', work('c'))).rejects.toMatchObject({
    status: 429,
    headers: { 'retry-after': '1' },
  });
  end('a');
  expect(await first).toBe('a');
  await nextTurn();
  end('b');
  expect(await second).toBe('b');
  const later = inTurn('one', work('d'));
  await nextTurn();
  end('d');
  expect(await later).toBe('d');
});

test('work that fails hands its turn on', async () => {
  const inTurn = createTurns({ running: 1, waiting: 1 });
  const failed = inTurn('one', () => Promise.reject(new Error('no')));
  const next = inTurn('one', () => Promise.resolve('yes'));
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe('yes');
});
