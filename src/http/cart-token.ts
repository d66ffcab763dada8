import { isSecretOf, newSecret, secretHash } from '../kernel/ids.ts';
import { Refusal } from './errors.ts';

/** Node gives header names in lower case, so all three spellings used by clients arrive here. */
export const CART_TOKEN_HEADER = 'x-epages-cart-token';

/** A new token for a cart: the text is sent once, in the answer's header; the hash is stored with the cart. */
export function newCartToken(): { token: string; hash: Buffer } {
  const token = newSecret(24);
  return { token, hash: secretHash(token) };
}

/** The holder of the token owns the cart. */
export function requireCartToken(sent: string | undefined, hash: Buffer): void {
  if (sent === undefined || !isSecretOf(sent, hash)) throw wrongCartToken();
}

export function wrongCartToken() {
  return new Refusal('CART_TOKEN_WRONG');
}
