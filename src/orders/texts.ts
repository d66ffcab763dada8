import type { Queries } from '../db/database.ts';
import { encoded, type Encoded } from '../http/rendered.ts';
import { MEGABYTE, TextMemory } from '../http/text-memory.ts';
import type { Look } from '../carts/render.ts';
import { findOrder, type OrderVersions } from './queries.ts';
import { orderText } from './render.ts';

/**
 * Orders as JSON, rendered once and kept: apps ask for the same ones again and again. A text is used again only while
 * the versions it was made from are the ones that the database has just named, so no answer is ever stale.
 */
const memories = new WeakMap<object, TextMemory<OrderVersions & { text: Encoded }>>();

/** Per database, because tests have many in one process. */
function memoryOf({ source }: Queries) {
  let memory = memories.get(source);
  if (!memory) memories.set(source, (memory = new TextMemory(16 * MEGABYTE)));
  return memory;
}

/** undefined: it is gone. */
export async function keptOrderText(
  db: Queries,
  orderId: string,
  versions: OrderVersions,
  look: Look,
): Promise<Encoded | undefined> {
  const { shopId, version: settingsVersion } = look.settings;
  const memory = memoryOf(db);
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
  memory.keep(key, { version, customerNumber, settingsVersion, text }, text.bytes.length + key.length);
  return text;
}
