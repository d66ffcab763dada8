import {
  findCategoryCards,
  findCategoryPath,
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
import { pageOfProducts, refsOf } from '../../catalogue/products/listing.ts';
import { productValues } from '../../catalogue/products/product-cache.ts';
import { findProducts } from '../../catalogue/products/queries.ts';
import { renderProduct } from '../../catalogue/products/render.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { categoryNumbers, facetsOf, type Facet } from '../../catalogue/search/facets.ts';
import { findCategoryNames, findFaceted } from '../../catalogue/search/queries.ts';
import { categoryCards, categoryLinks } from './category-cards.ts';
import { compacted, PageCache, viewOf } from '../page-cache.ts';
import {
  askedList,
  filtersOf,
  isFiltered,
  PER_PAGE,
  SORTS,
  type AskedList,
  type Sort,
} from './listing-asked.ts';
import { breadcrumbList, crumbs, listView } from './listing-view.ts';
import { merchantHtml } from '../merchant-html/merchant-html.ts';
import { JsonText, type Page } from '../page.ts';
import { requireVersion, type Asked, type Pages } from '../page-registration.ts';
import { categoryPath, type Visit } from '../visit.ts';

const SORTS_HERE: readonly Sort[] = ['name', 'price', 'price-desc', 'new'];

/** The category pages: where the `sfUrl` of categories leads. */
export function category(pages: Pages): void {
  pages.getOptimistic('/Categories', (visit, asked) => categoryPage(visit, undefined, asked));
  pages.getOptimistic('/Categories/:alias', (visit, asked) =>
    categoryPage(visit, asked.params['alias'], asked),
  );
}

interface ShownCategory extends CategoryRow {
  number: number;
  path: CategoryTitle[];
}

const kept = new PageCache<Page>('category pages', 32);

async function categoryPage(visit: Visit, alias: string | undefined, given: Asked): Promise<Page> {
  const asked = askedList(given, 'name');
  const category = await categoryOf(visit, alias);
  if (isFiltered(asked) || asked.showsFilters || asked.sort === 'new') {
    return narrowedPage(visit, category, asked);
  }
  const found = await findPlain(visit, visit.db, category, asked);
  requireVersion(visit, found.settingsVersion);
  requirePage(asked, found.results);
  const name = `${category.alias} ${asked.sort} ${asked.page}`;
  const page = await kept.find(visit, name, found.stamp, async (snapshot) => {
    const { stamp, results, page, cards } = await findPlain(visit, snapshot, category, asked);
    const rows = await findProducts(
      snapshot,
      visit.shopId,
      refsOf(page).map(({ productId }) => productId),
    );
    const rendered = refsOf(page).flatMap(({ productId }) => {
      const row = rows.find((one) => one.productId === productId);
      return row ? [renderProduct(row, visit.settings, viewOf(visit, 'list'), snapshot.now)] : [];
    });
    const products = rendered.map(({ product }) => product);
    const facets = !category.showFacets
      ? undefined
      : results > PER_PAGE
        ? 'on demand'
        : await findFacets(visit, snapshot, category);
    const content = pageOf(visit, category, { asked, results, products, facets, cards });
    const until = rendered.map((one) => one.until);
    return { stamp, until, content, length: content.main.text.length + lengthOfEvents(content) };
  });
  return page!;
}

function lengthOfEvents({ events = [] }: Page): number {
  return events.reduce(
    (length, { detail }) => length + (detail instanceof JsonText ? detail.text.length : 0),
    0,
  );
}

function requirePage({ page }: AskedList, results: number): void {
  if (page > Math.max(1, Math.ceil(results / PER_PAGE))) throw notFound();
}

interface KeptCategory {
  settingsVersion: number;
  category: ShownCategory;
}

const categoryCache: CacheKind<KeptCategory> = { name: 'categories', limit: { megabytes: 8 } };

/** Every change of a category moves the version of the settings. */
async function categoryOf(visit: Visit, alias: string | undefined): Promise<ShownCategory> {
  const { db, shopId, settings } = visit;
  const cache = db.caches.of(categoryCache);
  const key = `${shopId} ${alias ?? ''}`;
  const known = cache.get(key);
  if (known?.settingsVersion === settings.version) return known.category;
  const row = await findShownCategory(db, shopId, alias);
  if (!row) throw notFound();
  const category = { ...row, path: await findCategoryPath(db, shopId, row.categoryId) };
  cache.set(key, { settingsVersion: settings.version, category }, 2 * JSON.stringify(category).length);
  return category;
}

/** A page of the whole category. Where it holds no products itself, those below it are shown with their pictures. */
async function findPlain(visit: Visit, db: Queries, category: ShownCategory, { page, sort }: AskedList) {
  const { shopId, locale } = visit;
  const { sortBy, direction } = SORTS[sort];
  const found = await pageOfProducts(db, shopId, {
    locale,
    categoryId: category.categoryId,
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
  return { ...found, cards, stamp: `${found.results} ${found.page} ${pictures}` };
}

/** A list that fits on one page is known by the versions of all its products, so its facets are kept with it. */
async function findFacets(visit: Visit, db: Queries, category: ShownCategory): Promise<Facet[]> {
  const { shopId, locale, settings } = visit;
  const filters = { facets: [`c:${category.number}`], minimum: null, maximum: null };
  const found = await findFaceted(db, shopId, {
    locale,
    terms: [],
    filters,
    ...SORTS.name,
    limit: 1,
    offset: 0,
  });
  const categories = await findCategoryNames(db, shopId, categoryNumbers(found.facets));
  return facetsOf(found, filters, categories, settings, locale);
}

/** What was asked for in particular is made for this visitor. */
async function narrowedPage(visit: Visit, category: ShownCategory, asked: AskedList): Promise<Page> {
  const { db, shopId, locale, settings } = visit;
  const chosen = filtersOf(asked, settings.defaultCurrency);
  const filters = { ...chosen, facets: [`c:${category.number}`, ...chosen.facets] };
  const found = await findFaceted(db, shopId, {
    locale,
    terms: [],
    filters,
    ...SORTS[asked.sort],
    limit: PER_PAGE,
    offset: (asked.page - 1) * PER_PAGE,
  });
  requireVersion(visit, found.settingsVersion);
  requirePage(asked, found.results);
  const categories = await findCategoryNames(db, shopId, categoryNumbers(found.facets));
  return {
    ...pageOf(visit, category, {
      asked,
      results: found.results,
      products: await productValues(db, settings, refsOf(found.page), viewOf(visit, 'list')),
      facets: category.showFacets ? facetsOf(found, filters, categories, settings, locale) : undefined,
      cards: [],
    }),
    isPrivate: true,
  };
}

interface Content {
  asked: AskedList;
  results: number;
  products: Product[];
  facets: Facet[] | 'on demand' | undefined;
  cards: CategoryCard[];
}

function pageOf(visit: Visit, category: ShownCategory, content: Content): Page {
  const { shopId, settings, locale, origin } = visit;
  const text = (texts: Localised) => textIn(texts, locale, settings.defaultLocale);
  const name = text(category.name) ?? category.alias;
  const description = text(category.description);
  const path = category.isRoot ? '/Categories' : categoryPath(category.alias);
  const places = category.isRoot
    ? [{ name, path }]
    : category.path.map((place) => ({
        name: text(place.name) ?? place.alias,
        path: categoryPath(place.alias),
      }));
  const link = (path: string) => `${origin}/rs/shops/${shopId}${path}`;
  const { asked, products, cards } = content;
  const children = category.children.map((child) => ({ ...child, image: null }));
  return {
    title: text(category.pageTitle) ?? name,
    ...(description && { description: plainText(description, 300) }),
    path,
    ...(asked.page > 1 && { query: { page: String(asked.page) } }),
    head: breadcrumbList(visit, places),
    main: compacted(
      html`${crumbs(visit, places)}
        <h1>${name}</h1>
        ${description && asked.page === 1 && html`<div class="prose">${merchantHtml(description)}</div>`}
        ${cards.length > 0 ? categoryCards(visit, cards) : children.length > 0 && categoryLinks(visit, children)}
        ${
          (products.length > 0 || cards.length === 0) &&
          listView(visit, {
            ...content,
            path,
            query: {},
            sorts: SORTS_HERE,
            ownFacet: `c:${category.number}`,
          })
        }`,
    ),
    events: [
      {
        name: 'category:view',
        detail: new JsonText({
          category: toCategory(category, { settings, locale, link, origin }),
          products,
        }),
      },
    ],
  };
}
