import type { Transaction } from '../db/database.ts';
import { newId } from '../kernel/ids.ts';
import { takeTimeOfCommit } from '../platform/events/log.ts';
import { expiryAfterRefund, type CardPayment, type GiftCard } from './card.ts';
import { giftCardCodeHash, newGiftCardCode } from './code.ts';
import {
  insertEntries,
  insertGiftCard,
  lockGiftCards,
  updateBalances,
  updateCode,
  type GiftCardEntry,
} from './queries.ts';

/**
 * The ledger of gift cards. A balance changes only here, together with the entry that says why, under the lock of its
 * card.
 */

export type NewGiftCard = Pick<GiftCard, 'currency' | 'expiresOn' | 'customerId' | 'note'> & {
  /** Minor units, more than 0. */
  amount: number;
  appId: string | null;
  /** The refunded order, for store credit; the one that has sold it. */
  orderId: string | null;
  isSold?: boolean;
};

export interface IssuedGiftCard extends GiftCard {
  /** Shown once, because the database has only its hash. */
  code: string;
}

export async function issueGiftCard(
  tx: Transaction,
  shopId: string,
  { amount, appId, orderId, isSold = false, ...facts }: NewGiftCard,
): Promise<IssuedGiftCard> {
  const code = newGiftCardCode();
  const giftCardId = newId(tx.now);
  const card = { ...facts, giftCardId, lastCharacters: code.slice(-4), createdAt: tx.now };
  // The customer is locked by the insert, and must be before the counter.
  await insertGiftCard(tx, shopId, { ...card, codeHash: giftCardCodeHash(code) });
  const at = await takeTimeOfCommit(tx, shopId);
  const kind = orderId === null || isSold ? 'issue' : 'refund';
  await addEntries(tx, shopId, [{ ...card, kind, amount, orderId, appId, reason: null, at }]);
  return { ...card, balance: amount, blockedAt: null, code };
}

/** Locks one card for a change; undefined: the shop has no such card. */
export async function lockGiftCard(
  tx: Transaction,
  shopId: string,
  giftCardId: string,
): Promise<GiftCard | undefined> {
  await takeTimeOfCommit(tx, shopId);
  const [card] = await lockGiftCards(tx, shopId, [giftCardId]);
  return card;
}

/** Adds an entry to a card that this transaction has locked, and returns the card as it is then. */
export async function changeBalance(
  tx: Transaction,
  shopId: string,
  card: GiftCard,
  entry: Pick<GiftCardEntry, 'kind' | 'amount' | 'appId' | 'reason'> &
    Partial<Pick<GiftCardEntry, 'orderId'>>,
): Promise<GiftCard> {
  const { giftCardId, expiresOn } = card;
  const at = await takeTimeOfCommit(tx, shopId);
  await addEntries(tx, shopId, [{ orderId: null, ...entry, giftCardId, expiresOn, at }]);
  return { ...card, balance: card.balance + entry.amount };
}

/** Gives a card that this transaction has locked a new code; the former one is unknown from now on. */
export async function renewCode(
  tx: Transaction,
  shopId: string,
  { giftCardId }: Pick<GiftCard, 'giftCardId'>,
): Promise<string> {
  const code = newGiftCardCode();
  await updateCode(tx, shopId, {
    giftCardId,
    codeHash: giftCardCodeHash(code),
    lastCharacters: code.slice(-4),
  });
  return code;
}

/** Pays an order with cards that this transaction has locked, and whose balances suffice. */
export function redeemGiftCards(
  tx: Transaction,
  shopId: string,
  { orderId, at }: { orderId: string; at: Date },
  payments: readonly (Pick<CardPayment, 'giftCardId' | 'amount'> & Pick<GiftCard, 'expiresOn'>)[],
): Promise<void> {
  const kind = 'redeem' as const;
  return addEntries(
    tx,
    shopId,
    payments.map(({ giftCardId, expiresOn, amount }) => {
      return { giftCardId, expiresOn, kind, amount: -amount, orderId, appId: null, reason: null, at };
    }),
  );
}

/**
 * Gives back to a card what it has paid for an order. A card that has expired, or soon will, is valid for another year,
 * because its holder could not spend the money meanwhile.
 */
export async function refundToGiftCard(
  tx: Transaction,
  shopId: string,
  giftCardId: string,
  { orderId, amount, appId }: { orderId: string; amount: number; appId: string | null },
): Promise<void> {
  const at = await takeTimeOfCommit(tx, shopId);
  const [card] = await lockGiftCards(tx, shopId, [giftCardId]);
  const expiresOn = expiryAfterRefund(card!.expiresOn, tx.now);
  await addEntries(tx, shopId, [
    { giftCardId, expiresOn, kind: 'refund', amount, orderId, appId, reason: null, at },
  ]);
}

type NewEntry = Omit<GiftCardEntry, 'entryId'> & Pick<GiftCard, 'expiresOn'>;

/** Each entry is of another card. */
async function addEntries(tx: Transaction, shopId: string, entries: readonly NewEntry[]): Promise<void> {
  await insertEntries(
    tx,
    shopId,
    entries.map((entry) => ({ ...entry, entryId: newId(entry.at) })),
  );
  await updateBalances(tx, shopId, entries);
}
