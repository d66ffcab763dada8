import { divideRounded, parseDecimal, percentOf, scaled } from '../kernel/money.ts';
import type { PromotionEffect, PromotionInput } from './input.ts';
import { spreadOver, sum, type Taxed } from './shares.ts';
import { priceOfQuantity } from './quantity.ts';

/**
 * Promotions of one cart. All amounts are in the cart's currency and the shop's tax model, where everything with a limit
 * is decided.
 *
 * They apply one after the other, each to what those before it have left. What a promotion takes off is borne by all
 * goods that it counts, in proportion to what they cost: a third of "3 for 2" is returned for two thirds of its price,
 * whichever of the three it is, and the order of the lines does not matter.
 */

/** What takes something off some lines. The weights say how much of it each line bears. */
interface Reduction {
  amount: number;
  /** In the shop's tax model, and as the cart shows them. */
  weights: { shop: readonly number[]; shown: readonly number[] };
}

/** The rest of the lines after the discounts so far, in the shop's tax model and as the cart shows it. */
interface Remainder {
  shop: readonly Taxed[];
  shown: readonly Taxed[];
}

/** The goods of a cart and its delivery, before any discount. */
export interface Undiscounted extends Remainder {
  quantities: readonly string[];
  /** By line: false for gift cards, which no discount is taken off. */
  isDiscounted: readonly boolean[];
  delivery: number;
}

/** A promotion, or the shop's basket discount, with what it takes off. */
export interface AppliedReduction {
  /** null: the basket discount. */
  promotion: PromotionInput | null;
  /** In the shop's tax model. */
  amount: number;
  deliveryAmount: number;
  /** As the cart shows them, positive. */
  shares: readonly number[];
}

/** The discounts of the promotions of a cart, in the order in which they apply. */
export interface AppliedPromotions {
  applied: readonly AppliedReduction[];
  left: Remainder;
  /** The rest of the price of the delivery. */
  delivery: number;
}

/** The basket discount on goods of this value. */
type BasketDiscountOf = (left: number) => number;

/**
 * Applies the promotions, in their order, and then the basket discount and the promotion whose code was typed. Those
 * that combine apply together; one that does not is alone, and the cart has whatever takes off most.
 */
export function applyPromotions(
  promotions: readonly PromotionInput[],
  basketDiscountOf: BasketDiscountOf,
  goods: Undiscounted,
): AppliedPromotions {
  const together = promotions.filter(({ combines }) => combines);
  const combined = applyInOrder(
    [...together.filter(({ isCoupon }) => !isCoupon), null, ...together.filter(({ isCoupon }) => isCoupon)],
    basketDiscountOf,
    goods,
  );
  let most = sum(combined.applied.map(({ amount, deliveryAmount }) => amount + deliveryAmount));
  let alone: PromotionInput | undefined;
  for (const promotion of promotions) {
    if (promotion.combines || !isReached(promotion, goods)) continue;
    const taken = promotion.isForDelivery
      ? offDelivery(promotion.effect, goods.delivery)
      : reductionOf(promotion, goods, goods.quantities).amount;
    if (taken <= most) continue;
    most = taken;
    alone = promotion;
  }
  return alone ? applyInOrder([alone], basketDiscountOf, goods) : combined;
}

function applyInOrder(
  plan: readonly (PromotionInput | null)[],
  basketDiscountOf: BasketDiscountOf,
  goods: Undiscounted,
): AppliedPromotions {
  const applied: AppliedReduction[] = [];
  let left: Remainder = { shop: goods.shop, shown: goods.shown };
  let { delivery } = goods;
  // The lines have the same taxes after each promotion.
  const spreads = { shop: spreadOver(goods.shop), shown: spreadOver(goods.shown) };
  for (const promotion of plan) {
    if (promotion && !isReached(promotion, goods)) continue;
    if (promotion?.isForDelivery) {
      const deliveryAmount = offDelivery(promotion.effect, delivery);
      if (deliveryAmount === 0) continue;
      delivery -= deliveryAmount;
      applied.push({ promotion, amount: 0, deliveryAmount, shares: left.shown.map(() => 0) });
      continue;
    }
    const reduction = promotion
      ? reductionOf(promotion, left, goods.quantities)
      : weighted(
          basketDiscountOf(valueOf(goods.isDiscounted, left.shop)),
          left,
          (index) => goods.isDiscounted[index]!,
        );
    if (reduction.amount === 0) continue;
    const shares = sharesOf(reduction, spreads);
    applied.push({ promotion, amount: reduction.amount, deliveryAmount: 0, shares: shares.shown });
    left = { shop: less(left.shop, shares.shop), shown: less(left.shown, shares.shown) };
  }
  return { applied, left, delivery };
}

/** Whether the counted goods are worth enough, and enough of them are there. */
export function isReached(promotion: PromotionInput, goods: Undiscounted): boolean {
  const { counts, minimumAmount, minimumQuantity } = promotion;
  if (!counts.includes(true)) return false;
  return (
    valueOf(counts, goods.shop) >= minimumAmount && quantityOf(counts, goods.quantities) >= minimumQuantity
  );
}

/** What a cart lacks for a promotion: worth of the goods that count, or units. */
export interface MissingForPromotion {
  promotionId: string;
  amount: number;
  quantity: number;
}

/** The rest that is missing for promotions that count something of the cart and do not apply yet. */
export function missingFor(
  promotions: readonly PromotionInput[],
  { applied }: AppliedPromotions,
  goods: Undiscounted,
): MissingForPromotion[] {
  const has = ({ promotionId }: PromotionInput) =>
    applied.some(({ promotion }) => promotion?.promotionId === promotionId);
  return promotions.flatMap((promotion) => {
    if (promotion.isCoupon || has(promotion) || !promotion.counts.includes(true)) return [];
    const { promotionId, counts, minimumAmount, minimumQuantity } = promotion;
    const amount = Math.max(0, minimumAmount - valueOf(counts, goods.shop));
    const units = minimumQuantity - quantityOf(counts, goods.quantities);
    const quantity = Math.max(0, units, missingUnits(promotion, goods));
    return amount > 0 || quantity > 0 ? [{ promotionId, amount, quantity }] : [];
  });
}

/** What could be bought and got is needed once for each. */
function missingUnits({ effect, counts, rewards }: PromotionInput, { quantities }: Undiscounted): number {
  if (effect.kind !== 'buyGet') return 0;
  const { buy, get } = effect;
  const [bought, got] = [quantityOf(counts, quantities), quantityOf(rewards, quantities)];
  const all = quantityOf(
    counts.map((isCounted, index) => isCounted || rewards[index]!),
    quantities,
  );
  return Math.max(buy - bought, 0, get - got, buy + get - all);
}

function valueOf(isFor: readonly boolean[], lines: readonly { amount: number }[]): number {
  return sum(lines.map(({ amount }, index) => (isFor[index] ? amount : 0)));
}

/** Half a metre is no piece: whole units count. */
function quantityOf(isFor: readonly boolean[], quantities: readonly string[]): number {
  return sum(quantities.map((quantity, index) => (isFor[index] ? unitsOf(quantity) : 0)));
}

const unitsOf = (quantity: string) => Math.floor(Number(quantity));

function offDelivery(effect: PromotionEffect, price: number): number {
  switch (effect.kind) {
    case 'percent':
      return percentOf(price, effect.basisPoints);
    case 'amount':
      return Math.min(effect.amount, price);
    case 'price':
      return Math.max(0, price - effect.price);
    case 'buyGet':
      return 0;
  }
}

/** The discount of a promotion on the goods. */
function reductionOf(
  { effect, counts, rewards }: PromotionInput,
  left: Remainder,
  quantities: readonly string[],
): Reduction {
  const isRewarded = (index: number) => rewards[index]!;
  const base = valueOf(rewards, left.shop);
  switch (effect.kind) {
    case 'percent':
      return weighted(percentOf(base, effect.basisPoints), left, isRewarded);
    case 'amount':
      return weighted(Math.min(effect.amount, base), left, isRewarded);
    case 'price': {
      const shop = left.shop.map(({ amount }, index) =>
        rewards[index] ? Math.max(0, amount - priceOfQuantity(effect.price, quantities[index]!, 1)) : 0,
      );
      const shown = shop.map((weight, index) =>
        inProportion(weight, left.shop[index]!.amount, left.shown[index]!.amount),
      );
      return { amount: sum(shop), weights: { shop, shown } };
    }
    case 'buyGet': {
      const taken = cheapestUnits(effect, { counts, rewards }, left.shop, quantities);
      return weighted(
        shareOfUnits(taken, effect.basisPoints, left.shop, quantities),
        left,
        (index) => counts[index]! || taken[index]! > 0,
      );
    }
  }
}

/** A share of what these units cost; one rounding. */
function shareOfUnits(
  taken: readonly number[],
  basisPoints: number,
  lines: readonly Taxed[],
  quantities: readonly string[],
): number {
  let [over, under] = [0n, 1n];
  for (const [index, count] of taken.entries()) {
    if (count === 0) continue;
    const quantity = parseDecimal(quantities[index]!)!;
    const value = BigInt(lines[index]!.amount) * BigInt(count) * 10n ** BigInt(quantity.scale);
    over = over * quantity.units + value * under;
    under *= quantity.units;
  }
  return Number(divideRounded(over * BigInt(basisPoints), under * 10_000n));
}

/** An amount that these lines bear in proportion to what is left of them. */
function weighted(amount: number, left: Remainder, isFor: (index: number) => boolean): Reduction {
  const weigh = (lines: readonly Taxed[]) => lines.map((line, index) => (isFor(index) ? line.amount : 0));
  return { amount, weights: { shop: weigh(left.shop), shown: weigh(left.shown) } };
}

type Spread = ReturnType<typeof spreadOver>;

/** The shares of the lines in a reduction. */
function sharesOf({ amount, weights }: Reduction, spreads: Record<keyof Remainder, Spread>) {
  const shop = shareOut(amount, weights.shop, spreads.shop);
  // Most carts show the prices of the shop.
  if (weights.shop.every((weight, index) => weight === weights.shown[index])) return { shop, shown: shop };
  const shown = inProportion(amount, sum(weights.shop), sum(weights.shown));
  return { shop, shown: shareOut(shown, weights.shown, spreads.shown) };
}

/** Many promotions are for one line, which bears all of it. */
function shareOut(amount: number, weights: readonly number[], spread: Spread): number[] {
  const bearers = weights.filter((weight) => weight > 0);
  if (bearers.length === 1) return weights.map((weight) => (weight > 0 ? amount : 0));
  return spread(amount, weights);
}

const less = (lines: readonly Taxed[], shares: readonly number[]): Taxed[] =>
  lines.map(({ taxRate, taxClassId = '', amount }, index) => ({
    taxRate,
    taxClassId,
    amount: amount - shares[index]!,
  }));

/** A part of a whole in the shop's model, as a part of the shown whole: one rounding. */
export function inProportion(part: number, shopWhole: number, shownWhole: number): number {
  return shopWhole === 0 ? 0 : scaled(part, shownWhole, shopWhole);
}

type BuyGet = Extract<PromotionEffect, { kind: 'buyGet' }>;

/**
 * How many units of each line are rewarded: as often as there are enough units to buy and to get, and of these the
 * cheapest. What could be bought or got is got only as far as enough is left to buy.
 */
function cheapestUnits(
  { buy, get, maxTimes }: BuyGet,
  { counts, rewards }: Pick<PromotionInput, 'counts' | 'rewards'>,
  lines: readonly Taxed[],
  quantities: readonly string[],
): number[] {
  const units = quantities.map(unitsOf);
  const unitsWhere = (isIn: (index: number) => boolean) =>
    sum(units.map((count, index) => (isIn(index) ? count : 0)));
  const bought = unitsWhere((index) => counts[index]!);
  const got = unitsWhere((index) => rewards[index]!);
  const all = unitsWhere((index) => counts[index]! || rewards[index]!);
  const times = Math.min(
    Math.floor(bought / buy),
    Math.floor(got / get),
    Math.floor(all / (buy + get)),
    maxTimes ?? Infinity,
  );
  const taken = units.map(() => 0);
  let wanted = times * get;
  let spare = bought - times * buy;
  const unitPrice = (index: number) => lines[index]!.amount / Number(quantities[index]);
  const byPrice = [...units.keys()]
    .filter((index) => rewards[index])
    .toSorted((left, right) => unitPrice(left) - unitPrice(right) || left - right);
  for (const index of byPrice) {
    const count = Math.min(units[index]!, wanted, counts[index] ? spare : wanted);
    taken[index] = count;
    wanted -= count;
    if (counts[index]) spare -= count;
  }
  return taken;
}
