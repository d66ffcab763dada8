import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../src/db/sql.ts';
import type { Order } from '../src/orders/schema.ts';
import { waitFor } from '../test/process.ts';
import { settle, type Sent } from './crash.ts';
import { VICTIMS, type ProofService } from './service.ts';
import { done, fillCart, openShop, orderCart, Refused, stockUp, type Goods, type ProofShop } from './shop.ts';
import { many, must, mustEqual, Refuted, times, type Check } from './stage.ts';

const BUYERS = 8;
/** Keys of a refill; orders take one or two each, so many of them wait. */
const REFILL = 20;
const SUPPLIED_WITHIN = 5 * 60_000;

export const licenceKeys: Check<ProofService> = {
  name: 'licence-keys',
  summary:
    'no key is given twice and none is lost, however many orders are paid while keys come and kill -9 strikes',
  async run(service) {
    const shop = await openShop(service, 'LicenceKeys');
    const goods = await stockUp(shop, { number: 'CODE-1', stock: 10_000_000 });
    // Goods that may be withdrawn anyway: the supply waits for no consent.
    await service.look((db) =>
      db.run(sql`
        update product set facts = facts || '{"withdrawalExcluded": "sealedMedia"}'::jsonb, version = version + 1
        where shop_id = ${shop.shopId} and product_id = ${goods.productId}`),
    );
    const keys = { added: 0 };
    await refill(shop, goods, keys);
    const sent: Sent[] = [];
    const rounds = Math.max(VICTIMS.length, service.size(10));
    const progress = service.progress('kills', rounds);
    for (let round = 0; round < rounds; round++) {
      await strikeWhileSelling(service, shop, { goods, keys, sent }, VICTIMS[round % VICTIMS.length]!);
      await settle(shop, sent);
      await payAll(shop);
      await mustBeGivenOnce(shop);
      progress.advance(1);
    }
    progress.end();
    const wanted = await countPieces(shop);
    while (keys.added < wanted) await refill(shop, goods, keys);
    await waitFor(async () => (await countGiven(shop)) === wanted, SUPPLIED_WITHIN, 100);
    await mustBeGivenOnce(shop);
    mustEqual('keys that have got lost', await countKeys(shop), keys.added);
    return `${rounds} times kill -9 while ${many(sent.length)} orders were paid and keys were added: all ${many(wanted)} pieces have got a key of their own, ${many(keys.added - wanted)} keys are free`;
  },
};

/** The same keys are sent again until they are answered, as an app would. */
async function refill(shop: ProofShop, { productId }: Goods, keys: { added: number }): Promise<void> {
  const body = { keys: times(REFILL, (index) => `KEY-${keys.added + index}-${shop.shopId}`) };
  done(
    await shop.call('POST', `/manage/shops/${shop.shopId}/products/${productId}/keys`, { body }),
    'POST keys',
  );
  keys.added += REFILL;
}

interface Sale {
  goods: Goods;
  keys: { added: number };
  sent: Sent[];
}

/** Customers order and pay, and an app adds keys, as fast as they can, until it strikes. */
async function strikeWhileSelling(
  service: ProofService,
  shop: ProofShop,
  sale: Sale,
  victim: (typeof VICTIMS)[number],
): Promise<void> {
  const acknowledged = () => sale.sent.filter(({ answer }) => answer).length;
  const before = acknowledged();
  const over = new AbortController();
  const all = Promise.all([
    ...times(BUYERS, (buyer) => untilStruck(over.signal, () => buy(shop, sale, buyer))),
    untilStruck(over.signal, () => refill(shop, sale.goods, sale.keys)),
  ]);
  try {
    await Promise.race([all, waitFor(() => acknowledged() >= before + BUYERS, 60_000, 5)]);
    await sleep(Math.random() * 1_500);
    await service.strike(victim);
  } finally {
    over.abort();
    await all;
  }
}

/** Ends when the service does. */
async function untilStruck(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      // Without an answer nothing is known; with one it says that the database is away, and nothing else.
      if (error instanceof Refuted && !(error instanceof Refused && error.status === 503)) throw error;
      return;
    }
  }
}

async function buy(shop: ProofShop, { goods, sent }: Sale, buyer: number): Promise<void> {
  const cart = await fillCart(shop, [{ productId: goods.productId, quantity: 1 + (buyer % 2) }], { buyer });
  const order: Sent = { cart, key: undefined, answer: undefined };
  sent.push(order);
  order.answer = done<Order>(await orderCart(shop, cart), 'POST order');
  await pay(shop, order.answer.orderId);
}

async function pay(shop: ProofShop, orderId: string): Promise<void> {
  const total = await shop.stage.look((db) =>
    db.one<{ left: number }>(sql`
      select grand_total - paid_amount as left from customer_order
      where shop_id = ${shop.shopId} and order_id = ${orderId}`),
  );
  if (total!.left <= 0) return;
  const body = { amount: total!.left / 100 };
  done(
    await shop.call('POST', `/manage/shops/${shop.shopId}/orders/${orderId}/payments`, { body }),
    'POST payments',
  );
}

/** Orders whose customer was struck before paying. */
async function payAll(shop: ProofShop): Promise<void> {
  const unpaid = await shop.stage.look((db) =>
    db.many<{ orderId: string }>(sql`
      select upper(order_id::text) as "orderId" from customer_order
      where shop_id = ${shop.shopId} and paid_amount < grand_total order by order_id`),
  );
  for (const { orderId } of unpaid) await pay(shop, orderId);
}

async function countPieces({ stage, shopId }: ProofShop): Promise<number> {
  const row = await stage.look((db) =>
    db.one<{ pieces: number }>(sql`
      select coalesce(sum(quantity), 0)::bigint as pieces from order_line where shop_id = ${shopId}`),
  );
  return row!.pieces;
}

async function countGiven({ stage, shopId }: ProofShop): Promise<number> {
  const row = await stage.look((db) =>
    db.one<{ given: number }>(sql`
      select count(*) as given from licence_key where shop_id = ${shopId} and order_id is not null`),
  );
  return row!.given;
}

async function countKeys({ stage, shopId }: ProofShop): Promise<number> {
  const row = await stage.look((db) =>
    db.one<{ keys: number }>(sql`select count(*) as keys from licence_key where shop_id = ${shopId}`),
  );
  return row!.keys;
}

/** No line has more keys than pieces, what is missing is what is noted as missing, and only paid orders have keys. */
async function mustBeGivenOnce({ stage, shopId }: ProofShop): Promise<void> {
  const row = await stage.look((db) =>
    db.one<{ wrong: number; unpaid: number }>(sql`
      select (
          select count(*) from order_line line
          join download_delivery delivery on delivery.shop_id = ${shopId} and delivery.order_id = line.order_id
            and delivery.line_item_id = line.line_item_id
          where line.shop_id = ${shopId} and line.quantity <> delivery.keys_waiting + (
            select count(*) from licence_key given
            where given.shop_id = ${shopId} and given.order_id = line.order_id
              and given.line_item_id = line.line_item_id)
        ) as wrong, (
          select count(*) from licence_key given
          join customer_order placed on placed.shop_id = ${shopId} and placed.order_id = given.order_id
          where given.shop_id = ${shopId} and placed.paid_amount < placed.grand_total
        ) as unpaid`),
  );
  mustEqual('lines with another number of keys than pieces', row!.wrong, 0);
  must(row!.unpaid === 0, `${many(row!.unpaid)} keys were given to orders that are not paid`);
}
