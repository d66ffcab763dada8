import { Type } from 'typebox';
import { AddressRequest } from '../shops/countries/address.ts';
import type { Operations } from '../http/operation.ts';
import { Id } from '../http/schemas.ts';
import type { CartStore } from './cart-store.ts';
import { removeAddress, setAddress } from './changes.ts';
import { CART_ETAG, toCart } from './render.ts';
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

const ADDRESSES = [
  {
    path: 'billing-address',
    key: 'billingAddress',
    noun: 'billing address',
    name: 'BillingAddress',
    description:
      'Replaces the whole address. Country and emailAddress are required, and what the shop demands beside them.',
  },
  {
    path: 'shipping-address',
    key: 'shippingAddress',
    noun: 'shipping address',
    name: 'ShippingAddress',
    description: 'Replaces the whole address. Country is required.',
  },
] as const;

export function addresses(api: Operations, carts: CartStore): void {
  for (const { path, key, noun, name, description } of ADDRESSES) {
    api.writeWithStore(
      {
        ...cartOperation,
        method: 'PUT',
        path: `/carts/:cartId/${path}`,
        name: `update${name}`,
        summary: `Update ${noun}`,
        description,
        body: AddressRequest,
      },
      async (call) => {
        const changed = await carts.update(call, (_cart, context) => setAddress(key, call.body, context));
        return toCart(changed, { origin: call.origin, hasPickup: true });
      },
    );

    api.writeWithStore(
      {
        ...cartOperation,
        method: 'DELETE',
        path: `/carts/:cartId/${path}`,
        name: `delete${name}`,
        summary: `Delete ${noun}`,
      },
      async (call) => {
        const changed = await carts.update(call, () => removeAddress(key));
        return toCart(changed, { origin: call.origin, hasPickup: true });
      },
    );
  }
}
