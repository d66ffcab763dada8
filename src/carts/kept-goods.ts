import type { Queries } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import { goodsOf, type Goods, type GoodsRow } from './goods.ts';

/**
 * Products as carts look at them, kept in memory. The statement that reads a cart names the versions and the stock of
 * its products; only what is missing or newer is fetched. Selling moves the stock and no version, so that a product
 * which sells well stays kept.
 */

/** `<id> <version>`; a variation shows what it inherits, so its master's version counts too. */
const version = sql`product.product_id || ' ' || product.version || case when product.master_id is null then '' else (
    select '.' || version from product master
    where master.shop_id = product.shop_id and master.product_id = product.master_id
  ) end`;

/** `<id> <version> <stock>` */
const ref = sql`${version} || ' ' || coalesce(product.stock::text, '')`;

const listed = (what: Sql, shopId: Sql, productIds: Sql) => sql`array(
    select ${what} from product
    where product.shop_id = ${shopId} and product.product_id = any (${productIds})
    order by product.product_id)`;

/** The refs of these products as an array of texts in the order of their ids; an unknown product has none. */
export function goodsRefs(shopId: Sql, productIds: Sql): Sql {
  return listed(ref, shopId, productIds);
}

/** As a part of a larger statement: the places (from 0) of those of these refs that are not true any more. */
export function oldRefs(shopId: string, refs: readonly string[]): Sql {
  return sql`
    select place - 1 as place from unnest(${refs}::text[]) with ordinality as known (ref, place)
    where not exists (
      select from product
      where product.shop_id = ${shopId} and product.product_id = left(known.ref, 36)::uuid and ${ref} = known.ref)`;
}

/** A condition: these products are what they were when they were read, but for their stock. */
export function sameGoodsButStock(shopId: string, goods: readonly Goods[]): Sql {
  const versions = goods.map((one) => versionOf(one.ref)).toSorted();
  return sql`${versions}::text[] = ${listed(version, sql`${shopId}`, idsOf(goods))}`;
}

const idsOf = (goods: readonly Goods[]) => sql`${goods.map(({ productId }) => productId)}::uuid[]`;

const MOST_KEPT = 5_000;
/** Characters of a product's facts: what few products exceed must not fill the memory. */
const LONGEST_KEPT = 10_000;
const memories = new WeakMap<object, Map<string, Goods>>();

/** Per database, because tests have many in one process. */
function memoryOf({ source }: Queries): Map<string, Goods> {
  let memory = memories.get(source);
  if (!memory) memories.set(source, (memory = new Map()));
  return memory;
}

function keep(db: Queries, shopId: string, goods: Goods): void {
  // What a transaction sees may never be committed: it is not for others.
  if ('inTransaction' in db) return;
  const memory = memoryOf(db);
  if (memory.size >= MOST_KEPT) memory.clear();
  memory.set(`${shopId} ${goods.productId}`, goods);
}

/** As they were last seen; undefined when one of them is not kept. */
export function keptGoods(db: Queries, shopId: string, productIds: readonly string[]): Goods[] | undefined {
  const memory = memoryOf(db);
  const found = productIds.map((id) => memory.get(`${shopId} ${id.toUpperCase()}`));
  return found.every((goods) => goods !== undefined) ? found : undefined;
}

/** After an order was committed: what is left of its products, as `<id> <stock>`. */
export function rememberStock(db: Queries, shopId: string, left: readonly string[]): void {
  for (const entry of left) {
    const [productId, stock] = entry.split(' ') as [string, string];
    const [goods] = keptGoods(db, shopId, [productId]) ?? [];
    if (goods)
      keep(db, shopId, withStock(goods, `${goods.ref.slice(0, goods.ref.lastIndexOf(' '))} ${stock}`));
  }
}

function withStock(goods: Goods, ref: string): Goods {
  const stock = ref.slice(ref.lastIndexOf(' ') + 1);
  return { ...goods, ref, stock: stock === '' ? null : Number(stock) };
}

/** The products of these refs; one that was deleted in the meantime is left out. */
export async function goodsOfRefs(db: Queries, shopId: string, refs: readonly string[]): Promise<Goods[]> {
  const found: Goods[] = [];
  const missing: string[] = [];
  for (const ref of new Set(refs)) {
    const productId = ref.slice(0, 36);
    const kept = memoryOf(db).get(`${shopId} ${productId.toUpperCase()}`);
    if (kept?.ref === ref) found.push(kept);
    else if (kept && versionOf(kept.ref) === versionOf(ref)) {
      const goods = withStock(kept, ref);
      keep(db, shopId, goods);
      found.push(goods);
    } else missing.push(productId);
  }
  if (missing.length === 0) return found;
  for (const row of await findGoods(db, shopId, missing)) {
    const goods = goodsOf(row);
    if (JSON.stringify(row).length <= LONGEST_KEPT) keep(db, shopId, goods);
    found.push(goods);
  }
  return found;
}

/** With the id before it. */
const versionOf = (ref: string) => ref.slice(0, ref.lastIndexOf(' '));

/** Texts that only a product's own page shows can be long, and no cart shows them. */
const leftOut = sql`'{description,shortDescription,title,searchKeywords,attributes,videos}'::text[]`;

function findGoods(db: Queries, shopId: string, productIds: readonly string[]) {
  return db.many<GoodsRow & { ref: string }>(sql`
    select product.product_id as "productId", product.product_number as "productNumber", product.kind,
      product.master_id as "masterId", product.selection, product.visible, product.stock::float8 as stock,
      product.tax_class_id as "taxClassId", product.product_type_id as "productTypeId", product.prices,
      product.facts - ${leftOut} as facts, ${ref} as ref,
      case when master.product_id is not null then json_build_object(
        'productNumber', master.product_number, 'taxClassId', master.tax_class_id,
        'productTypeId', master.product_type_id, 'prices', master.prices, 'mainImage', master.main_image,
        'facts', master.facts - ${leftOut}) end as master,
      case when image.image_key is not null then json_build_object(
        'imageKey', image.image_key, 'sizes', image.sizes) end as image
    from product
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    left join product_image image on image.shop_id = product.shop_id
      and image.product_id = case when product.main_image is null then product.master_id else product.product_id end
      and image.name = coalesce(product.main_image, master.main_image)
    where product.shop_id = ${shopId} and product.product_id = any (${productIds}::uuid[])`);
}
