import type { Queries, Transaction } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import { newPauses } from '../../http/pauses.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { requestListingRebuild } from '../../shops/settings/writes.ts';
import {
  categoriesAbove,
  MAX_FIELD_TEXT_LENGTH,
  listingEntries,
  type CategoryTree,
  type ListedCategory,
  type ListedProduct,
  type ListingEntry,
} from './listing-entry.ts';
import { WHOLE_SHOP } from './listing-page.ts';
import {
  CONTENT_CHANGE,
  memberChange,
  sizeChanges,
  updateSizes,
  type FormerPlaces,
  type NewPlaces,
  type SizeChange,
} from './listing-sizes.ts';
import { correctWords } from '../search/query.ts';

/*
 * The tables behind lists and search. They are derived: only this file and listing-sizes.ts write them, always in the
 * transaction that changed a product, so a list never shows deleted products.
 */

/** Products refreshed by one set of statements, so that none of them nears its time limit. */
const BATCH = 100;

/**
 * Brings lists and search up to date with these products, in the transaction that changed them. A variation is
 * replaced by its master. Rows that do not change are not written. Of `repricedIds` nothing has changed but custom
 * fields and what `areWordsSame` allows, so the words of their texts, which cost most, are taken from their rows.
 */
export async function refreshListing(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
  repricedIds: readonly string[] = [],
): Promise<void> {
  const locked = await lockListed(tx, shopId, productIds, repricedIds);
  if (locked.length === 0) return;
  const lockedIds = locked.map(({ productId }) => productId);
  const rewordedIds = new Set(locked.flatMap(({ productId, isReworded }) => (isReworded ? [productId] : [])));
  const findBatch = (from: number) => findListedProducts(tx, shopId, lockedIds.slice(from, from + BATCH));
  let found = findBatch(0);
  // Read after the lock: concurrent changes of settings or of these products write the lists afterwards.
  const [settings, tree] = await Promise.all([
    shopSettings(tx, shopId),
    findCategoryTree(tx, shopId, lockedIds),
    found,
  ]);
  const changes: SizeChange[] = [];
  const words = new Map<string, ListingWord>();
  const pause = newPauses();
  let saved = Promise.resolve(false);
  let isChanged = false;
  for (let from = 0; from < lockedIds.length; from += BATCH) {
    const products = await found;
    // Sent before the rows of this batch: PostgreSQL saves these while the next ones are computed.
    if (from + BATCH < lockedIds.length) found = throwLater(findBatch(from + BATCH));
    const listed: NewListing[] = [];
    for (const product of products) {
      await pause();
      const entries = listingEntries(product, tree, settings);
      const isReworded = rewordedIds.has(product.productId);
      listed.push({ ...product, above: categoriesAbove(product, tree), entries, isReworded });
      if (isReworded) for (const entry of entries) addWords(words, entry);
    }
    isChanged = (await saved) || isChanged;
    saved = throwLater(saveListing(tx, settings, listed));
    for (const product of listed) changes.push(...sizeChanges(product));
  }
  // The words are sent after the last rows without waiting for them.
  const [isLastChanged] = await Promise.all([saved, insertWords(tx, shopId, [...words.values()])]);
  if (isChanged || isLastChanged) changes.push(CONTENT_CHANGE);
  await updateSizes(tx, shopId, changes);
}

/** A failure is thrown where the result is awaited, or not at all if another statement has failed before. */
function throwLater<Result>(result: Promise<Result>): Promise<Result> {
  result.catch(() => {});
  return result;
}

/**
 * Locks the listed products. A change of a variation has not locked its master: without this lock two such
 * transactions would each overwrite the other's unseen change.
 */
function lockListed(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
  repricedIds: readonly string[],
) {
  const listedIds = (ids: readonly string[]) => sql`array(
    select coalesce(master_id, product_id) from product
    where shop_id = ${shopId} and product_id = any (${ids}::uuid[]))`;
  return tx.many<{ productId: string; isReworded: boolean }>(sql`
    select product_id as "productId", product_id = any (${listedIds(productIds)}) as "isReworded" from product
    where shop_id = ${shopId} and kind <> 'variation'
      and product_id = any (${listedIds([...productIds, ...repricedIds])})
    order by product_id for no key update`);
}

/** A product, and its previous places in lists. */
type StoredListing = ListedProduct & FormerPlaces;

/**
 * `offset 0` makes PostgreSQL look up each product by its key. Without it this is a join, and PostgreSQL has no
 * statistics of a shop that has just been filled, takes it for empty and reads all of it.
 */
function findListedProducts(tx: Transaction, shopId: string, productIds: readonly string[]) {
  return tx.many<StoredListing>(sql`
    select product.product_id as "productId", product.product_number as "productNumber", product.visible,
      upper(product.product_type_id::text) as "productTypeId", product.prices,
      product.facts - '{description,shortDescription,essentialFeatures}'::text[] as facts, (
        select coalesce(json_agg(json_build_object('categoryId', category.category_id, 'number', category.number)
          order by assigned.position, category.category_id), '[]')
        from product_category assigned
        join category on category.shop_id = ${shopId} and category.category_id = assigned.category_id
        where assigned.shop_id = ${shopId} and assigned.product_id = product.product_id
      ) as categories, (
        select coalesce(json_agg(json_build_object('productNumber', variation.product_number,
          'numbers', json_build_array(variation.facts ->> 'manufacturerProductNumber', variation.facts ->> 'ean',
            variation.facts ->> 'upc', variation.facts ->> 'productCode'),
          'selection', variation.selection, 'prices', variation.prices)
          order by variation.product_number collate "C"), '[]')
        from product variation
        where variation.shop_id = ${shopId} and variation.master_id = product.product_id and variation.visible
          and product.kind = 'master'
      ) as variations, (
        select coalesce(json_agg(json_build_object('fieldId', upper(field_id::text), 'locale', locale,
          'text', left(value #>> '{}', ${MAX_FIELD_TEXT_LENGTH})) order by position, field_id, locale), '[]')
        from custom_field_value
        where shop_id = ${shopId} and resource_id = product.product_id and field_id = any (array(
          select field_id from custom_field where shop_id = ${shopId} and is_facet))
      ) as "fieldValues", (
        select coalesce(json_agg(json_build_object('locale', locale, 'visible', visible, 'name', name, 'price', price)), '[]')
        from listing where shop_id = ${shopId} and product_id = product.product_id
      ) as was, (
        select coalesce(json_agg(distinct jsonb_build_object('categoryId', category_id, 'visible', visible)), '[]')
        from category_listing where shop_id = ${shopId} and product_id = product.product_id
      ) as "wasIn", (
        select coalesce(json_agg(distinct jsonb_build_object('categoryId', category_id, 'visible', visible)), '[]')
        from subcategory_listing where shop_id = ${shopId} and product_id = product.product_id
      ) as "wasBelow"
    from unnest(${productIds}::uuid[]) as requested (product_id)
    cross join lateral (
      select * from product where shop_id = ${shopId} and product_id = requested.product_id offset 0
    ) as product`);
}

/**
 * The categories of these products, and all their ancestors. The array is made first: as a join, PostgreSQL may go
 * through all products of each category.
 */
async function findCategoryTree(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
): Promise<CategoryTree> {
  const rows = await tx.many<ListedCategory>(sql`
    with recursive tree as (
      select category_id, parent_id, name, visible from category
      where shop_id = ${shopId} and category_id = any (array(
        select distinct category_id from product_category
        where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])))
      union
      select above.category_id, above.parent_id, above.name, above.visible from tree
      join category above on above.shop_id = ${shopId} and above.category_id = tree.parent_id
    )
    select category_id as "categoryId", parent_id as "parentId", name, visible from tree`);
  return new Map(rows.map((row) => [row.categoryId, row]));
}

/** A product with its new list rows. */
type NewListing = StoredListing & NewPlaces & { isReworded: boolean };

/**
 * Returns whether the search data has changed. None of these statements needs the answer to another one, so they are
 * sent at once; PostgreSQL executes them in this order, so the lists of categories find the rows of the shop's list.
 */
async function saveListing(
  tx: Transaction,
  settings: Settings,
  products: readonly NewListing[],
): Promise<boolean> {
  const { shopId, locales } = settings;
  const entries = products.flatMap(({ entries, isReworded }) =>
    entries.map((entry) => ({ ...entry, isReworded })),
  );
  const productIds = products.map(({ productId }) => productId);
  const inNone = products.flatMap(({ productId, categories, wasIn }) => {
    const assigned = new Set(categories.map(({ categoryId }) => categoryId));
    return wasIn.flatMap(({ categoryId }) => (assigned.has(categoryId) ? [] : [{ categoryId, productId }]));
  });
  const belowNone = products.flatMap(({ productId, above, wasBelow }) => {
    const isAbove = new Set(above);
    return wasBelow.flatMap(({ categoryId }) => (isAbove.has(categoryId) ? [] : [{ categoryId, productId }]));
  });
  const inCategories = products.flatMap(({ productId, categories }) =>
    categories.map(({ categoryId }) => ({ categoryId, productId })),
  );
  const belowCategories = products.flatMap(({ productId, above }) =>
    above.map((categoryId) => ({ categoryId, productId })),
  );
  const [written, deleted] = await Promise.all([
    upsertListing(tx, settings, productIds, entries),
    deleteOtherLocales(tx, sql`listing`, shopId, productIds, locales),
    upsertCategoryListing(tx, IN_CATEGORY, shopId, inCategories),
    upsertCategoryListing(tx, BELOW_CATEGORY, shopId, belowCategories),
    deleteOtherLocales(tx, IN_CATEGORY, shopId, productIds, locales),
    deleteOtherLocales(tx, BELOW_CATEGORY, shopId, productIds, locales),
    deleteFromCategories(tx, IN_CATEGORY, shopId, inNone),
    deleteFromCategories(tx, BELOW_CATEGORY, shopId, belowNone),
  ]);
  return written + deleted > 0;
}

/**
 * The words of a product are those of its title (A), of its manufacturer and short description (B), of its categories
 * and variations (C), and of its description (D). The descriptions are read here, because they are long; the parser
 * skips markup. `coalesce` computes them only where there is nothing to take.
 */
function upsertListing(
  tx: Transaction,
  { shopId, defaultLocale }: Settings,
  productIds: readonly string[],
  entries: readonly (ListingEntry & { isReworded: boolean })[],
) {
  const longText = (key: string) => sql`left(coalesce(product.facts -> ${key} ->> entry.locale,
    product.facts -> ${key} ->> ${defaultLocale}), ${MAX_DESCRIPTION_LENGTH})`;
  return tx.run(sql`
    insert into listing (shop_id, locale, product_id, visible, name, price, text, words, facets)
    select product.shop_id, entry.locale, entry."productId", entry.visible, entry.name, entry.price, lower(entry.text),
      coalesce((
        select words from listing was
        where was.shop_id = ${shopId} and was.product_id = entry."productId" and was.locale = entry.locale
          and not entry."isReworded"
      ), setweight(to_tsvector(entry.dictionary, entry.title), 'A')
        || setweight(to_tsvector(entry.dictionary, concat_ws(' ', entry.manufacturer, ${longText('shortDescription')})), 'B')
        || setweight(to_tsvector(entry.dictionary, entry.related), 'C')
        || to_tsvector(entry.dictionary, coalesce(${longText('description')}, ''))),
      entry.facets
    from jsonb_to_recordset(${JSON.stringify(entries)}) as entry (locale text, dictionary regconfig, "productId" uuid,
      visible boolean, name text, price bigint, text text, related text, title text, manufacturer text,
      facets text[], "isReworded" boolean)
    join product on product.product_id = entry."productId"
    -- The ids tell the planner how few products these are.
    where product.shop_id = ${shopId} and product.product_id = any (${productIds}::uuid[])
    on conflict (shop_id, product_id, locale) do update set visible = excluded.visible, name = excluded.name,
      price = excluded.price, text = excluded.text, words = excluded.words, facets = excluded.facets
    where (listing.visible, listing.name, listing.price, listing.text, listing.words, listing.facets)
      is distinct from
      (excluded.visible, excluded.name, excluded.price, excluded.text, excluded.words, excluded.facets)`);
}

/** Characters of each description that are searched. */
const MAX_DESCRIPTION_LENGTH = 20_000;

/** A product in the list of a category. */
interface CategoryMember {
  categoryId: string;
  productId: string;
}

/** The tables of category lists: for the products in them, and for those in their subcategories. */
const IN_CATEGORY = sql`category_listing`;
const BELOW_CATEGORY = sql`subcategory_listing`;

/** A product has the same name, price and visibility in the lists of its categories as in the list of the shop. */
async function upsertCategoryListing(
  tx: Transaction,
  table: Sql,
  shopId: string,
  members: readonly CategoryMember[],
) {
  if (members.length === 0) return;
  const productIds = [...new Set(members.map(({ productId }) => productId))];
  await tx.run(sql`
    insert into ${table} (shop_id, category_id, locale, product_id, visible, name, price)
    select listing.shop_id, entry."categoryId", listing.locale, listing.product_id, listing.visible, listing.name,
      listing.price
    from jsonb_to_recordset(${JSON.stringify(members)}) as entry ("categoryId" uuid, "productId" uuid)
    join listing on listing.product_id = entry."productId"
    where listing.shop_id = ${shopId} and listing.product_id = any (${productIds}::uuid[])
    on conflict (shop_id, category_id, locale, product_id) do update
    set visible = excluded.visible, name = excluded.name, price = excluded.price
    where (${table}.visible, ${table}.name, ${table}.price) is distinct from (excluded.visible, excluded.name, excluded.price)`);
}

/**
 * Removes rows in locales that the shop no longer has. All rows of a product then have the same visibility, from which
 * the list sizes are counted, even before a rebuild has reached this product.
 */
function deleteOtherLocales(
  tx: Transaction,
  table: Sql,
  shopId: string,
  productIds: readonly string[],
  locales: readonly string[],
) {
  return tx.run(sql`
    delete from ${table}
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[]) and locale <> all (${locales}::text[])`);
}

/** The products are named twice, so that their rows are found by an index instead of by a join with the whole table. */
async function deleteFromCategories(
  tx: Transaction,
  table: Sql,
  shopId: string,
  left: readonly CategoryMember[],
) {
  if (left.length === 0) return;
  const productIds = [...new Set(left.map(({ productId }) => productId))];
  await tx.run(sql`
    delete from ${table}
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[]) and (category_id, product_id) in (
      select "categoryId", "productId"
      from jsonb_to_recordset(${JSON.stringify(left)}) as entry ("categoryId" uuid, "productId" uuid))`);
}

/** A word to which a typo is corrected. */
interface ListingWord {
  locale: string;
  word: string;
}

function addWords(words: Map<string, ListingWord>, { locale, text }: ListingEntry): void {
  for (const word of correctWords(text)) words.set(`${locale} ${word}`, { locale, word });
}

/** Adds new words. All at once and in one order, so that two transactions cannot deadlock. */
async function insertWords(tx: Transaction, shopId: string, words: readonly ListingWord[]): Promise<void> {
  if (words.length === 0) return;
  await tx.run(sql`
    insert into listing_word (shop_id, locale, word)
    select shop_id, locale, lower(word)
    from shop cross join jsonb_to_recordset(${JSON.stringify(words)}) as entry (locale text, word text)
    where shop_id = ${shopId}
    order by locale, lower(word) collate "C"
    on conflict (shop_id, locale, word) do nothing`);
}

interface DeletedEntry {
  categoryId: string;
  productId: string;
  visible: boolean;
}

/** Before products are deleted. A variation is not listed: after its deletion the master is refreshed. */
export async function removeFromListing(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
): Promise<void> {
  const remove = (table: Sql, categoryId: Sql) =>
    tx.many<DeletedEntry>(sql`
      delete from ${table} where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])
      returning ${categoryId} as "categoryId", product_id as "productId", visible`);
  const [listed, assigned, below] = await Promise.all([
    remove(sql`listing`, sql`${WHOLE_SHOP}::uuid`),
    remove(IN_CATEGORY, sql`category_id`),
    remove(BELOW_CATEGORY, sql`category_id`),
  ]);
  // A product has an entry in each locale, and is counted once.
  const distinct = (entries: readonly DeletedEntry[]) => [
    ...new Map(entries.map((entry) => [`${entry.categoryId} ${entry.productId}`, entry])).values(),
  ];
  await updateSizes(tx, shopId, [
    ...distinct([...listed, ...assigned]).map((entry) => memberChange({ ...entry, isBelow: false }, -1)),
    ...distinct(below).map((entry) => memberChange({ ...entry, isBelow: true }, -1)),
  ]);
}

/** Products refreshed at once after a change of related data; more are left to the rebuild. */
const MAX_AT_ONCE = 200;

/**
 * Brings lists and search up to date after a change of a category or product type, whose products `findProducts`
 * finds: at once if they are few, so that the merchant sees it, else in the background, because a transaction would
 * lock them for too long. The transaction must have locked the shop.
 */
export async function refreshOrRebuild(
  tx: Transaction,
  shopId: string,
  findProducts: (limit: number) => Promise<string[]>,
): Promise<void> {
  const productIds = await findProducts(MAX_AT_ONCE + 1);
  if (productIds.length > MAX_AT_ONCE) await requestListingRebuild(tx, shopId);
  else await refreshListing(tx, shopId, productIds);
}

/**
 * After the first of many new products: autovacuum analyses the tables only within a minute or so, and until then
 * PostgreSQL takes the shop for empty and chooses indexes by chance.
 */
export async function analyseCatalogue(db: Queries): Promise<void> {
  // The keys alone: analysing the words of a large table takes seconds.
  await db.run(sql`
    analyze (skip_locked) product (shop_id, product_id, master_id), product_category (shop_id, product_id),
      listing (shop_id, locale, product_id), category_listing (shop_id, category_id, locale, product_id),
      subcategory_listing (shop_id, category_id, locale, product_id)`);
}
