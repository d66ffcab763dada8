import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';

export const MESSAGE_LEVELS = ['info', 'warning'] as const;
export type MessageLevel = (typeof MESSAGE_LEVELS)[number];

/** A text in the languages of the admin; where one is missing, the English one is shown. */
export interface MessageTexts {
  en: string;
  de?: string;
  fr?: string;
}

/** What the host tells the people of its shops. */
export interface HostMessage {
  messageId: string;
  level: MessageLevel;
  texts: MessageTexts;
  startsAt: Date;
  endsAt: Date;
  /** Names of plans, '' for the default one; null: whatever the plan. */
  plans: string[] | null;
  /** null: whatever the shop. */
  shopIds: string[] | null;
  /** The page /status shows it too. */
  isPublic: boolean;
}

export interface StoredMessage extends HostMessage {
  createdAt: Date;
  changedAt: Date;
  /** The owners are still being sent it. */
  isBeingEmailed: boolean;
}

/** Kept in memory by every process. */
export const MAX_MESSAGES = 200;

const columns = sql`
  upper(message_id::text) as "messageId", level, texts, starts_at as "startsAt", ends_at as "endsAt", plans,
  shop_ids as "shopIds", is_public as "isPublic"`;

const storedColumns = sql`
  ${columns}, created_at as "createdAt", changed_at as "changedAt", email_due_at is not null as "isBeingEmailed"`;

export function findMessages(db: Queries) {
  return db.many<StoredMessage>(sql`
    select ${storedColumns} from host_message order by message_id desc limit ${MAX_MESSAGES}`);
}

/** Those that have not ended. */
export function findCurrentMessages(db: Queries) {
  return db.many<HostMessage>(sql`
    select ${columns} from host_message where ends_at > ${db.now} order by starts_at, message_id limit ${MAX_MESSAGES}`);
}

export function findMessage(db: Queries, messageId: string) {
  return db.one<StoredMessage>(
    sql`select ${storedColumns} from host_message where message_id = ${messageId}`,
  );
}

export function lockMessage(tx: Transaction, messageId: string) {
  return tx.one<StoredMessage>(
    sql`select ${storedColumns} from host_message where message_id = ${messageId} for update`,
  );
}

export async function countMessages(db: Queries): Promise<number> {
  const row = await db.one<{ count: number }>(sql`select count(*) as count from host_message`);
  return row!.count;
}

export function insertMessage(tx: Transaction, message: HostMessage, isEmailed: boolean) {
  const { messageId, level, texts, startsAt, endsAt, plans, shopIds, isPublic } = message;
  return tx.run(sql`
    insert into host_message (message_id, level, texts, starts_at, ends_at, plans, shop_ids, is_public, created_at,
      changed_at, email_due_at)
    values (${messageId}, ${level}, ${texts}, ${startsAt}, ${endsAt}, ${plans}::text[], ${shopIds}::text[], ${isPublic},
      ${tx.now}, ${tx.now}, ${isEmailed ? tx.now : null})`);
}

export function updateMessage(tx: Transaction, message: HostMessage) {
  const { messageId, level, texts, startsAt, endsAt, plans, shopIds, isPublic } = message;
  return tx.run(sql`
    update host_message set level = ${level}, texts = ${texts}, starts_at = ${startsAt}, ends_at = ${endsAt},
      plans = ${plans}::text[], shop_ids = ${shopIds}::text[], is_public = ${isPublic}, changed_at = ${tx.now}
    where message_id = ${messageId}`);
}

/** false: there is no such message. */
export async function deleteMessage(tx: Transaction, messageId: string): Promise<boolean> {
  return (await tx.run(sql`delete from host_message where message_id = ${messageId}`)) > 0;
}

/** Which of the messages a person has put away. */
export async function findDismissed(
  db: Queries,
  userId: string,
  messageIds: readonly string[],
): Promise<Set<string>> {
  const rows = await db.many<{ messageId: string }>(sql`
    select upper(message_id::text) as "messageId" from host_message_reader
    where user_id = ${userId} and dismissed_at is not null and message_id = any (${messageIds}::uuid[])`);
  return new Set(rows.map(({ messageId }) => messageId));
}

/** A message that is gone is not put away. */
export function dismissMessage(db: Queries, messageId: string, userId: string) {
  return db.run(sql`
    insert into host_message_reader (message_id, user_id, dismissed_at)
    select message_id, ${userId}::uuid, ${db.now}::timestamptz from host_message
    where message_id = ${messageId} and level = 'info'
    on conflict (message_id, user_id) do update set dismissed_at = excluded.dismissed_at`);
}

export interface MessageToEmail extends HostMessage {
  emailedTo: string;
}

/** Locks the message whose owners are sent the next emails; another process takes another one, or none. */
export function lockMessageToEmail(tx: Transaction) {
  return tx.one<MessageToEmail>(sql`
    select ${columns}, emailed_to as "emailedTo" from host_message
    where email_due_at <= ${tx.now} order by email_due_at limit 1 for update skip locked`);
}

/** The next shops in the order of their ids, those that are open for their people: no sandboxes, none being deleted. */
export function findShopsToEmail(tx: Transaction, after: string, limit: number) {
  return tx.many<{ shopId: string; plan: string | null; locale: string }>(sql`
    select shop_id as "shopId", plan, default_locale as locale from shop
    where shop_id > ${after} and sandbox_of is null and deletion_at is null
    order by shop_id limit ${limit}`);
}

/** Records who is sent a message, once for each person, whatever the number of shops. Returns those that are new. */
export async function markEmailed(
  tx: Transaction,
  messageId: string,
  userIds: readonly string[],
): Promise<Set<string>> {
  const rows = await tx.many<{ userId: string }>(sql`
    insert into host_message_reader (message_id, user_id, emailed_at)
    select ${messageId}::uuid, user_id, ${tx.now}::timestamptz from unnest(${userIds}::uuid[]) as given (user_id)
    on conflict (message_id, user_id) do update set emailed_at = excluded.emailed_at
    where host_message_reader.emailed_at is null
    returning upper(user_id::text) as "userId"`);
  return new Set(rows.map(({ userId }) => userId));
}

/** `shopId`: all shops up to it have it; null: all. */
export function moveEmailed(tx: Transaction, messageId: string, shopId: string | null) {
  return tx.run(sql`
    update host_message set emailed_to = coalesce(${shopId}, emailed_to),
      email_due_at = ${shopId === null ? null : tx.now}
    where message_id = ${messageId}`);
}
