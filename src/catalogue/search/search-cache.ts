import type { CacheKind } from '../../db/cache.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { SMALL_SHOP, type ShopSize } from './hits.ts';
import { pageVersions, parseVersions, WHOLE_SHOP, type ProductPage } from '../products/listing-page.ts';

/**
 * The versions that a search depends on besides the question. A shop created again under the same id has other
 * settings.
 */
interface Versions {
  settingsVersion: number;
  /** The version of all search data of the shop's products. */
  listVersion: number;
}

interface KnownSearch extends Versions {
  /** Requests share it, so it must not be changed. */
  found: ProductPage;
  productIds: readonly string[];
}

const searchCache: CacheKind<KnownSearch> = { name: 'searches', limit: { megabytes: 16 } };

/** A search, which gets what is known of its shop. */
type Search<Found> = (size: ShopSize) => Promise<Found>;

/**
 * The result of `search`, new or cached: many visitors search for the same. One statement reads whether the shop is
 * unchanged, and the current products of the page. `question` holds all parameters of the search, in plain values.
 */
export function searchOnce<Found extends ProductPage>(
  db: Queries,
  shopId: string,
  question: object,
  search: Search<Found>,
): Promise<Found> {
  const asked = JSON.stringify(question);
  return db.shared.once(shopId, `search ${asked}`, () => searchOrRecall(db, shopId, asked, search));
}

async function searchOrRecall<Found extends ProductPage>(
  db: Queries,
  shopId: string,
  asked: string,
  search: Search<Found>,
): Promise<Found> {
  const cache = db.caches.of(searchCache);
  const key = `${shopId} ${asked}`;
  const known = cache.get(key);
  // Read before the search: if the shop changes meanwhile, the result is cached under an outdated version.
  const now = await readVersions(db, shopId, known?.productIds ?? []);
  if (!now) return search({});
  const { settingsVersion, listVersion, isSmallShop, versions } = now;
  if (known?.settingsVersion === settingsVersion && known.listVersion === listVersion) {
    // The question determines the kind of page.
    return { ...(known.found as Found), versions };
  }
  const found = await search({ isSmallShop });
  const productIds = parseVersions(found.versions).map(({ productId }) => productId);
  // Each character of a text takes up to two bytes.
  const bytes = 2 * (key.length + JSON.stringify(found).length + found.versions.length);
  cache.set(key, { settingsVersion, listVersion, found, productIds }, bytes);
  return found;
}

function readVersions(db: Queries, shopId: string, productIds: readonly string[]) {
  const kept = sql`select * from unnest(${productIds}::uuid[]) with ordinality as kept (product_id, place)`;
  return db.one<Versions & Required<ShopSize> & Pick<ProductPage, 'versions'>>(sql`
    select settings_version as "settingsVersion", "listVersion", "isSmallShop",
      ${pageVersions(shopId, kept, sql`place`, productIds.length, 0)} as versions
    from shop cross join (
      select coalesce(sum(version), 0)::bigint as "listVersion",
        coalesce(sum(products) filter (where visible), 0) <= ${SMALL_SHOP} as "isSmallShop"
      from listing_size where shop_id = ${shopId} and category_id = ${WHOLE_SHOP}
    ) as size
    where shop_id = ${shopId}`);
}
