import { captureOrderPayment, createOrderPayment, createOrderRefund } from '../../orders/manage-payments.ts';
import { html } from '../../http/html.ts';
import { currencyDigits } from '../../kernel/money.ts';
import { decimalText } from '../components/decimal.ts';
import { declareForm, readFields, showFields } from '../components/declared-form.ts';
import type { OrderAction } from './action.ts';
import { moneyIn, payableAmount } from './order-view.ts';

const PAYMENT = declareForm(createOrderPayment, ({ orders: { payment: messages } }) => ({
  amount: { kind: 'decimal', label: messages.amount, isRequired: true },
  reference: { label: messages.reference },
  note: { label: messages.note },
}));

export const pay: OrderAction = {
  name: 'pay',
  isPossible: ({ order }) => payableAmount(order).amount > 0,
  form: PAYMENT,
  fields: ({ visit, order }, draft) => {
    const { amount, currency } = payableAmount(order);
    const values = { amount: decimalText(amount, visit.language, currencyDigits(currency)) };
    const field = showFields(PAYMENT, visit, { values, draft });
    return html`<div class="row">
      ${field('amount', { unit: currency })} ${field('reference')} ${field('note')}
    </div>`;
  },
  save: async (visit, form, { orderId, currencyId }) => {
    const body = readFields(PAYMENT, form, visit);
    await visit.call(createOrderPayment, { params: { orderId }, body });
    const money = moneyIn(visit)({ amount: Number(body.amount), currency: currencyId });
    return { text: visit.messages.orders.payment.recorded({ amount: money }) };
  },
};

/** Captures money that a provider has reserved. */
export const capture: OrderAction = {
  name: 'capture',
  isPossible: ({ order }) =>
    order.management.paymentAttempts?.some(({ state }) => state === 'authorized') ?? false,
  fields: ({ visit }) => html`<p>${visit.messages.orders.payment.captureText}</p>`,
  save: async (visit, _form, { orderId }) => {
    await visit.call(captureOrderPayment, { params: { orderId } });
    return { text: visit.messages.orders.payment.captured };
  },
};

const REFUND = declareForm(createOrderRefund, ({ orders: { payment: messages } }) => ({
  amount: { kind: 'decimal', label: messages.amount, isRequired: true },
  note: { label: messages.refundNote },
}));

export const refund: OrderAction = {
  name: 'refund',
  isPossible: ({ order: { management } }) => management.paidAmount.amount > management.refundedAmount.amount,
  form: REFUND,
  fields: ({ visit, order }, draft) => {
    const messages = visit.messages.orders.payment;
    const { paidAmount, refundedAmount, paymentAttempts = [] } = order.management;
    const left = { ...paidAmount, amount: Number((paidAmount.amount - refundedAmount.amount).toFixed(4)) };
    const provider = paymentAttempts.find(({ state }) => state === 'paid')?.provider;
    const values = { amount: decimalText(left.amount, visit.language, currencyDigits(left.currency)) };
    const hint = messages.refundable({ amount: moneyIn(visit)(left) });
    const field = showFields(REFUND, visit, { values, draft });
    return html`<div class="row">${field('amount', { unit: left.currency, hint })} ${field('note')}</div>
      <p class="hint">
        ${provider === undefined ? messages.refundByHand : messages.refundThrough({ provider })}
      </p>`;
  },
  save: async (visit, form, { orderId, currencyId }) => {
    const body = readFields(REFUND, form, visit);
    await visit.call(createOrderRefund, { params: { orderId }, body });
    const money = moneyIn(visit)({ amount: Number(body.amount), currency: currencyId });
    return { text: visit.messages.orders.payment.refunded({ amount: money }) };
  },
};
