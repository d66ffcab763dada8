import { shownLines } from '../../pricing/shown-lines.ts';
import { Type, type Static } from 'typebox';
import { deleteCarts } from '../../carts/queries.ts';
import { priceCart, type PricedCart } from '../../carts/cart.ts';
import { LimitReached, SoldOut } from '../../carts/lines.ts';
import { setLocale } from '../../carts/changes.ts';
import { askForDelivery, NOTHING_OFFERED, type OfferedDeliveries } from '../../carts/delivery-options.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { findVersions } from '../../catalogue/products/queries.ts';
import type { Transaction } from '../../db/database.ts';
import { HttpError, Refusal } from '../../http/errors.ts';
import { MAX_LINES } from '../../orders/line-item-schema.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { anyText } from '../../catalogue/products/render.ts';
import { extensionsOf, type Capability } from '../capabilities.ts';
import { findMatches } from '../catalogue/lookup.ts';
import { readProducts } from '../catalogue/offered.ts';
import type { AssistantContext, OperationCall } from '../context.ts';
import { applyDetails, type SentDetails, type WantedDetails } from '../details/details.ts';
import { DISCOUNT } from '../details/discounts.ts';
import { ChoiceRefused, FULFILLMENT } from '../details/fulfillment.ts';
import { Buyer, Discounts } from '../details/schema.ts';
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
      id: Text('Id or number of a product without variations, or of a variation.', 100),
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

export const CartRequest = Type.Object({
  line_items: LineItems,
  context: Type.Optional(Context),
  buyer: Type.Optional(Buyer),
  discounts: Type.Optional(Discounts),
});
export type CartRequest = Static<typeof CartRequest> & SentDetails;

/** Makes the answer of a cart. */
export type ShowCart = (cart: ShownCart, context: AssistantContext) => Promise<object>;

/** What a request names. */
interface Wanted {
  /** undefined: the lines stay as they are. */
  lines: readonly WantedLine[] | undefined;
  /** The ids that no product has. */
  unknown: readonly string[];
  /** What the request says beside the products; what apps offer for the delivery is asked later. */
  details: Omit<WantedDetails, 'offered'>;
}

/** A cart of an assistant's own, with what the request names. */
export async function createCart(
  { context, request, write }: OperationCall,
  capability: Capability,
  show: ShowCart,
): Promise<object> {
  const { carts, shopId, origin, currency, locale } = context;
  const wanted = await findWanted(context, request as CartRequest, capability);
  const begin = async (tx: Transaction): Promise<NamedCart> => {
    const body = { currency, locale, lineItems: [] };
    const { cart, token } = await carts.create({ shopId, origin, body, caller: undefined, transaction: tx });
    return { cartId: cart.cartId, token };
  };
  const offered = await offersFor(context, wanted, begin, true);
  return write(async (tx) => {
    const named = await begin(tx);
    return showReplaced(
      named,
      await replaceIn(tx, named, wanted, offered, context, true),
      context,
      capability,
      show,
    );
  });
}

export function readCart(call: OperationCall, capability: Capability, show: ShowCart): Promise<object> {
  const { context } = call;
  return withCart(call, capability, async (named) => {
    const cart = await context.carts.open(requestFor(context, named));
    return showOpen(named, cart, await offersOf(context, capability, cart), context, capability, show);
  });
}

/** The answer of a cart that is as it was. */
async function showOpen(
  { token }: NamedCart,
  cart: PricedCart,
  offered: OfferedDeliveries,
  context: AssistantContext,
  capability: Capability,
  show: ShowCart,
  notes: readonly Message[] = [],
): Promise<object> {
  const products = await productsOf(context, cart);
  const shown = await shownCart(cart, token, products, offered, context, capability);
  return show({ ...shown, messages: [...notes, ...shown.messages] }, context);
}

export async function replaceCart(
  call: OperationCall,
  capability: Capability,
  show: ShowCart,
): Promise<object> {
  const { context, request, write } = call;
  return withCart(call, capability, async (named) => {
    const wanted = await findWanted(context, request as CartRequest, capability);
    const begin = async () => named;
    try {
      const offered = await offersFor(context, wanted, begin, false);
      return await write(async (tx) =>
        showReplaced(
          named,
          await replaceIn(tx, named, wanted, offered, context, false),
          context,
          capability,
          show,
        ),
      );
    } catch (error) {
      if (!(error instanceof ChoiceRefused)) throw error;
      // The protocol wants nothing of the request to count.
      const cart = await context.carts.open(requestFor(context, named));
      const offered = await offersOf(context, capability, cart);
      return showOpen(named, cart, offered, context, capability, show, [error.problem]);
    }
  });
}

/**
 * A cart with its lines as they are, and with what the request says beside them: where it goes, and for whom, if the cart does
 * not say that itself. A choice that is refused is said.
 */
export function addDetails(call: OperationCall, capability: Capability, show: ShowCart): Promise<object> {
  const { context, request, write } = call;
  const { discounts: _codes, ...added } = request as CartRequest;
  return withCart(call, capability, async (named) => {
    const found = await findWanted(context, { ...added, line_items: [] }, capability);
    const wanted = { ...found, lines: undefined };
    const offered = await offersFor(context, wanted, async () => named, true);
    return write(async (tx) =>
      showReplaced(
        named,
        await replaceIn(tx, named, wanted, offered, context, true),
        context,
        capability,
        show,
      ),
    );
  });
}

/** What apps offer for the delivery of a cart, if the answer has room for it. */
async function offersOf(
  { appCalls, origin, db, capabilities }: AssistantContext,
  capability: Capability,
  cart: Pick<PricedCart, 'cart' | 'settings'>,
): Promise<OfferedDeliveries> {
  if (!extensionsOf(capability, capabilities).includes(FULFILLMENT)) return NOTHING_OFFERED;
  return askForDelivery(appCalls, cart, origin, db.now);
}

/** A change that was only tried. */
class Tried extends Error {
  readonly cart: PricedCart;

  constructor(cart: PricedCart) {
    super('tried');
    this.cart = cart;
  }
}

/**
 * What apps offer for a cart as it will be: nobody can be asked within a transaction, so the change is tried before, in
 * shops that have such apps.
 */
async function offersFor(
  context: AssistantContext,
  wanted: Wanted,
  begin: (tx: Transaction) => Promise<NamedCart>,
  isNew: boolean,
): Promise<OfferedDeliveries> {
  const { db, appCalls, settings, origin } = context;
  if (!wanted.details.extensions.includes(FULFILLMENT)) return NOTHING_OFFERED;
  const asked = await appCalls.asked(db, settings, 'deliveryOptions');
  if (asked.length === 0) return NOTHING_OFFERED;
  // What an app offers is not known yet, so a choice among it is left to the write.
  const { fulfillment, ...sent } = wanted.details.sent;
  const methods = fulfillment?.methods?.map(({ groups: _choices, ...method }) => method);
  const details = { ...wanted.details, sent: { ...sent, ...(methods && { fulfillment: { methods } }) } };
  try {
    return await db.transaction(async (tx): Promise<OfferedDeliveries> => {
      const replaced = await replaceIn(
        tx,
        await begin(tx),
        { ...wanted, details },
        NOTHING_OFFERED,
        context,
        isNew,
      );
      throw new Tried(replaced.changed);
    });
  } catch (error) {
    if (!(error instanceof Tried)) throw error;
    return askForDelivery(appCalls, error.cart, origin, db.now);
  }
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
      return showOpen(named, closed, NOTHING_OFFERED, context, capability, show);
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

/** A cart after a change, and what the answer says of the change. */
interface ReplacedCart {
  changed: PricedCart;
  notes: Message[];
  offered: OfferedDeliveries;
}

async function replaceIn(
  tx: Transaction,
  named: NamedCart,
  { lines, unknown, details }: Wanted,
  offered: OfferedDeliveries,
  context: AssistantContext,
  isNew: boolean,
): Promise<ReplacedCart> {
  let refusals: Error[] = [];
  let messages: Message[] = [];
  const { codeKey } = details.codes ?? {};
  const changed = await context.carts.update(
    writeRequest(context, named, tx),
    (cart, cartContext) => {
      // Its buyer goes on with a copy, which this change would not reach.
      if (cart.pickedUpAt) throw new Refusal('CART_TOKEN_ENDED');
      const replaced = lines && replaceLines(cart, lines, cartContext);
      refusals = replaced?.refusals ?? [];
      const patch = { ...replaced?.patch, ...(lines && setLocale(context.locale)) };
      const { buyer: _known, ...others } = details.sent;
      const sent = !lines && cart.assistantNotes?.buyer ? others : details.sent;
      const applied = applyDetails({ ...cart, ...patch }, { ...details, sent, offered }, cartContext, isNew);
      ({ messages } = applied);
      return { ...patch, ...applied.patch };
    },
    { productIds: (lines ?? []).map(({ productId }) => productId), ...(codeKey && { codeKey }) },
  );
  const refused = [...unknown.map(unknownMessage), ...refusals.map(refusalMessage)];
  return {
    changed,
    offered,
    notes: [...refused, ...messages, ...(lines ? changedQuantities(changed, lines, context) : [])],
  };
}

async function showReplaced(
  named: NamedCart,
  { changed, notes, offered }: ReplacedCart,
  context: AssistantContext,
  capability: Capability,
  show: ShowCart,
): Promise<object> {
  const [first] = notes;
  if (first && changed.cart.lines.length === 0) {
    return failure(capability, first.code, first.content, context.home);
  }
  return showOpen(named, changed, offered, context, capability, show, notes);
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
  { priced }: PricedCart,
  wanted: readonly WantedLine[],
  { locale, settings }: AssistantContext,
): Message[] {
  const messages = messagesIn(locale).storefront.cart;
  return shownLines(priced.content).flatMap((line, index): Message[] => {
    const asked = wanted
      .filter(({ productId }) => productId === line.productId)
      .reduce((sum, { quantity }) => sum + quantity, 0);
    const stored = Number(line.quantity);
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
async function findWanted(
  context: AssistantContext,
  request: CartRequest,
  capability: Capability,
): Promise<Wanted> {
  const { line_items: items, discounts, buyer, fulfillment, payment } = request;
  const extensions = extensionsOf(capability, context.capabilities);
  const codes =
    discounts?.codes && extensions.includes(DISCOUNT) ? await context.findCodes(discounts.codes) : undefined;
  const ids = items.map(({ item }) => item.id);
  const matches = await findMatches(context, [...new Set(ids)]);
  const products = await readProducts(context, [...matches.values()]);
  const productOf = (id: string) =>
    products.find(({ productId }) => productId === matches.get(id)?.productId);
  const lines = items.flatMap(({ item, quantity }) => {
    const product = productOf(item.id);
    if (!product) return [];
    const unit = quantityUnit(product, context);
    requireUnit(item.quantity_unit, unit);
    return [{ productId: product.productId, quantity: quantity / 10 ** (unit?.scale ?? 0) }];
  });
  const sent = { ...(buyer && { buyer }), ...(fulfillment && { fulfillment }), ...(payment && { payment }) };
  return {
    lines,
    unknown: ids.filter((id) => !productOf(id)),
    details: { sent, codes, extensions },
  };
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
