import { Type, type Static } from 'typebox';
import type { AppCalls } from '../apps/calls/calls.ts';
import type { Database } from '../db/database.ts';
import { cachedSettings } from '../shops/settings/settings.ts';
import { Refusal } from '../http/errors.ts';
import { operation, type PrepareStoreCall } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id } from '../http/schemas.ts';
import type { CartStore } from './cart-store.ts';
import { choosePayment, chooseShipping, setPayment } from './changes.ts';
import { askForDelivery, isOfShop } from './delivery-options.ts';
import { answerCart, CART_ETAG } from './render.ts';
import { Cart, PaymentUpdate, ShippingUpdate } from './schema.ts';

const cartOperation = {
  method: 'PUT',
  tag: 'carts',
  labels: ['Base', 'Now'],
  action: 'Update cart',
  access: { cartTokenAnd: 'carts_price_write' },
  params: Type.Object({ cartId: Id }),
  answer: Cart,
  ...CART_ETAG,
  keepsKeyOrder: true,
} as const;

export const updatePaymentData = operation({
  ...cartOperation,
  path: '/carts/:cartId/payment-data',
  name: 'updatePaymentData',
  summary: 'Update payment data',
  description:
    'Without an id: a payment with its own name and price, outside the methods of the shop; paymentMethod becomes null, and only the merchant sees the name. With an id: one of the methods, with the data of its provider.',
  body: PaymentUpdate,
});

export const updateShippingData = operation({
  ...cartOperation,
  path: '/carts/:cartId/shipping-data',
  name: 'updateShippingData',
  summary: 'Update shipping data',
  description:
    'All items of the cart must be deliverable by the method. If the items change and it is no longer possible, the first possible method replaces it.',
  body: ShippingUpdate,
});

export function paymentAndShipping(
  api: Operations,
  { carts, calls, db }: { carts: CartStore; calls: AppCalls; db: Database },
): void {
  api.writeWithStore(updatePaymentData, async (call) => {
    const { body } = call;
    const changed = await carts.update(call, (cart, context) =>
      body.id ? choosePayment(body.id, body, context) : setPayment(cart, body),
    );
    return answerCart(call, changed);
  });

  // Apps are asked before any transaction, and only for what is no method of the shop.
  const prepare = async (
    call: PrepareStoreCall<{ cartId: string }, unknown, Static<typeof ShippingUpdate>>,
  ) => {
    const { shopId, origin, body } = call;
    const known = cachedSettings(db, shopId);
    if (known && isOfShop(body.id, known)) return undefined;
    const open = await carts.open(call);
    if (isOfShop(body.id, open.settings)) return undefined;
    return askForDelivery(calls, open, origin, db.atClockOf(shopId).now);
  };
  api.writeWithStore({ ...updateShippingData, prepare }, async (call) => {
    const { body, prepared } = call;
    const { options = [], missing = null } = prepared ?? {};
    const isOffered = options.some(({ shippingMethodId }) => shippingMethodId === body.id.toUpperCase());
    if (missing !== null && !isOffered) throw new Refusal('APP_NOT_ANSWERING', { app: missing });
    const changed = await carts.update(call, (cart, context) => chooseShipping(cart, body, context, options));
    return answerCart(call, changed);
  });
}
