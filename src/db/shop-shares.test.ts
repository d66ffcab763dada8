import { afterEach, expect, test, vi } from 'vitest';
import { isDatabaseAway } from './failure.ts';
import { createShopShares, type ConnectionUse } from './shop-shares.ts';

afterEach(() => vi.useRealTimers());

/** Shops that take connections and hold them until they are told to let go. */
function givenShops(connections: number) {
  const shares = createShopShares(connections);
  const began: string[] = [];
  const held: { shopId: string; release: () => void }[] = [];
  const ask = (shopId: string, use: ConnectionUse = 'statement') =>
    shares.run(shopId, use, () => {
      began.push(shopId);
      return new Promise<void>((release) => void held.push({ shopId, release }));
    });
  /** Lets go of the oldest connection that the shop holds; whoever is next has begun when this ends. */
  const release = async (shopId: string) => {
    const [first] = held.splice(
      held.findIndex((one) => one.shopId === shopId),
      1,
    );
    first!.release();
    await new Promise((next) => void setImmediate(next));
  };
  return { shares, began, ask, release };
}

test('a shop that is alone has all connections, and another one gets the next that comes free', async () => {
  const { shares, began, ask, release } = givenShops(4);
  for (let count = 0; count < 7; count++) void ask('Noisy');
  expect(began).toHaveLength(4);
  void ask('Quiet');
  expect(shares.waiting).toBe(4);
  await release('Noisy');
  expect(began.slice(4)).toEqual(['Quiet']);
});

test('what comes free goes to the shop that has the fewest, and shops with as many take turns', async () => {
  const { began, ask, release } = givenShops(4);
  for (let count = 0; count < 8; count++) void ask('Noisy');
  for (const shopId of ['B', 'C', 'B', 'D', 'C', 'E', 'B']) void ask(shopId);
  for (let count = 0; count < 4; count++) await release('Noisy');
  expect(began.slice(4)).toEqual(['B', 'C', 'D', 'E']);
  // Noisy has none now, and its last turn was before that of the others.
  await release('B');
  await release('C');
  await release('D');
  expect(began.slice(8)).toEqual(['Noisy', 'B', 'C']);
});

test('beside others a shop begins with a quarter for transactions, a quarter for statements, and a search', () => {
  const { shares, began, ask } = givenShops(8);
  void ask('Quiet');
  for (let count = 0; count < 5; count++) void ask('Noisy', 'transaction');
  for (let count = 0; count < 5; count++) void ask('Noisy', 'statement');
  for (let count = 0; count < 5; count++) void ask('Noisy', 'search');
  expect(began).toEqual(['Quiet', 'Noisy', 'Noisy', 'Noisy', 'Noisy', 'Noisy']);
  expect(shares.waiting).toBe(10);
});

test('beside others a long search is followed by a rest, in which other work of the shop goes on', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  const { began, ask, release } = givenShops(10);
  void ask('Quiet');
  void ask('Noisy', 'search');
  void ask('Noisy', 'search');
  vi.advanceTimersByTime(100);
  await release('Noisy');
  expect(began).toEqual(['Quiet', 'Noisy']);
  void ask('Noisy', 'statement');
  expect(began).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(199);
  expect(began).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(1);
  expect(began).toHaveLength(4);
});

test('the connection that a resting search has left goes to the next that waits for it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  const { shares, began, ask, release } = givenShops(1);
  void ask('Noisy', 'search');
  void ask('Noisy', 'search');
  void ask('Quiet');
  vi.advanceTimersByTime(100);
  await release('Noisy');
  expect(began).toEqual(['Noisy', 'Quiet']);
  // The rest ends while Quiet has the only connection.
  await vi.advanceTimersByTimeAsync(200);
  expect(shares.waiting).toBe(1);
  await release('Quiet');
  expect(began).toEqual(['Noisy', 'Quiet', 'Noisy']);
});

test('the searches of a shop that is alone do not rest', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  const { began, ask, release } = givenShops(1);
  void ask('Noisy', 'search');
  void ask('Noisy', 'search');
  vi.advanceTimersByTime(100);
  await release('Noisy');
  expect(began).toHaveLength(2);
});

test('a request that has waited for 15 seconds is refused when its turn comes, and later ones go on', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  const { shares, began, ask, release } = givenShops(1);
  void ask('A');
  const late = ['A', 'B'].map((shopId) => ask(shopId).catch((error: unknown) => error));
  vi.advanceTimersByTime(1);
  void ask('A');
  vi.advanceTimersByTime(15_000);
  await release('A');
  expect((await Promise.all(late)).map(isDatabaseAway)).toEqual([true, true]);
  expect(began).toEqual(['A', 'A']);
  expect(shares.waiting).toBe(0);
});

test('beyond 2,000 that wait a shop is refused, whoever waits, and what waits goes on', async () => {
  const { shares, began, ask, release } = givenShops(1);
  for (const shopId of ['A', 'B', 'C', 'D']) for (let count = 0; count < 500; count++) void ask(shopId);
  void ask('A');
  expect(shares.waiting).toBe(2_000);
  const refused: unknown = await ask('E').catch((error: unknown) => error);
  expect(isDatabaseAway(refused)).toBe(true);
  await release('A');
  expect(began).toEqual(['A', 'B']);
  expect(shares.waiting).toBe(1_999);
});
