import { dayOf } from '../http/dates.ts';
import { readJson } from '../kernel/json-file.ts';

/** A gift card: money that the shop owes to the holder of its code. Store credit is the card of a customer. */
export interface GiftCard {
  giftCardId: string;
  /** The end of its code. */
  lastCharacters: string;
  currency: string;
  /** In minor units. */
  balance: number;
  createdAt: Date;
  /** `2029-12-31`, the last day on which it can be redeemed; null: it does not expire. */
  expiresOn: string | null;
  blockedAt: Date | null;
  /** Whose store credit it is; null: it belongs to the holder of the code. */
  customerId: string | null;
  note: string | null;
}

export type GiftCardState = 'active' | 'blocked' | 'expired';

export function giftCardState(card: Pick<GiftCard, 'expiresOn' | 'blockedAt'>, now: Date): GiftCardState {
  if (card.expiresOn !== null && card.expiresOn < dayOf(now)) return 'expired';
  return card.blockedAt ? 'blocked' : 'active';
}

type RedeemableCard = Pick<GiftCard, 'currency' | 'balance' | 'expiresOn' | 'blockedAt'>;

/** What can be paid with a card now, in minor units of this currency. */
export function redeemableAmount(card: RedeemableCard, currency: string, now: Date): number {
  return card.currency === currency && giftCardState(card, now) === 'active' ? card.balance : 0;
}

/** A part of an order that a card pays, in minor units. */
export interface CardPayment {
  giftCardId: string;
  lastCharacters: string;
  amount: number;
  /** false: nothing can be paid with it any more, so an order with it is refused once. */
  isRedeemable: boolean;
}

/** Divides a total among cards, in their order: each pays as much as it can. A card that nothing is left for pays 0. */
export function cardPayments(
  cards: readonly GiftCard[],
  total: number,
  currency: string,
  now: Date,
): CardPayment[] {
  let rest = Math.max(0, total);
  return cards.map((card) => {
    const redeemable = redeemableAmount(card, currency, now);
    const amount = Math.min(rest, redeemable);
    rest -= amount;
    const { giftCardId, lastCharacters } = card;
    return { giftCardId, lastCharacters, amount, isRedeemable: redeemable > 0 };
  });
}

interface Expiry {
  years: number;
  untilEndOfYear: boolean;
}

/**
 * The least time for which the law of a country keeps a gift card valid: in Germany the general limitation period of
 * three years from the end of the year (BGB sections 195 and 199), in Austria that of thirty years (ABGB section 1478),
 * in Ireland five years (Consumer Protection (Gift Vouchers) Act 2019).
 */
const EXPIRY = readJson(new URL('./expiry-by-country.json', import.meta.url)) as Readonly<
  Record<string, Expiry>
>;

/** The last day of a card that a shop in this country issues now; null: it does not expire. */
export function lastDayOfCard(country: string, now: Date): string | null {
  const expiry = EXPIRY[country];
  if (!expiry) return null;
  const year = now.getUTCFullYear() + expiry.years;
  if (expiry.untilEndOfYear) return `${year}-12-31`;
  return dayOf(Date.UTC(year, now.getUTCMonth(), now.getUTCDate()));
}

const YEAR_OF_GRACE = 1;

/** Money that comes back to a card that has expired, or soon will, can be spent for another year. */
export function expiryAfterRefund(expiresOn: string | null, now: Date): string | null {
  if (expiresOn === null) return null;
  const inAYear = dayOf(Date.UTC(now.getUTCFullYear() + YEAR_OF_GRACE, now.getUTCMonth(), now.getUTCDate()));
  return expiresOn < inAYear ? inAYear : expiresOn;
}
