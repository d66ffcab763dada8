import { DatabaseBusy } from './failure.ts';

/** Milliseconds after which a shop that has not used the database no longer counts as busy. */
const BUSY_FOR = 1_000;

/** Requests of one shop that wait for its share, and of all shops; beyond that they are refused at once. */
const WAITING_PER_SHOP = 500;
const WAITING_IN_ALL = 2_000;

/** A shop exists here while something of it runs or waits. */
interface Shop {
  running: number;
  waiting: (() => void)[];
}

/**
 * Divides the connections between shops. While other shops are busy, one shop uses at most a part of them, so that its
 * heavy searches neither take the connections nor the processors that the others need; what is more waits for its
 * own. A shop that is alone uses all of them.
 *
 * Whoever holds a connection must not ask for another one through here: it could wait for itself.
 */
export function createShopShares(connections: number) {
  const share = Math.max(1, Math.floor(connections / 4));
  const shops = new Map<string, Shop>();
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

  const mayStart = (shopId: string, { running }: Shop) => running < share || isAlone(shopId);

  const wait = (shop: Shop): Promise<void> => {
    if (shop.waiting.length >= WAITING_PER_SHOP || waiting >= WAITING_IN_ALL) throw new DatabaseBusy();
    waiting++;
    return new Promise((start) => void shop.waiting.push(start));
  };

  const end = (shopId: string, shop: Shop) => {
    shop.running--;
    while (shop.waiting.length > 0 && mayStart(shopId, shop)) {
      // Counted here, because the one that was waiting goes on only later.
      shop.running++;
      waiting--;
      shop.waiting.shift()!();
    }
    if (shop.running === 0) shops.delete(shopId);
  };

  return {
    /** How many wait for the share of their shop. */
    get waiting() {
      return waiting;
    },

    /** Runs `work`, which takes one connection, when the shop may use one more. */
    async run<Result>(shopId: string, work: () => Promise<Result>): Promise<Result> {
      noteUse(shopId);
      let shop = shops.get(shopId);
      if (!shop) shops.set(shopId, (shop = { running: 0, waiting: [] }));
      if (mayStart(shopId, shop)) shop.running++;
      else await wait(shop);
      try {
        return await work();
      } finally {
        end(shopId, shop);
      }
    },
  };
}

export type ShopShares = ReturnType<typeof createShopShares>;
