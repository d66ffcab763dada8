import { Type } from 'typebox';
import type { Caller } from '../http/callers.ts';
import type { Operations } from '../http/operation.ts';
import { Id } from '../http/schemas.ts';
import { newId } from '../kernel/ids.ts';
import { amountOf } from '../catalogue/products/requests.ts';
import { changedCart, type Change, type OpenCart } from './change.ts';
import { lineOf, namedProducts, replaced, withAll, withMore, withQuantity, type Shelf } from './lines.ts';
import { Cart, LinePrice, LineUpdate, ManyNewLines, NewLine } from './schema.ts';

const facts = {
  tag: 'carts',
  labels: ['Base', 'Now'],
  action: 'Update cart',
  access: 'cart token',
  answer: Cart,
} as const;
const params = Type.Object({ cartId: Id });
const lineParams = Type.Object({ cartId: Id, lineItemId: Id });
const CORRECTED =
  'The quantity is raised to the least order and the next step, and lowered to what is in stock and to what one order may hold (maxOrder of the product): compare it with what was sent.';

export function lineItems(api: Operations): void {
  api.change(
    {
      ...facts,
      method: 'POST',
      path: '/carts/:cartId/line-items',
      name: 'createLineItem',
      summary: 'Create line item',
      description: `More of a product that is in the cart already goes into its line. ${CORRECTED}`,
      params,
      body: NewLine,
      status: 201,
    },
    async (call) => {
      const { db, body, caller } = call;
      return changedCart(call, adding(body, db.now, caller), { productIds: namedProducts([body]) });
    },
  );

  api.change(
    {
      ...facts,
      method: 'POST',
      path: '/carts/:cartId/multi-line-items',
      name: 'createLineItems',
      summary: 'Create line items',
      description: `What can not go in is left out, and status is PartiallyComplete. ${CORRECTED}`,
      params,
      body: ManyNewLines,
      status: 201,
    },
    async (call) => {
      const { db, body, caller } = call;
      const change = ({ cart, settings }: OpenCart) => {
        const shelf = shelfOf({ cart, settings }, db.now, caller);
        const { lines, refusals } = withAll(cart.lines, body, shelf, () => newId(db.now), { mayFail: true });
        const status = refusals.length === 0 ? ('Complete' as const) : ('PartiallyComplete' as const);
        return { changed: { lines }, status };
      };
      return changedCart(call, change, { productIds: namedProducts(body) });
    },
  );

  api.change(
    {
      ...facts,
      method: 'PUT',
      path: '/carts/:cartId/line-items/:lineItemId',
      name: 'updateLineItem',
      summary: 'Update line item',
      description: CORRECTED,
      params: lineParams,
      body: LineUpdate,
    },
    async (call) => {
      const { db, params, body } = call;
      return changedCart(call, changingQuantity(params.lineItemId, body.quantity, db.now));
    },
  );

  api.change(
    {
      ...facts,
      method: 'DELETE',
      path: '/carts/:cartId/line-items/:lineItemId',
      name: 'deleteLineItem',
      summary: 'Delete line item',
      params: lineParams,
    },
    async (call) => changedCart(call, takingOut(call.params.lineItemId)),
  );

  api.change(
    {
      ...facts,
      method: 'PUT',
      path: '/carts/:cartId/line-items/:lineItemId/product-price',
      name: 'updateLineItemPrice',
      summary: 'Update line item price',
      description: 'For this line only, until it is taken away; tiers do not change it.',
      access: { cartTokenAnd: 'carts_price_write' },
      params: lineParams,
      body: LinePrice,
    },
    async (call) => {
      const { params, body } = call;
      return changedCart(call, ({ cart }) => {
        const line = lineOf(cart, params.lineItemId);
        const price = amountOf(body.singleItemPrice, cart.currency, 'singleItemPrice');
        return { changed: { lines: replaced(cart.lines, { ...line, price }) } };
      });
    },
  );
}

/** The product must be wanted beside the cart. Without a caller it is a visitor of the storefront. */
export function adding(line: NewLine, now: Date, caller?: Caller): Change {
  return (open) => ({
    changed: { lines: withMore(open.cart.lines, line, shelfOf(open, now, caller), () => newId(now)) },
  });
}

export function changingQuantity(lineItemId: string, quantity: number | string, now: Date): Change {
  return (open) => {
    const { cart } = open;
    const line = lineOf(cart, lineItemId);
    return { changed: { lines: withQuantity(cart.lines, line, quantity, shelfOf(open, now)) } };
  };
}

export function takingOut(lineItemId: string): Change {
  return ({ cart }) => {
    const line = lineOf(cart, lineItemId);
    return { changed: { lines: cart.lines.filter((one) => one !== line) } };
  };
}

function shelfOf({ cart, settings }: OpenCart, now: Date, caller?: Caller): Shelf {
  const { currency, products, appId } = cart;
  return { currency, products, settings, now, caller, isOfApp: appId !== null };
}
