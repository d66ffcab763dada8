import { divideRounded, parseDecimal } from '../kernel/money.ts';
import { inCurrency } from '../catalogue/products/prices.ts';
import type { ShippingMethod } from '../shops/settings/settings.ts';
import type { UnitKey } from '../kernel/units.ts';
import type { CartInput, LineInput, ShopRules } from './input.ts';
import { taxClassFor } from './tax.ts';

/** The ways to deliver the goods of a cart. */
export interface Delivery {
  /** In the order of the settings; all of them in an empty cart. */
  possible: readonly ShippingMethod[];
  /** The chosen one if possible, else the first; null: nothing is shipped, or nothing fits. */
  method: ShippingMethod | null;
  /** Whether the method is the chosen one. */
  isChosen: boolean;
  /** There are goods to ship. */
  isNeeded: boolean;
}

export function deliveryOf({ lines, shipping }: CartInput, shop: ShopRules): Delivery {
  const shipped = shippedOf(lines, shop);
  const isNeeded = shipped.length > 0;
  // An empty cart rules nothing out, goods without a shipping method rule out everything.
  const possible =
    lines.length > 0 && !isNeeded
      ? []
      : shop.shippingMethods.filter(({ shippingMethodId }) =>
          shipped.every(({ product }) => isAllowed(product.shippingMethodIds, shippingMethodId, shop)),
        );
  const chosen = possible.find(({ shippingMethodId }) => shippingMethodId === shipping.methodId);
  return {
    possible,
    method: isNeeded ? (chosen ?? possible[0] ?? null) : null,
    isChosen: isNeeded && chosen !== undefined,
    isNeeded,
  };
}

function shippedOf(lines: readonly LineInput[], shop: ShopRules): LineInput[] {
  return lines.filter(({ product }) => !taxClassFor(product.taxClassId, shop).digital);
}

/** Methods that the shop no longer has do not restrict. */
function isAllowed(restriction: readonly string[] | undefined, methodId: string, shop: ShopRules): boolean {
  if (!restriction || restriction.includes(methodId)) return true;
  return !restriction.some((id) =>
    shop.shippingMethods.some(({ shippingMethodId }) => shippingMethodId === id),
  );
}

/** Units of weight in nanograms: all of them are whole numbers of it. */
const NANOGRAMS: Partial<Record<UnitKey, bigint>> = {
  milligram: 1_000_000n,
  gram: 1_000_000_000n,
  kilogram: 1_000_000_000_000n,
  tone: 1_000_000_000_000_000n,
  ounce: 28_349_523_125n,
  pound: 453_592_370_000n,
};

/** An exact weight is counted in parts of a nanogram, because amounts and quantities have decimals. */
const PARTS = 10n ** 20n;
const KILOGRAM = NANOGRAMS.kilogram! * PARTS;

export function weightOf(lines: readonly LineInput[]): bigint {
  return lines.reduce((sum, { quantity, product: { deliveryWeight } }) => {
    if (!deliveryWeight) return sum;
    const amount = parseDecimal(deliveryWeight.amount)!;
    const times = parseDecimal(quantity)!;
    const parts = PARTS / 10n ** BigInt(amount.scale + times.scale);
    return sum + amount.units * times.units * NANOGRAMS[deliveryWeight.unit]! * parts;
  }, 0n);
}

/**
 * The cost of a delivery, in minor units of the cart's currency and the terms of the shop. `value` is the value of the
 * goods: tiers and "free from" depend on it.
 */
export function deliveryPrice(
  method: ShippingMethod,
  { currency, lines }: Pick<CartInput, 'currency' | 'lines'>,
  value: number,
  shop: ShopRules,
): number {
  const converted = (minor: number) => inCurrency(minor, currency, shop);
  const isFree = method.freeFrom !== null && value >= converted(method.freeFrom);
  if (isFree || method.kind === 'pickup') return 0;
  switch (method.kind) {
    case 'flat':
      return converted(method.amount);
    case 'weight': {
      const perWeight = BigInt(method.amountPerKg) * weightOf(shippedOf(lines, shop));
      return converted(Number(divideRounded(BigInt(method.amount) * KILOGRAM + perWeight, KILOGRAM)));
    }
    case 'order_value': {
      const tier = method.tiers.findLast(({ from }) => value >= converted(from));
      return converted(tier?.amount ?? 0);
    }
  }
}
