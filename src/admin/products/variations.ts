import { Type } from 'typebox';
import { patchValue } from '../../catalogue/products/patch.ts';
import { createVariations } from '../../catalogue/products/variations.ts';
import { updateProduct } from '../../catalogue/products/write-routes.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { priceIn } from '../../catalogue/products/prices.ts';
import { selectionOf, typeOf } from '../../catalogue/products/render.ts';
import { currencyDigits, toDecimal } from '../../kernel/money.ts';
import { problemOf } from '../components/form.ts';
import { decimalText } from '../components/decimal.ts';
import {
  declareForm,
  declareRows,
  optionsOf,
  readFields,
  showFields,
  type DeclaredField,
} from '../components/declared-form.ts';
import { changesOfRow, refusedPatch } from '../components/row-changes.ts';
import { refusalBeside } from '../components/validation.ts';
import { PRODUCTS_SCRIPT } from '../layout/assets.ts';
import type { Language } from '../messages.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { attributeLabels } from './attribute-labels.ts';
import { productPage, readProduct } from './product-page.ts';
import { findGridRows, MAX_GRID_ROWS, type GridRow } from './queries.ts';
import { type FormRequest, Redirect } from '../../http/page-kit.ts';

/** The cells of a variation, which are changed by a JSON Patch. */
const GRID = declareRows(
  {
    body: Type.Object({
      number: patchValue('/productNumber'),
      price: patchValue('/priceInfo/price/amount'),
      stock: patchValue('/stocklevel'),
      minStock: patchValue('/minStocklevel'),
      ean: patchValue('/ean'),
      visible: patchValue('/visible'),
    }),
  },
  ({ products: { fields, number, price, stock, ean, noNumber } }) => {
    const text = { isCell: true, autocomplete: 'off' } as const;
    const decimal = { ...text, kind: 'decimal', noNumber } as const;
    return {
      number: { ...text, label: number, path: '/productNumber', isRequired: true },
      price: { ...decimal, label: price, path: '/priceInfo/price/amount' },
      stock: { ...decimal, label: stock, path: '/stocklevel' },
      minStock: { ...decimal, label: fields.minStock, path: '/minStocklevel' },
      ean: { ...text, label: ean, path: '/ean' },
      visible: { kind: 'tick', isCell: true, label: fields.visible, path: '/visible' },
    };
  },
);
type GridColumn = keyof ReturnType<(typeof GRID)['fieldsIn']>;

/** The values of a new attribute, with separators. */
export const MAX_VALUES_LENGTH = 20_000;

/** An attribute by which variations differ, and its values. */
const ATTRIBUTES = declareRows(
  {
    body: Type.Object({
      name: createVariations.body!.properties.variationAttributes.items.properties.name,
      values: Type.String({ maxLength: MAX_VALUES_LENGTH }),
    }),
  },
  ({ products: { attributes } }) => ({
    name: { label: attributes.newKey, input: 'attribute', list: 'attribute-names' },
    values: { label: attributes.newValue },
  }),
);
const TYPE = declareForm(createVariations, ({ products: { fields } }) => ({
  productType: { kind: 'choice', label: fields.productType },
}));

/** The limits of the fields that create variations. */
export const ATTRIBUTE_TEXTS = optionsOf(ATTRIBUTES).limits.texts;
/** Each cell is sent with its previous value, and an unchecked box by a hidden field. */
const MAX_CELLS = MAX_GRID_ROWS * (2 * Object.keys(GRID.body.properties).length + 1) + 10;

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
          ${visit.may('products_write') && makeForm(visit, row, draft && !isGridDraft ? draft : undefined)}`,
        });
      },
      save: async (visit, form) => {
        const row = await readProduct(visit, form.params['productId']!);
        const path = adminPath(visit, `/products/${row.productId}/variations`);
        if (hasAttributes(visit, form)) {
          await makeVariations(visit, row, form);
          return new Redirect(path, visit.messages.products.variations.made);
        }
        const count = await saveGrid(visit, row, form);
        return new Redirect(path, visit.messages.products.variations.saved({ count }));
      },
    },
    { limits: { ...optionsOf(GRID, ATTRIBUTES, TYPE).limits, values: MAX_CELLS } },
  );
}

/** The stored values of a variation's cells; a price has all digits of its currency. */
function cellsOf({ productNumber, prices, ...row }: GridRow, { settings, language }: ShopVisit) {
  const currency = settings.defaultCurrency;
  const price = prices?.[currency];
  return { ...row, number: productNumber, price: priceText(price ?? null, currency, language) };
}

const priceText = (price: number | null, currency: string, language: Language) =>
  price === null ? '' : decimalText(toDecimal(price, currency), language, currencyDigits(currency));

/** Returns how many variations have changed. */
async function saveGrid(visit: ShopVisit, master: ProductRow, form: FormRequest): Promise<number> {
  const currency = visit.settings.defaultCurrency;
  const moved = visit.messages.products.stockMoved;
  const rows = await findGridRows(visit.db, visit.shopId, master.productId);
  // All of them are read before the first is written, so that a wrong cell changes nothing.
  const changed = rows.flatMap((row) => {
    const { productId } = row;
    const changes = changesOfRow(GRID, form, visit, { row: productId, stored: cellsOf(row, visit), moved });
    return changes.length === 0 ? [] : [{ productId, changes }];
  });
  await visit.inTransaction(async (call) => {
    for (const { productId, changes } of changed) {
      const body = changes.map(({ operation }) => operation);
      await call(updateProduct, { params: { productId }, query: { currency }, body }).catch(
        (error: unknown) => {
          throw refusedPatch(error, changes, visit);
        },
      );
    }
  });
  return changed.length;
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
  const inherited = priceText(priceIn(master.prices, currency, settings), currency, language);
  const columns = Object.entries<DeclaredField>(GRID.fieldsIn(visit.messages)).map(([name, field]) => ({
    column: name as GridColumn,
    title: name === 'price' ? `${field.label} (${currency})` : field.label,
    isNumeric: field.kind === 'decimal',
  }));
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
            ${columns.map(
              ({ title, isNumeric }) =>
                html`<th scope="col" class="${isNumeric ? 'number' : ''}">${title}</th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${rows.map((row) => {
            const name = selectionText(visit, master, row);
            const field = showFields(GRID, visit, {
              values: cellsOf(row, visit),
              row: row.productId,
              isDisabled: !mayWrite,
              sendsShown: true,
              draft,
            });
            return html`<tr>
              <th scope="row">
                <a href="${adminPath(visit, `/products/${row.productId}`)}">${name}</a>
              </th>
              ${columns.map(
                ({ column, title }) =>
                  html`<td data-title="${title}">
                    ${field(column, {
                      label: `${title}, ${name}`,
                      ...(column === 'price' && { placeholder: inherited }),
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

const MAX_ATTRIBUTES = 3;

/** The form has attributes; the other form of its page is the grid. */
export const hasAttributes = (visit: ShopVisit, form: Pick<FormRequest, 'field' | 'fieldList'>) =>
  readFields(ATTRIBUTES, form, visit, { row: '0' }).name !== '';

/** Sends the attributes and values of a form: every missing combination is created. */
export async function makeVariations(
  visit: ShopVisit,
  row: ProductRow,
  form: Pick<FormRequest, 'field' | 'fieldList'>,
): Promise<void> {
  const known = row.facts.variationAttributes ?? [];
  const productType = readFields(TYPE, form, visit).productType || typeOf(row, visit.settings).alias;
  const type = visit.settings.productTypes.find(({ alias }) => alias === productType);
  const { keyOf, valueOf } = attributeLabels(type, visit);
  const attributes = Array.from({ length: MAX_ATTRIBUTES }, (_, place) => {
    const typed = readFields(ATTRIBUTES, form, visit, { row: String(place) });
    const name = keyOf(typed.name);
    const values = typed.values
      .split(/[,;\n]/)
      .map((value) => valueOf(name, value.trim()))
      .filter((value) => value !== '');
    return { place, name, values };
  }).filter(({ name, values }) => name !== '' && values.length > 0);
  const body = {
    productType,
    visibleAfterCreation: true,
    variationAttributes: attributes.map(({ name, values }) => ({
      name,
      values: values.map((value) => ({ value })),
      // Existing variations get the first value of a new attribute.
      ...(!known.some(({ key }) => key === name) && { defaultForExistingProducts: values[0]! }),
    })),
  };
  await visit
    .call(createVariations, { params: { productId: row.productId }, body })
    .catch((error: unknown) => {
      throw refusalBeside(error, visit, (field) => {
        const [, index, part] = IN_ATTRIBUTES.exec(field) ?? [];
        const attribute = attributes[Number(index)];
        if (!attribute) return undefined;
        const { attribute: name, values } = visit.messages.products.variations;
        const number = { number: attribute.place + 1 };
        return part === 'name'
          ? { input: `attribute.${attribute.place}`, label: name(number) }
          : { input: `values.${attribute.place}`, label: values(number) };
      });
    });
}

/** The place of a refused attribute or value in the body: `variationAttributes.1.values.4.value`. */
const IN_ATTRIBUTES = /^variationAttributes\.(\d+)\.(\w+)/;

function makeForm(visit: ShopVisit, row: ProductRow, draft: Draft | undefined): Markup {
  const messages = visit.messages.products.variations;
  const { settings, locale } = visit;
  const values = { productType: typeOf(row, settings).alias };
  return html`<form method="post" class="card product-form">
    <h2>${row.kind === 'master' ? messages.addTitle : messages.makeTitle}</h2>
    ${problemOf(draft)}
    <p class="hint">${messages.makeHint}</p>
    ${attributeFields(visit, row, draft)}
    ${
      row.kind !== 'master' &&
      settings.productTypes.length > 1 &&
      showFields(TYPE, visit, { values, draft })('productType', {
        choices: settings.productTypes.map(({ alias, name }) => ({
          value: alias,
          text: textIn(name, locale, settings.defaultLocale) ?? alias,
        })),
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
  const messages = visit.messages.products.variations;
  const known = row?.facts.variationAttributes ?? [];
  const type = row ? typeOf(row, settings) : settings.productTypes.find(({ alias }) => alias === 'Default');
  const { labels, labelOf, valueLabel } = attributeLabels(type, visit);
  const exampleOf = (examples: string, place: number) => examples.split('|')[place] ?? '';
  return html`<datalist id="attribute-names">
      ${labels.map((label) => html`<option value="${label}"></option>`)}
    </datalist>
    ${Array.from({ length: MAX_ATTRIBUTES }, (_, place) => {
      const attribute = known[place];
      const values = attribute && {
        name: labelOf(attribute.key),
        values: attribute.values.map((value) => valueLabel(attribute.key, value)).join(', '),
      };
      const field = showFields(ATTRIBUTES, visit, { row: String(place), draft, ...(values && { values }) });
      const number = { number: place + 1 };
      return html`<div class="attribute-row">
        ${field('name', {
          label: messages.attribute(number),
          placeholder: exampleOf(messages.attributeExamples, place),
        })}
        ${field('values', {
          label: messages.values(number),
          placeholder: exampleOf(messages.valuesExamples, place),
        })}
      </div>`;
    })}`;
}
