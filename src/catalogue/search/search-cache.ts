import type { CacheKind } from '../../db/cache.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { pageVersions, parseVersions, WHOLE_SHOP, type ProductPage } from '../products/listing-page.ts';

/** What a search depends on beside the question. A shop that is made again under the same id has other settings. */
interface Versions {
  settingsVersion: number;
  /** Of all that search knows of the products of the shop. */
  listVersion: number;
}

interface KnownSearch extends Versions {
  /** Requests share it, so nobody may change it. */
  found: ProductPage;
  productIds: readonly string[];
}

const searchCache: CacheKind<KnownSearch> = { name: 'searches', limit: { megabytes: 16 } };

/**
 * What `search` finds, or has found before: many people look for the same. One statement reads whether the shop is still
 * the same, and the products of the page as they are now. `question` is all that the search is asked, in plain values.
 */
export function searchOnce<Found extends ProductPage>(
  db: Queries,
  shopId: string,
  question: object,
  search: () => Promise<Found>,
): Promise<Found> {
  const asked = JSON.stringify(question);
  return db.shared.once(shopId, `search ${asked}`, () => searchOrRecall(db, shopId, asked, search));
}

async function searchOrRecall<Found extends ProductPage>(
  db: Queries,
  shopId: string,
  asked: string,
  search: () => Promise<Found>,
): Promise<Found> {
  const cache = db.caches.of(searchCache);
  const key = `${shopId} ${asked}`;
  const known = cache.get(key);
  // Read before the search: if the shop changes meanwhile, what it finds is kept under a version that has passed.
  const now = await readVersions(db, shopId, known?.productIds ?? []);
  if (!now) return search();
  const { settingsVersion, listVersion, versions } = now;
  if (known?.settingsVersion === settingsVersion && known.listVersion === listVersion) {
    // The question tells what kind of page it is.
    return { ...(known.found as Found), versions };
  }
  const found = await search();
  const productIds = parseVersions(found.versions).map(({ productId }) => productId);
  // Each character of a text takes up to two bytes.
  const bytes = 2 * (key.length + JSON.stringify(found).length + found.versions.length);
  cache.set(key, { settingsVersion, listVersion, found, productIds }, bytes);
  return found;
}

/**
 * While a version of the program that does not know the third of these versions still runs beside this one, the other two
 * tell what it has shown, hidden, renamed or priced anew.
 */
function readVersions(db: Queries, shopId: string, productIds: readonly string[]) {
  const kept = sql`select * from unnest(${productIds}::uuid[]) with ordinality as kept (product_id, place)`;
  return db.one<Versions & Pick<ProductPage, 'versions'>>(sql`
    select settings_version as "settingsVersion", (
        select coalesce(sum(name_version + price_version + version), 0)::bigint from listing_size
        where shop_id = ${shopId} and category_id = ${WHOLE_SHOP}
      ) as "listVersion", ${pageVersions(shopId, kept, sql`place`, productIds.length, 0)} as versions
    from shop where shop_id = ${shopId}`);
}
