import { entryColumns, firstIdOf, type EntryRow } from '../../shops/audit-log/queries.ts';
import type { StoredLine } from '../../pricing/input.ts';
import { ADDRESS_FIELDS } from '../../shops/countries/address.ts';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { orderColumns, ordersWithCustomers, type OrderRow } from '../../orders/queries.ts';

/** A customer, and the mail addresses that are known to be this person's, in lower case. */
export interface Person {
  customerId: string;
  customerNumber: string;
  createdAt: Date;
  customerGroup: string | null;
  /** As JSON text. */
  billingAddress: string | null;
  internalNote: string | null;
  emails: string[];
}

/** What stands for a mail address in an order that was erased: an answer must have one. */
export const ERASED_MAIL = 'erased@invalid.invalid';

const personColumns = sql`
  upper(customer.customer_id::text) as "customerId", customer.customer_number as "customerNumber",
  customer.created_at as "createdAt", (
    select name from customer_group
    where customer_group.shop_id = customer.shop_id
      and customer_group.customer_group_id = customer.customer_group_id
  ) as "customerGroup",
  customer.billing_address::text as "billingAddress", customer.internal_note as "internalNote",
  array(
    select lower(email) from (
      select unnest(array[customer.billing_address ->> 'emailAddress',
        customer.billing_address ->> 'privateEmailAddress', customer.billing_address ->> 'businessEmailAddress',
        customer.ordered_as]) as email
      union all
      select customer_order.billing_address ->> 'emailAddress' from customer_order
      where customer_order.shop_id = customer.shop_id and customer_order.customer_id = customer.customer_id
    ) known
    where email <> '' and email <> ${ERASED_MAIL}
    group by 1 order by 1
  ) as emails`;

export function findPerson(db: Queries, shopId: string, customerId: string) {
  return db.one<Person>(sql`
    select ${personColumns} from customer where shop_id = ${shopId} and customer_id = ${customerId}`);
}

/** Nobody changes the customer, and nobody orders as this customer, until the transaction ends. */
export function lockPerson(tx: Transaction, shopId: string, customerId: string) {
  return tx.one<Person>(sql`
    select ${personColumns} from customer where shop_id = ${shopId} and customer_id = ${customerId} for update`);
}

export function findCustomerByNumber(db: Queries, shopId: string, customerNumber: string) {
  return db.one<{ customerId: string }>(sql`
    select upper(customer_id::text) as "customerId" from customer
    where shop_id = ${shopId} and customer_number = ${customerNumber}`);
}

export async function countOrdersOf(db: Queries, shopId: string, customerId: string): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from customer_order where shop_id = ${shopId} and customer_id = ${customerId}`);
  return row!.count;
}

/** What an order has beside its own row; amounts in minor units, moments as JSON has them. */
export interface OrderRecords extends OrderRow {
  cancelledAt: Date | null;
  erasedAt: Date | null;
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
  shipments: { shipmentId: string; at: string; lines: object[]; carrier: string; trackingCode: string }[];
  returns: { returnId: string; at: string; lines: object[]; restocked: boolean; note: string }[];
  history: { eventId: string; at: string; kind: string; details: object }[];
}

/** The rows of an order's table as a list of JSON. */
const recordsOf = (rows: Sql) => sql`coalesce((select json_agg(found) from (${rows}) found), '[]')`;

const ofOrder = sql`shop_id = customer_order.shop_id and order_id = customer_order.order_id`;

/** Oldest first, from behind the last one that was read. */
export function findOrderRecords(
  db: Queries,
  shopId: string,
  customerId: string,
  after: { createdAt: Date; orderId: string } | undefined,
  limit: number,
) {
  return db.many<OrderRecords>(sql`
    select ${orderColumns}, cancelled_at as "cancelledAt", erased_at as "erasedAt",
      ${recordsOf(sql`
        select upper(document_id::text) as "documentId", kind as type, number, issued_at as "issuedOn", address,
          (content ->> 'grandTotal')::bigint as total
        from order_document where ${ofOrder} order by created_at, document_id`)} as documents,
      ${recordsOf(sql`
        select upper(payment_id::text) as "paymentId", at, kind, amount, reference, note
        from order_payment where ${ofOrder} order by at, payment_id`)} as payments,
      ${recordsOf(sql`
        select upper(shipment_id::text) as "shipmentId", at, lines, carrier, tracking_code as "trackingCode"
        from order_shipment where ${ofOrder} order by at, shipment_id`)} as shipments,
      ${recordsOf(sql`
        select upper(return_id::text) as "returnId", at, lines, restocked, note
        from order_return where ${ofOrder} order by at, return_id`)} as returns,
      ${recordsOf(sql`
        select upper(event_id::text) as "eventId", at, kind, details
        from order_event where ${ofOrder} order by at, event_id`)} as history
    from ${ordersWithCustomers}
    where customer_order.shop_id = ${shopId} and customer_order.customer_id = ${customerId}
      and (customer_order.created_at, customer_order.order_id)
        > (${after?.createdAt ?? new Date(0)}, ${after?.orderId ?? NO_ID}::uuid)
    order by customer_order.created_at, customer_order.order_id limit ${limit}`);
}

const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Open carts that were made for the customer, or that name one of the mail addresses. */
const cartsOf = (shopId: string, { customerId, emails }: Person) => sql`
  shop_id = ${shopId} and (
    customer_id = ${customerId} or lower(billing_address ->> 'emailAddress') = any (${emails})
    or lower(shipping_address ->> 'emailAddress') = any (${emails}))`;

export interface HeldCart {
  currency: string;
  lines: StoredLine[];
}

export function findCartsOf(db: Queries, shopId: string, person: Person) {
  return db.many<HeldCart>(sql`
    select upper(cart_id::text) as "cartId", created_at as "creationDate", changed_at as "changedOn", locale,
      currency, lines, coupon_code_key as "couponCode", billing_address as "billingAddress",
      shipping_address as "shippingAddress", payment_transaction_id as "paymentTransactionId"
    from cart where ${cartsOf(shopId, person)} order by created_at, cart_id`);
}

export function findSubscriptionsOf(db: Queries, shopId: string, { emails }: Person) {
  return db.many<object>(sql`
    select campaign.identifier as newsletter, email, subscriber.name, subscribed, created_at as since
    from newsletter_subscriber subscriber
    join newsletter_campaign campaign on campaign.shop_id = subscriber.shop_id
      and campaign.campaign_id = subscriber.campaign_id
    where subscriber.shop_id = ${shopId} and email = any (${emails}) order by created_at, identifier`);
}

/** Asked for, and not yet confirmed. */
export function findNewsletterRequestsOf(db: Queries, shopId: string, { emails }: Person) {
  return db.many<object>(sql`
    select campaign.identifier as newsletter, email, request.name, created_at as since
    from newsletter_request request
    join newsletter_campaign campaign on campaign.shop_id = request.shop_id
      and campaign.campaign_id = request.campaign_id
    where request.shop_id = ${shopId} and email = any (${emails}) order by created_at, identifier`);
}

export function findWatchesOf(db: Queries, shopId: string, { emails }: Person) {
  return db.many<object>(sql`
    select upper(watcher.product_id::text) as "productId", product.product_number as "productNumber", email, locale,
      watcher.created_at as since
    from watcher
    join product on product.shop_id = watcher.shop_id and product.product_id = watcher.product_id
    where watcher.shop_id = ${shopId} and email = any (${emails}) order by watcher.created_at, watcher.product_id`);
}

/** Mails to one of the addresses, or about one of the orders. */
const mailsOf = (shopId: string, { customerId, emails }: Person) => sql`
  name = 'mail' and data ->> 'shopId' = ${shopId} and (
    lower(data ->> 'to') = any (${emails})
    or data -> 'facts' ->> 'orderId' in (
      select upper(order_id::text) from customer_order
      where shop_id = ${shopId} and customer_id = ${customerId}))`;

export function findMailsOf(db: Queries, shopId: string, person: Person) {
  return db.many<object>(sql`
    select data ->> 'to' as to, data ->> 'template' as template, data ->> 'locale' as locale,
      data -> 'facts' as facts, state, created_on as since
    from (
      select name, data, state::text, created_on, id from pgboss.job
      union all select name, data, state::text, created_on, id from pgboss.archive
    ) kept
    where ${mailsOf(shopId, person)} order by created_on, id`);
}

/** Oldest first, from behind the last one that was read. None is older than the customer. */
export function findEntriesAbout(
  db: Queries,
  shopId: string,
  { customerId, createdAt }: Person,
  after: EntryRow | undefined,
  limit: number,
) {
  return db.many<EntryRow>(sql`
    select ${entryColumns} from audit_entry
    where shop_id = ${shopId} and entry_id > ${after?.entryId ?? firstIdOf(createdAt.getTime())}::uuid and (
      object ->> 'customerId' = ${customerId} or object ->> 'orderId' in (
        select upper(order_id::text) from customer_order
        where shop_id = ${shopId} and customer_id = ${customerId}))
    order by entry_id limit ${limit}`);
}

/** Orders that are not erased yet, locked; those that somebody still works on are not finished. */
export function lockOrdersOf(tx: Transaction, shopId: string, customerId: string) {
  return tx.many<{ orderId: string; orderNumber: string; isFinished: boolean }>(sql`
    select upper(order_id::text) as "orderId", order_number as "orderNumber",
      editing_since is null and (
        closed_at is not null or archived_at is not null or rejected_at is not null or cancelled_at is not null
        or paid_at is not null and (delivered_at is not null or content -> 'shipping' = 'null')) as "isFinished"
    from customer_order
    where shop_id = ${shopId} and customer_id = ${customerId} and erased_at is null
    order by created_at, order_id
    for no key update`);
}

/** The country stays, because tax depends on it, and the first two characters of the postcode. */
const BLANK = JSON.stringify(
  Object.fromEntries(
    ADDRESS_FIELDS.map((field) => [field, field === 'country' || field === 'zipCode' ? `@${field}` : null]),
  ),
);
const BLANK_WITH_MAIL = BLANK.replace('"emailAddress":null', `"emailAddress":"${ERASED_MAIL}"`);

const anonymised = (address: Sql, blank: string) => sql`
  replace(replace(${blank}, '"@zipCode"', coalesce(to_json(left(${address} ->> 'zipCode', 2))::text, 'null')),
    '"@country"', coalesce(to_json(${address} ->> 'country')::text, 'null'))::json`;

/**
 * All of them in one statement, which is why it goes past the one way to change an order: nothing of this is counted
 * by days or lines.
 */
export function eraseOrders(tx: Transaction, shopId: string, orderIds: readonly string[]) {
  return tx.run(sql`
    update customer_order set billing_address = ${anonymised(sql`billing_address`, BLANK_WITH_MAIL)},
      shipping_address = case when shipping_address is null then null
        else ${anonymised(sql`shipping_address`, BLANK)} end,
      customer_comment = null, internal_note = null, erased_at = ${tx.now}, updated_at = ${tx.now},
      version = version + 1
    where shop_id = ${shopId} and order_id = any (${orderIds}::uuid[])`);
}

/** What people have written beside the facts that the books need. */
export async function eraseRemarks(tx: Transaction, shopId: string, orderIds: readonly string[]) {
  const ofOrders = sql`shop_id = ${shopId} and order_id = any (${orderIds}::uuid[])`;
  await tx.run(sql`update order_payment set note = null where ${ofOrders} and note is not null`);
  await tx.run(sql`update order_return set note = null where ${ofOrders} and note is not null`);
  await tx.run(sql`
    update order_shipment set tracking_code = null where ${ofOrders} and tracking_code is not null`);
  // The history stays, but not why somebody has cancelled.
  await tx.run(
    sql`update order_event set details = details - 'reason' where ${ofOrders} and details ? 'reason'`,
  );
}

export function recordErasures(
  tx: Transaction,
  shopId: string,
  orderIds: readonly string[],
  appId: string | null,
) {
  return tx.run(sql`
    insert into order_event (shop_id, order_id, event_id, at, app_id, kind, details)
    select ${shopId}, order_id, event_id, ${tx.now}::timestamptz, ${appId}::uuid, 'erased', '{}'
    from unnest(${orderIds}::uuid[], ${orderIds.map(() => newId(tx.now))}::uuid[]) as erased (order_id, event_id)`);
}

export async function countDocumentsOf(db: Queries, shopId: string, customerId: string): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from order_document document
    join customer_order on customer_order.shop_id = document.shop_id
      and customer_order.order_id = document.order_id
    where document.shop_id = ${shopId} and customer_order.customer_id = ${customerId}`);
  return row!.count;
}

export function deleteCartsOf(tx: Transaction, shopId: string, person: Person) {
  return tx.many<{ cartId: string }>(sql`
    delete from cart where ${cartsOf(shopId, person)} returning upper(cart_id::text) as "cartId"`);
}

/** How many there were; what was only asked for goes as well. */
export async function deleteSubscriptionsOf(tx: Transaction, shopId: string, { emails }: Person) {
  await tx.run(sql`delete from newsletter_request where shop_id = ${shopId} and email = any (${emails})`);
  return tx.run(sql`delete from newsletter_subscriber where shop_id = ${shopId} and email = any (${emails})`);
}

export function deleteWatchesOf(tx: Transaction, shopId: string, { emails }: Person) {
  return tx.run(sql`delete from watcher where shop_id = ${shopId} and email = any (${emails})`);
}

export async function deleteMailsOf(tx: Transaction, shopId: string, person: Person): Promise<number> {
  const waiting = await tx.run(sql`delete from pgboss.job where ${mailsOf(shopId, person)}`);
  return waiting + (await tx.run(sql`delete from pgboss.archive where ${mailsOf(shopId, person)}`));
}

/** Answers that were kept for a replay and show the customer, one of the orders, or a cart that was the person's. */
export function deleteAnswersAbout(
  tx: Transaction,
  shopId: string,
  { customerId, emails }: Person,
  cartIds: readonly string[],
) {
  const texts = emails.map((email) => JSON.stringify(email).slice(1, -1));
  return tx.run(sql`
    delete from idempotent_answer
    where shop_id = ${shopId} and (
      exists (select from unnest(${texts}::text[]) email where strpos(lower(body), email) > 0)
      or exists (
        select from regexp_matches(body, '"(?:customer|order|cart)Id":"([0-9A-F-]{36})"', 'g') named (ids)
        where ids[1] = ${customerId} or ids[1] = any (${cartIds}::text[]) or exists (
          select from customer_order
          where customer_order.shop_id = ${shopId} and customer_order.customer_id = ${customerId}
            and (customer_order.order_id = ids[1]::uuid or customer_order.cart_id = ids[1]::uuid))))`);
}

/** true: the customer is gone. Who has orders stays as a number. */
export async function eraseCustomer(tx: Transaction, shopId: string, customerId: string): Promise<boolean> {
  const deleted = await tx.run(sql`
    delete from customer where shop_id = ${shopId} and customer_id = ${customerId} and not exists (
      select from customer_order
      where customer_order.shop_id = ${shopId} and customer_order.customer_id = ${customerId})`);
  if (deleted > 0) return true;
  await tx.run(sql`
    update customer set billing_address = null, internal_note = null, ordered_as = null, customer_group_id = null
    where shop_id = ${shopId} and customer_id = ${customerId}`);
  return false;
}
