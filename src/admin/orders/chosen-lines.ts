import { Type } from 'typebox';
import { listProducts } from '../../catalogue/products/routes.ts';
import type { CartProduct } from '../../pricing/cart-product.ts';
import { anyText } from '../../catalogue/products/render.ts';
import { html, type Markup } from '../../http/html.ts';
import { moneyText } from '../../http/price-text.ts';
import { isId } from '../../kernel/ids.ts';
import { toMinor } from '../../kernel/money.ts';
import { contentOf, type Content, type ContentLine } from '../../pricing/content.ts';
import type { CartSelection } from '../../pricing/input.ts';
import type { ShopVisit } from '../visit.ts';
import { localisedDecimal } from '../components/decimal.ts';
import {
  declareForm,
  declareHidden,
  type FormReader,
  readFields,
  showFields,
} from '../components/declared-form.ts';
import { LINE } from './line-form.ts';
import { findSellable, loadProducts } from './product-queries.ts';
import type { FormRequest } from '../../http/page-kit.ts';

/** A product chosen for an order, as the form holds it until it is sent. */
export interface ChosenLine {
  productId: string;
  /** Decimals as the operations take them; text that is not a number, as typed. An empty price means the shop's price. */
  quantity: string;
  price: string;
}

const MAX_LINES = 100;

const BUTTON = declareHidden({ do: 50 });
/** `save`, or with what it is about: `remove:ID`. */
export const pressedButton = (form: Pick<FormRequest, 'fieldList' | 'field'>, reader: FormReader) =>
  readFields(BUTTON, form, reader).do;

const PRODUCTS = declareForm({ body: Type.Object({ product: Type.Array(Type.String()) }) }, () => ({
  product: { kind: 'ticks', label: '' },
}));

/** The lines of a form, after the pressed button has added or removed one. */
export function chosenLines(
  form: Pick<FormRequest, 'fieldList' | 'field'>,
  reader: FormReader,
): ChosenLine[] {
  const [what, pressedId = ''] = pressedButton(form, reader).split(':');
  const productIds = new Set(readFields(PRODUCTS, form, reader).product.filter(isId));
  if (what === 'remove') productIds.delete(pressedId);
  const lines = [...productIds].slice(0, MAX_LINES).map((productId) => {
    const { quantity, price } = readFields(LINE, form, reader, { row: productId });
    return { productId, quantity: String(quantity ?? ''), price: String(price ?? '') };
  });
  const isNew = what === 'add' && isId(pressedId) && !productIds.has(pressedId) && lines.length < MAX_LINES;
  return isNew ? [...lines, { productId: pressedId, quantity: '1', price: '' }] : lines;
}

export type Terms = Pick<CartSelection, 'currency' | 'taxType' | 'customerGroupId'> &
  Partial<
    Pick<
      CartSelection,
      | 'billingAddress'
      | 'shippingAddress'
      | 'buyer'
      | 'shippingMethodId'
      | 'shippingPrice'
      | 'paymentMethodId'
    >
  >;

/**
 * Prices these lines by the same arithmetic as a cart. A value that is not a number counts as one piece, or as no
 * price.
 */
function pricedLines(
  { settings, db }: ShopVisit,
  lines: readonly ChosenLine[],
  products: readonly CartProduct[],
  terms: Terms,
): Content {
  const selection: CartSelection = {
    billingAddress: null,
    shippingAddress: null,
    buyer: null,
    shippingMethodId: null,
    shippingPrice: null,
    paymentMethodId: null,
    ...terms,
    lines: lines.map(({ productId, quantity, price }) => {
      const minor = price === '' ? undefined : toMinor(price, terms.currency);
      const isNumber = Number(quantity) > 0 && Number(quantity) <= 1_000_000;
      return {
        lineItemId: productId,
        productId,
        quantity: isNumber ? quantity : '1',
        ...(minor !== undefined && minor >= 0 && { price: minor }),
      };
    }),
    products,
    coupon: null,
    couponLineItemId: null,
    paymentTransactionId: null,
    paymentStatus: null,
    paymentName: null,
    paymentPrice: null,
  };
  return contentOf(selection, settings, db.now).content;
}

/** All product data of a form with lines. */
export interface ChosenProducts {
  lines: readonly ChosenLine[];
  content: Content;
  products: readonly CartProduct[];
  /** The search results; undefined: nothing was searched for. */
  found: ContentLine[] | undefined;
}

export async function loadChosen(
  visit: ShopVisit,
  lines: readonly ChosenLine[],
  text: string,
  terms: Terms,
): Promise<ChosenProducts> {
  const { db, shopId, locale } = visit;
  const foundIds = text === '' ? undefined : await searchProducts(visit, text);
  const ids = [...new Set([...lines.map(({ productId }) => productId), ...(foundIds ?? [])])];
  const products = await loadProducts(db, shopId, ids);
  const found =
    foundIds &&
    pricedLines(
      visit,
      foundIds.map((productId) => ({ productId, quantity: '1', price: '' })),
      products,
      { currency: terms.currency, taxType: terms.taxType, customerGroupId: terms.customerGroupId },
    ).lines;
  const sorted = found?.toSorted((left, right) =>
    (anyText(left.name, locale, locale) ?? '').localeCompare(
      anyText(right.name, locale, locale) ?? '',
      locale.slice(0, 2),
    ),
  );
  return { lines, content: pricedLines(visit, lines, products, terms), products, found: sorted };
}

async function searchProducts(visit: ShopVisit, text: string): Promise<string[]> {
  const { items } = await visit.call(listProducts, {
    query: { q: text, resultsPerPage: 8, locale: visit.locale },
  });
  return findSellable(
    visit.db,
    visit.shopId,
    text,
    items.map(({ productId }) => productId),
  );
}

/** `Espresso Beans (Weight: 500 g)` */
export function contentLineName({ locale, settings }: ShopVisit, { name, variation }: ContentLine): string {
  const text = (texts: ContentLine['name'] | null) =>
    anyText(texts ?? undefined, locale, settings.defaultLocale);
  const chosen = text(variation);
  return `${text(name) ?? ''}${chosen ? ` (${chosen})` : ''}`;
}

/** The headings of the rows; each field also has its own label for screen readers. */
export function chosenHeads({ messages }: ShopVisit): Markup {
  return html`<li class="heads" aria-hidden="true">
    <span class="grow"></span><span>${messages.orders.edit.quantity}</span
    ><span>${messages.orders.edit.price}</span><span class="last"></span>
  </li>`;
}

/** The rows of the chosen lines, with fields for quantity and price. */
export function chosenRows(
  visit: ShopVisit,
  { lines, content, products }: ChosenProducts,
  { hasHeads = false } = {},
): Markup {
  const messages = visit.messages.orders;
  return html`<ul class="chosen">
    ${hasHeads && chosenHeads(visit)}
    ${lines.map(({ productId, quantity, price }) => {
      const line = content.lines.find((one) => one.productId === productId);
      const number = products.find((one) => one.productId === productId)?.productNumber ?? '?';
      const name = line ? contentLineName(visit, line) : number;
      const values = {
        quantity: localisedDecimal(quantity, visit.language),
        price: localisedDecimal(price, visit.language),
      };
      const field = showFields(LINE, visit, { values, row: productId, draft: undefined });
      return html`<li>
        <input type="hidden" name="product" value="${productId}" />
        <span class="grow">${name} <span class="quiet">${number}</span></span>
        ${field('quantity', { label: `${messages.edit.quantity}: ${name}` })}
        ${field('price', {
          label: `${messages.edit.price}: ${name}`,
          ...(line && { placeholder: moneyText(line.unitPrice, content.currency, visit.language) }),
        })}
        <span class="number">${line && moneyText(line.amount, content.currency, visit.language)}</span>
        <button
          name="do"
          value="remove:${productId}"
          class="link"
          aria-label="${messages.edit.remove}: ${name}"
        >
          ×
        </button>
      </li>`;
    })}
  </ul>`;
}

/** A product search field, and its results. It sends the whole form, so no typed input is lost. */
export function productFinder(
  visit: ShopVisit,
  text: string,
  { found, content, products }: ChosenProducts,
): Markup {
  const messages = visit.messages.orders.edit;
  const stockOf = (productId: string) => products.find((one) => one.productId === productId)?.stock ?? null;
  return html`<div class="field">
      <label for="field-q">${messages.add}</label>
      <span class="finder">
        <input
          type="search"
          name="q"
          id="field-q"
          value="${text}"
          maxlength="100"
          placeholder="${messages.find}"
          autocomplete="off"
        />
        <button name="do" value="find">${messages.findButton}</button>
      </span>
    </div>
    ${found?.length === 0 && html`<p class="quiet">${messages.nothing}</p>`}
    ${
      found &&
      found.length > 0 &&
      html`<ul class="chosen">
        ${found.map((line) => {
          const stock = stockOf(line.productId);
          const name = contentLineName(visit, line);
          return html`<li>
            <span class="grow">${name} <span class="quiet">${line.productNumber}</span></span>
            ${stock !== null && html`<span class="quiet">${messages.stock({ quantity: stock })}</span>`}
            <span class="number">${moneyText(line.unitPrice, content.currency, visit.language)}</span>
            <button name="do" value="add:${line.productId}" aria-label="${messages.addOne}: ${name}">
              ${messages.addOne}
            </button>
          </li>`;
        })}
      </ul>`
    }`;
}
