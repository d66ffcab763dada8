import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../kernel/ids.ts';

/**
 * The history of an order: actions, actors and times. Entries are added and never changed. They name things by their
 * ids and contain no personal data, so they can stay when a customer is erased.
 */
export const HISTORY_KINDS = [
  'editing started',
  'editing ended',
  'line added',
  'line changed',
  'line removed',
  'shipping changed',
  'payment method changed',
  'cancelled',
  'payment recorded',
  'payment reported',
  'payment failed',
  'refund requested',
  'refunded',
  'refund failed',
  'capture failed',
  'chargeback',
  'shipped',
  'shipment undone',
  'returned',
  'return requested',
  'return approved',
  'return rejected',
  'withdrawn',
  'document finalised',
  'patched',
  'VAT number checked',
  'tax corrected',
  'email sent',
  'email not sent',
  'gift card sent',
  'erased',
] as const;
export type HistoryKind = (typeof HISTORY_KINDS)[number];

export interface HistoryRow {
  eventId: string;
  at: Date;
  /** null: the shop itself. */
  appId: string | null;
  appName: string | null;
  kind: HistoryKind;
  details: Record<string, unknown>;
}

export async function recordHistory(
  tx: Transaction,
  shopId: string,
  orderId: string,
  { appId, kind, details }: Pick<HistoryRow, 'appId' | 'kind' | 'details'>,
): Promise<void> {
  await tx.run(sql`
    insert into order_event (shop_id, order_id, event_id, at, app_id, kind, details)
    values (${shopId}, ${orderId}, ${newId(tx.now)}, ${tx.now}, ${appId}, ${kind}, ${details})`);
}

/** For events that may be reported twice: `eventId` identifies them. false: it is recorded already. */
export async function recordHistoryOnce(
  tx: Transaction,
  shopId: string,
  orderId: string,
  eventId: string,
  { kind, details }: Pick<HistoryRow, 'kind' | 'details'>,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into order_event (shop_id, order_id, event_id, at, app_id, kind, details)
    values (${shopId}, ${orderId}, ${eventId}, ${tx.now}, null, ${kind}, ${details})
    on conflict (shop_id, order_id, event_id) do nothing`);
  return inserted === 1;
}

/**
 * Records that the confirmation of an order was not sent, because its address had reached the limit of the day. The
 * event has the id of the email, so a job that runs twice leaves one entry.
 */
export async function recordUnsentEmail(
  db: Queries,
  shopId: string,
  orderId: string,
  emailId: string,
): Promise<void> {
  await db.run(sql`
    insert into order_event (shop_id, order_id, event_id, at, app_id, kind, details)
    select shop_id, order_id, ${emailId}::uuid, ${db.now}::timestamptz, null, 'email not sent',
      '{"email": "order", "cause": "daily limit of the address"}'
    from customer_order where shop_id = ${shopId} and order_id = ${orderId}
    on conflict (shop_id, order_id, event_id) do nothing`);
}

/** Oldest first. */
export function findHistory(db: Queries, shopId: string, orderId: string, limit: number, offset: number) {
  return db.many<HistoryRow>(sql`
    select upper(event_id::text) as "eventId", at, upper(event.app_id::text) as "appId", app.name as "appName", kind,
      details
    from order_event event
    left join app on app.shop_id = event.shop_id and app.app_id = event.app_id
    where event.shop_id = ${shopId} and event.order_id = ${orderId}
    order by at, event_id limit ${limit} offset ${offset}`);
}

/** Entry kinds of a return, with the state that it reached. */
const RETURN_KINDS = {
  'return requested': 'requested',
  'return approved': 'approved',
  'return rejected': 'rejected',
  withdrawn: 'withdrawn',
  returned: 'received',
} as const;

export interface ReturnStep {
  at: Date;
  returnId: string;
  state: (typeof RETURN_KINDS)[keyof typeof RETURN_KINDS];
}

/** The outcome of the returns of an order, oldest first. An order has few of them. */
export async function findReturnSteps(db: Queries, shopId: string, orderId: string): Promise<ReturnStep[]> {
  const rows = await db.many<{ at: Date; kind: keyof typeof RETURN_KINDS; returnId: string }>(sql`
    select at, kind, details ->> 'returnId' as "returnId" from order_event
    where shop_id = ${shopId} and order_id = ${orderId} and kind = any (${Object.keys(RETURN_KINDS)}::text[])
    order by at, event_id limit 200`);
  return rows.map(({ at, kind, returnId }) => ({ at, returnId, state: RETURN_KINDS[kind] }));
}
