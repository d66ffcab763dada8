import type { Reply } from '../bench/client.ts';
import type { Order } from '../src/orders/schema.ts';
import { mustAddUp, mustBeKept, mustBeWhole } from './order-sums.ts';
import {
  address,
  fillCarts,
  keptOrders,
  mustBalance,
  mustBeCartOrOrder,
  openCampaign,
  openShop,
  orderCart,
  orderIn,
  stockUp,
  type Goods,
  type OpenCart,
  type ProofShop,
} from './shop.ts';
import { allAtOnce, many, must, mustEqual, shuffled, tally, type Check } from './stage.ts';

/**
 * Every change is made once per cart, at the same moment as the cart is ordered. A change that was acknowledged came
 * before the order, because nothing comes after it, so it must be in the order; one that was not must not be.
 */
export const race: Check = {
  name: 'race',
  summary: 'changes that race with the order are in it as a whole or not at all, and its totals are right',
  async run(stage) {
    const shop = await openShop(stage, 'Race');
    const stock = stage.size(1_000_000);
    const goods = {
      taken: await stockUp(shop, { number: 'CUP', stock, price: 12.99, kilograms: 0.4 }),
      more: await stockUp(shop, { number: 'COLA', stock, price: 7.35, isReduced: true, deposit: 0.25 }),
      added: await stockUp(shop, { number: 'KETTLE', stock, price: 31.5, kilograms: 1.75 }),
    };
    await openCampaign(shop, { type: { name: 'PERCENT', amount: 10 } }, [CODE]);
    const carts = await fillCarts(shop, stage.size(1_000), {
      linesOf: () => [
        { productId: goods.taken.productId, quantity: 2 },
        { productId: goods.more.productId, quantity: 1 },
      ],
      buyerOf: (index) => index % 500,
    });
    const races = await allAtOnce(stage, 'races', carts, (cart) => runRace(shop, cart, goods), AT_A_TIME);

    const kept = new Map((await keptOrders(shop)).map((row) => [row.cartId, row]));
    mustEqual('orders in the table', kept.size, carts.length);
    for (const [index, { order, changes }] of races.entries()) {
      const row = kept.get(carts[index]!.cartId);
      must(row !== undefined, `${order.orderNumber} is not kept`);
      mustAddUp(order);
      mustBeWhole(row);
      mustBeKept(order, row);
      const { coupon, subTotal, basketDiscount } = row.content;
      const tenth = Math.floor((subTotal + basketDiscount + 5) / 10);
      if (coupon) mustEqual(`${order.orderNumber}: the coupon`, coupon.amount, -tenth);
      for (const { name, isMade, isSeen } of changes) {
        must(
          isMade === isSeen,
          `${order.orderNumber}: ${name} was ${isMade ? '' : 'not '}made, but is${isSeen ? '' : ' not'} there`,
        );
      }
    }
    mustEqual('open carts', await mustBeCartOrOrder(shop), 0);
    await mustBalance(shop, Object.values(goods));
    const all = races.flatMap(({ changes }) => changes);
    const made = all.filter(({ isMade }) => isMade).length;
    return `${many(races.length)} orders raced with ${many(all.length)} changes: ${many(made)} came first and are in the order, ${many(all.length - made)} got 410 and are not; all totals and stocks are right`;
  },
};

const CODE = 'TENTH';
/** Few enough that changes get their turn: each asks the database twice, and in a long queue the order overtakes it. */
const AT_A_TIME = 12;

interface Change {
  name: string;
  make: () => Promise<Reply>;
  isIn: (order: Order) => boolean;
}

function changesOf(
  shop: ProofShop,
  { cartId, cartToken, cart }: OpenCart,
  { taken, more, added }: Record<'taken' | 'more' | 'added', Goods>,
): Change[] {
  const path = `/carts/${cartId}`;
  const lineOf = ({ lineItemContainer }: Pick<Order, 'lineItemContainer'>, { productId }: Goods) =>
    lineItemContainer.productLineItems.find((line) => line.productId === productId);
  const pathTo = (goods: Goods) => `${path}/line-items/${lineOf(cart, goods)!.lineItemId}`;
  const express = shop.settings.shippingMethods.find(({ key }) => key === 'express')!;
  return [
    {
      name: 'a further line',
      make: () =>
        shop.call('POST', `${path}/line-items`, {
          cartToken,
          body: { productId: added.productId, quantity: 1 },
        }),
      isIn: (order) => lineOf(order, added)?.quantity.amount === 1,
    },
    {
      name: 'a quantity',
      make: () => shop.call('PUT', pathTo(more), { cartToken, body: { quantity: 3 } }),
      isIn: (order) => lineOf(order, more)?.quantity.amount === 3,
    },
    {
      name: 'taking away a line',
      make: () => shop.call('DELETE', pathTo(taken), { cartToken }),
      isIn: (order) => lineOf(order, taken) === undefined,
    },
    {
      name: 'a coupon',
      make: () => shop.call('POST', `${path}/coupon`, { cartToken, body: { code: CODE } }),
      isIn: (order) => (order.lineItemContainer.couponLineItem?.lineItemPrice.amount ?? 0) < 0,
    },
    {
      name: 'an address',
      make: () =>
        shop.call('PUT', `${path}/billing-address`, {
          cartToken,
          body: address('abroad', { country: 'FR', city: 'Lyon' }),
        }),
      isIn: (order) => order.billingAddress.city === 'Lyon',
    },
    {
      name: 'a delivery',
      make: () =>
        shop.call('PUT', `${path}/shipping-data`, { cartToken, body: { id: express.shippingMethodId } }),
      isIn: (order) => order.shippingData?.shippingMethod.id === express.shippingMethodId,
    },
  ];
}

/** All changes at once, and as soon as some of them are answered the order, twice. */
async function runRace(shop: ProofShop, cart: OpenCart, goods: Parameters<typeof changesOf>[2]) {
  const changes = changesOf(shop, cart, goods);
  const before = Math.floor(Math.random() * changes.length);
  let answered = 0;
  let start = () => {};
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  if (before === 0) start();
  const [orders, replies] = await Promise.all([
    started.then(() => Promise.all([orderCart(shop, cart), orderCart(shop, cart)])),
    Promise.all(
      shuffled(changes).map(async (change) => {
        const reply = await change.make();
        if (++answered === before) start();
        return { change, reply };
      }),
    ),
  ]);

  const statuses = orders.map(({ status }) => status);
  must(statuses.includes(201) && statuses.includes(410), `two orders of a cart: ${tally(statuses)}`);
  const placed = orderIn(orders.find(({ status }) => status === 201)!);
  return {
    order: placed,
    changes: replies.map(({ change: { name, isIn }, reply: { status, text } }) => {
      const isMade = status === 200 || status === 201;
      must(isMade || status === 410, `${name} beside the order answers ${status} ${text.slice(0, 300)}`);
      return { name, isMade, isSeen: isIn(placed) };
    }),
  };
}
