import { addGiftCard, outstandingAfter, removeGiftCard } from '../../carts/gift-cards.ts';
import { giftCardLimit, UnknownGiftCard } from '../../carts/gift-card-limit.ts';
import type { VisitorCart } from '../../checkout/visitor-cart.ts';
import { giftCardCodeHash, MAX_GIFT_CARD_CODE_LENGTH } from '../../giftcards/code.ts';
import { findGiftCardByCode, hasGiftCards } from '../../giftcards/queries.ts';
import { isRefusal, Refusal } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import { moneyText } from '../../http/price-text.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { OrderPayment } from '../../orders/manage-queries.ts';
import { codeForm, type RejectedCode } from '../cart/code-form.ts';
import { setSessionCart, updateVisitorCart } from '../cart/visitor-cart.ts';
import type { Page } from '../page.ts';
import type { ShopFormRequest } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';

/** The cards of the cart, and the field for the code of another one. */
export async function giftCardForms(
  visit: Visit,
  { giftCards }: VisitorCart,
  rejected: RejectedCode | undefined,
): Promise<Markup | false> {
  // Most shops have no gift cards, and so no field for them.
  if (!(await hasGiftCards(visit.db, visit.shopId))) return false;
  const messages = messagesIn(visit.locale).storefront.checkout.giftCards;
  return html`<section aria-labelledby="gift-cards">
    <h2 id="gift-cards">${messages.title}</h2>
    ${giftCards.map(
      ({ giftCardId, lastCharacters: end, isRedeemable }) =>
        html`<form method="post" action="${shopPath(visit, '/checkout/gift-cards/remove')}">
          ${!isRedeemable && html`<p class="error">${messages.notRedeemable({ end })}</p>`}
          <input type="hidden" name="card" value="${giftCardId}" />
          <button class="quiet">${messages.remove({ end })}</button>
        </form>`,
    )}
    ${codeForm(visit, {
      path: '/checkout/gift-cards',
      id: 'gift-card',
      label: messages.code,
      maxLength: MAX_GIFT_CARD_CODE_LENGTH,
      button: messages.add,
      rejected,
    })}
  </section>`;
}

/** What the cards of a cart pay, and what is left. */
export function giftCardSums(visit: Visit, { giftCards, priced, cart }: VisitorCart): Markup | false {
  const { title } = messagesIn(visit.locale).storefront.checkout.giftCards;
  const rows = giftCards
    .filter(({ amount }) => amount > 0)
    .map(({ lastCharacters, amount }) => ({ name: `${title} •••• ${lastCharacters}`, amount }));
  return paidByCards(visit, rows, {
    left: outstandingAfter(giftCards, priced.content),
    currency: cart.currency,
  });
}

/** The same of an order. */
export function orderCardSums(
  visit: Visit,
  payments: readonly Pick<OrderPayment, 'kind' | 'amount' | 'giftCardId'>[],
  rest: { left: number; currency: string },
): Markup | false {
  const { title } = messagesIn(visit.locale).storefront.checkout.giftCards;
  const rows = payments
    .filter(({ kind, giftCardId }) => kind === 'payment' && giftCardId !== null)
    .map(({ amount }) => ({ name: title, amount }));
  return paidByCards(visit, rows, rest);
}

function paidByCards(
  { locale }: Visit,
  rows: readonly { name: string; amount: number }[],
  { left, currency }: { left: number; currency: string },
): Markup | false {
  if (rows.length === 0) return false;
  const messages = messagesIn(locale).storefront.checkout.giftCards;
  return html`<dl class="summary">
    ${rows.map(
      ({ name, amount }) =>
        html`<dt>${name}</dt>
          <dd>${moneyText(-amount, currency, locale)}</dd>`,
    )}
    <dt class="total">${messages.left}</dt>
    <dd class="total">${moneyText(left, currency, locale)}</dd>
  </dl>`;
}

/** Adds the card with the typed code; `reject` shows the form again. */
export async function addTypedCard(
  visit: Visit,
  cartId: string,
  { field, limitFailures }: ShopFormRequest,
  reject: (rejected: RejectedCode) => Promise<Page | Redirect>,
): Promise<Page | Redirect> {
  const { db, shopId, locale } = visit;
  const messages = messagesIn(locale).storefront.checkout.giftCards;
  const code = field('code');
  if (code.trim() === '') return reject({ code, message: messages.missing });
  try {
    return await limitFailures(
      (address) => giftCardLimit({ shopId, address }),
      async () => {
        const card = await findGiftCardByCode(db, shopId, giftCardCodeHash(code));
        const changed = await updateVisitorCart(visit, cartId, (cart, context) =>
          addGiftCard(cart, card, context),
        );
        if (changed) setSessionCart(visit, changed);
        return new Redirect(shopPath(visit, '/checkout/review'));
      },
    );
  } catch (error) {
    const message = rejection(error, locale);
    if (message === undefined) throw error;
    return reject({ code, message });
  }
}

/** A card that another tab has removed is gone already. */
export async function removeChosenCard(visit: Visit, cartId: string, giftCardId: string): Promise<Redirect> {
  const changed = await updateVisitorCart(visit, cartId, (cart) =>
    cart.giftCardIds.includes(giftCardId.toUpperCase()) ? removeGiftCard(cart, giftCardId) : {},
  );
  if (changed) setSessionCart(visit, changed);
  return new Redirect(shopPath(visit, '/checkout/review'));
}

/** Why a card cannot be used; undefined: it is another error. */
function rejection(error: unknown, locale: string): string | undefined {
  const messages = messagesIn(locale).storefront.checkout.giftCards;
  if (error instanceof UnknownGiftCard) return messages.unknown;
  if (!isRefusal(error) || !(error instanceof Refusal)) return undefined;
  switch (error.code) {
    case 'GIFT_CARD_EXPIRED':
      return messages.expired;
    case 'GIFT_CARD_BLOCKED':
      return messages.blocked;
    case 'GIFT_CARD_EMPTY':
      return messages.empty;
    case 'GIFT_CARD_CURRENCY':
      return messages.otherCurrency;
    case 'GIFT_CARDS_FULL':
      return messages.full;
    default:
      return undefined;
  }
}
