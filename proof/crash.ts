import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../src/db/sql.ts';
import type { Order } from '../src/orders/schema.ts';
import { waitFor } from '../test/process.ts';
import { mustBeKept, mustBeWhole } from './order-sums.ts';
import { VICTIMS, type ProofService } from './service.ts';
import {
  done,
  fillCart,
  keptOrders,
  mustBalance,
  mustBeCartOrOrder,
  mustBeCounted,
  openShop,
  orderCart,
  Refused,
  stockUp,
  type Goods,
  type OpenCart,
  type ProofShop,
} from './shop.ts';
import { many, must, mustEqual, Refuted, times, type Check } from './stage.ts';

const WRITERS = 32;
const BUYERS = 'crash';
const MAILS_WITHIN = 5 * 60_000;

/** An order as the client knows it. */
export interface Sent {
  cart: OpenCart;
  key: string | undefined;
  /** undefined: it was sent, and nobody knows what became of it. */
  answer: Order | undefined;
}

export const crash: Check<ProofService> = {
  name: 'crash',
  summary: 'kill -9 of the service, of PostgreSQL and of both under load loses no order and makes none twice',
  async run(service) {
    const rounds = Math.max(VICTIMS.length, service.size(20));
    const shop = await openShop(service, 'Crash');
    const goods = await Promise.all(
      times(5, (index) =>
        stockUp(shop, {
          number: `BOX-${index}`,
          stock: 1_000_000,
          price: 3.5 + index,
          isReduced: index % 2 === 0,
        }),
      ),
    );
    // What earlier checks have left to send would keep the mails of this one waiting.
    await service.look((db) => db.run(sql`delete from job`));
    const sent: Sent[] = [];
    const twice = new Set<string>();
    let unanswered = 0;
    const progress = service.progress('kills', rounds);
    for (let round = 0; round < rounds; round++) {
      await strikeUnderLoad(service, shop, goods, sent, VICTIMS[round % VICTIMS.length]!, twice);
      await mustHoldAll(shop, goods, sent);
      unanswered += await settle(shop, sent);
      progress.advance(1);
    }
    progress.end();
    const kept = await mustHoldAll(shop, goods, sent);
    mustEqual('orders in the table', kept.length, sent.length);
    await mailsAreTried(service);
    const { written, waiting } = await countMails(
      service,
      shop,
      kept.map(({ orderNumber }) => orderNumber),
    );
    return `${rounds} times kill -9 under load: ${many(kept.length)} orders, each there once and whole, ${many(unanswered)} of them sent again because the answer was lost; stocks are right; one mail per order, ${many(written)} written, ${many(waiting)} to be tried again, ${twice.size} to be written twice`;
  },
};

/** Customers order as fast as they can, until it strikes. */
async function strikeUnderLoad(
  service: ProofService,
  shop: ProofShop,
  goods: readonly Goods[],
  sent: Sent[],
  victim: (typeof VICTIMS)[number],
  twice: Set<string>,
): Promise<void> {
  const acknowledged = () => sent.filter(({ answer }) => answer).length;
  const before = acknowledged();
  const over = new AbortController();
  const writers = Promise.all(times(WRITERS, () => keepOrdering(shop, goods, sent, over.signal)));
  try {
    await Promise.race([writers, waitFor(() => acknowledged() >= before + WRITERS, 60_000, 5)]);
    await sleep(Math.random() * 1_000);
    const struckAt = new Date();
    await service.strike(victim);
    for (const id of await mailsOfTheDead(service, struckAt)) twice.add(id);
  } finally {
    over.abort();
    await writers;
  }
}

/** Ends when its service does. Every other order carries a key. */
export async function keepOrdering(
  shop: ProofShop,
  goods: readonly Goods[],
  sent: Sent[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const lines = goods
        .filter(() => Math.random() < 0.4)
        .map(({ productId }) => ({ productId, quantity: 1 + Math.floor(Math.random() * 3) }));
      if (lines.length === 0) continue;
      const cart = await fillCart(shop, lines, { buyer: `${BUYERS}-${Math.floor(Math.random() * 200)}` });
      const key = Math.random() < 0.5 ? cart.cartId : undefined;
      const order: Sent = { cart, key, answer: undefined };
      sent.push(order);
      order.answer = done<Order>(await orderCart(shop, cart, key), 'POST order');
    } catch (error) {
      // Without an answer nothing is known; with one it says that the database is away, and nothing else.
      if (error instanceof Refuted && !(error instanceof Refused && error.status === 503)) throw error;
      return;
    }
  }
}

/** What was acknowledged is there, once and whole; what is there was sent; nothing is both a cart and an order. */
export async function mustHoldAll(shop: ProofShop, goods: readonly Goods[], sent: readonly Sent[]) {
  const kept = await keptOrders(shop);
  const byCart = new Map(kept.map((row) => [row.cartId, row]));
  mustEqual('carts with an order', byCart.size, kept.length);
  for (const { cart, answer } of sent) {
    const row = byCart.get(cart.cartId);
    byCart.delete(cart.cartId);
    if (answer) must(row !== undefined, `${answer.orderNumber} was acknowledged and is gone`);
    if (row) mustBeWhole(row);
    if (answer && row) mustBeKept(answer, row);
  }
  mustEqual('orders that nobody has sent', byCart.size, 0);
  await mustBalance(shop, goods);
  await mustBeCounted(shop);
  await mustBeCartOrOrder(shop);
  return kept;
}

/** Sends again what was not answered: with its key the answer comes late; without, the cart may be gone. */
export async function settle(shop: ProofShop, sent: readonly Sent[]): Promise<number> {
  const unknown = sent.filter(({ answer }) => !answer);
  const kept = new Map((await keptOrders(shop)).map((row) => [row.cartId, row]));
  for (const order of unknown) {
    const { cart, key } = order;
    const row = kept.get(cart.cartId);
    const reply = await orderCart(shop, cart, key);
    if (row && key === undefined) {
      mustEqual('a further order of a cart that was ordered', reply.status, 410);
      continue;
    }
    order.answer = done<Order>(reply, 'POST order once more');
    if (row) mustBeKept(order.answer, row);
  }
  return unknown.length;
}

/** Mails that were written by a process that died before it could say so: they are written again. */
async function mailsOfTheDead(service: ProofService, struckAt: Date): Promise<string[]> {
  const jobs = await service.look((db) =>
    db.many<{ id: string }>(sql`
      select job_id as id from job where taken_at < ${struckAt}`),
  );
  const written = new Set((await service.mailIds()).map((id) => id.toLowerCase()));
  return jobs.map(({ id }) => id).filter((id) => written.has(id));
}

/** What is left then was taken by a process that died: it is tried again after a minute or two. */
async function mailsAreTried(service: ProofService): Promise<void> {
  const untried = () =>
    service.look(async (db) => {
      const row = await db.one<{ count: number }>(sql`select count(*) as count from job where attempts = 0`);
      return row!.count;
    });
  let left = await untried();
  if (left === 0) return;
  const progress = service.progress('mails', left);
  await waitFor(
    async () => {
      const now = await untried();
      progress.advance(left - now);
      left = now;
      return left === 0;
    },
    MAILS_WITHIN,
    500,
  );
  progress.end();
}

/**
 * Each order has one mail to its customer, written or waiting; no mail is about an order that is not there. What the
 * merchant is told is not counted.
 */
async function countMails(service: ProofService, { shopId }: ProofShop, orderNumbers: readonly string[]) {
  const mails = new Map<string, string>();
  // Jobs first: a mail that is written in between is then seen twice, and never not at all.
  const jobs = await service.look((db) =>
    db.many<{ id: string; orderNumber: string }>(sql`
      select job.job_id as id, placed.order_number as "orderNumber"
      from job
      join customer_order placed on placed.shop_id = ${shopId}
        and placed.order_id = (job.content -> 'facts' ->> 'orderId')::uuid
      where job.shop_id = ${shopId} and job.content ->> 'template' = 'order'`),
  );
  for (const { id, orderNumber } of jobs) mails.set(id, orderNumber);
  const waiting = mails.size;
  for (const id of await service.mailIds()) {
    const text = await service.mailText(id);
    if (!new RegExp(`^To: .*buyer-${BUYERS}-`, 'm').test(text)) continue;
    const orderNumber = /^Subject: .*?(ORD\d+\/\d+)/m.exec(text)?.[1];
    must(orderNumber !== undefined, `the mail ${id} names no order`);
    mails.set(id.toLowerCase(), orderNumber);
  }
  mustEqual('orders that mails are about', [...mails.values()].toSorted(), orderNumbers.toSorted());
  return { written: mails.size - waiting, waiting };
}
