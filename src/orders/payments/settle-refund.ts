import type { Transaction } from '../../db/database.ts';
import { toDecimal } from '../../kernel/money.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { changeOrder, lockOrder } from '../change.ts';
import { recordHistory } from '../history.ts';
import { markRefundFailed } from '../manage-queries.ts';
import { queuePaymentProblem } from '../payment-emails.ts';
import { tellOfRefund } from '../refund.ts';
import { delayAfter } from './checks.ts';
import type { RefundOutcome } from './provider.ts';
import { lockRequestedRefund, updateRefund, type ProviderRefund } from './queries.ts';

/**
 * Records the outcome of a refund at the provider, once. One that failed for good counts as never made: the merchant
 * can refund the amount again, in another way, and its return, if any, says so.
 */
export async function settleRefund(
  tx: Transaction,
  shopId: string,
  { orderId, paymentId }: Pick<ProviderRefund, 'orderId' | 'paymentId'>,
  { state, reference }: Pick<RefundOutcome, 'state'> & { reference: string | null },
  error: string | null = null,
): Promise<void> {
  const order = await lockOrder(tx, shopId, orderId);
  const refund = order && (await lockRequestedRefund(tx, shopId, orderId, paymentId));
  if (!refund) return;
  const next = { ...refund, reference, checks: refund.checks + 1 };
  if (state === 'processing') {
    const checkAt = new Date(tx.now.getTime() + delayAfter(refund.checks));
    await updateRefund(tx, shopId, next, { state: 'requested', error, checkAt });
    return;
  }
  await updateRefund(tx, shopId, next, { state, error, checkAt: null });
  const { returnId } = refund;
  const details = {
    paymentId,
    amount: toDecimal(refund.amount, order.currency),
    ...(returnId !== null && { returnId }),
  };
  const also = { also: ['payments'] };
  if (state === 'failed') {
    const refundedAmount = order.refundedAmount - refund.amount;
    if (returnId !== null) await markRefundFailed(tx, shopId, orderId, returnId);
    const changed = { also: [...also.also, ...(returnId === null ? [] : ['returns'])] };
    await changeOrder(tx, shopId, order, { refundedAmount }, changed);
    await recordHistory(tx, shopId, orderId, { appId: null, kind: 'refund failed', details });
    const settings = await shopSettings(tx, shopId);
    const problem = { problem: 'refundFailed', amount: refund.amount } as const;
    await queuePaymentProblem(tx, shopId, settings, order, problem);
    return;
  }
  await changeOrder(tx, shopId, order, {}, also);
  await recordHistory(tx, shopId, orderId, { appId: null, kind: 'refunded', details });
  await tellOfRefund(tx, shopId, order, refund.amount);
}
