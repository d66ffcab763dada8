import { captureOrderPayment, createOrderPayment, createOrderRefund } from '../../orders/manage-payments.ts';
import { conflict } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { currencyDigits } from '../../kernel/money.ts';
import type { ManagedOrderAnswer } from '../../orders/manage-schema.ts';
import { decimalText } from '../components/decimal.ts';
import { declareForm, readFields, showFields } from '../components/declared-form.ts';
import { plainDay } from '../components/format.ts';
import type { ShopVisit } from '../visit.ts';
import type { OrderAction } from './action.ts';
import { moneyIn, payableAmount, type OrderAmount } from './order-view.ts';

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
  returnId: { kind: 'choice', label: messages.refundFor, empty: messages.refundForOrder },
  amount: { kind: 'decimal', label: messages.amount, isRequired: true },
  goodwill: { label: messages.goodwill },
  note: { label: messages.refundNote },
  asStoreCredit: { kind: 'tick', label: messages.asStoreCredit, hint: messages.asStoreCreditHint },
}));

/** Refuses, in the reader's language, a refund of more than is left of the payments, or due without a goodwill reason. */
export function requireJustified(
  visit: ShopVisit,
  { management: { paidAmount, refundedAmount } }: ManagedOrderAnswer,
  {
    amount,
    left,
    goodwill,
  }: { amount: number | string; left: OrderAmount; goodwill: string | null | undefined },
): void {
  const messages = visit.messages.orders.payment;
  const paid = difference(paidAmount, refundedAmount);
  if (Number(amount) > paid.amount) throw conflict(messages.tooMuch({ amount: moneyIn(visit)(paid) }));
  if (Number(amount) > left.amount && !goodwill) {
    throw conflict(messages.needsGoodwill({ amount: moneyIn(visit)(left) }));
  }
}

const difference = (whole: OrderAmount, part: OrderAmount): OrderAmount => ({
  ...whole,
  amount: Number((whole.amount - part.amount).toFixed(4)),
});

/** The returns whose items are back. Those that are refunded in full can take a goodwill refund. */
const refundableReturns = ({ management: { returns } }: ManagedOrderAnswer) =>
  returns.filter(({ state }) => state === 'received' || state === 'refunded' || state === 'refundFailed');

export const refund: OrderAction = {
  name: 'refund',
  isPossible: ({ order: { management } }) => management.paidAmount.amount > management.refundedAmount.amount,
  form: REFUND,
  fields: ({ visit, order }, draft) => {
    const messages = visit.messages.orders.payment;
    const money = moneyIn(visit);
    const { paidAmount, refundedAmount, refundableAmount, paymentAttempts = [] } = order.management;
    const returns = refundableReturns(order);
    // The refund of a return belongs to it, so that the return does not ask for it again.
    const proposed = returns.find((returned) => returned.refundableAmount.amount > 0);
    const due = proposed?.refundableAmount ?? refundableAmount;
    const provider = paymentAttempts.find(({ state }) => state === 'paid')?.provider;
    const values = {
      returnId: proposed?.returnId,
      amount: decimalText(due.amount, visit.language, currencyDigits(due.currency)),
    };
    const field = showFields(REFUND, visit, { values, draft });
    const choices = returns.map((returned) => ({
      value: returned.returnId,
      text: messages.refundForReturn({
        date: plainDay(new Date(returned.returnedOn), visit.language),
        amount: money(returned.refundableAmount),
      }),
    }));
    const hint = messages.refundable({ amount: money(difference(paidAmount, refundedAmount)) });
    return html`<p>${messages.refundDue({ amount: money(refundableAmount) })}</p>
      ${choices.length > 0 && field('returnId', { choices })}
      <div class="row">
        ${field('amount', { unit: due.currency, hint })}
        ${field('goodwill', { hint: messages.goodwillHint({ amount: money(due) }) })}
      </div>
      ${field('note')}
      <p class="hint">
        ${provider === undefined ? messages.refundByHand : messages.refundThrough({ provider })}
      </p>
      ${
        // The code is sent by email, and nowhere else.
        Boolean(order.billingAddress.emailAddress) && field('asStoreCredit')
      }`;
  },
  save: async (visit, form, order) => {
    const { orderId, currencyId } = order;
    const body = readFields(REFUND, form, visit);
    const returned = order.management.returns.find(({ returnId }) => returnId === body.returnId);
    const { refundableAmount: left } = returned ?? order.management;
    requireJustified(visit, order, { amount: body.amount, left, goodwill: body.goodwill });
    await visit.call(createOrderRefund, { params: { orderId }, body });
    const money = moneyIn(visit)({ amount: Number(body.amount), currency: currencyId });
    const messages = visit.messages.orders.payment;
    return { text: (body.asStoreCredit ? messages.refundedAsCredit : messages.refunded)({ amount: money }) };
  },
};
