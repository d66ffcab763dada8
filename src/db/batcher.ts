import type { Database } from './database.ts';
import { isDatabaseAway, LockWaitTooLong } from './failure.ts';

/** In place of a result: another transaction holds a row that this item needs, so the item has to wait by itself. */
export const BUSY = Symbol('busy');

export interface BatchWork<Item, Result> {
  /**
   * Runs all items at once and returns one result for each, in order. It must not wait long for a row that only some
   * items need: it returns BUSY for these, and they are retried by themselves.
   */
  runMany(db: Database, shopId: string, items: readonly Item[]): Promise<readonly (Result | typeof BUSY)[]>;
  /** Runs one item in the cheapest way. It may wait for a lock as long as a statement may run. */
  runOne(db: Database, shopId: string, item: Item): Promise<Result>;
}

export interface BatcherLimits {
  /** Items in one batch. */
  size: number;
  /** Batches of one shop that run at the same time; items that arrive meanwhile wait for the next batch. */
  running: number;
  /** Milliseconds after which an item that waits for a lock is refused. */
  patience: number;
}

const DEFAULT_LIMITS: BatcherLimits = { size: 50, running: 2, patience: 15_000 };

/** Milliseconds after which an item that runs by itself no longer holds up the others of its shop. */
const SLOW_AFTER = 200;

/** Items of one database that wait for a lock at the same time, each on a connection: other requests need some too. */
const MAX_SLOW = 3;

/** Items of one database that wait for their turn to wait; further ones are refused at once. */
const MAX_QUEUED = 500;

/** Items of a failed batch that run by themselves at the same time. */
const SINGLES_AT_ONCE = 3;

/**
 * Batches writes of many requests to the same shop: one statement or transaction and one commit for all of them,
 * instead of one each. A request that comes alone does not wait.
 *
 * A batch that fails is repeated item by item, so each request gets only its own error. The exception is a lost
 * connection: the commit may have happened, so nothing is repeated.
 */
export function createBatcher<Item, Result>(
  db: Database,
  work: BatchWork<Item, Result>,
  limits: Partial<BatcherLimits> = {},
): (shopId: string, item: Item) => Promise<Result> {
  const batches = new Batches(db, work, { ...DEFAULT_LIMITS, ...limits });
  return (shopId, item) => batches.add(shopId, item);
}

interface Entry<Item, Result> {
  shopId: string;
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** State of one shop; it exists while something waits or runs. */
interface Queue<Item, Result> {
  waiting: Entry<Item, Result>[];
  running: number;
  isScheduled: boolean;
}

class Batches<Item, Result> {
  readonly #db: Database;
  readonly #work: BatchWork<Item, Result>;
  readonly #limits: BatcherLimits;
  readonly #queues = new Map<string, Queue<Item, Result>>();
  /** Items that wait for a lock, on a connection. */
  #slow = 0;
  /** Items that found a locked row, in the order of their next try. */
  readonly #busy: { entry: Entry<Item, Result>; since: number }[] = [];

  constructor(db: Database, work: BatchWork<Item, Result>, limits: BatcherLimits) {
    this.#db = db;
    this.#work = work;
    this.#limits = limits;
  }

  add(shopId: string, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      let queue = this.#queues.get(shopId);
      if (!queue) this.#queues.set(shopId, (queue = { waiting: [], running: 0, isScheduled: false }));
      queue.waiting.push({ shopId, item, resolve, reject });
      this.#schedule(shopId, queue);
    });
  }

  #schedule(shopId: string, queue: Queue<Item, Result>): void {
    if (queue.isScheduled || queue.running >= this.#limits.running) return;
    if (queue.waiting.length === 0) {
      if (queue.running === 0) this.#queues.delete(shopId);
      return;
    }
    queue.isScheduled = true;
    // Requests that have arrived by now are read first, so they join the same batch.
    setImmediate(() => {
      queue.isScheduled = false;
      const batch = queue.waiting.splice(0, this.#limits.size);
      queue.running++;
      void this.#runBatch(batch).finally(() => {
        queue.running--;
        this.#schedule(shopId, queue);
      });
      this.#schedule(shopId, queue);
    });
  }

  /** Ends when the next batch may begin: all items have their result, or wait for a lock by themselves. */
  async #runBatch(batch: readonly Entry<Item, Result>[]): Promise<void> {
    if (batch.length === 1) return this.#runSingle(batch[0]!);
    try {
      await this.#runMany(batch);
    } catch (error) {
      if (isDatabaseAway(error)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      const left = batch.values();
      const worker = async () => {
        for (const entry of left) await this.#runSingle(entry);
      };
      await Promise.all(Array.from({ length: SINGLES_AT_ONCE }, worker));
    }
  }

  async #runMany(batch: readonly Entry<Item, Result>[]): Promise<void> {
    const { shopId } = batch[0]!;
    const results = await this.#work.runMany(
      this.#db.atClockOf(shopId),
      shopId,
      batch.map(({ item }) => item),
    );
    const now = performance.now();
    for (const [index, entry] of batch.entries()) {
      const result = results[index]!;
      if (result === BUSY) this.#queueBusy(entry, now);
      else entry.resolve(result);
    }
  }

  async #runSingle(entry: Entry<Item, Result>): Promise<void> {
    const { shopId, item, resolve, reject } = entry;
    // While others wait for locks, this takes the way that does not wait, which leaves connections for other requests.
    if (this.#slow > 0) return this.#runMany([entry]).catch(reject);
    let timer: NodeJS.Timeout | undefined;
    let isSlow = false;
    const ended = this.#work
      .runOne(this.#db.atClockOf(shopId), shopId, item)
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        if (isSlow) this.#endSlow();
      });
    const slow = new Promise<void>((next) => {
      timer = setTimeout(() => {
        isSlow = true;
        this.#slow++;
        next();
      }, SLOW_AFTER);
    });
    await Promise.race([ended, slow]);
  }

  #queueBusy(entry: Entry<Item, Result>, since: number): void {
    if (this.#busy.length >= MAX_QUEUED) {
      entry.reject(new LockWaitTooLong());
      return;
    }
    this.#busy.push({ entry, since });
    this.#retryBusy();
  }

  /**
   * Lets the first item wait briefly for its lock and moves it to the end if it does not get it: an item whose row
   * stays locked does not hold up another whose row is free again.
   */
  #retryBusy(): void {
    while (this.#slow < MAX_SLOW) {
      const next = this.#busy.shift();
      if (!next) return;
      const { entry, since } = next;
      if (performance.now() - since > this.#limits.patience) {
        entry.reject(new LockWaitTooLong());
        continue;
      }
      this.#slow++;
      void this.#work
        .runMany(this.#db.atClockOf(entry.shopId), entry.shopId, [entry.item])
        .then(([result]) => {
          if (result === BUSY) this.#busy.push(next);
          else entry.resolve(result!);
        })
        .catch(entry.reject)
        .finally(() => this.#endSlow());
    }
  }

  #endSlow(): void {
    this.#slow--;
    this.#retryBusy();
  }
}
