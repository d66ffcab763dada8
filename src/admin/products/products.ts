import { html } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { anyText } from '../../catalogue/products/render.ts';
import { parseQuery } from '../../catalogue/search/query.ts';
import { chip } from '../components/format.ts';
import { listView } from '../components/list.ts';
import { listState, type Column, type ListState } from '../components/list-state.ts';
import type { Choice } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { categoryTree } from './category-tree.ts';
import { findListedProducts, type ProductListRow } from './list-row.ts';
import { findProductPage, type ProductFilter, type StockFilter } from './list-queries.ts';
import { findCategoryChoices, type CategoryChoice } from './queries.ts';

/** The list of products. */
export function productListPages(pages: ShopPages): void {
  pages.get('/products', 'products_read', async (visit, request) => {
    const { db, shopId } = visit;
    const messages = visit.messages.products;
    const title = visit.messages.layout.menuEntries.products;
    const columns = productColumns(visit);
    const state = listState(request, columns);
    const [found, categories] = await Promise.all([
      findProductPage(db, shopId, toFilter(visit, state)),
      findCategoryChoices(db, shopId),
    ]);
    const mayWrite = visit.may('products_write');
    return {
      title,
      menu: 'products',
      actions: mayWrite
        ? html`<a class="button" href="${adminPath(visit, '/products/import')}"
              >${visit.messages.import.open}</a
            >
            <a class="button" href="${adminPath(visit, '/products/stock-take')}"
              >${messages.stockTake.title}</a
            >
            <a class="button main" href="${adminPath(visit, '/products/new')}">${messages.new.title}</a>`
        : undefined,
      main: await listView(visit, request, {
        path: '/products',
        caption: title,
        columns,
        filters: [
          { kind: 'search', name: 'q', label: messages.search },
          { kind: 'choice', name: 'visible', label: messages.visibility, choices: visibilityChoices(visit) },
          { kind: 'choice', name: 'stock', label: messages.stock, choices: stockChoices(visit) },
          {
            kind: 'choice',
            name: 'category',
            label: messages.category,
            choices: categoryChoices(visit, categories, state.filter('category')),
          },
        ],
        rows: await findListedProducts(visit, found.productIds),
        results: found.results,
        isMore: found.isMore,
        href: ({ productId }) => adminPath(visit, `/products/${productId}`),
        idOf: ({ productId }) => productId,
        bulk: mayWrite
          ? [
              { action: '/products/show', text: messages.bulk.show },
              { action: '/products/hide', text: messages.bulk.hide },
              { action: '/products/change-prices', text: messages.bulk.changePrices, method: 'get' },
              { action: '/products/delete', text: messages.bulk.delete, method: 'get', kind: 'danger' },
            ]
          : [],
        empty: mayWrite
          ? html`<p>${messages.empty}</p>
              <p>
                <a class="button main" href="${adminPath(visit, '/products/new')}">${messages.new.title}</a>
              </p>`
          : messages.empty,
      }),
    };
  });
}

const STOCKS: readonly string[] = ['in', 'low', 'out'] satisfies StockFilter[];

function toFilter({ locale }: ShopVisit, { sort, filter, limit, offset }: ListState): ProductFilter {
  const [visible, stock, category] = [filter('visible'), filter('stock'), filter('category')];
  return {
    locale,
    terms: parseQuery(filter('q')),
    isVisible: visible === 'yes' ? true : visible === 'no' ? false : undefined,
    stock: STOCKS.includes(stock) ? (stock as StockFilter) : undefined,
    categoryId: isId(category) ? category : undefined,
    sort: sort?.endsWith('price') ? 'price' : 'name',
    direction: sort?.startsWith('-') ? 'desc' : 'asc',
    limit,
    offset,
  };
}

/** A longer list would make every page of products heavy. The page of a category lists its products too. */
const MAX_CHOICES = 100;

/** The categories below the root; if there are many, the highest in the tree, and the chosen one. */
function categoryChoices(
  { locale, settings }: ShopVisit,
  categories: readonly CategoryChoice[],
  chosen: string,
): Choice[] {
  const printed = categoryTree(categories).filter(({ parentId }) => parentId !== null);
  const highest = printed.toSorted((left, right) => left.depth - right.depth).slice(0, MAX_CHOICES);
  const offered = new Set([...highest.map(({ categoryId }) => categoryId), chosen.toUpperCase()]);
  return printed
    .filter(({ categoryId }) => offered.has(categoryId))
    .map(({ categoryId, name, depth }) => ({
      value: categoryId,
      text: `${'– '.repeat(depth - 1)}${anyText(name, locale, settings.defaultLocale) ?? ''}`,
    }));
}

function visibilityChoices({ messages: { products: messages } }: ShopVisit): Choice[] {
  return [
    { value: 'yes', text: messages.shown },
    { value: 'no', text: messages.hidden },
  ];
}

function stockChoices({ messages: { products: messages } }: ShopVisit): Choice[] {
  return [
    { value: 'in', text: messages.inStock },
    { value: 'low', text: messages.lowStock },
    { value: 'out', text: messages.soldOut },
  ];
}

function productColumns({ messages: { products: messages } }: ShopVisit): Column<ProductListRow>[] {
  return [
    {
      name: 'name',
      title: messages.name,
      isSortable: true,
      cell: ({ name, picture, variations }) =>
        html`<span class="product-name"
          >${picture}
          <span
            >${name}
            ${variations > 0 && html`<span class="quiet">${messages.variationsOf({ count: variations })}</span>`}</span
          ></span
        >`,
    },
    { name: 'number', title: messages.number, cell: ({ productNumber }) => productNumber },
    { name: 'category', title: messages.category, cell: ({ category }) => category },
    {
      name: 'visible',
      title: messages.visibility,
      cell: ({ visible }) => (visible ? chip(messages.shown, 'good') : chip(messages.hidden)),
    },
    { name: 'stock', title: messages.stock, isNumeric: true, cell: ({ stock }) => stock },
    { name: 'price', title: messages.price, isNumeric: true, isSortable: true, cell: ({ price }) => price },
    {
      name: 'manufacturer',
      title: messages.manufacturer,
      isExtra: true,
      cell: ({ manufacturer }) => manufacturer,
    },
    { name: 'ean', title: messages.ean, isExtra: true, cell: ({ ean }) => ean },
  ];
}
