import { isDeepStrictEqual } from 'node:util';
import { MAX_PARTS } from '../catalogue/products/bundles.ts';
import { hasScope } from '../http/callers.ts';
import {
  invalid,
  isRefusal,
  missingScope,
  notFound,
  Refusal,
  unauthorised,
  ValidationError,
} from '../http/errors.ts';
import { check, compileBody } from '../http/validation.ts';
import { isId, newId } from '../kernel/ids.ts';
import { customTextProblem, givenText, type CustomTextProblem } from '../catalogue/products/custom-text.ts';
import { priceIn } from '../catalogue/products/prices.ts';
import { isForSale, maxOrderOf, ORDER_UNIT } from '../catalogue/products/orderable.ts';
import { productLabel, type CartProduct } from '../pricing/cart-product.ts';
import type { GiftCardWish, StoredLine } from '../pricing/input.ts';
import type { CartContext, CartPatch, CartRow } from './cart.ts';
import { isOpenToGuests } from '../shops/shop/visibility.ts';
import { quantityInCart } from '../pricing/bundles.ts';
import { orderableStock } from '../pricing/waiting.ts';
import { allowedQuantity, quantityOfProduct } from '../pricing/quantity.ts';
import { MAX_LINES } from '../orders/line-item-schema.ts';
import { NewLine } from './schema.ts';
import { giftCardWish, isSameWish, requestOfWish, type GiftCardRequest } from '../giftcards/wish.ts';
import { amountOf, decimalOf } from '../http/request-fields.ts';

/** The product is for sale but out of stock. */
export class SoldOut extends Refusal<'PRODUCT_SOLD_OUT'> {
  constructor(label: string) {
    super('PRODUCT_SOLD_OUT', { product: label });
  }
}

/** Other lines of the cart already hold the maximum of the product per order. */
export class LimitReached extends Refusal<'PRODUCT_LIMIT_REACHED'> {
  readonly limit: number;

  constructor(label: string, limit: number) {
    super('PRODUCT_LIMIT_REACHED', { limit, product: label });
    this.limit = limit;
  }
}

const isNewLine = compileBody(NewLine);

/** The products that these entries name, chosen variations among them; malformed entries name none. */
export function namedProducts(entries: readonly unknown[]): string[] {
  return entries.flatMap((entry) => {
    const { productId, choices } = (entry ?? {}) as { productId?: unknown; choices?: unknown };
    const ids: unknown[] = [productId, ...(Array.isArray(choices) ? choices.slice(0, MAX_PARTS) : [])];
    return ids.filter((id) => typeof id === 'string' && isId(id)) as string[];
  });
}

const QUANTITY = { min: 0.000_001, max: 1_000_000 };

/** The text does not suit the product: the customer must type another one. */
export class WrongCustomText extends ValidationError {
  readonly code: CustomTextProblem;
  readonly productNumber: string;

  constructor(code: CustomTextProblem, field: string, productNumber: string) {
    super([{ code, field }]);
    this.code = code;
    this.productNumber = productNumber;
  }
}

/** Characters of all texts that customers type for the products of one cart. */
const MAX_CUSTOM_TEXT = 20_000;

interface LineRequest {
  productId: string;
  quantity: number | string;
  customText?: string | null | undefined;
  giftCard?: GiftCardRequest | undefined;
  /** The variations that the customer has chosen for the parts of a bundle, in any order. */
  choices?: readonly string[] | null | undefined;
}

/**
 * Adds a product to a cart. More of a product that is already there goes into its line, unless it comes with another
 * text. The quantity is raised to the smallest order and the next step, and lowered to what is in stock: clients compare
 * the answer with what they sent. `at` begins the names of the fields in a refusal.
 */
export function addLine(
  cart: CartRow,
  { productId, quantity, customText: typed, choices, giftCard: asked }: LineRequest,
  context: CartContext,
  at = '',
): CartPatch & { lines: StoredLine[] } {
  requireCatalogue(cart, context);
  const field = `${at}quantity`;
  const more = decimalOf(quantity, field, QUANTITY);
  const customText = givenText(typed);
  const product = cart.products.find((one) => one.productId === productId.toUpperCase());
  if (!product || !(product.visible || seesHidden(context))) throw notFound('productId');
  requireForSale(product, cart, context);
  const { lines } = cart;
  const problem = customTextProblem(product.customisation, customText);
  if (problem) throw new WrongCustomText(problem, `${at}customText`, product.productNumber);
  const parts = filledParts(product, choices ?? [], cart, context);
  const { currency } = cart;
  const giftCard = giftCardWish(
    product,
    asked,
    { currency, settings: context.settings, now: context.now },
    at,
  );
  const wanted = { productId: product.productId, customText, parts, ...(giftCard && { giftCard }) };
  const line = lines.find((one) => isSameChoice(one, wanted));
  if (!line) {
    if (textLengthOf(lines) + (customText?.length ?? 0) + (giftCard?.message?.length ?? 0) > MAX_CUSTOM_TEXT)
      throw new Refusal('CART_TEXTS_TOO_LONG', { limit: MAX_CUSTOM_TEXT });
    const added = {
      lineItemId: newId(context.now),
      productId: product.productId,
      quantity: '0',
      ...(parts && { parts }),
    };
    if (lineCountOf([...lines, added]) > MAX_LINES) throw new Refusal('CART_FULL', { limit: MAX_LINES });
    const allowed = quantityOf(cart, added, product, more, context, field);
    return {
      lines: [
        ...lines,
        {
          ...added,
          quantity: allowed,
          ...(customText !== undefined && { customText }),
          ...(giftCard && { giftCard }),
        },
      ],
    };
  }
  const sum = Math.min(Number((Number(line.quantity) + more).toFixed(6)), QUANTITY.max);
  return replaceLine(cart, { ...line, quantity: quantityOf(cart, line, product, sum, context, field) });
}

/** Each part of a bundle becomes a line of the order. */
const lineCountOf = (lines: readonly StoredLine[]) =>
  lines.reduce((count, { parts }) => count + (parts?.length ?? 1), 0);

/** More of the same product goes into its line, unless it comes with another text or with other parts. */
export function isSameChoice(
  one: Pick<StoredLine, 'productId' | 'customText' | 'parts' | 'giftCard'>,
  other: {
    productId: string;
    customText?: string | undefined;
    parts?: readonly string[] | undefined;
    giftCard?: GiftCardWish | undefined;
  },
): boolean {
  return (
    one.productId === other.productId &&
    one.customText === other.customText &&
    isDeepStrictEqual(one.parts ?? [], other.parts ?? []) &&
    isSameWish(one.giftCard, other.giftCard)
  );
}

/** The products that fill the parts of a bundle, in their order; undefined: it is no bundle. */
function filledParts(
  product: CartProduct,
  choices: readonly string[],
  cart: CartRow,
  context: CartContext,
): string[] | undefined {
  return product.facts.parts?.map(({ productId: partId }) => {
    const part = cart.products.find(({ productId }) => productId === partId);
    const label = () => productLabel(product, context.settings);
    if (part && part.kind !== 'master') return part.productId;
    const chosen = cart.products.find(
      (one) => one.masterId === partId && choices.some((id) => id.toUpperCase() === one.productId),
    );
    if (!part) throw new Refusal('PRODUCT_NOT_FOR_SALE', { product: label() });
    if (!chosen) throw new Refusal('PART_NOT_CHOSEN', { product: label(), part: part.productNumber });
    if (!(chosen.visible || seesHidden(context)))
      throw new Refusal('PRODUCT_NOT_FOR_SALE', { product: productLabel(chosen, context.settings) });
    return chosen.productId;
  });
}

export function textLengthOf(lines: readonly StoredLine[]): number {
  return lines.reduce(
    (length, { customText = '', giftCard }) => length + customText.length + (giftCard?.message?.length ?? 0),
    0,
  );
}

/** Adds all entries; where some may fail, adds those that it can and says why the others failed. */
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
      ({ lines } = addLine({ ...cart, lines }, entry as NewLine, context, `${at}.`));
    } catch (error) {
      if (!isRefusal(error) || !mayFail) throw error;
      refusals.push(error);
    }
  }
  return { lines, refusals };
}

/**
 * Adds the lines of another cart, with the texts that were typed and the prices that an app has agreed on: adding more
 * to such a line uses its price, too. A line that has an agreed price already keeps it, and a price in another
 * currency is ignored. Returns what could not be added.
 */
export function joinLines(
  cart: CartRow,
  other: Pick<CartRow, 'lines' | 'currency'>,
  context: CartContext,
): { lines: StoredLine[]; refusals: Error[] } {
  const entries = other.lines.map(({ productId, quantity, customText, parts, giftCard }) => ({
    productId,
    quantity: Number(quantity),
    customText,
    ...(parts && { choices: parts }),
    ...(giftCard && { giftCard: requestOfWish(giftCard, cart.currency) }),
  }));
  const { lines, refusals } = addLines(cart, entries, context, { mayFail: true });
  if (cart.currency !== other.currency) return { lines, refusals };
  const priced = lines.map((line) => {
    const former = other.lines.find((one) => isSameChoice(one, line));
    return former?.price === undefined ? line : { ...line, price: line.price ?? former.price };
  });
  return { lines: priced, refusals };
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
  return replaceLine(cart, {
    ...line,
    quantity: quantityOf(cart, line, product, asked, context, 'quantity'),
  });
}

export function removeLine(cart: CartRow, lineItemId: string): CartPatch {
  const line = lineOf(cart, lineItemId);
  return { lines: cart.lines.filter((one) => one !== line) };
}

/** Sets the unit price of this line, whatever the product costs. */
export function setLinePrice(cart: CartRow, lineItemId: string, singleItemPrice: number | string): CartPatch {
  const line = lineOf(cart, lineItemId);
  return replaceLine(cart, { ...line, price: amountOf(singleItemPrice, cart.currency, 'singleItemPrice') });
}

function lineOf({ lines }: CartRow, lineItemId: string): StoredLine {
  const line = lines.find((one) => one.lineItemId === lineItemId);
  if (!line) throw notFound('lineItemId');
  return line;
}

function replaceLine({ lines }: CartRow, changed: StoredLine): { lines: StoredLine[] } {
  return { lines: lines.map((line) => (line.lineItemId === changed.lineItemId ? changed : line)) };
}

/**
 * A line shows the name and price of a product, so only callers who could read the product get one: in a shop that
 * hides its catalogue from callers without a token, apps that may read products and the carts that apps made. Visitors of
 * the storefront, who are no callers, have been let in by its pages.
 */
function requireCatalogue({ appId }: CartRow, { caller, settings }: CartContext): void {
  const isShown = caller ? isOpenToGuests(settings) : settings.publicCatalogue;
  if (isShown || (caller && hasScope(caller, 'products_read'))) return;
  if (caller?.app) throw missingScope('products_read');
  if (appId === null) throw unauthorised('TOKEN_NEEDED');
}

/** As where products are read: others learn neither the name of a hidden product nor that it exists. */
function seesHidden({ caller }: CartContext): boolean {
  return caller !== undefined && hasScope(caller, 'products_write');
}

function requireForSale(product: CartProduct, { currency }: CartRow, { settings, now }: CartContext): void {
  if (isForSale(product, product.facts, priceIn(product.prices, currency, settings), now)) return;
  const name = productLabel(product, settings);
  throw new Refusal(product.kind === 'master' ? 'PRODUCT_IS_MASTER' : 'PRODUCT_NOT_FOR_SALE', {
    product: name,
  });
}

/**
 * The quantity that a line gets. Quantities in other lines of the same product, with other texts, are not available to
 * it.
 */
function quantityOf(
  cart: CartRow,
  line: StoredLine,
  product: CartProduct,
  asked: number,
  { settings, now }: CartContext,
  field: string,
): string {
  const others = quantityOfProduct(othersOf(line, cart), line.productId);
  const stock = stockFor(line, product, cart, { settings, now });
  const max = maxOrderOf(product.facts, settings);
  const { minimum } = product.orderUnit ?? ORDER_UNIT;
  if (others > 0 && max !== null && others + minimum > max)
    throw new LimitReached(productLabel(product, settings), max);
  const allowed = allowedQuantity(asked, product.orderUnit, stock, max === null ? null : max - others);
  if (allowed === undefined) throw new SoldOut(productLabel(product, settings));
  if (allowed > QUANTITY.max) throw invalid('OUT_OF_RANGE', field);
  return String(allowed);
}

const othersOf = ({ lineItemId }: StoredLine, { lines }: CartRow) =>
  lines.filter((one) => one.lineItemId !== lineItemId);

/**
 * What is left for a line: what can be ordered of its product, or what its parts are enough for, less what other lines
 * take. null: there is always enough.
 */
function stockFor(
  line: StoredLine,
  product: CartProduct,
  cart: CartRow,
  { settings, now }: Pick<CartContext, 'settings' | 'now'>,
): number | null {
  const others = othersOf(line, cart);
  const leftOf = (one: CartProduct) => {
    const stock = orderableStock(one, settings, now);
    return stock === null ? null : stock - quantityInCart(others, one.productId, cart.products);
  };
  const { parts } = product.facts;
  if (!parts) return leftOf(product);
  const enough = parts.flatMap(({ quantity }, index) => {
    const part = cart.products.find(({ productId }) => productId === line.parts?.[index]);
    const left = part ? leftOf(part) : 0;
    return left === null ? [] : Math.floor(left / quantity);
  });
  return enough.length === 0 ? null : Math.min(...enough);
}
