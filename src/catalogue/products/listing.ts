import type { Queries, Transaction } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import { isId } from '../../kernel/ids.ts';
import { currencyDigits } from '../../kernel/money.ts';
import type { ProductRef } from './queries.ts';

/*
 * The tables behind lists and search. They are derived: nobody writes them but this file, always in the transaction
 * that changed a product, so a list never shows what is no longer there.
 */

/** What a statement takes: it must stay in the memory that PostgreSQL sorts in, and far below its time limit. */
const MOST_AT_ONCE = 500;

/** Characters. An index takes no entry beyond 2,700 bytes. */
export const LONGEST_FACET = 500;

/** Characters: of a master with very many variations the first ones are found by their numbers in lists. */
const LONGEST_NUMBERS = 1_000;

/** The list of the whole shop among those of the categories. */
const WHOLE_SHOP = '00000000-0000-0000-0000-000000000000';

/** The dictionaries that PostgreSQL brings, by language; words of others are taken as they are. */
const DICTIONARIES: Readonly<Record<string, string>> = {
  ar: 'arabic',
  ca: 'catalan',
  da: 'danish',
  de: 'german',
  el: 'greek',
  en: 'english',
  es: 'spanish',
  eu: 'basque',
  fi: 'finnish',
  fr: 'french',
  ga: 'irish',
  hi: 'hindi',
  hu: 'hungarian',
  hy: 'armenian',
  id: 'indonesian',
  it: 'italian',
  lt: 'lithuanian',
  nb: 'norwegian',
  ne: 'nepali',
  nl: 'dutch',
  nn: 'norwegian',
  no: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sr: 'serbian',
  sv: 'swedish',
  ta: 'tamil',
  tr: 'turkish',
  yi: 'yiddish',
};

export function dictionaryOf(locale: string): string {
  return DICTIONARIES[locale.slice(0, 2)] ?? 'simple';
}

/** The currencies that have not 2 decimals. */
const DIGITS = Object.fromEntries(
  Intl.supportedValuesOf('currency').flatMap((currency) =>
    currencyDigits(currency) === 2 ? [] : [[currency, currencyDigits(currency)]],
  ),
);

/**
 * Brings lists and search up to date with these products, in the transaction that changed them. Of a variation the
 * master is meant. Rows that do not change are not written.
 */
export async function refreshListing(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
): Promise<void> {
  const changes: SizeChange[] = [];
  for (let from = 0; from < productIds.length; from += MOST_AT_ONCE) {
    const listed = await lockListed(tx, shopId, productIds.slice(from, from + MOST_AT_ONCE));
    if (listed.length > 0) changes.push(...(await writeListing(tx, shopId, listed)));
  }
  await moveSizes(tx, shopId, changes);
}

/**
 * The products that stand in lists. Who changes a variation has not locked its master: without this lock two
 * such transactions would each write what they can't see of the other.
 */
async function lockListed(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await tx.many<{ productId: string }>(sql`
    select product_id as "productId" from product
    where shop_id = ${shopId} and kind <> 'variation' and product_id = any (array(
      select coalesce(master_id, product_id) from product
      where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])))
    order by product_id for no key update`);
  return rows.map(({ productId }) => productId);
}

/** How the number of products in a list changes. */
interface SizeChange {
  categoryId: string;
  visible: boolean;
  change: number;
}

/** Of a column with prices by currency: the one in the default currency, else the first that can be converted. */
function defaultPrice(prices: Sql): Sql {
  return sql`coalesce((${prices} ->> place.default_currency)::bigint, (
    select least(round((${prices} ->> currency)::numeric * 10::numeric ^ (
        coalesce((place.digits -> place.default_currency)::integer, 2) - coalesce((place.digits -> currency)::integer, 2)
      ) / (place.exchange_rates ->> currency)::numeric), ${Number.MAX_SAFE_INTEGER})::bigint
    from unnest(place.currencies) with ordinality as offered (currency, position)
    where ${prices} ? currency and (place.exchange_rates ->> currency)::numeric > 0
    order by position limit 1))`;
}

/**
 * One statement, so all of it sees the same moment: what was listed before, and what is true now.
 *
 * PostgreSQL knows nothing of a shop that has just been filled, takes it for empty, and would read all of it, or
 * compare each of 500 products with each other one. Therefore `offset 0` and the subqueries: they fix that
 * everything is looked up product by product, by its key. The ids come as one JSON text, because a plan that
 * depends on how many there are is made anew for every call.
 *
 * Rows in a locale that the shop no longer has are deleted here too, so that all rows of a product agree on whether it
 * is visible: the sizes of the lists are counted from them, also while a rebuild has not come to this product yet.
 *
 * Of a master the facet `p:` is the highest price of its variations; `price` is the lowest.
 *
 * Bounds: an index entry of a name or a facet must stay below 2,700 bytes, a tsvector below 1 MB. The parser of
 * the text search leaves out markup by itself.
 */
function writeListing(tx: Transaction, shopId: string, productIds: readonly string[]): Promise<SizeChange[]> {
  return tx.many(sql`
    with place as materialized (
      select default_locale, locales, default_currency, currencies, exchange_rates, ${DIGITS}::jsonb as digits,
        ${DICTIONARIES}::jsonb as dictionaries,
        (select product_type_id from product_type where shop_id = ${shopId} and alias = 'Default') as product_type_id
      from shop where shop_id = ${shopId}
    ), wanted as materialized (
      select id::uuid as product_id from jsonb_array_elements_text(${JSON.stringify(productIds)}::jsonb) as id
    ), attribute as materialized (
      select product_type.product_type_id, attribute.key, attribute.number
      from product_type cross join jsonb_to_recordset(product_type.attributes)
        as attribute (key text, number bigint, "preDefined" boolean)
      where product_type.shop_id = ${shopId} and attribute."preDefined"
    ), item as materialized (
      select product.product_id, product.product_number, product.visible, fact.*,
        nullif(concat_ws(' | ', "manufacturerProductNumber", ean, upc, "productCode", variation.numbers), '') as numbers,
        coalesce(variation.price, ${defaultPrice(sql`product.prices`)}) as price, assigned.categories,
        array(
          select left(facet, ${LONGEST_FACET}) from (
            select unnest(assigned.facets)
            union
            select 'm:' || fact.manufacturer where fact.manufacturer <> ''
            union
            select 'p:' || variation.highest where variation.highest > variation.price
            union
            select 'a:' || attribute.number || ':' || (choice ->> 'value')
            from jsonb_array_elements(fact.attributes) as own
            join attribute on attribute.key = own ->> 'key'
              and attribute.product_type_id = coalesce(product.product_type_id, place.product_type_id)
            cross join jsonb_array_elements(own -> 'values') as choice
            union
            select 'a:' || attribute.number || ':' || choice.value
            from unnest(variation.selections) as selection cross join jsonb_each_text(selection) as choice
            join attribute on attribute.key = choice.key
              and attribute.product_type_id = coalesce(product.product_type_id, place.product_type_id)
          ) as facets (facet) order by facet
        ) as facets
      from place cross join wanted
      cross join lateral (
        select * from product where shop_id = ${shopId} and product_id = wanted.product_id offset 0
      ) as product
      cross join lateral jsonb_to_record(product.facts) as fact (name jsonb, "shortDescription" jsonb,
        description jsonb, "searchKeywords" jsonb, manufacturer text, "manufacturerProductNumber" text, ean text,
        upc text, "productCode" text, attributes jsonb)
      cross join lateral (
        select left(string_agg(product_number, ' | ' order by product_number collate "C"), ${LONGEST_NUMBERS}) as numbers,
          array_agg(selection) as selections,
          min(offered.price) as price, max(offered.price) as highest
        from product variation
        cross join lateral (
          select ${defaultPrice(sql`coalesce(variation.prices, product.prices)`)} as price
        ) as offered
        where variation.shop_id = ${shopId} and variation.master_id = product.product_id and variation.visible
          and product.kind = 'master'
      ) as variation
      cross join lateral (
        select array_agg(category.category_id) as categories, array_agg('c:' || category.number) as facets
        from product_category assigned join category
          on category.shop_id = ${shopId} and category.category_id = assigned.category_id
        where assigned.shop_id = ${shopId} and assigned.product_id = product.product_id
      ) as assigned
    ), said as materialized (
      select offered.locale, item.product_id, item.product_number, item.visible, item.price, item.categories,
        item.facets, item.manufacturer, item.numbers,
        coalesce(place.dictionaries ->> left(offered.locale, 2), 'simple')::regconfig as dictionary,
        left(coalesce(nullif(item.name ->> offered.locale, ''), nullif(item.name ->> place.default_locale, ''),
          jsonb_path_query_first(item.name, '$.* ? (@ != "")') #>> '{}', item.product_number), 500) as name,
        (
          select left(string_agg(keyword, ' | '), 5000) from jsonb_array_elements_text(coalesce(
            item."searchKeywords" -> offered.locale, item."searchKeywords" -> place.default_locale,
            jsonb_path_query_first(item."searchKeywords", '$.*'))) as keyword
        ) as keywords,
        left(coalesce(item."shortDescription" ->> offered.locale,
          item."shortDescription" ->> place.default_locale), 20000) as summary,
        left(coalesce(item.description ->> offered.locale, item.description ->> place.default_locale),
          20000) as description
      from place cross join item cross join unnest(place.locales) as offered (locale)
    ), fresh as materialized (
      select locale, product_id, visible, name, price, categories, facets,
        lower(left(regexp_replace(concat_ws(' | ', name, product_number, manufacturer, keywords, numbers),
          '[,;:!?.()"'']*(\\s+|^|$)[,;:!?.()"'']*', ' ', 'g'), 8000)) as text,
        setweight(to_tsvector(dictionary, concat_ws(' ', name, product_number, keywords)), 'A')
          || setweight(to_tsvector(dictionary, concat_ws(' ', left(manufacturer, 1000), summary)), 'B')
          || to_tsvector(dictionary, coalesce(description, '')) as words
      from said
    ), before as materialized (
      select old.* from wanted cross join lateral (
        select locale, product_id, visible, name, price, text, words, facets from listing
        where shop_id = ${shopId} and product_id = wanted.product_id offset 0
      ) as old
    ), listed as (
      insert into listing (shop_id, locale, product_id, visible, name, price, text, words, facets)
      select ${shopId}, entry.* from (
        select locale, product_id, visible, name, price, text, words, facets from fresh
        except
        select locale, product_id, visible, name, price, text, words, facets from before
      ) as entry
      on conflict (shop_id, locale, product_id) do update set visible = excluded.visible, name = excluded.name,
        price = excluded.price, text = excluded.text, words = excluded.words, facets = excluded.facets
    ), retired as (
      delete from listing
      where shop_id = ${shopId} and product_id = any (array(select product_id from wanted))
        and locale <> all ((select locales from place)::text[])
    ), before_in_category as materialized (
      select old.* from wanted cross join lateral (
        select category_id, locale, product_id, visible, name, price from category_listing
        where shop_id = ${shopId} and product_id = wanted.product_id offset 0
      ) as old
    ), listed_in_category as (
      insert into category_listing (shop_id, category_id, locale, product_id, visible, name, price)
      select ${shopId}, entry.* from (
        select unnest(categories), locale, product_id, visible, name, price from fresh
        except
        select category_id, locale, product_id, visible, name, price from before_in_category
      ) as entry
      on conflict (shop_id, category_id, locale, product_id) do update
        set visible = excluded.visible, name = excluded.name, price = excluded.price
    ), unassigned as (
      delete from category_listing listing
      where shop_id = ${shopId} and product_id = any (array(select product_id from wanted)) and (
        locale <> all ((select locales from place)::text[]) or (
          select count(*) from product_category assigned
          where assigned.shop_id = ${shopId} and assigned.product_id = listing.product_id
            and assigned.category_id = listing.category_id) = 0)
    )
    select category_id as "categoryId", visible, sum(change) as change from (
      select ${WHOLE_SHOP}::uuid as category_id, visible, 1 as change from item
      union all
      select ${WHOLE_SHOP}::uuid, visible, -1 from (select distinct product_id, visible from before) as product
      union all
      select unnest(categories), visible, 1 from item
      union all
      select category_id, visible, -1
      from (select distinct category_id, product_id, visible from before_in_category) as product
    ) as difference
    group by category_id, visible having sum(change) <> 0`);
}

/**
 * The rows of the sizes stay locked until the end of the transaction, and every writer of the shop needs them: so
 * this comes last, and always in the same order.
 */
async function moveSizes(tx: Transaction, shopId: string, changes: readonly SizeChange[]): Promise<void> {
  if (changes.length === 0) return;
  await tx.run(sql`
    insert into listing_size (shop_id, category_id, visible, products)
    select ${shopId}, "categoryId", visible, sum(change)
    from jsonb_to_recordset(${JSON.stringify(changes)}) as entry ("categoryId" uuid, visible boolean, change bigint)
    group by "categoryId", visible order by "categoryId", visible
    on conflict (shop_id, category_id, visible) do update set products = listing_size.products + excluded.products`);
}

/** Before products are deleted. Of a variation nothing is listed: after its end the master is refreshed. */
export async function removeFromListing(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
): Promise<void> {
  const changes = await tx.many<SizeChange>(sql`
    with gone as (
      delete from listing where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])
      returning product_id, visible
    ), unassigned as (
      delete from category_listing where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])
      returning category_id, product_id, visible
    )
    select category_id as "categoryId", visible, -count(distinct product_id) as change from (
      select ${WHOLE_SHOP}::uuid as category_id, product_id, visible from gone
      union all
      select category_id, product_id, visible from unassigned
    ) as entry
    group by category_id, visible`);
  await moveSizes(tx, shopId, changes);
}

/**
 * After the first of many new products: PostgreSQL learns of a shop only when it looks at the tables again by itself,
 * within a minute or so, and until then takes the shop for empty and chooses among indexes by chance.
 */
export async function analyseCatalogue(db: Queries): Promise<void> {
  // The keys alone: to look at the words of a large table takes seconds.
  await db.run(sql`
    analyze (skip_locked) product (shop_id, product_id, master_id), product_category (shop_id, product_id),
      listing (shop_id, locale, product_id), category_listing (shop_id, category_id, locale, product_id)`);
}

export interface ProductPage {
  /** Of the shop's settings in the same moment. */
  settingsVersion: number;
  /** Over all pages. */
  results: number;
  /** `<id>:<version>,...`: what `refsOf` takes apart, and what the text of the page is known by. */
  page: string;
}

export interface PageOptions {
  locale: string;
  categoryId?: string | undefined;
  sort: 'name' | 'price';
  direction: 'asc' | 'desc';
  includeInvisible: boolean;
  limit: number;
  offset: number;
}

export interface PageRow {
  settingsVersion: number;
  results: number;
  /** `<id>:<version>,...`: a row for each product would cost more to send and to read than the page itself. */
  page: string;
}

/** Each is the order of an index, read forwards or backwards. Products without a price are the dearest. */
export const ORDERS = {
  name: { asc: sql`name, product_id`, desc: sql`name desc, product_id desc` },
  price: { asc: sql`price, product_id`, desc: sql`price desc, product_id desc` },
};

/** The page of these rows that have a product_id, as `PageRow` has it. An array keeps the order of its query. */
export function pageText(shopId: string, rows: Sql, order: Sql, limit: number, offset: number): Sql {
  return sql`array_to_string(array(
    select entry.product_id || ':' || (
      select version || coalesce('/' || stock, '') from product
      where shop_id = ${shopId} and product.product_id = entry.product_id
    )
    from (${rows} order by ${order} limit ${limit} offset ${offset}) as entry
  ), ',')`;
}

/** A page of a list, read from one end of an index; nothing is counted or sorted. */
export async function pageOfProducts(
  db: Queries,
  shopId: string,
  { locale, categoryId, sort, direction, includeInvisible, limit, offset }: PageOptions,
): Promise<ProductPage> {
  const order = ORDERS[sort][direction];
  const listId = categoryId === undefined ? WHOLE_SHOP : idOfList(categoryId);
  const source =
    categoryId === undefined
      ? sql`listing where shop_id = ${shopId} and locale = ${locale}`
      : sql`category_listing where shop_id = ${shopId} and category_id = ${listId} and locale = ${locale}`;
  // Each half in its own order: together they would have to be sorted.
  const half = (visible: Sql) => sql`(
    select name, price, product_id from ${source} and ${visible} order by ${order} limit ${limit + offset}
  )`;
  const entries = includeInvisible
    ? sql`(${half(sql`visible`)} union all ${half(sql`not visible`)}) as entry`
    : sql`${source} and visible`;
  const row = await db.one<PageRow>(sql`
    select settings_version as "settingsVersion", (
        select coalesce(sum(products), 0)::bigint from listing_size
        where shop_id = ${shopId} and category_id = ${listId} and (visible or ${includeInvisible})
      ) as results,
      ${pageText(shopId, sql`select name, price, product_id from ${entries}`, order, limit, offset)} as page
    from shop where shop_id = ${shopId}`);
  return productPage(row);
}

/** How many products of the shop stand in lists, visible or not. */
export async function countProducts(db: Queries, shopId: string): Promise<number> {
  const row = await db.one<{ products: number }>(sql`
    select coalesce(sum(products), 0)::bigint as products from listing_size
    where shop_id = ${shopId} and category_id = ${WHOLE_SHOP}`);
  return row!.products;
}

/** How many visible products stand in the list of the whole shop. */
export async function countListed(db: Queries, shopId: string): Promise<number> {
  const row = await db.one<{ products: number }>(sql`
    select products from listing_size where shop_id = ${shopId} and category_id = ${WHOLE_SHOP} and visible`);
  return row?.products ?? 0;
}

/** What is no id, or only ours, is an id that no category has. */
function idOfList(categoryId: string): string {
  return isId(categoryId) && categoryId !== WHOLE_SHOP ? categoryId : 'ffffffff-ffff-ffff-ffff-ffffffffffff';
}

/** An unknown shop has no products. */
export function productPage(row: PageRow | undefined): ProductPage {
  return {
    settingsVersion: row?.settingsVersion ?? 0,
    results: row?.results ?? 0,
    page: row?.page ?? '',
  };
}

/** The products of a page. */
export function refsOf(page: string): ProductRef[] {
  if (page === '') return [];
  return page.split(',').map((entry) => {
    const [productId, version] = entry.split(':');
    return { productId: productId!.toUpperCase(), version: version! };
  });
}
