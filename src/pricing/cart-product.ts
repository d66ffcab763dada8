import { inheritedFacts, type Prices, type ProductFacts } from '../catalogue/products/facts.ts';
import type { ProductRow, StoredProduct } from '../catalogue/products/queries.ts';
import { nameOf } from '../catalogue/products/render.ts';
import type { Settings } from '../shops/settings/settings.ts';

/** The product data that determines price, tax and delivery; for a variation, including inherited data. */
export interface PricedProduct extends Pick<
  ProductFacts,
  | 'bulkPrices'
  | 'groupPrices'
  | 'listPrices'
  | 'depositPrices'
  | 'ecoParticipationPrices'
  | 'orderUnit'
  | 'customisation'
  | 'giftCard'
  | 'deliveryWeight'
  | 'shippingSurcharge'
  | 'shippingMethodIds'
> {
  productId: string;
  masterId: string | null;
  prices: Prices | null;
  /** null: the shop's default class. */
  taxClassId: string | null;
}

/** The product data that carts and orders need. */
export interface CartProductRow extends Omit<StoredProduct, 'minStock' | 'mainImage'> {
  promised: number;
  master: ProductRow['master'];
  image: ProductRow['image'];
  /** The first of them; a variation is in those of its product. */
  categoryIds: string[];
  /** `<id> <version> <stock>`, as read from the database with the product. */
  versionStamp: string;
}

/** The same including everything that a variation inherits. */
export interface CartProduct extends CartProductRow, PricedProduct {
  facts: ProductFacts;
}

/** Ids are upper case everywhere except in the database; upper() is slower in SQL. */
export function toCartProduct(row: CartProductRow): CartProduct {
  const { master } = row;
  const facts = inheritedFacts(row.facts, master?.facts ?? null);
  return {
    ...row,
    ...facts,
    productId: row.productId.toUpperCase(),
    masterId: upper(row.masterId),
    prices: row.prices ?? master?.prices ?? null,
    taxClassId: upper(row.taxClassId ?? master?.taxClassId ?? null),
    productTypeId: upper(row.productTypeId),
    master: master && { ...master, productTypeId: upper(master.productTypeId) },
    facts,
  };
}

export const upper = (id: string | null) => id && id.toUpperCase();

/** `AP-100 (Beacon Kettle 1.7 l)`: identifies the product to people and programs. */
export function productLabel(product: CartProduct, settings: Settings): string {
  return `${product.productNumber} (${nameOf(product, settings, settings.defaultLocale)})`;
}
