import type { Transaction } from '../../db/database.ts';
import { newId, secretHash } from '../../kernel/ids.ts';
import { toDecimal } from '../../kernel/money.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { changeOrder, lockOrder } from '../change.ts';
import { recordHistory, recordHistoryOnce } from '../history.ts';
import { findOrderActivity, insertPayment, type OrderPayment } from '../manage-queries.ts';
import { queuePaymentProblem } from '../payment-emails.ts';
import type { ManagedOrder } from '../queries.ts';
import type { Chargeback, PaymentOutcome, ReportedRefund } from './provider.ts';
import { reopenRefund, type Attempt } from './queries.ts';

const MADE_THERE = 'Made at the payment provider';

/**
 * Updates an order with changes of its money at the provider that we did not make: refunds in the provider's
 * dashboard, and chargebacks of a bank. The order is locked. Returns whether something has to wait until a refund of
 * our own is settled.
 */
export async function settleReports(
  tx: Transaction,
  shopId: string,
  attempt: Attempt,
  { refunds = [], chargebacks = [] }: PaymentOutcome,
): Promise<boolean> {
  if (refunds.length === 0 && chargebacks.length === 0) return false;
  const { orderId, attemptId } = attempt;
  const activity = await findOrderActivity(tx, shopId, orderId);
  const ours = activity.payments.filter((one) => one.kind === 'refund' && one.attemptId === attemptId);
  let order: ManagedOrder = (await lockOrder(tx, shopId, orderId))!;
  let mustWait = false;
  for (const refund of refunds) {
    const known = ours.find((one) => isSame(one, refund));
    if (known) {
      // A completed refund can still fail, for example when the account of the customer is closed.
      const hasFailed = known.state === 'done' && refund.state === 'failed';
      if (hasFailed) await reopenRefund(tx, shopId, orderId, known.paymentId);
    } else if (refund.state !== 'failed') {
      const left = order.paidAmount - order.refundedAmount;
      const isUnderWay = ours.some(
        (one) => one.state === 'requested' && !refunds.some((other) => isSame(one, other)),
      );
      // One of our own that is counted and not made yet may turn out to be too much.
      if (refund.amount > left && isUnderWay) mustWait = true;
      else if (left > 0) order = await recordRefund(tx, shopId, order, attempt, refund);
    }
  }
  for (const chargeback of chargebacks) await recordChargeback(tx, shopId, order, attempt, chargeback);
  return mustWait;
}

function isSame({ paymentId, reference }: OrderPayment, refund: ReportedRefund): boolean {
  return paymentId === refund.id || reference === refund.reference;
}

/** Recorded like one that was requested here and has its provider id already: the worker asks for its outcome. */
async function recordRefund(
  tx: Transaction,
  shopId: string,
  order: ManagedOrder,
  { attemptId }: Attempt,
  { reference, amount: made }: ReportedRefund,
): Promise<ManagedOrder> {
  const { orderId, currency, paidAmount, refundedAmount } = order;
  const amount = Math.min(made, paidAmount - refundedAmount);
  const paymentId = newId(tx.now);
  const refund = { paymentId, amount, reference, note: MADE_THERE, returnId: null, attemptId };
  await insertPayment(tx, shopId, orderId, { ...refund, kind: 'refund' });
  const changes = { refundedAmount: refundedAmount + amount };
  const changed = await changeOrder(tx, shopId, order, changes, { also: ['payments'] });
  await recordHistory(tx, shopId, orderId, {
    appId: null,
    kind: 'refund requested',
    details: { paymentId, amount: toDecimal(amount, currency), reason: MADE_THERE },
  });
  return changed;
}

/** The merchant is told once, and decides: the money may come back when the claim is contested. */
async function recordChargeback(
  tx: Transaction,
  shopId: string,
  order: ManagedOrder,
  { attemptId, provider }: Attempt,
  { reference, amount }: Chargeback,
): Promise<void> {
  const eventId = secretHash(`chargeback ${reference} of ${attemptId}`).toString('hex').slice(0, 32);
  const details = { attemptId, provider, amount: toDecimal(amount, order.currency), reference };
  const isNew = await recordHistoryOnce(tx, shopId, order.orderId, eventId, { kind: 'chargeback', details });
  if (!isNew) return;
  await changeOrder(tx, shopId, order, {}, { also: ['payments'] });
  const settings = await shopSettings(tx, shopId);
  await queuePaymentProblem(tx, shopId, settings, order, { problem: 'chargeback', amount });
}
