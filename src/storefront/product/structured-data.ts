import type { Markup } from '../../http/html.ts';
import type { Price } from '../../http/price.ts';
import { currencyDigits, toDecimal } from '../../kernel/money.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { hasZones } from '../../pricing/delivery-offers.ts';
import type { DeliveryDays, WorkingDays } from '../../pricing/delivery-span.ts';
import { jsonScript } from '../page.ts';
import type { DeliveryPlace } from './delivery-places.ts';
import type { ProductDelivery } from './delivery-span.ts';
import { absoluteUrl, productPath, type Visit } from '../visit.ts';

/** The product as structured data for search engines (schema.org). */
export function structuredProduct(
  visit: Visit,
  product: Product,
  pictures: readonly string[],
  {
    variations,
    description,
    delivery,
    places,
  }: {
    variations: number;
    description: string;
    delivery: ProductDelivery | undefined;
    places: readonly DeliveryPlace[];
  },
): Markup {
  const { ean, upc, manufacturer } = product;
  const gtin = ean ?? upc;
  return jsonScript(
    'page.product',
    {
      '@context': 'https://schema.org',
      '@type': 'Product',
      name: product.name,
      sku: product.productNumber,
      url: absoluteUrl(visit, productPath(product.productNumber)),
      ...(description !== '' && { description }),
      ...(pictures.length > 0 && { image: pictures }),
      ...(gtin !== null && { gtin }),
      ...(manufacturer !== null && { brand: { '@type': 'Brand', name: manufacturer } }),
      ...offersOf(visit, product, variations, { delivery, places }),
    },
    'application/ld+json',
  );
}

function offersOf(
  visit: Visit,
  product: Product,
  variations: number,
  { delivery, places }: { delivery: ProductDelivery | undefined; places: readonly DeliveryPlace[] },
) {
  const { price, lowestPrice, highestPrice } = product.priceInfo;
  if (product.productVariationType === 'master') {
    const [low, high] = [lowestPrice ?? price, highestPrice ?? price];
    if (!low || !high || variations === 0) return {};
    return {
      offers: {
        '@type': 'AggregateOffer',
        lowPrice: decimal(low),
        highPrice: decimal(high),
        priceCurrency: low.currency,
        offerCount: variations,
      },
    };
  }
  if (!price || !product.forSale) return {};
  return {
    offers: {
      '@type': 'Offer',
      url: absoluteUrl(visit, productPath(product.productNumber)),
      price: decimal(price),
      priceCurrency: price.currency,
      availability: `https://schema.org/${availabilityOf(visit, product)}`,
      ...shippingOf(visit, price.currency, delivery, places),
    },
  };
}

/** A shop with zones says what the delivery costs to each place; another one, when goods arrive in its own country. */
function shippingOf(
  { settings }: Visit,
  currency: string,
  delivery: ProductDelivery | undefined,
  places: readonly DeliveryPlace[],
) {
  if (hasZones(settings)) {
    return (
      places.length > 0 && {
        shippingDetails: groupedPlaces(places).map((one) => placeDetails(one, currency)),
      }
    );
  }
  return (
    delivery && {
      shippingDetails: {
        '@type': 'OfferShippingDetails',
        shippingDestination: { '@type': 'DefinedRegion', addressCountry: settings.defaultCountry },
        deliveryTime: deliveryTime(delivery),
      },
    }
  );
}

/** Search engines read no more than a few; the first are the shop's own country and its neighbours in the settings. */
const MAX_DETAILS = 20;

/** The places that have the same price and the same days. */
function groupedPlaces(places: readonly DeliveryPlace[]): DeliveryPlace[][] {
  const groups = new Map<string, DeliveryPlace[]>();
  for (const place of places) {
    const key = JSON.stringify([place.price, place.days]);
    const group = groups.get(key);
    if (group) group.push(place);
    else groups.set(key, [place]);
  }
  return [...groups.values()].slice(0, MAX_DETAILS);
}

function placeDetails(places: readonly DeliveryPlace[], currency: string) {
  const [{ price, days }] = places as [DeliveryPlace];
  return {
    '@type': 'OfferShippingDetails',
    shippingRate: {
      '@type': 'MonetaryAmount',
      value: toDecimal(price, currency).toFixed(currencyDigits(currency)),
      currency,
    },
    shippingDestination: places.map(regionOf),
    ...(days && { deliveryTime: deliveryTime(days) }),
  };
}

function regionOf({ country, postcodes }: DeliveryPlace) {
  const ranges = postcodes.filter((text) => text.includes('-')).map((text) => text.split('-'));
  const beginnings = postcodes.filter((text) => !text.includes('-')).map((text) => text.replace('*', ''));
  return {
    '@type': 'DefinedRegion',
    addressCountry: country,
    ...(ranges.length > 0 && {
      postalCodeRange: ranges.map(([postalCodeBegin, postalCodeEnd]) => ({
        '@type': 'PostalCodeRangeSpecification',
        postalCodeBegin,
        postalCodeEnd,
      })),
    }),
    ...(beginnings.length > 0 && { postalCodePrefix: beginnings }),
  };
}

/** The working days from which the page computes the day of delivery. */
function deliveryTime({ handling, transit }: DeliveryDays) {
  const days = ({ from, to }: WorkingDays) => ({
    '@type': 'QuantitativeValue',
    minValue: from,
    maxValue: to,
    unitCode: 'DAY',
  });
  return { '@type': 'ShippingDeliveryTime', handlingTime: days(handling), transitTime: days(transit) };
}

function decimal({ amount, currency }: Price): string {
  return amount.toFixed(currencyDigits(currency));
}

function availabilityOf({ settings }: Visit, { availability }: Product): string {
  if (availability === 'OutStock') return settings.sellBeyondStock ? 'BackOrder' : 'OutOfStock';
  return availability === 'WarnStock' ? 'LimitedAvailability' : 'InStock';
}
