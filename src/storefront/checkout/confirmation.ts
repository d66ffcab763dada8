import { bankTransfer } from '../../orders/bank-transfer.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import type { OrderTokens } from '../../orders/order-link.ts';
import { waitingOfOrder } from '../../orders/backorders.ts';
import { otherPaymentMethods } from '../../orders/choose-payment.ts';
import { findOrderWithActivity } from '../../orders/manage-queries.ts';
import { paymentState, type PaymentState } from '../../orders/payments/payment-state.ts';
import { toOrder } from '../../orders/render.ts';
import type { Order } from '../../orders/schema.ts';
import { orderDelivery } from '../../orders/order-delivery.ts';
import type { CustomerOrder } from '../../orders/withdrawal-period.ts';
import { linesAndTotals, orderParties } from './review-step.ts';
import { isOfferedHere, payableOfOrder } from '../payment/offered.ts';
import { OTHER_METHODS, otherMethods } from '../payment/other-methods.ts';
import { hasFailed, paymentNotice } from '../payment/payment-notice.ts';
import { orderCompleted } from '../scripts/events.ts';
import type { Pages } from '../pages.ts';
import { moneyText } from '../../http/price-text.ts';
import { shopPath, type Visit } from '../visit.ts';
import { messagesIn } from '../../kernel/messages.ts';

/** The order that the visitor has just placed, which only the visitor's session names. */
export function confirmation(pages: Pages, tokens: OrderTokens): void {
  pages.get('/confirmation', async (visit) => {
    const { db, shopId, session, locale, settings, origin } = visit;
    if (session.order === undefined) throw notFound();
    const found = await findOrderWithActivity(db, shopId, session.order);
    if (!found) throw notFound();
    const payment = await paymentState(db, shopId, found);
    const token = tokens.token(shopId, found.orderId);
    const order = toOrder(found, { locale, origin, settings });
    const messages = messagesIn(locale).storefront.confirmation;
    const isNew = session.visitorEvents?.some(({ event }) => event === 'order:completed');
    const isUnpaid = hasFailed(payment);
    const title = isUnpaid ? messagesIn(locale).storefront.payment.failedTitle : messages.title;
    return {
      title,
      path: '/confirmation',
      isPrivate: true,
      events: isNew && session.consent === 'all' ? [orderCompleted(order)] : [],
      main: html`<h1>${title}</h1>
        ${
          isUnpaid
            ? await failedPayment(visit, { order: found, activity: found, settings }, token, payment)
            : html`<p>${messages.number({ number: order.orderNumber })}</p>
                <p>${messages.email({ address: order.billingAddress.emailAddress ?? '' })}</p>
                <h2>${messages.next}</h2>
                ${paymentNotice(visit, token, found, payment) ?? nextSteps(visit, order, payment.outstanding)}`
        }
        ${orderParties(visit, order, {
          hasLinks: false,
          delivery: orderDelivery(found, locale),
          pickup: found.content.shipping?.pickup,
        })}
        ${linesAndTotals(visit, order, found.content, {
          payments: found.payments,
          left: payment.outstanding,
          waits: waitingOfOrder(found),
        })}
        <p>
          <a class="${isUnpaid ? 'button quiet' : 'button'}" href="${shopPath(visit, `/order/${token}`)}"
            >${messages.order}</a
          >
          <a class="quiet" href="${shopPath(visit, '')}">${messages.continueShopping}</a>
        </p>`,
    };
  });
}

/** The order exists, so the customer need not buy again: only pay, with this method or another. */
async function failedPayment(
  visit: Visit,
  open: CustomerOrder,
  token: string,
  payment: PaymentState,
): Promise<Markup> {
  const { db, shopId, locale } = visit;
  const messages = messagesIn(locale).storefront.payment;
  const methods = await otherPaymentMethods(db, shopId, open, (method) =>
    isOfferedHere(visit, method, payableOfOrder(open.order)),
  );
  return html`<div class="notice" role="alert">
      <p class="error">${messages.saved({ number: open.order.orderNumber })}</p>
    </div>
    <div class="todo now">
      ${paymentNotice(visit, token, open.order, payment)}
      ${
        methods.length > 0 &&
        html`<p><a class="button quiet" href="#${OTHER_METHODS}">${messages.otherMethod}</a></p>`
      }
      ${otherMethods(visit, token, methods)}
    </div>`;
}

/** Every new shop has this key for an invoice. */
const BY_INVOICE = 'invoice';

/** The next steps of the customer and of the shop; `outstanding` is in minor units. */
export function nextSteps({ settings, locale }: Visit, order: Order, outstanding: number): Markup {
  const messages = messagesIn(locale).storefront.confirmation;
  const { paymentMethod } = order.paymentData ?? {};
  const { currency } = order.lineItemContainer.grandTotal;
  const transfer = bankTransfer(
    { orderNumber: order.orderNumber, paymentMethodId: paymentMethod?.id },
    settings,
  );
  const key = settings.paymentMethods.find(
    ({ paymentMethodId }) => paymentMethodId === paymentMethod?.id,
  )?.key;
  if (outstanding > 0 && transfer) {
    const facts = [
      [messages.bank.holder, transfer.holder],
      [messages.bank.name, transfer.bank],
      [messages.bank.iban, transfer.iban],
      [messages.bank.bic, transfer.bic],
      [messages.bank.reference, transfer.reference],
    ].filter((fact): fact is [string, string] => fact[1] !== undefined);
    return html`<p>
        ${messages.transfer({ total: moneyText(outstanding, currency, locale), number: transfer.reference })}
      </p>
      <p>${facts.map(([name, text]) => html`${name}: <strong>${text}</strong><br />`)}</p>`;
  }
  const provider = paymentMethod?.providerName;
  return html`${outstanding > 0 && key === BY_INVOICE && html`<p>${messages.invoice}</p>`}
    ${outstanding > 0 && provider && html`<p>${messages.provider({ name: provider })}</p>`}
    <p>${messages.inProgress}</p>`;
}
