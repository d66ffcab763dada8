import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { openTerms, versionColumns, type ProductVersion } from '../../catalogue/products/queries.ts';
import type { BackorderTerms, Prices } from '../../catalogue/products/facts.ts';

/** A product or a variation that a request has named. */
export interface NamedProduct extends ProductVersion {
  productNumber: string;
  kind: 'regular' | 'master' | 'variation';
  masterId: string | null;
}

/** The visible products with these ids or numbers. A variation is visible if its master is, too. */
export function findNamed(
  db: Queries,
  shopId: string,
  { productIds, numbers }: { productIds: readonly string[]; numbers: readonly string[] },
) {
  return db.many<NamedProduct & { visible: boolean }>(sql`
    select ${versionColumns}, product.product_number as "productNumber", product.kind,
      upper(product.master_id::text) as "masterId"
    from product
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    where product.shop_id = ${shopId} and product.visible and coalesce(master.visible, true)
      and (product.product_id = any (${productIds}::uuid[]) or product.product_number = any (${numbers}::text[]))`);
}

/** What decides which variation of a master is shown first. */
export interface VariationVersion extends ProductVersion {
  masterId: string;
  productNumber: string;
  prices: Prices | null;
  hasStock: boolean;
  backorder: BackorderTerms | null;
  hasTerms: boolean;
  isOnSale: boolean;
}

/** Variations of one master that are read. */
export const MAX_VARIATIONS = 100;

/** The visible variations of these masters, of each no more than the first ones. */
export function findVariationVersions(
  db: Queries,
  shopId: string,
  masterIds: readonly string[],
  today: string,
) {
  const dayOf = (name: string) =>
    sql`coalesce(product.facts ->> ${name}::text, master.facts ->> ${name}::text)::timestamptz`;
  return db.many<VariationVersion & { visible: boolean; place: number }>(sql`
    select * from (
      select ${versionColumns}, upper(product.master_id::text) as "masterId",
        product.product_number as "productNumber",
        coalesce(product.prices, master.prices) as prices, coalesce(product.stock > 0, true) as "hasStock",
        ${openTerms(sql`product`, today)} as backorder,
        product.facts ? 'backorder' or master.facts ? 'backorder' as "hasTerms",
        coalesce(${dayOf('forSaleFrom')} <= ${db.now}, true)
          and coalesce(${dayOf('forSaleUntil')} > ${db.now}, true) as "isOnSale",
        row_number() over (partition by product.master_id order by product.product_id)::int as place
      from product
      join product master on master.shop_id = ${shopId} and master.product_id = product.master_id
      where product.shop_id = ${shopId} and product.master_id = any (${masterIds}::uuid[]) and product.visible
    ) as variation
    where place <= ${MAX_VARIATIONS}
    order by "masterId", place`);
}

const MAX_CATEGORIES = 5;

/** The names of the visible categories of these products. */
export function findCategoryNames(
  db: Queries,
  shopId: string,
  productIds: readonly string[],
  { locale, defaultLocale }: { locale: string; defaultLocale: string },
) {
  return db.many<{ productId: string; names: string[] }>(sql`
    select upper(assigned.product_id::text) as "productId",
      (array_agg(coalesce(category.name ->> ${locale}::text, category.name ->> ${defaultLocale}::text, category.alias)
        order by assigned.position, category.category_id))[1:${MAX_CATEGORIES}::int] as names
    from product_category assigned
    join category on category.shop_id = ${shopId} and category.category_id = assigned.category_id
      and category.visible and category.parent_id is not null
    where assigned.shop_id = ${shopId} and assigned.product_id = any (${productIds}::uuid[])
    group by assigned.product_id`);
}

/** The numbers of the visible categories with these names, in any language, and of those below them. */
export async function findCategoryNumbers(
  db: Queries,
  shopId: string,
  names: readonly string[],
): Promise<number[]> {
  const lowered = names.map((name) => name.trim().toLowerCase());
  const rows = await db.many<{ number: number }>(sql`
    with recursive named as (
      select category_id, number from category
      where shop_id = ${shopId} and visible and parent_id is not null and (
        lower(alias) = any (${lowered}::text[]) or exists (
          select from jsonb_each_text(name) as named where lower(named.value) = any (${lowered}::text[])))
      union
      select category.category_id, category.number from category
      join named on category.parent_id = named.category_id
      where category.shop_id = ${shopId} and category.visible
    )
    select number from named limit ${MAX_NUMBERS}`);
  return rows.map(({ number }) => number);
}

const MAX_NUMBERS = 500;
