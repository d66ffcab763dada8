import { hasScope } from '../http/callers.ts';
import {
  badRequest,
  HttpError,
  invalid,
  isRefusal,
  missingScope,
  notFound,
  unauthorised,
} from '../http/errors.ts';
import { check, compileBody } from '../http/validation.ts';
import { isId, newId } from '../kernel/ids.ts';
import { priceIn } from '../catalogue/products/prices.ts';
import { isForSale, maxOrderOf } from '../catalogue/products/render.ts';
import { productLabel, type CartProduct } from '../catalogue/products/cart-product.ts';
import type { StoredLine } from '../pricing/input.ts';
import { amountOf, decimalOf } from '../catalogue/products/request-fields.ts';
import type { CartContext, CartPatch, CartRow } from './cart.ts';
import { allowedQuantity } from '../pricing/quantity.ts';
import { MOST_LINES } from '../orders/line-item-schema.ts';
import { NewLine } from './schema.ts';

/** The product is for sale, and there is none of it in stock. */
export class SoldOut extends HttpError {
  constructor(label: string) {
    super(400, `${label} is out of stock`);
  }
}

const isNewLine = compileBody(NewLine);

/** The products that these entries name: entries of another form name none. */
export function namedProducts(entries: readonly unknown[]): string[] {
  return entries.flatMap((entry) => {
    const { productId } = (entry ?? {}) as { productId?: unknown };
    return typeof productId === 'string' && isId(productId) ? [productId] : [];
  });
}

const QUANTITY = { least: 0.000_001, most: 1_000_000 };

/**
 * Adds a product to a cart. More of a product that is already there goes into its line. The quantity is raised to the
 * smallest order and the next step, and lowered to what is in stock: clients compare the answer with what they sent.
 */
export function addLine(
  cart: CartRow,
  { productId, quantity }: { productId: string; quantity: number | string },
  context: CartContext,
  field = 'quantity',
): CartPatch & { lines: StoredLine[] } {
  requireCatalogue(cart, context);
  const more = decimalOf(quantity, field, QUANTITY);
  const product = cart.products.find((one) => one.productId === productId.toUpperCase());
  if (!product || !(product.visible || seesHidden(context))) throw notFound();
  requireForSale(product, cart, context);
  const { lines } = cart;
  const line = lines.find((one) => one.productId === product.productId);
  if (!line) {
    if (lines.length >= MOST_LINES) throw badRequest(`A cart has at most ${MOST_LINES} lines`);
    const allowed = quantityOf(product, more, context, field);
    const lineItemId = newId(context.now);
    return { lines: [...lines, { lineItemId, productId: product.productId, quantity: allowed }] };
  }
  const sum = Math.min(Number((Number(line.quantity) + more).toFixed(6)), QUANTITY.most);
  return replaceLine(cart, { ...line, quantity: quantityOf(product, sum, context, field) });
}

/** Adds all entries; where some may fail, those that can be added, and says why the others can not. */
export function addLines(
  cart: CartRow,
  entries: readonly unknown[],
  context: CartContext,
  { mayFail }: { mayFail: boolean },
): { lines: StoredLine[]; refusals: Error[] } {
  if (entries.length > 0) requireCatalogue(cart, context);
  let { lines } = cart;
  const refusals: Error[] = [];
  for (const [index, entry] of entries.entries()) {
    const at = `lineItems.${index}`;
    try {
      check(isNewLine, entry, at);
      ({ lines } = addLine({ ...cart, lines }, entry as NewLine, context, `${at}.quantity`));
    } catch (error) {
      if (!isRefusal(error) || !mayFail) throw error;
      refusals.push(error);
    }
  }
  return { lines, refusals };
}

/** Sets the quantity of a line, corrected as in `addLine`; 0 removes it. */
export function setQuantity(
  cart: CartRow,
  lineItemId: string,
  quantity: number | string,
  context: CartContext,
): CartPatch {
  const line = lineOf(cart, lineItemId);
  if (Number(quantity) === 0) return removeLine(cart, lineItemId);
  const asked = decimalOf(quantity, 'quantity', QUANTITY);
  const product = cart.products.find((one) => one.productId === line.productId);
  if (!product) throw notFound();
  return replaceLine(cart, { ...line, quantity: quantityOf(product, asked, context, 'quantity') });
}

export function removeLine(cart: CartRow, lineItemId: string): CartPatch {
  const line = lineOf(cart, lineItemId);
  return { lines: cart.lines.filter((one) => one !== line) };
}

/** Sets the price of one unit for this line, whatever the product costs. */
export function setLinePrice(cart: CartRow, lineItemId: string, singleItemPrice: number | string): CartPatch {
  const line = lineOf(cart, lineItemId);
  return replaceLine(cart, { ...line, price: amountOf(singleItemPrice, cart.currency, 'singleItemPrice') });
}

function lineOf({ lines }: CartRow, lineItemId: string): StoredLine {
  const line = lines.find((one) => one.lineItemId === lineItemId);
  if (!line) throw notFound();
  return line;
}

function replaceLine({ lines }: CartRow, changed: StoredLine): { lines: StoredLine[] } {
  return { lines: lines.map((line) => (line.lineItemId === changed.lineItemId ? changed : line)) };
}

/**
 * A line says what a product is called and costs, so it is given to those who could read the product itself: in a shop
 * that shows its catalogue to nobody without a token, to apps that may read products and to the carts that apps made.
 */
function requireCatalogue({ appId }: CartRow, { caller, settings }: CartContext): void {
  if (settings.publicCatalogue || (caller && hasScope(caller, 'products_read'))) return;
  if (caller?.app) throw missingScope('products_read');
  if (appId === null) throw unauthorised('A token is needed');
}

/** As where products are read: others learn neither the name of a hidden product nor that there is one. */
function seesHidden({ caller }: CartContext): boolean {
  return caller !== undefined && hasScope(caller, 'products_write');
}

function requireForSale(product: CartProduct, { currency }: CartRow, { settings, now }: CartContext): void {
  if (isForSale(product, product.facts, priceIn(product.prices, currency, settings), now)) return;
  const name = productLabel(product, settings);
  throw badRequest(
    product.kind === 'master'
      ? `${name} has variations, put one of them into the cart`
      : `${name} is not for sale`,
  );
}

function quantityOf(product: CartProduct, asked: number, { settings }: CartContext, field: string): string {
  const allowed = allowedQuantity(
    asked,
    product.orderUnit,
    settings.sellBeyondStock ? null : product.stock,
    maxOrderOf(product.facts, settings),
  );
  if (allowed === undefined) throw new SoldOut(productLabel(product, settings));
  if (allowed > QUANTITY.most) throw invalid('OUT_OF_RANGE', field);
  return String(allowed);
}
