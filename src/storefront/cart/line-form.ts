import { LimitReached, SoldOut, WrongCustomText } from '../../carts/lines.ts';
import { formatNumber } from '../../http/amount-text.ts';
import { Refusal, ValidationError } from '../../http/errors.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { customTextMessage } from '../product/customisation.ts';
import { giftCardMessage } from '../product/gift-card-fields.ts';
import type { Visit } from '../visit.ts';

/** What the forms of lines share: the quantity that is typed, and the reason of a refusal. */

/** Accepts `2`, `1.5` and `1,5`. undefined: the text is not a quantity. */
export function parseQuantity(text: string): number | undefined {
  return /^\d{1,7}(?:[.,]\d{1,6})?$/.test(text) ? Number(text.replace(',', '.')) : undefined;
}

/** The message for a product that could not be added. */
export function rejectionText({ locale }: Visit, error: Error): string {
  const messages = messagesIn(locale).storefront.cart;
  if (error instanceof SoldOut) return messages.currentlySoldOut;
  if (error instanceof LimitReached) return messages.atMost({ amount: formatNumber(error.limit, locale) });
  if (error instanceof WrongCustomText) return customTextMessage(locale, error.code);
  const ofGiftCard = giftCardMessage(error, locale);
  if (ofGiftCard !== undefined) return ofGiftCard;
  if (error instanceof Refusal && error.code === 'PART_NOT_CHOSEN') return messages.choosePart;
  return error instanceof ValidationError ? messages.wrongQuantity : messages.notForSale;
}
