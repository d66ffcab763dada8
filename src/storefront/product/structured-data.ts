import type { Markup } from '../../http/html.ts';
import type { Price } from '../../http/price.ts';
import { currencyDigits } from '../../kernel/money.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { jsonScript } from '../page.ts';
import { absoluteUrl, productPath, type Visit } from '../visit.ts';

/** The product as structured data for search engines (schema.org). */
export function structuredProduct(
  visit: Visit,
  product: Product,
  pictures: readonly string[],
  variations: number,
  description: string,
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
      ...offersOf(visit, product, variations),
    },
    'application/ld+json',
  );
}

function offersOf(visit: Visit, product: Product, variations: number) {
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
