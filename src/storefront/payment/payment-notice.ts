import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { PaymentState } from '../../orders/payments/payment-state.ts';
import { providerMethodOf } from '../../orders/payments/providers.ts';
import type { ManagedOrder } from '../../orders/queries.ts';
import { moneyText } from '../../http/price-text.ts';
import { shopPath, type Visit } from '../visit.ts';

/**
 * The payment state of an order paid through a provider, with the button to pay it. undefined: the merchant or an app
 * handles its payment.
 */
export function paymentNotice(
  visit: Visit,
  token: string,
  order: ManagedOrder,
  { state, canPay, outstanding }: PaymentState,
): Markup | undefined {
  const { settings, locale } = visit;
  if (!providerMethodOf(order.content, settings)) return undefined;
  const messages = messagesIn(locale).storefront.payment;
  const amount = moneyText(outstanding, order.currency, locale);
  return html`<p>${messages.states[state]}</p>
    ${
      canPay &&
      html`<form method="post" action="${shopPath(visit, `/order/${token}/pay`)}">
        <p><button class="button">${messages.payNow({ amount })}</button></p>
      </form>`
    }`;
}
