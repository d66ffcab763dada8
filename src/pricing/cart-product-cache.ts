import type { CacheKind } from '../db/cache.ts';
import type { Queries } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import { stockStamp } from '../catalogue/products/queries.ts';
import { toCartProduct, type CartProduct, type CartProductRow } from './cart-product.ts';

/**
 * Products as carts need them, cached. The statement that reads a cart returns the version stamps of its products:
 * their ids, versions and stock. Only missing or newer products are fetched. Selling changes the stock but no version,
 * so a product that sells well stays cached.
 */
const cartProductCache: CacheKind<CartProduct> = { name: 'cart products', limit: { entries: 5_000 } };

/** The maximum length of a cached product: few products are longer, and they must not fill the cache. */
const MAX_CACHED_LENGTH = 10_000;

/** Categories of a product that promotions look at. */
const MAX_CATEGORIES = 100;

/** `<id> <version>`; a variation shows inherited data, so its master's version counts too. */
const version = (
  shopId: string,
) => sql`product.product_id || ' ' || product.version || case when product.master_id is null then '' else (
    select '.' || version from product master
    where master.shop_id = ${shopId} and master.product_id = product.master_id
  ) end`;

/** `<id> <version> <stock>` */
const versionStamp = (shopId: string) => sql`${version(shopId)} || ' ' || ${stockStamp}`;

const listed = (what: Sql, shopId: string, productIds: Sql) => sql`array(
    select ${what} from product
    where product.shop_id = ${shopId} and product.product_id = any (${productIds})
    order by product.product_id)`;

/** The version stamps of these products as an array in the order of their ids; an unknown product has none. */
export function versionStamps(shopId: string, productIds: Sql): Sql {
  return listed(versionStamp(shopId), shopId, productIds);
}

/** A part of a larger statement: the places (from 0) of the version stamps that are no longer current. */
export function staleStamps(shopId: string, stamps: readonly string[]): Sql {
  return sql`
    select place - 1 as place from unnest(${stamps}::text[]) with ordinality as known (stamp, place)
    where not exists (
      select from product
      where product.shop_id = ${shopId} and product.product_id = left(known.stamp, 36)::uuid
        and ${versionStamp(shopId)} = known.stamp)`;
}

/** The versions of these products as an array, without the stock. */
export function productVersions(shopId: string, productIds: readonly string[]): Sql {
  return listed(version(shopId), shopId, sql`${productIds}::uuid[]`);
}

/** As `productVersions` returns it. */
export const productVersion = ({ versionStamp }: CartProduct) => versionOf(versionStamp);

const keyOf = (shopId: string, productId: string) => `${shopId} ${productId.toUpperCase()}`;

/**
 * The products as they were last seen. Those that are not cached are read, by one statement for all requests that wait
 * for such products of the shop. undefined: one of them does not exist.
 */
export async function seenCartProducts(
  db: Queries,
  shopId: string,
  productIds: readonly string[],
): Promise<CartProduct[] | undefined> {
  const cache = db.caches.of(cartProductCache);
  const read = async (ids: readonly string[]) => {
    const products = await readCartProducts(db, shopId, ids);
    return new Map(products.map((product) => [product.productId.toUpperCase(), product]));
  };
  const found = await Promise.all(
    productIds.map(
      async (id) =>
        cache.get(keyOf(shopId, id)) ?? db.shared.byId(shopId, 'cart products', id.toUpperCase(), read),
    ),
  );
  return found.every((product) => product !== undefined) ? found : undefined;
}

/**
 * After an order: the remaining stock of its products. Within a transaction they are dropped from
 * the cache, because the order may be rolled back.
 */
export function updateCachedStock(
  db: Queries,
  shopId: string,
  left: readonly { productId: string; stockStamp: string }[],
): void {
  const cache = db.caches.of(cartProductCache);
  for (const { productId, stockStamp } of left) {
    const product = cache.get(keyOf(shopId, productId));
    if (!product) continue;
    const stamp = `${versionOf(product.versionStamp)} ${stockStamp}`;
    cache.set(keyOf(shopId, productId), withStock(product, stamp));
  }
}

/** The products with these version stamps; one that was deleted in the meantime is left out. */
export async function findCartProducts(
  db: Queries,
  shopId: string,
  stamps: readonly string[],
): Promise<CartProduct[]> {
  const cache = db.caches.of(cartProductCache);
  const found: CartProduct[] = [];
  const missing: string[] = [];
  for (const stamp of new Set(stamps)) {
    const productId = stamp.slice(0, 36);
    const cached = cache.get(keyOf(shopId, productId));
    if (cached?.versionStamp === stamp) found.push(cached);
    else if (cached && versionOf(cached.versionStamp) === versionOf(stamp)) {
      const product = withStock(cached, stamp);
      cache.set(keyOf(shopId, productId), product);
      found.push(product);
    } else missing.push(productId);
  }
  if (missing.length === 0) return found;
  return [...found, ...(await readCartProducts(db, shopId, missing))];
}

/** The existing ones of these products; they are cached. */
async function readCartProducts(
  db: Queries,
  shopId: string,
  productIds: readonly string[],
): Promise<CartProduct[]> {
  const cache = db.caches.of(cartProductCache);
  const rows = await selectCartProducts(db, shopId, productIds);
  return rows.map((row) => {
    const product = toCartProduct(row);
    if (JSON.stringify(row).length <= MAX_CACHED_LENGTH) cache.set(keyOf(shopId, product.productId), product);
    return product;
  });
}

/** `<id> <version>` */
const versionOf = (stamp: string) => stamp.slice(0, stamp.lastIndexOf(' '));

function withStock(product: CartProduct, stamp: string): CartProduct {
  const [stock = '', promised = '0'] = stamp.slice(stamp.lastIndexOf(' ') + 1).split('+');
  return {
    ...product,
    versionStamp: stamp,
    stock: stock === '' ? null : Number(stock),
    promised: Number(promised),
  };
}

/** Carts do not show these texts of a product, which can be long. */
const longTexts = sql`'{description,shortDescription,title,searchKeywords,attributes,videos}'::text[]`;

function selectCartProducts(db: Queries, shopId: string, productIds: readonly string[]) {
  return db.many<CartProductRow>(sql`
    select product.product_id as "productId", product.product_number as "productNumber", product.kind,
      product.master_id as "masterId", product.selection, product.visible, product.stock::float8 as stock,
      product.promised::float8 as promised,
      product.tax_class_id as "taxClassId", product.product_type_id as "productTypeId", product.prices,
      product.facts - ${longTexts} as facts, ${versionStamp(shopId)} as "versionStamp",
      case when master.product_id is not null then json_build_object(
        'productNumber', master.product_number, 'taxClassId', master.tax_class_id,
        'productTypeId', master.product_type_id, 'prices', master.prices, 'mainImage', master.main_image,
        'facts', master.facts - ${longTexts}) end as master,
      case when image.image_key is not null then json_build_object(
        'imageKey', image.image_key, 'sizes', image.sizes) end as image,
      array(
        select upper(assigned.category_id::text) from product_category assigned
        where assigned.shop_id = ${shopId} and assigned.product_id = coalesce(product.master_id, product.product_id)
        order by assigned.position, assigned.category_id limit ${MAX_CATEGORIES}
      ) as "categoryIds"
    from product
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    left join product_image image on image.shop_id = product.shop_id
      and image.product_id = case when product.main_image is null then product.master_id else product.product_id end
      and image.name = coalesce(product.main_image, master.main_image)
    where product.shop_id = ${shopId} and product.product_id = any (${productIds}::uuid[])`);
}
