import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../src/db/sql.ts';
import { waitFor } from '../test/process.ts';
import { keepOrdering, type Sent } from './crash.ts';
import { VICTIMS, type ProofService } from './service.ts';
import {
  done,
  fillCarts,
  mustBeCounted,
  openShop,
  orderCart,
  stockUp,
  type Goods,
  type ProofShop,
} from './shop.ts';
import { allAtOnce, countOf, many, must, mustEqual, tally, times, type Check } from './stage.ts';

const WRITERS = 16;

/** Orders beyond the stock of a product, and goods that arrive while they are placed. */
export const backorders: Check<ProofService> = {
  name: 'backorders',
  summary:
    'nothing is promised beyond the limit, and what arrives goes to those who wait, in order of time, also under kill -9',
  async run(service) {
    const shop = await openShop(service, 'Backorders');
    const stock = service.size(300);
    const limit = service.size(200);
    const lamp = await onBackorder(shop, await stockUp(shop, { number: 'LAMP', stock }), limit);
    const carts = await fillCarts(shop, 2 * (stock + limit), {
      linesOf: () => [{ productId: lamp.productId, quantity: 1 }],
      buyerOf: (index) => index % 500,
    });
    const replies = await allAtOnce(service, 'checkouts', carts, (cart) => orderCart(shop, cart));
    const statuses = replies.map(({ status }) => status);
    mustEqual('placed orders', countOf(statuses, 201), stock + limit);
    mustEqual('refused orders', countOf(statuses, 409), carts.length - stock - limit);
    must((await mustQueue(shop, lamp, limit)) === limit, `answers ${tally(statuses)}`);

    const tea = await onBackorder(shop, await stockUp(shop, { number: 'TEA', stock: 50 }), 100_000);
    const sent: Sent[] = [];
    for (const victim of VICTIMS) {
      const over = new AbortController();
      const before = sent.length;
      const writers = Promise.all([
        ...times(WRITERS, () => keepOrdering(shop, [tea], sent, over.signal)),
        keepDelivering(shop, tea, over.signal),
      ]);
      try {
        await waitFor(() => sent.length >= before + 2 * WRITERS, 60_000, 5);
        await sleep(Math.random() * 500);
        await service.strike(victim);
      } finally {
        over.abort();
        await writers;
      }
      await mustQueue(shop, tea, 100_000);
    }
    await deliver(shop, tea, 1_000_000);
    mustEqual('what waits after enough has arrived', await mustQueue(shop, tea, 100_000), 0);
    await mustBeCounted(shop);
    return `${many(carts.length)} checkouts of ${many(stock)} in stock and ${many(limit)} promised, ${many(stock + limit)} placed; with goods arriving under ${VICTIMS.length} times kill -9, ${many(sent.length)} orders were served in the order of their time`;
  },
};

async function onBackorder(shop: ProofShop, goods: Goods, limit: number): Promise<Goods> {
  const path = `/manage/shops/${shop.shopId}/products/${goods.productId}`;
  const body = { backorder: { kind: 'backorder', limit } };
  done(await shop.call('PATCH', path, { body }), 'PATCH backorder');
  return goods;
}

async function deliver(shop: ProofShop, { productId }: Goods, value: number): Promise<void> {
  const body = [{ op: 'add', path: '/stocklevel', value }];
  done(await shop.call('PATCH', `/products/${productId}`, { body }), 'PATCH stocklevel');
}

/** Ends when its service does. */
async function keepDelivering(shop: ProofShop, goods: Goods, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await deliver(shop, goods, 1 + Math.floor(Math.random() * 5));
    } catch {
      // The service is away: whether this delivery was recorded does not matter to what must hold.
      return;
    }
    await sleep(5);
  }
}

/**
 * The stock is not below zero, what is promised is what the lines wait for, within the limit, there is no free stock
 * while somebody waits, and nobody is served before an earlier order. Returns how much is waited for.
 */
async function mustQueue(shop: ProofShop, { productId, number }: Goods, limit: number): Promise<number> {
  const state = await shop.stage.look((db) =>
    db.one<{
      stock: number;
      promised: number;
      waiting: number;
      overtaken: number;
      lines: number;
      orders: number;
    }>(sql`
      select product.stock::float8 as stock, product.promised::float8 as promised,
        (select coalesce(sum(waiting), 0)::float8 from backorder_line
          where shop_id = ${shop.shopId} and product_id = product.product_id) as waiting,
        (select count(*) from backorder_line early
          where early.shop_id = ${shop.shopId} and early.product_id = product.product_id and early.waiting > 0
            and exists (
              select from backorder_line late
              where late.shop_id = ${shop.shopId} and late.product_id = early.product_id
                and late.ordered_at > early.ordered_at and late.waiting < late.quantity)) as overtaken,
        (select count(*) from backorder_line where shop_id = ${shop.shopId} and product_id = product.product_id) as lines,
        (select count(distinct backorder_line.order_id) from backorder_line
          join customer_order on customer_order.shop_id = ${shop.shopId}
            and customer_order.order_id = backorder_line.order_id
          where backorder_line.shop_id = ${shop.shopId} and backorder_line.product_id = product.product_id) as orders
      from product where product.shop_id = ${shop.shopId} and product.product_id = ${productId}`),
  );
  const { stock, promised, waiting, overtaken, lines, orders } = state!;
  must(stock >= 0, `${number}: the stock is ${stock}`);
  must(promised <= limit, `${number}: ${promised} are promised, and the limit is ${limit}`);
  must(stock === 0 || waiting === 0, `${number}: ${stock} are for sale while ${waiting} are waited for`);
  mustEqual(`what is promised of ${number}`, promised, waiting);
  mustEqual(`lines of ${number} that were overtaken`, overtaken, 0);
  mustEqual(`orders that have waited for ${number}`, orders, lines);
  return waiting;
}
