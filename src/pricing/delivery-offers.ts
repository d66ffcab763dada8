import type { Settings, ShippingMethod, ShippingZone } from '../shops/settings/settings.ts';
import type { PricedProduct } from './cart-product.ts';
import { isMethodAllowed, priceInZone, zoneFor } from './delivery.ts';
import type { LineInput, ShopRules } from './input.ts';
import { taxClassFor } from './tax.ts';
import { weightOf } from './quantity.ts';

/** The price of delivering a product to a country, or to some postcodes of it, with the cheapest method. */
export interface DeliveryOffer {
  country: string;
  /** Empty: the whole country. */
  postcodes: readonly string[];
  method: ShippingMethod;
  zone: ShippingZone | null;
  /** Minor units of the currency, in the terms of the shop. */
  price: number;
}

/** An ordered product, and the cost of all of it. */
export interface OfferedGoods {
  product: PricedProduct;
  quantity: string;
  value: number;
  currency: string;
}

/** Pages and feeds name no more than the first methods and places of a shop. */
const MAX_METHODS = 30;
const MAX_PLACES = 100;

/**
 * Where the shop delivers a product, and from what price: its countries, the default one first, each with the postcodes
 * that have another price. Nothing for goods that are not shipped.
 */
export function deliveryOffers(
  { product, quantity, value, currency }: OfferedGoods,
  settings: ShopRules & Pick<Settings, 'countries' | 'defaultCountry'>,
): DeliveryOffer[] {
  if (taxClassFor(product.taxClassId, settings).digital) return [];
  const methods = settings.shippingMethods
    .filter(
      ({ kind, shippingMethodId }) =>
        kind !== 'pickup' && isMethodAllowed(product.shippingMethodIds, shippingMethodId, settings),
    )
    .slice(0, MAX_METHODS);
  const lines: LineInput[] = [{ quantity, price: null, product }];
  const weight = weightOf(lines);
  // A zone of fifty countries has one price.
  const prices = new Map<ShippingMethod | ShippingZone, number>();
  const priceOf = (method: ShippingMethod, zone: ShippingZone | null) => {
    const known = prices.get(zone ?? method);
    if (known !== undefined) return known;
    const price = priceInZone(method, zone, { currency, lines }, value, settings);
    prices.set(zone ?? method, price);
    return price;
  };
  const cheapestAt = (country: string, postcode: string | null) => {
    let best: Pick<DeliveryOffer, 'method' | 'zone' | 'price'> | undefined;
    for (const method of methods) {
      const zone = zoneFor(method, { country, postcode }, weight, settings.country);
      if (zone === undefined) continue;
      const price = priceOf(method, zone);
      if (!best || price < best.price) best = { method, zone, price };
    }
    return best;
  };
  const { countries, defaultCountry } = settings;
  const ordered = [...new Set([defaultCountry, ...countries])].filter((code) => countries.includes(code));
  const zones = methods.flatMap((method) => method.zones);
  return ordered
    .slice(0, MAX_PLACES)
    .flatMap((country) => {
      const whole = cheapestAt(country, null);
      const parts = zones
        .filter(({ countries: codes, postcodes }) => postcodes.length > 0 && codes.includes(country))
        .flatMap(({ postcodes }) => {
          const local = cheapestAt(country, anyOf(postcodes));
          return local && local.price !== whole?.price ? [{ country, postcodes, ...local }] : [];
        });
      return [...(whole ? [{ country, postcodes: [], ...whole }] : []), ...parts];
    })
    .slice(0, MAX_PLACES);
}

/** One postcode of a zone stands for all. */
const anyOf = ([first]: readonly string[]) => first!.replace(/-.*|\*/, '');

/** Whether the place of delivery matters: else every country has the same price. */
export const hasZones = ({ shippingMethods }: Pick<Settings, 'shippingMethods'>): boolean =>
  shippingMethods.some(({ zones }) => zones.length > 0);
