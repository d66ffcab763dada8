import type { PricedCart } from '../carts/cart.ts';
import { zoneOfMethod } from '../pricing/delivery.ts';
import { expectedDelivery, type DaySpan } from '../pricing/delivery-span.ts';
import { quantityOfProduct } from '../pricing/quantity.ts';
import type { ShippingMethod } from '../shops/settings/settings.ts';

/** When a cart arrives with this method, if it is ordered now; undefined: unknown. What is waited for decides. */
export function cartDelivery(
  { priced: { content, products, totals, waits }, settings }: PricedCart,
  method: ShippingMethod,
  now: Date,
): DaySpan | undefined {
  const delivered = products.map(({ facts, stock, productId }, index) => {
    const wait = waits.get(content.lines[index]!.lineItemId);
    const isEnough = stock === null || stock >= quantityOfProduct(content.lines, productId);
    return {
      facts,
      isInStock: facts.backorder ? wait?.expectedOn !== undefined || !wait : isEnough,
      availableFrom: wait?.expectedOn,
    };
  });
  return expectedDelivery(delivered, method, zoneOfMethod(totals.delivery, method), settings, now);
}
