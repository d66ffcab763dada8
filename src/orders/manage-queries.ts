import type { CartProduct } from '../pricing/cart-product.ts';
import { findCartProducts, versionStamps } from '../pricing/cart-product-cache.ts';
import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { BackorderLine } from '../catalogue/products/backorder-queue.ts';
import type { Parcel } from './tracking.ts';
import { managedColumns, orderColumns, ordersWithCustomers, type ManagedOrder } from './queries.ts';

/** A part of a line that was sent or came back. */
export interface PartLine {
  lineItemId: string;
  /** An exact decimal as text. */
  quantity: string;
}

export interface Shipment {
  shipmentId: string;
  /** As PostgreSQL puts it into JSON. */
  at: string;
  lines: PartLine[];
  carrier: string | null;
  /** Of the first parcel; null: it is unknown, and so are all others. */
  trackingCode: string | null;
  trackingUrl: string | null;
  /** The parcels after the first one. */
  furtherParcels: Parcel[];
}

/**
 * `withdrawn`: the customer has withdrawn from the contract, which cannot be rejected. `refundFailed`: the payment
 * provider could not refund the money; the merchant refunds it again.
 */
export const RETURN_STATES = [
  'requested',
  'approved',
  'rejected',
  'withdrawn',
  'received',
  'refunded',
  'refundFailed',
] as const;
export type ReturnState = (typeof RETURN_STATES)[number];

export const RETURN_ORIGINS = ['merchant', 'customer', 'withdrawal'] as const;

export interface Return {
  returnId: string;
  at: string;
  state: ReturnState;
  /** The initiator. */
  origin: (typeof RETURN_ORIGINS)[number];
  lines: PartLine[];
  /**
   * Goods withdrawn before they were sent. They are no longer in the order, so their text is stored: "2 pieces Tea".
   */
  unsentLines: (PartLine & { text: string })[];
  restocked: boolean;
  /** From the customer. */
  reason: string | null;
  /** From the merchant. */
  note: string | null;
  /** The person who has withdrawn, and the email address of the acknowledgement. */
  declaredBy: string | null;
  contact: string | null;
  /** The refund for its items, frozen when they are back, in minor units; null: they are not, or it is an old return. */
  dueAmount: number | null;
  /** The refund for items that were withdrawn before they were sent; null: there are none. */
  unsentDueAmount: number | null;
}

export interface OrderPayment {
  paymentId: string;
  at: string;
  kind: 'payment' | 'refund';
  /** Minor units. */
  amount: number;
  reference: string | null;
  note: string | null;
  returnId: string | null;
  /** For a refund by a provider: `requested` until it is made. All others are done. */
  state: 'requested' | 'done' | 'failed';
  /** The attempt that is refunded through the provider; null: by hand. */
  attemptId: string | null;
  /** The card that a payment came from, or a refund went to; null: it was money. */
  giftCardId: string | null;
  /** The part of a refund that only the goodwill of the merchant justifies. */
  goodwillAmount: number;
  goodwillReason: string | null;
}

/** A payment that was begun through a provider. */
export interface PaymentAttempt {
  attemptId: string;
  at: string;
  provider: string;
  state: 'starting' | 'open' | 'processing' | 'authorized' | 'paid' | 'failed' | 'cancelled';
  amount: number;
  reference: string | null;
  error: string | null;
}

/** The activity of an order, oldest first. */
export interface OrderActivity {
  shipments: Shipment[];
  returns: Return[];
  payments: OrderPayment[];
  attempts: PaymentAttempt[];
  /** Lines in invoices and not in credit notes. */
  invoicedIds: string[];
  /** The invoiced amount less the credited amount; minor units. */
  invoicedAmount: number;
  documents: { kind: 'Invoice' | 'CreditNote'; grandTotal: number; lines: PartLine[] }[];
  /** What was not in stock when it was ordered. */
  backorders: BackorderLine[];
}

/** The activity of an order, as columns. */
const activityColumns = (shopId: string, orderId: string) => sql`
  (
    select coalesce(json_agg(json_build_object(
      'shipmentId', upper(shipment_id::text), 'at', at, 'lines', lines, 'carrier', carrier,
      'trackingCode', tracking_code, 'trackingUrl', tracking_url, 'furtherParcels', (
        select coalesce(json_agg(json_build_object(
          'trackingCode', parcel.tracking_code, 'trackingUrl', parcel.tracking_url) order by parcel.position), '[]')
        from order_parcel parcel
        where parcel.shop_id = ${shopId} and parcel.order_id = ${orderId}
          and parcel.shipment_id = order_shipment.shipment_id
      )) order by at, shipment_id), '[]')
    from order_shipment where shop_id = ${shopId} and order_id = ${orderId}
  ) as shipments,
  (
    select coalesce(json_agg(json_build_object(
      'returnId', upper(return_id::text), 'at', at, 'state', state, 'origin', origin,
      'lines', lines, 'unsentLines', unsent_lines, 'restocked', restocked, 'reason', reason, 'note', note,
      'declaredBy', declared_by, 'contact', contact, 'dueAmount', due_amount, 'unsentDueAmount', unsent_due_amount)
      order by at, return_id), '[]')
    from order_return where shop_id = ${shopId} and order_id = ${orderId}
  ) as returns,
  (
    select coalesce(json_agg(json_build_object(
      'paymentId', upper(payment_id::text), 'at', at, 'kind', kind, 'amount', amount, 'reference', reference,
      'note', note, 'returnId', upper(return_id::text), 'state', state, 'attemptId', upper(attempt_id::text),
      'giftCardId', upper(gift_card_id::text), 'goodwillAmount', goodwill_amount, 'goodwillReason', goodwill_reason)
      order by at, payment_id), '[]')
    from order_payment where shop_id = ${shopId} and order_id = ${orderId}
  ) as payments,
  (
    select coalesce(json_agg(json_build_object(
      'attemptId', upper(attempt_id::text), 'at', created_at, 'provider', provider, 'state', state,
      'amount', amount, 'reference', reference, 'error', error) order by created_at, attempt_id), '[]')
    from payment_attempt where shop_id = ${shopId} and order_id = ${orderId}
  ) as attempts,
  array(
    select upper(line ->> 'lineItemId')
    from order_document, jsonb_array_elements(content -> 'lines') line
    where shop_id = ${shopId} and order_id = ${orderId}
    group by 1
    having sum((line ->> 'quantity')::numeric * case kind when 'Invoice' then 1 else -1 end) > 0
  ) as "invoicedIds",
  (
    select coalesce(sum((content ->> 'grandTotal')::bigint * case kind when 'Invoice' then 1 else -1 end), 0)::bigint
    from order_document where shop_id = ${shopId} and order_id = ${orderId}
  ) as "invoicedAmount",
  (
    select coalesce(json_agg(json_build_object(
      'kind', kind, 'grandTotal', content -> 'grandTotal', 'lines', (
        select coalesce(json_agg(json_build_object('lineItemId', line -> 'lineItemId', 'quantity', line -> 'quantity')),
          '[]')
        from jsonb_array_elements(content -> 'lines') line
      )) order by created_at, number), '[]')
    from order_document where shop_id = ${shopId} and order_id = ${orderId}
  ) as documents,
  (
    select coalesce(json_agg(json_build_object(
      'lineItemId', upper(line_item_id::text), 'productId', upper(product_id::text), 'quantity', quantity::text,
      'waiting', waiting::text, 'expectedOn', expected_on, 'readyAt', ready_at) order by line_item_id), '[]')
    from backorder_line where shop_id = ${shopId} and order_id = ${orderId}
  ) as backorders`;

export async function findOrderActivity(
  db: Queries,
  shopId: string,
  orderId: string,
): Promise<OrderActivity> {
  const row = await db.one<OrderActivity>(sql`select ${activityColumns(shopId, orderId)}`);
  return row!;
}

/** An order, its activity, and the version of the shop's settings. */
export function findOrderWithActivity(db: Queries, shopId: string, orderId: string) {
  return db.one<ManagedOrder & OrderActivity & { settingsVersion: number }>(sql`
    select ${orderColumns}, ${managedColumns}, shop.settings_version as "settingsVersion",
      ${activityColumns(shopId, orderId)}
    from ${ordersWithCustomers} join shop on shop.shop_id = customer_order.shop_id
    where customer_order.shop_id = ${shopId} and customer_order.order_id = ${orderId}`);
}

/** What of these orders waits for stock. */
export function findWaitingOf(db: Queries, shopId: string, orderIds: readonly string[]) {
  return db.many<BackorderLine & { orderId: string }>(sql`
    select upper(order_id::text) as "orderId", upper(line_item_id::text) as "lineItemId",
      upper(product_id::text) as "productId", quantity, waiting, expected_on::text as "expectedOn",
      ready_at::text as "readyAt"
    from backorder_line
    where shop_id = ${shopId} and order_id = any (${orderIds}::uuid[]) and waiting > 0`);
}

/** The product as sold today, and the customer group of its buyer. undefined: there is no such product. */
export async function findOffer(
  tx: Transaction,
  shopId: string,
  productId: string,
  customerId: string,
): Promise<{ product: CartProduct; customerGroupId: string | null } | undefined> {
  const row = await tx.one<{ stamps: string[]; customerGroupId: string | null }>(sql`
    select ${versionStamps(shopId, sql`${[productId]}::uuid[]`)} as stamps, (
      select upper(customer_group_id::text) from customer
      where shop_id = ${shopId} and customer_id = ${customerId}
    ) as "customerGroupId"`);
  const [product] = await findCartProducts(tx, shopId, row!.stamps);
  return product && { product, customerGroupId: row!.customerGroupId };
}

export function insertShipment(
  tx: Transaction,
  shopId: string,
  orderId: string,
  { shipmentId, lines, carrier, trackingCode, trackingUrl }: Omit<Shipment, 'at'>,
) {
  return tx.run(sql`
    insert into order_shipment (shop_id, order_id, shipment_id, at, lines, carrier, tracking_code, tracking_url)
    values (${shopId}, ${orderId}, ${shipmentId}, ${tx.now}, ${JSON.stringify(lines)}, ${carrier}, ${trackingCode},
      ${trackingUrl})`);
}

/** The first parcel is in the shipment itself. */
export function insertFurtherParcels(
  tx: Transaction,
  shopId: string,
  orderId: string,
  { shipmentId, furtherParcels }: Pick<Shipment, 'shipmentId' | 'furtherParcels'>,
) {
  return tx.run(sql`
    insert into order_parcel (shop_id, order_id, shipment_id, position, tracking_code, tracking_url)
    select shop.shop_id, ${orderId}::uuid, ${shipmentId}::uuid, place + 1, code, url
    from shop
    cross join unnest(${furtherParcels.map(({ trackingCode }) => trackingCode)}::text[],
      ${furtherParcels.map(({ trackingUrl }) => trackingUrl)}::text[]) with ordinality as parcel (code, url, place)
    where shop.shop_id = ${shopId}`);
}

export function deleteShipment(tx: Transaction, shopId: string, orderId: string, shipmentId: string) {
  return tx.run(sql`
    delete from order_shipment
    where shop_id = ${shopId} and order_id = ${orderId} and shipment_id = ${shipmentId}`);
}

export function insertReturn(
  tx: Transaction,
  shopId: string,
  orderId: string,
  given: Pick<Return, 'returnId' | 'lines'> & Partial<Return>,
) {
  const { returnId, lines, state = 'received', origin = 'merchant', unsentLines = [] } = given;
  const { restocked = false, reason = null, note = null, declaredBy = null, contact = null } = given;
  const { dueAmount = null, unsentDueAmount = null } = given;
  return tx.run(sql`
    insert into order_return (shop_id, order_id, return_id, at, state, origin, lines, unsent_lines, restocked, reason,
      note, declared_by, contact, due_amount, unsent_due_amount)
    values (${shopId}, ${orderId}, ${returnId}, ${tx.now}, ${state}, ${origin}, ${JSON.stringify(lines)},
      ${JSON.stringify(unsentLines)}, ${restocked}, ${reason}, ${note}, ${declaredBy}, ${contact},
      ${dueAmount}, ${unsentDueAmount})`);
}

/** Moves a return of an order that is locked to its next state. */
export function updateReturnRow(
  tx: Transaction,
  shopId: string,
  orderId: string,
  {
    returnId,
    state,
    restocked,
    note,
    dueAmount,
  }: Pick<Return, 'returnId' | 'state' | 'restocked' | 'note' | 'dueAmount'>,
) {
  return tx.run(sql`
    update order_return
    set state = ${state}, restocked = ${restocked}, note = ${note}, due_amount = ${dueAmount}
    where shop_id = ${shopId} and order_id = ${orderId} and return_id = ${returnId}`);
}

/** The refund of a return of an order that is locked is the amount of its credit note. */
export function updateDueAmount(
  tx: Transaction,
  shopId: string,
  orderId: string,
  returnId: string,
  dueAmount: number,
) {
  return tx.run(sql`
    update order_return set due_amount = ${dueAmount}
    where shop_id = ${shopId} and order_id = ${orderId} and return_id = ${returnId}`);
}

/** The refund of a return of an order that is locked has failed. */
export function markRefundFailed(tx: Transaction, shopId: string, orderId: string, returnId: string) {
  return tx.run(sql`
    update order_return set state = 'refundFailed'
    where shop_id = ${shopId} and order_id = ${orderId} and return_id = ${returnId} and state = 'refunded'`);
}

export interface ListedReturn extends Return {
  orderId: string;
  orderNumber: string;
}

/** In this state; null: in those in which a return waits for the merchant, which have their own index. */
const isListed = (shopId: string, state: ReturnState | null) =>
  state === null
    ? sql`order_return.shop_id = ${shopId} and state in ('requested', 'approved', 'withdrawn', 'refundFailed')`
    : sql`order_return.shop_id = ${shopId} and state = ${state}`;

/** Oldest first. */
export function findReturns(
  db: Queries,
  shopId: string,
  state: ReturnState | null,
  limit: number,
  offset: number,
) {
  return db.many<Omit<ListedReturn, 'at'> & { at: Date }>(sql`
    select upper(order_id::text) as "orderId", (
        select order_number from customer_order
        where customer_order.shop_id = ${shopId} and customer_order.order_id = order_return.order_id
      ) as "orderNumber",
      upper(return_id::text) as "returnId", at, state, origin, lines, unsent_lines as "unsentLines", restocked, reason,
      note, declared_by as "declaredBy", contact, due_amount as "dueAmount", unsent_due_amount as "unsentDueAmount"
    from order_return where ${isListed(shopId, state)}
    order by at, return_id limit ${limit} offset ${offset}`);
}

export async function countReturns(db: Queries, shopId: string, state: ReturnState | null): Promise<number> {
  const row = await db.one<{ count: number }>(
    sql`select count(*) as count from order_return where ${isListed(shopId, state)}`,
  );
  return row!.count;
}

type OptionalPart = 'attemptId' | 'giftCardId' | 'goodwillAmount' | 'goodwillReason';

/** What can go back to each card that has paid for an order. */
export function findRefundableCards(tx: Transaction, shopId: string, orderId: string) {
  return tx.many<{ giftCardId: string; left: number }>(sql`
    select upper(gift_card_id::text) as "giftCardId",
      sum(case kind when 'payment' then amount else -amount end)::bigint as left
    from order_payment
    where shop_id = ${shopId} and order_id = ${orderId} and gift_card_id is not null
    group by gift_card_id having bool_or(kind = 'payment')
    order by gift_card_id`);
}

export function insertPayment(
  tx: Transaction,
  shopId: string,
  orderId: string,
  payment: Omit<OrderPayment, 'at' | 'state' | OptionalPart> & Partial<Pick<OrderPayment, OptionalPart>>,
) {
  const { paymentId, kind, amount, reference, note, returnId, attemptId = null, giftCardId = null } = payment;
  const { goodwillAmount = 0, goodwillReason = null } = payment;
  // A refund through a provider is due at once.
  const isRequested = attemptId !== null;
  return tx.run(sql`
    insert into order_payment (shop_id, order_id, payment_id, at, kind, amount, reference, note, return_id, state,
      attempt_id, gift_card_id, check_at, goodwill_amount, goodwill_reason)
    values (${shopId}, ${orderId}, ${paymentId}, ${tx.now}, ${kind}, ${amount}, ${reference}, ${note}, ${returnId},
      ${isRequested ? 'requested' : 'done'}, ${attemptId}, ${giftCardId}, ${isRequested ? tx.now : null}, ${goodwillAmount},
      ${goodwillReason})`);
}

/** The placing of the order, and the number of later events. */
export function findPlacement(db: Queries, shopId: string, orderId: string) {
  return db.one<{ at: Date; appId: string | null; appName: string | null; events: number }>(sql`
    select customer_order.created_at as at, upper(customer_order.app_id::text) as "appId", app.name as "appName", (
        select count(*) from order_event
        where order_event.shop_id = ${shopId} and order_event.order_id = ${orderId}
      ) as events
    from customer_order
    left join app on app.shop_id = customer_order.shop_id and app.app_id = customer_order.app_id
    where customer_order.shop_id = ${shopId} and customer_order.order_id = ${orderId}`);
}
