import { randomUUID } from 'node:crypto';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** What shops are listed by, and told apart by: the index `shop_in_order` has it. */
export const idInOrder = sql`lower(shop.shop_id) collate "C"`;

/** After a change of data cached with the settings: everything rendered for the shop is rendered again. */
export function moveSettingsVersion(tx: Transaction, shopId: string) {
  return tx.run(sql`update shop set settings_version = settings_version + 1 where shop_id = ${shopId}`);
}

/** Closes a shop except for the admin, or opens it again with null. Its settings stay as they are. */
export function updateSuspension(tx: Transaction, shopId: string, suspendedAt: Date | null) {
  return tx.run(sql`
    update shop set suspended_at = ${suspendedAt}, settings_version = settings_version + 1
    where shop_id = ${shopId}`);
}

/** When a shop is deleted; until then it is closed as a suspended one is. null: it stays. */
export function updateDeletion(tx: Transaction, shopId: string, deletionAt: Date | null) {
  return tx.run(sql`
    update shop set deletion_at = ${deletionAt}, settings_version = settings_version + 1
    where shop_id = ${shopId}`);
}

/** Stops the emails of a shop for a reason, or lets them go on with null. */
export function updateEmailFreeze(tx: Transaction, shopId: string, reason: string | null) {
  return tx.run(sql`
    update shop set emails_frozen_at = ${reason === null ? null : tx.now}, emails_frozen_reason = ${reason},
      settings_version = settings_version + 1
    where shop_id = ${shopId}`);
}

/** null: the default plan. */
export function updatePlan(tx: Transaction, shopId: string, plan: string | null) {
  return tx.run(sql`update shop set plan = ${plan} where shop_id = ${shopId}`);
}

/** Opens the pages of a shop to the public, or closes them. The API stays as it is. */
export function updateOpening(tx: Transaction, shopId: string, isOpen: boolean) {
  return tx.run(sql`
    update shop set is_open = ${isOpen}, settings_version = settings_version + 1 where shop_id = ${shopId}`);
}

/** Ends the preview link of a shop: the next one is derived from the new seed. */
export function renewPreview(tx: Transaction, shopId: string) {
  return tx.run(sql`
    update shop set preview_seed = ${randomUUID()}, settings_version = settings_version + 1
    where shop_id = ${shopId}`);
}

/** Deletes everything that belongs to the shop; false when there is no such shop. */
export async function deleteShop(tx: Transaction, shopId: string): Promise<boolean> {
  // A shop with hundreds of thousands of products takes its time.
  await tx.run(sql`set local statement_timeout = 0`);
  const isDeleted = (await tx.run(sql`delete from shop where shop_id = ${shopId}`)) > 0;
  // No foreign key deletes them; after the shop, because changes of its settings wait for its row.
  await tx.run(sql`delete from shop_domain where shop_id = ${shopId}`);
  return isDeleted;
}

export function findShops(db: Queries, limit: number) {
  return db.many<{
    shopId: string;
    name: string;
    isOpen: boolean;
    isSuspended: boolean;
    deletionAt: Date | null;
    /** null: it is a shop of its own. */
    sandboxOf: string | null;
    createdAt: Date;
  }>(sql`
    select shop_id as "shopId", coalesce(settings -> 'name' ->> default_locale, shop_id) as name,
      is_open as "isOpen", suspended_at is not null as "isSuspended", deletion_at as "deletionAt",
      sandbox_of as "sandboxOf", created_at as "createdAt"
    from shop order by ${idInOrder} limit ${limit}`);
}

/** For the start page of a private installation: with the domain that a shop's links lead to, if it has one. */
export function findShopsWithDomains(db: Queries, limit: number) {
  return db.many<{ shopId: string; name: string; createdAt: Date; domain: string | null }>(sql`
    select shop.shop_id as "shopId", coalesce(settings -> 'name' ->> default_locale, shop.shop_id) as name,
      created_at as "createdAt", host as domain
    from shop left join shop_domain on shop_domain.shop_id = shop.shop_id and position = 0
    order by ${idInOrder} limit ${limit}`);
}

export function findShop(db: Queries, shopId: string) {
  return db.one<{ shopId: string }>(sql`select shop_id as "shopId" from shop where shop_id = ${shopId}`);
}

/**
 * A shop whose id differs from this one in upper and lower case only: the two would share a host below localhost, and
 * people would take one for the other. No index can refuse it where shops are distributed over several machines.
 */
export async function findSimilarShop(db: Queries, shopId: string): Promise<string | undefined> {
  const row = await db.one<{ shopId: string }>(sql`
    select shop_id as "shopId" from shop where ${idInOrder} = ${shopId.toLowerCase()} and shop_id <> ${shopId}
    limit 1`);
  return row?.shopId;
}

/** The contents of a shop, shown to prevent the deletion of the wrong one. */
export function findContents(db: Queries, shopId: string) {
  return db.one<{ name: string; products: number; orders: number; customers: number }>(sql`
    select coalesce(settings -> 'name' ->> default_locale, shop_id) as name,
      (select count(*) from product where shop_id = ${shopId}) as products,
      (select count(*) from customer_order where shop_id = ${shopId}) as orders,
      (select count(*) from customer where shop_id = ${shopId}) as customers
    from shop where shop_id = ${shopId}`);
}

export async function countShops(db: Queries): Promise<number> {
  return (await db.one<{ count: number }>(sql`select count(*) as count from shop`))!.count;
}
