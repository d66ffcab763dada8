import { Type, type Static } from 'typebox';
import { deleteCarts } from '../../carts/queries.ts';
import { priceCart, type PricedCart } from '../../carts/cart.ts';
import { LimitReached, SoldOut } from '../../carts/lines.ts';
import { setLocale } from '../../carts/changes.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { findVersions } from '../../catalogue/products/queries.ts';
import type { Transaction } from '../../db/database.ts';
import { HttpError, Refusal } from '../../http/errors.ts';
import { MAX_LINES } from '../../orders/line-item-schema.ts';
import { isId } from '../../kernel/ids.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { anyText } from '../../catalogue/products/render.ts';
import type { Capability } from '../capabilities.ts';
import { readProducts } from '../catalogue/offered.ts';
import type { AssistantContext, OperationCall } from '../context.ts';
import type { Message } from '../messages.ts';
import { failure } from '../outcome.ts';
import { ProtocolProblem } from '../problem.ts';
import { Context, Text } from '../schema.ts';
import { quantityUnit } from '../units.ts';
import { parseCartId, type NamedCart } from './cart-id.ts';
import { shownCart, type ShownCart } from './cart-view.ts';
import { replaceLines, type WantedLine } from './replace-lines.ts';

const LineItems = Type.Array(
  Type.Object({
    id: Type.Optional(Text('Id of the line.', 100)),
    item: Type.Object({
      id: Text('Id of a product without variations, or of a variation.', 100),
      quantity_unit: Type.Optional(
        Type.Object({
          unit: Text('The unit that the assistant expects.', 40),
          scale: Type.Optional(Type.Integer({ minimum: 0, maximum: 15, description: 'Its decimals.' })),
        }),
      ),
    }),
    quantity: Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: 'Pieces, or steps of the unit of the product.',
    }),
  }),
  { description: 'Everything that is in the cart.', maxItems: MAX_LINES },
);

export const CartRequest = Type.Object({ line_items: LineItems, context: Type.Optional(Context) });
export type CartRequest = Static<typeof CartRequest>;

/** Makes the answer of a cart. */
export type ShowCart = (cart: ShownCart, context: AssistantContext) => Promise<object>;

/** What a request names, with the products as they are sold. */
interface Wanted {
  lines: readonly WantedLine[];
  products: readonly Product[];
  /** The ids that no product has. */
  unknown: readonly string[];
}

/** A cart of an assistant's own, with what the request names. */
export async function createCart(
  { context, request, write }: OperationCall,
  capability: Capability,
  show: ShowCart,
): Promise<object> {
  const { carts, shopId, origin, currency, locale } = context;
  const wanted = await findWanted(context, request as CartRequest);
  return write(async (tx) => {
    const { cart, token } = await carts.create({
      shopId,
      origin,
      body: { currency, locale, lineItems: [] },
      caller: undefined,
      transaction: tx,
    });
    return replaceIn(tx, { cartId: cart.cartId, token }, wanted, context, capability, show);
  });
}

export function readCart(call: OperationCall, capability: Capability, show: ShowCart): Promise<object> {
  const { context } = call;
  return withCart(call, capability, async (named) => {
    const cart = await context.carts.open(requestFor(context, named));
    const products = await productsOf(context, cart);
    return show(shownCart(cart, named.token, products, context), context);
  });
}

export async function replaceCart(
  call: OperationCall,
  capability: Capability,
  show: ShowCart,
): Promise<object> {
  const { context, request, write } = call;
  return withCart(call, capability, async (named) => {
    const wanted = await findWanted(context, request as CartRequest);
    return write((tx) => replaceIn(tx, named, wanted, context, capability, show));
  });
}

/** Ends the cart, and shows it for the last time. */
export function cancelCart(call: OperationCall, capability: Capability, show: ShowCart): Promise<object> {
  const { context, write } = call;
  return withCart(call, capability, (named) =>
    write(async (transaction) => {
      const closed = await context.carts.close(
        writeRequest(context, named, transaction),
        async ({ cart, settings, tx }): Promise<PricedCart> => {
          await deleteCarts(tx!, context.shopId, [cart.cartId]);
          return { cart, settings, priced: priceCart(cart, settings, tx!.now) };
        },
      );
      const products = await productsOf(context, closed);
      return show(shownCart(closed, named.token, products, context), context);
    }),
  );
}

const requestFor = ({ shopId, origin }: AssistantContext, { cartId, token, isAdmitted }: NamedCart) => ({
  shopId,
  origin,
  params: { cartId },
  cartToken: token,
  ...(isAdmitted && { isAdmitted }),
});

const writeRequest = (context: AssistantContext, named: NamedCart, transaction: Transaction) => ({
  ...requestFor(context, named),
  caller: undefined,
  transaction,
  entry: undefined,
});

async function replaceIn(
  tx: Transaction,
  named: NamedCart,
  { lines, products, unknown }: Wanted,
  context: AssistantContext,
  capability: Capability,
  show: ShowCart,
): Promise<object> {
  let refusals: Error[] = [];
  const changed = await context.carts.update(
    writeRequest(context, named, tx),
    (cart, cartContext) => {
      // Its buyer goes on with a copy, which this change would not reach.
      if (cart.pickedUpAt) throw new Refusal('CART_TOKEN_ENDED');
      const replaced = replaceLines(cart, lines, cartContext);
      ({ refusals } = replaced);
      return { ...replaced.patch, ...setLocale(context.locale) };
    },
    { productIds: lines.map(({ productId }) => productId) },
  );
  const refused = [...unknown.map(unknownMessage), ...refusals.map(refusalMessage)];
  const [first] = refused;
  if (first && changed.cart.lines.length === 0) {
    return failure(capability, first.code, first.content, context.home);
  }
  const shown = shownCart(changed, named.token, products, context);
  const notes = [...refused, ...changedQuantities(changed, lines, context)];
  return show({ ...shown, messages: [...notes, ...shown.messages] }, context);
}

const unknownMessage = (id: string): Message => ({
  type: 'error',
  code: 'not_found',
  content: `Product not found: ${id}`,
  severity: 'recoverable',
});

function refusalMessage(refusal: Error): Message {
  const code =
    refusal instanceof SoldOut
      ? 'out_of_stock'
      : refusal instanceof LimitReached
        ? 'quantity_limited'
        : 'item_unavailable';
  return { type: 'error', code, content: refusal.message, severity: 'recoverable' };
}

/** A quantity is fitted to the order unit, the stock and the most per order, and never silently. */
function changedQuantities(
  { cart, priced }: PricedCart,
  wanted: readonly WantedLine[],
  { locale, settings }: AssistantContext,
): Message[] {
  const messages = messagesIn(locale).storefront.cart;
  return priced.content.lines.flatMap((line, index): Message[] => {
    const asked = wanted
      .filter(({ productId }) => productId === line.productId)
      .reduce((sum, { quantity }) => sum + quantity, 0);
    const stored = Number(cart.lines[index]!.quantity);
    // Sums of decimals are off by a rounding.
    if (Math.abs(asked - stored) < 1e-6) return [];
    const name = anyText(line.name, locale, settings.defaultLocale) ?? line.productNumber;
    return [
      {
        type: 'warning',
        code: 'quantity_changed',
        path: `$.line_items[${index}].quantity`,
        content: messages.quantityChanged({ name, amount: String(stored) }),
      },
    ];
  });
}

/** The products of a request, and its quantities in the units of the shop. */
async function findWanted(context: AssistantContext, { line_items: items }: CartRequest): Promise<Wanted> {
  const { db, shopId } = context;
  const ids = items.map(({ item }) => item.id);
  const versions = await findVersions(db, shopId, [...new Set(ids.filter(isId))]);
  const products = await readProducts(
    context,
    versions.filter(({ visible }) => visible),
  );
  const lines = items.flatMap(({ item, quantity }) => {
    const product = products.find(({ productId }) => productId === item.id.toUpperCase());
    if (!product) return [];
    const unit = quantityUnit(product, context);
    requireUnit(item.quantity_unit, unit);
    return [{ productId: product.productId, quantity: quantity / 10 ** (unit?.scale ?? 0) }];
  });
  const known = new Set(lines.map(({ productId }) => productId));
  return { lines, products, unknown: ids.filter((id) => !known.has(id.toUpperCase())) };
}

/** An assistant that expects another unit would order another amount. */
function requireUnit(
  expected: { unit: string; scale?: number } | undefined,
  { unit, scale = 0 }: { unit: string; scale?: number } = { unit: 'C62' },
): void {
  if (!expected || (expected.unit === unit && (expected.scale ?? 0) === scale)) return;
  throw new ProtocolProblem('invalid_request', `The unit of this product is ${unit} with ${scale} decimals`);
}

async function productsOf(context: AssistantContext, { cart }: PricedCart): Promise<Product[]> {
  const ids = [...new Set(cart.lines.map(({ productId }) => productId))];
  return readProducts(context, await findVersions(context.db, context.shopId, ids));
}

const GONE = ['NOT_FOUND', 'CART_ORDERED', 'CART_CURRENCY_ENDED', 'CART_TOKEN_WRONG', 'CART_TOKEN_ENDED'];

/** Runs work with a cart. That it is not there, ended or is somebody else's are one and the same answer. */
async function withCart(
  { context, id, cart }: OperationCall,
  capability: Capability,
  work: (named: NamedCart) => Promise<object>,
): Promise<object> {
  const named = cart ?? parseCartId(id);
  const missing = () =>
    failure(capability, 'not_found', messagesIn(context.locale).storefront.cart.expired, context.home);
  if (!named) return missing();
  try {
    return await work(named);
  } catch (error) {
    if (error instanceof Refusal && GONE.includes(error.code)) return missing();
    if (error instanceof HttpError && error.status === 409 && !(error instanceof ProtocolProblem)) {
      return failure(capability, 'cart_refused', error.message, context.home);
    }
    throw error;
  }
}
