import { findCategoryTree } from '../../catalogue/products/category-paths.ts';
import { knownColumns } from '../../catalogue/products/csv-mapping.ts';
import { productFile } from '../../catalogue/products/export.ts';
import { html } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { choiceField } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { columnChoices, columnTitle } from './column-titles.ts';

/** The columns that users most often change in a spreadsheet. */
const USUAL = new Set([
  'Alias',
  'Name',
  'ListPrices',
  'StockLevel',
  'Visible',
  'Categories',
  'Description',
  'SuperProduct',
]);

const MAX_CATEGORIES = 500;

/** The products as a file, with the chosen columns and filters. */
export function exportPages(pages: ShopPages): void {
  pages.get('/products/export', 'products_read_batch', async (visit) => {
    const messages = visit.messages.import;
    const columns = columnChoices(visit, exportColumns(visit));
    const { pathOf } = await findCategoryTree(
      visit.db,
      visit.shopId,
      visit.locale,
      visit.settings.defaultLocale,
    );
    return {
      title: messages.exportTitle,
      menu: 'products',
      breadcrumbs: [
        { href: adminPath(visit, '/products'), text: visit.messages.layout.menuEntries.products },
      ],
      main: html`<form
        method="get"
        action="${adminPath(visit, '/products/export.csv')}"
        class="card"
        hx-boost="false"
      >
        <p class="hint">${messages.exportIntro}</p>
        <div class="row">
          ${choiceField({
            name: 'visible',
            label: messages.exportFilter,
            empty: messages.exportAll,
            choices: [
              { value: 'yes', text: messages.exportShown },
              { value: 'no', text: messages.exportHidden },
            ],
          })}
          ${choiceField({
            name: 'category',
            label: messages.exportCategory,
            empty: messages.exportAnyCategory,
            choices: [...pathOf]
              .slice(0, MAX_CATEGORIES)
              .map(([value, text]) => ({ value, text }))
              .toSorted((left, right) => left.text.localeCompare(right.text, visit.language)),
          })}
        </div>
        <fieldset>
          <legend>${messages.choose}</legend>
          <p class="hint">${messages.numberAlways}</p>
          <div class="export-columns">
            ${columns.map(
              ({ value, text }) =>
                html`<label
                  ><input
                    type="checkbox"
                    name="column"
                    value="${value}"
                    ${USUAL.has(value.split('/')[0]!) && html`checked`}
                    ${value === 'Alias' && html`disabled`}
                  />
                  ${text}</label
                >`,
            )}
          </div>
        </fieldset>
        <button class="main">${messages.exportButton}</button>
      </form>`,
    };
  });

  pages.file('/products/export.csv', 'products_read_batch', async (visit, request) => {
    const chosen = new Set(['Alias', ...request.queryList('column')]);
    const visible = request.query('visible');
    const category = request.query('category') ?? '';
    return {
      type: 'text/csv; charset=utf-8',
      fileName: visit.messages.import.exportFile,
      content: productFile(visit.db, visit.settings, {
        columns: exportColumns(visit).filter(({ key }) => chosen.has(key)),
        titleOf: ({ key }) => columnTitle(visit, key),
        isVisible: visible === 'yes' ? true : visible === 'no' ? false : undefined,
        categoryId: isId(category) ? category.toUpperCase() : undefined,
      }),
    };
  });
}

/** An import fetches pictures; an export has no cells for them or their descriptions. */
const exportColumns = ({ settings }: ShopVisit) =>
  [...knownColumns(settings).values()].filter(({ key }) => !/^Image(?:s|Texts)\b/.test(key));
