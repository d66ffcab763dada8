import { dateText } from '../../http/dates.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { PaymentState } from '../../orders/payments/payment-state.ts';
import { providerMethodOf } from '../../orders/payments/providers.ts';
import type { ManagedOrder } from '../../orders/queries.ts';
import { textIn } from '../../http/locale.ts';
import { moneyText } from '../../http/price-text.ts';
import { shopPath, type Visit } from '../visit.ts';

/** The payment through a provider was refused or given up, and the customer can go on from here. */
export const hasFailed = ({ state, canPay }: PaymentState) => state === 'failed' && canPay;

/**
 * The payment state of an order paid through a provider, with the button to pay it. undefined: the merchant or an app
 * handles its payment.
 */
export function paymentNotice(
  visit: Visit,
  token: string,
  order: ManagedOrder,
  payment: PaymentState,
): Markup | undefined {
  const { settings, locale } = visit;
  const { state, canPay, outstanding, instructions } = payment;
  if (!providerMethodOf(order.content, settings)) return undefined;
  const messages = messagesIn(locale).storefront.payment;
  const amount = moneyText(outstanding, order.currency, locale);
  // A button would lead to no other page.
  if (canPay && instructions) {
    return html`<p>${messages.states[state]} ${keptText(visit, payment)}</p>
      <p>
        ${textIn(instructions, locale, settings.defaultLocale)!
          .split('\n')
          .map((line) => html`${line}<br />`)}
      </p>`;
  }
  return html`<p>${messages.states[state]} ${canPay && keptText(visit, payment)}</p>
    ${
      canPay &&
      html`<form method="post" action="${shopPath(visit, `/order/${token}/pay`)}">
        <p>
          <button class="button">
            ${state === 'failed' ? messages.payAgain({ amount }) : messages.payNow({ amount })}
          </button>
        </p>
      </form>`
    }`;
}

const MINUTE = 60_000;
const DAY = 86_400_000;

/** How long the goods are reserved. Less than a day is named in minutes, which are the same in every time zone. */
function keptText({ db, locale }: Visit, { keptUntil }: PaymentState): string | false {
  const left = keptUntil ? keptUntil.getTime() - db.now.getTime() : 0;
  if (left <= 0) return false;
  const messages = messagesIn(locale).storefront.payment;
  return left < DAY
    ? messages.keptFor({ minutes: Math.ceil(left / MINUTE) })
    : messages.keptUntil({ date: dateText(keptUntil!, locale) });
}
