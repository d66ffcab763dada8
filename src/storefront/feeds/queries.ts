import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import { findProductRows, type ProductRow } from '../../catalogue/products/queries.ts';
import type { PictureRow } from '../product/queries.ts';

const ROWS_AT_ONCE = 200;
/** Channels take ten pictures beside the main one. */
const MAX_PICTURES = 11;

export interface FeedRow {
  row: ProductRow;
  /** The main one first. A variation without pictures uses those of its master. */
  pictures: readonly PictureRow[];
}

/**
 * All visible products that can be bought, in pages of the primary key: never more than a few hundred are in memory, and
 * no statement reads more than its page. A master is represented by its variations.
 */
export async function* findFeedProducts(db: Queries, shopId: string): AsyncGenerator<FeedRow[]> {
  let last = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const found = await findFeedPage(db, shopId, last);
    if (found.length === 0) return;
    const rows = await findProductRows(
      db,
      shopId,
      found.map(({ productId }) => productId),
    );
    const byId = new Map(rows.map((row) => [row.productId, row]));
    yield found.flatMap(({ productId, pictures }) => {
      const row = byId.get(productId);
      return row ? [{ row, pictures }] : [];
    });
    if (found.length < ROWS_AT_ONCE) return;
    last = found.at(-1)!.productId;
  }
}

function findFeedPage(db: Queries, shopId: string, after: string) {
  return db.many<{ productId: string; pictures: PictureRow[] }>(sql`
    select upper(product.product_id::text) as "productId", coalesce((
      select json_agg(json_build_object('imageKey', picture.image_key, 'sizes', picture.sizes) order by place)
      from (
        select image.image_key, image.sizes, row_number() over (
          order by image.name = coalesce(product.main_image, master.main_image) desc, image.position, image.name
        ) as place
        from product_image image
        where image.shop_id = ${shopId} and image.product_id = case
          when product.main_image is null then product.master_id else product.product_id end
      ) as picture
      where place <= ${MAX_PICTURES}
    ), '[]') as pictures
    from product
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    where product.shop_id = ${shopId} and product.product_id > ${after}
      and product.kind <> 'master' and product.visible and coalesce(master.visible, true)
    order by product.product_id limit ${ROWS_AT_ONCE}`);
}

/**
 * Changes with all product data in feeds: versions, stock, and whether each is on sale today. It reads all visible
 * products, but only to hash them, at a hundredth of the cost of a feed.
 */
export async function findCatalogueStamp(db: Queries, shopId: string, today: string): Promise<string> {
  const day = (name: string) => sql`(facts ->> ${name}::text)::timestamptz`;
  const found = await db.one<{ stamp: string }>(sql`
    select count(*) || ':' || coalesce(sum(hashtextextended(concat_ws('/', product_id, version, stock::text,
      coalesce(facts -> 'backorder' ->> 'expectedOn' >= ${today}::text, true),
      coalesce(${day('forSaleFrom')} <= ${db.now}, true), coalesce(${day('forSaleUntil')} > ${db.now}, true)), 0)), 0) as stamp
    from product where shop_id = ${shopId} and visible`);
  return found!.stamp;
}

const MAX_CATEGORIES = 20_000;

/** The names of each category and its ancestors, from the top, without those hidden from visitors. */
export async function findCategoryPaths(
  db: Queries,
  shopId: string,
  locale: string,
  defaultLocale: string,
): Promise<(categoryId: string) => string[]> {
  const rows = await db.many<{
    categoryId: string;
    parentId: string | null;
    name: Localised;
    alias: string;
    visible: boolean;
  }>(sql`
    select upper(category_id::text) as "categoryId", upper(parent_id::text) as "parentId", name, alias, visible
    from category where shop_id = ${shopId} order by category_id limit ${MAX_CATEGORIES}`);
  const byId = new Map(rows.map((row) => [row.categoryId, row]));
  const pathOf = (categoryId: string): string[] => {
    const category = byId.get(categoryId);
    // The root is the front page, which visitors do not see as a category.
    if (!category || category.parentId === null) return [];
    const { name, alias, visible, parentId } = category;
    return [...pathOf(parentId), ...(visible ? [textIn(name, locale, defaultLocale) ?? alias] : [])];
  };
  return pathOf;
}
