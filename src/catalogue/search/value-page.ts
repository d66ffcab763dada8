import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { hasValues, idsWith, MAX_WITH_VALUE, rarestValue, type WantedValue } from '../../fields/filter.ts';
import { isId } from '../../kernel/ids.ts';
import {
  pageVersions,
  toProductPage,
  WHOLE_SHOP,
  type PageOptions,
  type ProductPage,
} from '../products/listing-page.ts';
import { inScope, matchesTerms } from './conditions.ts';
import type { Term } from './query.ts';

/** A page of the products with values of custom fields, read from the value that the fewest products have. */
export async function findPageWithValues(
  db: Queries,
  shopId: string,
  options: PageOptions & { terms: readonly Term[]; wanted: readonly WantedValue[] },
): Promise<ProductPage> {
  const { locale, terms, wanted, categoryId, sort, direction, limit, offset } = options;
  const { value, count } = await rarestValue(db, shopId, wanted, MAX_WITH_VALUE);
  const is = (by: PageOptions['sort'], towards: PageOptions['direction']) =>
    sort === by && direction === towards;
  const order = sql`
    case when ${is('price', 'asc')} then price when ${is('price', 'desc')} then -price end,
    case when ${is('name', 'desc')} then name end desc nulls last, name, product_id`;
  const inCategory =
    categoryId === undefined
      ? sql`true`
      : sql`exists (
          select from category_listing entry
          where entry.shop_id = ${shopId} and entry.category_id = ${isId(categoryId) ? categoryId : WHOLE_SHOP}
            and entry.locale = ${locale} and entry.product_id = listing.product_id)`;
  const row = await db.one<ProductPage>(sql`
    with hit as materialized (
      select product_id, name, price from listing
      where ${inScope(shopId, options)} and ${inCategory} and ${matchesTerms({ terms }, locale)}
        and listing.product_id = any (array(${idsWith(shopId, value)} limit ${MAX_WITH_VALUE}))
        and ${hasValues(shopId, sql`listing.product_id`, wanted)}
    )
    select settings_version as "settingsVersion", (select count(*) from hit) as results,
      ${count > MAX_WITH_VALUE}::boolean as "isMore",
      ${pageVersions(shopId, sql`select * from hit`, order, limit, offset)} as versions
    from shop where shop_id = ${shopId}`);
  return toProductPage(row);
}
