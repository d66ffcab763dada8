import type { Markup } from '../../http/html.ts';
import type { Price } from '../../http/price.ts';
import { currencyDigits } from '../../kernel/money.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import type { WorkingDays } from '../../pricing/delivery-span.ts';
import { jsonScript } from '../page.ts';
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
  }: { variations: number; description: string; delivery: ProductDelivery | undefined },
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
      ...offersOf(visit, product, variations, delivery),
    },
    'application/ld+json',
  );
}

function offersOf(visit: Visit, product: Product, variations: number, delivery: ProductDelivery | undefined) {
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
      ...(delivery && { shippingDetails: shippingDetails(visit, delivery) }),
    },
  };
}

/** The working days from which the page computes the day of delivery. */
function shippingDetails({ settings }: Visit, { handling, transit }: ProductDelivery) {
  const days = ({ from, to }: WorkingDays) => ({
    '@type': 'QuantitativeValue',
    minValue: from,
    maxValue: to,
    unitCode: 'DAY',
  });
  return {
    '@type': 'OfferShippingDetails',
    shippingDestination: { '@type': 'DefinedRegion', addressCountry: settings.defaultCountry },
    deliveryTime: {
      '@type': 'ShippingDeliveryTime',
      handlingTime: days(handling),
      transitTime: days(transit),
    },
  };
}

function decimal({ amount, currency }: Price): string {
  return amount.toFixed(currencyDigits(currency));
}

function availabilityOf({ settings }: Visit, { availability }: Product): string {
  if (availability === 'OutStock') return settings.sellBeyondStock ? 'BackOrder' : 'OutOfStock';
  return availability === 'WarnStock' ? 'LimitedAvailability' : 'InStock';
}
