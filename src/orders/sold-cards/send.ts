import type { Database, Transaction } from '../../db/database.ts';
import { giftCardState } from '../../giftcards/card.ts';
import { lockGiftCard, renewCode } from '../../giftcards/ledger.ts';
import { dateText } from '../../http/dates.ts';
import { moneyText } from '../../http/price-text.ts';
import { forEachShop, type CleanupStep } from '../../platform/cleanup.ts';
import { queueEmails } from '../../platform/email/queue.ts';
import { recordHistory } from '../history.ts';
import { findOrderWithActivity } from '../manage-queries.ts';
import { emailAddressOf } from '../order-email.ts';
import { giftCardEmail } from './email.ts';
import { findDueCards, findDueCardsOf, findSoldCard, updateSent, type DueCard } from './queries.ts';

/** Sends sold gift cards to their recipients when it is time. */
export const giftCardDelivery: CleanupStep = {
  name: 'gift cards to be sent',
  every: 60_000,
  run: async (db, limit) => sendAll(db, await findDueCards(db, db.now, limit)),
  runForShop: async (db, shopId, limit) => sendAll(db, await findDueCardsOf(db, shopId, db.now, limit)),
};

async function sendAll(db: Database, cards: readonly DueCard[]): Promise<number> {
  await forEachShop(db, cards, async (ofShop, { shopId, giftCardId }) =>
    ofShop.transaction((tx) => sendSoldCard(tx, shopId, giftCardId)),
  );
  return cards.length;
}

/**
 * Makes the code of a card, and sends it. Nobody could read the code before, not even in the database; a card that is
 * sent again has a new one. Nothing is sent for a card that was taken back, has expired, or has lost its recipient.
 */
async function sendSoldCard(tx: Transaction, shopId: string, giftCardId: string): Promise<void> {
  const card = await lockGiftCard(tx, shopId, giftCardId);
  const sold = await findSoldCard(tx, shopId, giftCardId);
  // Another process was faster.
  if (!card || !sold?.sendAt || sold.sendAt > tx.now) return;
  const order = await findOrderWithActivity(tx, shopId, sold.orderId);
  const line = order?.content.lines.find(({ lineItemId }) => lineItemId === sold.lineItemId);
  const to = line?.giftCard?.email ?? (order && emailAddressOf(order));
  if (!order || to === undefined || giftCardState(card, tx.now) !== 'active')
    return void (await updateSent(tx, shopId, giftCardId, null));
  const code = await renewCode(tx, shopId, card);
  const { locale, orderId, billingAddress } = order;
  const { name, message } = line?.giftCard ?? {};
  const giver = [billingAddress.firstName, billingAddress.lastName].filter(Boolean).join(' ');
  const facts = {
    giftCardId,
    code,
    amount: moneyText(card.balance, card.currency, locale),
    ...(card.expiresOn !== null && { lastDay: dateText(new Date(card.expiresOn), locale) }),
    issuedAt: card.createdAt.toISOString(),
    ...(name !== undefined && { name }),
    ...(message !== undefined && { message }),
    ...(line?.giftCard?.email !== undefined && giver !== '' && { giver }),
  };
  await queueEmails(tx, shopId, giftCardEmail, [{ to, locale, facts }]);
  await updateSent(tx, shopId, giftCardId, tx.now);
  await recordHistory(tx, shopId, orderId, { appId: null, kind: 'gift card sent', details: { giftCardId } });
}
