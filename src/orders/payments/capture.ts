import type { Transaction } from '../../db/database.ts';
import { toDecimal } from '../../kernel/money.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { changeOrder, lockOrder } from '../change.ts';
import { recordHistory } from '../history.ts';
import { queuePaymentProblem } from '../payment-emails.ts';
import type { ManagedOrder } from '../queries.ts';
import { delayAfter, nextCheck } from './checks.ts';
import { lockAttempt, requestCapture, updateAttempt, type Attempt } from './queries.ts';

/** An order that is marked as sent in full, by any caller. */
export const isSentInFull = ({ dispatchedOn, deliveredOn }: ManagedOrder) =>
  dispatchedOn !== null || deliveredOn !== null;

/** Captures the money reserved for an order with the change that makes it sent in full. */
export async function captureWhenSent(
  tx: Transaction,
  shopId: string,
  before: ManagedOrder,
  after: ManagedOrder,
): Promise<void> {
  const isSentNow = isSentInFull(after) && !isSentInFull(before);
  if (isSentNow && !after.cancelledAt) await requestCapture(tx, shopId, after.orderId);
}

/** This many tries without an answer, which take half an hour, are worth an email. */
const TRIES_UNTIL_TOLD = 6;

/**
 * The reserved money could not be captured. If the provider refuses, the merchant must investigate and request it
 * again; without an answer it is retried, and after a while the merchant is told as well.
 */
export async function recordFailedCapture(
  tx: Transaction,
  shopId: string,
  { orderId, attemptId }: Pick<Attempt, 'orderId' | 'attemptId'>,
  { error, isRefused }: { error: string; isRefused: boolean },
): Promise<void> {
  const order = await lockOrder(tx, shopId, orderId);
  const attempt = order && (await lockAttempt(tx, shopId, attemptId));
  if (!attempt || attempt.state !== 'authorized' || attempt.wish !== 'capture') return;
  const checks = attempt.checks + 1;
  const next: Attempt = { ...attempt, wish: isRefused ? null : 'capture', checks, error };
  const retryAt = new Date(tx.now.getTime() + delayAfter(attempt.checks));
  await updateAttempt(tx, shopId, next, isRefused ? nextCheck(next, tx.now) : retryAt);
  if (!isRefused && checks !== TRIES_UNTIL_TOLD) return;
  const { provider, amount } = attempt;
  await changeOrder(tx, shopId, order, {}, { also: ['payments'] });
  await recordHistory(tx, shopId, orderId, {
    appId: null,
    kind: 'capture failed',
    details: { attemptId, provider, amount: toDecimal(amount, order.currency) },
  });
  const settings = await shopSettings(tx, shopId);
  await queuePaymentProblem(tx, shopId, settings, order, { problem: 'captureFailed', amount });
}
