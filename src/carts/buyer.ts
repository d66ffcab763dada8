import { Type } from 'typebox';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id } from '../http/schemas.ts';
import { BuyerAnswer, BuyerUpdate, referencesOf, toBuyer } from '../orders/buyer-schema.ts';
import { withReferences } from '../shops/vat-numbers/buyer.ts';
import type { CartStore } from './cart-store.ts';

const buyerOperation = {
  under: 'manage',
  path: '/carts/:cartId/buyer',
  tag: 'carts',
  labels: [],
  access: 'cart token',
  params: Type.Object({ cartId: Id }),
  answer: BuyerAnswer,
} as const;

export const getCartBuyer = operation({
  ...buyerOperation,
  method: 'GET',
  name: 'getCartBuyer',
  summary: 'Get cart buyer',
  description:
    'What the buyer says as a business, and whether the tax authorities know the VAT number of the billing address.',
});

export const updateCartBuyer = operation({
  ...buyerOperation,
  method: 'PUT',
  name: 'updateCartBuyer',
  summary: 'Update cart buyer',
  description:
    'Replaces the reference and the order number of the buyer, which the order and its invoices name. What is missing is removed.',
  body: BuyerUpdate,
});

export function cartBuyer(api: Operations, carts: CartStore): void {
  api.read(getCartBuyer, async (call) => toBuyer((await carts.find(call)).buyer));

  api.writeWithStore(updateCartBuyer, async (call) => {
    const references = referencesOf(call.body);
    const changed = await carts.update(call, ({ buyer }) => ({ buyer: withReferences(buyer, references) }));
    return toBuyer(changed.cart.buyer);
  });
}
