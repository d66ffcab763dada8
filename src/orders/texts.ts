import type { CacheKind } from '../db/cache.ts';
import type { Queries } from '../db/database.ts';
import { encoded, type Encoded } from '../http/rendered.ts';
import type { RenderContext } from './line-item-view.ts';
import { findOrder, type OrderVersions } from './queries.ts';
import { toOrder } from './render.ts';

const orderCache: CacheKind<OrderVersions & { text: Encoded }> = { name: 'orders', limit: { megabytes: 16 } };

/**
 * The bytes of an order as answers show it, cached, because apps read the same orders again and again. They are used
 * again only while the versions they were made from are the ones that the database has just named, so no answer is ever
 * stale. undefined: the order is gone.
 */
export async function cachedOrder(
  db: Queries,
  orderId: string,
  versions: OrderVersions,
  context: RenderContext,
): Promise<Encoded | undefined> {
  const { shopId, version: settingsVersion } = context.settings;
  const cache = db.caches.of(orderCache);
  const key = `${shopId} ${orderId} ${context.locale} ${context.origin}`;
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
  const text = encoded(JSON.stringify(toOrder(order, context)));
  const { version, customerNumber } = order;
  if (db.caches.isCacheableOrigin(context.origin)) {
    cache.set(key, { version, customerNumber, settingsVersion, text }, text.bytes.length + key.length);
  }
  return text;
}
