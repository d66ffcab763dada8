import type { Transaction } from '../db/database.ts';
import { newId } from '../kernel/ids.ts';
import { toDecimal } from '../kernel/money.ts';
import { sum } from '../pricing/shares.ts';
import { changeOrder, lockOrder } from './change.ts';
import { recordHistory } from './history.ts';
import { statesReached } from './manage-change.ts';
import { insertPayment } from './manage-queries.ts';
import type { State } from './schema.ts';

/**
 * Records what gift cards have paid for an order that this transaction has just placed. Returns the states that it has
 * reached by that.
 */
export async function recordCardPayments(
  tx: Transaction,
  shopId: string,
  { orderId, at }: { orderId: string; at: Date },
  payments: readonly { giftCardId: string; amount: number }[],
): Promise<Partial<Record<State, Date | null>>> {
  const order = (await lockOrder(tx, shopId, orderId))!;
  const paidAmount = sum(payments.map(({ amount }) => amount));
  for (const { giftCardId, amount } of payments) {
    const payment = { paymentId: newId(at), kind: 'payment', giftCardId, amount } as const;
    await insertPayment(tx, shopId, orderId, { ...payment, reference: null, note: null, returnId: null });
    await recordHistory(tx, shopId, orderId, {
      appId: null,
      kind: 'payment recorded',
      details: { paymentId: payment.paymentId, amount: toDecimal(amount, order.currency), giftCardId },
    });
  }
  const states = statesReached({ ...order, paidAmount }, [], at);
  await changeOrder(tx, shopId, order, { paidAmount, ...states }, { also: ['payments'] });
  const { paidOn = null, partiallyPaidOn = null } = states;
  return { paidOn, partiallyPaidOn };
}
