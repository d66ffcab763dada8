import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { Scope } from '../../http/scopes.ts';
import type { EventType } from '../../platform/events/types.ts';

export interface ListedApp {
  appId: string;
  name: string;
  /** null: a private app. */
  callbackUrl: string | null;
  /** The scopes of its tokens; without tokens, the scopes it requests. */
  scopes: Scope[];
  /** The scopes it gets with the next installation. */
  asks: Scope[];
  createdAt: Date;
  tokens: number;
  lastUsedAt: Date | null;
  /** An assistant that a person has connected. */
  isAssistant: boolean;
  webhooks: number;
  /** The number of its webhooks that are off or have undelivered events. */
  failingWebhooks: number;
}

const MAX_APPS = 500;

const appColumns = (shopId: string) => sql`
  upper(app.app_id::text) as "appId", app.name, app.callback_url as "callbackUrl", app.created_at as "createdAt",
  app.scopes as asks, coalesce((
    select array_agg(distinct scope) from token cross join lateral unnest(token.scopes) scope
    where token.shop_id = ${shopId} and token.app_id = app.app_id), app.scopes) as scopes,
  (select count(*) from token where token.shop_id = ${shopId} and token.app_id = app.app_id) as tokens,
  (select max(last_used_at) from token where token.shop_id = ${shopId} and token.app_id = app.app_id)
    as "lastUsedAt",
  exists (
    select from connected_assistant
    where connected_assistant.shop_id = ${shopId} and connected_assistant.app_id = app.app_id) as "isAssistant",
  (select count(*) from webhook where webhook.shop_id = ${shopId} and webhook.app_id = app.app_id) as webhooks,
  (
    select count(*) from webhook
    where webhook.shop_id = ${shopId} and webhook.app_id = app.app_id and (not active or exists (
      select from webhook_delivery
      where webhook_delivery.shop_id = ${shopId} and webhook_delivery.webhook_id = webhook.webhook_id
        and status <> 'delivered'))
  ) as "failingWebhooks"`;

export function findListedApps(db: Queries, shopId: string) {
  return db.many<ListedApp>(sql`
    select ${appColumns(shopId)} from app where app.shop_id = ${shopId} order by app.name limit ${MAX_APPS}`);
}

export function findListedApp(db: Queries, shopId: string, appId: string) {
  return db.one<ListedApp>(sql`
    select ${appColumns(shopId)} from app where app.shop_id = ${shopId} and app.app_id = ${appId}`);
}

export interface AppToken {
  /** The hash in hexadecimal digits. */
  tokenId: string;
  scopes: Scope[];
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  networks: string[] | null;
}

const MAX_TOKENS = 100;

export function findTokensOf(db: Queries, shopId: string, appId: string) {
  return db.many<AppToken>(sql`
    select encode(token_hash, 'hex') as "tokenId", scopes, created_at as "createdAt", last_used_at as "lastUsedAt",
      expires_at as "expiresAt", networks
    from token where shop_id = ${shopId} and app_id = ${appId}
    order by created_at desc, token_hash limit ${MAX_TOKENS}`);
}

export interface ListedWebhook {
  webhookId: string;
  appId: string;
  appName: string;
  eventType: EventType;
  callbackUrl: string;
  active: boolean;
  /** Deliveries that wait or have failed. */
  open: number;
  lastStatus: 'delivered' | 'waiting' | 'failed' | null;
  lastTriedAt: Date | null;
}

const MAX_WEBHOOKS = 200;
const MAX_OPEN = 1000;

/** The webhooks of one app; '' means all apps. */
export function findListedWebhooks(db: Queries, shopId: string, appId: string) {
  const ofApp = appId === '' ? sql`webhook.app_id is not null` : sql`webhook.app_id = ${appId}::uuid`;
  return db.many<ListedWebhook>(sql`
    select upper(webhook.webhook_id::text) as "webhookId", upper(webhook.app_id::text) as "appId",
      app.name as "appName", event_type as "eventType", webhook.callback_url as "callbackUrl", active, (
        select count(*) from (
          select from webhook_delivery
          where webhook_delivery.shop_id = ${shopId} and webhook_delivery.webhook_id = webhook.webhook_id
            and status <> 'delivered' limit ${MAX_OPEN}) undelivered
      ) as open, last.status as "lastStatus", last.tried_at as "lastTriedAt"
    from webhook
    join app on app.shop_id = ${shopId} and app.app_id = webhook.app_id
    left join lateral (
      select status, tried_at from webhook_delivery
      where webhook_delivery.shop_id = ${shopId} and webhook_delivery.webhook_id = webhook.webhook_id
      order by position desc limit 1) last on true
    where webhook.shop_id = ${shopId} and ${ofApp}
    order by app.name, webhook.created_at, webhook.webhook_id limit ${MAX_WEBHOOKS}`);
}

export interface ListedScript {
  scriptTagId: string;
  scriptUrl: string;
  necessary: boolean;
  createdAt: Date;
  appId: string;
  appName: string;
}

const MAX_SCRIPTS = 500;

export function findListedScripts(db: Queries, shopId: string) {
  return db.many<ListedScript>(sql`
    select upper(script_tag_id::text) as "scriptTagId", script_url as "scriptUrl", necessary,
      script_tag.created_at as "createdAt", upper(app.app_id::text) as "appId", app.name as "appName"
    from script_tag join app on app.shop_id = ${shopId} and app.app_id = script_tag.app_id
    where script_tag.shop_id = ${shopId}
    order by script_tag.created_at, script_tag_id limit ${MAX_SCRIPTS}`);
}

export interface StaffMember {
  userId: string;
  email: string;
}

const MAX_PEOPLE = 200;

/** The staff of the shop. Two statements, because on a cluster users and shops are on different nodes. */
export async function findPeople(db: Queries, shopId: string): Promise<StaffMember[]> {
  const members = await db.many<{ userId: string }>(sql`
    select user_id as "userId" from shop_user where shop_id = ${shopId} limit ${MAX_PEOPLE}`);
  return db.many<StaffMember>(sql`
    select upper(user_id::text) as "userId", email from admin_user
    where user_id = any (${members.map(({ userId }) => userId)}::uuid[]) order by email`);
}

/** Those of the given ids that things of the shop have, in the order in which they were given. */
export async function findThings(
  db: Queries,
  shopId: string,
  kind: 'order' | 'product' | 'customer',
  ids: readonly string[],
): Promise<string[]> {
  const list = sql`any (${ids}::uuid[])`;
  const rows = await db.many<{ id: string }>(
    kind === 'order'
      ? sql`select upper(order_id::text) as id from customer_order where shop_id = ${shopId} and order_id = ${list}`
      : kind === 'product'
        ? sql`select upper(product_id::text) as id from product where shop_id = ${shopId} and product_id = ${list}`
        : sql`select upper(customer_id::text) as id from customer where shop_id = ${shopId} and customer_id = ${list}`,
  );
  const found = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => found.has(id));
}
