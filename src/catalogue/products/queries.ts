import type { Queries, Transaction } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import type { ReadValue } from '../../fields/value.ts';
import type { Localised } from '../../http/locale.ts';
import type { ImageSizes } from '../../platform/media/images.ts';
import type { StoredImage } from '../../platform/media/store-image.ts';
import type { Prices, ProductFacts, ProductKind } from './facts.ts';
import type { VariationOffer } from './prices.ts';

/** A product as its row holds it. */
export interface StoredProduct {
  productId: string;
  productNumber: string;
  kind: ProductKind;
  masterId: string | null;
  selection: Readonly<Record<string, string>> | null;
  visible: boolean;
  stock: number | null;
  minStock: number | null;
  taxClassId: string | null;
  productTypeId: string | null;
  prices: Prices | null;
  mainImage: string | null;
  facts: ProductFacts;
}

/** A product with all data of its response. */
export interface ProductRow extends StoredProduct {
  /** How much beyond its stock orders wait for. */
  promised: number;
  version: string;
  /** The version of the shop's settings at the same moment. */
  settingsVersion: number;
  master: Pick<
    StoredProduct,
    'productNumber' | 'taxClassId' | 'productTypeId' | 'prices' | 'mainImage' | 'facts'
  > | null;
  image: { imageKey: string; sizes: ImageSizes } | null;
  /** The first visible one: no link may lead to a hidden category. */
  mainCategory: { categoryId: string; alias: string; name: Localised } | null;
  /** The distinct offers of a master's visible variations. */
  offers: VariationOffer[] | null;
  /** null: they are not asked for. */
  fields: ReadValue[] | null;
}

/** The version that validates a rendered product: its own, and for a variation also the master's. */
const version = sql`product.version || coalesce('.' || master.version, '')`;

export const storedColumns = sql`
  upper(product.product_id::text) as "productId", product.product_number as "productNumber", product.kind,
  upper(product.master_id::text) as "masterId", product.selection, product.visible, product.stock::float8 as stock,
  product.min_stock::float8 as "minStock", upper(product.tax_class_id::text) as "taxClassId",
  upper(product.product_type_id::text) as "productTypeId", product.prices, product.main_image as "mainImage",
  product.facts`;

/** The stock, and what is promised beyond it, which moves with orders and moves no version: `3`, `0+2`. */
export const stockStamp = sql`coalesce(product.stock::text, '')
  || case when product.promised > 0 then '+' || product.promised else '' end`;

/** What a product with this alias, and with `master`, is sold by beyond its stock today; null: it is not. */
export function openTerms(product: Sql, today: string): Sql {
  const terms = sql`coalesce(${product}.facts -> 'backorder', master.facts -> 'backorder')`;
  return sql`case when ${product}.stock is not null and (${terms} ->> 'limit')::numeric > ${product}.promised
    and coalesce(${terms} ->> 'expectedOn' >= ${today}::text, true) then ${terms} end`;
}

const fieldColumn = (shopId: string, withFields: boolean) =>
  withFields
    ? sql`(
        select coalesce(json_agg(json_build_object('fieldId', upper(field_id::text), 'locale', locale, 'value', value)
          order by field_id, locale, position), '[]')
        from custom_field_value
        where custom_field_value.shop_id = ${shopId} and custom_field_value.resource_id = product.product_id
      ) as fields`
    : sql`null::json as fields`;

/** Values end with what they refer to, which moves no version. */
const fieldCount = (shopId: string, withFields: boolean) =>
  withFields
    ? sql`(
        select count(*) from custom_field_value
        where custom_field_value.shop_id = ${shopId} and custom_field_value.resource_id = product.product_id
      ) as "fieldCount"`
    : sql`0::bigint as "fieldCount"`;

/**
 * All data for rendering, in one statement for any number of products. Unknown ids are left out. Custom fields are read
 * where they are asked for.
 */
export function findProductRows(
  db: Queries,
  shopId: string,
  productIds: readonly string[],
  { withFields = false }: { withFields?: boolean } = {},
) {
  return db.many<ProductRow>(sql`
    select ${storedColumns}, product.promised::float8 as promised, ${version} as version, ${fieldColumn(shopId, withFields)},
      (select settings_version from shop where shop_id = ${shopId}) as "settingsVersion",
      case when master.product_id is not null then jsonb_build_object(
        'productNumber', master.product_number, 'taxClassId', upper(master.tax_class_id::text),
        'productTypeId', upper(master.product_type_id::text), 'prices', master.prices,
        'mainImage', master.main_image, 'facts', master.facts) end as master,
      case when image.image_key is not null then jsonb_build_object(
        'imageKey', upper(image.image_key::text), 'sizes', image.sizes) end as image,
      (
        select jsonb_build_object('categoryId', upper(category.category_id::text), 'alias', category.alias,
          'name', category.name)
        from product_category assigned
        join category on category.shop_id = assigned.shop_id and category.category_id = assigned.category_id
          and category.visible
        where assigned.shop_id = ${shopId}
          and assigned.product_id = coalesce(product.master_id, product.product_id)
        order by assigned.position, assigned.category_id limit 1
      ) as "mainCategory",
      case when product.kind = 'master' then (
        select coalesce(jsonb_agg(distinct jsonb_build_object(
          'prices', variation.prices, 'reference', variation.facts -> 'reference')), '[]')
        from product variation
        where variation.shop_id = ${shopId} and variation.master_id = product.product_id
          and variation.visible
      ) end as offers
    from product
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    left join product_image image on image.shop_id = product.shop_id
      and image.product_id = case when product.main_image is null then product.master_id else product.product_id end
      and image.name = coalesce(product.main_image, master.main_image)
    where product.shop_id = ${shopId} and product.product_id = any (${productIds}::uuid[])`);
}

/** A single product. Concurrent requests share the statement. */
export function findProduct(
  db: Queries,
  shopId: string,
  productId: string,
  options: { withFields?: boolean } = {},
) {
  const kind = options.withFields ? 'products with fields' : 'products';
  return db.shared.byId(shopId, kind, productId, async (productIds) =>
    byProductId(await findProductRows(db, shopId, productIds, options)),
  );
}

function byProductId<Row extends { productId: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.productId, row]));
}

/**
 * A product, and the versions that its rendering depends on. An order reduces the stock without changing a version, so
 * a product that is bought often is not rendered again each time.
 */
export interface ProductVersion {
  productId: string;
  version: string;
  stock: number | null;
}

export interface FoundVersion extends ProductVersion {
  visible: boolean;
}

export const versionColumns = sql`upper(product.product_id::text) as "productId", ${version} as version,
  product.stock::float8 as stock, product.visible`;

/** One product's version and the settings' version. Concurrent requests share the statement. */
export function findVersion(
  db: Queries,
  shopId: string,
  productId: string,
  { withFields = false }: { withFields?: boolean } = {},
) {
  const kind = withFields ? 'product versions with fields' : 'product versions';
  return db.shared.byId(shopId, kind, productId, async (productIds) => {
    const found = await db.many<FoundVersion & { settingsVersion: number; fieldCount: number }>(sql`
      select ${versionColumns}, ${fieldCount(shopId, withFields)}, shop.settings_version as "settingsVersion"
      from product
      join shop on shop.shop_id = product.shop_id
      left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
      where product.shop_id = ${shopId} and product.product_id = any (${productIds}::uuid[])`);
    return byProductId(found);
  });
}

export function findProductKind(db: Queries, shopId: string, productId: string) {
  return db.one<{ kind: string; visible: boolean }>(sql`
    select kind, visible from product where shop_id = ${shopId} and product_id = ${productId}`);
}

/** In the order of the ids; unknown ids are left out. */
export function findVersions(db: Queries, shopId: string, productIds: readonly string[]) {
  return db.many<FoundVersion>(sql`
    select ${versionColumns}
    from unnest(${productIds}::uuid[]) with ordinality as requested (product_id, place)
    join product on product.shop_id = ${shopId} and product.product_id = requested.product_id
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    order by place`);
}

export function findByNumber(db: Queries, shopId: string, productNumber: string) {
  return db.many<FoundVersion>(sql`
    select ${versionColumns}
    from product
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    where product.shop_id = ${shopId} and product.product_number = ${productNumber}`);
}

/** Locks it against changes until the transaction ends. */
export function lockProduct(tx: Transaction, shopId: string, productId: string) {
  return tx.one<StoredProduct>(sql`
    select ${storedColumns} from product
    where product.shop_id = ${shopId} and product.product_id = ${productId} for update`);
}

/** undefined: the number is taken. */
export function insertProduct(tx: Transaction, shopId: string, product: StoredProduct) {
  return tx.one<{ productId: string }>(sql`
    insert into product (shop_id, product_id, product_number, kind, master_id, selection, created_at, version,
      visible, stock, min_stock, tax_class_id, product_type_id, prices, main_image, facts)
    values (${shopId}, ${product.productId}, ${product.productNumber}, ${product.kind}, ${product.masterId},
      ${product.selection}, ${tx.now}, 1, ${product.visible}, ${product.stock}, ${product.minStock},
      ${product.taxClassId}, ${product.productTypeId}, ${product.prices}, ${product.mainImage}, ${product.facts})
    on conflict (shop_id, product_number) do nothing
    returning product_id as "productId"`);
}

/** `product_number` refuses a number that is taken. */
export function updateProductRow(tx: Transaction, shopId: string, product: StoredProduct) {
  return tx.run(sql`
    update product
    set version = version + 1, product_number = ${product.productNumber}, kind = ${product.kind},
      selection = ${product.selection}, visible = ${product.visible}, stock = ${product.stock},
      min_stock = ${product.minStock}, tax_class_id = ${product.taxClassId},
      product_type_id = ${product.productTypeId}, prices = ${product.prices}, main_image = ${product.mainImage},
      facts = ${product.facts}
    where shop_id = ${shopId} and product_id = ${product.productId}`);
}

/** After a visible change: invalidates the cached data of these products. */
export function moveVersions(tx: Transaction, shopId: string, productIds: readonly string[]) {
  return tx.run(sql`
    update product set version = version + 1
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])`);
}

/** Including its variations. */
export function deleteProductRow(tx: Transaction, shopId: string, productId: string) {
  return tx.run(sql`delete from product where shop_id = ${shopId} and product_id = ${productId}`);
}

export async function lockVariations(tx: Transaction, shopId: string, masterId: string): Promise<string[]> {
  const rows = await tx.many<{ productId: string }>(sql`
    select upper(product_id::text) as "productId" from product
    where shop_id = ${shopId} and master_id = ${masterId} order by product_id for update`);
  return rows.map(({ productId }) => productId);
}

export async function findImageNames(
  tx: Transaction,
  shopId: string,
  productId: string,
): Promise<ReadonlySet<string>> {
  const rows = await tx.many<{ name: string }>(sql`
    select name from product_image where shop_id = ${shopId} and product_id = ${productId}`);
  return new Set(rows.map(({ name }) => name));
}

/** The images of a product and of its variations. */
export function findImages(tx: Transaction, shopId: string, productId: string): Promise<StoredImage[]> {
  return tx.many<StoredImage>(sql`
    select upper(image.image_key::text) as "imageKey", image.sizes
    from product
    join product_image image on image.shop_id = product.shop_id and image.product_id = product.product_id
    where product.shop_id = ${shopId} and ${productId} in (product.product_id, product.master_id)`);
}
