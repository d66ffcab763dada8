import type { Order } from '../src/orders/schema.ts';
import { sql } from '../src/db/sql.ts';
import {
  done,
  fillCarts,
  messageIn,
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
import { allAtOnce, countOf, many, must, mustEqual, tally, times, type Check } from './stage.ts';

export const coupon: Check = {
  name: 'coupon',
  summary: 'a coupon is redeemed as often as it may be, and no more, per code and over all codes',
  async run(stage) {
    const shop = await openShop(stage, 'Coupon');
    const limit = stage.size(100);
    const orders = stage.size(5_000);
    const goods = await stockUp(shop, { number: 'TEA-1', stock: 10 * orders });
    await redeem(shop, goods, { limit: { usageLimit: limit }, limited: limit, codes: ['ONCE'], orders });
    const codes = times(10, (index) => `SHARED-${index}`);
    await redeem(shop, goods, { limit: { campaignUsageLimit: limit }, limited: limit, codes, orders });
    await mustBalance(shop, [goods]);
    return `${many(orders)} orders with a code for ${many(limit)}: ${many(limit)} got it, ${many(orders - limit)} were refused; the same with 10 codes of one campaign`;
  },
};

interface Redemption {
  limit: { usageLimit: number } | { campaignUsageLimit: number };
  limited: number;
  codes: readonly string[];
  orders: number;
}

async function redeem(
  shop: ProofShop,
  goods: Goods,
  { limit, limited, codes, orders }: Redemption,
): Promise<void> {
  const { stage, shopId } = shop;
  const campaignId = await openCampaign(shop, { type: { name: 'FIX', amount: 2.5 }, ...limit }, codes);
  const before = await mustBeCartOrOrder(shop);
  const carts = await fillCarts(shop, orders, {
    linesOf: () => [{ productId: goods.productId, quantity: 1 }],
    buyerOf: (index) => index % 500,
    couponOf: (index) => codes[index % codes.length]!,
  });
  const replies = await allAtOnce(stage, 'checkouts', carts, (cart) => orderCart(shop, cart));

  const statuses = replies.map(({ status }) => status);
  must(
    countOf(statuses, 201) === limited && countOf(statuses, 409) === orders - limited,
    `of ${many(orders)} orders with a coupon for ${many(limited)} ${many(countOf(statuses, 201))} got it: ${tally(statuses)}`,
  );
  const placed = replies.filter(({ status }) => status === 201).map(orderIn);
  mustEqual(
    'orders that were given the amount',
    placed.filter((order) => discountOf(order) === -2.5).length,
    limited,
  );
  const unsaid = replies.find((reply) => reply.status === 409 && !messageIn(reply).includes('coupon'));
  must(unsaid === undefined, `a refusal does not speak of the coupon: ${unsaid?.text}`);
  const used = await stage.look((db) =>
    db.one<{ codes: number; campaign: number }>(sql`
      select sum(coupon.used)::bigint as codes, min(campaign.used) as campaign
      from coupon_campaign campaign
      join coupon on coupon.shop_id = campaign.shop_id and coupon.campaign_id = campaign.campaign_id
      where campaign.shop_id = ${shopId} and campaign.campaign_id = ${campaignId}`),
  );
  mustEqual('uses that were counted', used, { codes: limited, campaign: limited });
  mustEqual('open carts', (await mustBeCartOrOrder(shop)) - before, orders - limited);
  const refused = carts[statuses.indexOf(409)];
  if (refused) await orderWithoutCoupon(shop, refused);
}

/** Who came too late can still buy. */
async function orderWithoutCoupon(shop: ProofShop, { cartId, cartToken, cart }: OpenCart): Promise<void> {
  const { couponLineItemId } = cart.lineItemContainer.couponLineItem!;
  done(
    await shop.call('DELETE', `/carts/${cartId}/coupon/${couponLineItemId}`, { cartToken }),
    'DELETE coupon',
  );
  const order = done<Order>(await orderCart(shop, { cartId, cartToken }), 'POST order without the coupon');
  mustEqual('the coupon of an order without one', order.lineItemContainer.couponLineItem, null);
}

function discountOf({ lineItemContainer }: Order): number | undefined {
  return lineItemContainer.couponLineItem?.lineItemPrice.amount;
}
