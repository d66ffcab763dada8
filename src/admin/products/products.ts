import { html } from '../../http/html.ts';
import type { Choice } from '../components/form.ts';
import { chip } from '../components/format.ts';
import { listView } from '../components/list.ts';
import { listState, type Column } from '../components/list-state.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { filterFields, parameterOf } from '../../fields/filter.ts';
import { fieldColumns } from '../fields/field-columns.ts';
import { fieldFilters } from '../fields/list-filters.ts';
import { findListedProducts, type ProductListRow } from './list-row.ts';
import { findProductPage } from './list-queries.ts';
import { categoryChoices, PRODUCT_FILTERS, toProductFilter } from './product-filter.ts';
import { findCategoryChoices } from './queries.ts';

/** The list of products. */
export function productListPages(pages: ShopPages): void {
  pages.get('/products', 'products_read', async (visit, request) => {
    const { db, shopId } = visit;
    const messages = visit.messages.products;
    const title = visit.messages.layout.menuEntries.products;
    const columns = productColumns(visit);
    const state = listState(request, columns);
    const fields = filterFields(visit.settings, 'product');
    const [found, categories] = await Promise.all([
      findProductPage(db, shopId, toProductFilter(visit, state)),
      findCategoryChoices(db, shopId),
    ]);
    const rows = await findListedProducts(visit, found.productIds);
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
        columns: [
          ...columns,
          ...(await fieldColumns(visit, request, 'product', rows, ({ productId }) => productId)),
        ],
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
          ...fieldFilters(visit, fields),
        ],
        rows,
        results: found.results,
        isMore: found.isMore,
        href: ({ productId }) => adminPath(visit, `/products/${productId}`),
        above:
          mayWrite && found.results > 0
            ? html`<p class="edit-all">
                <a
                  href="${adminPath(visit, '/products/bulk-edit', {
                    all: 'yes',
                    ...Object.fromEntries(
                      [...PRODUCT_FILTERS, ...fields.map(parameterOf)].map((name) => [
                        name,
                        state.filter(name),
                      ]),
                    ),
                  })}"
                  >${messages.bulk.editAll({
                    all: found.results.toLocaleString(visit.language) + (found.isMore ? '+' : ''),
                  })}</a
                >
              </p>`
            : undefined,
        idOf: ({ productId }) => productId,
        bulk: mayWrite
          ? [
              { action: '/products/show', text: messages.bulk.show },
              { action: '/products/hide', text: messages.bulk.hide },
              { action: '/products/bulk-edit', text: messages.bulk.editChosen, method: 'get' },
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
