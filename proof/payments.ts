import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { orderTokens } from '../src/orders/order-link.ts';
import { releaseUnpaidOrders } from '../src/orders/release-unpaid.ts';
import type { Order } from '../src/orders/schema.ts';
import { applySettings } from '../src/shops/settings/file.ts';
import { waitFor } from '../test/process.ts';
import { startFaultyProvider, type FaultyProvider } from './faulty-provider.ts';
import { SIGNATURE } from './http-provider.ts';
import type { ProofService } from './service.ts';
import { done, fillCart, openShop, orderCart, stockUp, type Goods, type ProofShop } from './shop.ts';
import { many, must, mustEqual, sum, times, type Check } from './stage.ts';

const CHECKOUTS = 1_000;
const SHOPPERS = 20;
const KILLS = 20;
const SETTLED_WITHIN = 10 * 60_000;

/** What shoppers and the merchant have done. */
interface Deeds {
  checkouts: number;
  paid: number;
  refused: number;
  left: number;
  cancelled: number;
  refunded: number;
  shipped: number;
  notShipped: number;
}

export const payments: Check<ProofService> = {
  name: 'payments',
  summary:
    'kill -9 while shoppers pay at a provider that loses and repeats: no order paid twice, none paid and cancelled, none unpaid and sent, the same sums on both sides',
  async run(service) {
    const provider = await startFaultyProvider();
    await service.useProvider(provider.url);
    await service.strike('the service');
    const shop = await openShop(service, 'Payments');
    await service.look((db) =>
      db.transaction((tx) =>
        applySettings(tx, shop.shopId, {
          paymentMethods: [{ key: 'card', name: 'Card', provider: 'demo', releaseUnpaidAfterMinutes: 60 }],
        }),
      ),
    );
    const goods = await stockUp(shop, { number: 'PAID', stock: 1_000_000, price: 12.34 });
    const world: World = { service, shop, goods, provider, tokens: orderTokens(await service.key()) };

    const deeds = await buyUntilDone(world);
    await settleAll(world);
    const orders = await mustBeConsistent(world);
    const kills = killsOf(service);
    return `${kills} times kill -9 while ${SHOPPERS} shoppers began ${many(deeds.checkouts)} checkouts (${many(deeds.paid)} paid, ${many(deeds.refused)} were refused, ${many(deeds.left)} left) and the merchant cancelled ${many(deeds.cancelled)}, refunded ${many(deeds.refunded)} times and sent ${many(deeds.shipped)} (${many(deeds.notShipped)} more were not paid, and refused); the provider lost ${many(provider.lost())} answers: ${orders}`;
  },
};

interface World {
  service: ProofService;
  shop: ProofShop;
  goods: Goods;
  provider: FaultyProvider;
  tokens: ReturnType<typeof orderTokens>;
}

const killsOf = (service: ProofService) => Math.max(2, service.size(KILLS));

async function buyUntilDone(world: World): Promise<Deeds> {
  const { service } = world;
  const wanted = service.size(CHECKOUTS);
  const kills = killsOf(service);
  const deeds: Deeds = {
    checkouts: 0,
    paid: 0,
    refused: 0,
    left: 0,
    cancelled: 0,
    refunded: 0,
    shipped: 0,
    notShipped: 0,
  };
  const progress = service.progress('checkouts', wanted);
  const webhooks = new Set<Promise<void>>();
  const shoppers = times(SHOPPERS, async () => {
    while (deeds.checkouts < wanted) {
      deeds.checkouts += 1;
      progress.advance(1);
      await buy(world, deeds, webhooks);
    }
  });
  const bought = Promise.all(shoppers);
  // It is reported when the last kill is done.
  bought.catch(() => {});
  for (let kill = 1; kill <= kills; kill++) {
    await waitFor(() => deeds.checkouts >= (wanted * kill) / (kills + 1), SETTLED_WITHIN, 20);
    await service.strike('the service');
  }
  await bought;
  progress.end();
  await Promise.all(webhooks);
  return deeds;
}

/** While the service is killed nothing answers; whoever wants something asks again. */
async function insist<Result>(work: () => Promise<Result>): Promise<Result> {
  const began = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() - began > SETTLED_WITHIN) throw error;
      await sleep(100);
    }
  }
}

async function buy(world: World, deeds: Deeds, webhooks: Set<Promise<void>>): Promise<void> {
  const { shop, goods, provider, tokens } = world;
  const { orderId } = await insist(async () => {
    const cart = await fillCart(shop, [{ productId: goods.productId, quantity: 1 }], {
      buyer: `payments-${Math.floor(Math.random() * 200)}`,
    });
    return done<Order>(await orderCart(shop, cart), 'POST order');
  });
  const path = `/shop/${shop.shopId}/order/${tokens.token(shop.shopId, orderId)}`;
  for (let tries = 0; tries < 3; tries++) {
    const reference = await insist(() => openPage(world, path));
    if (reference === undefined) break;
    const outcome = pay(provider, reference, deeds);
    announce(world, reference, webhooks);
    // Half of the shoppers never come back to the shop.
    if (Math.random() < 0.5) await insist(() => get(world, `${path}/paid`));
    if (outcome !== 'failed' || Math.random() < 0.5) break;
    // Whoever was refused tries again.
    await insist(() => get(world, `${path}/paid`));
  }
  await manage(world, orderId, deeds);
}

/** The reference of the payment on whose page the shopper is; undefined: there is nothing to pay. */
async function openPage(world: World, path: string): Promise<string | undefined> {
  const { service } = world;
  const headers = {
    origin: 'http://localhost',
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/x-www-form-urlencoded',
  };
  const sent = await service.send({ method: 'POST', path: `${path}/pay`, body: '', headers });
  must(sent.status === 303, `POST pay answers ${sent.status}`);
  if (!String(sent.headers.location).endsWith('/pay')) {
    // Either it is paid, or the provider did not answer: then there is a page later.
    const { state } = await stateOf(world, path);
    if (state === 'open') throw new Error('not started');
    return undefined;
  }
  const page = await get(world, `${path}/pay`);
  const [, reference] = /http:\/\/provider\.example\/pay\/([0-9A-F-]+)/.exec(page.text) ?? [];
  return reference;
}

async function stateOf({ service, shop, tokens }: World, path: string): Promise<{ state: string }> {
  const orderId = tokens.orderId(shop.shopId, path.split('/').at(-1)!)!;
  const row = await service.look((db) =>
    db.one<{ isOpen: boolean }>(sql`
      select paid_amount - refunded_amount < grand_total and cancelled_at is null and not exists (
        select from payment_attempt where shop_id = ${shop.shopId} and order_id = ${orderId}
          and state in ('processing', 'authorized')) as "isOpen"
      from customer_order where shop_id = ${shop.shopId} and order_id = ${orderId}`),
  );
  return { state: row!.isOpen ? 'open' : 'done' };
}

async function get({ service }: World, path: string) {
  const reply = await service.send({ method: 'GET', path });
  if (reply.status >= 500) throw new Error(`GET ${path} answers ${reply.status}`);
  return reply;
}

/** What the shopper and the bank do on the page of the provider. */
function pay({ payments: known }: FaultyProvider, reference: string, deeds: Deeds): string {
  const payment = known.get(reference)!;
  if (payment.state !== 'open') return payment.state;
  const chance = Math.random();
  if (chance < 0.12) {
    deeds.left += 1;
  } else if (chance < 0.24) {
    payment.state = 'failed';
    deeds.refused += 1;
  } else {
    deeds.paid += 1;
    const takesLong = chance < 0.34;
    const settle = () => Object.assign(payment, { state: 'paid', captured: payment.amount });
    if (takesLong) {
      payment.state = 'processing';
      setTimeout(settle, Math.random() * 3_000);
    } else settle();
  }
  return payment.state;
}

/** Webhooks are lost, repeated and late, and come in any order. */
function announce({ service, shop }: World, reference: string, webhooks: Set<Promise<void>>): void {
  for (let copies = Math.floor(Math.random() * 4); copies > 0; copies--) {
    const sent = sleep(Math.random() * 3_000)
      .then(() =>
        service.send({
          method: 'POST',
          path: `/payments/${shop.shopId}/card/webhook`,
          body: JSON.stringify([reference]),
          headers: { 'x-signature': SIGNATURE },
        }),
      )
      // One that meets a dead service is lost.
      .then(
        () => {},
        () => {},
      )
      .finally(() => webhooks.delete(sent));
    webhooks.add(sent);
  }
}

/** The merchant sends what is paid, cancels some orders at any moment, and refunds parts. */
async function manage({ shop }: World, orderId: string, deeds: Deeds): Promise<void> {
  const path = `/manage/shops/${shop.shopId}/orders/${orderId}`;
  const post = (part: string, body: object) =>
    insist(async () => {
      const reply = await shop.call('POST', `${path}/${part}`, { body, key: `${part}-${orderId}` });
      if (reply.status >= 500) throw new Error(`POST ${part} answers ${reply.status}`);
      return reply;
    }).then(({ status, text }) => {
      must([200, 201, 409].includes(status), `POST ${part} answers ${status} ${text}`);
      return status;
    });
  await sleep(Math.random() * 4_000);
  if (Math.random() < 0.1) {
    const status = await post('cancel', { reason: 'sold out' });
    if (status === 200) deeds.cancelled += 1;
    return;
  }
  const status = await post('shipments', {});
  if (status === 201) deeds.shipped += 1;
  else deeds.notShipped += 1;
  if (Math.random() < 0.2 && (await post('refunds', { amount: 1.23 })) === 201) deeds.refunded += 1;
}

/** Lets time pass: what nobody has paid is cancelled, and what was paid for cancelled orders goes back. */
async function settleAll({ service, shop }: World): Promise<void> {
  const { shopId } = shop;
  await service.look(async (db) => {
    await db.run(sql`update customer_order set release_at = ${db.now} where shop_id = ${shopId}`);
    await db.run(sql`
      update payment_attempt set check_at = ${db.now}
      where shop_id = ${shopId} and state in ('starting', 'open', 'processing', 'authorized')`);
  });
  const isSettled = () =>
    service.look(async (db) => {
      await releaseUnpaidOrders(db, 500);
      await refundCancelled(db, shop);
      const row = await db.one<{ open: number }>(sql`
        select (
            select count(*) from payment_attempt
            where shop_id = ${shopId} and state in ('starting', 'open', 'processing', 'authorized')
          ) + (select count(*) from order_payment where shop_id = ${shopId} and state = 'requested')
          + (
            select count(*) from customer_order
            where shop_id = ${shopId} and (cancelled_at is null and paid_amount < grand_total
              or cancelled_at is not null and paid_amount > refunded_amount)
          ) as open`);
      // Checks become rarer; nobody wants to wait for them here.
      await db.run(sql`
        update payment_attempt set check_at = least(check_at, ${new Date(db.now.getTime() + 1_000)})
        where shop_id = ${shopId} and check_at is not null`);
      await db.run(sql`
        update order_payment set check_at = least(check_at, ${new Date(db.now.getTime() + 1_000)})
        where shop_id = ${shopId} and check_at is not null`);
      return row!.open === 0;
    });
  const progress = service.progress('settling', 1);
  await waitFor(isSettled, SETTLED_WITHIN, 1_000);
  progress.end();
}

/** An order that was paid and then cancelled by the merchant is refunded by the merchant. */
async function refundCancelled(db: Database, shop: ProofShop): Promise<void> {
  const rows = await db.many<{ orderId: string; left: number }>(sql`
    select upper(order_id::text) as "orderId", paid_amount - refunded_amount as left from customer_order
    where shop_id = ${shop.shopId} and cancelled_at is not null and paid_amount > refunded_amount`);
  for (const { orderId, left } of rows) {
    await shop.call('POST', `/manage/shops/${shop.shopId}/orders/${orderId}/refunds`, {
      body: { amount: left / 100 },
    });
  }
}

interface Books {
  orderId: string;
  grandTotal: number;
  paid: number;
  refunded: number;
  isCancelled: boolean;
  isSent: boolean;
  /** By the id of the attempt. */
  payments: Record<string, number>;
  /** Refunds that are done, by their ids. */
  refunds: Record<string, number>;
}

/** Compares the books of the shop with those of the provider. */
async function mustBeConsistent({ service, shop, goods, provider }: World): Promise<string> {
  const { shopId } = shop;
  const orders = await service.look((db) =>
    db.many<Books>(sql`
      select upper(order_id::text) as "orderId", grand_total as "grandTotal", paid_amount as paid,
        refunded_amount as refunded, cancelled_at is not null as "isCancelled",
        exists (
          select from order_shipment
          where order_shipment.shop_id = ${shopId} and order_shipment.order_id = customer_order.order_id
        ) as "isSent",
        (
          select coalesce(json_object_agg(upper(payment_id::text), amount), '{}') from order_payment
          where order_payment.shop_id = ${shopId} and order_payment.order_id = customer_order.order_id
            and kind = 'payment'
        ) as payments,
        (
          select coalesce(json_object_agg(upper(payment_id::text), amount), '{}') from order_payment
          where order_payment.shop_id = ${shopId} and order_payment.order_id = customer_order.order_id
            and kind = 'refund' and state = 'done'
        ) as refunds
      from customer_order where shop_id = ${shopId}`),
  );
  for (const { orderId, grandTotal, paid, refunded, isCancelled, isSent, ...books } of orders) {
    const left = paid - refunded;
    must(left <= grandTotal, `order ${orderId} is paid twice: ${left} of ${grandTotal}`);
    must(!isCancelled || left === 0, `order ${orderId} is cancelled, and ${left} of it is paid`);
    must(!isSent || paid >= grandTotal, `order ${orderId} was sent, and ${paid} of ${grandTotal} is paid`);
    mustEqual(`payments of ${orderId}`, sum(Object.values(books.payments)), paid);
    mustEqual(`refunds of ${orderId}`, sum(Object.values(books.refunds)), refunded);
  }
  const theirs = [...provider.payments.values()];
  const paidThere = theirs.filter(({ captured }) => captured > 0);
  mustEqual(
    'payments on both sides',
    sorted(orders.flatMap(({ payments: ours }) => Object.entries(ours))),
    sorted(paidThere.map(({ id, captured }) => [id, captured])),
  );
  mustEqual(
    'refunds on both sides',
    sorted(orders.flatMap(({ refunds }) => Object.entries(refunds))),
    sorted(theirs.flatMap(({ refunds }) => [...refunds])),
  );
  for (const { id, captured, refunds } of theirs) {
    must(sum([...refunds.values()]) <= captured, `more than was paid went back of ${id}`);
  }
  const sold = orders.filter(({ isCancelled }) => !isCancelled).length;
  const row = await service.look((db) =>
    db.one<{ stock: number }>(sql`
      select stock::float8 as stock from product where shop_id = ${shopId} and product_id = ${goods.productId}`),
  );
  mustEqual('what is left in stock', row!.stock, goods.stock - sold);
  const money = (minor: number) => (minor / 100).toFixed(2);
  return `${many(orders.length)} orders, ${many(sold)} paid once and ${many(orders.length - sold)} cancelled with nothing left of their money; ${many(paidThere.length)} payments of ${money(sum(paidThere.map(({ captured }) => captured)))} EUR and ${many(sum(theirs.map(({ refunds }) => refunds.size)))} refunds of ${money(sum(theirs.flatMap(({ refunds }) => [...refunds.values()])))} EUR are the same on both sides`;
}

const sorted = (entries: [string, number][]) => entries.map(([id, amount]) => `${id} ${amount}`).toSorted();
