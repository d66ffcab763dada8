import { Type, type Static } from 'typebox';
import { AddressRequest } from '../shops/countries/address.ts';
import { operation, type PrepareStoreCall } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id } from '../http/schemas.ts';
import type { CartStore } from './cart-store.ts';
import { removeAddress, setAddress } from './changes.ts';
import { answerCart, CART_ETAG } from './render.ts';
import { Cart } from './schema.ts';

const cartOperation = {
  tag: 'carts',
  labels: ['Base', 'Now'],
  action: 'Update cart',
  access: 'cart token',
  params: Type.Object({ cartId: Id }),
  answer: Cart,
  ...CART_ETAG,
  keepsKeyOrder: true,
} as const;

export const updateBillingAddress = operation({
  ...cartOperation,
  method: 'PUT',
  path: '/carts/:cartId/billing-address',
  name: 'updateBillingAddress',
  summary: 'Update billing address',
  description:
    'Replaces the whole address. Country, emailAddress and the fields that the shop requires must be given.',
  body: AddressRequest,
});

const deleteBillingAddress = operation({
  ...cartOperation,
  method: 'DELETE',
  path: '/carts/:cartId/billing-address',
  name: 'deleteBillingAddress',
  summary: 'Delete billing address',
});

export const updateShippingAddress = operation({
  ...cartOperation,
  method: 'PUT',
  path: '/carts/:cartId/shipping-address',
  name: 'updateShippingAddress',
  summary: 'Update shipping address',
  description: 'Replaces the whole address. Country is required.',
  body: AddressRequest,
});

const deleteShippingAddress = operation({
  ...cartOperation,
  method: 'DELETE',
  path: '/carts/:cartId/shipping-address',
  name: 'deleteShippingAddress',
  summary: 'Delete shipping address',
});

const ADDRESSES = [
  { key: 'billingAddress', update: updateBillingAddress, remove: deleteBillingAddress },
  { key: 'shippingAddress', update: updateShippingAddress, remove: deleteShippingAddress },
] as const;

export function addresses(api: Operations, carts: CartStore): void {
  for (const { key, update, remove } of ADDRESSES) {
    // A number that is not given costs nothing; one that is given is checked before the cart is changed.
    const prepare = async (
      call: PrepareStoreCall<{ cartId: string }, unknown, Static<typeof AddressRequest>>,
    ) => (hasNumber(call.body) ? carts.checkVatNumber(call, numbered(call.body)) : undefined);
    const hasNumber = ({ vatId }: Static<typeof AddressRequest>) =>
      key === 'billingAddress' && Boolean(vatId);
    api.writeWithStore({ ...update, prepare }, async (call) => {
      const changed = await carts.update(call, (cart, context) => {
        // Inside of a transaction no register can be asked: its caller has asked before.
        const isAsked = call.transaction && hasNumber(call.body) && !cart.buyer?.vatCheck;
        const check =
          call.prepared ?? (isAsked ? carts.lastVatCheck(numbered(call.body), context.settings) : undefined);
        return setAddress(key, call.body, cart, context, check);
      });
      return answerCart(call, changed);
    });

    api.writeWithStore(remove, async (call) => {
      const changed = await carts.update(call, (cart) => removeAddress(key, cart));
      return answerCart(call, changed);
    });
  }
}

const numbered = ({ vatId, country }: Static<typeof AddressRequest>) => ({
  vatId: vatId ?? null,
  country: country?.toUpperCase() ?? null,
});
