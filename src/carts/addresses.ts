import { Type, type Static } from 'typebox';
import { AddressRequest, toAddress } from '../shops/countries/address.ts';
import type { Operations } from '../http/operation.ts';
import { Id } from '../http/schemas.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { changedCart, type Change } from './change.ts';
import { Cart } from './schema.ts';

const facts = {
  tag: 'carts',
  labels: ['Base', 'Now'],
  action: 'Update cart',
  access: 'cart token',
  params: Type.Object({ cartId: Id }),
  answer: Cart,
} as const;

type AddressKey = (typeof ADDRESSES)[number]['key'];

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

export function addresses(api: Operations): void {
  for (const { path, key, noun, name, description } of ADDRESSES) {
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
      async (call) => changedCart(call, settingAddress(key, call.body)),
    );

    api.change(
      {
        ...facts,
        method: 'DELETE',
        path: `/carts/:cartId/${path}`,
        name: `delete${name}`,
        summary: `Delete ${noun}`,
      },
      async (call) => changedCart(call, withoutAddress(key)),
    );
  }
}

/** What must not be empty in this address of a cart. */
export function requiredFields(key: AddressKey, { mandatoryAddressFields }: Settings): string[] {
  return key === 'billingAddress' ? ['country', 'emailAddress', ...mandatoryAddressFields] : ['country'];
}

export function settingAddress(key: AddressKey, sent: Static<typeof AddressRequest>): Change {
  return ({ settings }) => ({
    changed: { [key]: JSON.stringify(toAddress(sent, '', requiredFields(key, settings))) },
  });
}

export function withoutAddress(key: AddressKey): Change {
  return () => ({ changed: { [key]: null } });
}
