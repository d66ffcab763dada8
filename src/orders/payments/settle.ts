import type { Transaction } from '../../db/database.ts';
import { newId } from '../../kernel/ids.ts';
import { toDecimal } from '../../kernel/money.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { changeOrder, lockOrder } from '../change.ts';
import { recordHistory } from '../history.ts';
import { payableOf } from '../manage-change.ts';
import { findOrderActivity } from '../manage-queries.ts';
import { queuePaymentFailed, queuePaymentProblem, queuePaymentReceived } from '../payment-emails.ts';
import type { ManagedOrder } from '../queries.ts';
import { recordPayment } from '../record-payment.ts';
import { refunded } from '../refund.ts';
import { isSentInFull } from './capture.ts';
import { delayAfter, nextCheck } from './checks.ts';
import { isNewState, PROGRESS } from './progress.ts';
import type { PaymentOutcome } from './provider.ts';
import { settleReports } from './settle-reports.ts';
import { lockAttempt, requestCapture, updateAttempt, type Attempt } from './queries.ts';

/**
 * Updates an order with the provider's state of one of its attempts, in one transaction with the order locked. All
 * sources of news call this: the return of the shopper, a webhook, a poll. The money of an attempt is recorded once,
 * because the attempt is marked as paid, and because the payment has the id of the attempt.
 */
export async function settle(
  tx: Transaction,
  shopId: string,
  { orderId, attemptId }: Pick<Attempt, 'orderId' | 'attemptId'>,
  outcome: PaymentOutcome,
  error: string | null = null,
): Promise<void> {
  const order = await lockOrder(tx, shopId, orderId);
  const attempt = order && (await lockAttempt(tx, shopId, attemptId));
  if (!attempt) return;
  if (outcome.state === 'paid' && outcome.currency !== attempt.currency) {
    throw new Error(`The provider says ${outcome.currency} of a payment in ${attempt.currency}`);
  }
  const next = { ...attemptAfter(attempt, outcome, tx.now), error };
  await updateAttempt(tx, shopId, next, nextCheck(next, tx.now));
  const isReserved = next.state === 'authorized' && attempt.state !== 'authorized';
  // The order was marked as sent before the money was reserved.
  if (isReserved && isSentInFull(order)) await requestCapture(tx, shopId, orderId);
  const isNews = next.state !== attempt.state;
  if (isNews && next.state === 'paid') await receive(tx, shopId, order, next);
  if (next.state === 'paid' && (await settleReports(tx, shopId, next, outcome))) {
    await updateAttempt(tx, shopId, next, new Date(tx.now.getTime() + delayAfter(next.checks)));
  }
  if (!isNews) return;
  if (next.state === 'failed' || next.state === 'cancelled') await recordEnd(tx, shopId, order, next);
  // Reserved money makes the order ready to ship. Money on its way has yet to arrive.
  if (isReserved) await changeOrder(tx, shopId, order, { paymentWait: null });
  if (next.state === 'processing' && order.paymentWait === 'failed') {
    await changeOrder(tx, shopId, order, { paymentWait: 'open' });
  }
}

function attemptAfter(attempt: Attempt, { state, captured }: PaymentOutcome, now: Date): Attempt {
  const isNews = isNewState(attempt.state, state);
  const hasEnded = PROGRESS[attempt.state] >= PROGRESS.failed;
  return {
    ...attempt,
    ...(isNews && { state, captured: state === 'paid' ? captured : 0, updatedAt: now }),
    // A wish stays until it has a result.
    wish: isNews || hasEnded ? null : attempt.wish,
    // An ended one is checked only when there is news of it.
    checks: isNews || hasEnded ? 0 : attempt.checks + 1,
  };
}

/**
 * Records the money. A surplus, because the order was cancelled or paid in another way meanwhile, is refunded at once.
 */
async function receive(
  tx: Transaction,
  shopId: string,
  order: ManagedOrder,
  attempt: Attempt,
): Promise<void> {
  const { attemptId, captured, reference } = attempt;
  if (captured <= 0) throw new Error('The provider says that nothing was paid of a payment that is paid');
  const payable = payableOf(order);
  const activity = await findOrderActivity(tx, shopId, order.orderId);
  const payment = { paymentId: attemptId, amount: captured, reference, note: null };
  const paid = await recordPayment(tx, shopId, { order, activity, appId: null }, payment);
  const excess = captured - payable;
  if (excess < captured) await queuePaymentReceived(tx, shopId, paid, captured - Math.max(0, excess));
  if (excess <= 0) return;
  const settings = await shopSettings(tx, shopId);
  await queuePaymentProblem(tx, shopId, settings, paid, { problem: 'notNeeded', amount: excess });
  const refund = { paymentId: newId(tx.now), reference: null, note: null, returnId: null };
  await refunded({ tx, shopId }, { order: paid, appId: null }, excess, refund, {
    destination: 'money',
    reason: order.cancelledAt ? 'paid after the order was cancelled' : 'paid more than the order needs',
  });
}

/** It failed. Unless the order is to be cancelled, its customer is told how to retry. */
async function recordEnd(
  tx: Transaction,
  shopId: string,
  order: ManagedOrder,
  attempt: Attempt,
): Promise<void> {
  const { attemptId, provider, state, amount, currency } = attempt;
  // A page that was closed because the order has another amount or method now is followed by another one.
  const isCurrent = order.content.payment?.method?.paymentMethodId === attempt.paymentMethodId;
  const isWanted = payableOf(order) === amount && isCurrent;
  await changeOrder(tx, shopId, order, isWanted ? { paymentWait: 'failed' } : {}, { also: ['payments'] });
  await recordHistory(tx, shopId, order.orderId, {
    appId: null,
    kind: 'payment failed',
    details: { attemptId, provider, state, amount: toDecimal(amount, currency) },
  });
  const isDue = attempt.releaseAt !== null && attempt.releaseAt <= tx.now;
  if (!isWanted || isDue) return;
  const settings = await shopSettings(tx, shopId);
  // The goods are sent already: the merchant has to take care of the money.
  const isSent = isSentInFull(order);
  if (!isSent) await queuePaymentFailed(tx, shopId, order);
  const problem = isSent ? 'captureFailed' : 'failed';
  await queuePaymentProblem(tx, shopId, settings, order, { problem, amount });
}
