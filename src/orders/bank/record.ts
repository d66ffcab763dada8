import type { Transaction } from '../../db/database.ts';
import { newId } from '../../kernel/ids.ts';
import { payableOf } from '../manage-change.ts';
import { findOrderActivity } from '../manage-queries.ts';
import { queuePaymentReceived } from '../payment-emails.ts';
import { requestCancel } from '../payments/queries.ts';
import { lockOrder } from '../change.ts';
import { recordPayment } from '../record-payment.ts';
import { lockOpenEntry, markRecorded } from './queries.ts';

export interface EntryPayment {
  entryId: string;
  orderId: string;
}

/**
 * Records entries as payments of their orders. An entry that was recorded before, or whose order has changed so that it no
 * longer fits, is left as it is: its lock decides, so two clicks record one payment. `appId` is the user. Returns how many were
 * recorded.
 */
export async function recordBankEntries(
  tx: Transaction,
  shopId: string,
  payments: readonly EntryPayment[],
  appId: string,
): Promise<number> {
  let recorded = 0;
  // In the order of their ids, so that two of these transactions cannot deadlock.
  const inOrder = payments.toSorted((one, other) => (one.orderId < other.orderId ? -1 : 1));
  for (const payment of inOrder) {
    if (await recordEntry(tx, shopId, payment, appId)) recorded++;
  }
  return recorded;
}

async function recordEntry(
  tx: Transaction,
  shopId: string,
  { entryId, orderId }: EntryPayment,
  appId: string,
): Promise<boolean> {
  const order = await lockOrder(tx, shopId, orderId);
  const entry = await lockOpenEntry(tx, shopId, entryId);
  if (!order || !entry) return false;
  const { amount, currency, payer, bookedOn, reference } = entry;
  const payable = payableOf(order);
  const isOpen = !order.cancelledAt && !order.rejectedOn && order.editingAppId === null;
  if (!isOpen || order.currency !== currency || amount > payable) return false;
  // A customer who has transferred the money must not pay again on the page of a provider.
  if (amount === payable) await requestCancel(tx, shopId, orderId);
  const activity = await findOrderActivity(tx, shopId, orderId);
  const paid = await recordPayment(
    tx,
    shopId,
    { order, activity, appId },
    {
      paymentId: newId(tx.now),
      amount,
      reference,
      note: [bookedOn, payer].filter((part) => part !== null).join(' '),
    },
  );
  await markRecorded(tx, shopId, entryId, order.orderId);
  await queuePaymentReceived(tx, shopId, paid, amount);
  return true;
}
