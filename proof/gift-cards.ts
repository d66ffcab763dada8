import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../src/db/sql.ts';
import type { Order } from '../src/orders/schema.ts';
import { waitFor } from '../test/process.ts';
import { settle, type Sent } from './crash.ts';
import { VICTIMS, type ProofService } from './service.ts';
import {
  done,
  fillCart,
  fillCarts,
  openShop,
  orderCart,
  orderIn,
  Refused,
  stockUp,
  type Goods,
  type OpenCart,
  type ProofShop,
} from './shop.ts';
import { allAtOnce, countOf, many, must, mustEqual, Refuted, tally, type Check } from './stage.ts';

const BUYERS = 8;
/** Cents. */
const WORTH = 10_000_000;

interface Card {
  giftCardId: string;
  code: string;
}

export const giftCards: Check<ProofService> = {
  name: 'gift-cards',
  summary: 'no card pays more than it has, however many orders want it at once, and kill -9 loses none of it',
  async run(service) {
    const shop = await openShop(service, 'GiftCards');
    const goods = [await stockUp(shop, { number: 'TEA-1', stock: 10_000_000 })];
    const spent = await spendAtOnce(shop, goods[0]!);
    const rounds = Math.max(VICTIMS.length, service.size(10));
    const card = await issue(shop, WORTH);
    const sent: Sent[] = [];
    const progress = service.progress('kills', rounds);
    for (let round = 0; round < rounds; round++) {
      await strikeWhilePaying(
        service,
        shop,
        { goods: goods[0]!, card, sent },
        VICTIMS[round % VICTIMS.length]!,
      );
      await settle(shop, sent);
      await mustBalanceCards(shop);
      progress.advance(1);
    }
    progress.end();
    mustEqual('orders that were paid by the card', await paidBy(shop, card), sent.length);
    return `${spent}; ${rounds} times kill -9 while ${many(sent.length)} orders were paid by a card: each is paid once, and every balance is the sum of its entries and of what the orders say`;
  },
};

async function issue(shop: ProofShop, amount: number): Promise<Card> {
  return done<Card>(
    await shop.call('POST', `/manage/shops/${shop.shopId}/gift-cards`, { body: { value: amount / 100 } }),
    'POST gift-cards',
  );
}

async function addCard(shop: ProofShop, { cartId, cartToken }: OpenCart, { code }: Card): Promise<void> {
  done(
    await shop.call('POST', `/carts/${cartId}/gift-cards`, { cartToken, body: { code } }),
    'POST gift-cards of a cart',
  );
}

/** Many orders at once, with a card that is enough for some of them. */
async function spendAtOnce(shop: ProofShop, goods: Goods): Promise<string> {
  const orders = shop.stage.size(2_000);
  const enoughFor = Math.ceil(orders / 20);
  const carts = await fillCarts(shop, orders, {
    linesOf: () => [{ productId: goods.productId, quantity: 1 }],
    buyerOf: (index) => index % 500,
  });
  const total = Math.round(carts[0]!.cart.lineItemContainer.grandTotal.amount * 100);
  const card = await issue(shop, enoughFor * total);
  await allAtOnce(shop.stage, 'cards', carts, (cart) => addCard(shop, cart, card), 64);
  const replies = await allAtOnce(shop.stage, 'checkouts', carts, (cart) => orderCart(shop, cart));
  const statuses = replies.map(({ status }) => status);
  must(
    countOf(statuses, 201) === enoughFor && countOf(statuses, 409) === orders - enoughFor,
    `of ${many(orders)} orders with a card for ${many(enoughFor)}: ${tally(statuses)}`,
  );
  const unpaid = replies
    .filter(({ status }) => status === 201)
    .filter((reply) => orderIn(reply).paidOn === null);
  mustEqual('orders that were placed and not paid', unpaid.length, 0);
  mustEqual('orders that were paid by the card', await paidBy(shop, card), enoughFor);
  await mustBalanceCards(shop);
  return `${many(orders)} orders at once with a card for ${many(enoughFor)}: ${many(enoughFor)} were paid, ${many(orders - enoughFor)} refused`;
}

/** Customers pay with the same card as fast as they can, until it strikes. */
async function strikeWhilePaying(
  service: ProofService,
  shop: ProofShop,
  { goods, card, sent }: { goods: Goods; card: Card; sent: Sent[] },
  victim: (typeof VICTIMS)[number],
): Promise<void> {
  const acknowledged = () => sent.filter(({ answer }) => answer).length;
  const before = acknowledged();
  const over = new AbortController();
  const buyers = Promise.all(
    Array.from({ length: BUYERS }, (_, buyer) => keepPaying(shop, { goods, card, sent, buyer }, over.signal)),
  );
  try {
    await Promise.race([buyers, waitFor(() => acknowledged() >= before + BUYERS, 60_000, 5)]);
    await sleep(Math.random() * 500);
    await service.strike(victim);
  } finally {
    over.abort();
    await buyers;
  }
}

/** Ends when its service does. Every other order carries a key. */
async function keepPaying(
  shop: ProofShop,
  { goods, card, sent, buyer }: { goods: Goods; card: Card; sent: Sent[]; buyer: number },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const cart = await fillCart(shop, [{ productId: goods.productId, quantity: 1 }], { buyer });
      await addCard(shop, cart, card);
      const key = sent.length % 2 === 0 ? cart.cartId : undefined;
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

/** How many orders a card has paid in full, as the orders and the ledger both say. */
async function paidBy({ stage, shopId }: ProofShop, { giftCardId }: Card): Promise<number> {
  const row = await stage.look((db) =>
    db.one<{ orders: number; entries: number }>(sql`
      select (
          select count(*) from order_payment payment
          join customer_order placed on placed.shop_id = ${shopId} and placed.order_id = payment.order_id
          where payment.shop_id = ${shopId} and gift_card_id = ${giftCardId} and paid_amount = grand_total
            and paid_at is not null
        ) as orders, (
          select count(distinct order_id) from gift_card_entry
          where shop_id = ${shopId} and gift_card_id = ${giftCardId} and kind = 'redeem'
        ) as entries`),
  );
  mustEqual('orders in the ledger of the card', row!.entries, row!.orders);
  return row!.orders;
}

/** Each balance is the sum of its entries, never below zero, and what has left the cards is what orders were paid with. */
async function mustBalanceCards({ stage, shopId }: ProofShop): Promise<void> {
  const row = await stage.look((db) =>
    db.one<{ wrong: number; redeemed: number; paid: number }>(sql`
      select (
          select count(*) from gift_card card
          where card.shop_id = ${shopId} and (balance < 0 or balance <> (
            select sum(amount) from gift_card_entry entry
            where entry.shop_id = ${shopId} and entry.gift_card_id = card.gift_card_id))
        ) as wrong,
        (
          select coalesce(-sum(amount), 0)::bigint from gift_card_entry where shop_id = ${shopId} and kind = 'redeem'
        ) as redeemed,
        (
          select coalesce(sum(amount), 0)::bigint from order_payment
          where shop_id = ${shopId} and gift_card_id is not null
        ) as paid`),
  );
  mustEqual('cards whose balance is not the sum of their entries', row!.wrong, 0);
  mustEqual('money that orders were paid with', row!.paid, row!.redeemed);
}
