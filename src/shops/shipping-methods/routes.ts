import { Type, type Static } from 'typebox';
import { notFound } from '../../http/errors.ts';
import { readingLocale, textIn } from '../../http/locale.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Price, priceOf } from '../../http/price.ts';
import { Id, LocaleParameter, Nullable } from '../../http/schemas.ts';
import { shopSettings, type Settings, type ShippingMethod as StoredMethod } from '../settings/settings.ts';
import { lowestShippingPrice } from './shipping-price.ts';

const ShippingMethod = Type.Object(
  {
    shippingMethodId: Id,
    name: Type.String({ description: 'Name.', examples: ['Standard delivery'] }),
    description: Nullable(Type.String({ description: 'Text.', examples: ['Two to three days'] })),
    logo: Nullable(
      Type.String({ description: 'Address of a logo.', examples: ['https://shop.example/parcel.png'] }),
    ),
    price: Nullable({ ...Price, description: 'The least it costs; null for pickup.' }),
  },
  { title: 'shippingMethod' },
);

const shared = { tag: 'shipping-methods', labels: ['Base', 'Now'], access: 'products_read' } as const;
const query = Type.Object({ locale: LocaleParameter });

export const listShippingMethods = operation({
  ...shared,
  method: 'GET',
  path: '/shipping-methods',
  name: 'listShippingMethods',
  summary: 'List shipping methods',
  query,
  answer: Type.Array(ShippingMethod),
});

const getShippingMethod = operation({
  ...shared,
  method: 'GET',
  path: '/shipping-methods/:shippingMethodId',
  name: 'getShippingMethod',
  summary: 'Get shipping method',
  params: Type.Object({ shippingMethodId: Id }),
  query,
  answer: ShippingMethod,
});

export function shippingMethods(api: Operations): void {
  api.read(listShippingMethods, async ({ db, shopId, query }) => {
    const settings = await shopSettings(db, shopId);
    const locale = readingLocale(query.locale, settings);
    return settings.shippingMethods.map((method) => toShippingMethod(method, settings, locale));
  });

  api.read(getShippingMethod, async ({ db, shopId, params, query }) => {
    const settings = await shopSettings(db, shopId);
    const method = settings.shippingMethods.find((one) => one.shippingMethodId === params.shippingMethodId);
    if (!method) throw notFound();
    return toShippingMethod(method, settings, readingLocale(query.locale, settings));
  });
}

function toShippingMethod(
  method: StoredMethod,
  settings: Settings,
  locale: string,
): Static<typeof ShippingMethod> {
  const lowest = lowestShippingPrice(method);
  return {
    shippingMethodId: method.shippingMethodId,
    name: textIn(method.name, locale, settings.defaultLocale) ?? method.key,
    description: textIn(method.description, locale, settings.defaultLocale),
    logo: method.logoUrl,
    price: lowest === null ? null : priceOf(lowest, settings.defaultCurrency, settings.taxModel, locale),
  };
}
