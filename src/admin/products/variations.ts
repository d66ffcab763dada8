import { createVariations } from '../../catalogue/products/variations.ts';
import { updateProduct } from '../../catalogue/products/write-routes.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { priceIn } from '../../catalogue/products/prices.ts';
import { selectionOf, typeOf } from '../../catalogue/products/render.ts';
import { currencyDigits, toDecimal } from '../../kernel/money.ts';
import { choiceField, problemOf } from '../components/form.ts';
import { decimalText } from '../components/decimal.ts';
import { PRODUCTS_SCRIPT } from '../layout/assets.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { attributeLabels } from './attribute-labels.ts';
import { GRID_COLUMNS, gridCells, gridOperations, type GridCells, type GridColumn } from './grid-changes.ts';
import { productPage, readProduct } from './product-page.ts';
import { findGridRows, MAX_GRID_ROWS, type GridRow } from './queries.ts';
import { type FormRequest, Redirect } from '../../http/page-kit.ts';

/** The variations of a product as a grid, and the form that creates them. */
export function variationPages(pages: ShopPages): void {
  pages.form(
    '/products/:productId/variations',
    { read: 'products_read', write: 'products_write' },
    {
      show: async (visit, request, draft) => {
        const row = await readProduct(visit, request.params['productId']!);
        const rows = await findGridRows(visit.db, visit.shopId, row.productId);
        const isGridDraft = draft && draft.field('attribute.0') === '' ? draft : undefined;
        return productPage(visit, row, 'variations', {
          scripts: [PRODUCTS_SCRIPT],
          main: html`${rows.length > 0 && grid(visit, row, rows, isGridDraft)}
          ${visit.may('products_write') && (await makeForm(visit, row, draft && !isGridDraft ? draft : undefined))}`,
        });
      },
      save: async (visit, form) => {
        const row = await readProduct(visit, form.params['productId']!);
        const path = adminPath(visit, `/products/${row.productId}/variations`);
        if (form.field('attribute.0') !== '') {
          await makeVariations(visit, row, form);
          return new Redirect(path, visit.messages.products.variations.made);
        }
        const count = await saveGrid(visit, row, form);
        return new Redirect(path, visit.messages.products.variations.saved({ count }));
      },
    },
    { limits: { texts: ATTRIBUTE_TEXTS, values: MAX_CELLS } },
  );
}

/** The values of a new attribute, with separators. */
export const MAX_VALUES_LENGTH = 20_000;
/** The limits of the fields that create variations. */
export const ATTRIBUTE_TEXTS = { 'attribute.*': 200, 'values.*': MAX_VALUES_LENGTH };
/** Each cell is sent with its previous value, and an unchecked box by a hidden field. */
const MAX_CELLS = MAX_GRID_ROWS * (2 * GRID_COLUMNS.length + 1) + 10;

const NUMERIC: ReadonlySet<GridColumn> = new Set(['price', 'stock', 'minStock']);

/** Returns how many variations have changed. */
async function saveGrid(visit: ShopVisit, row: ProductRow, form: FormRequest): Promise<number> {
  const { language, settings } = visit;
  const messages = { noNumber: visit.messages.products.noNumber, moved: visit.messages.products.stockMoved };
  const currency = settings.defaultCurrency;
  const names = new Set(form.fieldNames);
  const rows = await findGridRows(visit.db, visit.shopId, row.productId);
  // All of them are read before the first is written, so that a wrong cell changes nothing.
  const changes = rows.flatMap((variation) => {
    const { productId } = variation;
    const now = gridCells(variation, currency, language);
    const cells = (prefix: string) =>
      Object.fromEntries(
        GRID_COLUMNS.map((column) => {
          const name = `${prefix}${column}.${productId}`;
          return [column, names.has(name) ? form.fieldList(name).at(-1)!.trim() : now[column]];
        }),
      ) as Record<GridColumn, string>;
    const operations = gridOperations({ shown: cells('was.'), now, typed: cells('') }, language, messages);
    return operations.length === 0 ? [] : [{ productId, operations }];
  });
  await visit.inTransaction(async (call) => {
    for (const { productId, operations } of changes) {
      await call(updateProduct, { params: { productId }, query: { currency }, body: operations });
    }
  });
  return changes.length;
}

function grid(
  visit: ShopVisit,
  master: ProductRow,
  rows: readonly GridRow[],
  draft: Draft | undefined,
): Markup {
  const { settings, language } = visit;
  const messages = visit.messages.products;
  const currency = settings.defaultCurrency;
  const mayWrite = visit.may('products_write');
  const price = priceIn(master.prices, currency, settings);
  const inherited =
    price === null ? '' : decimalText(toDecimal(price, currency), language, currencyDigits(currency));
  const titles: Readonly<Record<GridColumn, string>> = {
    number: messages.number,
    price: `${messages.price} (${currency})`,
    stock: messages.stock,
    minStock: messages.fields.minStock,
    ean: messages.ean,
    visible: messages.fields.visible,
  };
  return html`<form method="post" class="product-form">
    ${problemOf(draft)}
    <p class="hint">
      ${messages.variations.gridHint}
      ${rows.length === MAX_GRID_ROWS && messages.variations.tooMany({ count: MAX_GRID_ROWS })}
    </p>
    <div class="list scroll">
      <table class="grid">
        <caption class="hidden">
          ${messages.tabs.variations}
        </caption>
        <thead>
          <tr>
            <th scope="col">${messages.variations.variation}</th>
            ${GRID_COLUMNS.map(
              (column) =>
                html`<th scope="col" class="${NUMERIC.has(column) ? 'number' : ''}">${titles[column]}</th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${rows.map((row) => {
            const name = selectionText(visit, master, row);
            const cells = gridCells(row, currency, language);
            return html`<tr>
              <th scope="row">
                <a href="${adminPath(visit, `/products/${row.productId}`)}">${name}</a>
              </th>
              ${GRID_COLUMNS.map(
                (column) =>
                  html`<td data-title="${titles[column]}">
                    ${cellField(column, row.productId, cells, {
                      label: `${titles[column]}, ${name}`,
                      placeholder: column === 'price' ? inherited : '',
                      draft,
                      mayWrite,
                    })}
                  </td>`,
              )}
            </tr>`;
          })}
        </tbody>
      </table>
    </div>
    ${
      mayWrite &&
      html`<div class="save-bar">
        <button class="main">${visit.messages.form.save}</button>
        <span class="quiet">${messages.saveHint}</span>
      </div>`
    }
  </form>`;
}

function selectionText(visit: ShopVisit, master: ProductRow, { selection }: GridRow): string {
  const chosen = selectionOf({ ...master, selection, master: { ...master } }, visit.settings, visit.locale);
  return (chosen ?? []).map(({ displayValue }) => displayValue).join(' / ');
}

function cellField(
  column: GridColumn,
  productId: string,
  cells: GridCells,
  {
    label,
    placeholder,
    draft,
    mayWrite,
  }: { label: string; placeholder: string; draft: Draft | undefined; mayWrite: boolean },
): Markup {
  const name = `${column}.${productId}`;
  const was = html`<input type="hidden" name="was.${name}" value="${cells[column]}" />`;
  if (column === 'visible') {
    const isTicked = draft ? draft.fieldList(name).includes('yes') : cells.visible === 'yes';
    return html`${was}<input type="hidden" name="${name}" value="no" /><input
        type="checkbox"
        name="${name}"
        value="yes"
        aria-label="${label}"
        ${isTicked && html`checked`}
        ${!mayWrite && html`disabled`}
      />`;
  }
  return html`${was}<input
      name="${name}"
      value="${draft?.field(name) ?? cells[column]}"
      aria-label="${label}"
      placeholder="${placeholder}"
      autocomplete="off"
      ${NUMERIC.has(column) && html`inputmode="decimal" class="number"`}
      ${!mayWrite && html`disabled`}
    />`;
}

const MAX_ATTRIBUTES = 3;

/** Sends the attributes and values of a form: every missing combination is created. */
export async function makeVariations(
  visit: ShopVisit,
  row: ProductRow,
  form: Pick<FormRequest, 'field'>,
): Promise<void> {
  const known = row.facts.variationAttributes ?? [];
  const alias = form.field('productType') || typeOf(row, visit.settings).alias;
  const type = visit.settings.productTypes.find((one) => one.alias === alias);
  const { keyOf, valueOf } = attributeLabels(type, visit);
  const attributes = Array.from({ length: MAX_ATTRIBUTES }, (_, index) => {
    const name = keyOf(form.field(`attribute.${index}`));
    const values = form
      .field(`values.${index}`)
      .split(/[,;\n]/)
      .map((value) => valueOf(name, value.trim()))
      .filter((value) => value !== '');
    return { name, values };
  }).filter(({ name, values }) => name !== '' && values.length > 0);
  await visit.call(createVariations, {
    params: { productId: row.productId },
    body: {
      productType: alias,
      visibleAfterCreation: true,
      variationAttributes: attributes.map(({ name, values }) => ({
        name,
        values: values.map((value) => ({ value })),
        // Existing variations get the first value of a new attribute.
        ...(!known.some(({ key }) => key === name) && { defaultForExistingProducts: values[0] }),
      })),
    },
  });
}

async function makeForm(visit: ShopVisit, row: ProductRow, draft: Draft | undefined): Promise<Markup> {
  const messages = visit.messages.products.variations;
  const { settings, locale } = visit;
  return html`<form method="post" class="card product-form">
    <h2>${row.kind === 'master' ? messages.addTitle : messages.makeTitle}</h2>
    ${problemOf(draft)}
    <p class="hint">${messages.makeHint}</p>
    ${attributeFields(visit, row, draft)}
    ${
      row.kind !== 'master' &&
      settings.productTypes.length > 1 &&
      choiceField({
        name: 'productType',
        label: visit.messages.products.fields.productType,
        value: typeOf(row, settings).alias,
        choices: settings.productTypes.map(({ alias, name }) => ({
          value: alias,
          text: textIn(name, locale, settings.defaultLocale) ?? alias,
        })),
        draft,
      })
    }
    <button class="main">${messages.make}</button>
  </form>`;
}

/** Three attributes with their values; existing ones of the product are filled in. */
export function attributeFields(
  visit: ShopVisit,
  row: ProductRow | undefined,
  draft: Draft | undefined,
): Markup {
  const { settings } = visit;
  const messages = visit.messages.products;
  const known = row?.facts.variationAttributes ?? [];
  const type = row ? typeOf(row, settings) : settings.productTypes.find(({ alias }) => alias === 'Default');
  const { labels, labelOf, valueLabel } = attributeLabels(type, visit);
  return html`<datalist id="attribute-names">
      ${labels.map((label) => html`<option value="${label}"></option>`)}
    </datalist>
    ${Array.from({ length: MAX_ATTRIBUTES }, (_, index) => {
      const attribute = known[index];
      const shown = attribute && {
        name: labelOf(attribute.key),
        values: attribute.values.map((value) => valueLabel(attribute.key, value)).join(', '),
      };
      const [name, values] = [`attribute.${index}`, `values.${index}`];
      return html`<div class="attribute-row">
        <div class="field">
          <label for="field-${name}">${messages.variations.attribute({ number: index + 1 })}</label>
          <input
            id="field-${name}"
            name="${name}"
            value="${draft?.field(name) ?? shown?.name ?? ''}"
            list="attribute-names"
            maxlength="200"
            placeholder="${messages.variations.attributeExamples.split('|')[index] ?? ''}"
          />
        </div>
        <div class="field">
          <label for="field-${values}">${messages.variations.values({ number: index + 1 })}</label>
          <input
            id="field-${values}"
            name="${values}"
            value="${draft?.field(values) ?? shown?.values ?? ''}"
            maxlength="${MAX_VALUES_LENGTH}"
            placeholder="${messages.variations.valuesExamples.split('|')[index] ?? ''}"
          />
        </div>
      </div>`;
    })}`;
}
