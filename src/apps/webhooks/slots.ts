export interface SlotLimits {
  inAll: number;
  perShop: number;
  perHost: number;
}

interface Waiter {
  host: string;
  start: () => void;
}

/**
 * Limits concurrent calls: in all, for each shop, and to each receiver. Shops take turns, and a call waiting for its
 * receiver does not delay the others: neither a flood nor a slow receiver delays another shop.
 */
export function createSlots({ inAll, perShop, perHost }: SlotLimits) {
  /** In the order of the shops' turns. */
  const waiting = new Map<string, Waiter[]>();
  const running = { inAll: 0, ofShop: new Map<string, number>(), ofHost: new Map<string, number>() };

  const startNext = () => {
    if (running.inAll === inAll) return;
    for (const [shopId, waiters] of waiting) {
      if ((running.ofShop.get(shopId) ?? 0) >= perShop) continue;
      const index = waiters.findIndex(({ host }) => (running.ofHost.get(host) ?? 0) < perHost);
      if (index === -1) continue;
      const [{ host, start }] = waiters.splice(index, 1) as [Waiter];
      // After all other shops.
      waiting.delete(shopId);
      if (waiters.length > 0) waiting.set(shopId, waiters);
      running.inAll++;
      add(running.ofShop, shopId, 1);
      add(running.ofHost, host, 1);
      start();
      return;
    }
  };

  /** Runs `work` when it is its turn. */
  return async <Result>(shopId: string, host: string, work: () => Promise<Result>): Promise<Result> => {
    await new Promise<void>((start) => {
      const waiters = waiting.get(shopId) ?? [];
      waiters.push({ host, start });
      waiting.set(shopId, waiters);
      startNext();
    });
    try {
      return await work();
    } finally {
      running.inAll--;
      add(running.ofShop, shopId, -1);
      add(running.ofHost, host, -1);
      startNext();
    }
  };
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
