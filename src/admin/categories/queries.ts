import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { Localised } from '../../http/locale.ts';

export interface TreeRow {
  categoryId: string;
  /** null: the root. */
  parentId: string | null;
  name: Localised;
  alias: string;
  visible: boolean;
  /** The number of assigned products, including hidden ones. */
  products: number;
}

/** A page with more categories would be useless. */
const MAX_CATEGORIES = 5_000;

/** All categories, in their order among siblings. */
export function findTree(db: Queries, shopId: string) {
  return db.many<TreeRow>(sql`
    select upper(category.category_id::text) as "categoryId", upper(parent_id::text) as "parentId", name, alias,
      category.visible, coalesce(sum(products), 0)::bigint as products
    from category left join listing_size on listing_size.shop_id = ${shopId}
      and listing_size.category_id = category.category_id
    where category.shop_id = ${shopId}
    group by category.shop_id, category.category_id
    order by position, number limit ${MAX_CATEGORIES}`);
}

export interface CategoryTexts {
  name: Localised;
  pageTitle: Localised;
  navigationCaption: Localised;
  description: Localised;
}

/** The texts in all languages; the API shows one language at a time. */
export function findCategoryTexts(db: Queries, shopId: string, categoryId: string) {
  return db.one<CategoryTexts>(sql`
    select name, page_title as "pageTitle", navigation_caption as "navigationCaption", description from category
    where shop_id = ${shopId} and category_id = ${categoryId}`);
}

export interface AssignedProduct {
  productId: string;
  productNumber: string;
  name: Localised | null;
  visible: boolean;
}

/** As many as the form of a product offers. */
const MAX_TARGETS = 1_000;

export const PRODUCTS_PER_PAGE = 50;

/** The products of a category by name, from the table behind its list. */
export function findAssignedProducts(
  db: Queries,
  shopId: string,
  categoryId: string,
  locale: string,
  offset: number,
) {
  return db.many<AssignedProduct>(sql`
    with page as materialized (
      select product_id, name from category_listing
      where shop_id = ${shopId} and category_id = ${categoryId} and locale = ${locale}
      order by visible desc, name, product_id limit ${PRODUCTS_PER_PAGE + 1} offset ${offset}
    )
    select upper(product.product_id::text) as "productId", product_number as "productNumber", facts -> 'name' as name,
      visible
    from page join product on product.shop_id = ${shopId} and product.product_id = page.product_id
    order by visible desc, page.name, product.product_id`);
}

/** The product with this number, as it was typed or in capitals. */
export function findProductByTypedNumber(db: Queries, shopId: string, number: string) {
  return db.one<{ productId: string }>(sql`
    select upper(product_id::text) as "productId" from product
    where shop_id = ${shopId} and product_number in (${number}, ${number.toUpperCase()}) limit 1`);
}

/** Categories that something can lead to: all but the root, in the order of the tree's levels. */
export function findCategoryTargets(db: Queries, shopId: string) {
  return db.many<{ categoryId: string; alias: string; name: Localised }>(sql`
    select upper(category_id::text) as "categoryId", alias, name from category
    where shop_id = ${shopId} and parent_id is not null order by position, number limit ${MAX_TARGETS}`);
}
