import type { Queries, Transaction } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import type { Scope } from '../../http/scopes.ts';
import type { EventType } from '../../platform/events/types.ts';
import type { Manifest } from './schema.ts';

export interface ManifestRow {
  appId: string;
  address: string;
  /** null: the merchant has not agreed to anything yet. */
  agreed: Manifest | null;
  /** null: nothing waits for consent. */
  offered: Manifest | null;
  icon: Buffer | null;
  readAt: Date;
  problem: string | null;
}

/** A manifest that was stored before apps could be asked has no calls. */
const withCalls = (column: Sql) => sql`'{"calls": []}'::jsonb || ${column}`;

const columns = sql`
  upper(app_id::text) as "appId", address, ${withCalls(sql`agreed`)} as agreed,
  ${withCalls(sql`offered`)} as offered, icon, read_at as "readAt", problem`;

export function findManifest(db: Queries, shopId: string, appId: string) {
  return db.one<ManifestRow>(sql`
    select ${columns} from app_manifest where shop_id = ${shopId} and app_id = ${appId}`);
}

export function lockManifest(tx: Transaction, shopId: string, appId: string) {
  return tx.one<ManifestRow>(sql`
    select ${columns} from app_manifest where shop_id = ${shopId} and app_id = ${appId} for update`);
}

export async function findAppIdByAddress(
  db: Queries,
  shopId: string,
  address: string,
): Promise<string | undefined> {
  const row = await db.one<{ appId: string }>(sql`
    select upper(app_id::text) as "appId" from app_manifest where shop_id = ${shopId} and address = ${address}`);
  return row?.appId;
}

const MAX_INSTALLED = 100;

/** What the merchant has agreed to, by name of the app. */
export function findAgreed(db: Queries, shopId: string) {
  return db.many<{ appId: string; agreed: Manifest }>(sql`
    select upper(app_manifest.app_id::text) as "appId", ${withCalls(sql`agreed`)} as agreed
    from app_manifest join app on app.shop_id = ${shopId} and app.app_id = app_manifest.app_id
    where app_manifest.shop_id = ${shopId} and agreed is not null
    order by app.name limit ${MAX_INSTALLED}`);
}

export function insertManifest(
  tx: Transaction,
  shopId: string,
  row: { appId: string; address: string; offered: Manifest; icon: Buffer | null; dueAt: Date },
) {
  return tx.run(sql`
    insert into app_manifest (shop_id, app_id, address, offered, icon, read_at, due_at)
    values (${shopId}, ${row.appId}, ${row.address}, ${row.offered}, ${row.icon}, ${tx.serviceNow}, ${row.dueAt})`);
}

/** What came of reading it. */
export function updateManifest(
  tx: Transaction,
  shopId: string,
  { appId, agreed, offered, icon }: Pick<ManifestRow, 'appId' | 'agreed' | 'offered' | 'icon'>,
) {
  return tx.run(sql`
    update app_manifest
    set agreed = ${agreed}::jsonb, offered = ${offered}::jsonb, icon = ${icon}::bytea, read_at = ${tx.serviceNow},
      problem = null
    where shop_id = ${shopId} and app_id = ${appId}`);
}

/** The manifests in force, and those that wait, of all apps of a shop. */
export function findAgreedAndOffered(db: Queries, shopId: string) {
  return db.many<Pick<ManifestRow, 'appId' | 'agreed' | 'offered'>>(sql`
    select upper(app_id::text) as "appId", ${withCalls(sql`agreed`)} as agreed, ${withCalls(sql`offered`)} as offered
    from app_manifest where shop_id = ${shopId}`);
}

/** After a backup has replaced the shop; the manifest was not read again. */
export function updateOfferedAgain(
  tx: Transaction,
  shopId: string,
  { appId, agreed, offered }: Pick<ManifestRow, 'appId' | 'agreed' | 'offered'>,
) {
  return tx.run(sql`
    update app_manifest set agreed = ${agreed}::jsonb, offered = ${offered}::jsonb
    where shop_id = ${shopId} and app_id = ${appId}`);
}

/** Of a manifest: those that it no longer names. `kept`: `ORDER_CREATE https://...` */
export function deleteOtherWebhooks(tx: Transaction, shopId: string, appId: string, kept: readonly string[]) {
  return tx.run(sql`
    delete from webhook
    where shop_id = ${shopId} and app_id = ${appId} and by_manifest
      and event_type || ' ' || callback_url <> all (${kept}::text[])`);
}

/** It could not be read; what was agreed stays. */
export function updateProblem(db: Queries, shopId: string, appId: string, problem: string) {
  return db.run(sql`
    update app_manifest set problem = ${problem} where shop_id = ${shopId} and app_id = ${appId}`);
}

export interface DueManifest {
  shopId: string;
  appId: string;
  address: string;
}

/** Of all shops that are not suspended. */
export function findDueManifests(db: Queries, limit: number) {
  return db.many<DueManifest>(sql`
    select app_manifest.shop_id as "shopId", upper(app_id::text) as "appId", address
    from app_manifest join shop on shop.shop_id = app_manifest.shop_id
    where agreed is not null and due_at <= ${db.serviceNow} and suspended_at is null
    order by due_at limit ${limit}`);
}

/** 1: this process reads it; 0: another one does. */
export function takeDueManifest(db: Queries, { shopId, appId }: DueManifest, dueAt: Date) {
  return db.run(sql`
    update app_manifest set due_at = ${dueAt}
    where shop_id = ${shopId} and app_id = ${appId} and due_at <= ${db.serviceNow}`);
}

/** The app is what its manifest says; its tokens get its scopes. The constraint `app_name` refuses a taken name. */
export async function updateApp(
  tx: Transaction,
  shopId: string,
  appId: string,
  { name, installUrl, scopes }: { name: string; installUrl: string; scopes: readonly Scope[] },
): Promise<void> {
  await tx.run(sql`
    update app set name = ${name}, callback_url = ${installUrl}, scopes = ${scopes}
    where shop_id = ${shopId} and app_id = ${appId}`);
  await tx.run(sql`update token set scopes = ${scopes} where shop_id = ${shopId} and app_id = ${appId}`);
}

export function findWebhooksOfManifest(tx: Transaction, shopId: string, appId: string) {
  return tx.many<{
    webhookId: string;
    eventType: EventType;
    callbackUrl: string;
    includesFields: boolean;
  }>(sql`
    select upper(webhook_id::text) as "webhookId", event_type as "eventType", callback_url as "callbackUrl",
      includes_fields as "includesFields"
    from webhook where shop_id = ${shopId} and app_id = ${appId} and by_manifest`);
}

export function markByManifest(tx: Transaction, shopId: string, webhookId: string) {
  return tx.run(sql`
    update webhook set by_manifest = true where shop_id = ${shopId} and webhook_id = ${webhookId}`);
}

/** As a backup brought them: what they hold is checked by nothing yet. */
export function findStoredManifests(db: Queries, shopId: string) {
  return db.many<{
    appId: string;
    address: string;
    agreed: unknown;
    offered: unknown;
    secretsSealed: Buffer | null;
  }>(sql`
    select upper(app_id::text) as "appId", address, agreed, offered, secrets_sealed as "secretsSealed"
    from app_manifest where shop_id = ${shopId} order by app_id`);
}

export function deleteManifest(tx: Transaction, shopId: string, appId: string) {
  return tx.run(sql`delete from app_manifest where shop_id = ${shopId} and app_id = ${appId}`);
}

export function updateSecrets(tx: Transaction, shopId: string, appId: string, sealed: Buffer | null) {
  return tx.run(sql`
    update app_manifest set secrets_sealed = ${sealed} where shop_id = ${shopId} and app_id = ${appId}`);
}

export function findSettingValues(db: Queries, shopId: string, appId: string) {
  return db.one<{ settings: Record<string, unknown>; secretsSealed: Buffer | null }>(sql`
    select settings, secrets_sealed as "secretsSealed" from app_manifest
    where shop_id = ${shopId} and app_id = ${appId}`);
}

export function updateSettingValues(
  tx: Transaction,
  shopId: string,
  appId: string,
  settings: Readonly<Record<string, string | boolean>>,
  secretsSealed: Buffer | null,
) {
  return tx.run(sql`
    update app_manifest set settings = ${settings}, secrets_sealed = ${secretsSealed}
    where shop_id = ${shopId} and app_id = ${appId}`);
}
