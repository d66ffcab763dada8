import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { isId } from '../../kernel/ids.ts';
import {
  ORDERS,
  pageVersions,
  toProductPage,
  WHOLE_SHOP,
  type PageOptions,
  type ProductPage,
} from '../products/listing-page.ts';
import type { SearchTerms } from './conditions.ts';
import { hits, MAX_SORTED, type ShopSize } from './hits.ts';

/** A page of the hits, in the order of a list. */
export async function findHitPage(
  db: Queries,
  shopId: string,
  options: PageOptions & SearchTerms & ShopSize,
): Promise<ProductPage> {
  const { categoryId, sort, direction, limit, offset } = options;
  const inCategory =
    categoryId === undefined
      ? sql`true`
      : sql`listing.facets @> array['c:' || (
          select number from category
          where shop_id = ${shopId} and category_id = ${isId(categoryId) ? categoryId : WHOLE_SHOP})]`;
  const order = ORDERS[sort][direction];
  const found = hits(shopId, {
    ...options,
    columns: sql`product_id, name, price`,
    narrowed: inCategory,
    listOrder: order,
    most: MAX_SORTED,
  });
  const page = pageVersions(shopId, sql`select * from hit`, order, limit, offset);
  const [row] = await db.search<ProductPage>(sql`
    with ${found}
    select settings_version as "settingsVersion", total.results, total.is_more as "isMore", ${page} as versions
    from shop cross join total where shop_id = ${shopId}`);
  return toProductPage(row);
}
