import { anyText } from '../../catalogue/products/render.ts';
import type { ShopVisit } from '../visit.ts';

/** The shipping and payment methods of the shop. */
export function methodChoices({ settings, locale }: ShopVisit) {
  const text = (name: Parameters<typeof anyText>[0]) => anyText(name, locale, settings.defaultLocale) ?? '';
  return {
    shipping: settings.shippingMethods.map(({ shippingMethodId, name }) => ({
      value: shippingMethodId,
      text: text(name),
    })),
    payment: settings.paymentMethods.map(({ paymentMethodId, name }) => ({
      value: paymentMethodId,
      text: text(name),
    })),
  };
}
