import type { JsonWebKey } from 'node:crypto';
import type { Queries, Transaction } from '../db/database.ts';
import { deleteOld } from '../db/delete-old.ts';
import { insertInto } from '../db/insert.ts';
import { createLease } from '../db/lease.ts';
import { sql } from '../db/sql.ts';

export interface KeyRow {
  keyId: string;
  publicKey: JsonWebKey;
  privateKeySealed: Buffer;
  createdAt: Date;
}

/** A shop has two or three; more are there only if another installation has sealed the former ones. */
const MAX_KEYS = 10;

/** The newest first. */
export function findKeys(db: Queries, shopId: string) {
  return db.many<KeyRow>(sql`
    select upper(key_id::text) as "keyId", public_key as "publicKey", private_key_sealed as "privateKeySealed",
      created_at as "createdAt"
    from assistant_key where shop_id = ${shopId} order by created_at desc, key_id desc limit ${MAX_KEYS}`);
}

const intoKeys = insertInto('assistant_key', {
  keyId: 'uuid',
  publicKey: 'jsonb',
  privateKeySealed: 'bytea',
  createdAt: 'timestamptz',
});

export function insertKey(db: Queries, shopId: string, key: KeyRow) {
  return db.run(intoKeys(shopId, [key]));
}

/** The shops that assistants may call and that have no key since this moment. */
export async function findShopsWithoutKey(db: Queries, since: Date, limit: number): Promise<string[]> {
  const rows = await db.many<{ shopId: string }>(sql`
    select shop.shop_id as "shopId"
    from shop
    left join assistant_key newer on newer.shop_id = shop.shop_id and newer.created_at > ${since}
    where shop.settings @> '{"assistants": {"open": true}}' and newer.key_id is null
    order by shop.shop_id limit ${limit}`);
  return rows.map(({ shopId }) => shopId);
}

export const deleteKeysBefore = deleteOld('assistant_key', 'created_at', { key_id: 'uuid' });

export interface CallRow {
  callId: string;
  calledAt: Date;
  profile: string;
  operation: string;
  transport: 'rest' | 'mcp';
  status: number;
  problem: string | null;
  signed: boolean;
}

/** The calls of a shop that are kept. */
export const MAX_CALLS = 200;

/** The newest first. */
export function findCalls(db: Queries, shopId: string) {
  return db.many<CallRow>(sql`
    select upper(call_id::text) as "callId", called_at as "calledAt", profile, operation, transport, status, problem,
      signed
    from assistant_call where shop_id = ${shopId} order by call_id desc limit ${MAX_CALLS}`);
}

const intoCalls = insertInto('assistant_call', {
  callId: 'uuid',
  calledAt: 'timestamptz',
  profile: 'text',
  operation: 'text',
  transport: 'text',
  status: 'integer',
  problem: 'text',
  signed: 'boolean',
});

/** Adds calls, and deletes what is older than the last ones. */
export async function addCalls(db: Queries, shopId: string, calls: readonly CallRow[]): Promise<void> {
  await db.run(intoCalls(shopId, calls));
  await db.run(sql`
    delete from assistant_call where shop_id = ${shopId} and call_id < (
      select call_id from assistant_call where shop_id = ${shopId}
      order by call_id desc offset ${MAX_CALLS - 1} limit 1)`);
}

export const deleteCallsBefore = deleteOld('assistant_call', 'called_at', { call_id: 'uuid' });

/** A checkout session of an assistant, as it was made. */
export interface SessionRow {
  sessionId: string;
  profile: string;
  /** The assistant has signed when it made the session. */
  signed: boolean;
  cartId: string;
  createdAt: Date;
  expiresAt: Date;
  cancelledAt: Date | null;
}

const intoSessions = insertInto('assistant_session', {
  sessionId: 'uuid',
  profile: 'text',
  signed: 'boolean',
  cartId: 'uuid',
  createdAt: 'timestamptz',
  expiresAt: 'timestamptz',
});

export function insertSession(tx: Transaction, shopId: string, session: Omit<SessionRow, 'cancelledAt'>) {
  return tx.run(intoSessions(shopId, [session]));
}

const sessionColumns = sql`
  upper(assistant_session.session_id::text) as "sessionId", assistant_session.profile, assistant_session.signed,
  upper(assistant_session.cart_id::text) as "cartId", assistant_session.created_at as "createdAt",
  assistant_session.expires_at as "expiresAt", assistant_session.cancelled_at as "cancelledAt"`;

export interface SessionState extends SessionRow {
  /** Set: a visitor has opened the link, and has a copy of the cart. */
  pickedUpAt: Date | null;
  /** The first order of a buyer; null: nobody has ordered. */
  orderId: string | null;
  /** The assistant itself has ordered the cart: buyers get a copy of it. */
  isOrderedByAssistant: boolean;
  /** null: the assistant has not ended it, or its cart was gone already. */
  ended: EndedSession | null;
}

/** What stays of a session that its assistant has ended: nothing about the buyer. */
export interface EndedSession {
  line_items: object[];
  currency: string;
  totals: object[];
}

export function findSession(db: Queries, shopId: string, sessionId: string) {
  return db.one<SessionState>(sql`
    select ${sessionColumns}, (
        select picked_up_at from cart where cart.shop_id = ${shopId} and cart.cart_id = assistant_session.cart_id
      ) as "pickedUpAt", (
        select upper(order_id::text) from customer_order
        where customer_order.shop_id = ${shopId}
          and customer_order.assistant_session_id = assistant_session.session_id
        order by order_id limit 1
      ) as "orderId", exists (
        select from customer_order
        where customer_order.shop_id = ${shopId} and customer_order.cart_id = assistant_session.cart_id
      ) as "isOrderedByAssistant", assistant_session.ended
    from assistant_session where shop_id = ${shopId} and session_id = ${sessionId}`);
}

export function findSessionOfCart(db: Queries, shopId: string, cartId: string) {
  return db.one<SessionRow>(sql`
    select ${sessionColumns} from assistant_session where shop_id = ${shopId} and cart_id = ${cartId}`);
}

export function cancelSession(
  tx: Transaction,
  shopId: string,
  sessionId: string,
  ended: EndedSession | null,
) {
  return tx.run(sql`
    update assistant_session
    set cancelled_at = coalesce(cancelled_at, ${tx.now}), ended = coalesce(ended, ${ended}::jsonb)
    where shop_id = ${shopId} and session_id = ${sessionId}`);
}

/** Deletes sessions that ended before a moment, except those that an order names. */
export async function deleteSessionsBefore(db: Queries, before: Date, limit: number): Promise<number> {
  const old = await db.many<{ shopId: string; sessionId: string }>(sql`
    select assistant_session.shop_id as "shopId", assistant_session.session_id as "sessionId"
    from assistant_session
    left join customer_order on customer_order.shop_id = assistant_session.shop_id
      and customer_order.assistant_session_id = assistant_session.session_id
    where assistant_session.expires_at < ${before} and customer_order.order_id is null
    order by assistant_session.expires_at limit ${limit}`);
  await db.run(sql`
    delete from assistant_session
    using unnest(${old.map(({ shopId }) => shopId)}::text[], ${old.map(({ sessionId }) => sessionId)}::uuid[])
      as old (shop_id, session_id)
    where assistant_session.shop_id = old.shop_id and assistant_session.session_id = old.session_id`);
  return old.length;
}

/** What the buyers of an assistant have ordered in one currency, without what was cancelled. */
export interface AssistantSum {
  profile: string;
  currency: string;
  orders: number;
  /** Minor units. */
  total: number;
}

/** Assistants with orders; more are not listed. */
const MAX_ASSISTANTS = 50;

/** Those with the most orders first. */
export function findAssistantSums(db: Queries, shopId: string) {
  return db.many<AssistantSum>(sql`
    select assistant_session.profile, customer_order.currency, count(*) as orders,
      sum(customer_order.grand_total)::bigint as total
    from customer_order
    join assistant_session on assistant_session.shop_id = customer_order.shop_id
      and assistant_session.session_id = customer_order.assistant_session_id
    where customer_order.shop_id = ${shopId} and assistant_session.shop_id = ${shopId}
      and customer_order.assistant_session_id is not null and customer_order.cancelled_at is null
      and customer_order.rejected_at is null
    group by assistant_session.profile, customer_order.currency
    order by count(*) desc, assistant_session.profile, customer_order.currency limit ${MAX_ASSISTANTS}`);
}

export interface AssistantOrder {
  orderId: string;
  orderNumber: string;
  createdAt: Date;
  profile: string;
  currency: string;
  /** Minor units. */
  grandTotal: number;
}

/** The newest first. */
export function findAssistantOrders(db: Queries, shopId: string, limit: number) {
  return db.many<AssistantOrder>(sql`
    select upper(customer_order.order_id::text) as "orderId", customer_order.order_number as "orderNumber",
      customer_order.created_at as "createdAt", assistant_session.profile, customer_order.currency,
      customer_order.grand_total as "grandTotal"
    from customer_order
    join assistant_session on assistant_session.shop_id = customer_order.shop_id
      and assistant_session.session_id = customer_order.assistant_session_id
    where customer_order.shop_id = ${shopId} and assistant_session.shop_id = ${shopId}
      and customer_order.assistant_session_id is not null
    order by customer_order.created_at desc, customer_order.order_id desc limit ${limit}`);
}

/** The assistant that has brought the buyer of an order; undefined: none has. */
export async function findAssistantOf(
  db: Queries,
  shopId: string,
  orderId: string,
): Promise<string | undefined> {
  const row = await db.one<{ profile: string }>(sql`
    select assistant_session.profile from customer_order
    join assistant_session on assistant_session.shop_id = customer_order.shop_id
      and assistant_session.session_id = customer_order.assistant_session_id
    where customer_order.shop_id = ${shopId} and assistant_session.shop_id = ${shopId}
      and customer_order.order_id = ${orderId}`);
  return row?.profile;
}

const noticeLease = createLease(sql`assistant_session`);

/** Takes the session of an order for the one who sends a notice. undefined: there is none, or another one sends. */
export async function leaseSessionOf(
  db: Queries,
  shopId: string,
  orderId: string,
  holder: string,
): Promise<string | undefined> {
  const [taken] = await noticeLease.take<{ sessionId: string }>(
    db,
    sql`shop_id = ${shopId} and session_id = (
      select assistant_session_id from customer_order
      where customer_order.shop_id = ${shopId} and order_id = ${orderId})`,
    holder,
    sql`upper(session_id::text) as "sessionId"`,
  );
  return taken?.sessionId;
}

export function releaseSession(db: Queries, shopId: string, sessionId: string, holder: string) {
  return noticeLease.release(db, sql`shop_id = ${shopId} and session_id = ${sessionId}`, holder);
}

/** The sessions whose buyer is this customer, by their orders, oldest first. */
export function findSessionsOfCustomer(
  db: Queries,
  shopId: string,
  customerId: string,
  last: { orderId: string } | undefined,
  limit: number,
) {
  return db.many<{ orderId: string; orderNumber: string; profile: string; createdAt: Date }>(sql`
    select upper(customer_order.order_id::text) as "orderId", customer_order.order_number as "orderNumber",
      assistant_session.profile, assistant_session.created_at as "createdAt"
    from customer_order
    join assistant_session on assistant_session.shop_id = customer_order.shop_id
      and assistant_session.session_id = customer_order.assistant_session_id
    where customer_order.shop_id = ${shopId} and assistant_session.shop_id = ${shopId}
      and customer_order.customer_id = ${customerId}
      and customer_order.order_id > ${last?.orderId ?? '00000000-0000-0000-0000-000000000000'}::uuid
    order by customer_order.order_id limit ${limit}`);
}
