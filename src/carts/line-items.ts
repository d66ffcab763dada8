import { Type } from 'typebox';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id } from '../http/schemas.ts';
import type { CartChange } from './cart.ts';
import type { CartStore } from './cart-store.ts';
import { addLine, addLines, namedProducts, removeLine, setLinePrice, setQuantity } from './lines.ts';
import { answerCart, CART_ETAG } from './render.ts';
import { Cart, LinePrice, LineUpdate, ManyNewLines, NewLine } from './schema.ts';

const cartOperation = {
  tag: 'carts',
  labels: ['Base', 'Now'],
  action: 'Update cart',
  access: 'cart token',
  answer: Cart,
  ...CART_ETAG,
  keepsKeyOrder: true,
} as const;
const params = Type.Object({ cartId: Id });
const lineParams = Type.Object({ cartId: Id, lineItemId: Id });
const CORRECTED =
  'The quantity is raised to the minimum order and the next step, and lowered to the stock and the maximum order (maxOrder of the product): compare it with the quantity you sent.';

const createLineItem = operation({
  ...cartOperation,
  method: 'POST',
  path: '/carts/:cartId/line-items',
  name: 'createLineItem',
  summary: 'Create line item',
  description: `Adding a product that is already in the cart raises the quantity of its line. ${CORRECTED}`,
  params,
  body: NewLine,
  status: 201,
});

const createLineItems = operation({
  ...cartOperation,
  method: 'POST',
  path: '/carts/:cartId/multi-line-items',
  name: 'createLineItems',
  summary: 'Create line items',
  description: `Lines that cannot be added are left out, and status is PartiallyComplete. ${CORRECTED}`,
  params,
  body: ManyNewLines,
  status: 201,
});

const updateLineItem = operation({
  ...cartOperation,
  method: 'PUT',
  path: '/carts/:cartId/line-items/:lineItemId',
  name: 'updateLineItem',
  summary: 'Update line item',
  description: CORRECTED,
  params: lineParams,
  body: LineUpdate,
});

const deleteLineItem = operation({
  ...cartOperation,
  method: 'DELETE',
  path: '/carts/:cartId/line-items/:lineItemId',
  name: 'deleteLineItem',
  summary: 'Delete line item',
  params: lineParams,
});

export const updateLineItemPrice = operation({
  ...cartOperation,
  method: 'PUT',
  path: '/carts/:cartId/line-items/:lineItemId/product-price',
  name: 'updateLineItemPrice',
  summary: 'Update line item price',
  description: 'Applies to this line only, until the line is removed. Price tiers do not change it.',
  access: { cartTokenAnd: 'carts_price_write' },
  params: lineParams,
  body: LinePrice,
});

export function lineItems(api: Operations, carts: CartStore): void {
  api.writeWithStore(createLineItem, async (call) => {
    const { body } = call;
    const productIds = namedProducts([body]);
    const changed = await carts.update(call, (cart, context) => addLine(cart, body, context), {
      productIds,
    });
    return answerCart(call, changed);
  });

  api.writeWithStore(createLineItems, async (call) => {
    const { body } = call;
    let isComplete = true;
    const change: CartChange = (cart, context) => {
      const { lines, refusals } = addLines(cart, body, context, { mayFail: true });
      isComplete = refusals.length === 0;
      return { lines };
    };
    const changed = await carts.update(call, change, { productIds: namedProducts(body) });
    const status = isComplete ? 'Complete' : 'PartiallyComplete';
    return answerCart(call, changed, status);
  });

  api.writeWithStore(updateLineItem, async (call) => {
    const { params, body } = call;
    const changed = await carts.update(call, (cart, context) =>
      setQuantity(cart, params.lineItemId, body.quantity, context),
    );
    return answerCart(call, changed);
  });

  api.writeWithStore(deleteLineItem, async (call) => {
    const changed = await carts.update(call, (cart) => removeLine(cart, call.params.lineItemId));
    return answerCart(call, changed);
  });

  api.writeWithStore(updateLineItemPrice, async (call) => {
    const { params, body } = call;
    const changed = await carts.update(call, (cart) =>
      setLinePrice(cart, params.lineItemId, body.singleItemPrice),
    );
    return answerCart(call, changed);
  });
}
