import { findListRatings } from '../reviews/review-view.ts';
import { html, type Markup } from '../../http/html.ts';
import { imagePath } from '../../platform/media/images.ts';
import { notFound } from '../../http/errors.ts';
import { parseVersions } from '../../catalogue/products/listing-page.ts';
import { productValues } from '../../catalogue/products/product-cache.ts';
import { findVersions } from '../../catalogue/products/queries.ts';
import { findOrFallBack } from '../../catalogue/search/faceted-search.ts';
import { parseQuery } from '../../catalogue/search/query.ts';
import { suggestMatches, suggestProducts } from '../../catalogue/search/suggestions.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { categoryLinks } from './category-cards.ts';
import { findFeatured } from '../../content/featured.ts';
import { findPagesWith, foundPages } from '../content/found-pages.ts';
import { visitorOptions } from '../page-cache.ts';
import {
  isFiltered,
  parseListRequest,
  PER_PAGE,
  SORTS,
  toFilters,
  type ListRequest,
  type Sort,
} from './list-request.ts';
import { shownFacets } from './field-facets.ts';
import { listingView } from './listing-view.ts';
import { priceNote, productCards } from '../product/product-card.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { PageEvent, type Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { priceText } from '../../http/price-text.ts';
import { productPath, shopPath, type Visit } from '../visit.ts';

const SEARCH_SORTS: readonly Sort[] = ['relevance', 'name', 'price', 'price-desc', 'new'];
const MAX_QUERY_LENGTH = 200;
const MAX_SUGGESTIONS = 8;
const MIN_SUGGEST_LENGTH = 2;

/** The results of a search, and suggestions during typing. */
export function searchPages(pages: Pages): void {
  pages.get('/search', async (visit, request) => {
    const query = typedQuery(request.query('q'));
    const list = parseListRequest(request, 'relevance', visit.locale);
    return parseQuery(query).length === 0 ? emptyPage(visit) : resultsPage(visit, query, list);
  });

  pages.file('/suggest', async (visit, request) => {
    const text = typedQuery(request.query('q'));
    const { products, note } =
      text.length < MIN_SUGGEST_LENGTH ? { products: [], note: '' } : await suggestions(visit, text);
    const count = messagesIn(visit.locale).storefront.listing.suggestions({ count: products.length });
    return { type: 'application/json; charset=utf-8', content: JSON.stringify({ count, note, products }) };
  });
}

function typedQuery(text = ''): string {
  return text.trim().replaceAll(/\s+/g, ' ').slice(0, MAX_QUERY_LENGTH);
}

async function resultsPage(visit: Visit, query: string, request: ListRequest): Promise<Page> {
  const { db, shopId, settings, locale } = visit;
  const messages = messagesIn(locale).storefront.listing;
  const terms = parseQuery(query);
  const [found, withWords] = await Promise.all([
    findOrFallBack(db, shopId, {
      locale,
      terms,
      filters: toFilters(request, settings),
      withFields: true,
      ...SORTS[request.sort],
      limit: PER_PAGE,
      offset: (request.page - 1) * PER_PAGE,
    }),
    request.page === 1 && !isFiltered(request) ? findPagesWith(visit, terms) : [],
  ]);
  const { results, fallbackQuery } = found;
  if (request.page > Math.max(1, Math.ceil(results / PER_PAGE))) throw notFound();
  const products = await productValues(
    db,
    settings,
    parseVersions(found.versions),
    visitorOptions(visit, 'search'),
  );
  const isNothing = results === 0 && !isFiltered(request);
  const list = listingView(visit, {
    path: '/search',
    query: { q: query },
    request,
    sorts: SEARCH_SORTS,
    results,
    isMore: found.isMore,
    isSampled: found.isSampled,
    products,
    ratings: await findListRatings(visit, db, products),
    facets: shownFacets(found, found.filters, settings, locale),
  });
  const offered = isNothing ? await featuredProducts(visit) : [];
  const title =
    isNothing && withWords.length === 0
      ? messages.nothingFor({ query })
      : messages.resultsFor({ query: fallbackQuery || query });
  return {
    title,
    path: '/search',
    query: { q: query },
    searchQuery: query,
    isPrivate: true,
    main: html`<h1>${title}</h1>
      ${fallbackQuery !== '' && html`<p class="notice">${messages.fallback({ query, fallbackQuery })}</p>`}
      ${!isNothing && list} ${foundPages(visit, withWords)} ${isNothing && searchHelp(visit, query, offered)}`,
    events: [
      new PageEvent('searchResults:view', {
        products,
        query: { q: query, token: fallbackQuery || query },
      }),
    ],
  };
}

function emptyPage(visit: Visit): Page {
  const messages = messagesIn(visit.locale).storefront.listing;
  return {
    title: messages.search,
    path: '/search',
    isPrivate: true,
    main: html`<h1>${messages.search}</h1>
      ${searchAgainForm(visit, '')}`,
  };
}

function searchAgainForm(visit: Visit, query: string): Markup {
  const { locale, settings } = visit;
  const messages = messagesIn(locale).storefront.listing;
  return html`<form
    role="search"
    aria-label="${messages.searchAgain}"
    action="${shopPath({ ...visit, locale: settings.defaultLocale }, '/search')}"
  >
    ${locale !== settings.defaultLocale && html`<input type="hidden" name="locale" value="${locale}" />`}
    <div class="field">
      <label for="search.again">${messages.searchAgain}</label>
      <input
        id="search.again"
        type="search"
        name="q"
        maxlength="${MAX_QUERY_LENGTH}"
        required
        value="${query}"
      />
    </div>
    <button class="button">${messages.search}</button>
  </form>`;
}

/** A search without results offers tips, categories and products instead of an empty page. */
function searchHelp(visit: Visit, query: string, offered: readonly Product[]): Markup {
  const { listing: messages, finding } = messagesIn(visit.locale).storefront;
  return html`<ul>
      ${Object.values(messages.tips).map((tip) => html`<li>${tip}</li>`)}
    </ul>
    ${categoryLinks(visit, visit.layout.categories)} ${searchAgainForm(visit, query)}
    ${
      offered.length > 0 &&
      html`<section>
        <h2>${finding.instead}</h2>
        ${productCards(visit, offered, { heading: 'h3', isBelow: true })} ${priceNote(visit)}
      </section>`
    }`;
}

const MAX_OFFERED = 4;
/** Offers come first, and some of them may be new as well. */
const MAX_FEATURED = 8;

/** The products of the front page: offers, then new ones. */
async function featuredProducts(visit: Visit): Promise<Product[]> {
  const { db, shopId, settings } = visit;
  const { offers, fresh } = (await findFeatured(db, shopId, MAX_FEATURED))!;
  const versions = parseVersions([offers, fresh].filter(Boolean).join(','));
  const distinct = [...new Map(versions.map((version) => [version.productId, version])).values()];
  return productValues(db, settings, distinct.slice(0, MAX_OFFERED), visitorOptions(visit, 'list'));
}

/**
 * Products whose names contain the text, then others that a search finds; if there are none, the results for the
 * corrected words, with a note.
 */
async function suggestions(visit: Visit, text: string) {
  const { db, shopId, settings, locale } = visit;
  const terms = parseQuery(text);
  const named = await suggestProducts(db, shopId, locale, text, MAX_SUGGESTIONS);
  const isEnough = named.length >= MAX_SUGGESTIONS || terms.length === 0;
  const others = isEnough
    ? []
    : parseVersions(await suggestMatches(db, shopId, locale, terms, MAX_SUGGESTIONS));
  const found =
    named.length + others.length > 0 || terms.length === 0
      ? undefined
      : await findOrFallBack(db, shopId, {
          locale,
          terms,
          filters: { facets: [], minimum: null, maximum: null },
          ...SORTS.relevance,
          limit: MAX_SUGGESTIONS,
          offset: 0,
        });
  const byName = await findVersions(
    db,
    shopId,
    named.map(({ productId }) => productId),
  );
  const all = found ? parseVersions(found.versions) : [...byName, ...others];
  // A product whose name contains the text keeps the position of its name match.
  const versions = all.filter(
    ({ productId }, index) => all.findIndex((one) => one.productId === productId) === index,
  );
  const products = await productValues(
    db,
    settings,
    versions.slice(0, MAX_SUGGESTIONS),
    visitorOptions(visit, 'search'),
  );
  const fallbackQuery = found?.fallbackQuery ?? '';
  return {
    products: products.map((product) => suggestion(visit, product)),
    note:
      fallbackQuery === ''
        ? ''
        : messagesIn(locale).storefront.listing.fallback({ query: text, fallbackQuery }),
  };
}

/** Suggested products have the same price as in lists. */
function suggestion(visit: Visit, { name, productNumber, images, priceInfo }: Product) {
  const { lowestPrice, price } = priceInfo;
  const displayPrice = (visit.settings.showFromPrices ? lowestPrice : null) ?? price;
  const image = images.find(({ classifier }) => classifier === 'Thumbnail');
  return {
    name,
    href: shopPath(visit, productPath(productNumber)),
    image: image ? { url: imagePath(image.url), width: image.width, height: image.height } : null,
    price: displayPrice ? priceText(displayPrice, visit.locale) : null,
  };
}
