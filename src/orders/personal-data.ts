import type { Queries, Transaction } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import { toMilliseconds } from '../http/dates.ts';
import { Refusal } from '../http/errors.ts';
import { newId } from '../kernel/ids.ts';
import { toDecimal } from '../kernel/money.ts';
import { recordEvents, stampAtCommit, timeOfCommit } from '../platform/events/log.ts';
import { batchedSection, ERASED_EMAIL, type Person, type PersonalData } from '../platform/personal-data.ts';
import { ADDRESS_FIELDS } from '../shops/countries/address.ts';
import { shopSettings, type Settings } from '../shops/settings/settings.ts';
import type { Buyer } from '../shops/vat-numbers/buyer.ts';
import type { ContentBundle, ContentLine } from '../pricing/content.ts';
import { toBuyer } from './buyer-schema.ts';
import { orderColumns, ordersWithCustomers, type OrderRow } from './queries.ts';
import { toOrder } from './render.ts';
import type { Shipment } from './manage-queries.ts';
import { trackedParcels } from './tracking.ts';

/**
 * Orders with all that belongs to them. An erasure keeps their numbers, lines and sums, without texts typed for a
 * product; of addresses it keeps the country and the beginning of the postcode. Invoices and credit notes stay as they
 * are, because the law demands it.
 */
export const orderPersonalData: PersonalData = {
  sections: {
    orders: batchedSection(
      'Orders as everywhere else, oldest first, and of each its documents (without the files), payments, bank transfers, shipments, returns and history.',
      findOrderRecords,
      async (db, shopId, origin) => {
        const settings = await shopSettings(db, shopId);
        return (order) => toExport(order, origin, settings);
      },
    ),
  },
  counts: {
    ordersAnonymised: 'Orders that have lost their addresses, comments and notes.',
    documentsKept: 'Invoices and credit notes, which stay as they are.',
  },
  lock: async (tx, shopId, person, { force }) => {
    const orders = await lockOrdersOf(tx, shopId, person);
    const open = orders.filter(({ isFinished }) => !isFinished).map(({ orderNumber }) => orderNumber);
    if (open.length > 0 && !force) throw unfinishedOrders(open);
  },
  erase: async (tx, shopId, person, { appId }) => {
    const orderIds = await anonymiseOrdersOf(tx, shopId, person);
    if (orderIds.length > 0) {
      await eraseRemarks(tx, shopId, orderIds);
      await eraseCustomTexts(tx, shopId, orderIds);
      await recordErasures(tx, shopId, orderIds, appId);
    }
    const documentsKept = await countDocumentsOf(tx, shopId, person);
    return { counts: { ordersAnonymised: orderIds.length, documentsKept } };
  },
};

/** An order with the rows of its other tables; amounts in minor units, moments as JSON has them. */
interface OrderRecords extends OrderRow {
  cancelledAt: Date | null;
  erasedAt: Date | null;
  buyer: Buyer | null;
  documents: {
    documentId: string;
    type: string;
    number: number;
    issuedOn: string;
    address: object;
    total: number;
  }[];
  payments: {
    paymentId: string;
    at: string;
    kind: string;
    amount: number;
    reference: string;
    note: string;
  }[];
  /** Money from bank statements that was recorded for it. */
  transfers: {
    bookedOn: string;
    amount: number;
    payer: string | null;
    text: string | null;
    reference: string | null;
  }[];
  shipments: Shipment[];
  returns: {
    returnId: string;
    at: string;
    state: string;
    lines: object[];
    unsentLines: object[];
    restocked: boolean;
    reason: string | null;
    note: string | null;
    declaredBy: string | null;
    contact: string | null;
  }[];
  history: { eventId: string; at: string; kind: string; details: object }[];
}

const BATCH = 100;
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** The rows as a list of JSON. */
const listOf = (rows: Sql) => sql`coalesce((select json_agg(found) from (${rows}) found), '[]')`;

const ofOrderIn = (shopId: string) => sql`shop_id = ${shopId} and order_id = customer_order.order_id`;

/** Oldest first, after the last one that was read. */
function findOrderRecords(
  db: Queries,
  shopId: string,
  { customerId }: Person,
  last: OrderRecords | undefined,
) {
  const ofOrder = ofOrderIn(shopId);
  return db.many<OrderRecords>(sql`
    select ${orderColumns}, cancelled_at as "cancelledAt", erased_at as "erasedAt", customer_order.buyer,
      ${listOf(sql`
        select upper(document_id::text) as "documentId", kind as type, number, issued_at as "issuedOn", address,
          (content ->> 'grandTotal')::bigint as total
        from order_document where ${ofOrder} order by created_at, document_id`)} as documents,
      ${listOf(sql`
        select upper(payment_id::text) as "paymentId", at, kind, amount, reference, note,
          goodwill_reason as "goodwillReason"
        from order_payment where ${ofOrder} order by at, payment_id`)} as payments,
      ${listOf(sql`
        select booked_on as "bookedOn", amount, payer, text, reference
        from bank_entry where ${ofOrder} order by booked_on, entry_id`)} as transfers,
      ${listOf(sql`
        select upper(shipment_id::text) as "shipmentId", at, lines, carrier, tracking_code as "trackingCode",
          tracking_url as "trackingUrl", ${listOf(sql`
            select parcel.tracking_code as "trackingCode", parcel.tracking_url as "trackingUrl"
            from order_parcel parcel
            where parcel.shop_id = ${shopId} and parcel.order_id = order_shipment.order_id
              and parcel.shipment_id = order_shipment.shipment_id
            order by parcel.position`)} as "furtherParcels"
        from order_shipment where ${ofOrder} order by at, shipment_id`)} as shipments,
      ${listOf(sql`
        select upper(return_id::text) as "returnId", at, state, lines, unsent_lines as "unsentLines", restocked,
          reason, note, declared_by as "declaredBy", contact
        from order_return where ${ofOrder} order by at, return_id`)} as returns,
      ${listOf(sql`
        select upper(event_id::text) as "eventId", at, kind, details
        from order_event where ${ofOrder} order by at, event_id`)} as history
    from ${ordersWithCustomers}
    where customer_order.shop_id = ${shopId} and customer_order.customer_id = ${customerId}
      and (customer_order.created_at, customer_order.order_id)
        > (${last?.createdAt ?? new Date(0)}, ${last?.orderId ?? NO_ID}::uuid)
    order by customer_order.created_at, customer_order.order_id limit ${BATCH}`);
}

/** The order as everywhere else, in its own language, followed by the merchant's data. */
function toExport(order: OrderRecords, origin: string, settings: Settings): object {
  const { currency, locale, cancelledAt, erasedAt, buyer } = order;
  return {
    ...toOrder(order, { locale, origin, settings }),
    cancelledOn: cancelledAt && toMilliseconds(cancelledAt),
    erasedOn: erasedAt && toMilliseconds(erasedAt),
    buyer: buyer && toBuyer(buyer),
    documents: order.documents.map(({ issuedOn, total, ...document }) => ({
      ...document,
      issuedOn: toMilliseconds(new Date(issuedOn)),
      grandTotal: toDecimal(total, currency),
    })),
    payments: order.payments
      .map((payment) => ({ ...payment, amount: toDecimal(payment.amount, currency) }))
      .map(dated),
    transfers: order.transfers.map((transfer) => ({
      ...transfer,
      amount: toDecimal(transfer.amount, currency),
    })),
    shipments: order.shipments
      .map(({ shipmentId, at, lines, ...tracking }) => {
        const { carrier, trackingCode } = tracking;
        return { shipmentId, at, lines, carrier, trackingCode, parcels: trackedParcels(tracking, settings) };
      })
      .map(dated),
    returns: order.returns.map(dated),
    history: order.history.map(dated),
  };
}

const dated = <Dated extends { at: string }>(row: Dated) => ({
  ...row,
  at: toMilliseconds(new Date(row.at)),
});

/** Locks the orders that are not erased yet. An order that is being edited is not finished. */
function lockOrdersOf(tx: Transaction, shopId: string, { customerId }: Person) {
  return tx.many<{ orderNumber: string; isFinished: boolean }>(sql`
    select order_number as "orderNumber",
      editing_since is null and (
        closed_at is not null or archived_at is not null or rejected_at is not null or cancelled_at is not null
        or paid_at is not null and (delivered_at is not null or content -> 'shipping' = 'null')) as "isFinished"
    from customer_order
    where shop_id = ${shopId} and customer_id = ${customerId} and erased_at is null
    order by created_at, order_id
    for no key update`);
}

const MAX_NAMED = 5;

/** An order that is under way can't be delivered, invoiced or refunded without an address. */
function unfinishedOrders(orderNumbers: readonly string[]): Refusal {
  const orders = orderNumbers.slice(0, MAX_NAMED);
  const more = orderNumbers.length - orders.length;
  return more === 0
    ? new Refusal('CUSTOMER_WITH_OPEN_ORDERS', { orders })
    : new Refusal('CUSTOMER_WITH_MANY_OPEN_ORDERS', { orders, more });
}

/** The country stays, because tax depends on it, and the first two characters of the postcode. */
const BLANK = JSON.stringify(
  Object.fromEntries(
    ADDRESS_FIELDS.map((field) => [field, field === 'country' || field === 'zipCode' ? `@${field}` : null]),
  ),
);
const BLANK_WITH_EMAIL = BLANK.replace('"emailAddress":null', `"emailAddress":"${ERASED_EMAIL}"`);

/** The text as JSON. Not `to_json`: PostgreSQL does not declare it immutable, so Citus refuses it in an update. */
const asJson = (text: Sql) => sql`(json_object(array['it', ${text}]) -> 'it')::text`;

const anonymised = (address: Sql, blank: string) => sql`
  replace(replace(${blank}, '"@zipCode"', ${asJson(sql`left(${address} ->> 'zipCode', 2)`)}),
    '"@country"', ${asJson(sql`${address} ->> 'country'`)})::json`;

/**
 * Changes all orders in one statement, without `changeOrder`: none of the changed values is counted by days or lines.
 * Returns the ids of the orders.
 */
async function anonymiseOrdersOf(tx: Transaction, shopId: string, { customerId }: Person): Promise<string[]> {
  const orders = await tx.many<{ orderId: string }>(sql`
    update customer_order set billing_address = ${anonymised(sql`billing_address`, BLANK_WITH_EMAIL)},
      shipping_address = case when shipping_address is null then null
        else ${anonymised(sql`shipping_address`, BLANK)} end,
      buyer = null, customer_comment = null, internal_note = null, erased_at = ${tx.now}, version = version + 1
    where shop_id = ${shopId} and customer_id = ${customerId} and erased_at is null
    returning upper(order_id::text) as "orderId"`);
  const orderIds = orders.map(({ orderId }) => orderId);
  if (orderIds.length === 0) return [];
  stampAtCommit(tx, shopId, () =>
    tx.run(sql`
      update customer_order set updated_at = ${timeOfCommit(shopId)}
      where shop_id = ${shopId} and order_id = any (${orderIds}::uuid[])`),
  );
  const changed = ['customerComment', 'internalNote', 'billingAddress', 'shippingAddress'];
  recordEvents(
    tx,
    shopId,
    orderIds.map((resourceId) => ({ type: 'ORDER_UPDATE', resourceId, data: { changed } })),
  );
  return orderIds;
}

/** Erases free text beside the facts that accounting needs. */
async function eraseRemarks(tx: Transaction, shopId: string, orderIds: readonly string[]): Promise<void> {
  const ofOrders = sql`shop_id = ${shopId} and order_id = any (${orderIds}::uuid[])`;
  await tx.run(sql`
    update order_payment set note = null, error = null, goodwill_reason = null
    where ${ofOrders} and (note is not null or error is not null or goodwill_reason is not null)`);
  // Provider messages may name a person; the address leads to a page that shows the order.
  await tx.run(
    sql`update payment_attempt set error = null, redirect_to = null, token_sealed = null where ${ofOrders}`,
  );
  await tx.run(
    sql`update app_payment set instructions = null where ${ofOrders} and instructions is not null`,
  );
  await tx.run(sql`
    update order_return set note = null, reason = null, declared_by = null, contact = null where ${ofOrders}`);
  await tx.run(sql`
    update order_shipment set tracking_code = null, tracking_url = null
    where ${ofOrders} and tracking_code is not null`);
  await tx.run(sql`delete from order_parcel where ${ofOrders}`);
  // What the bank says of a transfer stays recognisable by its key, so that it is not recorded twice.
  await tx.run(sql`
    update bank_entry set payer = null, text = null, reference = null
    where ${ofOrders} and (payer is not null or text is not null or reference is not null)`);
  // The history stays, except the reason of a cancellation, which is free text.
  await tx.run(
    sql`update order_event set details = details - 'reason' where ${ofOrders} and details ? 'reason'`,
  );
}

const withoutText = <Line extends ContentBundle>({ customText: _erased, ...line }: Line) => line;

/**
 * Erases the texts that the customer typed for products, such as the name in an engraving, and the recipients of gift
 * cards. The lines are rewritten
 * here, because PostgreSQL does not declare `jsonb_agg` immutable, so Citus refuses it in an update.
 */
async function eraseCustomTexts(tx: Transaction, shopId: string, orderIds: readonly string[]): Promise<void> {
  const orders = await tx.many<{
    orderId: string;
    lines: ContentLine[];
    bundles: ContentBundle[] | null;
  }>(sql`
    select order_id as "orderId", content -> 'lines' as lines, content -> 'bundles' as bundles
    from customer_order
    where shop_id = ${shopId} and order_id = any (${orderIds}::uuid[])
      and (jsonb_path_exists(content, '$.lines[*].customText')
        or jsonb_path_exists(content, '$.lines[*].giftCard')
        or jsonb_path_exists(content, '$.bundles[*].customText'))`);
  if (orders.length === 0) return;
  const ids = orders.map(({ orderId }) => orderId);
  const texts = orders.map(({ lines, bundles }) =>
    JSON.stringify({
      lines: lines.map((line) =>
        line.giftCard ? { ...withoutText(line), giftCard: {} } : withoutText(line),
      ),
      ...(bundles && { bundles: bundles.map(withoutText) }),
    }),
  );
  await tx.run(sql`
    update customer_order set content = content
      || ((${texts}::text[])[array_position(${ids}::uuid[], order_id)])::jsonb
    where shop_id = ${shopId} and order_id = any (${ids}::uuid[])`);
}

async function recordErasures(
  tx: Transaction,
  shopId: string,
  orderIds: readonly string[],
  appId: string | null,
): Promise<void> {
  await tx.run(sql`
    insert into order_event (shop_id, order_id, event_id, at, app_id, kind, details)
    select shop.shop_id, order_id, event_id, ${tx.now}::timestamptz, ${appId}::uuid, 'erased', '{}'
    from shop
    cross join unnest(${orderIds}::uuid[], ${orderIds.map(() => newId(tx.now))}::uuid[]) as erased (order_id, event_id)
    where shop.shop_id = ${shopId}`);
}

async function countDocumentsOf(db: Queries, shopId: string, { customerId }: Person): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from order_document document
    join customer_order on customer_order.shop_id = document.shop_id
      and customer_order.order_id = document.order_id
    where document.shop_id = ${shopId} and customer_order.customer_id = ${customerId}`);
  return row!.count;
}
