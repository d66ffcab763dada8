import type { Queries } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import { ORDERS, WHOLE_SHOP } from '../../catalogue/products/listing-page.ts';
import { hasValues, idsWith, rarestValue, type WantedValue } from '../../fields/filter.ts';
import { inScope, matchesTerms, type SearchTerms } from '../../catalogue/search/conditions.ts';
import { numberTerm, type Term } from '../../catalogue/search/query.ts';

export type StockFilter = 'in' | 'low' | 'out';

export interface ProductFilter {
  locale: string;
  terms: readonly Term[];
  /** undefined: both visible and hidden. */
  isVisible?: boolean | undefined;
  /** `in`: nothing is short; `low` and `out`: something is, for a master one of its variations. */
  stock?: StockFilter | undefined;
  /** Including all its subcategories. */
  categoryId?: string | undefined;
  /** Custom fields. */
  wanted?: readonly WantedValue[];
  sort: 'name' | 'price';
  direction: 'asc' | 'desc';
  limit: number;
  offset: number;
}

export interface IdPage {
  productIds: string[];
  /** Over all pages, or as far as counted. */
  results: number;
  isMore: boolean;
}

/**
 * The maximum number of compared products among those that match a filter: users do not page through more. The list
 * then says that there are more.
 */
const MAX_HITS = 2_000;

/** Products that are read one after the other, in list order, before a word index is used. */
const MAX_READ = 1_500;

export async function findProductPage(db: Queries, shopId: string, filter: ProductFilter): Promise<IdPage> {
  const { terms, stock, wanted = [] } = filter;
  if (wanted.length > 0) return findMatching(db, shopId, filter, findWithValues);
  if (terms.length === 0) {
    if (stock === undefined) return findListed(db, shopId, filter);
    return stock === 'in' ? findInStock(db, shopId, filter) : findShort(db, shopId, filter);
  }
  const isShort = stock === 'low' || stock === 'out';
  const frequent = isShort ? undefined : await findFrequent(db, shopId, filter);
  if (frequent) return frequent;
  return findMatching(db, shopId, filter, isShort ? findShortMatches : findMatches);
}

async function findMatching(
  db: Queries,
  shopId: string,
  filter: ProductFilter,
  find: typeof findMatches,
): Promise<IdPage> {
  const { terms } = filter;
  // As in a search of the shop: own words first, then those of categories, then a number in another spelling.
  const number = numberTerm(terms);
  let found = await find(db, shopId, filter, { terms, ownWords: true });
  for (const searched of [{ terms }, ...(number ? [{ terms: [number] }] : [])]) {
    if (found.results > 0) break;
    found = await find(db, shopId, filter, searched);
  }
  return found;
}

/** Each part is read in the order of an index: a single query for all would have to sort the whole list. */
function listedRows(shopId: string, filter: ProductFilter, condition: Sql = sql`true`): Sql {
  const { locale, categoryId, isVisible, sort, direction, limit, offset } = filter;
  const order = ORDERS[sort][direction];
  const part = (source: Sql, visible: boolean) => sql`(
    select name, price, product_id from ${source} and visible = ${visible} and ${condition}
    order by ${order} limit ${limit + offset + 1})`;
  const inCategory = sql`shop_id = ${shopId} and category_id = ${categoryId ?? WHOLE_SHOP} and locale = ${locale}`;
  const sources =
    categoryId === undefined
      ? [sql`listing as entry where shop_id = ${shopId} and locale = ${locale}`]
      : [
          sql`category_listing as entry where ${inCategory}`,
          sql`subcategory_listing as entry where ${inCategory}`,
        ];
  const parts = (isVisible === undefined ? [true, false] : [isVisible]).flatMap((visible) =>
    sources.map((source) => part(source, visible)),
  );
  return parts.reduce((all, one) => sql`${all} union all ${one}`);
}

async function findListed(db: Queries, shopId: string, filter: ProductFilter): Promise<IdPage> {
  const { categoryId, isVisible, sort, direction, limit, offset } = filter;
  const visibilities = isVisible === undefined ? [true, false] : [isVisible];
  const row = await db.one<{ productIds: string[]; results: number }>(sql`
    select array(
        select upper(product_id::text) from (${listedRows(shopId, filter)}) as entry
        order by ${ORDERS[sort][direction]} limit ${limit} offset ${offset}
      ) as "productIds", coalesce(sum(products + products_below), 0)::bigint as results
    from listing_size
    where shop_id = ${shopId} and category_id = ${categoryId ?? WHOLE_SHOP} and visible = any (${visibilities}::boolean[])`);
  return { ...row!, isMore: false };
}

/** Most products are in stock, so the page is full after a few index entries. They are not counted. */
async function findInStock(db: Queries, shopId: string, filter: ProductFilter): Promise<IdPage> {
  const { sort, direction, limit, offset } = filter;
  const isShort = sql`exists (${shortOf(shopId, sql`entry.product_id`, sql`true`)})`;
  const rows = await db.many<{ productId: string }>(sql`
    select upper(product_id::text) as "productId" from (${listedRows(shopId, filter, sql`not ${isShort}`)}) as entry
    order by ${ORDERS[sort][direction]} limit ${limit + 1} offset ${offset}`);
  const productIds = rows.slice(0, limit).map(({ productId }) => productId);
  return { productIds, results: offset + productIds.length, isMore: rows.length > limit };
}

async function findShort(
  db: Queries,
  shopId: string,
  filter: ProductFilter,
  searched: SearchTerms = { terms: [] },
): Promise<IdPage> {
  const { locale, stock } = filter;
  const { compared, ...found } = await findHits(db, shopId, filter, {
    compared: sql`
      select distinct coalesce(master_id, product_id) as product_id from product
      where shop_id = ${shopId} and kind <> 'master' and stock <= greatest(min_stock, 0) and ${shortage(stock)}
      limit ${MAX_HITS}`,
    hits: sql`
      select listing.product_id, listing.name, listing.price from listing
      where listing.shop_id = ${shopId} and listing.locale = ${locale}
        and listing.product_id = any (array(select product_id from compared))
        and ${matchesTerms(searched, locale)} and ${narrowed(shopId, filter)}`,
  });
  return { ...found, isMore: compared >= MAX_HITS };
}

/**
 * Matching products that are short of stock. Few products are short, so their words are compared one by one, and all
 * matches are found. Only where many are short and few of those match, the stock of the matching products is checked
 * instead.
 */
async function findShortMatches(
  db: Queries,
  shopId: string,
  filter: ProductFilter,
  searched: SearchTerms,
): Promise<IdPage> {
  const found = await findShort(db, shopId, filter, searched);
  const isFull = found.results > filter.offset + filter.limit;
  return isFull || !found.isMore ? found : findMatches(db, shopId, filter, searched);
}

/**
 * Matching products with values of custom fields, read from the value that the fewest products have. Where very many
 * have it, the first products of the list fill the page, or those with the words are checked; else the newest products
 * with the value are.
 */
async function findWithValues(
  db: Queries,
  shopId: string,
  filter: ProductFilter,
  searched: SearchTerms,
): Promise<IdPage> {
  const { locale, stock, wanted = [] } = filter;
  const { value, count } = await rarestValue(db, shopId, wanted, MAX_HITS);
  if (count > MAX_HITS) {
    const frequent = await findFrequent(db, shopId, filter);
    if (frequent) return frequent;
    if (searched.terms.length > 0) return findMatches(db, shopId, filter, searched);
  }
  const found = await findHits(db, shopId, filter, {
    compared: sql`${idsWith(shopId, value)} limit ${MAX_HITS}`,
    hits: sql`
      select listing.product_id, listing.name, listing.price from listing
      where listing.shop_id = ${shopId} and listing.locale = ${locale}
        and listing.product_id = any (array(select resource_id from compared))
        and ${matchesTerms(searched, locale)} and ${narrowed(shopId, filter)} and ${hasStock(shopId, stock)}`,
  });
  return { productIds: found.productIds, results: found.results, isMore: count > MAX_HITS };
}

/**
 * A page of a filter that many products match: it is full after a few of the first products of the list. The word
 * indexes would collect all of them, unordered. undefined: the first products of the list do not fill the page.
 */
async function findFrequent(db: Queries, shopId: string, filter: ProductFilter): Promise<IdPage | undefined> {
  const { terms, locale, stock, sort, direction, limit, offset, wanted = [] } = filter;
  const first = listedRows(shopId, { ...filter, limit: MAX_READ, offset: 0 });
  const { compared, ...found } = await findHits(db, shopId, filter, {
    compared: sql`
      select product_id from (${first}) as entry order by ${ORDERS[sort][direction]} limit ${MAX_READ}`,
    hits: sql`
      select product_id, name, price from listing
      where ${inScope(shopId, { locale, includeInvisible: true })}
        and listing.product_id = any (array(select product_id from compared))
        and ${matchesTerms({ terms, ownWords: true }, locale)} and ${hasStock(shopId, stock)}
        and ${hasValues(shopId, sql`listing.product_id`, wanted)}`,
  });
  const isWhole = compared < MAX_READ;
  const isFound = isWhole ? found.results > 0 : found.results > offset + limit;
  return isFound ? { ...found, isMore: !isWhole } : undefined;
}

async function findMatches(
  db: Queries,
  shopId: string,
  filter: ProductFilter,
  searched: SearchTerms,
): Promise<IdPage> {
  const { locale, stock } = filter;
  const { compared, ...found } = await findHits(db, shopId, filter, {
    compared: sql`
      select product_id, name, price, visible, locale from listing
      where ${inScope(shopId, { locale, includeInvisible: true })} and ${matchesTerms(searched, locale)}
      limit ${MAX_HITS}`,
    hits: sql`
      select product_id, name, price from compared as listing
      where ${narrowed(shopId, filter)} and ${hasStock(shopId, stock)}`,
  });
  return { ...found, isMore: compared >= MAX_HITS };
}

/** A condition on listed products. */
function hasStock(shopId: string, stock: StockFilter | undefined): Sql {
  const listed = sql`listing.product_id`;
  if (stock === undefined) return sql`true`;
  return stock === 'in'
    ? sql`not exists (${shortOf(shopId, listed, sql`true`)})`
    : sql`exists (${shortOf(shopId, listed, shortage(stock))})`;
}

/**
 * A page of the hits among the compared products. `materialized` makes PostgreSQL collect them before sorting, as in a
 * search of the shop.
 */
async function findHits(
  db: Queries,
  shopId: string,
  { sort, direction, limit, offset }: ProductFilter,
  { compared, hits }: { compared: Sql; hits: Sql },
): Promise<Pick<IdPage, 'productIds' | 'results'> & { compared: number }> {
  const is = (by: 'name' | 'price', towards: 'asc' | 'desc') => sort === by && direction === towards;
  const row = await db.one<{ productIds: string[]; results: number; compared: number }>(sql`
    with compared as materialized (${compared}), hit as materialized (${hits})
    select (select count(*) from compared) as compared, (select count(*) from hit) as results, array(
        select upper(product_id::text) from hit
        order by case when ${is('price', 'asc')} then price when ${is('price', 'desc')} then -price end,
          case when ${is('name', 'desc')} then name end desc nulls last, name, product_id
        limit ${limit} offset ${offset}
      ) as "productIds"
    from shop where shop_id = ${shopId}`);
  return row!;
}

function narrowed(shopId: string, { isVisible, categoryId, wanted = [] }: ProductFilter): Sql {
  const visibilities = isVisible === undefined ? [true, false] : [isVisible];
  const visible = sql`listing.visible = any (${visibilities}::boolean[])
    and ${hasValues(shopId, sql`listing.product_id`, wanted)}`;
  if (categoryId === undefined) return visible;
  return sql`${visible} and (exists (
      select from category_listing entry where entry.shop_id = ${shopId} and entry.category_id = ${categoryId}
        and entry.locale = listing.locale and entry.product_id = listing.product_id
    ) or exists (
      select from subcategory_listing entry where entry.shop_id = ${shopId} and entry.category_id = ${categoryId}
        and entry.locale = listing.locale and entry.product_id = listing.product_id))`;
}

/** Sold out, or at the warning level; for both, one condition finds either. */
const shortage = (stock: StockFilter | undefined) => sql`(stock <= 0) = ${stock === 'out'}`;

function shortOf(shopId: string, productId: Sql, condition: Sql): Sql {
  return sql`select from product
    where shop_id = ${shopId} and coalesce(master_id, product.product_id) = ${productId}
      and kind <> 'master' and stock <= greatest(min_stock, 0) and ${condition}`;
}
