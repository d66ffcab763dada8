import { Type } from 'typebox';
import { MAX_PART_QUANTITY, MAX_PARTS } from '../../catalogue/products/bundles.ts';
import type { BundlePart } from '../../catalogue/products/facts.ts';
import { ProductExtras, updateProductExtras } from '../../catalogue/products/manage-routes.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { html } from '../../http/html.ts';
import { type FormRequest, Redirect } from '../../http/page-kit.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { refuseField } from '../components/validation.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { findListedProducts } from './list-row.ts';
import { productPage, readProduct } from './product-page.ts';
import { findIdsByNumber, findNumbersById } from './queries.ts';

/** One part per line; a line has a product number, and maybe a quantity. */
const PARTS = { characters: MAX_PARTS * 110, lines: MAX_PARTS };

const BUNDLE = declareForm(
  {
    body: Type.Object({
      parts: Type.String({ maxLength: PARTS.characters }),
      partsDiscount: ProductExtras.properties.partsDiscount,
    }),
  },
  ({ products: { bundle: messages } }) => ({
    parts: { kind: 'long text', label: messages.parts, hint: messages.partsHint, rows: 6, maxLength: PARTS },
    partsDiscount: { kind: 'decimal', label: messages.discount, hint: messages.discountHint, unit: '%' },
  }),
);

/** What a product consists of. */
export function bundle(pages: ShopPages): void {
  pages.form(
    '/products/:productId/bundle',
    { read: 'products_read', write: 'products_write' },
    {
      show: async (visit, request, draft) =>
        showBundle(visit, await readProduct(visit, request.params['productId']!), draft),
      save: saveBundle,
    },
    optionsOf(BUNDLE),
  );
}

async function showBundle(visit: ShopVisit, row: ProductRow, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.products.bundle;
  const { parts = [], partsDiscount } = row.facts;
  const ids = parts.map(({ productId }) => productId);
  const known = new Map(
    (await findNumbersById(visit.db, visit.shopId, ids)).map((one) => [one.productId, one.productNumber]),
  );
  const hasLostPart = parts.some(({ productId }) => !known.has(productId));
  const values = {
    parts: parts
      .flatMap(({ productId, quantity }) => {
        const number = known.get(productId);
        return number === undefined ? [] : [quantity === 1 ? number : `${number} × ${quantity}`];
      })
      .join('\n'),
    partsDiscount: partsDiscount === undefined ? null : partsDiscount / 100,
  };
  const mayWrite = visit.may('products_write');
  const field = showFields(BUNDLE, visit, { values, draft, isDisabled: !mayWrite });
  return productPage(visit, row, 'bundle', {
    main: html`<form
        method="post"
        class="card prose"
        action="${adminPath(visit, `/products/${row.productId}/bundle`)}"
      >
        <h2>${messages.title}</h2>
        ${problemOf(draft)} ${hasLostPart && html`<p class="problem">${messages.lostPart}</p>`}
        <p class="hint">${messages.text}</p>
        ${field('parts')} ${field('partsDiscount')}
        ${mayWrite && html`<button class="main">${visit.messages.form.save}</button>`}
      </form>
      ${
        parts.length > 0 &&
        html`<section class="card">
          <h2>${messages.partsOf}</h2>
          <ul class="counted">
            ${(await findListedProducts(visit, ids)).map(
              (product) =>
                html`<li>
                  <a class="product-name" href="${adminPath(visit, `/products/${product.productId}`)}"
                    >${product.picture}
                    <span>${product.name} <span class="quiet">${product.productNumber}</span></span></a
                  >
                  <span class="quiet">${product.stock}</span>
                  <span>${parts.find(({ productId }) => productId === product.productId)!.quantity} ×</span>
                </li>`,
            )}
          </ul>
        </section>`
      }`,
  });
}

async function saveBundle(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const row = await readProduct(visit, form.params['productId']!);
  const { parts, partsDiscount } = readFields(BUNDLE, form, visit);
  await visit.call(updateProductExtras, {
    params: { productId: row.productId },
    body: { parts: await typedParts(visit, parts ?? ''), partsDiscount: partsDiscount ?? null },
  });
  return new Redirect(adminPath(visit, `/products/${row.productId}/bundle`), visit.messages.form.saved);
}

/** The operation takes ids; people type numbers. */
async function typedParts(visit: ShopVisit, text: string): Promise<BundlePart[]> {
  const messages = visit.messages.products.bundle;
  const lines = text.split('\n').flatMap((line) => {
    const typed = line.trim();
    // A number may end with digits of its own, so a quantity follows a sign.
    const [, number = typed, quantity = '1'] = /^(.*\S)\s*[×x*]\s*(\d{1,9})$/u.exec(typed) ?? [];
    return number === '' ? [] : [{ number, quantity: Number(quantity) }];
  });
  const found = await findIdsByNumber(
    visit.db,
    visit.shopId,
    lines.map(({ number }) => number),
  );
  return lines.map(({ number, quantity }) => {
    const part = found.find(({ productNumber }) => productNumber === number);
    if (!part) throw refuseField('parts', messages.unknown({ number }));
    if (quantity < 1 || quantity > MAX_PART_QUANTITY) {
      throw refuseField('parts', messages.wrongQuantity({ number, limit: MAX_PART_QUANTITY }));
    }
    return { productId: part.productId, quantity };
  });
}
