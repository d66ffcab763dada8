import { DatabaseBusy } from './failure.ts';
import { createShareLimit, type ShareLimit } from './share-limit.ts';

/** Milliseconds after which a shop that has not used the database no longer counts as busy. */
const BUSY_FOR = 1_000;

/** Requests that wait for one share, and in all; further ones are refused at once. */
const WAITING_PER_SHARE = 500;
const WAITING_IN_ALL = 2_000;

/** Milliseconds after which a waiting request is refused when its turn comes: the answer would be too late. */
const MAX_WAIT = 15_000;

/** The purpose of a connection. */
export type ConnectionUse = 'statement' | 'search' | 'transaction';

interface Waiting {
  since: number;
  start: () => void;
  refuse: (reason: DatabaseBusy) => void;
}

/** One kind of use by one shop; it exists while something runs, rests or waits. */
interface Share {
  key: string;
  shopId: string;
  /** Its connections that work or rest. */
  taken: number;
  waiting: Waiting[];
  limit: ShareLimit;
}

/**
 * Divides the connections between shops. A shop uses as many as it asks for while no other shop waits. When all are
 * taken, the next free one goes to the share that has the fewest, so a busy shop never delays another for longer than
 * one piece of work. Single statements, searches and transactions have a share each, because a transaction may wait
 * for a row that is locked, and a search may take long: other reads of the shop should not wait for them.
 *
 * Connections are not all that shops compete for: heavy searches take the processors of the database from the others.
 * So while other shops are busy, a share gets fewer connections the longer its work takes, down to a quarter of them,
 * and to a tenth for searches, which then rest in between.
 *
 * Code that holds a connection must not ask for another one here: it could wait for itself.
 */
export function createShopShares(connections: number) {
  /**
   * Connections that a share may use at any time. A transaction may wait for a row, so another one must be able to
   * run.
   */
  const minimum: Record<ConnectionUse, number> = {
    statement: Math.max(1, Math.floor(connections / 4)),
    search: Math.max(1, Math.floor(connections / 10)),
    transaction: Math.max(1, Math.floor(connections / 4)),
  };
  /** The share that had its turn last comes last. */
  const shares = new Map<string, Share>();
  let running = 0;
  let waiting = 0;
  /** The shop that came last, and the one before it. */
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

  const shareOf = (shopId: string, use: ConnectionUse): Share => {
    const key = `${use} ${shopId}`;
    let share = shares.get(key);
    if (!share) {
      share = { key, shopId, taken: 0, waiting: [], limit: createShareLimit(minimum[use], connections) };
      shares.set(key, share);
    }
    return share;
  };

  const mayStart = (share: Share) =>
    running < connections && (share.taken < share.limit.value || isAlone(share.shopId));

  /** Moves the share after those that have not had their turn. */
  const moveBack = (share: Share) => {
    shares.delete(share.key);
    shares.set(share.key, share);
  };

  const begin = (share: Share) => {
    running++;
    share.taken++;
    moveBack(share);
  };

  const deleteIfIdle = (share: Share) => {
    if (share.taken === 0 && share.waiting.length === 0) shares.delete(share.key);
  };

  const wait = (share: Share): Promise<void> => {
    if (share.waiting.length >= WAITING_PER_SHARE || waiting >= WAITING_IN_ALL) {
      deleteIfIdle(share);
      throw new DatabaseBusy();
    }
    waiting++;
    return new Promise((start, refuse) => {
      share.waiting.push({ since: performance.now(), start, refuse });
    });
  };

  /**
   * The waiting share that may start and has the fewest connections; among equals the one whose last turn is longest
   * ago.
   */
  const nextShare = (): Share | undefined => {
    let next: Share | undefined;
    for (const share of shares.values()) {
      if (share.waiting.length === 0 || (next && next.taken <= share.taken)) continue;
      if (mayStart(share)) next = share;
    }
    return next;
  };

  const startWaiting = () => {
    for (let share = nextShare(); share; share = nextShare()) {
      const next = share.waiting.shift()!;
      waiting--;
      if (performance.now() - next.since > MAX_WAIT) {
        next.refuse(new DatabaseBusy());
        deleteIfIdle(share);
        continue;
      }
      // Counted here, because the waiting caller resumes only later.
      begin(share);
      next.start();
    }
  };

  const giveBack = (share: Share) => {
    share.taken--;
    moveBack(share);
    startWaiting();
    deleteIfIdle(share);
  };

  /** Ends a piece of work of this duration in milliseconds. */
  const end = (share: Share, use: ConnectionUse, took: number) => {
    running--;
    share.limit.note(took);
    const rest = use === 'search' && !isAlone(share.shopId) ? share.limit.restAfter(took) : 0;
    if (rest === 0) return giveBack(share);
    setTimeout(giveBack, rest, share);
    startWaiting();
  };

  return {
    /** Requests that wait for a connection. */
    get waiting() {
      return waiting;
    },

    /** Runs `work`, which takes one connection, when the shop may use one more. */
    async run<Result>(shopId: string, use: ConnectionUse, work: () => Promise<Result>): Promise<Result> {
      noteUse(shopId);
      const share = shareOf(shopId, use);
      if (mayStart(share)) begin(share);
      else await wait(share);
      const began = performance.now();
      try {
        return await work();
      } finally {
        end(share, use, performance.now() - began);
      }
    },
  };
}

export type ShopShares = ReturnType<typeof createShopShares>;
