import { inCurrency } from '../catalogue/products/prices.ts';
import type { Localised } from '../http/locale.ts';
import type { Promotion, Settings } from '../shops/settings/settings.ts';
import { PROMOTION_WEEKDAYS } from '../shops/settings/schema/promotions.ts';
import type { CartProduct } from './cart-product.ts';
import { localTime } from './delivery-span.ts';
import type {
  CartInput,
  CartSelection,
  CouponProblem,
  PromotionEffect,
  PromotionInput,
  PromotionUse,
} from './input.ts';
import type { KnownLine } from './app-terms.ts';
import { sum } from './shares.ts';
import { isDiscounted } from './redemption.ts';
import type { AppliedPromotion } from './totals.ts';

/** Which of a shop's promotions may apply to a cart, and what an order keeps of those that do. */

/** The discount of a promotion on an order, with the terms by which it is computed again when the order is changed. */
export interface ContentPromotion {
  promotionId: string;
  name: Localised;
  /** Negative, as all that is taken off. */
  amount: number;
  deliveryAmount: number;
  /** It has a limit, so its use by the order is counted. */
  isCounted?: true;
  terms: Omit<PromotionInput, 'promotionId' | 'counts' | 'rewards'> & {
    /** The ids of the products that it counts, and of those that are cheaper; null: all. */
    counts: string[] | null;
    rewards: string[] | null;
  };
}

type Asked = Pick<CartInput, 'promotions' | 'promotionProblems'>;

/** The promotions that run and are for this customer and destination, in the order in which they apply. */
export function promotionsFor(
  cart: Pick<
    CartSelection,
    'currency' | 'customerGroupId' | 'coupon' | 'couponLineItemId' | 'couponCodeKey' | 'promotionUses'
  >,
  lines: readonly KnownLine[],
  { country, settings, now }: { country: string | null; settings: Settings; now: Date },
): Asked {
  if (settings.promotions.length === 0) return {};
  const group = settings.customerGroups.find(
    ({ customerGroupId }) => customerGroupId === cart.customerGroupId,
  )?.name;
  const code = cart.couponLineItemId === null || cart.coupon ? null : cart.couponCodeKey;
  const { timeZone } = settings.deliveryTimes;
  const at = { country: country ?? settings.country, currency: cart.currency, group, now, timeZone };
  const typed = code ? findPromotionByCode(code, settings) : undefined;
  const problems = typed && codeProblems(typed, at, cart.promotionUses);
  const goods = namedGoods(lines, settings);
  const promotions = settings.promotions
    .filter((promotion) =>
      promotion === typed
        ? problems!.length === 0
        : promotion.code === null && codeProblems(promotion, at, cart.promotionUses).length === 0,
    )
    .toSorted((left, right) => right.priority - left.priority)
    .map((promotion) => inputOf(promotion, cart.currency, goods, settings))
    // What counts nothing can't apply, and a code says so.
    .filter(({ isCoupon, counts }) => isCoupon || counts.includes(true));
  return { promotions, ...(problems && { promotionProblems: problems }) };
}

/** undefined: no promotion has this code. */
export function findPromotionByCode(codeKey: string, { promotions }: Pick<Settings, 'promotions'>) {
  return promotions.find(({ code }) => code === codeKey);
}

interface Circumstances {
  country: string;
  currency: string;
  group: string | undefined;
  now: Date;
  timeZone: string;
}

/** Why a promotion does not run for this cart, whatever is in it. */
function codeProblems(
  promotion: Promotion,
  { country, currency, group, now, timeZone }: Circumstances,
  uses: readonly PromotionUse[] | null | undefined,
): CouponProblem[] {
  const { active, from, to, countries, currencies, customerGroups } = promotion;
  if (!active) return ['CouponIsInvalidated'];
  const isListed = (list: readonly string[], value: string | undefined) =>
    list.length === 0 || (value !== undefined && list.includes(value));
  const isInTime =
    (from === null || new Date(from) <= now) &&
    (to === null || new Date(to) > now) &&
    isInHours(promotion, { now, timeZone });
  const isMeant =
    isListed(countries, country) && isListed(currencies, currency) && isListed(customerGroups, group);
  return [
    ...(isUsedUp(promotion, uses) ? (['ValidCouponCountReached'] as const) : []),
    ...(isInTime && isMeant ? [] : (['CouponNotEffective'] as const)),
  ];
}

const DAY = 86_400_000;

/** One that was saved before there were hours lacks all of them. */
type PromotionHours = Partial<Pick<Promotion, 'weekdays' | 'fromHour' | 'toHour'>>;

export const hasHours = ({ weekdays = [], fromHour = null, toHour = null }: PromotionHours): boolean =>
  weekdays.length > 0 || fromHour !== null || toHour !== null;

/** Whether it is one of the hours of the week of a promotion. Hours over midnight belong to the day on which they begin. */
export function isInHours(
  promotion: PromotionHours,
  { now, timeZone }: { now: Date; timeZone: string },
): boolean {
  // Most promotions have no hours, and the local time takes a moment to find.
  if (!hasHours(promotion)) return true;
  const { weekdays = [], fromHour, toHour } = promotion;
  const { day, hour } = localTime(now, timeZone);
  const [start, end] = [fromHour ?? 0, toHour ?? 24];
  const isOn = (moment: number) =>
    weekdays.length === 0 || weekdays.includes(PROMOTION_WEEKDAYS[new Date(moment).getUTCDay()]!);
  if (start < end) return isOn(day) && hour >= start && hour < end;
  return (isOn(day) && hour >= start) || (isOn(day - DAY) && hour < end);
}

export const hasLimit = ({ usageLimit, usageLimitPerCustomer }: Promotion): boolean =>
  usageLimit !== null || usageLimitPerCustomer !== null;

function isUsedUp(promotion: Promotion, uses: readonly PromotionUse[] | null | undefined): boolean {
  const { promotionId, usageLimit, usageLimitPerCustomer } = promotion;
  const use = uses?.find((one) => one.promotionId === promotionId);
  if (!use) return false;
  return use.used >= (usageLimit ?? Infinity) || use.usedByCustomer >= (usageLimitPerCustomer ?? Infinity);
}

function inputOf(
  promotion: Promotion,
  currency: string,
  goods: NamedGoods,
  settings: Settings,
): PromotionInput {
  const { promotionId, code, combines, on, minimumAmount, minimumQuantity } = promotion;
  const isForDelivery = on === 'delivery' && promotion.effect !== 'buyGet';
  const discounted = (isIn: readonly boolean[]) => isIn.map((is, index) => is && goods.isDiscounted[index]!);
  const counts = discounted(countedLines(promotion, goods));
  return {
    promotionId,
    isCoupon: code !== null,
    combines,
    counts,
    rewards: isForDelivery ? counts.map(() => false) : discounted(rewardsOf(promotion, counts, goods)),
    isForDelivery,
    minimumAmount: inCurrency(minimumAmount ?? 0, currency, settings),
    minimumQuantity: minimumQuantity ?? 0,
    effect: effectOf(promotion, (minor) => inCurrency(minor, currency, settings)),
  };
}

/** The checks of the settings have made sure that the values are there. */
function effectOf(promotion: Promotion, converted: (minor: number) => number): PromotionEffect {
  const { effect, percent, amount, buy, get, timesPerOrder } = promotion;
  switch (effect) {
    case 'percent':
      return { kind: effect, basisPoints: percent! };
    case 'amount':
      return { kind: effect, amount: converted(amount!) };
    case 'price':
      return { kind: effect, price: converted(amount!) };
    case 'buyGet':
      return { kind: effect, buy: buy!, get: get!, basisPoints: percent ?? 10_000, maxTimes: timesPerOrder };
  }
}

function rewardsOf(promotion: Promotion, counts: readonly boolean[], goods: NamedGoods): readonly boolean[] {
  const { effect, on, rewardProducts, rewardCategories } = promotion;
  if (effect !== 'buyGet') return on === 'cart' ? counts.map(() => true) : counts;
  if (rewardProducts.length === 0 && rewardCategories.length === 0) return counts;
  return linesNamed({ products: rewardProducts, categories: rewardCategories, manufacturers: [] }, goods);
}

type Names = Pick<Promotion, 'products' | 'categories' | 'manufacturers'>;

/** The lines of a cart by what promotions call their products: a shop may have many promotions with long lists. */
type NamedGoods = { lineCount: number; isDiscounted: readonly boolean[] } & Record<
  keyof Names,
  ReadonlyMap<string, readonly number[]>
>;

/** A variation is named by its own number and by that of its product, a category by those above it too. */
function namedGoods(lines: readonly KnownLine[], { categoryParents }: Settings): NamedGoods {
  const indexBy = (namesOf: (product: CartProduct) => (string | undefined)[]) => {
    const found = new Map<string, number[]>();
    for (const [index, { product }] of lines.entries()) {
      for (const name of namesOf(product)) {
        if (name !== undefined) found.set(name, [...(found.get(name) ?? []), index]);
      }
    }
    return found;
  };
  return {
    lineCount: lines.length,
    isDiscounted: lines.map(({ product }) => isDiscounted(product)),
    products: indexBy(({ productNumber, master }) => [productNumber, master?.productNumber]),
    categories: indexBy(({ categoryIds }) => withParents(categoryIds, categoryParents)),
    manufacturers: indexBy(({ facts }) => [facts.manufacturer]),
  };
}

/** Each once, because categories share what is above them. */
function withParents(categoryIds: readonly string[], parents: Settings['categoryParents']): string[] {
  const found = new Set<string>();
  for (const categoryId of categoryIds) {
    let above: string | undefined = categoryId;
    while (above !== undefined && !found.has(above)) {
      found.add(above);
      above = parents[above];
    }
  }
  return [...found];
}

function countedLines(names: Names, goods: NamedGoods): boolean[] {
  const isForAll = LISTS.every((list) => names[list].length === 0);
  return isForAll ? Array.from({ length: goods.lineCount }, () => true) : linesNamed(names, goods);
}

const LISTS = ['products', 'categories', 'manufacturers'] as const;

function linesNamed(names: Names, goods: NamedGoods): boolean[] {
  const isNamed = Array.from({ length: goods.lineCount }, () => false);
  for (const list of LISTS) {
    for (const name of names[list]) for (const index of goods[list].get(name) ?? []) isNamed[index] = true;
  }
  return isNamed;
}

/** The data of its promotions that an order keeps. */
export function contentPromotions(
  applied: readonly AppliedPromotion[],
  inputs: readonly PromotionInput[],
  lines: readonly KnownLine[],
  { promotions }: Settings,
): ContentPromotion[] {
  const idsWhere = (isIn: readonly boolean[]) =>
    isIn.includes(false) ? lines.flatMap(({ line }, index) => (isIn[index] ? line.productId : [])) : null;
  return applied.map(({ promotionId, amount, deliveryAmount }) => {
    const input = inputs.find((one) => one.promotionId === promotionId)!;
    const { promotionId: _id, counts, rewards, ...terms } = input;
    const promotion = promotions.find((one) => one.promotionId === promotionId)!;
    return {
      promotionId,
      name: promotion.name,
      amount,
      deliveryAmount,
      ...(hasLimit(promotion) && { isCounted: true as const }),
      terms: { ...terms, counts: idsWhere(counts), rewards: idsWhere(rewards) },
    };
  });
}

/**
 * What the discount of a cart or an order consists of: promotions by their names, and without a name the rest. What the
 * code of a promotion takes off is its coupon.
 */
export function discountParts({
  basketDiscount,
  coupon,
  promotions = [],
}: {
  basketDiscount: number;
  coupon: object | null;
  promotions?: readonly ContentPromotion[];
}): { name: Localised | null; amount: number }[] {
  const named = promotions.filter(({ terms }) => !(coupon && terms.isCoupon));
  const rest = basketDiscount - sum(named.map(({ amount }) => amount));
  return [...named.map(({ name, amount }) => ({ name, amount })), { name: null, amount: rest }].filter(
    ({ amount }) => amount !== 0,
  );
}

/** The promotions of an order for its lines after a change; what they took off the delivery stays as agreed. */
export function agreedPromotions(
  promotions: readonly ContentPromotion[],
  lines: readonly { productId: string }[],
): PromotionInput[] {
  const isIn = (ids: string[] | null) =>
    lines.map(({ productId }) => ids === null || ids.includes(productId));
  return promotions
    .filter(({ terms }) => !terms.isForDelivery)
    .map(({ promotionId, terms: { counts, rewards, ...terms } }) => ({
      ...terms,
      promotionId,
      counts: isIn(counts),
      rewards: isIn(rewards),
    }));
}

/** The same promotions with what they take off now. */
export function revisedPromotions(
  promotions: readonly ContentPromotion[],
  applied: readonly AppliedPromotion[],
): ContentPromotion[] {
  return promotions.map((promotion) => {
    if (promotion.terms.isForDelivery) return promotion;
    const now = applied.find(({ promotionId }) => promotionId === promotion.promotionId);
    return { ...promotion, amount: now?.amount ?? 0 };
  });
}
