import { divideRounded, parseDecimal } from '../kernel/money.ts';
import { unitsText, fromDecimal, promisableOf, splitQuantity } from '../catalogue/products/backorders.ts';
import type { BackorderTerms } from '../catalogue/products/facts.ts';
import type { NewOrder } from '../orders/insert-orders.ts';

/** The data that orders depend on, while their rows are locked. */
export interface PlacementState {
  /** By the id of the cart. */
  cartVersions: ReadonlyMap<string, number>;
  /** As decimal texts, by the id of the product. A product without counted stock is missing. */
  stock: ReadonlyMap<string, string>;
  /** What more than their stock is promised of products that are sold beyond it, by the id of the product. */
  backorders: ReadonlyMap<string, LockedBackorder>;
  /** The notification levels of merchants, by the id of the product; one without a level is missing. */
  minStocks: ReadonlyMap<string, number>;
  coupons: readonly { codeKey: string; campaignId: string; used: number }[];
  /** A limit of null: any number of uses. */
  campaigns: readonly {
    campaignId: string;
    used: number;
    usageLimit: number | null;
    campaignUsageLimit: number | null;
  }[];
  /** By the id of the promotion, and of the customers of these orders; one that was never used is missing. */
  promotionUses: readonly { promotionId: string; used: number }[];
  customerUses: readonly { promotionId: string; customerId: string; used: number }[];
  /** What can be paid with the gift cards of the orders, in minor units. */
  giftCards: ReadonlyMap<string, number>;
  settingsVersion: number;
  /** For the products of the orders; without their stock, which is checked separately. */
  productVersions: ReadonlySet<string>;
}

/** How a locked product is sold beyond its stock. */
export type LockedBackorder = { backorder: BackorderTerms; promised: string };

/** The inputs of an order, if they may be older than the stored cart. */
export interface ExpectedVersions {
  settingsVersion: number;
  productVersions: readonly string[];
}

export interface Verdict {
  isPlaced: boolean;
  /** false: the cart, or another input of the order, has changed in the meantime. */
  isCurrent: boolean;
  /** Products with insufficient stock. */
  shortIds: string[];
  /** A gift card no longer has its part. */
  isCardShort: boolean;
  /** What of each product is promised beyond its stock, in millionths; a product without promises is missing. */
  promised: ReadonlyMap<string, bigint>;
}

interface WithLines {
  content: { lines: readonly { productId: string; quantity: string }[] };
}

type DecidedOrder = Pick<
  NewOrder,
  'today' | 'cartId' | 'cartVersion' | 'beyondStock' | 'couponCodeKey' | 'limitedPromotions' | 'giftCards'
> &
  WithLines;

export interface OrderToDecide {
  order: DecidedOrder;
  /** The id of its customer, or the email address of a new one. */
  buyer?: string | undefined;
  expected?: ExpectedVersions | undefined;
}

/**
 * Decides which of these orders are placed, one after the other: stock, coupons and gift cards taken by one are not available
 * to the next, and a refused order takes nothing.
 */
export function decideOrders(orders: readonly OrderToDecide[], state: PlacementState): Verdict[] {
  const cartVersions = new Map(state.cartVersions);
  const stock = new Map(
    [...state.stock].map(([productId, quantity]) => [productId, exactMillionths(quantity)]),
  );
  const campaigns = new Map(state.campaigns.map((campaign) => [campaign.campaignId, { ...campaign }]));
  const promised = new Map(
    [...state.backorders].map(([productId, backorder]) => [productId, fromDecimal(backorder.promised)]),
  );
  const coupons = new Map(state.coupons.map((coupon) => [coupon.codeKey, { ...coupon }]));
  const giftCards = new Map(state.giftCards);

  const uses = new Map(state.promotionUses.map(({ promotionId, used }) => [promotionId, used]));
  for (const { promotionId, customerId, used } of state.customerUses)
    uses.set(`${promotionId} ${customerId}`, used);

  return orders.map(({ order, buyer, expected }) => {
    if (cartVersions.get(order.cartId) !== order.cartVersion || !isAsExpected(expected, state)) {
      return { isPlaced: false, isCurrent: false, shortIds: [], isCardShort: false, promised: new Map() };
    }
    const counted = [...millionthsOrdered([order])].filter(([productId]) => stock.has(productId));
    const splits = new Map(
      counted.flatMap(([productId, quantity]) => {
        const locked = state.backorders.get(productId);
        if (!locked) return [];
        const { backorder } = locked;
        const left = promisableOf({ backorder, promised: unitsText(promised.get(productId)!) }, order.today)!;
        return [[productId, splitQuantity(quantity, stock.get(productId)!, left)] as const];
      }),
    );
    const shortIds = counted.flatMap(([productId, quantity]) => {
      // What a product says of itself comes before what the shop says of all.
      const isShort = splits.has(productId)
        ? splits.get(productId) === undefined
        : !order.beyondStock && stock.get(productId)! < quantity;
      return isShort ? [productId] : [];
    });
    const coupon = order.couponCodeKey === null ? undefined : coupons.get(order.couponCodeKey);
    const campaign = coupon && campaigns.get(coupon.campaignId);
    const isCouponLeft =
      order.couponCodeKey === null ||
      (coupon !== undefined &&
        campaign !== undefined &&
        isLeft(coupon.used, campaign.usageLimit) &&
        isLeft(campaign.used, campaign.campaignUsageLimit));
    const { limitedPromotions = [] } = order;
    const usesOf = (promotionId: string) => [promotionId, `${promotionId} ${buyer}`];
    const arePromotionsLeft = limitedPromotions.every(
      ({ promotionId, usageLimit, usageLimitPerCustomer }) => {
        const [inAll, ofBuyer] = usesOf(promotionId).map((key) => uses.get(key) ?? 0);
        return isLeft(inAll!, usageLimit) && isLeft(ofBuyer!, usageLimitPerCustomer);
      },
    );
    const isCardShort = order.giftCards.some(
      ({ giftCardId, amount }) => (giftCards.get(giftCardId) ?? 0) < amount,
    );
    const isPlaced = shortIds.length === 0 && isCouponLeft && arePromotionsLeft && !isCardShort;
    if (isPlaced) {
      // A cart becomes one order.
      cartVersions.delete(order.cartId);
      for (const [productId, quantity] of counted) {
        const split = splits.get(productId);
        stock.set(productId, stock.get(productId)! - (split?.fromStock ?? quantity));
        if (split) promised.set(productId, promised.get(productId)! + split.promised);
      }
      if (coupon) coupon.used++;
      if (campaign) campaign.used++;
      for (const key of limitedPromotions.flatMap(({ promotionId }) => usesOf(promotionId)))
        uses.set(key, (uses.get(key) ?? 0) + 1);
      for (const { giftCardId, amount } of order.giftCards) {
        giftCards.set(giftCardId, giftCards.get(giftCardId)! - amount);
      }
    }
    const waiting = [...splits].flatMap(([productId, split]) =>
      split && split.promised > 0n ? [[productId, split.promised] as const] : [],
    );
    return { isPlaced, isCurrent: true, shortIds, isCardShort, promised: new Map(waiting) };
  });
}

function isAsExpected(
  expected: ExpectedVersions | undefined,
  { settingsVersion, productVersions }: PlacementState,
): boolean {
  return (
    expected === undefined ||
    (expected.settingsVersion === settingsVersion &&
      expected.productVersions.every((version) => productVersions.has(version)))
  );
}

const isLeft = (used: number, limit: number | null) => limit === null || used < limit;

/** The quantity of each product in these orders, in millionths, by its id. */
export function millionthsOrdered(orders: readonly WithLines[]): Map<string, bigint> {
  const quantities = new Map<string, bigint>();
  for (const { productId, quantity } of orders.flatMap(({ content }) => content.lines)) {
    quantities.set(productId, (quantities.get(productId) ?? 0n) + exactMillionths(quantity));
  }
  return quantities;
}

const MILLION = 1_000_000n;

/** Quantities have up to six decimals; in millionths they are whole numbers for exact arithmetic. */
export function exactMillionths(quantity: string): bigint {
  const { units, scale } = parseDecimal(quantity)!;
  return divideRounded(units * MILLION, 10n ** BigInt(scale));
}
