import { isId } from '../../kernel/ids.ts';

/**
 * The protocol knows no token of a cart, so the id of a cart holds it: anyone who has the id may see and change the cart, as
 * with the token of the API. The database has only its hash.
 */
export interface NamedCart {
  cartId: string;
  token: string;
  /** No token is needed, because the assistant has proved that the session of the cart is its own. */
  isAdmitted?: true;
}

export const cartIdText = ({ cartId, token }: NamedCart) => `${cartId}.${token}`;

/** undefined: no cart has such an id. */
export function parseCartId(text: string): NamedCart | undefined {
  const [cartId = '', token = '', ...more] = text.split('.', 3);
  return isId(cartId) && /^[\w-]{1,100}$/.test(token) && more.length === 0 ? { cartId, token } : undefined;
}
