import type { ProductFacts } from '../../catalogue/products/facts.ts';
import type { PricedCart } from '../../carts/cart.ts';
import { cartDelivery } from '../../checkout/cart-delivery.ts';
import {
  type DeliveredProduct,
  type DeliveryDays,
  deliveryDays,
  deliverySpan,
  deliveryText,
} from '../../pricing/delivery-span.ts';
import { zoneFor } from '../../pricing/delivery.ts';
import type { Settings, ShippingMethod } from '../../shops/settings/settings.ts';
import type { Visit } from '../visit.ts';

/** When a product arrives, and the working days from which that follows. */
export interface ProductDelivery extends DeliveryDays {
  text: string;
}

interface OfferedProduct extends DeliveredProduct {
  facts: Pick<ProductFacts, 'deliveryPeriod' | 'shippingMethodIds'>;
  /** Nothing is shipped. */
  isDigital: boolean;
}

/** When a product arrives with the first method that delivers it and has a transit time; undefined: unknown. */
export function productDelivery(
  { settings, locale }: Pick<Visit, 'settings' | 'locale'>,
  product: OfferedProduct,
  now: Date,
): ProductDelivery | undefined {
  const days = productDeliveryDays(product, settings);
  if (!days) return undefined;
  const { handling, transit } = days;
  const span = deliverySpan(now, settings.deliveryTimes, handling, transit, product.availableFrom);
  return { text: deliveryText(span, locale), ...days };
}

/** The working days until it is dispatched, and on the way; undefined: unknown. */
export function productDeliveryDays(product: OfferedProduct, settings: Settings): DeliveryDays | undefined {
  const { shippingMethodIds } = product.facts;
  if (product.isDigital) return undefined;
  for (const method of settings.shippingMethods) {
    if (shippingMethodIds && !shippingMethodIds.includes(method.shippingMethodId)) continue;
    // Visitors without an address are told the days in the shop's own country.
    const zone = zoneFor(method, { country: null, postcode: null }, 0n, settings.country);
    const days = zone !== undefined && deliveryDays([product], method, zone, settings);
    if (days) return days;
  }
  return undefined;
}

/** When a cart arrives with one of the methods; undefined: unknown. */
export function cartDeliveryText(
  cart: PricedCart,
  method: ShippingMethod | null,
  { locale, db }: Pick<Visit, 'locale' | 'db'>,
): string | undefined {
  const days = method && cartDelivery(cart, method, db.now);
  return days ? deliveryText(days, locale) : undefined;
}
