import { Type } from 'typebox';
import { patchValue } from '../../catalogue/products/patch.ts';
import { updateProduct } from '../../catalogue/products/write-routes.ts';
import { badRequest } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Id } from '../../http/schemas.ts';
import { isId } from '../../kernel/ids.ts';
import { findProductRows, type ProductRow } from '../../catalogue/products/queries.ts';
import { nameOf } from '../../catalogue/products/render.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { decimalText } from '../components/decimal.ts';
import { refusedPatch } from '../components/row-changes.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { pictureOf } from './list-row.ts';
import { findProductsByCode } from './queries.ts';
import { Redirect } from '../../http/page-kit.ts';

/** The latest counts. They are in the address, so they include no one else's. */
interface Counted {
  productId: string;
  before: number | null;
  after: number;
}

const MAX_SHOWN = 10;

const COUNT = declareForm(
  {
    body: Type.Object({
      productId: Id,
      count: patchValue('/stocklevel'),
      /** The button that was pressed. */
      how: Type.String({ enum: ['set', 'add', 'undo'] }),
    }),
  },
  ({ products: { stock, stockTake, noNumber, tabs } }) => ({
    productId: { kind: 'hidden', label: tabs.product },
    count: { kind: 'decimal', label: stock, autocomplete: 'off', isRequired: true, noNumber },
    how: { kind: 'hidden', label: stockTake.set },
  }),
);

/** For a scanner: a focused field, then the count, then the field again. */
export function stockTake(pages: ShopPages): void {
  pages.form(
    '/products/stock-take',
    { read: 'products_write', write: 'products_write' },
    {
      show: async (visit, request, draft) => {
        const messages = visit.messages.products.stockTake;
        const code = (request.query('code') ?? '').trim().slice(0, 200);
        const counted = parseCounted(request.query('counted'));
        const ids = code === '' ? [] : await findProductsByCode(visit.db, visit.shopId, code);
        const rows = await findProductRows(visit.db, visit.shopId, [
          ...ids,
          ...counted.map(({ productId }) => productId),
        ]);
        const found = rows.filter(({ productId }) => ids.includes(productId));
        return {
          title: messages.title,
          menu: 'products',
          breadcrumbs: [
            { href: adminPath(visit, '/products'), text: visit.messages.layout.menuEntries.products },
          ],
          main: html`<div class="stock-take">
            ${codeForm(visit, counted, found.length === 0)}
            ${code !== '' && found.length === 0 && html`<p class="problem" role="alert">${messages.unknown({ code })}</p>`}
            ${found.map((row, index) => countForm(visit, row, { code, counted, draft, hasFocus: index === 0 }))}
            ${countedCard(visit, counted, rows)}
          </div>`,
        };
      },
      save: async (visit, form) => {
        const messages = visit.messages.products;
        const { productId, count, how } = readFields(COUNT, form, visit);
        const [row] = isId(productId) ? await findProductRows(visit.db, visit.shopId, [productId]) : [];
        if (!row) throw badRequest(messages.stockTake.unknown({ code: form.query('code') ?? '' }));
        const path = '/stocklevel';
        const operation = { op: how === 'add' ? 'add' : 'replace', path, value: count } as const;
        const changed = await visit
          .call(updateProduct, { params: { productId: row.productId }, body: [operation] })
          .catch((error: unknown) => {
            throw refusedPatch(error, [{ operation, input: 'count', label: messages.stock }], visit);
          });
        const counted = parseCounted(form.query('counted'));
        const stock = changed.stocklevel!;
        const entry = { productId: row.productId, before: row.stock, after: stock };
        const next =
          how === 'undo'
            ? counted.filter((one) => one.productId !== row.productId)
            : [entry, ...counted].slice(0, MAX_SHOWN);
        const name = nameOf(row, visit.settings, visit.locale);
        return new Redirect(
          adminPath(visit, '/products/stock-take', { counted: countedText(next) }),
          messages.stockTake.done({ name, stock: decimalText(stock, visit.language) }),
        );
      },
    },
    optionsOf(COUNT),
  );
}

function codeForm(visit: ShopVisit, counted: readonly Counted[], hasFocus: boolean): Markup {
  const messages = visit.messages.products.stockTake;
  return html`<form method="get" class="card">
    <input type="hidden" name="counted" value="${countedText(counted)}" />
    <div class="field">
      <label for="code">${messages.code}</label>
      <input
        id="code"
        name="code"
        maxlength="200"
        autocomplete="off"
        autocapitalize="off"
        required
        ${hasFocus && html`autofocus`}
      />
      <p class="hint">${messages.codeHint}</p>
    </div>
    <button>${messages.find}</button>
  </form>`;
}

function countForm(
  visit: ShopVisit,
  row: ProductRow,
  {
    code,
    counted,
    draft,
    hasFocus,
  }: { code: string; counted: readonly Counted[]; draft: Draft | undefined; hasFocus: boolean },
): Markup {
  const messages = visit.messages.products.stockTake;
  const isDrafted = draft?.field('productId') === row.productId ? draft : undefined;
  const field = showFields(COUNT, visit, { values: { productId: row.productId }, draft: isDrafted });
  return html`<form
    method="post"
    action="${adminPath(visit, '/products/stock-take', { code, counted: countedText(counted) })}"
    class="card counting"
  >
    ${problemOf(isDrafted)}
    <div class="product-name">
      ${pictureOf(visit, row)}
      <span>${fullName(visit, row)} <span class="quiet">${row.productNumber}</span></span>
    </div>
    ${
      row.kind === 'master'
        ? html`<p>
            ${visit.messages.products.fields.stockOfVariations}
            <a href="${adminPath(visit, `/products/${row.productId}/variations`)}"
              >${visit.messages.products.tabs.variations}</a
            >
          </p>`
        : html`${field('productId')}
            ${field('count', {
              id: `count-${row.productId}`,
              label: messages.count({ stock: stockText(visit, row.stock) }),
              hasFocus,
            })}
            <div class="actions">
              <button class="main" name="how" value="set">${messages.set}</button>
              <button name="how" value="add">${messages.add}</button>
            </div>`
    }
  </form>`;
}

function countedCard(
  visit: ShopVisit,
  counted: readonly Counted[],
  rows: readonly ProductRow[],
): Markup | false {
  const messages = visit.messages.products.stockTake;
  const action = adminPath(visit, '/products/stock-take', { counted: countedText(counted) });
  if (counted.length === 0) return false;
  return html`<section class="card">
    <h2>${messages.last}</h2>
    <ul class="counted">
      ${counted.map(({ productId, before, after }) => {
        const row = rows.find((one) => one.productId === productId);
        if (!row) return undefined;
        return html`<li>
          <span>${fullName(visit, row)} <span class="quiet">${row.productNumber}</span></span>
          <span class="number"
            >${stockText(visit, before)} › <strong>${stockText(visit, after)}</strong></span
          >
          ${
            before !== null &&
            html`<form method="post" action="${action}">
              <input type="hidden" name="productId" value="${productId}" />
              <input type="hidden" name="count" value="${decimalText(before, visit.language)}" />
              <button class="link" name="how" value="undo">${visit.messages.layout.undo}</button>
            </form>`
          }
        </li>`;
      })}
    </ul>
  </section>`;
}

function fullName({ settings, locale }: ShopVisit, row: ProductRow): string {
  const name = nameOf(row, settings, locale);
  return row.selection ? `${name} (${Object.values(row.selection).join(', ')})` : name;
}

function stockText({ language, messages }: ShopVisit, stock: number | null): string {
  return stock === null ? messages.products.notTracked : decimalText(stock, language);
}

const countedText = (counted: readonly Counted[]) =>
  counted.map(({ productId, before, after }) => `${productId}_${before ?? ''}_${after}`).join('~');

function parseCounted(text: string | undefined): Counted[] {
  return (text ?? '')
    .split('~')
    .slice(0, MAX_SHOWN)
    .flatMap((entry): Counted[] => {
      const [productId = '', before = '', after = ''] = entry.split('_');
      const isCounted =
        isId(productId) && after !== '' && [before, after].every((one) => Number.isFinite(Number(one)));
      return isCounted
        ? [{ productId, before: before === '' ? null : Number(before), after: Number(after) }]
        : [];
    });
}
