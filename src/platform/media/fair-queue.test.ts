import { expect, test } from 'vitest';
import { createFairQueue, type FairQueueOptions } from './fair-queue.ts';

/** Tasks that end when the test says so, and the order in which they began. */
function givenQueue(options: Partial<FairQueueOptions> = {}) {
  const run = createFairQueue({ atOnce: 1, waitingPerShop: 10, waitingInAll: 100, ...options });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const send = (shopId: string, name: string) =>
    run(shopId, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return `${name} done`;
    });
  /** Ends the task that began last, until none is left. */
  const drain = async () => {
    await settle();
    for (let seen = -1; seen < begun.length; await settle()) {
      seen = begun.length;
      ends.get(begun.at(-1)!)!();
    }
  };
  return { run, send, begun, ends, drain };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('a shop with one image is next, however many another shop has sent before', async () => {
  const { send, begun, drain } = givenQueue();
  const bulk = ['a1', 'a2', 'a3', 'a4'].map((name) => send('A', name));
  const others = [send('B', 'b1'), send('C', 'c1'), send('B', 'b2')];
  await drain();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  expect(await Promise.all([...bulk, ...others])).toContain('b2 done');
});

test('a shop that comes later gets its turn before the second one of the others', async () => {
  const { send, begun, ends, drain } = givenQueue();
  const sent = [send('A', 'a1'), send('A', 'a2'), send('B', 'b1'), send('B', 'b2')];
  await settle();
  ends.get('a1')!();
  await settle();
  sent.push(send('C', 'c1'));
  await drain();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'b2']);
  await Promise.all(sent);
});

test('no more run at once than may, also after one has failed', async () => {
  const { run, send, begun, ends } = givenQueue({ atOnce: 2 });
  const failed = run('A', async () => {
    throw new Error('damaged');
  });
  await expect(failed).rejects.toThrow('damaged');
  const sent = ['a1', 'a2', 'a3'].map((name) => send('A', name));
  await settle();
  expect(begun).toEqual(['a1', 'a2']);
  ends.get('a2')!();
  await settle();
  expect(begun).toEqual(['a1', 'a2', 'a3']);
  ends.get('a1')!();
  ends.get('a3')!();
  expect(await Promise.all(sent)).toEqual(['a1 done', 'a2 done', 'a3 done']);
});

test('what waits is bounded for each shop and for all', async () => {
  const { send, begun, drain } = givenQueue({ waitingPerShop: 2, waitingInAll: 3 });
  const sent = [send('A', 'a1'), send('A', 'a2'), send('A', 'a3')];
  const refusal = (status: number, text: string) => ({
    status,
    message: `${text}, try again in 10 s`,
    headers: { 'retry-after': '10' },
  });
  await expect(send('A', 'a4')).rejects.toMatchObject(
    refusal(429, 'Too many images of this shop are waiting'),
  );
  sent.push(send('B', 'b1'));
  await expect(send('C', 'c1')).rejects.toMatchObject(refusal(503, 'Too many images are waiting'));
  await drain();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  await Promise.all(sent);
  const late = send('C', 'c2');
  await drain();
  expect(await late).toBe('c2 done');
});
