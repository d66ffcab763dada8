import { Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { newId } from '../kernel/ids.ts';
import {
  exactAmount,
  manageOperation,
  managedOrder,
  openOrder,
  outstandingOf,
  refuseCancelled,
} from './manage-change.ts';
import { MoneyRequest, NewRefund } from './manage-schema.ts';
import { refundForReturn } from './manage-returns.ts';
import { queuePaymentReceived } from './payment-emails.ts';
import { requestCancel, requestCapture } from './payments/queries.ts';
import { recordPayment } from './record-payment.ts';
import { refunded } from './refund.ts';

export const createOrderPayment = operation({
  ...manageOperation,
  method: 'POST',
  path: '/orders/:orderId/payments',
  name: 'createOrderPayment',
  summary: 'Create order payment',
  description:
    'Records a received payment and informs the customer by email. 400: more than is outstanding. 409: the order is cancelled.',
  body: MoneyRequest,
  status: 201,
});

export const createOrderRefund = operation({
  ...manageOperation,
  method: 'POST',
  path: '/orders/:orderId/refunds',
  name: 'createOrderRefund',
  summary: 'Create order refund',
  description:
    'Gives back what gift cards have paid, then refunds a payment through its provider, or records a refund made by hand; then informs the customer by email. With asStoreCredit all of it becomes a new gift card of the customer. A refund through a provider is requested first and done a moment later. With returnId it belongs to that return, which becomes refunded; more than is left of the refund of the return needs goodwill, a reason. 409: more than is left of the payments or of the return, or the items of the return are not back.',
  body: NewRefund,
  status: 201,
});

export const captureOrderPayment = operation({
  ...manageOperation,
  method: 'POST',
  path: '/orders/:orderId/capture',
  name: 'captureOrderPayment',
  summary: 'Capture order payment',
  description:
    'Takes the money that a payment provider has reserved for the order (capture: manual in the settings). The payment is recorded a moment later. Orders that are sent in full are captured automatically; use this to capture earlier, or to retry. Repeating it changes nothing. 409: nothing is reserved.',
});

export function managedPayments(api: Operations): void {
  api.write(createOrderPayment, async (call) => {
    const { tx, shopId, body } = call;
    const open = await openOrder(call);
    const { order, settings } = open;
    refuseCancelled(order);
    const amount = exactAmount(body.amount, order, 'amount', { min: 1 });
    const outstanding = outstandingOf(order);
    if (amount > outstanding) {
      throw new Refusal('PAYMENT_TOO_HIGH', { amount: { minor: outstanding, currency: order.currency } });
    }
    // A customer who has paid by hand must not pay again on the page of a provider.
    if (amount === outstanding) await requestCancel(tx, shopId, order.orderId);
    const paid = await recordPayment(tx, shopId, open, {
      paymentId: newId(tx.now),
      amount,
      reference: body.reference ?? null,
      note: body.note ?? null,
    });
    await queuePaymentReceived(tx, shopId, paid, amount);
    return managedOrder(tx, call, paid, settings);
  });

  api.write(createOrderRefund, async (call) => {
    const { tx, body } = call;
    const open = await openOrder(call);
    const { order, settings } = open;
    const { reference = null, note = null, goodwill = null, returnId = null } = body;
    const amount = exactAmount(body.amount, order, 'amount', { min: 1 });
    const destination = body.asStoreCredit ? 'store credit' : 'usual';
    if (returnId !== null) {
      const refund = { returnId, amount, reference, note, goodwill, destination } as const;
      const after = await refundForReturn(call, open, refund);
      return managedOrder(tx, call, after, settings);
    }
    const refund = { paymentId: newId(tx.now), reference, note, returnId };
    const after = await refunded(call, open, amount, refund, {
      goodwill: goodwill === null ? null : { amount, reason: goodwill },
      destination,
    });
    return managedOrder(tx, call, after, settings);
  });

  api.write(captureOrderPayment, async (call) => {
    const { tx, shopId } = call;
    const { order, settings } = await openOrder(call);
    refuseCancelled(order);
    if ((await requestCapture(tx, shopId, order.orderId)) === 0) {
      throw new Refusal('NOTHING_TO_CAPTURE');
    }
    return managedOrder(tx, call, order, settings);
  });
}
