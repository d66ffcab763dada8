import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../src/db/sql.ts';
import { waitFor } from '../test/process.ts';
import { keepOrdering, type Sent } from './crash.ts';
import { VICTIMS, type ProofService } from './service.ts';
import {
  done,
  fillCarts,
  ledger,
  mustBalance,
  mustBeCounted,
  openShop,
  orderCart,
  stockUp,
  type Goods,
  type ProofShop,
} from './shop.ts';
import { allAtOnce, countOf, many, must, mustEqual, tally, times, type Check } from './stage.ts';

const WRITERS = 16;

/** Two bundles that share a part, in opposite order, and their parts by themselves. */
export const bundles: Check<ProofService> = {
  name: 'bundles',
  summary: 'bundles that share scarce parts, and these parts, sell exactly what there is, also under kill -9',
  async run(service) {
    const shop = await openShop(service, 'Bundles');
    const units = service.size(1_000);
    const mugs = await stockUp(shop, { number: 'MUG', stock: units });
    const pots = await stockUp(shop, { number: 'POT', stock: units, isReduced: true });
    const cups = await stockUp(shop, { number: 'CUP', stock: 2 * units });
    const parts = [mugs, pots, cups];
    const breakfast = await bundleOf(shop, 'BREAKFAST', [
      [mugs, 2],
      [pots, 1],
    ]);
    const tea = await bundleOf(shop, 'TEA', [
      [pots, 1],
      [mugs, 1],
      [cups, 2],
    ]);
    const choices = [[breakfast], [tea], [mugs], [pots, tea], [breakfast, cups]];
    const carts = await fillCarts(shop, service.size(4_000), {
      linesOf: (index) =>
        choices[index % choices.length]!.map(({ productId }) => ({ productId, quantity: 1 })),
      buyerOf: (index) => index % 500,
    });
    const replies = await allAtOnce(service, 'checkouts', carts, (cart) => orderCart(shop, cart));
    const statuses = replies.map(({ status }) => status);
    const sold = countOf(statuses, 201);
    must(sold > 0 && sold + countOf(statuses, 409) === carts.length, `answers ${tally(statuses)}`);
    await mustBalanceWithBundles(shop, parts, [breakfast, tea]);
    await mustBeCounted(shop);

    for (const one of parts) await restock(shop, one, 1_000_000);
    const sent: Sent[] = [];
    for (const victim of VICTIMS) {
      const over = new AbortController();
      const before = sent.length;
      const writers = Promise.all(
        times(WRITERS, () => keepOrdering(shop, [breakfast, tea, mugs], sent, over.signal)),
      );
      try {
        await waitFor(() => sent.length >= before + 2 * WRITERS, 60_000, 5);
        await sleep(Math.random() * 500);
        await service.strike(victim);
      } finally {
        over.abort();
        await writers;
      }
      await mustBalanceWithBundles(shop, parts, [breakfast, tea]);
    }
    return `${many(carts.length)} checkouts of two bundles and their three parts, ${many(sold)} sold, the rest refused; each stock went down by what was sold, and that of each bundle with it, also after ${VICTIMS.length} times kill -9`;
  },
};

interface Bundle extends Goods {
  parts: readonly (readonly [Goods, number])[];
}

async function bundleOf(shop: ProofShop, number: string, parts: Bundle['parts']): Promise<Bundle> {
  const goods = await stockUp(shop, { number, stock: 0, price: 30 });
  const body = { parts: parts.map(([{ productId }, quantity]) => ({ productId, quantity })) };
  const path = `/manage/shops/${shop.shopId}/products/${goods.productId}`;
  done(await shop.call('PATCH', path, { body }), 'PATCH parts');
  return { ...goods, parts };
}

/** Further stock is of goods that were never ordered: what there was grows by as much. */
async function restock(shop: ProofShop, goods: Goods, more: number): Promise<void> {
  const body = [{ op: 'add', path: '/stocklevel', value: more }];
  done(await shop.call('PATCH', `/products/${goods.productId}`, { body }), 'PATCH stocklevel');
  goods.stock += more;
}

/** The parts balance, and a bundle has the stock that they are enough for. */
async function mustBalanceWithBundles(
  shop: ProofShop,
  parts: readonly Goods[],
  made: readonly Bundle[],
): Promise<void> {
  await mustBalance(shop, parts);
  const left = new Map((await ledger(shop, parts)).map((one) => [one.productId, one.left]));
  const stocks = await shop.stage.look((db) =>
    db.many<{ productId: string; stock: number }>(sql`
      select upper(product_id::text) as "productId", stock::float8 as stock from product
      where shop_id = ${shop.shopId} and facts ? 'parts'`),
  );
  for (const bundle of made) {
    const enough = bundle.parts.map(([{ productId }, quantity]) =>
      Math.floor(left.get(productId)! / quantity),
    );
    const stored = stocks.find(({ productId }) => productId === bundle.productId)!.stock;
    mustEqual(`the stock of ${bundle.number}`, stored, Math.min(...enough));
  }
}
