import { inheritedFacts, type ProductFacts } from '../products/facts.ts';
import type { ProductRow, StoredProduct } from '../products/queries.ts';
import { nameOf } from '../products/render.ts';
import type { Settings } from '../shop/settings.ts';
import type { PricedProduct } from './facts.ts';

/** A product as far as carts look at it. */
export interface GoodsRow extends Omit<StoredProduct, 'minStock' | 'mainImage'> {
  master: ProductRow['master'];
  image: ProductRow['image'];
}

/** The same with everything that a variation inherits. */
export interface Goods extends GoodsRow, PricedProduct {
  facts: ProductFacts;
  /** `<id> <version> <stock>`, as the database said it: what it was read as. */
  ref: string;
}

/** Ids are upper case everywhere but in the database; upper() is slower in SQL. */
export function goodsOf(row: GoodsRow & { ref: string }): Goods {
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

/** `AP-100 (Beacon Kettle 1.7 l)`: people and programs know which one is meant. */
export function label(goods: Goods, settings: Settings): string {
  return `${goods.productNumber} (${nameOf(goods, settings, settings.defaultLocale)})`;
}
