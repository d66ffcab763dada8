import { captureOrderPayment, createOrderPayment, createOrderRefund } from '../../orders/manage-payments.ts';
import { html } from '../../http/html.ts';
import { currencyDigits } from '../../kernel/money.ts';
import { decimalText } from '../components/decimal.ts';
import { textField } from '../components/form.ts';
import type { OrderAction } from './action.ts';
import { typedDecimal } from './decimal.ts';
import { moneyIn, payableOf } from './order-view.ts';

export const pay: OrderAction = {
  name: 'pay',
  isPossible: ({ order }) => payableOf(order).amount > 0,
  fields: ({ visit, order }, draft) => {
    const words = visit.words.orders.payment;
    const { amount, currency } = payableOf(order);
    return html`<div class="row">
      ${textField({
        name: 'amount',
        label: words.amount,
        value: decimalText(amount, visit.language, currencyDigits(currency)),
        unit: currency,
        inputMode: 'decimal',
        isRequired: true,
        draft,
      })}
      ${textField({ name: 'reference', label: words.reference, maxLength: 200, draft })}
      ${textField({ name: 'note', label: words.note, maxLength: 1000, draft })}
    </div>`;
  },
  save: async (visit, form, { orderId, currencyId }) => {
    const amount = typedDecimal(form.field('amount'));
    await visit.call(createOrderPayment, {
      params: { orderId },
      body: { amount, reference: form.field('reference') || null, note: form.field('note') || null },
    });
    const money = moneyIn(visit)({ amount: Number(amount), currency: currencyId });
    return { text: visit.words.orders.payment.recorded({ amount: money }) };
  },
};

/** Captures money that a provider has reserved. */
export const capture: OrderAction = {
  name: 'capture',
  isPossible: ({ order }) =>
    order.management.paymentAttempts?.some(({ state }) => state === 'authorized') ?? false,
  fields: ({ visit }) => html`<p>${visit.words.orders.payment.captureText}</p>`,
  save: async (visit, _form, { orderId }) => {
    await visit.call(captureOrderPayment, { params: { orderId } });
    return { text: visit.words.orders.payment.captured };
  },
};

export const refund: OrderAction = {
  name: 'refund',
  isPossible: ({ order: { management } }) => management.paidAmount.amount > management.refundedAmount.amount,
  fields: ({ visit, order }, draft) => {
    const words = visit.words.orders.payment;
    const { paidAmount, refundedAmount, paymentAttempts = [] } = order.management;
    const left = { ...paidAmount, amount: Number((paidAmount.amount - refundedAmount.amount).toFixed(4)) };
    const provider = paymentAttempts.find(({ state }) => state === 'paid')?.provider;
    return html`<div class="row">
        ${textField({
          name: 'amount',
          label: words.amount,
          value: decimalText(left.amount, visit.language, currencyDigits(left.currency)),
          unit: left.currency,
          inputMode: 'decimal',
          hint: words.refundable({ amount: moneyIn(visit)(left) }),
          isRequired: true,
          draft,
        })}
        ${textField({ name: 'note', label: words.refundNote, maxLength: 1000, draft })}
      </div>
      <p class="hint">${provider === undefined ? words.refundByHand : words.refundThrough({ provider })}</p>`;
  },
  save: async (visit, form, { orderId, currencyId }) => {
    const amount = typedDecimal(form.field('amount'));
    await visit.call(createOrderRefund, {
      params: { orderId },
      body: { amount, note: form.field('note') || null },
    });
    const money = moneyIn(visit)({ amount: Number(amount), currency: currencyId });
    return { text: visit.words.orders.payment.refunded({ amount: money }) };
  },
};
