import { html, type Markup } from '../../http/html.ts';
import { SEARCH_ICON } from '../layout/icons.ts';
import type { Surroundings } from '../memoize-by-settings.ts';
import { messages } from '../../kernel/messages.ts';
import { to } from '../visit.ts';

/** In the header, and where nothing was found. */
export function searchForm(visit: Omit<Surroundings, 'frame' | 'currency'>): Markup {
  const { locale, settings } = visit;
  const words = messages(locale).storefront.layout;
  return html`<form class="search" action="${to(visit, '/search')}">
    ${locale !== settings.defaultLocale && html`<input type="hidden" name="locale" value="${locale}" />`}
    <input
      type="search"
      name="q"
      maxlength="200"
      required
      aria-label="${words.searchPlaceholder}"
      placeholder="${words.searchPlaceholder}"
      autocomplete="off"
      data-suggest="${to(visit, '/suggest')}"
    />
    <button aria-label="${words.search}">${SEARCH_ICON}</button>
  </form>`;
}
