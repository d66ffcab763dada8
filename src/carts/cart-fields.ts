import { Type } from 'typebox';
import { deleteValuesOfOtherLines } from '../fields/queries.ts';
import { audienceOf } from '../fields/access.ts';
import { fieldOperations, fieldValues, findShownFields, type FieldedThing } from '../fields/values.ts';
import type { ReadCall } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id } from '../http/schemas.ts';
import { type RenderContext, lineIdsOf, linesWithFields } from '../orders/render.ts';
import type { Cart } from './schema.ts';
import type { CartStore } from './cart-store.ts';
import type { StoredCart } from './cart.ts';

const shared = { tag: 'carts', read: 'cart token', write: 'cart token' } as const;

export const cartFieldOperations = fieldOperations({
  ...shared,
  noun: 'cart',
  name: 'Cart',
  path: '/carts/:cartId',
  params: Type.Object({ cartId: Id }),
});

export const cartLineFieldOperations = fieldOperations({
  ...shared,
  noun: 'cart line',
  name: 'CartLine',
  path: '/carts/:cartId/line-items/:lineItemId',
  params: Type.Object({ cartId: Id, lineItemId: Id }),
});

/** The custom fields of carts and of their lines, which go over to the order. */
export function cartFields(api: Operations, carts: CartStore): void {
  fieldValues(api, cartFieldOperations, {
    find: async (call) => cartThing((await carts.find(call)).cartId),
    lock: async (call) => cartThing((await carts.lock(call.tx, call)).cartId),
  });

  fieldValues(api, cartLineFieldOperations, {
    find: async (call) => lineThing(await carts.find(call), call.params.lineItemId),
    lock: async (call) => {
      const { tx, shopId, params } = call;
      const cart = await carts.lock(tx, call);
      const lineIds = cart.lines.map(({ lineItemId }) => lineItemId);
      // Lines come and go; so a cart never has more values than its lines may have.
      await deleteValuesOfOtherLines(tx, shopId, cart.cartId, lineIds);
      return lineThing(cart, params.lineItemId);
    },
  });
}

/** Carts with their custom fields and those of their lines, where they are asked for. */
export async function cartsWithFields(
  { db, caller, query }: ReadCall<unknown, { includeFields?: boolean }, unknown>,
  { settings, locale }: Pick<RenderContext, 'settings' | 'locale'>,
  carts: Cart[],
): Promise<Cart[]> {
  if (!query.includeFields) return carts;
  const ids = carts.flatMap(({ cartId, lineItemContainer }) => [cartId, ...lineIdsOf(lineItemContainer)]);
  const resources = ['cart', 'cartLine'] as const;
  const view = { audience: audienceOf(caller), locale };
  const fieldsOf = await findShownFields(db, settings, resources, ids, view);
  return carts.map((cart) => ({
    ...cart,
    lineItemContainer: linesWithFields(cart.lineItemContainer, fieldsOf),
    fields: fieldsOf(cart.cartId),
  }));
}

const cartThing = (cartId: string): FieldedThing => ({
  resource: 'cart',
  owner: { resourceId: cartId, cartId },
});

function lineThing(
  { cartId, lines }: Pick<StoredCart, 'cartId' | 'lines'>,
  lineItemId: string,
): FieldedThing | undefined {
  if (!lines.some((line) => line.lineItemId.toUpperCase() === lineItemId)) return undefined;
  return { resource: 'cartLine', owner: { resourceId: lineItemId, cartId } };
}
