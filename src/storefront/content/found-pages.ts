import type { Term } from '../../catalogue/search/query.ts';
import { pathOfPage } from '../../content/pages/page.ts';
import { searchPageTexts, type FoundPage } from '../../content/pages/queries.ts';
import type { CacheKind } from '../../db/cache.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { shopPath, type Visit } from '../visit.ts';

const MAX_FOUND = 5;

interface KnownPages {
  settingsVersion: number;
  pages: readonly FoundPage[];
  nextPublication: number | null;
}

const cache: CacheKind<KnownPages> = { name: 'page searches', limit: { megabytes: 2 } };

/** The pages and posts of the shop that have all words of a search. Every change of a page changes the version of the settings. */
export async function findPagesWith(visit: Visit, terms: readonly Term[]): Promise<readonly FoundPage[]> {
  const { db, shopId, settings, locale } = visit;
  const known = db.caches.of(cache);
  const key = `${shopId} ${locale} ${JSON.stringify(terms)}`;
  const last = known.get(key);
  const isCurrent =
    last?.settingsVersion === settings.version &&
    (last.nextPublication === null || last.nextPublication > db.now.getTime());
  if (isCurrent) return last.pages;
  const found = await searchPageTexts(db, shopId, locale, terms, MAX_FOUND);
  const entry = { settingsVersion: settings.version, ...found };
  known.set(key, entry, 2 * (key.length + JSON.stringify(found.pages).length));
  return found.pages;
}

export function foundPages(visit: Visit, pages: readonly FoundPage[]): Markup | false {
  return (
    pages.length > 0 &&
    html`<section class="found">
      <h2>${messagesIn(visit.locale).storefront.listing.pages}</h2>
      <ul>
        ${pages.map(
          ({ kind, slug, title, excerpt }) =>
            html`<li>
              <a href="${shopPath(visit, pathOfPage(kind, slug)!)}">${title}</a>
              ${excerpt !== '' && html`<p class="hint">${excerpt}</p>`}
            </li>`,
        )}
      </ul>
    </section>`
  );
}
