import type { Product } from '../../catalogue/products/schema.ts';
import {
  MAX_GREETING_LENGTH,
  MAX_RECIPIENT_NAME_LENGTH,
  type GiftCardRequest,
} from '../../giftcards/wish.ts';
import { dateText } from '../../http/dates.ts';
import { ValidationError } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { priceText } from '../../http/price-text.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { MAX_EMAIL_ADDRESS_LENGTH } from '../../platform/email/address.ts';
import type { Visit } from '../visit.ts';

/** What the buyer of a gift card says about it; nothing for other products. */
export function giftCardFields({ locale }: Visit, product: Product): Markup | false {
  const { giftCard, priceInfo } = product;
  if (!giftCard) return false;
  const messages = messagesIn(locale).storefront.giftCards;
  const { minimum, maximum } = giftCard;
  return html`<input type="hidden" name="giftCard" value="1" />
    <div class="field custom-text">
      <label for="giftCardValue">${messages.value} (${minimum.currency})</label>
      <input
        id="giftCardValue"
        name="giftCardValue"
        type="number"
        inputmode="decimal"
        step="any"
        min="${minimum.amount}"
        max="${maximum.amount}"
        value="${priceInfo.price?.amount ?? minimum.amount}"
        required
        aria-describedby="giftCardValue.rule"
      />
      <p id="giftCardValue.rule" class="hint">
        ${messages.between({ least: priceText(minimum, locale), most: priceText(maximum, locale) })}
      </p>
    </div>
    <div class="field custom-text">
      <label for="giftCardEmail">${messages.email}</label>
      <input
        id="giftCardEmail"
        name="giftCardEmail"
        type="email"
        maxlength="${MAX_EMAIL_ADDRESS_LENGTH}"
        autocomplete="off"
        aria-describedby="giftCardEmail.rule"
      />
      <p id="giftCardEmail.rule" class="hint">${messages.emailHint}</p>
    </div>
    <div class="field custom-text">
      <label for="giftCardName">${messages.name}</label>
      <input
        id="giftCardName"
        name="giftCardName"
        maxlength="${MAX_RECIPIENT_NAME_LENGTH}"
        autocomplete="off"
      />
    </div>
    <div class="field custom-text">
      <label for="giftCardMessage">${messages.message}</label>
      <textarea
        id="giftCardMessage"
        name="giftCardMessage"
        rows="3"
        maxlength="${MAX_GREETING_LENGTH}"
      ></textarea>
    </div>
    <div class="field custom-text">
      <label for="giftCardSendOn">${messages.sendOn}</label>
      <input id="giftCardSendOn" name="giftCardSendOn" type="date" aria-describedby="giftCardSendOn.rule" />
      <p id="giftCardSendOn.rule" class="hint">${messages.sendOnHint}</p>
    </div>`;
}

export const GIFT_CARD_LIMITS = {
  giftCardEmail: MAX_EMAIL_ADDRESS_LENGTH,
  giftCardName: MAX_RECIPIENT_NAME_LENGTH,
  giftCardMessage: MAX_GREETING_LENGTH,
} as const;

/** What was typed; undefined: the form was not that of a gift card. */
export function typedGiftCard(field: (name: string) => string): GiftCardRequest | undefined {
  if (field('giftCard') === '') return undefined;
  const typed = (name: string) => {
    const value = field(name).trim();
    return value === '' ? null : value;
  };
  return {
    value: typed('giftCardValue')?.replace(',', '.') ?? null,
    email: typed('giftCardEmail'),
    name: typed('giftCardName'),
    message: typed('giftCardMessage'),
    sendOn: typed('giftCardSendOn'),
  };
}

/** Why a gift card was not accepted, for its buyer; undefined: the refusal is about something else. */
export function giftCardMessage(error: Error, locale: string): string | undefined {
  if (!(error instanceof ValidationError)) return undefined;
  const messages = messagesIn(locale).storefront.giftCards.problems;
  const field = error.problems[0]?.field.split('giftCard.')[1];
  return field === 'value' || field === 'email' || field === 'sendOn' ? messages[field] : undefined;
}

/** Who gets a gift card, and when: `For Anna (anna@example.com), on 24 December 2026`. */
export function recipientText(
  { email, name, sendOn }: { email?: string; name?: string; sendOn?: string },
  locale: string,
): string {
  const messages = messagesIn(locale).storefront.giftCards;
  const who =
    name !== undefined && email !== undefined ? `${name} (${email})` : (name ?? email ?? messages.yourself);
  return sendOn === undefined
    ? messages.forPerson({ who })
    : messages.forPersonOn({ who, day: dateText(new Date(sendOn), locale) });
}

/** The second line of a gift card in a list; nothing for other products. */
export const recipientLine = (
  line: { giftCard?: { email?: string; name?: string; message?: string; sendOn?: string } | undefined },
  locale: string,
): Markup | false =>
  line.giftCard !== undefined &&
  html`<br /><span class="custom-text">${recipientText(line.giftCard, locale)}</span>${
      line.giftCard.message !== undefined &&
      html`<br /><span class="custom-text">${line.giftCard.message}</span>`
    }`;
