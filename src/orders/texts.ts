import type { CacheKind } from '../db/cache.ts';
import type { Queries } from '../db/database.ts';
import { encoded, type Encoded } from '../http/rendered.ts';
import type { RenderContext } from './line-item-view.ts';
import { findOrder, type OrderVersions } from './queries.ts';
import { orderText } from './render.ts';

const orderCache: CacheKind<OrderVersions & { text: Encoded }> = { name: 'orders', limit: { megabytes: 16 } };

/**
 * Orders as JSON, rendered once and cached: apps ask for the same ones again and again. A text is used again only while
 * the versions it was made from are the ones that the database has just named, so no answer is ever stale. undefined:
 * the order is gone.
 */
export async function cachedOrderText(
  db: Queries,
  orderId: string,
  versions: OrderVersions,
  look: RenderContext,
): Promise<Encoded | undefined> {
  const { shopId, version: settingsVersion } = look.settings;
  const cache = db.caches.of(orderCache);
  const key = `${shopId} ${orderId} ${look.locale} ${look.origin}`;
  const cached = cache.get(key);
  if (
    cached &&
    cached.version === versions.version &&
    cached.customerNumber === versions.customerNumber &&
    cached.settingsVersion === settingsVersion
  ) {
    return cached.text;
  }
  const order = await findOrder(db, shopId, orderId);
  if (!order) return undefined;
  const text = encoded(orderText(order, look));
  const { version, customerNumber } = order;
  if (db.caches.isCacheableOrigin(look.origin)) {
    cache.set(key, { version, customerNumber, settingsVersion, text }, text.bytes.length + key.length);
  }
  return text;
}
