import { Type, type Static } from 'typebox';
import { priceIn } from '../catalogue/products/prices.ts';
import { dayOf, isDate } from '../http/dates.ts';
import { invalid } from '../http/errors.ts';
import { toDecimal } from '../kernel/money.ts';
import { amountOf, Decimal, Given } from '../http/request-fields.ts';
import { EMAIL_ADDRESS, isEmailAddress, MAX_EMAIL_ADDRESS_LENGTH } from '../platform/email/address.ts';
import type { CartProduct } from '../pricing/cart-product.ts';
import type { GiftCardWish } from '../pricing/input.ts';
import type { Settings } from '../shops/settings/settings.ts';

/** What the buyer of a gift card says about it: its value, who gets it, and when. */

export const MAX_RECIPIENT_NAME_LENGTH = 100;
export const MAX_GREETING_LENGTH = 1_000;
/** Birthdays of the next year, and no promise for longer. */
const MAX_DAYS_AHEAD = 366;
const DAY = 86_400_000;

/** More cards than this of one line are issued as one. */
export const MAX_CARDS_OF_LINE = 50;

export const GiftCardRequest = Given(
  Type.Object(
    {
      value: Given(
        Decimal('What it is worth, in the currency of the cart; absent: the price of the product.', 50),
      ),
      email: Given(
        Type.String({
          pattern: EMAIL_ADDRESS,
          maxLength: MAX_EMAIL_ADDRESS_LENGTH,
          description: 'Who gets it; absent: the buyer.',
          examples: ['anna@example.com'],
        }),
      ),
      name: Given(
        Type.String({
          maxLength: MAX_RECIPIENT_NAME_LENGTH,
          description: 'The name on it.',
          examples: ['Anna'],
        }),
      ),
      message: Given(
        Type.String({
          maxLength: MAX_GREETING_LENGTH,
          description: 'What its buyer writes on it.',
          examples: ['Happy birthday!'],
        }),
      ),
      sendOn: Given(
        Type.String({
          maxLength: 10,
          description: `The day on which it is sent, UTC, at most ${MAX_DAYS_AHEAD} days ahead; absent: when it is paid.`,
          examples: ['2026-12-24'],
        }),
      ),
    },
    {
      title: 'gift card wish',
      description:
        'For products that are gift cards: what the buyer wants; absent: a card with the price of the product for the buyer.',
    },
  ),
);
export type GiftCardRequest = Static<typeof GiftCardRequest>;

/** The bounds between which customers choose the value of a gift card, in minor units. */
export function valueBounds(
  { giftCard, prices }: Pick<CartProduct, 'giftCard' | 'prices'>,
  currency: string,
  settings: Pick<Settings, 'defaultCurrency' | 'currencies' | 'exchangeRates'>,
): { minimum: number; maximum: number } {
  const price = priceIn(prices, currency, settings) ?? 0;
  return {
    minimum: Math.max(1, priceIn(giftCard?.minimum, currency, settings) ?? price),
    maximum: priceIn(giftCard?.maximum, currency, settings) ?? price,
  };
}

/** undefined: the product is no gift card. `at` begins the names of the fields in a refusal. */
export function giftCardWish(
  product: CartProduct,
  request: GiftCardRequest | undefined,
  { currency, settings, now }: { currency: string; settings: Settings; now: Date },
  at = '',
): GiftCardWish | undefined {
  const field = (name: string) => `${at}giftCard.${name}`;
  if (!product.giftCard) {
    if (request) throw invalid('UNKNOWN_VALUE', `${at}giftCard`);
    return undefined;
  }
  const { value, email, name, message, sendOn } = request ?? {};
  const asked =
    value === null || value === undefined
      ? (priceIn(product.prices, currency, settings) ?? 0)
      : amountOf(value, currency, field('value'));
  if (!isPossibleValue(asked, product, currency, settings)) throw invalid('OUT_OF_RANGE', field('value'));
  if (email && !isEmailAddress(email.trim())) throw invalid('WRONG_FORMAT', field('email'));
  if (sendOn) {
    if (!isDate(sendOn)) throw invalid('WRONG_FORMAT', field('sendOn'));
    const last = dayOf(now.getTime() + MAX_DAYS_AHEAD * DAY);
    if (sendOn < dayOf(now) || sendOn > last) throw invalid('OUT_OF_RANGE', field('sendOn'));
  }
  const texts = {
    ...(email?.trim() && { email: email.trim() }),
    ...(name?.trim() && { name: oneLine(name) }),
    ...(message?.trim() && { message: message.trim().normalize('NFC').replaceAll(UNPRINTABLE, ' ') }),
  };
  return { value: asked, currency, ...texts, ...(sendOn && { sendOn }) };
}

export function isPossibleValue(
  value: number,
  product: Pick<CartProduct, 'giftCard' | 'prices'>,
  currency: string,
  settings: Pick<Settings, 'defaultCurrency' | 'currencies' | 'exchangeRates'>,
): boolean {
  const { minimum, maximum } = valueBounds(product, currency, settings);
  return value >= minimum && value <= maximum;
}

/** Controls but for line breaks, and marks that change the direction of the surrounding text. */
const UNPRINTABLE = /[^\P{C}\n]/gu;

const oneLine = (text: string) =>
  text
    .trim()
    .normalize('NFC')
    .replaceAll(/\p{C}+/gu, ' ');

/** The same wish for another cart; in another currency the value is that of the product. */
export function requestOfWish(
  { value, currency, ...wish }: GiftCardWish,
  currencyOfCart: string,
): NonNullable<GiftCardRequest> {
  return { ...wish, ...(currency === currencyOfCart && { value: toDecimal(value, currency) }) };
}

/** Two lines of a cart are one if they say the same. */
export const isSameWish = (one: GiftCardWish | undefined, other: GiftCardWish | undefined): boolean =>
  (['value', 'currency', 'email', 'name', 'message', 'sendOn'] as const).every(
    (key) => one?.[key] === other?.[key],
  );
