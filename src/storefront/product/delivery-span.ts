import type { ProductFacts } from '../../catalogue/products/facts.ts';
import type { VisitorCart } from '../../checkout/visitor-cart.ts';
import { languageTag } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { deliverySpan, parseDays, type DaySpan, type WorkingDays } from '../../pricing/delivery-span.ts';
import { quantityOfProduct } from '../../pricing/quantity.ts';
import type { Settings, ShippingMethod } from '../../shops/settings/settings.ts';
import type { Visit } from '../visit.ts';

/** The product data that determines the day of delivery. */
export interface DeliveredProduct {
  facts: Pick<ProductFacts, 'deliveryPeriod' | 'shippingMethodIds'>;
  /** The ordered quantity is in stock. */
  isInStock: boolean;
}

/**
 * The days on which these products arrive with a shipping method; undefined where they are unknown: the shop has set
 * no days for the method, a product is out of stock, or its delivery period is not a number of days.
 */
function deliveryDays(
  products: readonly DeliveredProduct[],
  method: ShippingMethod,
  { deliveryTimes }: Settings,
  now: Date,
): DaySpan | undefined {
  const transit = deliveryTimes.methods[method.key];
  if (!transit || products.some(({ isInStock }) => !isInStock)) return undefined;
  const periods = products.map(({ facts }) =>
    facts.deliveryPeriod ? parseDays(facts.deliveryPeriod) : READY,
  );
  if (!periods.every((period) => period !== undefined)) return undefined;
  // Everything is sent in one parcel, when the last product is ready.
  const preparation = {
    from: Math.max(0, ...periods.map(({ from }) => from)),
    to: Math.max(0, ...periods.map(({ to }) => to)),
  };
  return deliverySpan(now, deliveryTimes, preparation, transit);
}

const READY: WorkingDays = { from: 0, to: 0 };

/** When a product arrives with the first method that delivers it and has days; undefined: unknown. */
export function productDelivery(
  { settings, locale }: Visit,
  product: DeliveredProduct,
  now: Date,
): string | undefined {
  const { shippingMethodIds } = product.facts;
  for (const method of settings.shippingMethods) {
    const delivers = !shippingMethodIds || shippingMethodIds.includes(method.shippingMethodId);
    const days = method.kind !== 'pickup' && delivers && deliveryDays([product], method, settings, now);
    if (days) return deliveryText(days, locale);
  }
  return undefined;
}

/** When a cart arrives with one of the methods; undefined: unknown. */
export function cartDelivery(
  { priced: { content, products }, settings }: VisitorCart,
  method: ShippingMethod,
  locale: string,
  now: Date,
): string | undefined {
  if (method.kind === 'pickup') return undefined;
  const delivered = products.map(({ facts, stock, productId }) => ({
    facts,
    isInStock: stock === null || stock >= quantityOfProduct(content.lines, productId),
  }));
  const days = deliveryDays(delivered, method, settings, now);
  return days && deliveryText(days, locale);
}

/** `Expected delivery: Tue 17 November – Thu 19 November` */
function deliveryText({ from, to }: DaySpan, locale: string): string {
  const format = new Intl.DateTimeFormat(languageTag(locale), {
    weekday: 'short',
    day: 'numeric',
    month: 'long',
    timeZone: 'UTC',
  });
  const messages = messagesIn(locale).deliverySpan;
  return messages.arrives({ days: format.formatRange(new Date(from), new Date(to)) });
}
