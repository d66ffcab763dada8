import { Type, type Static } from 'typebox';
import type { Database, Queries } from '../db/database.ts';
import { notFound, Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { priceOf } from '../http/price.ts';
import { Id } from '../http/schemas.ts';
import { cardPayments, giftCardState, type CardPayment, type GiftCard } from '../giftcards/card.ts';
import { giftCardCodeHash } from '../giftcards/code.ts';
import { findGiftCardByCode, findGiftCardsByIds } from '../giftcards/queries.ts';
import { CartGiftCards, GiftCardCodeBody } from '../giftcards/schema.ts';
import type { CartContext, CartPatch, PricedCart, StoredCart } from './cart.ts';
import type { CartStore } from './cart-store.ts';
import type { Content } from '../pricing/content.ts';
import { giftCardLimit, UnknownGiftCard } from './gift-card-limit.ts';

/** More than people have, and few rows to lock for an order. */
const MAX_CARDS = 10;

const cartOperation = {
  tag: 'carts',
  labels: [],
  action: 'Update cart',
  access: 'cart token',
  answer: CartGiftCards,
} as const;

const getCartGiftCards = operation({
  ...cartOperation,
  method: 'GET',
  path: '/carts/:cartId/gift-cards',
  name: 'getCartGiftCards',
  summary: 'Get gift cards of a cart',
  description:
    'The cards that the cart is paid with, and what is left for its payment method. Gift cards are no discount: the total of the cart stays as it is.',
  action: 'Get gift cards of a cart',
  params: Type.Object({ cartId: Id }),
});

const addCartGiftCard = operation({
  ...cartOperation,
  method: 'POST',
  path: '/carts/:cartId/gift-cards',
  name: 'addCartGiftCard',
  summary: 'Add gift card to a cart',
  description: `A cart is paid with at most ${MAX_CARDS} cards. Nothing is taken from a card before the order; an order for which it no longer has its part is refused with 409. Unknown codes are limited to prevent guessing: 20 per hour, shop and client address, and with an access token 20 per hour and cart; then 429 with Retry-After. 409: the card is empty, blocked, expired or in another currency.`,
  failureLimit: ({ shopId, params, caller, address }) =>
    giftCardLimit({ shopId, address, appCartId: caller.app && params['cartId']! }),
  params: Type.Object({ cartId: Id }),
  body: GiftCardCodeBody,
  status: 201,
});

const deleteCartGiftCard = operation({
  ...cartOperation,
  method: 'DELETE',
  path: '/carts/:cartId/gift-cards/:giftCardId',
  name: 'deleteCartGiftCard',
  summary: 'Remove gift card from a cart',
  params: Type.Object({ cartId: Id, giftCardId: Id }),
});

export function cartGiftCards(api: Operations, { carts, db }: { carts: CartStore; db: Database }): void {
  api.read(getCartGiftCards, async (call) => toAnswer(call.db, call.shopId, await carts.open(call)));

  api.writeWithStore(addCartGiftCard, async (call) => {
    const queries = call.transaction ?? db.atClockOf(call.shopId);
    const card = await findGiftCardByCode(queries, call.shopId, giftCardCodeHash(call.body.code));
    const changed = await carts.update(call, (cart, context) => addGiftCard(cart, card, context));
    return toAnswer(queries, call.shopId, changed);
  });

  api.writeWithStore(deleteCartGiftCard, async (call) => {
    const queries = call.transaction ?? db.atClockOf(call.shopId);
    const changed = await carts.update(call, (cart) => removeGiftCard(cart, call.params.giftCardId));
    return toAnswer(queries, call.shopId, changed);
  });
}

/** Adds the card with a code; undefined: no card has this code. One that the cart has already stays in its place. */
export function addGiftCard(
  { giftCardIds, currency }: Pick<StoredCart, 'giftCardIds' | 'currency'>,
  card: GiftCard | undefined,
  { now }: Pick<CartContext, 'now'>,
): CartPatch {
  if (!card) throw new UnknownGiftCard();
  const state = giftCardState(card, now);
  if (state === 'expired') throw new Refusal('GIFT_CARD_EXPIRED');
  if (state === 'blocked') throw new Refusal('GIFT_CARD_BLOCKED');
  if (card.currency !== currency) throw new Refusal('GIFT_CARD_CURRENCY', { currency: card.currency });
  if (card.balance === 0) throw new Refusal('GIFT_CARD_EMPTY');
  if (giftCardIds.includes(card.giftCardId)) return {};
  if (giftCardIds.length >= MAX_CARDS) throw new Refusal('GIFT_CARDS_FULL', { limit: MAX_CARDS });
  return { giftCardIds: [...giftCardIds, card.giftCardId] };
}

export function removeGiftCard(
  { giftCardIds }: Pick<StoredCart, 'giftCardIds'>,
  giftCardId: string,
): CartPatch {
  const removed = giftCardId.toUpperCase();
  if (!giftCardIds.includes(removed)) throw notFound('giftCardId');
  return { giftCardIds: giftCardIds.filter((id) => id !== removed) };
}

/** The amounts that the cards of a cart would pay if it was ordered now. */
export async function findCardPayments(
  db: Queries,
  shopId: string,
  { cart, priced }: PricedCart,
): Promise<CardPayment[]> {
  const cards = await findGiftCardsByIds(db, shopId, cart.giftCardIds);
  return cardPayments(cards, payableByCards(priced.content), cart.currency, db.now);
}

/** Cards don't buy cards: money would get a new expiry by it. */
function payableByCards({ grandTotal, lines }: Pick<Content, 'grandTotal' | 'lines'>): number {
  return grandTotal - lines.reduce((sum, { giftCard, amount }) => (giftCard ? sum + amount : sum), 0);
}

async function toAnswer(
  db: Queries,
  shopId: string,
  priced: PricedCart,
): Promise<Static<typeof CartGiftCards>> {
  const { currency, locale } = priced.cart;
  const payments = await findCardPayments(db, shopId, priced);
  const price = (minor: number) => priceOf(minor, currency, 'GROSS', locale);
  return {
    items: payments.map(({ giftCardId, lastCharacters, amount }) => ({
      giftCardId,
      lastCharacters,
      amount: price(amount),
    })),
    outstandingAmount: price(outstandingAfter(payments, priced.priced.content)),
  };
}

/** The amount left for the payment method, in minor units. */
export function outstandingAfter(
  payments: readonly CardPayment[],
  { grandTotal }: { grandTotal: number },
): number {
  return Math.max(0, grandTotal) - payments.reduce((sum, { amount }) => sum + amount, 0);
}
