import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { Localised } from '../../http/locale.ts';
import type { Prices } from '../../catalogue/products/facts.ts';
import type { ImageSizes } from '../../platform/media/images.ts';

/** The total stock of the variations of these masters; null: none of them tracks its stock. */
export function findVariationStocks(db: Queries, shopId: string, masterIds: readonly string[]) {
  return db.many<{ masterId: string; variations: number; stock: number | null; isShort: boolean }>(sql`
    select upper(master_id::text) as "masterId", count(*) as variations, sum(stock)::float8 as stock,
      bool_or(stock <= greatest(min_stock, 0)) is true as "isShort"
    from product where shop_id = ${shopId} and master_id = any (${masterIds}::uuid[]) group by master_id`);
}

export interface CategoryChoice {
  categoryId: string;
  parentId: string | null;
  name: Localised;
}

const MAX_CATEGORIES = 1_000;

/** In the order in which a tree is printed after `categoryTree`: siblings by their position. */
export function findCategoryChoices(db: Queries, shopId: string) {
  return db.many<CategoryChoice>(sql`
    select upper(category_id::text) as "categoryId", upper(parent_id::text) as "parentId", name from category
    where shop_id = ${shopId} order by position, number limit ${MAX_CATEGORIES}`);
}

export function findNamesOfCategories(db: Queries, shopId: string, categoryIds: readonly string[]) {
  return db.many<{ categoryId: string; alias: string; name: Localised }>(sql`
    select upper(category_id::text) as "categoryId", alias, name from category
    where shop_id = ${shopId} and category_id = any (${categoryIds}::uuid[])`);
}

export interface Picture {
  name: string;
  imageKey: string;
  sizes: ImageSizes;
  /** Its descriptions, by locale. */
  altTexts: Readonly<Record<string, string>>;
}

/** In the order of the slideshow. A product has a few; the limit is for imported ones. */
export function findPictures(db: Queries, shopId: string, productId: string) {
  return db.many<Picture>(sql`
    select name, upper(image_key::text) as "imageKey", sizes, alt_texts as "altTexts" from product_image
    where shop_id = ${shopId} and product_id = ${productId} order by position, name limit 200`);
}

/** The main category first. */
export async function findCategoryIds(db: Queries, shopId: string, productId: string): Promise<string[]> {
  const rows = await db.many<{ categoryId: string }>(sql`
    select upper(category_id::text) as "categoryId" from product_category
    where shop_id = ${shopId} and product_id = ${productId} order by position, category_id`);
  return rows.map(({ categoryId }) => categoryId);
}

export interface GridRow {
  productId: string;
  selection: Readonly<Record<string, string>>;
  productNumber: string;
  prices: Prices | null;
  stock: number | null;
  minStock: number | null;
  ean: string | null;
  visible: boolean;
}

/** Variations on one page. A product with more of them is changed by import. */
export const MAX_GRID_ROWS = 500;

export function findGridRows(db: Queries, shopId: string, masterId: string) {
  return db.many<GridRow>(sql`
    select upper(product_id::text) as "productId", selection, product_number as "productNumber", prices,
      stock::float8 as stock, min_stock::float8 as "minStock", facts ->> 'ean' as ean, visible
    from product where shop_id = ${shopId} and master_id = ${masterId}
    order by product_id limit ${MAX_GRID_ROWS}`);
}

/** By the number, or by the printed code. Several products may have the same code. */
export async function findProductsByCode(db: Queries, shopId: string, code: string): Promise<string[]> {
  const rows = await db.many<{ productId: string }>(sql`
    select upper(product_id::text) as "productId" from product
      where shop_id = ${shopId} and product_number = ${code}
    union
    (select upper(product_id::text) from product
      where shop_id = ${shopId} and facts ? 'ean' and facts ->> 'ean' = ${code} order by product_id limit 10)
    union
    (select upper(product_id::text) from product
      where shop_id = ${shopId} and facts ? 'upc' and facts ->> 'upc' = ${code} order by product_id limit 10)
    order by 1`);
  return rows.map(({ productId }) => productId);
}

/** All prices in a currency, newest first. */
export function findPriceHistory(db: Queries, shopId: string, productId: string, currency: string) {
  return db.many<{ validFrom: Date; price: number | null }>(sql`
    select valid_from as "validFrom", price from price_history
    where shop_id = ${shopId} and product_id = ${productId} and currency = ${currency}
    order by valid_from desc limit 200`);
}

export async function findCrossSellingIds(db: Queries, shopId: string, productId: string): Promise<string[]> {
  const rows = await db.many<{ targetId: string }>(sql`
    select upper(target_id::text) as "targetId" from cross_selling
    where shop_id = ${shopId} and product_id = ${productId} order by position, target_id`);
  return rows.map(({ targetId }) => targetId);
}

export function findNumbersById(db: Queries, shopId: string, productIds: readonly string[]) {
  return db.many<{ productId: string; productNumber: string }>(sql`
    select upper(product_id::text) as "productId", product_number as "productNumber" from product
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])`);
}

export function findIdsByNumber(db: Queries, shopId: string, productNumbers: readonly string[]) {
  return db.many<{ productId: string; productNumber: string }>(sql`
    select upper(product_id::text) as "productId", product_number as "productNumber" from product
    where shop_id = ${shopId} and product_number = any (${productNumbers}::text[])`);
}
