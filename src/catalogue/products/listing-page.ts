import type { CacheKind } from '../../db/cache.ts';
import type { Queries } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import { isId } from '../../kernel/ids.ts';
import type { ProductVersion } from './queries.ts';

/** The list of the whole shop among those of the categories. */
export const WHOLE_SHOP = '00000000-0000-0000-0000-000000000000';

/** A page of a list of products. */
export interface ProductPage {
  /** The version of the shop's settings at the same moment. */
  settingsVersion: number;
  /** Over all pages. */
  results: number;
  /** A search found more than it compared: `results` counts those. */
  isMore?: boolean;
  /**
   * The ids, versions and stocks of the products, `<id>:<version>/<stock>,...`, parsed by `parseVersions`: a row per
   * product would cost more to send and read than the page itself. The rendered page is cached under this key.
   */
  versions: string;
}

export interface PageOptions {
  locale: string;
  categoryId?: string | undefined;
  /** Including the products of its visible subcategories. */
  withSubcategories?: boolean;
  sort: 'name' | 'price';
  direction: 'asc' | 'desc';
  includeInvisible: boolean;
  limit: number;
  offset: number;
}

/** Each is the order of an index, read forwards or backwards. Products without a price sort as the most expensive. */
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

/** A product, and the number of products before it in its list. */
interface Position {
  offset: number;
  productId: string;
}

interface KnownPositions {
  /** The version of the list in which they were read. */
  version: string;
  /** At most one for each STEP of the list. */
  bySteps: ReadonlyMap<number, Position>;
}

/** Skipping this many rows of an index takes less than a tenth of a millisecond. */
const STEP = 500;

/** Positions at which pages were read: a later page is read from the nearest one before it. */
const positionCache: CacheKind<KnownPositions> = { name: 'list positions', limit: { megabytes: 8 } };

/** Approximate size of a position in the cache. */
const POSITION_BYTES = 150;

/**
 * A page of a list, read in the order of an index; nothing is counted or sorted. An offset reads all rows before it,
 * so a page far from the start begins at a product with a known position. Positions are valid for one version of the
 * list, which the same statement reads.
 */
export function pageOfProducts(db: Queries, shopId: string, options: PageOptions): Promise<ProductPage> {
  return db.shared.once(shopId, `page ${JSON.stringify(options)}`, () =>
    readPageOfProducts(db, shopId, options),
  );
}

async function readPageOfProducts(db: Queries, shopId: string, options: PageOptions): Promise<ProductPage> {
  const { locale, categoryId, withSubcategories, sort, direction, includeInvisible, offset } = options;
  const cache = db.caches.of(positionCache);
  const key = `${shopId} ${categoryId ?? ''} ${withSubcategories} ${locale} ${sort} ${direction} ${includeInvisible}`;
  const known = cache.get(key);
  const start = known && nearestPosition(known, offset);
  let page = await readPage(db, shopId, options, start);
  if (start && page && versionOf(page) !== known.version) page = await readPage(db, shopId, options);
  const step = Math.floor(offset / STEP);
  if (page && page.versions !== '' && step > 0) {
    const version = versionOf(page);
    const bySteps = known?.version === version ? known.bySteps : new Map<number, Position>();
    if (!bySteps.has(step)) {
      const { productId } = parseVersions(page.versions)[0]!;
      const positions = new Map(bySteps).set(step, { offset, productId });
      cache.set(key, { version, bySteps: positions }, positions.size * POSITION_BYTES);
    }
  }
  return toProductPage(page);
}

function nearestPosition({ bySteps }: KnownPositions, offset: number): Position | undefined {
  let nearest: Position | undefined;
  for (const position of bySteps.values()) {
    if (position.offset <= offset && position.offset >= (nearest?.offset ?? 0)) nearest = position;
  }
  return nearest;
}

interface ReadPage extends ProductPage {
  listVersion: number;
}

/** A shop that is restored, or created again under the same id, has another version of its settings. */
const versionOf = ({ settingsVersion, listVersion }: ReadPage) => `${settingsVersion} ${listVersion}`;

function readPage(
  db: Queries,
  shopId: string,
  options: PageOptions,
  start?: Position,
): Promise<ReadPage | undefined> {
  const { locale, categoryId, withSubcategories, sort, direction, includeInvisible, limit } = options;
  const order = ORDERS[sort][direction];
  const listId = categoryId === undefined ? WHOLE_SHOP : idOfList(categoryId);
  const inCategory = sql`shop_id = ${shopId} and category_id = ${listId} and locale = ${locale}`;
  const source =
    categoryId === undefined
      ? sql`listing where shop_id = ${shopId} and locale = ${locale}`
      : sql`category_listing where ${inCategory}`;
  const sources = withSubcategories
    ? [sql`${source} and visible`, sql`subcategory_listing where ${inCategory} and visible`]
    : includeInvisible
      ? [sql`${source} and visible`, sql`${source} and not visible`]
      : [sql`${source} and visible`];
  const ranges = start ? rangesFrom(shopId, options, start.productId) : [sql`true`];
  const offset = options.offset - (start?.offset ?? 0);
  const { column, version } = SORT_COLUMNS[sort];
  // Each part is read in the order of its index: a single query for all would have to sort the whole list.
  const parts = sources.flatMap((rows) =>
    ranges.map(
      (range) => sql`(
        select ${column}, product_id from ${rows} and ${range} order by ${order} limit ${limit + offset}
      )`,
    ),
  );
  const rows = sql`select * from (${parts.reduce((all, part) => sql`${all} union all ${part}`)}) as entry`;
  const size = withSubcategories ? sql`products + products_below` : sql`products`;
  return db.one<ReadPage>(sql`
    select settings_version as "settingsVersion", results, "listVersion",
      ${pageVersions(shopId, rows, order, limit, offset)} as versions
    from shop cross join (
      select coalesce(sum(${size}), 0)::bigint as results, coalesce(sum(${version}), 0)::bigint as "listVersion"
      from listing_size where shop_id = ${shopId} and category_id = ${listId} and (visible or ${includeInvisible})
    ) as size
    where shop_id = ${shopId}`);
}

const SORT_COLUMNS = {
  name: { column: sql`name`, version: sql`name_version` },
  price: { column: sql`price`, version: sql`price_version` },
};

/**
 * Conditions that divide the rows of a list from this product on into ranges of its index. Products without a price
 * form a separate range, because null is neither more nor less than a price.
 */
function rangesFrom(shopId: string, { locale, sort, direction }: PageOptions, productId: string): Sql[] {
  const follows = direction === 'asc' ? sql`>=` : sql`<=`;
  const value = (expression: Sql) => sql`(
    select ${expression} from listing where shop_id = ${shopId} and product_id = ${productId} and locale = ${locale})`;
  if (sort === 'name') return [sql`(name, product_id) ${follows} (${value(sql`name`)}, ${productId}::uuid)`];
  return [
    sql`(price, product_id) ${follows} (${value(sql`coalesce(price, ${ABOVE_ALL_PRICES}::bigint)`)}, ${productId}::uuid)`,
    sql`price is null and product_id ${follows} ${value(sql`case when price is null then product_id else ${WHOLE_SHOP}::uuid end`)}`,
  ];
}

const ABOVE_ALL_PRICES = '9223372036854775807';

/** The number of listed products of the shop, visible or not. */
export async function countProducts(db: Queries, shopId: string): Promise<number> {
  const row = await db.one<{ products: number }>(sql`
    select coalesce(sum(products), 0)::bigint as products from listing_size
    where shop_id = ${shopId} and category_id = ${WHOLE_SHOP}`);
  return row!.products;
}

/** The number of visible products of a category, with or without its subcategories. */
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

/** The number of visible products in the list of the whole shop. */
export async function countListed(db: Queries, shopId: string): Promise<number> {
  const row = await db.one<{ products: number }>(sql`
    select products from listing_size where shop_id = ${shopId} and category_id = ${WHOLE_SHOP} and visible`);
  return row?.products ?? 0;
}

/** Text that is not a category id, or is the id of the whole shop, becomes an id that no category has. */
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
