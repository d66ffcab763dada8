import type { CacheKind } from '../db/cache.ts';
import type { Queries } from '../db/database.ts';
import { toRawJson, type RawJson } from '../http/raw-json.ts';
import { type RenderContext, toOrder } from './render.ts';
import { findOrder, type OrderVersions } from './queries.ts';

const orderCache: CacheKind<OrderVersions & { json: RawJson }> = { name: 'orders', limit: { megabytes: 16 } };

/**
 * The cached bytes of an order as answers show it, because apps read the same orders again and again. They are reused
 * only while their versions are the ones that the database has just named, so no answer is ever stale. undefined: the
 * order is gone.
 */
export async function cachedOrder(
  db: Queries,
  orderId: string,
  versions: OrderVersions,
  context: RenderContext,
): Promise<RawJson | undefined> {
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
    return cached.json;
  }
  const order = await findOrder(db, shopId, orderId);
  if (!order) return undefined;
  const json = toRawJson(toOrder(order, context));
  const { version, customerNumber } = order;
  if (db.caches.isCacheableOrigin(context.origin)) {
    cache.set(key, { version, customerNumber, settingsVersion, json }, json.bytes.length + key.length);
  }
  return json;
}
