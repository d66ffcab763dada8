import type { Transaction } from '../db/database.ts';
import { toDecimal } from '../kernel/money.ts';
import { changeOrder } from './change.ts';
import { recordHistory } from './history.ts';
import { statesReached, type OpenOrder } from './manage-change.ts';
import { insertPayment, type OrderPayment } from './manage-queries.ts';
import type { ManagedOrder } from './queries.ts';

/**
 * Records a payment for an order that this transaction has locked: by hand, or through a provider. `appId` is null for
 * the shop itself. A cancelled order reaches no state by it. Returns the updated order.
 */
export async function recordPayment(
  tx: Transaction,
  shopId: string,
  { order, activity, appId }: Pick<OpenOrder, 'order' | 'activity'> & { appId: string | null },
  payment: Pick<OrderPayment, 'paymentId' | 'amount' | 'reference' | 'note'>,
): Promise<ManagedOrder> {
  const { paymentId, amount } = payment;
  await insertPayment(tx, shopId, order.orderId, { ...payment, kind: 'payment', returnId: null });
  const paidAmount = order.paidAmount + amount;
  const states = order.cancelledAt ? {} : statesReached({ ...order, paidAmount }, activity.shipments, tx.now);
  const paid = await changeOrder(tx, shopId, order, { paidAmount, ...states }, { also: ['payments'] });
  await recordHistory(tx, shopId, order.orderId, {
    appId,
    kind: 'payment recorded',
    details: { paymentId, amount: toDecimal(amount, order.currency) },
  });
  return paid;
}
