import { dayOf } from '../../http/dates.ts';
import type { Queries, Transaction } from '../../db/database.ts';
import { insertInto } from '../../db/insert.ts';
import { sql } from '../../db/sql.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import { addToCounter, setCounter } from '../../platform/counters.ts';
import { keyText, MAX_COMPARED_PARAMETERS, type AddressKey } from './address.ts';
import type { FormerMeaning } from './former-shops.ts';

/** Redirects of a shop. */
export const MAX_REDIRECTS = 500_000;

export const TARGET_KINDS = ['product', 'category', 'page', 'address'] as const;
export type TargetKind = (typeof TARGET_KINDS)[number];

export interface StoredRedirect {
  redirectId: string;
  source: string;
  sourceKey: string;
  status: number;
  productId: string | null;
  categoryId: string | null;
  pageId: string | null;
  address: string | null;
  targetPath: string | null;
  targetParameters: readonly string[] | null;
  origin: 'manual' | 'moved' | 'imported';
  createdAt: Date;
}

/** What a redirect leads to; all null: it leads to an address. */
export type RedirectIds = Pick<StoredRedirect, 'productId' | 'categoryId' | 'pageId'>;

export interface ListedRedirect extends Pick<
  StoredRedirect,
  'redirectId' | 'source' | 'sourceKey' | 'status' | 'origin' | 'createdAt'
> {
  kind: TargetKind | null;
  /** The number of the product, the alias of the category, the path of the page, or the address. */
  target: string | null;
}

const columns = (shopId: string) => sql`
  upper(redirect_id::text) as "redirectId", source, source_key as "sourceKey", status,
  case when redirect.product_id is not null then 'product' when redirect.category_id is not null then 'category'
    when redirect.page_id is not null then 'page' when address is not null then 'address' end as kind,
  coalesce(product.product_number, category.alias, address, (
    select '/' || kind || 's/' || slug from page_text
    where page_text.shop_id = ${shopId} and page_text.page_id = redirect.page_id order by locale limit 1
  )) as target, origin, redirect.created_at as "createdAt"`;

const joined = (shopId: string) => sql`
  redirect
  left join product on product.shop_id = ${shopId} and product.product_id = redirect.product_id
  left join category on category.shop_id = ${shopId} and category.category_id = redirect.category_id`;

export function findRedirect(db: Queries, shopId: string, redirectId: string) {
  return db.one<ListedRedirect>(sql`
    select ${columns(shopId)} from ${joined(shopId)} where redirect.shop_id = ${shopId} and redirect_id = ${redirectId}`);
}

/** Beyond every text that begins with this one, in the order of bytes. */
const endOf = (start: string) => `${start}\u{10ffff}`;

/** The redirects whose sources begin with `start`, in their order. */
export function findRedirects(
  db: Queries,
  shopId: string,
  { start, limit, offset }: { start: string; limit: number; offset: number },
) {
  return db.many<ListedRedirect>(sql`
    select ${columns(shopId)} from ${joined(shopId)}
    where redirect.shop_id = ${shopId} and source_key >= ${start} and source_key < ${endOf(start)}
    order by source_key limit ${limit} offset ${offset}`);
}

/** The redirects after this source, for a file of all of them. */
export function findRedirectsAfter(db: Queries, shopId: string, after: string, limit: number) {
  return db.many<ListedRedirect>(sql`
    select ${columns(shopId)} from ${joined(shopId)}
    where redirect.shop_id = ${shopId} and source_key > ${after} order by source_key limit ${limit}`);
}

export async function countRedirects(db: Queries, shopId: string, start: string): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from redirect
    where shop_id = ${shopId} and source_key >= ${start} and source_key < ${endOf(start)}`);
  return row!.count;
}

export interface FoundTarget {
  /** A source, or `null` for a product or category that the address names by itself. */
  sourceKey: string | null;
  status: number;
  productNumber: string | null;
  alias: string | null;
  /** The path of the page in the visitor's language, else in another one. */
  pagePath: string | null;
  address: string | null;
}

/**
 * What an address that no page answers may lead to: redirects, and products and categories by their names in addresses
 * of other software. Each part reads single rows of an index. What visitors can't see is left out.
 */
export function findRedirectTargets(
  db: Queries,
  shopId: string,
  { sources, productNumbers, categoryAliases }: FormerMeaning,
  locale: string,
) {
  return db.many<FoundTarget>(sql`
    select source_key as "sourceKey", status, product.product_number as "productNumber", category.alias, (
        select '/' || page_text.kind || 's/' || page_text.slug from page_text
        where page_text.shop_id = ${shopId} and page_text.page_id = redirect.page_id
        order by page_text.locale <> ${locale}, page_text.locale limit 1
      ) as "pagePath", address
    from redirect
    left join product on product.shop_id = ${shopId} and product.product_id = redirect.product_id
    left join category on category.shop_id = ${shopId} and category.category_id = redirect.category_id
    left join page on page.shop_id = ${shopId} and page.page_id = redirect.page_id
    where redirect.shop_id = ${shopId} and source_key = any (${sources}::text[])
      and coalesce(product.visible, true) and coalesce(category.visible, true)
      and (redirect.page_id is null or page.publish_at <= ${db.now})
    union all
    select null, 301, product_number, null, null, null from product
    where shop_id = ${shopId} and product_number = any (${productNumbers}::text[]) and visible
    union all
    select null, 301, null, alias, null, null from category
    where shop_id = ${shopId} and alias = any (${categoryAliases}::text[]) and visible and parent_id is not null`);
}

/** The ids of what redirects lead to, by the number, the alias or the path. */
export async function findTargetIds(
  db: Queries,
  shopId: string,
  {
    productNumbers,
    aliases,
    pagePaths,
  }: { productNumbers: readonly string[]; aliases: readonly string[]; pagePaths: readonly string[] },
): Promise<Record<'product' | 'category' | 'page', Map<string, string>>> {
  const [products, categories, pages] = await Promise.all([
    db.many<{ name: string; id: string }>(sql`
      select product_number as name, upper(product_id::text) as id from product
      where shop_id = ${shopId} and product_number = any (${productNumbers}::text[])`),
    db.many<{ name: string; id: string }>(sql`
      select alias as name, upper(category_id::text) as id from category
      where shop_id = ${shopId} and alias = any (${aliases}::text[])`),
    db.many<{ name: string; id: string }>(sql`
      select distinct on (name) '/' || kind || 's/' || slug as name, upper(page_id::text) as id from page_text
      where shop_id = ${shopId} and '/' || kind || 's/' || slug = any (${pagePaths}::text[]) order by name, locale`),
  ]);
  const byName = (rows: readonly { name: string; id: string }[]) =>
    new Map(rows.map(({ name, id }) => [name, id]));
  return { product: byName(products), category: byName(categories), page: byName(pages) };
}

/** Which of these keys are sources. */
export async function findSources(
  db: Queries,
  shopId: string,
  keys: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.many<{ sourceKey: string; redirectId: string }>(sql`
    select source_key as "sourceKey", upper(redirect_id::text) as "redirectId" from redirect
    where shop_id = ${shopId} and source_key = any (${keys}::text[])`);
  return new Map(rows.map(({ sourceKey, redirectId }) => [sourceKey, redirectId]));
}

/** Redirects to one page whose parameters are compared. Shops redirect to far fewer searches, or filters of a list. */
const MAX_COMPARED = 1_000;

/**
 * Which of these sources a redirect leads to, `except` one. A page that very many redirects lead to, each with other
 * parameters, counts as reached, so the time has a bound.
 */
export async function findReached(
  db: Queries,
  shopId: string,
  sources: readonly AddressKey[],
  except: readonly string[],
): Promise<Set<string>> {
  const given = sources.map(({ path, parameters }, place) => ({ place, path, parameters }));
  const rows = await db.many<{ place: number }>(sql`
    select given.place
    from shop cross join json_to_recordset(${JSON.stringify(given)})
      as given (place integer, path text, parameters text[])
    cross join lateral (
      select count(*) as compared, count(*) filter (where parameters @> given.parameters) as found
      from (
        select target_parameters[1:${MAX_COMPARED_PARAMETERS}] as parameters from redirect
        where redirect.shop_id = ${shopId} and target_path = given.path and redirect_id <> all (${except}::uuid[])
        limit ${MAX_COMPARED + 1}
      ) as one
    ) as target
    where shop.shop_id = ${shopId} and (found > 0 or compared > ${MAX_COMPARED})`);
  return new Set(rows.map(({ place }) => keyText(sources[place]!)));
}

/**
 * Adds to the number of redirects and locks it until the transaction ends. The number is corrected when it would exceed
 * the limit, because redirects also end with their products. false: there would be too many.
 */
export async function countIn(tx: Transaction, shopId: string, added: number): Promise<boolean> {
  if ((await addToCounter(tx, shopId, 'redirect', added)) <= MAX_REDIRECTS) return true;
  const exact = (await countRedirects(tx, shopId, '')) + added;
  await setCounter(tx, shopId, 'redirect', exact);
  return exact <= MAX_REDIRECTS;
}

const INSERTED = {
  redirectId: 'uuid',
  source: 'text',
  sourceKey: 'text',
  status: 'integer',
  productId: 'uuid',
  categoryId: 'uuid',
  pageId: 'uuid',
  address: 'text',
  targetPath: 'text',
  targetParameters: 'text[]',
  origin: 'text',
  createdAt: 'timestamptz',
} as const;

const insertRows = insertInto('redirect', INSERTED);
const replaceRows = insertInto('redirect', INSERTED, {
  key: ['sourceKey'],
  keep: ['redirectId', 'createdAt'],
});

export const insertRedirects = (tx: Transaction, shopId: string, rows: readonly StoredRedirect[]) =>
  tx.run(insertRows(shopId, rows));

/** An address that leads somewhere already leads to the new place. */
export const replaceRedirects = (tx: Transaction, shopId: string, rows: readonly StoredRedirect[]) =>
  tx.run(replaceRows(shopId, rows));

/** 0: there is no such redirect. */
export function updateRedirectRow(tx: Transaction, shopId: string, row: StoredRedirect) {
  return tx.run(sql`
    update redirect set source = ${row.source}, source_key = ${row.sourceKey}, status = ${row.status},
      product_id = ${row.productId}, category_id = ${row.categoryId}, page_id = ${row.pageId}, address = ${row.address},
      target_path = ${row.targetPath}, target_parameters = ${row.targetParameters}::text[], origin = ${row.origin}
    where shop_id = ${shopId} and redirect_id = ${row.redirectId}`);
}

export function deleteRedirectRows(tx: Transaction, shopId: string, redirectIds: readonly string[]) {
  return tx.run(sql`
    delete from redirect where shop_id = ${shopId} and redirect_id = any (${redirectIds}::uuid[])`);
}

/** Redirects away from addresses that have a page again. */
export function deleteSources(tx: Transaction, shopId: string, keys: readonly string[]) {
  return tx.run(sql`delete from redirect where shop_id = ${shopId} and source_key = any (${keys}::text[])`);
}

/** What led to a former address of a product, category or page leads to that itself. */
export function retarget(
  tx: Transaction,
  shopId: string,
  formerPaths: readonly string[],
  { productId, categoryId, pageId }: RedirectIds,
) {
  return tx.run(sql`
    update redirect set product_id = ${productId}, category_id = ${categoryId}, page_id = ${pageId}, address = null,
      target_path = null, target_parameters = null
    where shop_id = ${shopId} and target_path = any (${formerPaths}::text[])`);
}

/** Addresses asked for in vain, in the last days. */
const KEPT_DAYS = 30;

export interface MissedAddress {
  /** Such as 2026-11-18, in UTC. */
  day: string;
  address: string;
  referrer: string;
  hits: number;
}

/** The rows of a day, up to `limit`. */
export function findMissedOfDay(db: Queries, shopId: string, day: string, limit: number) {
  return db.many<Pick<MissedAddress, 'address' | 'referrer'>>(sql`
    select address, referrer from missed_address where shop_id = ${shopId} and day = ${day} limit ${limit}`);
}

export function addMissed(db: Queries, shopId: string, rows: readonly MissedAddress[]) {
  return db.run(sql`
    insert into missed_address (shop_id, day, address, referrer, hits)
    select shop.shop_id, given.day, given.address, given.referrer, given.hits
    from shop cross join json_to_recordset(${JSON.stringify(rows)})
      as given (day date, address text, referrer text, hits integer)
    where shop.shop_id = ${shopId} order by given.day, given.address, given.referrer
    on conflict (shop_id, day, address, referrer) do update set hits = missed_address.hits + excluded.hits`);
}

export interface CountedAddress {
  address: string;
  hits: number;
  lastDay: string;
  /** The pages with the most visitors who came from them. */
  referrers: string[];
}

/** The addresses of the last 30 days, the most frequent first. */
export function findMissed(
  db: Queries,
  shopId: string,
  { limit, offset }: { limit: number; offset: number },
) {
  return db.many<CountedAddress>(sql`
    select address, sum(hits)::integer as hits, max(day)::text as "lastDay",
      coalesce((array_agg(referrer order by hits desc, referrer) filter (where referrer <> ''))[1:3], '{}') as referrers
    from missed_address where shop_id = ${shopId} and day > ${firstDay(db.serviceNow)}
    group by address order by sum(hits) desc, address limit ${limit} offset ${offset}`);
}

export async function countMissed(db: Queries, shopId: string): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(distinct address) as count from missed_address
    where shop_id = ${shopId} and day > ${firstDay(db.serviceNow)}`);
  return row!.count;
}

/** These lead somewhere now, or the merchant does not want to see them. */
export function deleteMissed(tx: Transaction, shopId: string, addresses: readonly string[]) {
  return tx.run(sql`
    delete from missed_address where shop_id = ${shopId} and address = any (${addresses}::text[])`);
}

const firstDay = (now: Date) => dayOf(new Date(now.getTime() - KEPT_DAYS * 86_400_000));

/** Deletes days that are no longer shown. */
export const missedAddressCleanup: CleanupStep = {
  name: 'missed addresses',
  run: async (db, limit) => {
    const old = await db.many<{ shopId: string; day: string }>(sql`
      select distinct shop_id as "shopId", day::text from missed_address
      where day <= ${firstDay(db.serviceNow)} order by day limit ${limit}`);
    for (const { shopId, day } of old) {
      await db.run(sql`delete from missed_address where shop_id = ${shopId} and day = ${day}`);
    }
    return old.length;
  },
};
