import { Type } from 'typebox';
import { audienceOf } from '../../fields/access.ts';
import { IncludeFields } from '../../shops/settings/shown-fields.ts';
import { FieldFilter, requestedValues } from '../../fields/filter.ts';
import { withFields } from '../../fields/values.ts';
import { notFound, Refusal } from '../../http/errors.ts';
import { readingLocale } from '../../http/locale.ts';
import { operation, type ReadCall } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged, paging } from '../../http/paging.ts';
import { joinRawJson, type RawJson } from '../../http/raw-json.ts';
import { CurrencyParameter, Id, LocaleParameter } from '../../http/schemas.ts';
import { isId } from '../../kernel/ids.ts';
import { searchPage } from '../search/list-search.ts';
import { parseQuery } from '../search/query.ts';
import { findPageWithValues } from '../search/value-page.ts';
import { shopSettings, withCachedSettings, type Settings } from '../../shops/settings/settings.ts';
import { pageOfProducts, parseVersions } from './listing-page.ts';
import { productJson, productValues, readProductJson, renderProductListPage } from './product-cache.ts';
import { findByNumber, findVersions, type ProductVersion } from './queries.ts';
import type { RenderOptions } from './render.ts';
import { Product, ProductList } from './schema.ts';
import {
  IncludeInvisible,
  canWriteProducts,
  visibleTo,
  renderOptions,
  type LocaleAndCurrency,
} from './render-options.ts';

const { parameters, pageOf } = paging();
const shared = { tag: 'products', labels: ['Base', 'Now'], keepsKeyOrder: true } as const;
const MAX_IDS = 12;
const EXAMPLE_ID = '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E';

export const listProducts = operation({
  ...shared,
  method: 'GET',
  path: '/products',
  name: 'listProducts',
  summary: 'List products',
  description:
    'Regular products and masters, not variations. With `id` (up to 12 times), exactly these products in this order, without unknown or invisible ones; then only locale and currency apply. Sorting by price uses the default currency.',
  access: 'products_read',
  query: Type.Object({
    locale: LocaleParameter,
    currency: CurrencyParameter,
    ...parameters,
    direction: Type.Optional(
      Type.String({
        description: 'Direction.',
        enum: ['asc', 'desc'],
        default: 'asc',
        examples: ['asc'],
      }),
    ),
    sort: Type.Optional(
      Type.String({
        description: 'Order.',
        enum: ['name', 'price'],
        default: 'name',
        examples: ['name'],
      }),
    ),
    q: Type.Optional(
      Type.String({
        description: 'Parts of words, and phrases in quotes, joined with +: all must be found.',
        maxLength: 1_000,
        examples: ['beacon+kettle'],
      }),
    ),
    categoryId: Type.Optional(
      Type.String({ description: 'Only the products of this category.', examples: [EXAMPLE_ID] }),
    ),
    id: Type.Optional(
      Type.Unsafe<string | string[]>({
        type: ['array', 'string'],
        items: { type: 'string' },
        description: 'Exactly these products; may be repeated 12 times.',
        examples: [EXAMPLE_ID],
      }),
    ),
    includeInvisible: IncludeInvisible,
    field: FieldFilter,
    includeFields: IncludeFields,
  }),
  answer: ProductList,
});

export const getProduct = operation({
  ...shared,
  method: 'GET',
  path: '/products/:productId',
  name: 'getProduct',
  summary: 'Get product',
  access: 'products_read',
  params: Type.Object({ productId: Id }),
  query: Type.Object({
    locale: LocaleParameter,
    currency: CurrencyParameter,
    includeFields: IncludeFields,
  }),
  answer: Product,
});

export const findProducts = operation({
  ...shared,
  labels: ['Now'],
  method: 'POST',
  path: '/products/find',
  name: 'findProducts',
  summary: 'Find product',
  description: 'Finds a product by its exact number.',
  access: 'products_read',
  body: Type.Object(
    {
      productNumber: Type.String({
        description: 'Number to find.',
        maxLength: 100,
        examples: ['AP-100'],
      }),
    },
    { title: 'product find request' },
  ),
  answer: ProductList,
});

export function productOperations(api: Operations): void {
  api.read(listProducts, async (call) => {
    const { db, shopId, query } = call;
    const ids = [query.id ?? []].flat();
    if (ids.length > 0) return productsById(call, ids);
    const page = pageOf(query);
    const includeInvisible = query.includeInvisible === true && canWriteProducts(call);
    const terms = parseQuery(query.q ?? '');
    return withCachedSettings(db, shopId, async (settings, verify) => {
      const options = {
        locale: readingLocale(query.locale, settings),
        sort: query.sort === 'price' ? ('price' as const) : ('name' as const),
        direction: query.direction === 'desc' ? ('desc' as const) : ('asc' as const),
        includeInvisible,
        limit: page.resultsPerPage,
        offset: page.offset,
        ...(query.categoryId === undefined ? {} : { categoryId: query.categoryId.toUpperCase() }),
      };
      const wanted = requestedValues(settings, 'product', audienceOf(call.caller), query.field);
      const found =
        wanted.length > 0
          ? await findPageWithValues(db, shopId, { ...options, terms, wanted })
          : terms.length > 0
            ? await searchPage(db, shopId, { ...options, terms })
            : await pageOfProducts(db, shopId, options);
      verify(found.settingsVersion);
      const rendering = renderOptions(call, settings, query, 'list');
      if (!query.includeFields) return renderProductListPage(db, settings, page, found, rendering);
      const more = found.isMore ? { moreResults: true } : {};
      const items = await productsWithFields(call, settings, parseVersions(found.versions), rendering);
      return { ...paged(page, found.results, items), ...more };
    });
  });

  api.read(getProduct, async (call) => {
    const { db, shopId, params, query } = call;
    return withCachedSettings(db, shopId, async (settings, verify) => {
      const options = {
        ...renderOptions(call, settings, query, 'full'),
        ...(query.includeFields && { fields: audienceOf(call.caller) }),
      };
      const found = await readProductJson(db, settings, params.productId, options);
      verify(found?.settingsVersion);
      if (!found || (!found.visible && !canWriteProducts(call))) throw notFound();
      return found.json;
    });
  });

  api.read(findProducts, async (call) => {
    const { db, shopId, body } = call;
    const settings = await shopSettings(db, shopId);
    const refs = visibleTo(call, await findByNumber(db, shopId, body.productNumber));
    const items = await productJson(db, settings, refs, renderOptions(call, settings, {}, 'list'));
    return joinRawJson(paged(pageOf({ page: 1, resultsPerPage: 10 }), items.length, items));
  });
}

/** In the order of the ids; unknown and invisible ones are left out. */
async function productsById(
  call: ReadCall<unknown, LocaleAndCurrency & { includeFields?: boolean }, unknown>,
  requestedIds: readonly string[],
): Promise<RawJson | ReturnType<typeof paged<Product>>> {
  if (requestedIds.length > MAX_IDS) throw new Refusal('TOO_MANY_IDS', { limit: MAX_IDS });
  const { db, shopId, query } = call;
  const settings = await shopSettings(db, shopId);
  const ids = requestedIds.filter(isId).map((id) => id.toUpperCase());
  const refs = (await findVersions(db, shopId, ids)).filter(({ visible }) => visible);
  const rendering = renderOptions(call, settings, query, 'list');
  const page = { page: 1, resultsPerPage: MAX_IDS, offset: 0 };
  if (query.includeFields) {
    const items = await productsWithFields(call, settings, refs, rendering);
    return paged(page, items.length, items);
  }
  const items = await productJson(db, settings, refs, rendering);
  return joinRawJson(paged(page, items.length, items));
}

/** Products with their custom fields, which are read beside the cached products. */
async function productsWithFields(
  call: ReadCall<unknown, unknown, unknown>,
  settings: Settings,
  versions: readonly ProductVersion[],
  rendering: RenderOptions,
): Promise<Product[]> {
  const products = await productValues(call.db, settings, versions, rendering);
  const resources = ['product', 'variation'] as const;
  return withFields(call, settings, rendering.locale, resources, products, ({ productId }) => productId);
}
