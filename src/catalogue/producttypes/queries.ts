import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { ProductType, TypeAttribute } from '../../shops/settings/settings.ts';

/** The aliases that start with this. */
export async function findProductTypeAliases(
  tx: Transaction,
  shopId: string,
  start: string,
): Promise<Set<string>> {
  const rows = await tx.many<{ alias: string }>(sql`
    select alias from product_type where shop_id = ${shopId} and starts_with(alias, ${start})`);
  return new Set(rows.map(({ alias }) => alias));
}

export function insertProductType(tx: Transaction, shopId: string, type: ProductType) {
  return tx.run(sql`
    insert into product_type (shop_id, product_type_id, alias, name, created_at, attributes)
    values (${shopId}, ${type.productTypeId}, ${type.alias}, ${type.name}, ${tx.now},
      ${JSON.stringify(type.attributes)})`);
}

/** The stored type, bypassing the cache; locked, so that no product starts to use it meanwhile. */
export function lockProductType(tx: Transaction, shopId: string, productTypeId: string) {
  return tx.one<ProductType>(sql`
    select upper(product_type_id::text) as "productTypeId", alias, name, attributes from product_type
    where shop_id = ${shopId} and product_type_id = ${productTypeId} for update`);
}

export function updateAttributes(
  tx: Transaction,
  shopId: string,
  productTypeId: string,
  attributes: readonly TypeAttribute[],
) {
  return tx.run(sql`
    update product_type set attributes = ${JSON.stringify(attributes)}
    where shop_id = ${shopId} and product_type_id = ${productTypeId}`);
}

/**
 * A product that has one of these attributes (one of these values) itself, or is a variation by it; undefined: there
 * is none. Products without a type have the type `Default`, variations their master's.
 */
export function findProductWithAttributes(
  tx: Transaction,
  shopId: string,
  { productTypeId, alias }: ProductType,
  gone: readonly { key: string; value: string | null }[],
) {
  return tx.one<{ productNumber: string }>(sql`
    select product.product_number as "productNumber"
    from product
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    cross join jsonb_to_recordset(${JSON.stringify(gone)}) as gone (key text, value text)
    where product.shop_id = ${shopId}
      and case when coalesce(product.product_type_id, master.product_type_id) is null then ${alias === 'Default'}
        else coalesce(product.product_type_id, master.product_type_id) = ${productTypeId} end
      and (
        product.selection ? gone.key and (gone.value is null or product.selection ->> gone.key = gone.value)
        or exists (
          select from jsonb_array_elements(product.facts -> 'attributes') as own
          cross join jsonb_array_elements(own -> 'values') as said
          where own ->> 'key' = gone.key and (gone.value is null or said ->> 'value' = gone.value))
      )
    order by product.product_number limit 1`);
}

/** The next products after `after` that lists find by one of these attributes. */
export async function findListed(
  tx: Transaction,
  shopId: string,
  { productTypeId, alias }: ProductType,
  keys: readonly string[],
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await tx.many<{ productId: string }>(sql`
    select product_id as "productId" from product
    where shop_id = ${shopId} and kind <> 'variation' and product_id > ${after}
      and case when product_type_id is null then ${alias === 'Default'} else product_type_id = ${productTypeId} end
      and exists (
        select from jsonb_array_elements(
          coalesce(facts -> 'attributes', '[]') || coalesce(facts -> 'variationAttributes', '[]')) as own
        where own ->> 'key' = any (${keys}::text[]))
    order by product_id limit ${limit}`);
  return rows.map(({ productId }) => productId);
}
