import type { Queries } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/** The products of this many of the newest order lines are compared. */
const MAX_LINES = 5_000;

/** The ids of the products that were sold most in the newest orders, masters instead of their variations. */
export async function findBestSellingIds(db: Queries, shopId: string, limit: number): Promise<string[]> {
  const rows = await db.many<{ productId: string }>(sql`
    select upper(coalesce(product.master_id, product.product_id)::text) as "productId"
    from (
      select product_id, quantity from order_line
      where shop_id = ${shopId} order by order_id desc limit ${MAX_LINES}
    ) as line
    join product on product.shop_id = ${shopId} and product.product_id = line.product_id
    group by coalesce(product.master_id, product.product_id)
    order by sum(line.quantity) desc, coalesce(product.master_id, product.product_id) limit ${limit}`);
  return rows.map(({ productId }) => productId);
}

export interface ListedVersion {
  /** The number of the product, or the alias of the category. */
  key: string;
  productId: string;
  version: string;
}

/** The visible products with these numbers. */
export function findChosen(db: Queries, shopId: string, numbers: readonly string[]) {
  return db.many<ListedVersion>(sql`
    select product_number as key, upper(product_id::text) as "productId",
      version || coalesce('/' || stock, '') as version
    from product
    where shop_id = ${shopId} and visible and product_number = any (${numbers}::text[])`);
}

/** The first products of each of these categories, by name. */
export function findInCategories(
  db: Queries,
  shopId: string,
  locale: string,
  aliases: readonly string[],
  limit: number,
) {
  return db.many<ListedVersion>(sql`
    select category.alias as key, upper(product.product_id::text) as "productId",
      product.version || coalesce('/' || product.stock, '') as version
    from category cross join lateral (
      select entry.product_id, entry.name from category_listing entry
      where entry.shop_id = ${shopId} and entry.category_id = category.category_id and entry.locale = ${locale}
        and entry.visible
      order by entry.name, entry.product_id limit ${limit}
    ) as listed
    join product on product.shop_id = ${shopId} and product.product_id = listed.product_id
    where category.shop_id = ${shopId} and category.visible and category.alias = any (${aliases}::text[])
    order by category.alias, listed.name, listed.product_id`);
}
