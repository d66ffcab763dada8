import { html, type Markup } from '../../http/html.ts';
import { imagesOf } from '../../platform/media/images.ts';
import { notFound } from '../../http/errors.ts';
import { refsOf } from '../../catalogue/products/listing.ts';
import { productValues } from '../../catalogue/products/product-cache.ts';
import { findRefs } from '../../catalogue/products/queries.ts';
import { categoryNumbers, facetsOf } from '../../catalogue/search/facets.ts';
import { findCategoryNames, findOrFallBack, suggestOrFallBack } from '../../catalogue/search/queries.ts';
import { parseQuery } from '../../catalogue/search/query.ts';
import { categoryLinks } from './category-cards.ts';
import { viewOf } from '../page-cache.ts';
import { askedList, filtersOf, PER_PAGE, SORTS, type AskedList, type Sort } from './listing-asked.ts';
import { listView } from './listing-view.ts';
import { messages } from '../../kernel/messages.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../page-registration.ts';
import { productPath, to, type Visit } from '../visit.ts';

const SORTS_HERE: readonly Sort[] = ['relevance', 'name', 'price', 'price-desc', 'new'];
const LONGEST_QUERY = 200;
const MOST_SUGGESTIONS = 8;
const SHORTEST_SUGGESTED = 2;

/** Results of a search, and what is suggested while somebody types. */
export function search(pages: Pages): void {
  pages.show('/search', async (visit, asked) => {
    const query = typedQuery(asked.query('q'));
    const list = askedList(asked, 'relevance');
    return parseQuery(query).length === 0 ? emptyPage(visit) : resultsPage(visit, query, list);
  });

  pages.file('/suggest', async (visit, asked) => {
    const text = typedQuery(asked.query('q'));
    const products = text.length < SHORTEST_SUGGESTED ? [] : await suggestions(visit, text);
    return { type: 'application/json; charset=utf-8', content: JSON.stringify(products) };
  });
}

function typedQuery(text = ''): string {
  return text.trim().replaceAll(/\s+/g, ' ').slice(0, LONGEST_QUERY);
}

async function resultsPage(visit: Visit, query: string, asked: AskedList): Promise<Page> {
  const { db, shopId, settings, locale } = visit;
  const words = messages(locale).storefront.listing;
  const found = await findOrFallBack(db, shopId, {
    locale,
    terms: parseQuery(query),
    filters: filtersOf(asked, settings.defaultCurrency),
    ...SORTS[asked.sort],
    limit: PER_PAGE,
    offset: (asked.page - 1) * PER_PAGE,
  });
  const { results, fallbackQuery } = found;
  if (asked.page > Math.max(1, Math.ceil(results / PER_PAGE))) throw notFound();
  const categories = await findCategoryNames(db, shopId, categoryNumbers(found.facets));
  const products = await productValues(db, settings, refsOf(found.page), viewOf(visit, 'search'));
  const isNothing = results === 0 && asked.facets.length === 0 && asked.min === '' && asked.max === '';
  const list = listView(visit, {
    path: '/search',
    query: { q: query },
    asked,
    sorts: SORTS_HERE,
    results,
    products,
    facets: facetsOf(found, found.filters, categories, settings, locale),
  });
  const title = isNothing ? words.nothingFor({ query }) : words.resultsFor({ query: fallbackQuery || query });
  return {
    title,
    path: '/search',
    query: { q: query },
    isPrivate: true,
    main: html`<h1>${title}</h1>
      ${fallbackQuery !== '' && html`<p class="notice">${words.fallback({ query, fallbackQuery })}</p>`}
      ${isNothing ? help(visit, query) : list}`,
    events: [
      {
        name: 'searchResults:view',
        detail: { products, query: { q: query, token: fallbackQuery || query } },
      },
    ],
  };
}

function emptyPage(visit: Visit): Page {
  const words = messages(visit.locale).storefront.listing;
  return {
    title: words.search,
    path: '/search',
    isPrivate: true,
    main: html`<h1>${words.search}</h1>
      ${searchForm(visit, '')}`,
  };
}

function searchForm(visit: Visit, query: string): Markup {
  const { locale, settings } = visit;
  const words = messages(locale).storefront.listing;
  return html`<form
    role="search"
    aria-label="${words.searchAgain}"
    action="${to({ ...visit, locale: settings.defaultLocale }, '/search')}"
  >
    ${locale !== settings.defaultLocale && html`<input type="hidden" name="locale" value="${locale}" />`}
    <div class="field">
      <label for="search.again">${words.searchAgain}</label>
      <input
        id="search.again"
        type="search"
        name="q"
        maxlength="${LONGEST_QUERY}"
        required
        value="${query}"
      />
    </div>
    <button class="button">${words.search}</button>
  </form>`;
}

/** Nobody leaves with nothing. */
function help(visit: Visit, query: string): Markup {
  const words = messages(visit.locale).storefront.listing;
  return html`<ul>
      ${Object.values(words.tips).map((tip) => html`<li>${tip}</li>`)}
    </ul>
    ${categoryLinks(visit, visit.frame.categories)} ${searchForm(visit, query)}`;
}

/** With the price as the visitor sees it elsewhere. */
async function suggestions(visit: Visit, text: string) {
  const { db, shopId, settings, locale } = visit;
  const found = await suggestOrFallBack(db, shopId, locale, text, MOST_SUGGESTIONS);
  const refs = await findRefs(
    db,
    shopId,
    found.map(({ productId }) => productId),
  );
  const products = await productValues(db, settings, refs, viewOf(visit, 'search'));
  return found.flatMap(({ productId, imageKey, sizes }) => {
    const product = products.find((one) => one.productId === productId);
    if (!product) return [];
    const { lowestPrice, price } = product.priceInfo;
    const shown = (settings.showFromPrices ? lowestPrice : null) ?? price;
    const image =
      imageKey && sizes
        ? imagesOf('', shopId, imageKey, sizes, { isZoomEnabled: false }).find(
            ({ classifier }) => classifier === 'Thumbnail',
          )
        : undefined;
    return [
      {
        name: product.name,
        href: to(visit, productPath(product.productNumber)),
        image: image ? { url: image.url, width: image.width, height: image.height } : null,
        price: shown?.formatted ?? null,
      },
    ];
  });
}
