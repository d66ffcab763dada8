import { anyText } from '../../catalogue/products/render.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { named } from '../../pricing/content.ts';
import type { PaymentMethod } from '../../shops/settings/settings.ts';
import { shopPath, type Visit } from '../visit.ts';

export function methodName({ locale, settings }: Visit, method: PaymentMethod): string {
  return anyText(named(method, settings), locale, settings.defaultLocale)!;
}

/** The anchor of the form below. */
export const OTHER_METHODS = 'other-methods';

/** Lets the customer pay an order with another method than it was placed with. */
export function otherMethods(
  visit: Visit,
  token: string,
  methods: readonly PaymentMethod[],
): Markup | undefined {
  if (methods.length === 0) return undefined;
  const messages = messagesIn(visit.locale).storefront.otherMethods;
  return html`<form
    method="post"
    id="${OTHER_METHODS}"
    action="${shopPath(visit, `/order/${token}/payment-method`)}"
  >
    <fieldset>
      <legend><h2>${messages.title}</h2></legend>
      <p><small>${messages.note}</small></p>
      ${methods.map(
        (method, index) =>
          html`<label class="choice">
            <input
              type="radio"
              name="paymentMethod"
              value="${method.paymentMethodId}"
              required
              ${index === 0 && html`checked`}
            />
            <span>${methodName(visit, method)}</span>
          </label>`,
      )}
    </fieldset>
    <p><button class="quiet">${messages.choose}</button></p>
  </form>`;
}
