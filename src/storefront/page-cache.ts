import type { CacheKind } from '../db/cache.ts';
import type { Queries } from '../db/database.ts';
import { safe, type Markup } from '../http/html.ts';
import type { RenderOptions } from '../catalogue/products/render.ts';
import type { Visit } from './visit.ts';

/** A page as it is kept: nothing in it belongs to a visitor. */
interface Kept<Content> {
  /** The versions of all that it shows, as the statement names them that looks for it. */
  stamp: string;
  settingsVersion: number;
  /** ms since 1970; Infinity: true until a version moves. */
  until: number;
  content: Content;
}

export interface Made<Content> {
  stamp: string;
  /** Until when it is true without any change; null: for ever. */
  until: (Date | null)[];
  content: Content;
  /** Characters of its texts, roughly. */
  length: number;
}

/** Pages that are costly to make, each used again only while the database names the versions it was made from. */
export class PageCache<Content> {
  readonly #kind: CacheKind<Kept<Content>>;

  constructor(name: string, megabytes: number) {
    this.#kind = { name, limit: { megabytes } };
  }

  /** `make` reads everything, the stamp too, in one snapshot: what it makes is what the stamp says. */
  async find(
    visit: Visit,
    name: string,
    stamp: string,
    make: (snapshot: Queries) => Promise<Made<Content> | undefined>,
  ): Promise<Content | undefined> {
    const { db, shopId, settings, locale, currency, origin, pageOrigin, base } = visit;
    const cache = db.caches.of(this.#kind);
    const key = `${name} ${shopId} ${locale} ${currency} ${origin} ${pageOrigin}${base}`;
    const kept = cache.get(key);
    if (
      kept &&
      kept.stamp === stamp &&
      kept.settingsVersion === settings.version &&
      kept.until > db.now.getTime()
    ) {
      return kept.content;
    }
    const made = await db.transaction(make, { isolation: 'repeatable read' });
    if (!made) return undefined;
    const until = Math.min(Infinity, ...made.until.flatMap((moment) => moment?.getTime() ?? []));
    const entry = { stamp: made.stamp, settingsVersion: settings.version, until, content: made.content };
    // A page names the host it was asked for, and a client can ask for any number of them.
    const isCacheable = db.caches.isCacheableOrigin(origin) && db.caches.isCacheableOrigin(pageOrigin);
    if (isCacheable) cache.set(key, entry, 2 * (made.length + made.stamp.length + key.length));
    return made.content;
  }
}

/** Products as visitors see them. */
export function viewOf(
  { locale, currency, origin }: Visit,
  variant: RenderOptions['variant'],
): RenderOptions {
  return { locale, currency, origin, canWrite: false, variant };
}

/**
 * Removes the indentation and the empty lines of a page, a third of its bytes. Only `pre` shows them. Each run of blanks
 * is looked at once: `\s*\n\s*` would try every place of a run without a line break again.
 */
export function compacted(markup: Markup): Markup {
  if (markup.text.includes('<pre')) return markup;
  return safe(markup.text.replaceAll(/\s{2,}/g, (blanks) => (blanks.includes('\n') ? '\n' : blanks)));
}
