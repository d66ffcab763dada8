import { withdrawalExclusion } from '../catalogue/products/custom-text.ts';
import { ORDER_UNIT } from '../catalogue/products/orderable.ts';
import type { Exchange } from '../catalogue/products/prices.ts';
import { sumOfParts } from '../catalogue/products/sum-of-parts.ts';
import { partLineId, partProduct, quantityOfPart, sharesOfParts, type ChosenPart } from './bundles.ts';
import type { CartProduct } from './cart-product.ts';
import type { CartSelection, ShopRules } from './input.ts';
import type { KnownLine } from './app-terms.ts';
import { ownPrice } from './totals.ts';

/** The lines of a bundle's parts, with their shares of its price; any other line as it is. */
export function partLines(
  sold: KnownLine,
  cart: Pick<CartSelection, 'currency' | 'customerGroupId'>,
  settings: ShopRules,
): KnownLine[] {
  const { line, parts, quantity, price, product } = sold;
  const { facts, customisation } = product;
  if (!parts) return [sold];
  // A price that was set by hand is for one bundle.
  const bundles = price === null ? (product.orderUnit ?? ORDER_UNIT).priceQuantity : 1;
  const whole = price ?? sold.appPrice ?? ownPrice(sold, cart, settings);
  const shares = sharesOfParts(whole, parts, cart.currency, settings);
  return parts.map((part, index): KnownLine => {
    const ofPart = quantityOfPart(quantity, part.quantity);
    // Goods that are made for the customer, or are no longer sealed, are so as a whole.
    const excluded = withdrawalExclusion(facts.withdrawalExcluded, customisation, line.customText);
    const filled = partProduct(part, bundles, excluded);
    return {
      line: {
        lineItemId: partLineId(line.lineItemId, index),
        productId: part.product.productId,
        quantity: ofPart,
      },
      quantity: ofPart,
      ...(price === null
        ? { price: null, appPrice: shares[index]! }
        : { price: shares[index]!, priceUnits: filled.orderUnit!.priceQuantity }),
      product: filled,
      bundle: { lineItemId: line.lineItemId, quantity, product },
    };
  });
}

/** The price of a bundle without one of its own depends on the variations that the customer has chosen. */
export function pricedBundle(
  product: CartProduct,
  parts: readonly ChosenPart[],
  settings: Exchange,
): CartProduct {
  const { partsDiscount } = product.facts;
  if (partsDiscount === undefined) return product;
  return { ...product, prices: sumOfParts(parts, partsDiscount, settings) };
}
