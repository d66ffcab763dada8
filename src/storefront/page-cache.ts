import type { CacheKind } from '../db/cache.ts';
import type { Queries } from '../db/database.ts';
import { groupKey } from '../catalogue/products/price-view.ts';
import type { RenderOptions } from '../catalogue/products/render.ts';
import { isKnownBusiness } from './price-view.ts';
import type { Visit } from './visit.ts';

/** A page, or a part of one, without anything specific to a visitor. */
export interface RenderedPage<Content> {
  content: Content;
  /** The versions of everything it shows. */
  versionStamp: string;
  /** When it becomes stale without any change; null: never. */
  expires: (Date | null)[];
  /** Approximate number of characters. */
  length: number;
}

interface CachedPage<Content> {
  content: Content;
  versionStamp: string;
  settingsVersion: number;
  /** In milliseconds since 1970; Infinity: it is valid until a version changes. */
  expiresAt: number;
}

export type PageCache<Content> = CacheKind<CachedPage<Content>>;

export function pageCache<Content>(name: string, megabytes: number): PageCache<Content> {
  return { name, limit: { megabytes } };
}

/**
 * Returns a page that is costly to render: from the cache while the database still has the versions it was rendered
 * from, else rendered again. `render` reads everything, including the version stamp, in one snapshot.
 */
export async function findOrRender<Content>(
  kind: PageCache<Content>,
  visit: Visit,
  name: string,
  versionStamp: string,
  render: (snapshot: Queries) => Promise<RenderedPage<Content> | undefined>,
): Promise<Content | undefined> {
  const { db, shopId, settings, locale, currency, priceView, origin, pageOrigin, base } = visit;
  const { taxType } = priceView;
  const cache = db.caches.of(kind);
  const buyer = isKnownBusiness(visit.account, settings) ? 'business' : 'consumer';
  const key = `${name} ${shopId} ${locale} ${currency} ${taxType} ${groupKey(priceView)} ${buyer} ${origin} ${pageOrigin}${base}`;
  const cached = cache.get(key);
  const isCurrent =
    cached?.versionStamp === versionStamp &&
    cached.settingsVersion === settings.version &&
    cached.expiresAt > db.now.getTime();
  if (isCurrent) return cached.content;

  const page = await db.transaction(render, { isolation: 'repeatable read' });
  if (!page) return undefined;
  const entry = {
    content: page.content,
    versionStamp: page.versionStamp,
    settingsVersion: settings.version,
    expiresAt: Math.min(Infinity, ...page.expires.flatMap((moment) => moment?.getTime() ?? [])),
  };
  if (isCacheable(visit)) cache.set(key, entry, 2 * (page.length + page.versionStamp.length + key.length));
  return page.content;
}

/** A page contains the host it was requested from, and a client can invent any number of them. */
export function isCacheable({ db, origin, pageOrigin }: Visit): boolean {
  return db.caches.isCacheableOrigin(origin) && db.caches.isCacheableOrigin(pageOrigin);
}

/** How products are rendered for visitors. */
export function visitorOptions(
  { locale, currency, priceView, origin }: Visit,
  variant: RenderOptions['variant'],
): RenderOptions {
  return { ...priceView, locale, currency, origin, canWrite: false, variant };
}
