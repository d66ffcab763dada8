import type { Queries } from '../db/database.ts';
import { keptSettings, shopSettings, type Settings } from '../shop/settings.ts';
import { findProducts, type ProductRef } from './queries.ts';
import { renderProduct, type View } from './render.ts';

/**
 * Products as JSON, rendered once and kept. A text is used again only while the versions it was made from are the
 * ones that the database has just named, so no answer is ever stale, in any number of processes.
 */
interface Kept {
  version: string;
  settingsVersion: number;
  /** ms since 1970; Infinity: true until a version moves. */
  until: number;
  text: Buffer;
}

interface Memory {
  texts: Map<string, Kept>;
  bytes: number;
}

const MOST_BYTES = 64 * 1024 * 1024;
/** What an entry costs beside its text, roughly. */
const OVERHEAD = 400;

const memories = new WeakMap<object, Memory>();

/** Per database, because tests have many in one process. */
function memoryOf({ source }: Queries): Memory {
  let memory = memories.get(source);
  if (!memory) memories.set(source, (memory = { texts: new Map(), bytes: 0 }));
  return memory;
}

/** The texts of these products in this order; one that was deleted in the meantime is left out. */
export async function productTexts(
  db: Queries,
  settings: Settings,
  refs: readonly ProductRef[],
  view: View,
): Promise<Buffer[]> {
  return (await textsOf(db, settings, refs, view)).filter((text) => text !== undefined);
}

/** One entry per product; undefined for one that was deleted in the meantime. */
export async function textsOf(
  db: Queries,
  settings: Settings,
  refs: readonly ProductRef[],
  view: View,
): Promise<(Buffer | undefined)[]> {
  const memory = memoryOf(db);
  const now = db.now;
  const suffix = ` ${settings.shopId} ${view.variant} ${view.canWrite} ${view.locale} ${view.currency} ${view.origin}`;
  const texts = refs.map(({ productId, version }) => {
    const kept = memory.texts.get(productId + suffix);
    const holds =
      kept?.version === version && kept.settingsVersion === settings.version && kept.until > now.getTime();
    return holds ? kept.text : undefined;
  });
  const missing = refs.filter((_ref, index) => !texts[index]);
  if (missing.length === 0) return texts;

  const rows = await findProducts(
    db,
    settings.shopId,
    missing.map(({ productId }) => productId),
  );
  const fresh = new Map<string, Buffer>();
  for (const row of rows) {
    const { product, until } = renderProduct(row, settings, view, now);
    const text = Buffer.from(JSON.stringify(product));
    fresh.set(row.productId, text);
    // What a transaction sees of itself may never be committed: it is not for others.
    if ('inTransaction' in db) continue;
    keep(memory, row.productId + suffix, {
      version: row.version,
      settingsVersion: settings.version,
      until: until?.getTime() ?? Infinity,
      text,
    });
  }
  return refs.map(({ productId }, index) => texts[index] ?? fresh.get(productId));
}

/** Oldest first when there is no room; what is asked for again is simply rendered again. */
function keep(memory: Memory, key: string, entry: Kept): void {
  const old = memory.texts.get(key);
  if (old) {
    memory.texts.delete(key);
    memory.bytes -= old.text.length + OVERHEAD;
  }
  memory.texts.set(key, entry);
  memory.bytes += entry.text.length + OVERHEAD;
  for (const [oldest, { text }] of memory.texts) {
    if (memory.bytes <= MOST_BYTES) break;
    memory.texts.delete(oldest);
    memory.bytes -= text.length + OVERHEAD;
  }
}

/** The settings of exactly this version, which a statement has just read; from memory where they are kept. */
export async function settingsOfVersion(db: Queries, shopId: string, version: number): Promise<Settings> {
  const kept = keptSettings(db, shopId);
  return kept?.version === version ? kept : shopSettings(db, shopId);
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
  let settings = keptSettings(db, shopId) ?? (await shopSettings(db, shopId));
  for (let tries = 1; ; tries++) {
    const found = await read(settings);
    // Settings that change with every try are answered as of the last one.
    if (found.settingsVersion === settings.version || tries === 3) return { settings, found };
    settings = await shopSettings(db, shopId);
  }
}
