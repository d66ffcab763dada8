import type { Transaction } from '../db/database.ts';
import type { NewEvent } from '../platform/events/log.ts';
import { newId } from '../kernel/ids.ts';
import { queueJobs } from '../platform/jobs/queue.ts';
import type { ManagedOrder } from './queries.ts';

/**
 * An order whose buyer an assistant has brought: the assistant gets the order as it is now, when it was placed and with each
 * change. What waits here is committed with the change itself; the module of assistants sends it.
 */
export const ASSISTANT_ORDER_QUEUE = 'assistant order';

export interface AssistantNotice {
  shopId: string;
  orderId: string;
  /** Seconds since 1970. */
  at: number;
}

type NoticedOrder = Pick<ManagedOrder, 'orderId' | 'assistantSessionId'>;

/** The orders that a transaction has already queued: however often it changes one, its last state is sent once. */
const queued = new WeakMap<Transaction, Set<string>>();

export async function queueAssistantNotices(
  tx: Transaction,
  shopId: string,
  orders: readonly NoticedOrder[],
): Promise<void> {
  const known = queued.get(tx) ?? new Set<string>();
  const waiting = orders.filter(
    ({ orderId, assistantSessionId }) => assistantSessionId !== null && !known.has(orderId),
  );
  if (waiting.length === 0) return;
  queued.set(tx, new Set([...known, ...waiting.map(({ orderId }) => orderId)]));
  const at = Math.floor(tx.now.getTime() / 1000);
  await queueJobs(
    tx,
    shopId,
    ASSISTANT_ORDER_QUEUE,
    waiting.map(({ orderId }) => ({
      id: newId(tx.serviceNow),
      content: { shopId, orderId, at } satisfies AssistantNotice,
    })),
  );
}

/** The parts of an order that its assistant sees, by the names in the data of events. */
const SHOWN: readonly string[] = [
  'orderNumber',
  'lineItems',
  'shippingData',
  'paymentData',
  'grandTotal',
  'shipments',
  'returns',
  'payments',
  'refundedAmount',
  'cancelledOn',
  'deliveredOn',
];

/** Notes and what only the back office sees are no news for an assistant. */
export function changesWhatAssistantsSee(events: readonly NewEvent[]): boolean {
  return events.some(({ data }) => {
    const changed = data?.['changed'];
    return Array.isArray(changed) && changed.some((name: string) => SHOWN.includes(name));
  });
}
