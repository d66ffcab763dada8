import type { Database, Transaction } from '../db/database.ts';
import { dayOf } from '../http/dates.ts';
import { forEachShop, type CleanupStep } from '../platform/cleanup.ts';
import { giftCardState } from './card.ts';
import { changeBalance, lockGiftCard } from './ledger.ts';
import { findExpired, findExpiredOf } from './queries.ts';

interface ExpiredCard {
  shopId: string;
  giftCardId: string;
}

/** Takes the balance off cards that have expired, so that the shop no longer owes it. */
export const giftCardExpiry: CleanupStep = {
  name: 'gift cards',
  run: async (db, limit) => expireAll(db, await findExpired(db, dayOf(db.now), limit)),
  runForShop: async (db, shopId, limit) =>
    expireAll(db, await findExpiredOf(db, shopId, dayOf(db.now), limit)),
};

/** Each in its own transaction, so that checkouts wait for one card at most. */
async function expireAll(db: Database, cards: readonly ExpiredCard[]): Promise<number> {
  let expired = 0;
  await forEachShop(db, cards, async (ofShop, card) => {
    if (await ofShop.transaction((tx) => expire(tx, card))) expired++;
  });
  return expired;
}

/** false: a refund, or another process, was faster. */
async function expire(tx: Transaction, { shopId, giftCardId }: ExpiredCard): Promise<boolean> {
  const card = await lockGiftCard(tx, shopId, giftCardId);
  if (!card || card.balance === 0 || giftCardState(card, tx.now) !== 'expired') return false;
  await changeBalance(tx, shopId, card, {
    kind: 'expire',
    amount: -card.balance,
    appId: null,
    reason: null,
  });
  return true;
}
