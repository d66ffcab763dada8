import { ensureApp, insertToken } from '../../apps/queries.ts';
import { isPrivate, type Config } from '../../config.ts';
import type { DemoCredentials } from '../../main.ts';
import { toSeconds } from '../../http/dates.ts';
import { toAddress } from '../../shops/countries/address.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { violatedConstraint } from '../../db/failure.ts';
import { sql } from '../../db/sql.ts';
import type { DemoToken } from '../../http/demo-tokens.ts';
import { tokenCaller } from '../../http/rate-limit.ts';
import { SCOPES, type Scope } from '../../http/scopes.ts';
import { newId, newSecret, secretHash } from '../../kernel/ids.ts';
import { insertShop } from '../../shops/shop/insert-shop.ts';
import { settingsFormat } from '../../composition/settings-format.ts';
import { applySettings, type SettingsFile } from '../../shops/settings/file.ts';
import { insertDemoCarts } from './carts.ts';
import { demoIds, type DemoIds } from './demo-ids.ts';
import { insertCatalogue } from './insert-catalogue.ts';
import { readCatalogue, readLegalPages, readPeople, readDemoSettings, type DemoPeople } from './demo-data.ts';
import { forgetEvents } from './forget-events.ts';
import { insertDemoOrders } from './orders.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The apps of the demo shop. Where only this machine can call, they have the known tokens. */
const apps: { name: string; scopes: readonly Scope[]; token: DemoToken }[] = [
  { name: 'all-access', scopes: SCOPES, token: 'demo-all' },
  { name: 'reader', scopes: ['products_read', 'orders_read', 'customers_read'], token: 'demo-read' },
  { name: 'widgets', scopes: ['scripttags_read', 'scripttags_write'], token: 'demo-widgets' },
  { name: 'pricing', scopes: ['carts_price_write', 'carts_read'], token: 'demo-pricing' },
  { name: 'nothing', scopes: [], token: 'demo-none' },
  { name: 'busy', scopes: ['products_read'], token: 'demo-busy' },
];

const scriptTags = [
  { app: 'widgets', url: 'https://cdn.example/chat.js' },
  { app: 'widgets', url: 'https://cdn.example/worker.js' },
  { app: 'all-access', url: 'https://cdn.example/badge.js' },
];

export interface DemoOptions {
  shopId: string;
  /** Tokens such as `demo-all`: only for a service that no other machine can reach. */
  knownTokens: boolean;
  /** To show a token whose rate limit is almost used up. */
  rateLimit: number;
}

/** Creates the two shops of an empty database; undefined if another process was faster. */
export async function createDemoShops(db: Database, config: Config): Promise<DemoCredentials | undefined> {
  try {
    return await db.transaction(async (tx) => {
      const knownTokens = isPrivate(config);
      const shopId = 'DemoShop';
      const token = await insertDemoShop(tx, { shopId, knownTokens, rateLimit: config.RATE_LIMIT });
      const [cart] = await insertDemoCarts(tx, shopId, { knownTokens });
      await insertDemoOrders(tx, shopId, { knownTokens });
      await insertShop(tx, {
        shopId: 'EmptyShop',
        name: 'Empty shop',
        email: 'hello@empty-shop.example',
        country: 'DE',
        locale: 'de_DE',
        currency: 'EUR',
      });
      return { token, cart };
    });
  } catch (error) {
    if (violatedConstraint(error) === 'shop_pkey') return undefined;
    throw error;
  }
}

/** Inserts all rows of a demo shop and returns the token with all scopes. `addDemoFiles` adds the pictures. */
export async function insertDemoShop(tx: Transaction, options: DemoOptions): Promise<string> {
  const { shopId } = options;
  await insertShop(tx, {
    shopId,
    name: shopId,
    email: 'hello@harbour-hearth.example',
    country: 'DE',
    locale: 'en_GB',
    currency: 'EUR',
  });
  const ids = demoIds(shopId, tx.now);
  const { settings, couponCampaigns } = await readDemoSettings();
  await applySettings(tx, shopId, settings, undefined, ids);
  await insertCatalogue(tx, shopId, await readCatalogue(), ids);
  await insertCampaigns(tx, shopId, couponCampaigns, ids);
  const { customers, subscribers } = await readPeople();
  await insertCustomers(tx, shopId, customers, ids);
  await insertSubscribers(tx, shopId, subscribers);
  await insertLegalPages(tx, shopId);
  forgetEvents(tx, shopId);
  return insertApps(tx, options, ids);
}

/** A file holds dates and no ages, so the ended campaign gets its dates here. */
const ENDED = 'old_news';

async function insertCampaigns(
  tx: Transaction,
  shopId: string,
  campaigns: NonNullable<SettingsFile['couponCampaigns']>,
  ids: DemoIds,
): Promise<void> {
  const ago = (days: number) => toSeconds(new Date(tx.now.getTime() - days * DAY));
  const couponCampaigns = campaigns.map((campaign) =>
    campaign.identifier === ENDED ? { ...campaign, validFrom: ago(90), validTo: ago(60) } : campaign,
  );
  await applySettings(tx, shopId, { couponCampaigns }, settingsFormat, ids);
  // The only use of this coupon is used up.
  await tx.run(sql`
    update coupon_campaign set used = 1 where shop_id = ${shopId} and identifier = 'one_shot'`);
  await tx.run(sql`update coupon set used = 1 where shop_id = ${shopId} and code_key = 'ONESHOT'`);
}

async function insertCustomers(
  tx: Transaction,
  shopId: string,
  customers: DemoPeople['customers'],
  ids: DemoIds,
): Promise<void> {
  const rows = customers.map(({ number, note, group, address }, index) => {
    const createdAt = new Date(tx.now.getTime() - 420 * DAY + index * DAY);
    return {
      customer_id: ids('customer', number, { at: createdAt }),
      customer_number: number,
      created_at: createdAt,
      billing_address: toAddress(address, 'billingAddress'),
      internal_note: note ?? null,
      group: group ?? null,
    };
  });
  await tx.run(sql`
    insert into customer (shop_id, customer_id, customer_number, created_at, billing_address, internal_note,
      customer_group_id)
    select ${shopId}, row.customer_id, row.customer_number, row.created_at, row.billing_address, row.internal_note,
      customer_group.customer_group_id
    from json_to_recordset(${JSON.stringify(rows)}) as row (customer_id uuid, customer_number text,
      created_at timestamptz, billing_address json, internal_note text, "group" text)
    left join customer_group on customer_group.shop_id = ${shopId} and customer_group.name = row."group"`);
  await tx.run(sql`
    update counter set value = ${1000 + rows.length} where shop_id = ${shopId} and name = 'customer'`);
}

async function insertSubscribers(
  tx: Transaction,
  shopId: string,
  subscribers: DemoPeople['subscribers'],
): Promise<void> {
  const rows = subscribers.map(({ campaign, name, subscribed }, index) => ({
    campaign,
    email: `${name.replaceAll(' ', '.')}@mail.example`.toLowerCase(),
    name,
    subscribed,
    created_at: new Date(tx.now.getTime() - 100 * DAY + index * DAY),
  }));
  await tx.run(sql`
    insert into newsletter_subscriber (shop_id, campaign_id, email, name, subscribed, created_at)
    select ${shopId}, campaign.campaign_id, row.email, row.name, row.subscribed, row.created_at
    from jsonb_to_recordset(${JSON.stringify(rows)}) as row (campaign text, email text, name text,
      subscribed boolean, created_at timestamptz)
    join newsletter_campaign campaign on campaign.shop_id = ${shopId} and campaign.identifier = row.campaign`);
}

async function insertLegalPages(tx: Transaction, shopId: string): Promise<void> {
  const rows = await readLegalPages();
  await tx.run(sql`
    insert into legal_page (shop_id, page, locale, content)
    select ${shopId}, page, locale, content
    from jsonb_to_recordset(${JSON.stringify(rows)}) as row (page text, locale text, content jsonb)`);
}

async function insertApps(
  tx: Transaction,
  { shopId, knownTokens, rateLimit }: DemoOptions,
  ids: DemoIds,
): Promise<string> {
  const appIds = new Map<string, string>();
  const tokens = new Map<string, string>();
  for (const { name, scopes, token } of apps) {
    const text = knownTokens ? token : newSecret(32);
    const appId = await ensureApp(tx, shopId, { appId: newId(tx.now), name, scopes });
    await insertToken(tx, shopId, { tokenHash: secretHash(text), appId, scopes });
    appIds.set(name, appId);
    tokens.set(name, text);
  }
  for (const { app, url } of scriptTags) {
    await tx.run(sql`
      insert into script_tag (shop_id, script_tag_id, app_id, script_url, created_at, updated_at)
      values (${shopId}, ${ids('script tag', url)}, ${appIds.get(app)}, ${url}, ${tx.now}, ${tx.now})`);
  }
  if (rateLimit > 2) {
    const caller = tokenCaller(shopId, secretHash(tokens.get('busy')!).toString('hex'));
    const hour = new Date(tx.now.getTime() - (tx.now.getTime() % HOUR));
    await tx.run(sql`
      insert into rate_window (caller, starts_at, calls) values (${caller}, ${hour}, ${rateLimit - 2})
      on conflict (caller, starts_at) do update set calls = excluded.calls`);
  }
  return tokens.get('all-access')!;
}
