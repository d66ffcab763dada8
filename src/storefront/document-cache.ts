import type { CacheKind } from '../db/cache.ts';
import { documentBytes } from './layout/layout.ts';
import { isCacheable } from './page-cache.ts';
import type { ShopLayout } from './layout/shop-layout.ts';
import type { Page } from './page.ts';
import { contentSecurityPolicy } from './scripts/scripts.ts';
import type { Visit } from './visit.ts';

/** A page as it is sent: the whole document and the policy that belongs to it. */
interface SentDocument {
  bytes: Buffer;
  policy: string;
}

/** Does not hold the page, whose memory belongs to the cache that it came from. */
interface CachedDocument extends SentDocument {
  page: WeakRef<Page>;
  layout: WeakRef<ShopLayout>;
}

const documentCache: CacheKind<CachedDocument> = { name: 'documents', limit: { megabytes: 32 } };

/**
 * The document of a page. That of a page which many visitors share is the same for all of them without a session, so it
 * is rendered once. It is valid for one page object and one object of the layout's data: they are replaced by others
 * when the content, the settings or what the menus lead to change.
 */
export function documentOf(visit: Visit, page: Page): SentDocument {
  if (!page.isShared || !isUnknownVisitor(visit)) return renderDocument(visit, page);
  const { db, shopId, locale, currency, pageOrigin, base } = visit;
  const cache = db.caches.of(documentCache);
  const key = `${shopId} ${locale} ${currency} ${pageOrigin}${base}${page.path} ${JSON.stringify(page.query)}`;
  const cached = cache.get(key);
  if (cached?.page.deref() === page && cached.layout.deref() === visit.layout) return cached;
  const document = renderDocument(visit, page);
  // A page that is not cached itself is another object for each visitor.
  if (isCacheable(visit)) {
    const sources = { page: new WeakRef(page), layout: new WeakRef(visit.layout) };
    cache.set(key, { ...document, ...sources }, document.bytes.length + 2 * key.length);
  }
  return document;
}

function renderDocument(visit: Visit, page: Page): SentDocument {
  return { bytes: documentBytes(visit, page), policy: contentSecurityPolicy(visit, page) };
}

function isUnknownVisitor({ access, session, account, accountToken }: Visit): boolean {
  return (
    access === 'public' &&
    account === undefined &&
    accountToken === undefined &&
    Object.keys(session).length === 0
  );
}
