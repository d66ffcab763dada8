import type { Database, Queries, Transaction } from '../../db/database.ts';
import { createLease, leaseEnd } from '../../db/lease.ts';
import { sql, type Sql } from '../../db/sql.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import type { EventRow } from '../../platform/events/queries.ts';
import { EVENT_TYPES, type EventType } from '../../platform/events/types.ts';
import type { DeliveryRecord, WaitingDelivery } from './batch.ts';

const lease = createLease(sql`webhook`, { holder: sql`lease_id` });
/** Milliseconds for which the webhooks of an app pause after a failure. */
const PAUSE = 60_000;
/** A webhook may lag by this many positions, while nothing of its type happens, before its position is written. */
const MAX_BEHIND = 200;

const SCOPES = Object.fromEntries(Object.entries(EVENT_TYPES).map(([type, { scope }]) => [type, scope]));

/**
 * Whether a webhook has something to deliver. Events of other types do not each cause a new position to be written.
 * The scope is checked again, because an app may have lost it since: events that it may no longer read stay in the
 * log. `shopId` is a parameter where the shop is known, or else Citus would ask all of its nodes.
 */
const hasWork = (db: Queries, shopId: Sql) => sql`
  webhook.active and (webhook.leased_until is null or webhook.leased_until <= ${db.serviceNow})
  and (webhook.next_try_at <= ${db.serviceNow} or webhook.position + ${MAX_BEHIND}::bigint <= counter.value
    or exists (
      select from event
      where event.shop_id = ${shopId} and event.type = webhook.event_type
        and event.position > webhook.position and event.position <= webhook.position + ${MAX_BEHIND}::bigint))
  and (webhook.uninstalled_app_id is not null or exists (
    select from app join token on token.shop_id = ${shopId} and token.app_id = app.app_id
    where app.shop_id = ${shopId} and app.app_id = webhook.app_id
      and (app.deliveries_paused_until is null or app.deliveries_paused_until <= ${db.serviceNow})
      and (token.expires_at is null or token.expires_at > ${db.serviceNow})
      and coalesce(${JSON.stringify(SCOPES)}::jsonb ->> webhook.event_type = any (token.scopes), true)))`;

/** The webhooks of a shop that have something to deliver, those that lag most first. */
export async function findWebhooksWithWork(db: Queries, shopId: string, limit: number): Promise<string[]> {
  const rows = await db.many<{ webhookId: string }>(sql`
    select upper(webhook.webhook_id::text) as "webhookId"
    from webhook
    left join counter on counter.shop_id = ${shopId} and counter.name = 'event'
    where webhook.shop_id = ${shopId} and ${hasWork(db, sql`${shopId}`)}
    order by webhook.position, webhook.webhook_id limit ${limit}`);
  return rows.map(({ webhookId }) => webhookId);
}

export async function hasActiveWebhooks(db: Queries, shopId: string): Promise<boolean> {
  const row = await db.one<{ found: boolean }>(sql`
    select exists (select from webhook where shop_id = ${shopId} and active) as found`);
  return row!.found;
}

export interface WebhookKey {
  shopId: string;
  webhookId: string;
}

/** Checks some webhooks of all shops, in key order, and returns which of them have something to deliver. */
export function sweepWebhooks(db: Queries, after: WebhookKey, limit: number) {
  return db.many<WebhookKey & { hasWork: boolean }>(sql`
    select webhook.shop_id as "shopId", upper(webhook.webhook_id::text) as "webhookId",
      coalesce(${hasWork(db, sql`webhook.shop_id`)}, false) as "hasWork"
    from webhook
    left join counter on counter.shop_id = webhook.shop_id and counter.name = 'event'
    where (webhook.shop_id, webhook.webhook_id) > (${after.shopId}, ${after.webhookId}::uuid)
    order by webhook.shop_id, webhook.webhook_id limit ${limit}`);
}

/** A webhook that this process delivers until it gives the lease back. */
export interface LeasedWebhook {
  webhookId: string;
  holder: string;
  appId: string | null;
  uninstalledAppId: string | null;
  eventType: EventType;
  callbackUrl: string;
  includesFields: boolean;
  position: number;
  nextTryAt: Date | null;
  secretSealed: Buffer | null;
  formerSecretSealed: Buffer | null;
  formerSecretUntil: Date | null;
  clientSecretSealed: Buffer | null;
}

/** undefined: another process delivers it, or it is no longer active. */
export async function leaseWebhook(
  db: Queries,
  shopId: string,
  webhookId: string,
  holder: string,
): Promise<LeasedWebhook | undefined> {
  const [webhook] = await lease.take<LeasedWebhook>(
    db,
    sql`shop_id = ${shopId} and webhook_id = ${webhookId} and active`,
    holder,
    sql`upper(webhook_id::text) as "webhookId", lease_id as holder, upper(app_id::text) as "appId",
      upper(uninstalled_app_id::text) as "uninstalledAppId", event_type as "eventType", callback_url as "callbackUrl",
      includes_fields as "includesFields", position, next_try_at as "nextTryAt", secret_sealed as "secretSealed",
      former_secret_sealed as "formerSecretSealed", former_secret_until as "formerSecretUntil",
      client_secret_sealed as "clientSecretSealed"`,
  );
  return webhook;
}

/** false: the lease was lost. */
export function renewLease(db: Queries, shopId: string, { webhookId, holder }: LeasedWebhook) {
  return lease.renew(db, sql`shop_id = ${shopId} and webhook_id = ${webhookId}`, holder);
}

export function endLease(db: Queries, shopId: string, { webhookId, holder }: LeasedWebhook) {
  return lease.release(db, sql`shop_id = ${shopId} and webhook_id = ${webhookId}`, holder);
}

/** Recorded deliveries that are still to be made, in the order of the events. Without an event it cannot be sent. */
export function findWaitingDeliveries(db: Queries, shopId: string, webhookId: string, limit: number) {
  return db.many<WaitingDelivery>(sql`
    select position, upper(resource_id::text) as "resourceId", attempts, next_try_at as "nextTryAt"
    from webhook_delivery
    where shop_id = ${shopId} and webhook_id = ${webhookId} and status = 'waiting'
      and exists (select from event where shop_id = ${shopId} and event.position = webhook_delivery.position)
    order by position limit ${limit}`);
}

export function findEventsAt(db: Queries, shopId: string, positions: readonly number[]) {
  return db.many<EventRow>(sql`
    select position, at, type, upper(resource_id::text) as "resourceId", upper(app_id::text) as "appId", data
    from event where shop_id = ${shopId} and position = any (${positions}::bigint[])`);
}

/** Moves the position, and locks the webhook; undefined: the lease was lost. */
export function moveLeased(
  tx: Transaction,
  shopId: string,
  { webhookId, holder }: LeasedWebhook,
  { position, active }: { position: number; active: boolean },
) {
  return tx.one<{ active: boolean; nextTryAt: Date | null }>(sql`
    update webhook set position = ${position}::bigint, leased_until = ${leaseEnd(tx.serviceNow)},
      active = active and ${active}, updated_at = case when ${active} then updated_at else ${tx.now} end
    where shop_id = ${shopId} and webhook_id = ${webhookId} and lease_id = ${holder}
    returning active, next_try_at as "nextTryAt"`);
}

/** A row for each event; `atOf` says when an event happened. */
export function saveDeliveries(
  tx: Transaction,
  shopId: string,
  webhookId: string,
  records: readonly DeliveryRecord[],
  atOf: (position: number) => Date,
) {
  const rows = records.map(({ attempt, position, ...record }) => ({
    ...record,
    position,
    createdAt: atOf(position),
    deliveredAt: attempt?.isDelivered ? record.triedAt : null,
    statusCode: attempt?.statusCode ?? null,
    milliseconds: attempt?.milliseconds ?? null,
    answer: attempt?.answer ?? null,
    error: attempt?.error ?? null,
  }));
  return tx.run(sql`
    insert into webhook_delivery (shop_id, webhook_id, position, resource_id, status, attempts, next_try_at, created_at,
      tried_at, delivered_at, status_code, milliseconds, answer, error)
    select webhook.shop_id, webhook.webhook_id, said.position, said."resourceId", said.status, said.attempts,
      said."nextTryAt", said."createdAt", said."triedAt", said."deliveredAt", said."statusCode", said.milliseconds,
      said.answer, said.error
    from webhook
    cross join jsonb_to_recordset(${JSON.stringify(rows)}) as said (position bigint, "resourceId" uuid, status text,
      attempts integer, "nextTryAt" timestamptz, "createdAt" timestamptz, "triedAt" timestamptz,
      "deliveredAt" timestamptz, "statusCode" integer, milliseconds integer, answer text, error text)
    where webhook.shop_id = ${shopId} and webhook.webhook_id = ${webhookId}
    on conflict (shop_id, webhook_id, position) do update set status = excluded.status, attempts = excluded.attempts,
      next_try_at = excluded.next_try_at, tried_at = excluded.tried_at, delivered_at = excluded.delivered_at,
      status_code = excluded.status_code, milliseconds = excluded.milliseconds, answer = excluded.answer,
      error = excluded.error`);
}

/** Returns whether the webhooks of the app pause; `begins`: from now on. */
export async function pauseApp(
  tx: Transaction,
  shopId: string,
  appId: string,
  { begins }: { begins: boolean },
): Promise<boolean> {
  if (begins) {
    await tx.run(sql`
      update app set deliveries_paused_until = ${new Date(tx.serviceNow.getTime() + PAUSE)}
      where shop_id = ${shopId} and app_id = ${appId}`);
    return true;
  }
  const row = await tx.one<{ isPaused: boolean | null }>(sql`
    select deliveries_paused_until > ${tx.serviceNow} as "isPaused" from app
    where shop_id = ${shopId} and app_id = ${appId}`);
  return row?.isPaused ?? false;
}

/** Deliveries are kept as long as their events. */
export function deliveryCleanup(days: number): CleanupStep {
  return {
    name: 'webhook deliveries',
    run: async (db: Database, limit) => {
      const old = await db.many<WebhookKey & { position: number }>(sql`
        select shop_id as "shopId", webhook_id as "webhookId", position from webhook_delivery
        where created_at < ${new Date(db.now.getTime() - days * 86_400_000)} order by created_at limit ${limit}`);
      for (const shopId of new Set(old.map((row) => row.shopId))) {
        const rows = old.filter((row) => row.shopId === shopId);
        await db.run(sql`
          delete from webhook_delivery
          where shop_id = ${shopId} and (webhook_id, position) in (
            select * from unnest(${rows.map((row) => row.webhookId)}::uuid[],
              ${rows.map((row) => row.position)}::bigint[]))`);
      }
      return old.length;
    },
  };
}
