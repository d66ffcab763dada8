import { html, type Markup } from '../../http/html.ts';
import { SEARCH_ICON } from './icons.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { shopPath, type LayoutContext } from '../visit.ts';

/** The search field of the header, which the page for a missing address shows too. It keeps the search query. */
export function searchForm(visit: LayoutContext, query = ''): Markup {
  const { locale, settings } = visit;
  const messages = messagesIn(locale).storefront.layout;
  return html`<form class="search" action="${shopPath(visit, '/search')}">
    ${locale !== settings.defaultLocale && html`<input type="hidden" name="locale" value="${locale}" />`}
    <input
      type="search"
      name="q"
      maxlength="200"
      required
      ${query !== '' && html`value="${query}"`}
      aria-label="${messages.searchPlaceholder}"
      placeholder="${messages.searchPlaceholder}"
      autocomplete="off"
      data-suggest="${shopPath(visit, '/suggest')}"
    />
    <button aria-label="${messages.search}">${SEARCH_ICON}</button>
  </form>`;
}
