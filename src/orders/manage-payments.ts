import { badRequest, conflict } from '../http/errors.ts';
import type { Operations } from '../http/operation.ts';
import { newId } from '../kernel/ids.ts';
import { queueEmails } from '../platform/email/queue.ts';
import { recordEvents } from '../platform/events/log.ts';
import { formatMoney, toDecimal } from '../kernel/money.ts';
import { changeOrder, type OrderChanges } from './change.ts';
import {
  exactAmount,
  manageOperation,
  managedOrder,
  openOrder,
  outstandingOf,
  record,
  refuseCancelled,
  statesReached,
  type OpenOrder,
  type OrderCall,
} from './manage-change.ts';
import { insertPayment, type Payment } from './manage-queries.ts';
import { MoneyRequest } from './manage-schema.ts';
import { emailAddressOf } from './order-email.ts';
import { queuePaymentReceived } from './payment-emails.ts';
import type { ManagedOrder } from './queries.ts';
import { refundEmail } from './refund-email.ts';

export function managedPayments(api: Operations): void {
  api.write(
    {
      ...manageOperation,
      method: 'POST',
      path: '/orders/:orderId/payments',
      name: 'createOrderPayment',
      summary: 'Create order payment',
      description:
        'Records money that came in, and tells the customer by email. 400: more than what is outstanding. 409: the order is cancelled.',
      body: MoneyRequest,
      status: 201,
    },
    async (call) => {
      const { tx, shopId, body } = call;
      const open = await openOrder(call);
      const { order, dealings, settings } = open;
      refuseCancelled(order);
      const amount = exactAmount(body.amount, order, 'amount', { least: 1 });
      const outstanding = outstandingOf(order);
      if (amount > outstanding) {
        throw badRequest(`No more than ${moneyText(outstanding, order)} are outstanding`);
      }
      const paymentId = newId(tx.now);
      await insertPayment(tx, shopId, order.orderId, {
        paymentId,
        kind: 'payment',
        amount,
        reference: body.reference ?? null,
        note: body.note ?? null,
        returnId: null,
      });
      const paidAmount = order.paidAmount + amount;
      const states = statesReached({ ...order, paidAmount }, dealings.shipments, tx.now);
      const paid = await changeOrder(tx, shopId, order, { paidAmount, ...states }, { also: ['payments'] });
      await record(call, open, 'payment recorded', { paymentId, amount: toDecimal(amount, order.currency) });
      await queuePaymentReceived(tx, shopId, paid, amount);
      return managedOrder(tx, call, paid, settings);
    },
  );

  api.write(
    {
      ...manageOperation,
      method: 'POST',
      path: '/orders/:orderId/refunds',
      name: 'createOrderRefund',
      summary: 'Create order refund',
      description:
        'Records money that went back, and tells the customer by email. 409: more than what is left of the payments.',
      body: MoneyRequest,
      status: 201,
    },
    async (call) => {
      const { tx, body } = call;
      const open = await openOrder(call);
      const { order, settings } = open;
      const amount = exactAmount(body.amount, order, 'amount', { least: 1 });
      const paymentId = newId(tx.now);
      const after = await refunded(call, open, amount, {
        paymentId,
        reference: body.reference ?? null,
        note: body.note ?? null,
        returnId: null,
      });
      await record(call, open, 'refunded', { paymentId, amount: toDecimal(amount, order.currency) });
      return managedOrder(tx, call, after, settings);
    },
  );
}

/**
 * Gives back no more than what is left of the payments, and tells the customer. `also`: what has changed beside the row
 * of the order and the payments. The order as it is then.
 */
export async function refunded(
  { tx, shopId }: OrderCall,
  { order }: OpenOrder,
  amount: number,
  refund: Pick<Payment, 'paymentId' | 'reference' | 'note' | 'returnId'>,
  { changes = {}, also = [] }: { changes?: OrderChanges; also?: readonly string[] } = {},
): Promise<ManagedOrder> {
  const left = order.paidAmount - order.refundedAmount;
  if (amount > left) throw conflict(`No more than ${moneyText(left, order)} can be refunded`);
  await insertPayment(tx, shopId, order.orderId, { ...refund, kind: 'refund', amount });
  const after = await changeOrder(
    tx,
    shopId,
    order,
    { ...changes, refundedAmount: order.refundedAmount + amount },
    { also: [...also, 'payments'] },
  );
  const { currency } = order;
  recordEvents(tx, shopId, [
    {
      type: 'ORDER_REFUNDED',
      resourceId: order.orderId,
      data: { amount: toDecimal(amount, currency), currency },
    },
  ]);
  const to = emailAddressOf(order);
  if (to !== undefined) {
    const { orderId, orderNumber, locale } = order;
    const said = { orderId, orderNumber, amount: formatMoney(amount, currency, locale) };
    await queueEmails(tx, shopId, refundEmail, [{ to, locale, facts: said }]);
  }
  return after;
}

/** `12.5 EUR` */
function moneyText(minor: number, { currency }: ManagedOrder): string {
  return `${toDecimal(minor, currency)} ${currency}`;
}
