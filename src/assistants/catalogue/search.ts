import { Type, type Static } from 'typebox';
import { parseVersions } from '../../catalogue/products/listing-page.ts';
import { findOrFallBack } from '../../catalogue/search/faceted-search.ts';
import { parseQuery } from '../../catalogue/search/query.ts';
import type { AssistantContext } from '../context.ts';
import { messagesMember, type Message } from '../messages.ts';
import { ProtocolProblem } from '../problem.ts';
import { Context, Filters, Text } from '../schema.ts';
import { priceMessage } from './disclosures.ts';
import { describeProducts, loadOffered } from './offered.ts';
import { findCategoryNumbers } from './queries.ts';

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 25;
/** Nobody reads further; a search for something else finds it. */
const MAX_OFFSET = 1_000;

export const SearchRequest = Type.Object({
  query: Type.Optional(Text('Words to search for.')),
  filters: Type.Optional(Filters),
  context: Type.Optional(Context),
  pagination: Type.Optional(
    Type.Object(
      {
        cursor: Type.Optional(Text('From the previous answer.', 100)),
        limit: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 1_000_000,
            description: `Products in the answer, at most ${MAX_LIMIT}. Absent: ${DEFAULT_LIMIT}.`,
          }),
        ),
      },
      { description: 'Which part of the results.' },
    ),
  ),
});

/** The products that match a query, a filter, or both, as the search of the shop finds them. */
export async function searchCatalogue(context: AssistantContext, request: Static<typeof SearchRequest>) {
  const { db, shopId, settings, locale } = context;
  const { query = '', filters = {}, pagination = {} } = request;
  const terms = parseQuery(query);
  const isFiltered = filters.price !== undefined || filters.categories !== undefined;
  if (terms.length === 0 && !isFiltered) {
    throw new ProtocolProblem('invalid_request', 'A search needs a query or a filter');
  }
  const limit = Math.min(pagination.limit ?? DEFAULT_LIMIT, MAX_LIMIT);
  const offset = offsetOf(pagination.cursor);
  const categories = filters.categories && (await findCategoryNumbers(db, shopId, filters.categories));
  // The list is sorted and filtered by the prices in the default currency.
  const isOtherCurrency = ![undefined, settings.defaultCurrency].includes(request.context?.currency);
  const bounds = isOtherCurrency ? {} : (filters.price ?? {});
  const found = await findOrFallBack(db, shopId, {
    locale,
    terms,
    filters: {
      facets: [],
      ...(categories && { oneOf: categories.map((number) => `c:${number}`) }),
      minimum: bounds.min ?? null,
      maximum: bounds.max ?? null,
    },
    sortBy: terms.length > 0 ? 'rank' : 'name',
    direction: terms.length > 0 ? 'desc' : 'asc',
    limit,
    offset,
  });
  const requested = parseVersions(found.versions).map(({ productId }) => ({ productId, variantIds: [] }));
  const { products, messages, policies } = describeProducts(context, await loadOffered(context, requested));
  const next = offset + limit;
  const isMore = next < found.results && next <= MAX_OFFSET;
  const notes: Message[] = [
    ...(products.length > 0 ? [priceMessage(context)] : []),
    ...(found.fallbackQuery === ''
      ? []
      : [{ type: 'info' as const, code: 'query_changed', content: found.fallbackQuery }]),
    ...(isOtherCurrency && filters.price
      ? [
          {
            type: 'info' as const,
            code: 'price_filter_ignored',
            content: `Prices are filtered in ${settings.defaultCurrency} only.`,
          },
        ]
      : []),
  ];
  return {
    products,
    pagination: {
      has_next_page: isMore,
      ...(isMore && { cursor: cursorOf(next) }),
      total_count: found.results,
    },
    ...messagesMember([...notes, ...messages]),
    ...(policies.length > 0 && { policies }),
  };
}

const cursorOf = (offset: number) => Buffer.from(`o${offset}`).toString('base64url');

function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const offset = /^o([1-9]\d{0,3})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1];
  if (offset === undefined || Number(offset) > MAX_OFFSET) {
    throw new ProtocolProblem('invalid_request', 'The cursor is not one of a previous answer');
  }
  return Number(offset);
}
