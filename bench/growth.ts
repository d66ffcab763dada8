import type { Database } from '../src/db/database.ts';
import { generateProducts } from '../src/commands/demo/generate.ts';
import { shopSettings } from '../src/shops/settings/settings.ts';
import { openConnections } from './client.ts';
import { load } from './load.ts';
import type { Verdict } from './report.ts';
import { applyDelivery, createBareShop, stockUp, type BenchShop } from './shop.ts';
import { checkout, type Memory } from './targets.ts';
import { percentile } from './timing.ts';

/**
 * The first minutes of a shop: PostgreSQL has looked at the tables while they were empty, and plans its statements for
 * that. Then the shop sells to ever new customers. It must not become slower while its tables grow, nor be faster after
 * a restart, which forgets the plans.
 */
export interface GrowthOptions {
  /** For how long the shop sells before the restart; a quarter of it after it. */
  seconds: number;
  /** Customers who buy at the same time. */
  buyers: number;
  /** For how long lists are loaded. */
  listSeconds: number;
}

export type GrowingShop = Pick<BenchShop, 'shopId' | 'root' | 'token' | 'saleIds' | 'shippingMethodId'>;

const PRODUCTS = 60;

export async function createGrowingShop(db: Database): Promise<GrowingShop> {
  const shopId = 'Fresh';
  const token = await createBareShop(db, shopId);
  await applyDelivery(db, shopId);
  // Analysed while there is nothing in them. PostgreSQL would do it again within the first minute or two, whenever its
  // round comes; here it leaves the tables that only grow to the service, so that every run measures the same.
  await db.pool.query('vacuum analyze');
  for (const table of ['customer', 'customer_order', 'order_line', 'audit_entry']) {
    await db.pool.query(`alter table ${table} set (autovacuum_enabled = false)`);
  }
  await generateProducts(db, { shopId, products: PRODUCTS, seed: 3 }, () => {});
  const sales = await stockUp(db, shopId);
  const { shippingMethods } = await shopSettings(db, shopId);
  return {
    shopId,
    root: `/rs/shops/${shopId}`,
    token,
    saleIds: sales.map(({ id }) => id),
    shippingMethodId: shippingMethods[0]!.shippingMethodId,
  };
}

interface Sale {
  /** Seconds since the beginning. */
  at: number;
  /** How long the order took, in ms. */
  ms: number;
}

export async function measureGrowth(
  origin: string,
  shop: GrowingShop,
  { seconds, buyers }: GrowthOptions,
  say: (line: string) => void,
): Promise<{ verdict: Verdict; lastPerSecond: number }> {
  const sales = await sell(origin, shop, { seconds, buyers });
  const within = (from: number, until: number) => sales.filter(({ at }) => at >= from && at < until);
  const steps = Array.from({ length: Math.floor(seconds / 10) }, (_, index) =>
    Math.round(within(10 * index, 10 * index + 10).length / 10),
  );
  say(`orders per second, each 10 s: ${steps.join(', ')}`);
  const end = Math.min(30, seconds / 2);
  const [first, last] = [within(0, end), within(seconds - end, seconds)];
  const p = (part: readonly Sale[], share: number) =>
    Math.round(
      percentile(
        part.map(({ ms }) => ms),
        share,
      ),
    );
  const rates = `${Math.round(first.length / end)} -> ${Math.round(last.length / end)} a second`;
  const times = [0.5, 0.99].map((share) => `p${100 * share} ${p(first, share)} -> ${p(last, share)} ms`);
  const ratio = first.length / last.length;
  return {
    verdict: {
      name: `orders of a new shop, first ${end} s -> last: ${rates}, ${times.join(', ')}; times slower`,
      value: round(ratio),
      goal: round(1 / 0.9),
      ok: ratio < 1 / 0.9,
    },
    lastPerSecond: last.length / end,
  };
}

/** Everyone goes through the whole checkout again and again, each time with another email address. */
async function sell(
  origin: string,
  shop: GrowingShop,
  { seconds, buyers }: Pick<GrowthOptions, 'seconds' | 'buyers'>,
): Promise<Sale[]> {
  const steps = checkout(shop);
  const sales: Sale[] = [];
  const began = performance.now();
  const elapsed = () => (performance.now() - began) / 1000;
  const connections = openConnections(origin, buyers);
  const buy = async () => {
    const memory: Memory = {};
    for (const { name, call, note } of steps) {
      const made = call(memory);
      const sent = performance.now();
      const { status, headers, text } = await connections.send({
        ...made,
        headers: { authorization: `Bearer ${shop.token}`, ...made.headers },
      });
      if (status >= 300)
        throw new Error(`${made.method} ${made.path} answers ${status} ${text.slice(0, 500)}`);
      note?.(memory, text, headers as Record<string, string>);
      if (name === 'order') sales.push({ at: elapsed(), ms: performance.now() - sent });
    }
  };
  const buyer = async () => {
    while (elapsed() < seconds) await buy();
  };
  try {
    await Promise.all(Array.from({ length: buyers }, buyer));
  } finally {
    connections.close();
  }
  return sales;
}

/**
 * The process that has seen the shop grow, and a new one, which plans for the tables as they are. Of its orders those of
 * the first third are left out: it has to warm up.
 */
export async function compareRestarted(
  grown: { origin: string; stop: () => Promise<void>; lastPerSecond: number },
  { serve, settle }: { serve: () => Promise<{ origin: string }>; settle: () => Promise<void> },
  shop: GrowingShop,
  { seconds, buyers, listSeconds }: GrowthOptions,
): Promise<Verdict[]> {
  const { root, token } = shop;
  const calls = [`${root}/products?resultsPerPage=20`, `${root}/orders?resultsPerPage=20`].map((path) => ({
    method: 'GET' as const,
    path,
  }));
  const listRate = async (origin: string) => {
    const subject = { name: 'lists', origin, token, calls };
    // The confirmations of the orders are still on their way.
    await settle();
    await load(subject, 3);
    return (await load(subject, listSeconds)).requestsPerSecond;
  };
  const compared = (what: string, before: number, after: number) => ({
    name: `${what} before a restart and after it: ${Math.round(before)} -> ${Math.round(after)} a second, times`,
    value: round(after / before),
    goal: 1.25,
    ok: after / before < 1.25,
  });
  const listsBefore = await listRate(grown.origin);
  await grown.stop();
  const { origin } = await serve();
  const lists = compared('lists', listsBefore, await listRate(origin));
  const sellingSeconds = seconds / 4;
  const sales = await sell(origin, shop, { seconds: sellingSeconds, buyers });
  const later = sales.filter(({ at }) => at >= sellingSeconds / 3 && at < sellingSeconds);
  return [lists, compared('orders', grown.lastPerSecond, later.length / ((sellingSeconds * 2) / 3))];
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
