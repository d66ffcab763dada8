import type { Queries } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import { isId } from '../../kernel/ids.ts';
import type { ProductVersion } from './queries.ts';

/** The list of the whole shop among those of the categories. */
export const WHOLE_SHOP = '00000000-0000-0000-0000-000000000000';

/** A page of a list of products. */
export interface ProductPage {
  /** The version of the shop's settings in the same moment. */
  settingsVersion: number;
  /** Over all pages. */
  results: number;
  /** A search found more than it compared: `results` counts those. */
  isMore?: boolean;
  /**
   * The ids, versions and stocks of the products, `<id>:<version>/<stock>,...`, which `parseVersions` reads: a row for
   * each product would cost more to send and to read than the page itself. The rendered page is cached under it.
   */
  versions: string;
}

export interface PageOptions {
  locale: string;
  categoryId?: string | undefined;
  /** With the products of the visible categories below it. */
  withSubcategories?: boolean;
  sort: 'name' | 'price';
  direction: 'asc' | 'desc';
  includeInvisible: boolean;
  limit: number;
  offset: number;
}

/** Each is the order of an index, read forwards or backwards. Products without a price are the dearest. */
export const ORDERS = {
  name: { asc: sql`name, product_id`, desc: sql`name desc, product_id desc` },
  price: { asc: sql`price, product_id`, desc: sql`price desc, product_id desc` },
};

/** The `versions` of one page of these rows, which have a product_id. An array keeps the order of its query. */
export function pageVersions(shopId: string, rows: Sql, order: Sql, limit: number, offset: number): Sql {
  return sql`array_to_string(array(
    select entry.product_id || ':' || (
      select version || coalesce('/' || stock, '') from product
      where shop_id = ${shopId} and product.product_id = entry.product_id
    )
    from (${rows} order by ${order} limit ${limit} offset ${offset}) as entry
  ), ',')`;
}

/** A page of a list, read from one end of an index; nothing is counted or sorted. */
export async function pageOfProducts(
  db: Queries,
  shopId: string,
  { locale, categoryId, withSubcategories, sort, direction, includeInvisible, limit, offset }: PageOptions,
): Promise<ProductPage> {
  const order = ORDERS[sort][direction];
  const listId = categoryId === undefined ? WHOLE_SHOP : idOfList(categoryId);
  const inCategory = sql`shop_id = ${shopId} and category_id = ${listId} and locale = ${locale}`;
  const source =
    categoryId === undefined
      ? sql`listing where shop_id = ${shopId} and locale = ${locale}`
      : sql`category_listing where ${inCategory}`;
  // Each half is read in the order of the index: one query for both would have to sort the whole list.
  const half = (rows: Sql) => sql`(
    select name, price, product_id from ${rows} order by ${order} limit ${limit + offset}
  )`;
  const both = (one: Sql, other: Sql) => sql`(${half(one)} union all ${half(other)}) as entry`;
  const entries = withSubcategories
    ? both(sql`${source} and visible`, sql`subcategory_listing where ${inCategory} and visible`)
    : includeInvisible
      ? both(sql`${source} and visible`, sql`${source} and not visible`)
      : sql`${source} and visible`;
  const size = withSubcategories ? sql`products + products_below` : sql`products`;
  const row = await db.one<ProductPage>(sql`
    select settings_version as "settingsVersion", (
        select coalesce(sum(${size}), 0)::bigint from listing_size
        where shop_id = ${shopId} and category_id = ${listId} and (visible or ${includeInvisible})
      ) as results,
      ${pageVersions(shopId, sql`select name, price, product_id from ${entries}`, order, limit, offset)} as versions
    from shop where shop_id = ${shopId}`);
  return toProductPage(row);
}

/** How many products of the shop stand in lists, visible or not. */
export async function countProducts(db: Queries, shopId: string): Promise<number> {
  const row = await db.one<{ products: number }>(sql`
    select coalesce(sum(products), 0)::bigint as products from listing_size
    where shop_id = ${shopId} and category_id = ${WHOLE_SHOP}`);
  return row!.products;
}

/** How many visible products a category has, with those below it or without them. */
export async function countInCategory(
  db: Queries,
  shopId: string,
  categoryId: string,
  withSubcategories: boolean,
): Promise<number> {
  const row = await db.one<{ products: number }>(sql`
    select case when ${withSubcategories} then products + products_below else products end as products from listing_size
    where shop_id = ${shopId} and category_id = ${categoryId} and visible`);
  return row?.products ?? 0;
}

/** How many visible products stand in the list of the whole shop. */
export async function countListed(db: Queries, shopId: string): Promise<number> {
  const row = await db.one<{ products: number }>(sql`
    select products from listing_size where shop_id = ${shopId} and category_id = ${WHOLE_SHOP} and visible`);
  return row?.products ?? 0;
}

/** Text that is no id of a category, or the id of the whole shop, becomes an id that no category has. */
function idOfList(categoryId: string): string {
  return isId(categoryId) && categoryId !== WHOLE_SHOP ? categoryId : 'ffffffff-ffff-ffff-ffff-ffffffffffff';
}

/** An unknown shop has no products. */
export function toProductPage(row: ProductPage | undefined): ProductPage {
  return {
    settingsVersion: row?.settingsVersion ?? 0,
    results: row?.results ?? 0,
    isMore: row?.isMore ?? false,
    versions: row?.versions ?? '',
  };
}

/** The products of a page, in its order. */
export function parseVersions(versions: string): ProductVersion[] {
  if (versions === '') return [];
  return versions.split(',').map((entry) => {
    const [productId, version, stock] = entry.split(/[:/]/);
    return {
      productId: productId!.toUpperCase(),
      version: version!,
      stock: stock === undefined ? null : Number(stock),
    };
  });
}
