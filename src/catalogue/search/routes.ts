import { Type } from 'typebox';
import { invalid } from '../../http/errors.ts';
import { readingLocale } from '../../http/locale.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged, paging } from '../../http/paging.ts';
import { joinRawJson } from '../../http/raw-json.ts';
import { Link, LocaleParameter, Nullable, Paged } from '../../http/schemas.ts';
import { imagesOf } from '../../platform/media/images.ts';
import { Image } from '../../platform/media/schema.ts';
import { parseVersions } from '../products/listing-page.ts';
import { productJson } from '../products/product-cache.ts';
import { MoreResults, Product } from '../products/schema.ts';
import { renderOptions } from '../products/render-options.ts';
import { shopSettings, withCachedSettings } from '../../shops/settings/settings.ts';
import { RequestedFilter, Facet, facetsOf, parseFilters } from './facets.ts';
import { findOrFallBack, type SortBy } from './faceted-search.ts';
import { parseQuery } from './query.ts';
import { suggestOrFallBack, type Suggestion } from './suggestions.ts';

const { parameters, pageOf } = paging();

/** The sort orders of the contract. There are no ratings, so the best rated are the most relevant. */
const ORDERS: Readonly<Record<string, { sortBy: SortBy; direction: 'asc' | 'desc' }>> = {
  RELEVANCE: { sortBy: 'rank', direction: 'desc' },
  NAME_ASC: { sortBy: 'name', direction: 'asc' },
  NAME_DESC: { sortBy: 'name', direction: 'desc' },
  ALIAS_ASC: { sortBy: 'number', direction: 'asc' },
  ALIAS_DESC: { sortBy: 'number', direction: 'desc' },
  POSITION: { sortBy: 'creation', direction: 'asc' },
  POSITION_ASC: { sortBy: 'creation', direction: 'asc' },
  POSITION_DESC: { sortBy: 'creation', direction: 'desc' },
  PRICE_ASC: { sortBy: 'price', direction: 'asc' },
  PRICE_DESC: { sortBy: 'price', direction: 'desc' },
  CUSTOMER_RATING: { sortBy: 'rank', direction: 'desc' },
};

const ProductSearch = Type.Object(
  {
    query: Type.Optional(
      Nullable(
        Type.String({
          description: 'Parts of words, and phrases in quotes; all must be found. Absent: everything.',
          maxLength: 1_000,
          examples: ['lamp'],
        }),
      ),
    ),
    sortBy: Type.Optional(
      Nullable(
        Type.String({
          description: 'Order; absent: the most relevant first. ALIAS is the number, POSITION the age.',
          enum: [...Object.keys(ORDERS), null],
          examples: ['RELEVANCE'],
        }),
      ),
    ),
    attributeFilters: Type.Optional(
      Nullable(
        Type.Array(RequestedFilter, {
          description: 'All of them must hold. From the facets.',
          maxItems: 100,
        }),
      ),
    ),
  },
  { title: 'productSearch (create request)' },
);

const SearchResult = Type.Object(
  {
    ...Paged(Product, '').properties,
    moreResults: MoreResults,
    query: Type.String({ description: 'The query.', examples: ['lanp'] }),
    fallbackQuery: Type.String({
      description:
        'The query that was used instead, because the original one finds nothing; otherwise empty.',
      examples: ['lamp'],
    }),
    facets: Type.Array(Facet, { description: 'The available filters.' }),
  },
  { title: 'productSearchResult' },
);

const Suggestions = Type.Object(
  {
    products: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'Name.', examples: ['Harbour Cider 0.5 l'] }),
          images: Type.Array(Image, { description: 'The Thumbnail of its main image.' }),
          link: { ...Link, description: 'The product.' },
        },
        { title: 'productSuggest' },
      ),
      { description: 'Names that begin with it first.' },
    ),
  },
  { title: 'productSuggestResult' },
);

export const searchProducts = operation({
  tag: 'search',
  labels: ['Now'],
  method: 'POST',
  path: '/search/products',
  name: 'searchProducts',
  summary: 'Search products',
  description:
    'Visible products with facets: the available filters, and the number of hits of each choice. If the query finds nothing, words are corrected or left out, and fallbackQuery is the query that was used instead.',
  access: 'products_write',
  query: Type.Object({ locale: LocaleParameter, ...parameters }),
  body: ProductSearch,
  answer: SearchResult,
});

const suggestProducts = operation({
  tag: 'search',
  labels: ['Base'],
  method: 'GET',
  path: '/search/product-suggest',
  name: 'suggestProducts',
  summary: 'Suggest products',
  description:
    'Visible products whose name contains the query. If there is none, typing errors are corrected.',
  access: 'products_read',
  query: Type.Object({
    locale: LocaleParameter,
    query: Type.String({ description: 'The text entered so far.', maxLength: 200, examples: ['harb'] }),
    limit: Type.Integer({
      description: 'Maximum number.',
      minimum: 1,
      maximum: 100,
      default: 10,
      examples: [10],
    }),
  }),
  answer: Suggestions,
});

export function searchOperations(api: Operations): void {
  api.read(searchProducts, async (call) => {
    const { db, shopId, query, body } = call;
    const page = pageOf(query);
    const order = ORDERS[body.sortBy ?? 'RELEVANCE']!;
    const searchText = body.query ?? '';
    return withCachedSettings(db, shopId, async (settings, verify) => {
      const found = await findOrFallBack(db, shopId, {
        ...order,
        locale: readingLocale(query.locale, settings),
        terms: parseQuery(searchText),
        ownWords: true,
        filters: parseFilters(body.attributeFilters ?? [], settings.defaultCurrency),
        limit: page.resultsPerPage,
        offset: page.offset,
      });
      verify(found.settingsVersion);
      const options = renderOptions(call, settings, query, 'search');
      const products = await productJson(db, settings, parseVersions(found.versions), options);
      return joinRawJson({
        ...paged(page, found.results, products),
        ...(found.isMore ? { moreResults: true } : {}),
        query: searchText,
        fallbackQuery: found.fallbackQuery,
        facets: facetsOf(found, found.filters, settings, options.locale),
      });
    });
  });

  api.read(suggestProducts, async ({ db, shopId, query, origin, link }) => {
    const text = query.query.trim().replaceAll(/\s+/g, ' ');
    if (text === '') throw invalid('STRING_EMPTY', 'query');
    const locale = readingLocale(query.locale, await shopSettings(db, shopId));
    const suggestions = await suggestOrFallBack(db, shopId, locale, text, query.limit);
    return {
      products: suggestions.map((suggestion) => ({
        name: suggestion.name,
        images: thumbnailOf(suggestion, origin, shopId),
        link: { rel: 'product', href: link(`/products/${suggestion.productId}`) },
      })),
    };
  });
}

function thumbnailOf({ imageKey, sizes }: Suggestion, origin: string, shopId: string) {
  if (!imageKey || !sizes) return [];
  return imagesOf(origin, shopId, imageKey, sizes, { isZoomEnabled: false }).filter(
    ({ classifier }) => classifier === 'Thumbnail',
  );
}
