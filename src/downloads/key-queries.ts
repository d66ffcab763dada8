import type { Queries, Transaction } from '../db/database.ts';
import { insertInto } from '../db/insert.ts';
import { sql, type Sql } from '../db/sql.ts';

export interface LicenceKeyRow {
  keyId: string;
  productId: string;
  lastCharacters: string;
  orderId: string | null;
  orderNumber: string | null;
  givenAt: Date | null;
  revokedAt: Date | null;
}

export const KEY_STATES = ['free', 'given', 'revoked'] as const;
export type KeyState = (typeof KEY_STATES)[number];

const STATE = sql`case when order_id is null then 'free' when revoked_at is null then 'given' else 'revoked' end`;

/** null: in any state. */
const ofProduct = (shopId: string, productId: string, state: KeyState | null): Sql => sql`
  shop_id = ${shopId} and product_id = ${productId} and (${state}::text is null or ${STATE} = ${state}::text)`;

/** Oldest first, as they are given. */
export function findLicenceKeys(
  db: Queries,
  shopId: string,
  productId: string,
  { state, limit, offset }: { state: KeyState | null; limit: number; offset: number },
) {
  return db.many<LicenceKeyRow>(sql`
    select upper(key_id::text) as "keyId", upper(product_id::text) as "productId",
      last_characters as "lastCharacters", upper(order_id::text) as "orderId", (
        select order_number from customer_order
        where customer_order.shop_id = ${shopId} and customer_order.order_id = licence_key.order_id
      ) as "orderNumber", given_at as "givenAt", revoked_at as "revokedAt"
    from licence_key where ${ofProduct(shopId, productId, state)}
    order by key_id limit ${limit} offset ${offset}`);
}

export interface KeyCounts {
  free: number;
  given: number;
  revoked: number;
}

export async function countKeys(db: Queries, shopId: string, productId: string): Promise<KeyCounts> {
  const row = await db.one<KeyCounts>(sql`
    select count(*) filter (where order_id is null) as free,
      count(*) filter (where order_id is not null and revoked_at is null) as given,
      count(*) filter (where revoked_at is not null) as revoked
    from licence_key where shop_id = ${shopId} and product_id = ${productId}`);
  return row!;
}

export interface NewKey {
  keyId: string;
  sealed: Buffer;
  hash: Buffer;
  lastCharacters: string;
}

const insert = insertInto(
  'licence_key',
  {
    keyId: 'uuid',
    productId: 'uuid',
    keySealed: 'bytea',
    keyHash: 'bytea',
    lastCharacters: 'text',
  },
  { key: ['productId', 'keyHash'], keep: ['keyId', 'keySealed', 'lastCharacters'] },
);

const hex = (bytes: Buffer) => `\\x${bytes.toString('hex')}`;

/** Returns how many of them the product did not have yet. */
export function insertKeys(
  tx: Transaction,
  shopId: string,
  productId: string,
  keys: readonly NewKey[],
): Promise<number> {
  return tx.run(
    insert(
      shopId,
      keys.map(({ keyId, sealed, hash, lastCharacters }) => ({
        keyId,
        productId,
        keySealed: hex(sealed),
        keyHash: hex(hash),
        lastCharacters,
      })),
    ),
  );
}

/** 0: there is no such key, or a customer has it. */
export function deleteFreeKey(tx: Transaction, shopId: string, productId: string, keyId: string) {
  return tx.run(sql`
    delete from licence_key
    where shop_id = ${shopId} and product_id = ${productId} and key_id = ${keyId} and order_id is null`);
}

export function findKey(db: Queries, shopId: string, productId: string, keyId: string) {
  return db.one<{ keyId: string }>(sql`
    select upper(key_id::text) as "keyId" from licence_key
    where shop_id = ${shopId} and product_id = ${productId} and key_id = ${keyId}`);
}

/**
 * Gives the oldest free keys to a line of an order. Keys that another transaction is giving away at the moment are
 * skipped, so two orders never wait for each other and never get the same key. Returns how many there were.
 */
export async function giveKeys(
  tx: Transaction,
  shopId: string,
  { orderId, lineItemId, productId }: { orderId: string; lineItemId: string; productId: string },
  count: number,
): Promise<number> {
  const free = await tx.many<{ keyId: string }>(sql`
    select upper(key_id::text) as "keyId" from licence_key
    where shop_id = ${shopId} and product_id = ${productId} and order_id is null
    order by key_id limit ${count} for update skip locked`);
  if (free.length === 0) return 0;
  return tx.run(sql`
    update licence_key set order_id = ${orderId}, line_item_id = ${lineItemId}, given_at = ${tx.now}
    where shop_id = ${shopId} and key_id = any (${free.map(({ keyId }) => keyId)}::uuid[]) and order_id is null`);
}

/** Free keys, counted up to this number. */
export async function countFreeKeys(
  db: Queries,
  shopId: string,
  productId: string,
  atMost: number,
): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from (
      select key_id from licence_key
      where shop_id = ${shopId} and product_id = ${productId} and order_id is null limit ${atMost}) free`);
  return row!.count;
}

export interface GivenKey {
  keyId: string;
  lineItemId: string;
  sealed: Buffer;
  lastCharacters: string;
  revokedAt: Date | null;
}

/** In the order in which they were given. */
export function findGivenKeys(db: Queries, shopId: string, orderIds: readonly string[]) {
  return db.many<GivenKey & { orderId: string }>(sql`
    select upper(order_id::text) as "orderId", upper(key_id::text) as "keyId",
      upper(line_item_id::text) as "lineItemId", key_sealed as sealed, last_characters as "lastCharacters",
      revoked_at as "revokedAt"
    from licence_key where shop_id = ${shopId} and order_id = any (${orderIds}::uuid[])
    order by order_id, given_at, key_id`);
}

export function revokeKeys(tx: Transaction, shopId: string, keyIds: readonly string[]) {
  return tx.run(sql`
    update licence_key set revoked_at = ${tx.now}
    where shop_id = ${shopId} and key_id = any (${keyIds}::uuid[]) and revoked_at is null`);
}

/** A shop takes back that it has revoked a delivery. */
export function restoreKeys(tx: Transaction, shopId: string, keyIds: readonly string[]) {
  return tx.run(sql`
    update licence_key set revoked_at = null
    where shop_id = ${shopId} and key_id = any (${keyIds}::uuid[])`);
}

export interface SealedKey {
  keyId: string;
  sealed: Buffer;
}

/** In the order of their ids. */
export function findSealedKeys(tx: Transaction, shopId: string, after: string, limit: number) {
  return tx.many<SealedKey>(sql`
    select upper(key_id::text) as "keyId", key_sealed as sealed from licence_key
    where shop_id = ${shopId} and key_id > ${after} order by key_id limit ${limit}`);
}

export function updateSealedKey(
  tx: Transaction,
  shopId: string,
  { keyId, sealed, hash }: SealedKey & { hash: Buffer },
) {
  return tx.run(sql`
    update licence_key set key_sealed = ${sealed}, key_hash = ${hash}
    where shop_id = ${shopId} and key_id = ${keyId}`);
}
