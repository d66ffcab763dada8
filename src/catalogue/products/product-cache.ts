import type { CacheKind } from '../../db/cache.ts';
import type { Queries } from '../../db/database.ts';
import { paged, type Page } from '../../http/paging.ts';
import { newPauses } from '../../http/pauses.ts';
import { joinRawJson, toRawJson, type RawJson } from '../../http/raw-json.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { parseVersions, type ProductPage } from './listing-page.ts';
import { findProducts, type ProductVersion } from './queries.ts';
import { renderProduct, type RenderOptions } from './render.ts';
import type { Product } from './schema.ts';

/*
 * Rendering a product costs far more than finding it, so products and pages of them are cached. An entry is used only
 * while its versions are the ones that the database has just named: no answer is ever stale, in any number of processes.
 */

interface Versioned {
  settingsVersion: number;
  /** Milliseconds since 1970 until which it is true without any change; Infinity if time does not change it. */
  until: number;
}

interface CachedProduct extends Versioned {
  version: string;
  /** For pages. Requests share it, so nobody may change it. */
  product: Product;
  /** For the API. */
  json: RawJson;
}

interface CachedPage extends Versioned {
  json: RawJson;
}

const productCache: CacheKind<CachedProduct> = { name: 'products', limit: { megabytes: 96 } };

/** The keys of its entries hold the ids and versions of the products. */
const pageCache: CacheKind<CachedPage> = { name: 'product lists', limit: { megabytes: 16 } };

function isCurrent(entry: Versioned, db: Queries, settings: Settings): boolean {
  return entry.settingsVersion === settings.version && entry.until > db.now.getTime();
}

function optionsKey({ variant, canWrite, locale, currency, origin }: RenderOptions, shopId: string): string {
  return ` ${shopId} ${variant} ${canWrite} ${locale} ${currency} ${origin}`;
}

/** These products in this order, each as a value and as JSON. One that was deleted in the meantime is left out. */
export async function renderProducts(
  db: Queries,
  settings: Settings,
  versions: readonly ProductVersion[],
  options: RenderOptions,
): Promise<CachedProduct[]> {
  const cache = db.caches.of(productCache);
  const suffix = optionsKey(options, settings.shopId);
  const products = new Map<string, CachedProduct>();
  for (const { productId, version } of versions) {
    const cached = cache.get(productId + suffix);
    if (cached?.version === version && isCurrent(cached, db, settings)) products.set(productId, cached);
  }
  const missing = versions.flatMap(({ productId }) => (products.has(productId) ? [] : [productId]));
  const rows = missing.length > 0 ? await findProducts(db, settings.shopId, missing) : [];
  const isCacheable = db.caches.isCacheableOrigin(options.origin);
  // A hundred products with texts of 200,000 characters take long: others are served in between.
  const pause = newPauses();
  for (const row of rows) {
    const { product, until } = renderProduct(row, settings, options, db.now);
    const entry: CachedProduct = {
      version: row.version,
      settingsVersion: settings.version,
      until: until?.getTime() ?? Infinity,
      product,
      json: toRawJson(product),
    };
    products.set(row.productId, entry);
    // The value takes about as many bytes as its JSON.
    if (isCacheable) cache.set(row.productId + suffix, entry, 2 * entry.json.bytes.length);
    await pause();
  }
  return versions.flatMap(({ productId }) => products.get(productId) ?? []);
}

/** The same as JSON alone. */
export async function productJson(
  db: Queries,
  settings: Settings,
  versions: readonly ProductVersion[],
  options: RenderOptions,
): Promise<RawJson[]> {
  return (await renderProducts(db, settings, versions, options)).map(({ json }) => json);
}

/** The same as values alone. */
export async function productValues(
  db: Queries,
  settings: Settings,
  versions: readonly ProductVersion[],
  options: RenderOptions,
): Promise<Product[]> {
  return (await renderProducts(db, settings, versions, options)).map(({ product }) => product);
}

/** A whole page of a list: what most requests ask for is not even joined again. */
export async function renderProductPage(
  db: Queries,
  settings: Settings,
  page: Page,
  found: ProductPage,
  options: RenderOptions,
): Promise<RawJson> {
  const cache = db.caches.of(pageCache);
  const key = `${found.versions} ${found.results} ${page.page} ${page.resultsPerPage}${optionsKey(options, settings.shopId)}`;
  const cached = cache.get(key);
  if (cached && isCurrent(cached, db, settings)) return cached.json;

  const versions = parseVersions(found.versions);
  const products = await renderProducts(db, settings, versions, options);
  const items = products.map(({ json }) => json);
  const json = joinRawJson(paged(page, found.results, items));
  // A product that changed between the two statements must not be cached under the version that the first one read.
  const isAsFound =
    products.length === versions.length &&
    versions.every(({ version }, index) => products[index]!.version === version);
  if (isAsFound && db.caches.isCacheableOrigin(options.origin)) {
    const until = Math.min(Infinity, ...products.map((product) => product.until));
    const entry = { settingsVersion: settings.version, until, json };
    cache.set(key, entry, json.bytes.length + 2 * key.length);
  }
  return json;
}
