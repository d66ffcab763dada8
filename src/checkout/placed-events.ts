import { stockEvents } from '../catalogue/products/product-events.ts';
import type { Taken } from '../catalogue/products/stock-queries.ts';
import type { NewEvent } from '../platform/events/log.ts';
import type { PlacementState } from './decision.ts';
import type { NewOrder } from '../orders/insert-orders.ts';

type PlacedOrder = Pick<NewOrder, 'orderId' | 'appId' | 'couponCodeKey' | 'content' | 'lowStockLevel'> & {
  orderNumber: string;
  buyerId: string;
};

type PlacedState = PlacementState & { taken: ReadonlyMap<string, Taken> };

/**
 * The events of placed orders: the orders, new customers, stocks that fall to a level, coupons that cannot be redeemed
 * again. Stock alone does not count as a change of a product, or every order would also be a change of each of its
 * products.
 */
export function placedEvents(
  orders: readonly PlacedOrder[],
  newCustomerIds: ReadonlySet<string>,
  state: PlacedState,
): NewEvent[] {
  const placed = orders.flatMap(({ orderId, appId, orderNumber, buyerId }, index): NewEvent[] => {
    const isFirst = orders.findIndex((other) => other.buyerId === buyerId) === index;
    return [
      ...(newCustomerIds.has(buyerId) && isFirst
        ? [{ type: 'CUSTOMER_CREATE' as const, resourceId: buyerId, appId }]
        : []),
      { type: 'ORDER_CREATE', resourceId: orderId, appId, data: { orderNumber } },
    ];
  });
  return [...placed, ...stockLevelEvents(orders, state), ...usedUpCoupons(orders, state)];
}

function stockLevelEvents(
  orders: readonly PlacedOrder[],
  { stock, minStocks, taken }: PlacedState,
): NewEvent[] {
  // They all belong to one shop.
  const shopLevel = orders[0]?.lowStockLevel ?? null;
  return [...taken].flatMap(([productId, { fromStock }]) => {
    const before = stock.get(productId)!;
    // A level is compared with, and shown as, a number with up to six decimals.
    const after = (Math.round(Number(before) * 1e6) - Number(fromStock)) / 1e6;
    const events = stockEvents(Number(before), after, minStocks.get(productId) ?? shopLevel);
    return events.map((event) => ({ ...event, resourceId: productId, appId: null }));
  });
}

/** One event for each campaign: all of it is used up, or some of its codes. */
function usedUpCoupons(orders: readonly PlacedOrder[], { coupons, campaigns }: PlacementState): NewEvent[] {
  const usesOf = new Map<string, number>();
  for (const { couponCodeKey } of orders) {
    if (couponCodeKey !== null) usesOf.set(couponCodeKey, (usesOf.get(couponCodeKey) ?? 0) + 1);
  }
  return campaigns.flatMap(({ campaignId, used, usageLimit, campaignUsageLimit }): NewEvent[] => {
    const redeemed = coupons.filter(
      (coupon) => coupon.campaignId === campaignId && usesOf.has(coupon.codeKey),
    );
    const uses = redeemed.reduce((sum, { codeKey }) => sum + usesOf.get(codeKey)!, 0);
    const isCampaignUsedUp = campaignUsageLimit !== null && uses > 0 && used + uses >= campaignUsageLimit;
    const codes =
      usageLimit === null
        ? []
        : redeemed.filter((coupon) => coupon.used + usesOf.get(coupon.codeKey)! >= usageLimit);
    if (!isCampaignUsedUp && codes.length === 0) return [];
    const data = { campaign: isCampaignUsedUp, coupons: codes.map(({ codeKey }) => codeKey) };
    return [{ type: 'COUPON_USED_UP', resourceId: campaignId.toUpperCase(), appId: null, data }];
  });
}
