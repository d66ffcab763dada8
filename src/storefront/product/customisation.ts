import type { Product } from '../../catalogue/products/schema.ts';
import { maxTextLength, type CustomTextProblem } from '../../catalogue/products/custom-text.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { formatNumber } from '../../http/amount-text.ts';
import { priceText } from '../../http/price-text.ts';
import type { Visit } from '../visit.ts';

/** The field of the purchase form for the text on the product; nothing for products without one. */
export function customTextField({ locale }: Visit, product: Product): Markup | false {
  if (!product.isCustomizable) return false;
  const messages = messagesIn(locale).customisation;
  const { customizableTextLength: textLength, customizableHeadlineText: headline } = product;
  const { isCustomizableTextRequired: isRequired = false, customizablePrice: price } = product;
  const maxLength = maxTextLength({ textLength });
  return html`<div class="field custom-text">
    <label for="customText"
      >${headline || messages.label}${!isRequired && html` <small>${messages.optional}</small>`}</label
    >
    <input
      id="customText"
      name="customText"
      maxlength="${maxLength}"
      autocomplete="off"
      ${isRequired && html`required`}
      aria-describedby="customText.rule"
    />
    <p id="customText.rule" class="hint">
      ${messages.rule({ length: formatNumber(maxLength, locale) })}
      ${price && messages.price({ price: priceText(price, locale) })}
    </p>
  </div>`;
}

/** Why a text was not accepted, for the customer. */
export function customTextMessage(locale: string, code: CustomTextProblem): string {
  const messages = messagesIn(locale).customisation;
  switch (code) {
    case 'MISSING':
      return messages.missing;
    case 'TOO_LONG':
      return messages.tooLong;
    case 'WRONG_FORMAT':
      return messages.wrongCharacters;
    case 'UNKNOWN_VALUE':
      return messages.notOffered;
  }
}
