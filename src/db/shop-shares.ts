import { DatabaseBusy } from './failure.ts';

/** Milliseconds after which a shop that has not used the database no longer counts as busy. */
const BUSY_FOR = 1_000;

/** Requests that wait for one share, and in all; beyond that they are refused at once. */
const WAITING_PER_SHARE = 500;
const WAITING_IN_ALL = 2_000;

/** What a connection is taken for. */
export type Use = 'statement' | 'transaction';

/** One use by one shop; it exists while something runs or waits. */
interface Share {
  running: number;
  waiting: (() => void)[];
}

/**
 * Divides the connections between shops. While other shops are busy, one shop uses at most a part of them, so that its
 * heavy searches neither take the connections nor the processors that the others need; what is more waits for its
 * own. A shop that is alone uses all of them. Single statements and transactions have a part each, because a
 * transaction may wait for a row that is locked, and reads of the shop should not wait behind it.
 *
 * Whoever holds a connection must not ask for another one through here: it could wait for itself.
 */
export function createShopShares(connections: number) {
  const most = Math.max(1, Math.floor(connections / 4));
  const shares = new Map<string, Share>();
  let waiting = 0;
  /** The shop that has come last, and the one that was last before it. */
  let latest = { shopId: '', at: -Infinity };
  let previous = latest;

  const noteUse = (shopId: string) => {
    const at = performance.now();
    if (latest.shopId === shopId) latest.at = at;
    else [previous, latest] = [latest, { shopId, at }];
  };

  const isAlone = (shopId: string) => {
    const other = latest.shopId === shopId ? previous : latest;
    return performance.now() - other.at > BUSY_FOR;
  };

  const mayStart = (shopId: string, { running }: Share) => running < most || isAlone(shopId);

  const wait = (share: Share): Promise<void> => {
    if (share.waiting.length >= WAITING_PER_SHARE || waiting >= WAITING_IN_ALL) throw new DatabaseBusy();
    waiting++;
    return new Promise((start) => void share.waiting.push(start));
  };

  const startWaiting = (shopId: string, share: Share) => {
    while (share.waiting.length > 0 && mayStart(shopId, share)) {
      // Counted here, because the one that was waiting goes on only later.
      share.running++;
      waiting--;
      share.waiting.shift()!();
    }
  };

  return {
    /** How many wait for the share of their shop. */
    get waiting() {
      return waiting;
    },

    /** Runs `work`, which takes one connection, when the shop may use one more. */
    async run<Result>(shopId: string, use: Use, work: () => Promise<Result>): Promise<Result> {
      noteUse(shopId);
      const key = `${use} ${shopId}`;
      let share = shares.get(key);
      if (!share) shares.set(key, (share = { running: 0, waiting: [] }));
      if (mayStart(shopId, share)) share.running++;
      else await wait(share);
      try {
        return await work();
      } finally {
        share.running--;
        startWaiting(shopId, share);
        if (share.running === 0) shares.delete(key);
      }
    },
  };
}

export type ShopShares = ReturnType<typeof createShopShares>;
