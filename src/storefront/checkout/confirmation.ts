import { bankTransfer } from '../../orders/bank-transfer.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import type { OrderTokens } from '../../orders/order-link.ts';
import { paymentState } from '../../orders/payments/payment-state.ts';
import { findManagedOrder } from '../../orders/queries.ts';
import { toOrder } from '../../orders/render.ts';
import type { Order } from '../../orders/schema.ts';
import { orderDelivery } from '../../orders/order-delivery.ts';
import { linesAndTotals, orderParties } from './review-step.ts';
import { paymentNotice } from '../payment/payment-notice.ts';
import { orderCompleted } from '../scripts/events.ts';
import type { Pages } from '../pages.ts';
import { priceText } from '../../http/price-text.ts';
import { shopPath, type Visit } from '../visit.ts';
import { messagesIn } from '../../kernel/messages.ts';

/** The order that the visitor has just placed, which only the visitor's session names. */
export function confirmation(pages: Pages, tokens: OrderTokens): void {
  pages.get('/confirmation', async (visit) => {
    const { db, shopId, session, locale, settings, origin } = visit;
    if (session.order === undefined) throw notFound();
    const row = await findManagedOrder(db, shopId, session.order);
    if (!row) throw notFound();
    const payment = await paymentState(db, shopId, row);
    const token = tokens.token(shopId, row.orderId);
    const order = toOrder(row, { locale, origin, settings });
    const messages = messagesIn(locale).storefront.confirmation;
    const isNew = session.visitorEvents?.some(({ event }) => event === 'order:completed');
    return {
      title: messages.title,
      path: '/confirmation',
      isPrivate: true,
      events: isNew && session.consent === 'all' ? [orderCompleted(order)] : [],
      main: html`<h1>${messages.title}</h1>
        <p>${messages.number({ number: order.orderNumber })}</p>
        <p>${messages.email({ address: order.billingAddress.emailAddress ?? '' })}</p>
        <h2>${messages.next}</h2>
        ${paymentNotice(visit, token, row, payment) ?? nextSteps(visit, order)}
        ${orderParties(visit, order, { hasLinks: false, delivery: orderDelivery(row, locale) })}
        ${linesAndTotals(visit, order, row.content)}
        <p>
          <a class="button" href="${shopPath(visit, `/order/${token}`)}">${messages.order}</a>
          <a class="quiet" href="${shopPath(visit, '')}">${messages.continueShopping}</a>
        </p>`,
    };
  });
}

/** Every new shop has this key for an invoice. */
const BY_INVOICE = 'invoice';

/** The next steps of the customer and of the shop. */
export function nextSteps({ settings, locale }: Visit, order: Order): Markup {
  const messages = messagesIn(locale).storefront.confirmation;
  const { paymentMethod } = order.paymentData ?? {};
  const { grandTotal } = order.lineItemContainer;
  const transfer = bankTransfer(
    { orderNumber: order.orderNumber, paymentMethodId: paymentMethod?.id },
    settings,
  );
  const key = settings.paymentMethods.find(
    ({ paymentMethodId }) => paymentMethodId === paymentMethod?.id,
  )?.key;
  if (grandTotal.amount > 0 && transfer) {
    const facts = [
      [messages.bank.holder, transfer.holder],
      [messages.bank.name, transfer.bank],
      [messages.bank.iban, transfer.iban],
      [messages.bank.bic, transfer.bic],
      [messages.bank.reference, transfer.reference],
    ].filter((fact): fact is [string, string] => fact[1] !== undefined);
    return html`<p>
        ${messages.transfer({ total: priceText(grandTotal, locale), number: transfer.reference })}
      </p>
      <p>${facts.map(([name, text]) => html`${name}: <strong>${text}</strong><br />`)}</p>`;
  }
  const provider = paymentMethod?.providerName;
  return html`${grandTotal.amount > 0 && key === BY_INVOICE && html`<p>${messages.invoice}</p>`}
    ${grandTotal.amount > 0 && provider && html`<p>${messages.provider({ name: provider })}</p>`}
    <p>${messages.inProgress}</p>`;
}
