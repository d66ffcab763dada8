import { html, type Markup } from '../../http/html.ts';
import { anyText, nameOf } from '../../catalogue/products/render.ts';
import { availabilityOf } from '../../catalogue/products/availability-text.ts';
import { priceIn, priceRange } from '../../catalogue/products/prices.ts';
import { findProductRows, type ProductRow } from '../../catalogue/products/queries.ts';
import { imagesOf, imagePath } from '../../platform/media/images.ts';
import { decimalText } from '../components/decimal.ts';
import { amountText, chip } from '../components/format.ts';
import type { ShopVisit } from '../visit.ts';
import { findVariationStocks } from './queries.ts';

/** A product as lists of the admin show it. */
export interface ProductListRow {
  productId: string;
  productNumber: string;
  name: string;
  visible: boolean;
  price: string;
  stock: Markup;
  manufacturer: string;
  ean: string;
  category: string;
  picture: Markup;
  /** Of a master; 0: not a master. */
  variations: number;
}

/** In the order of the ids; unknown ids are left out. */
export async function findListedProducts(
  visit: ShopVisit,
  productIds: readonly string[],
): Promise<ProductListRow[]> {
  const { db, shopId } = visit;
  const rows = await findProductRows(db, shopId, productIds);
  const masterIds = rows.filter(({ kind }) => kind === 'master').map(({ productId }) => productId);
  const stocks = masterIds.length === 0 ? [] : await findVariationStocks(db, shopId, masterIds);
  return productIds.flatMap((id) => {
    const row = rows.find(({ productId }) => productId === id);
    return row
      ? [
          toListed(
            visit,
            row,
            stocks.find(({ masterId }) => masterId === id),
          ),
        ]
      : [];
  });
}

function toListed(
  visit: ShopVisit,
  row: ProductRow,
  variations: { variations: number; stock: number | null; isShort: boolean } | undefined,
): ProductListRow {
  const { settings, locale } = visit;
  const category = row.mainCategory && anyText(row.mainCategory.name, locale, settings.defaultLocale);
  return {
    productId: row.productId,
    productNumber: row.productNumber,
    name: nameOf(row, settings, locale),
    visible: row.visible,
    price: priceText(visit, row),
    stock:
      row.kind === 'master'
        ? stockText(visit, variations?.stock ?? null, variations?.isShort ?? false)
        : stockText(
            visit,
            row.stock,
            ['OutStock', 'WarnStock'].includes(availabilityOf(row.stock, row.minStock) ?? ''),
          ),
    manufacturer: row.facts.manufacturer ?? '',
    ean: row.facts.ean ?? '',
    category: category ?? '',
    picture: pictureOf(visit, row),
    variations: variations?.variations ?? 0,
  };
}

/** `from €9.90` when variations have different prices. */
function priceText(visit: ShopVisit, row: ProductRow): string {
  const { settings, messages } = visit;
  const { defaultCurrency: currency } = settings;
  const money = (minor: number) => amountText(minor, visit);
  const range = row.offers ? priceRange(row.offers, row, currency, settings) : null;
  if (range && range.lowest !== range.highest) return messages.products.from({ price: money(range.lowest) });
  const price = range?.lowest ?? priceIn(row.prices ?? row.master?.prices, currency, settings);
  return price === null ? '' : money(price);
}

function stockText({ language, messages }: ShopVisit, stock: number | null, isShort: boolean): Markup {
  if (stock === null) return html`<span class="quiet">${messages.products.notTracked}</span>`;
  const text = decimalText(stock, language);
  if (!isShort) return html`${text}`;
  const { soldOut, lowStock } = messages.products;
  return html`<span>${text} ${stock <= 0 ? chip(soldOut, 'bad') : chip(lowStock, 'warning')}</span>`;
}

export function pictureOf({ origin, shopId }: ShopVisit, { image }: Pick<ProductRow, 'image'>): Markup {
  const images = image ? imagesOf(origin, shopId, image.imageKey, image.sizes, { isZoomEnabled: false }) : [];
  const small = images.find(({ classifier }) => classifier === 'Small');
  return small
    ? html`<img class="picture" src="${imagePath(small.url)}" alt="" width="40" height="40" loading="lazy" />`
    : html`<span class="picture"></span>`;
}
