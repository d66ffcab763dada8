import { audienceKey } from '../../fields/access.ts';
import type { CacheKind } from '../../db/cache.ts';
import type { Queries } from '../../db/database.ts';
import { paged, type PageRange } from '../../http/paging.ts';
import { newPauses } from '../../http/pauses.ts';
import { joinRawJson, toRawJson, type RawJson } from '../../http/raw-json.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { parseVersions, type ProductPage } from './listing-page.ts';
import {
  findProduct,
  findProductRows,
  findVersion,
  type ProductRow,
  type ProductVersion,
} from './queries.ts';
import { groupKey } from './price-view.ts';
import { renderProduct, type RenderOptions } from './render.ts';
import type { Product } from './schema.ts';

/*
 * Rendering a product costs far more than finding it, so products and pages of them are cached. An entry is used only
 * while its versions match those just read from the database: no response is ever stale, in any number of processes.
 */

interface Versioned {
  settingsVersion: number;
  /** Valid without any change until this time, in milliseconds since 1970; Infinity if time does not matter. */
  until: number;
}

interface CachedProduct<Form> extends Versioned {
  version: string;
  /** Stock moves no version. */
  stock: number | null;
  /** The number of its custom fields; 0 where they are not asked for. */
  fieldCount: number;
  form: Form;
}

interface CachedPage extends Versioned {
  json: RawJson;
}

/** For the API. */
const productJsonCache: CacheKind<CachedProduct<RawJson>> = {
  name: 'products',
  limit: { megabytes: 48 },
};

/** For pages. Requests share the values, so they must not be changed. */
const productValueCache: CacheKind<CachedProduct<Product>> = {
  name: 'product values',
  limit: { megabytes: 32 },
};

/** The keys of its entries contain the ids and versions of the products. */
const pageCache: CacheKind<CachedPage> = { name: 'product lists', limit: { megabytes: 16 } };

function isCurrent(entry: Versioned, db: Queries, settings: Settings): boolean {
  return entry.settingsVersion === settings.version && entry.until > db.now.getTime();
}

function optionsKey(options: RenderOptions, shopId: string): string {
  const { variant, canWrite, locale, currency, origin, taxType, fields } = options;
  const readers = fields === undefined ? '' : ` ${audienceKey(fields)}`;
  return ` ${shopId} ${variant} ${canWrite} ${locale} ${currency} ${origin} ${taxType} ${groupKey(options)}${readers}`;
}

/**
 * These products in this order, in the form that this cache holds. One that was deleted in the meantime is left out.
 * `toForm` also returns the size of the form in bytes.
 */
async function renderProducts<Form>(
  db: Queries,
  settings: Settings,
  versions: readonly ProductVersion[],
  options: RenderOptions,
  kind: CacheKind<CachedProduct<Form>>,
  toForm: (product: Product) => { form: Form; bytes: number },
): Promise<CachedProduct<Form>[]> {
  const cache = db.caches.of(kind);
  const suffix = optionsKey(options, settings.shopId);
  const products = new Map<string, CachedProduct<Form>>();
  for (const { productId, version, stock } of versions) {
    const cached = cache.get(productId + suffix);
    if (cached?.version === version && cached.stock === stock && isCurrent(cached, db, settings)) {
      products.set(productId, cached);
    }
  }
  const missing = versions.flatMap(({ productId }) => (products.has(productId) ? [] : [productId]));
  const rows = missing.length > 0 ? await findProductRows(db, settings.shopId, missing) : [];
  // A hundred products with texts of 200,000 characters take long: other requests are served in between.
  const pause = newPauses();
  for (const row of rows) {
    products.set(row.productId, renderRow(db, settings, row, options, kind, toForm));
    await pause();
  }
  return versions.flatMap(({ productId }) => products.get(productId) ?? []);
}

/** Renders a product and stores it in this cache. */
function renderRow<Form>(
  db: Queries,
  settings: Settings,
  row: ProductRow,
  options: RenderOptions,
  kind: CacheKind<CachedProduct<Form>>,
  toForm: (product: Product) => { form: Form; bytes: number },
): CachedProduct<Form> {
  const { product, until } = renderProduct(row, settings, options, db.now);
  const { form, bytes } = toForm(product);
  const entry: CachedProduct<Form> = {
    version: row.version,
    settingsVersion: settings.version,
    until: until?.getTime() ?? Infinity,
    stock: row.stock,
    fieldCount: row.fields?.length ?? 0,
    form,
  };
  if (db.caches.isCacheableOrigin(options.origin)) {
    const key = row.productId + optionsKey(options, settings.shopId);
    db.caches.of(kind).set(key, entry, bytes);
  }
  return entry;
}

function toJson(product: Product): { form: RawJson; bytes: number } {
  const form = toRawJson(product);
  return { form, bytes: form.bytes.length };
}

function renderJson(
  db: Queries,
  settings: Settings,
  versions: readonly ProductVersion[],
  options: RenderOptions,
): Promise<CachedProduct<RawJson>[]> {
  return renderProducts(db, settings, versions, options, productJsonCache, toJson);
}

/** A product read at the same moment as the version of the settings. */
export interface ReadProduct {
  settingsVersion: number;
  visible: boolean;
  json: RawJson;
}

/** One product in one statement: reads the version of a cached product, and the whole row of any other. */
export async function readProductJson(
  db: Queries,
  settings: Settings,
  productId: string,
  options: RenderOptions,
): Promise<ReadProduct | undefined> {
  const withFields = options.fields !== undefined;
  const cached = db.caches.of(productJsonCache).get(productId + optionsKey(options, settings.shopId));
  if (cached && isCurrent(cached, db, settings)) {
    const found = await findVersion(db, settings.shopId, productId, { withFields });
    if (!found) return undefined;
    const { version, stock, visible, settingsVersion, fieldCount } = found;
    if (version === cached.version && stock === cached.stock && fieldCount === cached.fieldCount) {
      return { settingsVersion, visible, json: cached.form };
    }
  }
  const row = await findProduct(db, settings.shopId, productId, { withFields });
  if (!row) return undefined;
  const { form } = renderRow(db, settings, row, options, productJsonCache, toJson);
  return { settingsVersion: row.settingsVersion, visible: row.visible, json: form };
}

/** These products in this order as JSON. One that was deleted in the meantime is left out. */
export async function productJson(
  db: Queries,
  settings: Settings,
  versions: readonly ProductVersion[],
  options: RenderOptions,
): Promise<RawJson[]> {
  const products = await renderJson(db, settings, versions, options);
  return products.map(({ form }) => form);
}

/** The same as values. */
export async function productValues(
  db: Queries,
  settings: Settings,
  versions: readonly ProductVersion[],
  options: RenderOptions,
): Promise<Product[]> {
  const products = await renderProducts(db, settings, versions, options, productValueCache, (product) => ({
    form: product,
    // Each character of a text takes up to two bytes.
    bytes: 2 * JSON.stringify(product).length,
  }));
  return products.map(({ form }) => form);
}

/** A whole page of a list: frequent pages are not even joined again. */
export async function renderProductListPage(
  db: Queries,
  settings: Settings,
  page: PageRange,
  found: ProductPage,
  options: RenderOptions,
): Promise<RawJson> {
  const cache = db.caches.of(pageCache);
  const more = found.isMore ? { moreResults: true } : {};
  const key = `${found.versions} ${found.results} ${found.isMore} ${page.page} ${page.resultsPerPage}${optionsKey(options, settings.shopId)}`;
  const cached = cache.get(key);
  if (cached && isCurrent(cached, db, settings)) return cached.json;

  const versions = parseVersions(found.versions);
  const products = await renderJson(db, settings, versions, options);
  const items = products.map(({ form }) => form);
  const json = joinRawJson({ ...paged(page, found.results, items), ...more });
  // A product that changed between the two statements must not be cached under the version read first.
  const isAsFound =
    products.length === versions.length &&
    versions.every(
      ({ version, stock }, index) => products[index]!.version === version && products[index]!.stock === stock,
    );
  if (isAsFound && db.caches.isCacheableOrigin(options.origin)) {
    const until = Math.min(Infinity, ...products.map((product) => product.until));
    const entry = { settingsVersion: settings.version, until, json };
    cache.set(key, entry, json.bytes.length + 2 * key.length);
  }
  return json;
}
