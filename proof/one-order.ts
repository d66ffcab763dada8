import {
  fillCart,
  keptOrders,
  mustBalance,
  mustBeCartOrOrder,
  openShop,
  orderCart,
  orderIn,
  stockUp,
  type OpenCart,
} from './shop.ts';
import { allAtOnce, countOf, many, must, mustEqual, tally, times, type Check } from './stage.ts';

export const oneOrder: Check = {
  name: 'one-order',
  summary: 'a cart becomes one order, however often it is ordered at once',
  async run(stage) {
    const shop = await openShop(stage, 'OneOrder');
    const goods = await stockUp(shop, { number: 'CHAIR-1', stock: 100 });
    const tries = stage.size(1_000);
    const orderOften = async (cart: OpenCart, key?: string) =>
      allAtOnce(stage, 'orders of one cart', times(tries, Number), () => orderCart(shop, cart, key));
    const newCart = () => fillCart(shop, [{ productId: goods.productId, quantity: 3 }], { buyer: 'one' });

    const plain = await newCart();
    const plainReplies = await orderOften(plain);
    const statuses = plainReplies.map(({ status }) => status);
    must(
      countOf(statuses, 201) === 1 && countOf(statuses, 410) === tries - 1,
      `${many(tries)} orders of one cart: ${tally(statuses)}`,
    );
    const keyed = await newCart();
    const keyedReplies = await orderOften(keyed, 'one-key-for-all');
    const answers = new Set(keyedReplies.map(({ status, text }) => `${status} ${text}`));
    must(
      answers.size === 1 && keyedReplies[0]!.status === 201,
      `${many(tries)} orders with one key were answered in ${many(answers.size)} ways: ${tally(keyedReplies.map(({ status }) => status))}`,
    );

    const placed = [plainReplies.find(({ status }) => status === 201)!, keyedReplies[0]!].map(orderIn);
    const orders = await keptOrders(shop);
    mustEqual(
      'orders in the table',
      [plain, keyed].map(({ cartId }) => orders.find((row) => row.cartId === cartId)?.orderNumber),
      placed.map(({ orderNumber }) => orderNumber),
    );
    mustEqual('orders of two carts', orders.length, 2);
    mustEqual('open carts', await mustBeCartOrOrder(shop), 0);
    await mustBalance(shop, [goods]);
    return `${many(tries)} orders of one cart at once: one 201, ${many(tries - 1)} times 410, one order; with one Idempotency-Key ${many(tries)} times the same 201, one order`;
  },
};
