import { Type } from 'typebox';
import { AddressRequest, toAddress } from '../customers/address.ts';
import type { Operations } from '../http/operation.ts';
import { Id } from '../http/schemas.ts';
import { changedCart } from './change.ts';
import { Cart } from './schema.ts';

const facts = {
  tag: 'carts',
  labels: ['Base', 'Now'],
  action: 'Update cart',
  access: 'cart token',
  params: Type.Object({ cartId: Id }),
  answer: Cart,
} as const;

const ADDRESSES = [
  {
    path: 'billing-address',
    key: 'billingAddress',
    noun: 'billing address',
    name: 'BillingAddress',
    required: ['country', 'emailAddress'],
    description:
      'Replaces the whole address. Country and emailAddress are required, and what the shop demands beside them.',
  },
  {
    path: 'shipping-address',
    key: 'shippingAddress',
    noun: 'shipping address',
    name: 'ShippingAddress',
    required: ['country'],
    description: 'Replaces the whole address. Country is required.',
  },
] as const;

export function addresses(api: Operations): void {
  for (const { path, key, noun, name, required, description } of ADDRESSES) {
    api.change(
      {
        ...facts,
        method: 'PUT',
        path: `/carts/:cartId/${path}`,
        name: `update${name}`,
        summary: `Update ${noun}`,
        description,
        body: AddressRequest,
      },
      async (call) =>
        changedCart(call, ({ settings }) => {
          const demanded = key === 'billingAddress' ? settings.mandatoryAddressFields : [];
          const address = toAddress(call.body, '', [...required, ...demanded]);
          return { changed: { [key]: JSON.stringify(address) } };
        }),
    );

    api.change(
      {
        ...facts,
        method: 'DELETE',
        path: `/carts/:cartId/${path}`,
        name: `delete${name}`,
        summary: `Delete ${noun}`,
      },
      async (call) => changedCart(call, () => ({ changed: { [key]: null } })),
    );
  }
}
