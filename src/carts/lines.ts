import { hasScope, type Caller } from '../http/callers.ts';
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
import { isId } from '../kernel/ids.ts';
import { priceIn } from '../catalogue/products/prices.ts';
import { isForSale, maxOrderOf } from '../catalogue/products/render.ts';
import { decimalOf } from '../catalogue/products/requests.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { productLabel, type CartProduct } from '../catalogue/products/cart-product.ts';
import type { StoredLine } from '../pricing/input.ts';
import type { CartRow } from './queries.ts';
import { allowedQuantity } from '../pricing/quantity.ts';
import { MOST_LINES } from '../orders/line-item-schema.ts';
import { NewLine } from './schema.ts';

/** What decides whether a product can go into a cart. */
export interface Shelf {
  currency: string;
  products: readonly CartProduct[];
  settings: Settings;
  now: Date;
  /** undefined: a visitor of the storefront, who may do what anybody may. */
  caller: Caller | undefined;
  /** The cart was made by an app, which could read the products. */
  isOfApp: boolean;
}

/** Nothing of it can be had at the moment. */
export class SoldOut extends HttpError {
  constructor(label: string) {
    super(400, `${label} is out of stock`);
  }
}

const isNewLine = compileBody(NewLine);

/** The products that these entries name, as far as they can be read. */
export function namedProducts(entries: readonly unknown[]): string[] {
  return entries.flatMap((entry) => {
    const { productId } = (entry ?? {}) as { productId?: unknown };
    return typeof productId === 'string' && isId(productId) ? [productId] : [];
  });
}

/**
 * The lines with all of these entries; where some may fail, with all that can go in, and why the others can not.
 */
export function withAll(
  lines: readonly StoredLine[],
  entries: readonly unknown[],
  shelf: Shelf,
  newLineId: () => string,
  { mayFail }: { mayFail: boolean },
): { lines: StoredLine[]; refusals: Error[] } {
  if (entries.length > 0) requireCatalogue(shelf);
  let all = [...lines];
  const refusals: Error[] = [];
  for (const [index, entry] of entries.entries()) {
    const at = `lineItems.${index}`;
    try {
      check(isNewLine, entry, at);
      all = withMore(all, entry as NewLine, shelf, newLineId, `${at}.quantity`);
    } catch (error) {
      if (!isRefusal(error) || !mayFail) throw error;
      refusals.push(error);
    }
  }
  return { lines: all, refusals };
}

const QUANTITY = { least: 0.000_001, most: 1_000_000 };

/** The lines with this much more of a product: an equal one gets more, else there is a new one. */
export function withMore(
  lines: readonly StoredLine[],
  { productId, quantity }: { productId: string; quantity: number | string },
  shelf: Shelf,
  newLineId: () => string,
  field = 'quantity',
): StoredLine[] {
  requireCatalogue(shelf);
  const more = decimalOf(quantity, field, QUANTITY);
  const product = shelf.products.find((one) => one.productId === productId.toUpperCase());
  if (!product || !(product.visible || seesHidden(shelf))) throw notFound();
  checkForSale(product, shelf);
  const line = lines.find((one) => one.productId === product.productId);
  if (!line) {
    if (lines.length >= MOST_LINES) throw badRequest(`A cart has at most ${MOST_LINES} lines`);
    const allowed = quantityOf(product, more, shelf, field);
    return [...lines, { lineItemId: newLineId(), productId: product.productId, quantity: allowed }];
  }
  const wanted = Math.min(Number((Number(line.quantity) + more).toFixed(6)), QUANTITY.most);
  return replaced(lines, { ...line, quantity: quantityOf(product, wanted, shelf, field) });
}

/**
 * A line says what a product is called and costs, so it is given to those who could read the product itself: in a shop
 * that shows its catalogue to nobody without a token, to apps that may read products and to the carts that apps made.
 */
function requireCatalogue({ caller, isOfApp, settings }: Shelf): void {
  if (settings.publicCatalogue || (caller && hasScope(caller, 'products_read'))) return;
  if (caller?.app) throw missingScope('products_read');
  if (!isOfApp) throw unauthorised('A token is needed');
}

/** As where products are read: others learn neither the name of a hidden product nor that there is one. */
function seesHidden({ caller }: Shelf): boolean {
  return caller !== undefined && hasScope(caller, 'products_write');
}

/** The lines with this quantity of one of them; 0 takes it away. */
export function withQuantity(
  lines: readonly StoredLine[],
  line: StoredLine,
  quantity: number | string,
  shelf: Shelf,
): StoredLine[] {
  if (Number(quantity) === 0) return lines.filter((one) => one !== line);
  const wanted = decimalOf(quantity, 'quantity', QUANTITY);
  const product = shelf.products.find((one) => one.productId === line.productId);
  if (!product) throw notFound();
  return replaced(lines, { ...line, quantity: quantityOf(product, wanted, shelf, 'quantity') });
}

/** The line of this id, which may come in any case. */
export function lineOf({ lines }: CartRow, lineItemId: string): StoredLine {
  const line = lines.find((one) => one.lineItemId === lineItemId);
  if (!line) throw notFound();
  return line;
}

export function replaced(lines: readonly StoredLine[], changed: StoredLine): StoredLine[] {
  return lines.map((line) => (line.lineItemId === changed.lineItemId ? changed : line));
}

function checkForSale(product: CartProduct, { currency, settings, now }: Shelf): void {
  if (isForSale(product, product.facts, priceIn(product.prices, currency, settings), now)) return;
  const name = productLabel(product, settings);
  throw badRequest(
    product.kind === 'master'
      ? `${name} has variations, put one of them into the cart`
      : `${name} is not for sale`,
  );
}

function quantityOf(product: CartProduct, wanted: number, { settings }: Shelf, field: string): string {
  const allowed = allowedQuantity(
    wanted,
    product.orderUnit,
    settings.sellBeyondStock ? null : product.stock,
    maxOrderOf(product.facts, settings),
  );
  if (allowed === undefined) throw new SoldOut(productLabel(product, settings));
  if (allowed > QUANTITY.most) throw invalid('OUT_OF_RANGE', field);
  return String(allowed);
}
