import {
  fillCarts,
  keptOrders,
  ledger,
  messageIn,
  mustBeCartOrOrder,
  mustBeCounted,
  openShop,
  orderCart,
  stockUp,
} from './shop.ts';
import { allAtOnce, countOf, many, must, mustEqual, sum, tally, type Check } from './stage.ts';

export const oversell: Check = {
  name: 'oversell',
  summary: 'many checkouts of few units at once sell exactly what there is',
  async run(stage) {
    const units = stage.size(1_000);
    const shop = await openShop(stage, 'Oversell');
    const goods = await stockUp(shop, { number: 'LAMP-1', stock: units });
    // A line that can not be had is refused, so all carts are there before the first order.
    const carts = await fillCarts(shop, stage.size(10_000), {
      linesOf: () => [{ productId: goods.productId, quantity: 1 }],
      buyerOf: (index) => index,
    });
    const replies = await allAtOnce(stage, 'checkouts', carts, (cart) => orderCart(shop, cart));

    const statuses = replies.map(({ status }) => status);
    const sold = countOf(statuses, 201);
    must(
      sold === units && countOf(statuses, 409) === carts.length - units,
      `sold ${many(sold)} of ${many(units)} units: ${tally(statuses)}`,
    );
    const unnamed = replies.find((reply) => reply.status === 409 && !messageIn(reply).includes(goods.number));
    must(unnamed === undefined, `a refusal does not name the product: ${unnamed?.text}`);
    const [balance] = await ledger(shop, [goods]);
    mustEqual('stock and ordered quantity', [balance!.left, balance!.ordered], [0, units]);
    const orders = await keptOrders(shop);
    mustEqual('orders in the table', orders.length, units);
    mustEqual('their lines', sum(orders.map(({ content }) => content.lines.length)), units);
    await mustBeCounted(shop);
    mustEqual('open carts', await mustBeCartOrOrder(shop), carts.length - units);
    return `${many(carts.length)} checkouts of ${many(units)} units at once sold exactly ${many(sold)}, stock 0`;
  },
};
