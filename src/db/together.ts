import type { Queries } from './database.ts';
import { isDatabaseAway } from './failure.ts';

export interface Limits {
  /** How many go into one statement. */
  together: number;
  /** How many statements are under way at once: what arrives meanwhile waits for the next one. */
  underWay: number;
}

const USUAL: Limits = { together: 50, underWay: 2 };

/**
 * What is written for one shop, together. `run` answers with one result for each item, in their order; what it throws
 * is thrown to the one whose item it was.
 */
export function togetherBy<Item, Result, Source extends Queries>(
  run: (db: Source, shopId: string, items: readonly Item[]) => Promise<readonly Result[]>,
  limits = USUAL,
): (db: Source, shopId: string, item: Item) => Promise<Result> {
  const byDatabase = new WeakMap<object, Map<string, Together<Item, Result>>>();
  return (db, shopId, item) => {
    let shops = byDatabase.get(db.source);
    if (!shops) byDatabase.set(db.source, (shops = new Map()));
    let together = shops.get(shopId);
    if (!together) {
      together = new Together((items) => run(db, shopId, items), limits);
      shops.set(shopId, together);
    }
    return together.add(item);
  };
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Does together what many requests want at the same time: one statement, one commit and one round trip for all of
 * them, where each alone would pay for its own. A single request waits for nobody.
 */
class Together<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  #waiting: Waiting<Item, Result>[] = [];
  readonly #limits: Limits;
  #underWay = 0;
  #isDue = false;

  constructor(run: (items: readonly Item[]) => Promise<readonly Result[]>, limits: Limits) {
    this.#run = run;
    this.#limits = limits;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#start();
    });
  }

  /** Not before all that has arrived by now was read. */
  #start(): void {
    if (this.#isDue || this.#underWay >= this.#limits.underWay || this.#waiting.length === 0) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      const batch = this.#waiting.splice(0, this.#limits.together);
      this.#underWay++;
      void this.#settle(batch).finally(() => {
        this.#underWay--;
        this.#start();
      });
      this.#start();
    });
  }

  async #settle(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(results[index]!));
    } catch (error) {
      // What is wrong with one must not fail the others; of a connection that broke nobody knows what was done.
      if (batch.length === 1 || isDatabaseAway(error)) batch.forEach(({ reject }) => reject(error));
      else await Promise.all(batch.map((one) => this.#settle([one])));
    }
  }
}
