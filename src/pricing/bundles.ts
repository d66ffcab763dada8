import { createHash } from 'node:crypto';
import type { BundlePart, WithdrawalExclusion } from '../catalogue/products/facts.ts';
import type { Exchange } from '../catalogue/products/prices.ts';
import { pricesOfParts } from '../catalogue/products/sum-of-parts.ts';
import { ORDER_UNIT } from '../catalogue/products/orderable.ts';
import type { CartProduct } from './cart-product.ts';
import type { ShopRules, StoredLine } from './input.ts';
import { spread, sum } from './shares.ts';
import { taxClassFor } from './tax.ts';

/**
 * A bundle is sold as one line, and made of parts: each part has its own stock, tax, weight and deposit, is sent and
 * comes back by itself. So the price of a bundle is allocated to its parts, and from then on they are lines of a cart
 * and an order like others. What promotions and coupons see, and what a customer reads, is the bundle.
 */

/** A part with the product that fills it: the part itself, or the variation of it that the customer has chosen. */
export interface ChosenPart {
  quantity: number;
  product: CartProduct;
}

/**
 * The parts of a bundle, as a customer has chosen them; undefined: it consists of something else by now, or one of the
 * products is gone.
 */
export function chosenParts(
  parts: readonly BundlePart[],
  chosenIds: readonly string[],
  products: ReadonlyMap<string, CartProduct>,
): ChosenPart[] | undefined {
  if (parts.length !== chosenIds.length) return undefined;
  const chosen = parts.flatMap(({ productId, quantity }, index): ChosenPart[] => {
    const product = products.get(chosenIds[index]!);
    return product && fills(product, productId) ? [{ quantity, product }] : [];
  });
  return chosen.length === parts.length ? chosen : undefined;
}

/** Whether a product can stand for this part: a master stands for its variations, and is not sold itself. */
export function fills({ kind, productId, masterId }: CartProduct, partId: string): boolean {
  return kind !== 'master' && (productId === partId || masterId === partId);
}

/**
 * The shares of a bundle's price, in proportion to what its parts cost by themselves: first by their tax classes, so that
 * what a class has does not depend on the order of the parts, then by the parts of each class. They sum to the price.
 */
export function sharesOfParts(
  price: number,
  parts: readonly ChosenPart[],
  currency: string,
  shop: Pick<ShopRules, 'taxClasses'> & Exchange,
): number[] {
  const prices = pricesOfParts(parts, currency, shop);
  // Parts without any price are shared by their number.
  const weights = prices && sum(prices) > 0 ? prices : parts.map(({ quantity }) => quantity);
  return spread(
    price,
    parts.map(({ product }, index) => ({
      taxRate: 0,
      taxClassId: taxClassFor(product.taxClassId, shop).taxClassId,
      amount: weights[index]!,
    })),
  );
}

/** The quantity of a part in so many bundles; at most six decimals. */
export function quantityOfPart(bundles: string | number, perBundle: number): string {
  return String(Number((Number(bundles) * perBundle).toFixed(6)));
}

/** The id of a part's line: the same each time, so that apps and documents can name it. */
export function partLineId(lineItemId: string, index: number): string {
  const bytes = createHash('sha256').update(`${lineItemId} ${index}`).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex').toUpperCase();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** The product of a part as its line has it: its price is for what one bundle holds, and it has no tiers. */
export function partProduct(
  { quantity, product }: ChosenPart,
  bundlesPerPrice: number,
  withdrawalExcluded: WithdrawalExclusion | undefined,
): CartProduct {
  const { bulkPrices: _tiers, groupPrices: _groups, ...rest } = product;
  const { bulkPrices: _factTiers, groupPrices: _factGroups, ...facts } = product.facts;
  const orderUnit = {
    ...(product.orderUnit ?? ORDER_UNIT),
    priceQuantity: Number(quantityOfPart(bundlesPerPrice, quantity)),
  };
  return {
    ...rest,
    orderUnit,
    facts: { ...facts, orderUnit, ...(withdrawalExcluded && { withdrawalExcluded }) },
  };
}

/** The lines that are sold as one: those of a bundle's parts, and any other line by itself. In the order of the lines. */
export function bundleUnits(lines: readonly { bundle?: { lineItemId: string } | undefined }[]): number[][] {
  const units: number[][] = [];
  const byBundle = new Map<string, number[]>();
  for (const [index, { bundle }] of lines.entries()) {
    const known = bundle && byBundle.get(bundle.lineItemId);
    if (known) known.push(index);
    else {
      const unit = [index];
      units.push(unit);
      if (bundle) byBundle.set(bundle.lineItemId, unit);
    }
  }
  return units;
}

/** The quantity of a product in the lines of a cart, by itself and in bundles. */
export function quantityInCart(
  lines: readonly StoredLine[],
  productId: string,
  products: readonly CartProduct[],
): number {
  let millionths = 0;
  for (const line of lines) {
    const parts = line.parts && products.find((one) => one.productId === line.productId)?.facts.parts;
    const perUnit = parts
      ? sum(parts.flatMap(({ quantity }, index) => (line.parts![index] === productId ? [quantity] : [])))
      : Number(line.productId === productId);
    millionths += Math.round(Number(line.quantity) * perUnit * 1_000_000);
  }
  return millionths / 1_000_000;
}
