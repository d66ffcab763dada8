import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { EventType } from '../../platform/events/types.ts';

export interface WebhookRow {
  webhookId: string;
  appId: string | null;
  eventType: EventType;
  callbackUrl: string;
  active: boolean;
  /** Whether the custom fields of what an event is about are sent with it. */
  includesFields: boolean;
  createdAt: Date;
  updatedAt: Date;
  secretSealed: Buffer | null;
  formerSecretSealed: Buffer | null;
  formerSecretUntil: Date | null;
}

const columns = sql`
  upper(webhook_id::text) as "webhookId", upper(app_id::text) as "appId", event_type as "eventType",
  callback_url as "callbackUrl", active, includes_fields as "includesFields", created_at as "createdAt", updated_at as "updatedAt",
  secret_sealed as "secretSealed", former_secret_sealed as "formerSecretSealed",
  former_secret_until as "formerSecretUntil"`;

/** Oldest first. */
export function findWebhooks(
  db: Queries,
  shopId: string,
  appId: string,
  { limit, offset }: { limit: number; offset: number },
) {
  return db.many<WebhookRow>(sql`
    select ${columns} from webhook where shop_id = ${shopId} and app_id = ${appId}
    order by created_at, webhook_id limit ${limit} offset ${offset}`);
}

export async function countWebhooks(db: Queries, shopId: string, appId: string): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from webhook where shop_id = ${shopId} and app_id = ${appId}`);
  return row!.count;
}

export function findWebhook(db: Queries, shopId: string, appId: string, webhookId: string) {
  return db.one<WebhookRow>(sql`
    select ${columns} from webhook
    where shop_id = ${shopId} and webhook_id = ${webhookId} and app_id = ${appId}`);
}

export function lockWebhook(tx: Transaction, shopId: string, appId: string, webhookId: string) {
  return tx.one<WebhookRow>(sql`
    select ${columns} from webhook
    where shop_id = ${shopId} and webhook_id = ${webhookId} and app_id = ${appId} for no key update`);
}

/** A webhook of any app. One whose app was uninstalled is never shown. */
export function findWebhookOfShop(db: Queries, shopId: string, webhookId: string) {
  return db.one<WebhookRow>(sql`
    select ${columns} from webhook
    where shop_id = ${shopId} and webhook_id = ${webhookId} and app_id is not null`);
}

/** Counts the webhooks of the shop. Other callers of this function wait until the transaction ends. */
export async function lockWebhookCount(tx: Transaction, shopId: string): Promise<number> {
  await tx.run(sql`select shop_id from shop where shop_id = ${shopId} for no key update`);
  const row = await tx.one<{ count: number }>(sql`
    select count(*) as count from webhook where shop_id = ${shopId}`);
  return row!.count;
}

/** It delivers events from now on. */
export async function insertWebhook(
  tx: Transaction,
  shopId: string,
  webhook: {
    webhookId: string;
    appId: string;
    eventType: EventType;
    callbackUrl: string;
    active: boolean;
    includesFields: boolean;
    secretSealed: Buffer;
  },
): Promise<WebhookRow> {
  const row = await tx.one<WebhookRow>(sql`
    insert into webhook (shop_id, webhook_id, app_id, event_type, callback_url, active, includes_fields, created_at,
      updated_at, position, secret_sealed)
    select shop.shop_id, ${webhook.webhookId}::uuid, ${webhook.appId}::uuid, ${webhook.eventType}::text,
      ${webhook.callbackUrl}::text, ${webhook.active}::boolean, ${webhook.includesFields}::boolean,
      ${tx.now}::timestamptz, ${tx.now}::timestamptz, coalesce(counter.value, 0), ${webhook.secretSealed}::bytea
    from shop left join counter on counter.shop_id = ${shopId} and counter.name = 'event'
    where shop.shop_id = ${shopId}
    returning ${columns}`);
  return row!;
}

/** A process that is delivering stops after the calls in progress. */
export function updateActive(tx: Transaction, shopId: string, webhookId: string, active: boolean) {
  return tx.one<WebhookRow>(sql`
    update webhook set active = ${active}, updated_at = ${tx.now}
    where shop_id = ${shopId} and webhook_id = ${webhookId}
    returning ${columns}`);
}

export function updateIncludesFields(
  tx: Transaction,
  shopId: string,
  webhookId: string,
  includesFields: boolean,
) {
  return tx.run(sql`
    update webhook set includes_fields = ${includesFields}, updated_at = ${tx.now}
    where shop_id = ${shopId} and webhook_id = ${webhookId}`);
}

/** Failed and waiting deliveries are due at once, with all their attempts. */
export async function retryDeliveries(tx: Transaction, shopId: string, webhookId: string): Promise<void> {
  await tx.run(sql`
    update webhook_delivery set status = 'waiting', attempts = 0, next_try_at = ${tx.serviceNow}
    where shop_id = ${shopId} and webhook_id = ${webhookId} and status <> 'delivered'`);
  await updateNextTry(tx, shopId, webhookId);
}

export function updateSecret(
  tx: Transaction,
  shopId: string,
  webhookId: string,
  secret: Pick<WebhookRow, 'secretSealed' | 'formerSecretSealed' | 'formerSecretUntil'>,
) {
  return tx.run(sql`
    update webhook set secret_sealed = ${secret.secretSealed}, former_secret_sealed = ${secret.formerSecretSealed},
      former_secret_until = ${secret.formerSecretUntil}, updated_at = ${tx.now}
    where shop_id = ${shopId} and webhook_id = ${webhookId}`);
}

export function deleteWebhookRow(tx: Transaction, shopId: string, webhookId: string) {
  return tx.run(sql`delete from webhook where shop_id = ${shopId} and webhook_id = ${webhookId}`);
}

/**
 * Goes back to this position; a webhook that has not come so far stays where it is, because it has yet to deliver the
 * events in between. The lease ends, so a process that is delivering does not move the position again. Deliveries
 * waiting after it are read from the log once more.
 */
export async function moveWebhookBack(
  tx: Transaction,
  shopId: string,
  webhookId: string,
  position: number,
): Promise<void> {
  await tx.run(sql`
    update webhook set position = least(position, ${position}::bigint), lease_id = null, leased_until = null
    where shop_id = ${shopId} and webhook_id = ${webhookId}`);
  await tx.run(sql`
    delete from webhook_delivery
    where shop_id = ${shopId} and webhook_id = ${webhookId} and position > ${position}::bigint
      and status <> 'delivered'`);
  await updateNextTry(tx, shopId, webhookId);
}

/** When the first delivery is due that waits for no other delivery of its resource. */
export function updateNextTry(tx: Transaction, shopId: string, webhookId: string) {
  return tx.run(sql`
    update webhook set next_try_at = (
      select min(coalesce(first.next_try_at, first.created_at)) from (
        select distinct on (resource_id) next_try_at, created_at from webhook_delivery
        where shop_id = ${shopId} and webhook_id = ${webhookId} and status = 'waiting'
        order by resource_id, position
      ) as first)
    where shop_id = ${shopId} and webhook_id = ${webhookId}`);
}

export interface DeliveryRow {
  position: number;
  resourceId: string | null;
  status: 'delivered' | 'waiting' | 'failed';
  attempts: number;
  nextTryAt: Date | null;
  createdAt: Date;
  triedAt: Date | null;
  deliveredAt: Date | null;
  statusCode: number | null;
  milliseconds: number | null;
  answer: string | null;
  error: string | null;
}

const deliveryColumns = sql`
  position, upper(resource_id::text) as "resourceId", status, attempts, next_try_at as "nextTryAt",
  created_at as "createdAt", tried_at as "triedAt", delivered_at as "deliveredAt", status_code as "statusCode",
  milliseconds, answer, error`;

/** Written out, because the index of undelivered rows is used only this way. */
const WITH_STATUS = {
  delivered: sql`and status = 'delivered'`,
  waiting: sql`and status = 'waiting'`,
  failed: sql`and status = 'failed'`,
  any: sql``,
} as const;

/** Newest first, before a position. */
export function findWebhookDeliveries(
  db: Queries,
  shopId: string,
  webhookId: string,
  { before, status, limit }: { before: number; status: keyof typeof WITH_STATUS; limit: number },
) {
  return db.many<DeliveryRow>(sql`
    select ${deliveryColumns} from webhook_delivery
    where shop_id = ${shopId} and webhook_id = ${webhookId} and position < ${before}::bigint ${WITH_STATUS[status]}
    order by position desc limit ${limit}`);
}

/** Sends it again, even when it was delivered; undefined: it does not exist. */
export async function redeliver(tx: Transaction, shopId: string, webhookId: string, position: number) {
  const row = await tx.one<DeliveryRow>(sql`
    update webhook_delivery set status = 'waiting', attempts = 0, next_try_at = ${tx.serviceNow}
    where shop_id = ${shopId} and webhook_id = ${webhookId} and position = ${position}::bigint
    returning ${deliveryColumns}`);
  if (row) await updateNextTry(tx, shopId, webhookId);
  return row;
}

/** Before an app is deleted: its webhooks for that event survive until they are notified. */
export async function detachWebhooks(tx: Transaction, shopId: string, appId: string): Promise<void> {
  const app = await tx.one<{ secretSealed: Buffer | null }>(sql`
    select secret_sealed as "secretSealed" from app where shop_id = ${shopId} and app_id = ${appId}`);
  await tx.run(sql`
    update webhook set uninstalled_app_id = app_id, app_id = null, client_secret_sealed = ${app?.secretSealed ?? null},
      updated_at = ${tx.now}
    where shop_id = ${shopId} and app_id = ${appId} and event_type = 'APP_UNINSTALL' and active`);
}

/** The webhooks of the app no longer pause after a failure. */
export function endPause(tx: Transaction, shopId: string, appId: string) {
  return tx.run(sql`
    update app set deliveries_paused_until = null where shop_id = ${shopId} and app_id = ${appId}`);
}

export interface SealedSecrets {
  webhookId: string;
  secretSealed: Buffer | null;
  formerSecretSealed: Buffer | null;
  clientSecretSealed: Buffer | null;
}

export function findSealedSecrets(db: Queries, shopId: string) {
  return db.many<SealedSecrets>(sql`
    select upper(webhook_id::text) as "webhookId", secret_sealed as "secretSealed",
      former_secret_sealed as "formerSecretSealed", client_secret_sealed as "clientSecretSealed"
    from webhook where shop_id = ${shopId} order by webhook_id`);
}

/** Without its own secret a webhook cannot sign, and must not deliver. */
export function updateSealedSecrets(tx: Transaction, shopId: string, secrets: SealedSecrets) {
  return tx.run(sql`
    update webhook set secret_sealed = ${secrets.secretSealed}, former_secret_sealed = ${secrets.formerSecretSealed},
      client_secret_sealed = ${secrets.clientSecretSealed}, active = active and ${secrets.secretSealed !== null}
    where shop_id = ${shopId} and webhook_id = ${secrets.webhookId}`);
}
