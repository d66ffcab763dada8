import type { CacheKind } from '../../db/cache.ts';
import type { Queries } from '../../db/database.ts';
import { pagedBytes, type Page } from '../../http/paging.ts';
import { newPauses } from '../../http/pauses.ts';
import { encoded, type Encoded, type Rendered } from '../../http/rendered.ts';
import { cachedSettings, shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { availabilityOf } from './availability-text.ts';
import { refsOf, type ProductPage } from './listing.ts';
import { findProducts, type ProductRef } from './queries.ts';
import { renderProduct, type View } from './render.ts';

/**
 * Products and pages of them as JSON, rendered once and kept. A text is used again only while the versions it was
 * made from are the ones that the database has just named, so no answer is ever stale, in any number of processes.
 */
interface Kept {
  settingsVersion: number;
  /** ms since 1970; Infinity: true until a version moves. */
  until: number;
}

interface KeptProduct extends Kept {
  version: string;
  text: Encoded;
  /** What the text says of it; null: nothing. */
  stock: { level: number; minStock: number | null } | null;
}

/** Its key holds the ids and versions of its products. */
interface KeptPage extends Kept {
  answer: Rendered;
}

const productCache: CacheKind<KeptProduct> = { name: 'products', limit: { megabytes: 64 } };
const pageCache: CacheKind<KeptPage> = { name: 'product lists', limit: { megabytes: 16 } };

function viewKey({ variant, canWrite, locale, currency, origin }: View, shopId: string): string {
  return ` ${shopId} ${variant} ${canWrite} ${locale} ${currency} ${origin}`;
}

/** A page of a list, whole. */
export async function pageOfTexts(
  db: Queries,
  settings: Settings,
  page: Page,
  found: ProductPage,
  view: View,
): Promise<Rendered> {
  const pages = db.caches.of(pageCache);
  const key = `${found.page} ${found.results} ${page.page} ${page.resultsPerPage}${viewKey(view, settings.shopId)}`;
  const kept = pages.get(key);
  if (kept && kept.settingsVersion === settings.version && kept.until > db.now.getTime()) return kept.answer;

  const products = await keptProducts(db, settings, refsOf(found.page), view);
  const there = products.filter((product) => product !== undefined);
  const answer = pagedBytes(
    page,
    found.results,
    there.map(({ text }) => text),
  );
  const isCurrent = there.length === products.length && refsOf(found.page).every(isVersionOf(there));
  if (isCurrent && db.caches.isCacheableOrigin(view.origin)) {
    const until = Math.min(Infinity, ...there.map((product) => product.until));
    const entry = { settingsVersion: settings.version, until, answer };
    pages.set(key, entry, answer.bytes.length + 2 * key.length);
  }
  return answer;
}

/** What changed between the two statements must not be kept under the versions that the first one read. */
function isVersionOf(products: readonly KeptProduct[]) {
  return ({ version }: ProductRef, index: number) => products[index]!.version === version;
}

/** The text of one product, if it is there and holds. */
export function keptText(
  db: Queries,
  settings: Settings,
  { productId, version }: ProductRef,
  view: View,
): Encoded | undefined {
  return recalled(db, settings, { productId, version }, viewKey(view, settings.shopId))?.text;
}

function recalled(
  db: Queries,
  settings: Settings,
  { productId, version }: ProductRef,
  suffix: string,
): KeptProduct | undefined {
  const cache = db.caches.of(productCache);
  const kept = cache.get(productId + suffix);
  if (!kept || kept.settingsVersion !== settings.version || kept.until <= db.now.getTime()) return undefined;
  if (kept.version === version) return kept;
  const restocked = withStock(kept, version);
  if (restocked) cache.set(productId + suffix, restocked, restocked.text.bytes.length);
  return restocked;
}

/**
 * Orders take from the stock and move nothing else of a product. As long as it is as available as before, its text
 * changes in one number: what sells well need not be rendered with every sale. undefined: more has changed.
 */
function withStock(kept: KeptProduct, version: string): KeptProduct | undefined {
  const [edition, level] = version.split('/') as [string, string | undefined];
  if (!kept.stock || level === undefined || edition !== kept.version.split('/', 1)[0]) return undefined;
  const stock = { ...kept.stock, level: Number(level) };
  const isAsAvailable =
    availabilityOf(stock.level, stock.minStock) === availabilityOf(kept.stock.level, stock.minStock);
  if (!isAsAvailable) return undefined;
  // Within a text every quote is escaped, so this is the key and nothing else.
  const key = '"stocklevel":';
  const text = kept.text.bytes.toString().replace(`${key}${kept.stock.level},`, `${key}${stock.level},`);
  return { ...kept, version, text: encoded(text), stock };
}

/** The texts of these products in this order; one that was deleted in the meantime is left out. */
export async function productTexts(
  db: Queries,
  settings: Settings,
  refs: readonly ProductRef[],
  view: View,
): Promise<Encoded[]> {
  return (await textsOf(db, settings, refs, view)).filter((text) => text !== undefined);
}

/** One entry per product; undefined for one that was deleted in the meantime. */
export async function textsOf(
  db: Queries,
  settings: Settings,
  refs: readonly ProductRef[],
  view: View,
): Promise<(Encoded | undefined)[]> {
  return (await keptProducts(db, settings, refs, view)).map((product) => product?.text);
}

async function keptProducts(
  db: Queries,
  settings: Settings,
  refs: readonly ProductRef[],
  view: View,
): Promise<(KeptProduct | undefined)[]> {
  const cache = db.caches.of(productCache);
  const now = db.now;
  const suffix = viewKey(view, settings.shopId);
  const found = refs.map((ref) => recalled(db, settings, ref, suffix));
  const missing = refs.filter((_ref, index) => !found[index]);
  if (missing.length === 0) return found;

  const rows = await findProducts(
    db,
    settings.shopId,
    missing.map(({ productId }) => productId),
  );
  const fresh = new Map<string, KeptProduct>();
  // A page may hold a hundred products with texts of 200,000 characters: others are served in between.
  const pause = newPauses();
  for (const row of rows) {
    const { product, until } = renderProduct(row, settings, view, now);
    const entry: KeptProduct = {
      version: row.version,
      settingsVersion: settings.version,
      until: until?.getTime() ?? Infinity,
      text: encoded(JSON.stringify(product)),
      stock: product.stocklevel === null ? null : { level: product.stocklevel, minStock: row.minStock },
    };
    fresh.set(row.productId, entry);
    if (db.caches.isCacheableOrigin(view.origin)) {
      cache.set(row.productId + suffix, entry, entry.text.bytes.length);
    }
    await pause();
  }
  return refs.map(({ productId }, index) => found[index] ?? fresh.get(productId));
}

/**
 * Reads with the settings in memory, and once more with fresh ones when they turn out to be old: one round trip
 * for almost every call.
 */
export async function readWithSettings<Found extends { settingsVersion: number }>(
  db: Queries,
  shopId: string,
  read: (settings: Settings) => Promise<Found>,
): Promise<{ settings: Settings; found: Found }> {
  let settings = cachedSettings(db, shopId) ?? (await shopSettings(db, shopId));
  for (let tries = 1; ; tries++) {
    const found = await read(settings);
    // Settings that change with every try are answered as of the last one.
    if (found.settingsVersion === settings.version || tries === 3) return { settings, found };
    settings = await shopSettings(db, shopId);
  }
}
