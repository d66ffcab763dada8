import type { Transaction } from '../../db/database.ts';
import { changeBalance } from '../../giftcards/ledger.ts';
import { lockGiftCards, updateGiftCardBlock } from '../../giftcards/queries.ts';
import { Refusal } from '../../http/errors.ts';
import { takeTimeOfCommit } from '../../platform/events/log.ts';
import type { Content } from '../../pricing/content.ts';
import type { PartLine } from '../manage-queries.ts';
import { sellsCards } from './issue.ts';
import { findSoldCards, updateRevoked } from './queries.ts';

type SellingOrder = { orderId: string; content: Pick<Content, 'lines'> };

/**
 * Takes the cards of returned lines back; `parts` of null: those of the whole order. A card of which something was spent
 * can't be taken back, because its money would be paid out twice. With `isWithdrawal` it is all the same: nobody may refuse
 * a withdrawal, so what is left on the card is taken, and the merchant decides how much money goes back.
 */
export async function revokeSoldCards(
  tx: Transaction,
  shopId: string,
  { orderId, content }: SellingOrder,
  parts: readonly PartLine[] | null,
  { appId, isWithdrawal = false }: { appId: string | null; isWithdrawal?: boolean },
): Promise<void> {
  if (!sellsCards(content)) return;
  const sold = (await findSoldCards(tx, shopId, orderId)).filter(({ revokedAt }) => revokedAt === null);
  if (sold.length === 0) return;
  // The lock of the counter comes before those of cards.
  await takeTimeOfCommit(tx, shopId);
  const cards = await lockGiftCards(
    tx,
    shopId,
    sold.map(({ giftCardId }) => giftCardId),
  );
  const isWhole = ({ giftCardId, value }: (typeof sold)[number]) =>
    cards.find((card) => card.giftCardId === giftCardId)!.balance >= value;
  const revoked = parts
    ? parts.flatMap(({ lineItemId, quantity }) => {
        const ofLine = sold.filter((card) => card.lineItemId === lineItemId);
        if (ofLine.length === 0) return [];
        const wanted = Math.min(Math.ceil(Number(quantity)), ofLine.length);
        // Those that nobody has received yet are taken back first.
        return ofLine
          .toSorted(
            (one, other) =>
              Number(isWhole(other)) - Number(isWhole(one)) || Number(one.sentAt) - Number(other.sentAt),
          )
          .slice(0, wanted);
      })
    : sold;
  if (!isWithdrawal && !revoked.every(isWhole)) throw new Refusal('GIFT_CARD_SPENT');
  for (const { giftCardId } of revoked) {
    const card = cards.find((one) => one.giftCardId === giftCardId)!;
    if (card.balance > 0) {
      const entry = { kind: 'revoke', amount: -card.balance, appId, reason: null, orderId } as const;
      await changeBalance(tx, shopId, card, entry);
    }
    await updateGiftCardBlock(tx, shopId, { giftCardId, blockedAt: card.blockedAt ?? tx.now });
  }
  await updateRevoked(
    tx,
    shopId,
    revoked.map(({ giftCardId }) => giftCardId),
  );
}
