import {
  findCategoryCards,
  findCategoryPath,
  findNumbersBelow,
  findShownCategory,
  type CategoryCard,
  type CategoryRow,
  type CategoryTitle,
} from '../../catalogue/categories/queries.ts';
import { toCategory } from '../../catalogue/categories/render.ts';
import type { CacheKind } from '../../db/cache.ts';
import type { Queries } from '../../db/database.ts';
import { notFound } from '../../http/errors.ts';
import { html, plainText } from '../../http/html.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import { countInCategory, pageOfProducts, parseVersions } from '../../catalogue/products/listing-page.ts';
import { productValues } from '../../catalogue/products/product-cache.ts';
import { findProductRows } from '../../catalogue/products/queries.ts';
import { renderProduct } from '../../catalogue/products/render.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import type { Facet } from '../../catalogue/search/facets.ts';
import { MAX_RANKED } from '../../catalogue/search/hits.ts';
import { findFaceted, type Filters } from '../../catalogue/search/faceted-search.ts';
import type { ShownPage } from '../../content/pages/queries.ts';
import { findBlockRefs, loadBlockData } from '../../content/block-data.ts';
import { renderBlocks, type RenderedBlocks } from '../content/blocks.ts';
import { loadPlaced } from '../content/own-page.ts';
import { categoryCards, categoryLinks } from './category-cards.ts';
import { findOrRender, pageCache, visitorOptions } from '../page-cache.ts';
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
import { findListRatings, type ListRatings } from '../reviews/review-view.ts';
import { breadcrumbData, breadcrumbNavigation, listingView } from './listing-view.ts';
import { merchantHtml } from '../../content/merchant-html/merchant-html.ts';
import { categoryMarkdown } from '../markdown/list-markdown.ts';
import { PageEvent, pageLength, type Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { categoryPath, type Visit } from '../visit.ts';
import type { PageRequest } from '../../http/page-kit.ts';

const CATEGORY_SORTS: readonly Sort[] = ['name', 'price', 'price-desc', 'new'];

/** The category pages, where the `sfUrl` of categories leads. */
export function category(pages: Pages): void {
  pages.getOptimistic('/Categories', (visit, request) => categoryPage(visit, undefined, request));
  pages.getOptimistic('/Categories/:alias', (visit, request) =>
    categoryPage(visit, request.params['alias'], request),
  );
}

interface PageCategory extends CategoryRow {
  number: number;
  path: CategoryTitle[];
  /** The numbers of the subcategories whose products the page shows too. */
  numbersBelow: number[];
}

const categoryPages = pageCache<Page>('category pages', 32);

async function categoryPage(
  visit: Visit,
  alias: string | undefined,
  pageRequest: PageRequest,
): Promise<Page> {
  const category = await loadCategory(visit, alias);
  let request = parseListRequest(pageRequest, 'name', visit.locale);
  if (request.sort === 'new' && !isFiltered(request) && (await countListed(visit, category)) > MAX_RANKED) {
    request = { ...request, sort: request.defaultSort };
  }
  if (isFiltered(request) || request.showsFilters || request.sort === 'new') {
    return filteredPage(visit, category, request);
  }
  const found = await findList(visit, visit.db, category, request);
  visit.verifySettings(found.settingsVersion);
  requirePage(request, found.results);
  // The blocks of a category are on its first page only. They may become public without any change.
  const shownTop = request.page === 1 ? await loadPlaced(visit, category.categoryId) : undefined;
  const name = `${category.alias} ${request.sort} ${request.page} ${shownTop?.version ?? ''}`;
  const blockStamp = await topStamp(visit, visit.db, shownTop);
  const versionStamp = found.versionStamp + blockStamp;
  const page = await findOrRender(categoryPages, visit, name, versionStamp, async (snapshot) => {
    const { versionStamp, results, versions, cards } = await findList(visit, snapshot, category, request);
    const rows = await findProductRows(
      snapshot,
      visit.shopId,
      parseVersions(versions).map(({ productId }) => productId),
    );
    const rendered = parseVersions(versions).flatMap(({ productId }) => {
      const row = rows.find((one) => one.productId === productId);
      return row ? [renderProduct(row, visit.settings, visitorOptions(visit, 'list'), snapshot.now)] : [];
    });
    const products = rendered.map(({ product }) => product);
    const ratings = await findListRatings(visit, snapshot, products);
    const facets = !category.showFacets
      ? undefined
      : results > PER_PAGE
        ? 'on demand'
        : await findFacets(visit, snapshot, category);
    const top = await renderTop(visit, snapshot, category, shownTop);
    const content: Page = {
      ...renderCategory(visit, category, { request, results, products, ratings, facets, cards, top }),
      isShared: true,
      takesOwnStyle: true,
    };
    const expires = [...rendered.map(({ until }) => until), ...(top?.expires ?? [])];
    const stamp = versionStamp + (await topStamp(visit, snapshot, shownTop));
    return { content, versionStamp: stamp, expires, length: pageLength(content) };
  });
  return page!;
}

interface CategoryTop extends RenderedBlocks {
  expires: (Date | null)[];
}

async function topStamp(visit: Visit, db: Queries, top: ShownPage | undefined): Promise<string> {
  return top ? ` ${(await findBlockRefs(visit, db, top.text.blocks)).versionStamp}` : '';
}

/** The blocks above the list, which a shop writes itself. */
async function renderTop(
  visit: Visit,
  db: Queries,
  { alias }: PageCategory,
  top: ShownPage | undefined,
): Promise<CategoryTop | undefined> {
  if (!top) return undefined;
  const { blocks, title } = top.text;
  const data = await loadBlockData(
    visit,
    db,
    blocks,
    await findBlockRefs(visit, db, blocks),
    visitorOptions(visit, 'list'),
  );
  const rendered = await renderBlocks(visit, blocks, data, { title: title ?? alias, isMainHero: false });
  return { ...rendered, expires: data.expires };
}

function requirePage({ page }: ListRequest, results: number): void {
  if (page > Math.max(1, Math.ceil(results / PER_PAGE))) throw notFound();
}

/** The length of the category's list, including the subcategories shown on its page. */
function countListed({ db, shopId }: Visit, { categoryId, numbersBelow }: PageCategory): Promise<number> {
  return countInCategory(db, shopId, categoryId, numbersBelow.length > 0);
}

interface CachedCategory {
  settingsVersion: number;
  category: PageCategory;
}

const categoryCache: CacheKind<CachedCategory> = { name: 'categories', limit: { megabytes: 8 } };

/** Every change of a category changes the version of the settings. */
async function loadCategory(visit: Visit, alias: string | undefined): Promise<PageCategory> {
  const { db, shopId, settings } = visit;
  const cache = db.caches.of(categoryCache);
  const key = `${shopId} ${alias ?? ''}`;
  const cached = cache.get(key);
  if (cached?.settingsVersion === settings.version) return cached.category;
  const row = await findShownCategory(db, shopId, alias);
  if (!row) throw notFound();
  const showsBelow = settings.categoriesShowSubcategories && !row.isRoot && row.children.length > 0;
  const category = {
    ...row,
    path: await findCategoryPath(db, shopId, row.categoryId),
    numbersBelow: showsBelow ? await findNumbersBelow(db, shopId, row.categoryId) : [],
  };
  cache.set(key, { settingsVersion: settings.version, category }, 2 * JSON.stringify(category).length);
  return category;
}

/** A page of the whole category. Without products, it shows its subcategories with their pictures. */
async function findList(visit: Visit, db: Queries, category: PageCategory, { page, sort }: ListRequest) {
  const { shopId, locale } = visit;
  const { sortBy, direction } = SORTS[sort];
  const found = await pageOfProducts(db, shopId, {
    locale,
    categoryId: category.categoryId,
    withSubcategories: category.numbersBelow.length > 0,
    sort: sortBy === 'price' ? 'price' : 'name',
    direction,
    includeInvisible: false,
    limit: PER_PAGE,
    offset: (page - 1) * PER_PAGE,
  });
  const cards =
    found.results === 0 && category.children.length > 0
      ? await findCategoryCards(db, shopId, locale, category.categoryId)
      : [];
  const pictures = cards.map(({ image }) => image?.imageKey ?? '').join();
  return { ...found, cards, versionStamp: `${found.results} ${found.versions} ${pictures}` };
}

/** The filters that match the products of the list. */
function listFilters({ number, numbersBelow }: PageCategory, chosen: Filters): Filters {
  const own = `c:${number}`;
  return numbersBelow.length === 0
    ? { ...chosen, facets: [own, ...chosen.facets] }
    : { ...chosen, oneOf: [own, ...numbersBelow.map((below) => `c:${below}`)] };
}

/** The version stamp of a list that fits on one page names all its products, so its facets are cached with it. */
async function findFacets(visit: Visit, db: Queries, category: PageCategory): Promise<Facet[]> {
  const { shopId, locale, settings } = visit;
  const filters = listFilters(category, { facets: [], minimum: null, maximum: null });
  const found = await findFaceted(db, shopId, {
    locale,
    terms: [],
    filters,
    withFields: true,
    ...SORTS.name,
    limit: 1,
    offset: 0,
  });
  return shownFacets(found, filters, settings, locale);
}

/**
 * There are too many filtered lists to cache. Without a filter, the products are those of the whole list, of which a
 * search compares only a part.
 */
async function filteredPage(visit: Visit, category: PageCategory, request: ListRequest): Promise<Page> {
  const { db, shopId, locale, settings } = visit;
  const filters = listFilters(category, toFilters(request, settings));
  const found = await findFaceted(db, shopId, {
    locale,
    terms: [],
    filters,
    withFields: true,
    ...SORTS[request.sort],
    limit: PER_PAGE,
    offset: (request.page - 1) * PER_PAGE,
  });
  visit.verifySettings(found.settingsVersion);
  const isWhole = !isFiltered(request) && request.sort !== 'new';
  const { results, versions, isMore } = isWhole ? await findList(visit, db, category, request) : found;
  requirePage(request, results);
  const products = await productValues(db, settings, parseVersions(versions), visitorOptions(visit, 'list'));
  return {
    ...renderCategory(visit, category, {
      request,
      results,
      isMore,
      isSampled: found.isSampled,
      products,
      ratings: await findListRatings(visit, db, products),
      facets: category.showFacets ? shownFacets(found, filters, settings, locale) : undefined,
      cards: [],
    }),
    isPrivate: true,
  };
}

interface CategoryContent {
  request: ListRequest;
  results: number;
  isMore?: boolean | undefined;
  isSampled?: boolean | undefined;
  products: Product[];
  ratings: ListRatings;
  facets: Facet[] | 'on demand' | undefined;
  cards: CategoryCard[];
  top?: CategoryTop | undefined;
}

function renderCategory(visit: Visit, category: PageCategory, content: CategoryContent): Page {
  const { shopId, settings, locale, origin } = visit;
  const text = (texts: Localised) => textIn(texts, locale, settings.defaultLocale);
  const name = text(category.name) ?? category.alias;
  const description = text(category.description);
  const path = category.isRoot ? '/Categories' : categoryPath(category.alias);
  const breadcrumbs = category.isRoot
    ? [{ name, path }]
    : category.path.map((step) => ({
        name: text(step.name) ?? step.alias,
        path: categoryPath(step.alias),
      }));
  const link = (path: string) => `${origin}/rs/shops/${shopId}${path}`;
  const { request, products, cards, top } = content;
  return {
    title: text(category.pageTitle) ?? name,
    ...(description && { description: plainText(description, 300) }),
    path,
    ...(request.page > 1 && { query: { page: String(request.page) } }),
    markdown: categoryMarkdown(visit, {
      name,
      description: description ?? undefined,
      path,
      children: category.children.map((child) => ({ ...child, name: text(child.name) ?? child.alias })),
      products,
      page: request.page,
      hasMore: request.page * PER_PAGE < content.results,
    }),
    head: html`${breadcrumbData(visit, breadcrumbs)} ${top?.head}`,
    ...(top && { frames: top.frames }),
    main: html`${breadcrumbNavigation(visit, breadcrumbs)}
      <h1>${name}</h1>
      ${description && request.page === 1 && html`<div class="prose">${merchantHtml(visit, description)}</div>`}
      ${top && html`<div class="content">${top.main}</div>`}
      ${cards.length > 0 ? categoryCards(visit, cards) : category.children.length > 0 && categoryLinks(visit, category.children)}
      ${
        (products.length > 0 || cards.length === 0) &&
        listingView(visit, {
          ...content,
          path,
          query: {},
          sorts: CATEGORY_SORTS.filter((sort) => sort !== 'new' || content.results <= MAX_RANKED),
          ownFacet: `c:${category.number}`,
        })
      }`,
    events: [
      new PageEvent('category:view', {
        category: toCategory(category, { settings, locale, link, origin }),
        products,
      }),
    ],
  };
}
