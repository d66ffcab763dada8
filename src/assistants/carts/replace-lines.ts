import { addLines } from '../../carts/lines.ts';
import type { CartContext, CartPatch, CartRow } from '../../carts/cart.ts';

/** What a request puts into a cart, in the units of the shop. */
export interface WantedLine {
  productId: string;
  quantity: number;
}

/** The lines of a cart after all of them were replaced, and why some could not be added. */
export interface ReplacedLines {
  patch: CartPatch;
  refusals: Error[];
}

/** A product that stays keeps the id of its line. */
export function replaceLines(
  cart: CartRow,
  wanted: readonly WantedLine[],
  context: CartContext,
): ReplacedLines {
  const { lines, refusals } = addLines({ ...cart, lines: [] }, wanted, context, { mayFail: true });
  const named = lines.map((line) => {
    const former = cart.lines.find(({ productId }) => productId === line.productId);
    return former ? { ...line, lineItemId: former.lineItemId } : line;
  });
  return { patch: { lines: named }, refusals };
}
