import type { Queries } from '../db/database.ts';
import { isKnownOrigin } from '../http/links.ts';
import { encoded, type Encoded } from '../http/rendered.ts';
import { textMemory } from '../http/text-memory.ts';
import type { Look } from '../carts/render.ts';
import { findOrder, type OrderVersions } from './queries.ts';
import { orderText } from './render.ts';

/**
 * Orders as JSON, rendered once and cached: apps ask for the same ones again and again. A text is used again only while
 * the versions it was made from are the ones that the database has just named, so no answer is ever stale. undefined:
 * the order is gone.
 */
export async function keptOrderText(
  db: Queries,
  orderId: string,
  versions: OrderVersions,
  look: Look,
): Promise<Encoded | undefined> {
  const { shopId, version: settingsVersion } = look.settings;
  const memory = textMemory<OrderVersions & { text: Encoded }>(db, 'orders', 16);
  const key = `${shopId} ${orderId} ${look.locale} ${look.origin}`;
  const kept = memory.get(key);
  if (
    kept &&
    kept.version === versions.version &&
    kept.customerNumber === versions.customerNumber &&
    kept.settingsVersion === settingsVersion
  ) {
    return kept.text;
  }
  const order = await findOrder(db, shopId, orderId);
  if (!order) return undefined;
  const text = encoded(orderText(order, look));
  const { version, customerNumber } = order;
  if (isKnownOrigin(db, look.origin)) {
    memory.keep(key, { version, customerNumber, settingsVersion, text }, text.bytes.length + key.length);
  }
  return text;
}
