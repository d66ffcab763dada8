import type { Queries, Transaction } from '../db/database.ts';
import { insertInto } from '../db/insert.ts';
import { sql } from '../db/sql.ts';
import type { GiftCard } from './card.ts';

const columns = sql`
  upper(gift_card_id::text) as "giftCardId", last_characters as "lastCharacters", currency, balance,
  created_at as "createdAt", expires_on::text as "expiresOn", blocked_at as "blockedAt",
  upper(customer_id::text) as "customerId", note`;

export interface GiftCardFilter {
  /** null: those of all customers, and of none. */
  customerId: string | null;
  /** The end of the code, in upper case; null: any. */
  lastCharacters: string | null;
}

const matches = (shopId: string, { customerId, lastCharacters }: GiftCardFilter) => sql`
  shop_id = ${shopId} and (${customerId}::uuid is null or customer_id = ${customerId}::uuid)
  and (${lastCharacters}::text is null or last_characters = ${lastCharacters}::text)`;

/** Newest first. */
export function findGiftCards(
  db: Queries,
  shopId: string,
  filter: GiftCardFilter,
  { limit, offset }: { limit: number; offset: number },
) {
  return db.many<GiftCard>(sql`
    select ${columns} from gift_card where ${matches(shopId, filter)}
    order by gift_card_id desc limit ${limit} offset ${offset}`);
}

export async function countGiftCards(db: Queries, shopId: string, filter: GiftCardFilter): Promise<number> {
  const row = await db.one<{ count: number }>(
    sql`select count(*) as count from gift_card where ${matches(shopId, filter)}`,
  );
  return row!.count;
}

export function findGiftCard(db: Queries, shopId: string, giftCardId: string) {
  return db.one<GiftCard>(sql`
    select ${columns} from gift_card where shop_id = ${shopId} and gift_card_id = ${giftCardId}`);
}

export function findGiftCardByCode(db: Queries, shopId: string, codeHash: Buffer) {
  return db.one<GiftCard>(sql`
    select ${columns} from gift_card where shop_id = ${shopId} and code_hash = ${codeHash}`);
}

/** In the order of the ids that were given. */
export async function findGiftCardsByIds(
  db: Queries,
  shopId: string,
  giftCardIds: readonly string[],
): Promise<GiftCard[]> {
  if (giftCardIds.length === 0) return [];
  return db.many<GiftCard>(sql`
    select ${columns} from gift_card
    where shop_id = ${shopId} and gift_card_id = any (${giftCardIds}::uuid[])
    order by array_position(${giftCardIds}::uuid[], gift_card_id)`);
}

/** Whether the shop has issued any. */
export async function hasGiftCards(db: Queries, shopId: string): Promise<boolean> {
  const row = await db.one<{ has: boolean }>(sql`
    select exists (select from gift_card where shop_id = ${shopId}) as has`);
  return row!.has;
}

/**
 * Locks cards until the transaction ends. The counter of events must be locked before, by `takeTimeOfCommit` or by
 * placing orders: then no two transactions of a shop hold cards at the same time, and none can deadlock over them.
 */
export function lockGiftCards(tx: Transaction, shopId: string, giftCardIds: readonly string[]) {
  return tx.many<GiftCard>(sql`
    select ${columns} from gift_card
    where shop_id = ${shopId} and gift_card_id = any (${giftCardIds}::uuid[])
    order by gift_card_id for no key update`);
}

export function insertGiftCard(
  tx: Transaction,
  shopId: string,
  card: Omit<GiftCard, 'balance' | 'blockedAt'> & { codeHash: Buffer },
) {
  return tx.run(sql`
    insert into gift_card (shop_id, gift_card_id, code_hash, last_characters, currency, created_at, expires_on,
      customer_id, note)
    values (${shopId}, ${card.giftCardId}, ${card.codeHash}, ${card.lastCharacters}, ${card.currency},
      ${card.createdAt}, ${card.expiresOn}, ${card.customerId}, ${card.note})`);
}

/** Of a card that this transaction has locked. */
export function updateGiftCardBlock(
  tx: Transaction,
  shopId: string,
  { giftCardId, blockedAt }: Pick<GiftCard, 'giftCardId' | 'blockedAt'>,
) {
  return tx.run(sql`
    update gift_card set blocked_at = ${blockedAt} where shop_id = ${shopId} and gift_card_id = ${giftCardId}`);
}

export function updateCode(
  tx: Transaction,
  shopId: string,
  card: Pick<GiftCard, 'giftCardId' | 'lastCharacters'> & { codeHash: Buffer },
) {
  return tx.run(sql`
    update gift_card set code_hash = ${card.codeHash}, last_characters = ${card.lastCharacters}
    where shop_id = ${shopId} and gift_card_id = ${card.giftCardId}`);
}

export type EntryKind = 'issue' | 'redeem' | 'refund' | 'correct' | 'expire' | 'revoke';

/** A row of the ledger of a card. It is never changed. */
export interface GiftCardEntry {
  giftCardId: string;
  entryId: string;
  at: Date;
  kind: EntryKind;
  /** In minor units; negative: it leaves the card. */
  amount: number;
  orderId: string | null;
  /** null: the shop itself, or its customer. */
  appId: string | null;
  reason: string | null;
}

const insertRows = insertInto('gift_card_entry', {
  gift_card_id: 'uuid',
  entry_id: 'uuid',
  at: 'timestamptz',
  kind: 'text',
  amount: 'bigint',
  order_id: 'uuid',
  app_id: 'uuid',
  reason: 'text',
});

export function insertEntries(tx: Transaction, shopId: string, entries: readonly GiftCardEntry[]) {
  const rows = entries.map(({ giftCardId, entryId, at, kind, amount, orderId, appId, reason }) => ({
    gift_card_id: giftCardId,
    entry_id: entryId,
    at,
    kind,
    amount,
    order_id: orderId,
    app_id: appId,
    reason,
  }));
  return tx.run(insertRows(shopId, rows));
}

/** Adds to the balances of locked cards, and sets when they expire. */
export function updateBalances(
  tx: Transaction,
  shopId: string,
  changes: readonly { giftCardId: string; amount: number; expiresOn: string | null }[],
) {
  return tx.run(sql`
    update gift_card set balance = balance + change.amount, expires_on = change.expires_on
    from json_to_recordset(${JSON.stringify(
      changes.map(({ giftCardId, amount, expiresOn }) => ({
        id: giftCardId,
        amount,
        expires_on: expiresOn,
      })),
    )}) as change (id uuid, amount bigint, expires_on date)
    where shop_id = ${shopId} and gift_card_id = change.id`);
}

const entryColumns = sql`
  upper(gift_card_id::text) as "giftCardId", upper(entry_id::text) as "entryId", at, kind, amount,
  upper(order_id::text) as "orderId", upper(app_id::text) as "appId", reason`;

/** Newest first. */
export function findGiftCardEntries(
  db: Queries,
  shopId: string,
  giftCardId: string,
  { limit, offset }: { limit: number; offset: number },
) {
  return db.many<GiftCardEntry>(sql`
    select ${entryColumns} from gift_card_entry where shop_id = ${shopId} and gift_card_id = ${giftCardId}
    order by entry_id desc limit ${limit} offset ${offset}`);
}

export async function countGiftCardEntries(db: Queries, shopId: string, giftCardId: string): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from gift_card_entry where shop_id = ${shopId} and gift_card_id = ${giftCardId}`);
  return row!.count;
}

/** What a shop owes to the holders of its cards in one currency, in minor units. */
export interface OwedSum {
  currency: string;
  issued: number;
  redeemed: number;
  refunded: number;
  corrected: number;
  expired: number;
  revoked: number;
  owed: number;
}

/** The sums of all entries before a moment, by currency. */
export function findOwed(db: Queries, shopId: string, before: Date) {
  return db.many<OwedSum>(sql`
    select card.currency,
      coalesce(sum(entry.amount) filter (where entry.kind = 'issue'), 0)::bigint as issued,
      coalesce(sum(entry.amount) filter (where entry.kind = 'redeem'), 0)::bigint as redeemed,
      coalesce(sum(entry.amount) filter (where entry.kind = 'refund'), 0)::bigint as refunded,
      coalesce(sum(entry.amount) filter (where entry.kind = 'correct'), 0)::bigint as corrected,
      coalesce(sum(entry.amount) filter (where entry.kind = 'expire'), 0)::bigint as expired,
      coalesce(sum(entry.amount) filter (where entry.kind = 'revoke'), 0)::bigint as revoked,
      sum(entry.amount)::bigint as owed
    from gift_card_entry entry
    join gift_card card on card.shop_id = ${shopId} and card.gift_card_id = entry.gift_card_id
    where entry.shop_id = ${shopId} and entry.at < ${before}
    group by card.currency order by card.currency`);
}

/** Cards with a balance that have expired, of all shops, those that expired first at the beginning. */
export function findExpired(db: Queries, today: string, limit: number) {
  return db.many<{ shopId: string; giftCardId: string }>(sql`
    select shop_id as "shopId", upper(gift_card_id::text) as "giftCardId" from gift_card
    where balance > 0 and expires_on < ${today}::date
    order by expires_on, shop_id, gift_card_id limit ${limit}`);
}

/** The same of one shop, by its own clock. */
export function findExpiredOf(db: Queries, shopId: string, today: string, limit: number) {
  return db.many<{ shopId: string; giftCardId: string }>(sql`
    select shop_id as "shopId", upper(gift_card_id::text) as "giftCardId" from gift_card
    where shop_id = ${shopId} and balance > 0 and expires_on < ${today}::date
    order by expires_on, gift_card_id limit ${limit}`);
}
