import { moneyText } from '../http/price-text.ts';
import type { Transaction } from '../db/database.ts';
import { Refusal } from '../http/errors.ts';
import { lastDayOfCard } from '../giftcards/card.ts';
import { issueGiftCard, refundToGiftCard, type IssuedGiftCard } from '../giftcards/ledger.ts';
import { findGiftCard } from '../giftcards/queries.ts';
import { newId } from '../kernel/ids.ts';
import { toDecimal } from '../kernel/money.ts';
import { queueEmails } from '../platform/email/queue.ts';
import { recordEvents } from '../platform/events/log.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { changeOrder, type OrderChanges } from './change.ts';
import { recordHistory } from './history.ts';
import { findRefundableCards, insertPayment, type OrderPayment } from './manage-queries.ts';
import { emailAddressOf } from './order-email.ts';
import { findRefundable } from './payments/queries.ts';
import type { ManagedOrder } from './queries.ts';
import { refundEmail } from './refund-email.ts';
import { revokeSoldCards } from './sold-cards/revoke.ts';

export interface RefundOptions {
  changes?: OrderChanges;
  /** Changes beside the row of the order and the payments. */
  also?: readonly string[];
  /** For the history: why the shop itself makes a refund. */
  reason?: string;
  /** The history entry of a return says what was refunded by hand. */
  isPartOfReturn?: boolean;
  /** The part of the amount that only the merchant's goodwill justifies. */
  goodwill?: Goodwill | null;
  /** `usual`: gift cards first, then money. `money`: it came in as money by mistake. `store credit`: a new gift card. */
  destination?: RefundDestination;
}

export type RefundDestination = 'usual' | 'money' | 'store credit';

export interface Goodwill {
  amount: number;
  reason: string;
}

/**
 * Refunds no more than the rest of the payments of an order that this transaction has locked. The part that gift cards
 * have paid goes back to them first, so that no return turns a card into money. Payments through a
 * provider are requested, and refunded through it a moment later; the rest has been refunded by hand, and the customer
 * is told at once. `refund.paymentId` is the id of the first part. Returns the updated order.
 */
export async function refunded(
  { tx, shopId }: { tx: Transaction; shopId: string },
  { order, appId }: { order: ManagedOrder; appId: string | null },
  amount: number,
  refund: Pick<OrderPayment, 'paymentId' | 'reference' | 'note' | 'returnId'>,
  {
    changes = {},
    also = [],
    reason,
    isPartOfReturn = false,
    goodwill = null,
    destination = 'usual',
  }: RefundOptions = {},
): Promise<ManagedOrder> {
  const left = order.paidAmount - order.refundedAmount;
  if (amount > left)
    throw new Refusal('REFUND_TOO_HIGH', { amount: { minor: left, currency: order.currency } });
  if (destination === 'store credit' && order.erasedAt) throw new Refusal('ORDER_CUSTOMER_ERASED');
  const refundedAmount = order.refundedAmount + amount;
  // Who has all of the money back keeps no card that was bought with it.
  if (refundedAmount === order.paidAmount) await revokeSoldCards(tx, shopId, order, null, { appId });
  const after = await changeOrder(
    tx,
    shopId,
    order,
    { ...changes, refundedAmount },
    { also: [...also, 'payments'] },
  );
  const credit =
    destination === 'store credit' ? await issueStoreCredit(tx, shopId, order, amount, appId) : undefined;
  const parts = credit
    ? [{ attemptId: null, giftCardId: credit.giftCardId, amount }]
    : refundParts(amount, {
        cards: destination === 'usual' ? await findRefundableCards(tx, shopId, order.orderId) : [],
        attempts: await findRefundable(tx, shopId, order.orderId),
      });
  let goodwillLeft = goodwill?.amount ?? 0;
  for (const [index, part] of parts.entries()) {
    const paymentId = index === 0 ? refund.paymentId : newId(tx.now);
    const { giftCardId } = part;
    const isByHand = part.attemptId === null;
    if (giftCardId !== null && !credit) {
      const { orderId } = order;
      await refundToGiftCard(tx, shopId, giftCardId, { orderId, amount: part.amount, appId });
    }
    const goodwillAmount = Math.min(goodwillLeft, part.amount);
    goodwillLeft -= goodwillAmount;
    await insertPayment(tx, shopId, order.orderId, {
      ...refund,
      ...part,
      paymentId,
      kind: 'refund',
      // A provider assigns its own refund ids.
      reference: isByHand ? refund.reference : null,
      goodwillAmount,
      goodwillReason: goodwillAmount > 0 ? goodwill!.reason : null,
    });
    if (!isByHand || !isPartOfReturn) {
      const details = {
        paymentId,
        amount: toDecimal(part.amount, order.currency),
        ...(giftCardId !== null && { giftCardId }),
        ...(refund.returnId !== null && { returnId: refund.returnId }),
        ...(reason && { reason }),
        ...(goodwillAmount > 0 && {
          goodwill: toDecimal(goodwillAmount, order.currency),
          reason: goodwill!.reason,
        }),
      };
      const kind = isByHand ? 'refunded' : 'refund requested';
      await recordHistory(tx, shopId, order.orderId, { appId, kind, details });
    }
    if (isByHand) {
      const card = giftCardId === null ? undefined : (credit ?? (await findGiftCard(tx, shopId, giftCardId)));
      await tellOfRefund(tx, shopId, after, part.amount, card);
    }
  }
  return after;
}

/** A gift card of the customer, in place of money. */
async function issueStoreCredit(
  tx: Transaction,
  shopId: string,
  { orderId, customerId, currency }: ManagedOrder,
  amount: number,
  appId: string | null,
): Promise<IssuedGiftCard> {
  const { country } = await shopSettings(tx, shopId);
  const expiresOn = lastDayOfCard(country, tx.now);
  return issueGiftCard(tx, shopId, { amount, currency, expiresOn, customerId, note: null, appId, orderId });
}

/** The part of a refund beyond the justified amount, if the merchant gives a reason for it. */
export function goodwillBeyond(
  justified: number,
  amount: number,
  reason: string | null | undefined,
): Goodwill | null {
  return reason && amount > justified ? { amount: amount - justified, reason } : null;
}

/** A refund was made: records the event and tells the customer. `card`: it went to this gift card, with the code of a new one. */
export async function tellOfRefund(
  tx: Transaction,
  shopId: string,
  order: ManagedOrder,
  amount: number,
  card?: { lastCharacters: string; code?: string },
): Promise<void> {
  const { orderId, orderNumber, currency, locale } = order;
  recordEvents(tx, shopId, [
    { type: 'ORDER_REFUNDED', resourceId: orderId, data: { amount: toDecimal(amount, currency), currency } },
  ]);
  const to = emailAddressOf(order);
  if (to === undefined) return;
  const facts = {
    orderId,
    orderNumber,
    amount: moneyText(amount, currency, locale),
    ...(card && (card.code ? { creditCode: card.code } : { cardEnd: card.lastCharacters })),
  };
  await queueEmails(tx, shopId, refundEmail, [{ to, locale, facts }]);
}

interface RefundPart {
  attemptId: string | null;
  giftCardId: string | null;
  amount: number;
}

/**
 * Divides a refund: first among the gift cards that have paid, then among the payments through a provider, in order, none
 * beyond its refundable rest. The remainder was paid by hand and is refunded by hand.
 */
function refundParts(
  amount: number,
  refundable: {
    cards: readonly { giftCardId: string; left: number }[];
    attempts: readonly { attemptId: string; left: number }[];
  },
): RefundPart[] {
  const sources = [
    ...refundable.cards.map((card) => ({ ...card, attemptId: null })),
    ...refundable.attempts.map((attempt) => ({ ...attempt, giftCardId: null })),
  ];
  const parts: RefundPart[] = [];
  let rest = amount;
  for (const { attemptId, giftCardId, left } of sources) {
    const part = Math.min(rest, left);
    if (part > 0) parts.push({ attemptId, giftCardId, amount: part });
    rest -= part;
  }
  return rest > 0 ? [...parts, { attemptId: null, giftCardId: null, amount: rest }] : parts;
}
