import type { Transaction } from '../../db/database.ts';
import { lastDayOfCard } from '../../giftcards/card.ts';
import { issueGiftCard } from '../../giftcards/ledger.ts';
import { MAX_CARDS_OF_LINE } from '../../giftcards/wish.ts';
import { allocate } from '../../kernel/money.ts';
import type { Content, ContentLine } from '../../pricing/content.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { findSoldCards, insertSoldCard } from './queries.ts';

/** Recipients read their emails in the morning of the day, as far as one time can be a morning for all. */
const TIME_OF_DAY = 'T06:00:00Z';

/** Of an order with more, each line is one card: each is a few statements, while the shop's other orders wait. */
const MAX_CARDS_OF_ORDER = 200;

export const sellsCards = ({ lines }: Pick<Content, 'lines'>): boolean =>
  lines.some(({ giftCard }) => giftCard !== undefined);

/**
 * What the cards of a line are worth: what is paid for it, so that no agreed price makes money. Whole pieces are a card
 * each.
 */
export function cardValues(
  { quantity, amount }: Pick<ContentLine, 'quantity' | 'amount'>,
  most = MAX_CARDS_OF_LINE,
): number[] {
  const count = Number(quantity);
  if (amount <= 0) return [];
  if (!Number.isInteger(count) || count < 1 || count > most) return [amount];
  return allocate(
    amount,
    Array.from({ length: count }, () => 1),
  ).filter((value) => value > 0);
}

/**
 * Issues the cards of an order that was just paid, and that this transaction has locked. Their codes are made when they
 * are sent. An order that is paid again after a change has further cards for what was added.
 */
export async function issueSoldCards(
  tx: Transaction,
  shopId: string,
  { orderId, content }: { orderId: string; content: Pick<Content, 'lines' | 'currency'> },
): Promise<void> {
  const issued = await findSoldCards(tx, shopId, orderId);
  const { country } = await shopSettings(tx, shopId);
  const expiresOn = lastDayOfCard(country, tx.now);
  const pieces = content.lines.reduce((sum, line) => sum + (line.giftCard ? Number(line.quantity) : 0), 0);
  const most = pieces > MAX_CARDS_OF_ORDER ? 1 : MAX_CARDS_OF_LINE;
  for (const line of content.lines) {
    if (!line.giftCard) continue;
    const { lineItemId } = line;
    const { sendOn } = line.giftCard;
    const before = issued.filter((card) => card.lineItemId === lineItemId).length;
    for (const value of cardValues(line, most).slice(before)) {
      const { giftCardId } = await issueGiftCard(tx, shopId, {
        amount: value,
        currency: content.currency,
        expiresOn,
        customerId: null,
        note: null,
        appId: null,
        orderId,
        isSold: true,
      });
      const day = sendOn === undefined ? tx.now : new Date(`${sendOn}${TIME_OF_DAY}`);
      const sendAt = day < tx.now ? tx.now : day;
      await insertSoldCard(tx, shopId, orderId, { giftCardId, lineItemId, value, sendAt });
    }
  }
}
