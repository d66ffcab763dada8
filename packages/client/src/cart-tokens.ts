import type { Middleware } from 'openapi-fetch';
import type { Cart } from './schema.ts';

/**
 * Where the tokens of carts are stored. A `Map` will do in a browser, where the client belongs to one visitor. On a
 * server it must hold the carts of one visitor only: who reaches a client with the token of a cart owns that cart.
 */
export interface CartTokens {
  get(cartId: string): string | undefined | Promise<string | undefined>;
  set(cartId: string, token: string): unknown;
}

const HEADER = 'x-epages-cart-token';

/** Stores the token of a cart that is created, and sends it with every call on that cart. */
export function cartTokenHeaders(tokens: CartTokens): Middleware {
  return {
    async onRequest({ request, params }) {
      const cartId = params.path?.['cartId'];
      if (typeof cartId !== 'string' || request.headers.has(HEADER)) return;
      const token = await tokens.get(cartId.toUpperCase());
      if (token !== undefined) request.headers.set(HEADER, token);
    },
    async onResponse({ response }) {
      const token = response.headers.get(HEADER);
      if (token === null) return;
      const { cartId } = (await response.clone().json()) as Cart;
      await tokens.set(cartId, token);
    },
  };
}
