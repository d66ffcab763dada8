import type { PoolClient } from 'pg';
import { findOrCreateUser, insertAdminSession, putRole, updateHost } from '../src/admin/users/queries.ts';
import { generateProducts } from '../src/commands/demo/generate.ts';
import { startProgress, type Progress } from '../src/commands/progress.ts';
import type { Database } from '../src/db/database.ts';
import { ADDRESS_FIELDS } from '../src/shops/countries/address.ts';
import { applySettings } from '../src/shops/settings/file.ts';
import { asBulk, copyShop, multiplyShop } from './many-shops.ts';
import { LOCALES } from './scale.ts';
import { insertOrders } from './scale-orders.ts';
import { createBareShop } from './shop.ts';

/** One shop with everything that its owner can list, and more shops beside it. */
export interface AdminShop {
  shopId: string;
  /** Of the owner, who also runs the installation. */
  cookie: string;
  newsletterId: string;
  campaignId: string;
  webhookId: string;
  categoryId: string;
  customerGroupId: string;
  /** How many rows the lists have. */
  sizes: Sizes;
}

export interface Sizes {
  products: number;
  orders: number;
  customers: number;
  subscribers: number;
  carts: number;
  entries: number;
}

/** At the scale 1. What is not named by the goal stands in proportion to the orders. */
const FULL = {
  products: 200_000,
  orders: 1_000_000,
  customers: 200_000,
  campaigns: 400,
  codes: 200_000,
  subscribers: 300_000,
  carts: 150_000,
  returns: 20_000,
  entries: 500_000,
  events: 200_000,
  deliveries: 200_000,
  failedJobs: 2_000,
  shops: 2_000,
};

/** The products of the shop are those of a pattern, so many times. */
const COPIES = 20;
const SHOP = 'Admin';
const SOLD_PRODUCTS = 20_000;
const ORDERS_AT_ONCE = 20_000;
const SHOPS_AT_ONCE = 250;

export async function createAdminShop(db: Database, scale: number): Promise<AdminShop> {
  const counts = Object.fromEntries(
    Object.entries(FULL).map(([name, count]) => [name, 200 * Math.ceil((count * scale) / 200)]),
  ) as typeof FULL;
  await createBareShop(db, 'Empty');
  await createBareShop(db, 'Pattern');
  await db.transaction((tx) => applySettings(tx, 'Pattern', SETTINGS));
  const pattern = counts.products / COPIES;
  const making = startProgress('products of the pattern', pattern);
  await generateProducts(db, { shopId: 'Pattern', products: pattern, seed: 7 }, making.advance);
  making.end();
  await asBulk(db, async (client, tables) => {
    await withProgress('products', counts.products, ({ advance }) =>
      multiplyShop(client, tables, 'Pattern', SHOP, COPIES, () => advance(pattern)),
    );
    await insertCategories(client);
    await withProgress('orders', counts.orders, (progress) => fillOrders(db, client, counts, progress));
    await withProgress('other rows', 7, (progress) => fillRest(client, counts, progress));
    await withProgress('other shops', counts.shops, async ({ advance }) => {
      for (let from = 1; from <= counts.shops; from += SHOPS_AT_ONCE) {
        const until = Math.min(from + SHOPS_AT_ONCE - 1, counts.shops);
        await copyShop(client, tables, 'Empty', from, until);
        advance(until - from + 1);
      }
    });
  });
  return { ...(await adminShop(db)), sizes: counts };
}

async function withProgress(
  what: string,
  total: number,
  work: (progress: Progress) => Promise<void>,
): Promise<void> {
  const progress = startProgress(what, total);
  await work(progress);
  progress.end();
}

const SETTINGS = {
  locales: LOCALES,
  currencies: { default: 'EUR', items: ['EUR', 'GBP', 'USD'], rates: { GBP: 0.85, USD: 1.1 } },
  customerGroups: ['Trade'],
  newsletters: [
    { identifier: 'news', name: 'News', language: 'en' },
    { identifier: 'offers', name: 'Offers', language: 'en' },
    { identifier: 'neues', name: 'Neues', language: 'de' },
  ],
};

/** So many as a large shop has, three levels deep. */
function insertCategories(client: PoolClient) {
  return client.query(
    `insert into category (shop_id, category_id, number, alias, parent_id, position, created_at, name, page_title,
       navigation_caption, description, visible, visible_in_navigation, special_offer, show_facets, facet_start_depth)
     select shop_id, md5(category_id::text || n)::uuid, 10000 + number * 10 + n, alias || '-' || n, category_id, n,
       created_at, jsonb_build_object('en_GB', (name ->> 'en_GB') || ' ' || n), '{}', '{}', '{}', true, true, false,
       true, 3
     from category cross join generate_series(1, 8) n
     where shop_id = $1 and parent_id in (select category_id from category where shop_id = $1 and parent_id is not null)`,
    [SHOP],
  );
}

/** Ids that begin with their moment, as those of the service do. */
const idAt = (moment: string) =>
  `(lpad(to_hex((extract(epoch from ${moment}) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 19))::uuid`;

const FIRST_NAMES =
  'Ada,Björn,Carla,Dario,Elif,Femke,Goran,Hanna,Idris,Jana,Karim,Lena,Marek,Nora,Olga,Pavel'.split(',');
const LAST_NAMES =
  'Lindqvist,Brennan,Castellano,Dvorak,Eriksen,Fontaine,Grünwald,Hoxha,Ivanova,Jansen,Kowalski,Moreau,Nakamura,Okafor'.split(
    ',',
  );

async function fillOrders(
  db: Database,
  client: PoolClient,
  { orders, customers }: typeof FULL,
  { advance }: Progress,
): Promise<void> {
  const empty = Object.fromEntries(ADDRESS_FIELDS.map((name) => [name, null]));
  await client.query(
    `insert into customer (shop_id, customer_id, customer_number, created_at, billing_address, customer_group_id)
     select $1, ${idAt('at')}, 'C' || n, at, ($2::jsonb || jsonb_build_object('firstName', first, 'lastName', last,
         'company', case when n % 10 = 0 then last || ' ' || n end, 'street', 'Kai 7', 'zipCode', '20457', 'city', 'Hamburg',
         'country', 'DE', 'emailAddress', lower(first || '.' || last || '.' || n || '@mail.example')))::json,
       case when n % 50 = 0 then (select customer_group_id from customer_group where shop_id = $1 limit 1) end
     from (
       select n, now() - interval '730 days' * (1 - n::float8 / $3) as at, ($4::text[])[1 + n % cardinality($4)] as first,
         ($5::text[])[1 + n * 7 % cardinality($5)] || case when n % 1000 = 0 then '-Berg' else '' end as last
       from generate_series(1, $3) n
     ) one`,
    [SHOP, empty, customers, FIRST_NAMES, LAST_NAMES],
  );
  await client.query('analyze customer');
  const { rows } = await client.query<{ id: string }>(
    `select product_id as id from product where shop_id = $1 and kind <> 'master'
     order by md5(product_id::text) limit $2`,
    [SHOP, SOLD_PRODUCTS],
  );
  const batch = { orders, end: db.now, customers, products: rows.map(({ id }) => id) };
  await client.query('alter table order_line disable trigger all');
  await client.query('alter table customer_order disable trigger all');
  for (let first = 0; first < orders; first += ORDERS_AT_ONCE) {
    const last = Math.min(first + ORDERS_AT_ONCE, orders) - 1;
    await insertOrders(db, SHOP, { ...batch, first, last });
    advance(last - first + 1);
  }
  await client.query('alter table order_line enable trigger all');
  await client.query('alter table customer_order enable trigger all');
  await client.query(`update counter set value = value + $2 where shop_id = $1 and name = 'order'`, [
    SHOP,
    orders,
  ]);
}

async function fillRest(client: PoolClient, counts: typeof FULL, { advance }: Progress): Promise<void> {
  const run = async (text: string, ...values: unknown[]) => {
    await client.query(text, [SHOP, ...values]);
  };
  await run(
    `insert into order_return (shop_id, order_id, return_id, at, lines, restocked, state)
     select $1, order_id, order_id, created_at, '[]', false,
       case when place <= $2 / 20 then 'requested' else 'refunded' end
     from (
       select order_id, created_at, row_number() over (order by created_at desc) as place
       from customer_order where shop_id = $1 order by created_at desc limit $2
     ) returned`,
    counts.returns,
  );
  advance(1);
  // Most campaigns have a handful of codes, some have thousands.
  await run(
    `insert into coupon_campaign (shop_id, campaign_id, identifier, name, created_at, currency, kind, amount,
       waive_shipping_costs, used)
     select $1, md5('campaign ' || n)::uuid, 'campaign-' || n, jsonb_build_object('en_GB', 'Campaign ' || n),
       now() - n * interval '1 day', 'EUR', 'PERCENT', 1000, false, n
     from generate_series(1, $2) n`,
    counts.campaigns,
  );
  await run(
    `insert into coupon (shop_id, code_key, code, campaign_id, created_at)
     select $1, 'CODE' || n, 'CODE' || n,
       md5('campaign ' || case when n % 2 = 0 then 1 + n / 2 % 10 else 1 + n % $3 end)::uuid, now()
     from generate_series(1, $2) n`,
    counts.codes,
    counts.campaigns,
  );
  advance(1);
  await run(
    `insert into newsletter_subscriber (shop_id, campaign_id, email, name, subscribed, created_at)
     select $1, campaign_id, lower(first || '.' || n || '@mail.example'), first, n % 20 <> 0,
       now() - interval '730 days' * n::float8 / $2
     from newsletter_campaign cross join lateral (
       select n, ($3::text[])[1 + n % cardinality($3)] as first from generate_series(1, $2 / 3) n) one
     where shop_id = $1`,
    counts.subscribers,
    FIRST_NAMES,
  );
  advance(1);
  await run(
    `insert into cart (shop_id, cart_id, token_hash, created_at, changed_at, abandoned_at, version, currency, locale,
       tax_type, lines, product_ids, billing_address)
     select $1, ${idAt('at')}, '', at, at, case when n > $2 / 29 then at + interval '1 day' end, 1, 'EUR', 'en_GB',
       'GROSS', case when n % 3 = 0 then '[]' else jsonb_build_array(jsonb_build_object(
         'lineItemId', upper(product_id::text), 'productId', upper(product_id::text), 'quantity', '1')) end,
       case when n % 3 = 0 then '{}' else array[product_id] end,
       case when n % 4 = 0 then json_build_object('emailAddress', 'ada.' || n || '@mail.example') end
     from (select n, now() - interval '29 days' * n::float8 / $2 as at from generate_series(1, $2) n) one
     join (
       select product_id, row_number() over () as place from product
       where shop_id = $1 and visible and kind = 'regular' limit 1000
     ) sold on sold.place = 1 + n % (select least(count(*), 1000) from product
       where shop_id = $1 and visible and kind = 'regular')`,
    counts.carts,
  );
  advance(1);
  await run(
    `insert into audit_entry (shop_id, entry_id, at, app_id, app_name, method, route, object)
     select $1, ${idAt('at')}, at, case when n % 3 = 0 then md5('person ' || n % 5)::uuid else app_id end, app.name,
       case when n % 5000 = 0 then 'DELETE' else 'PATCH' end,
       '/rs/shops/:shopId/products/:productId', '{}'
     from (select n, now() - interval '300 days' * n::float8 / $2 as at from generate_series(1, $2) n) one
     cross join app where app.shop_id = $1`,
    counts.entries,
  );
  advance(1);
  await run('delete from event where shop_id = $1');
  await run(
    `insert into event (shop_id, position, at, type, resource_id, data)
     select $1, n, now() - interval '25 days' * (1 - n::float8 / $2),
       case when n % 40 = 0 then 'STOCK_LOW' when n % 40 = 1 then 'CART_ABANDONED' else 'ORDER_CREATE' end,
       case when n % 40 = 0 then product_id else md5(n::text)::uuid end, '{}'
     from generate_series(1, $2) n join (
       select product_id, row_number() over () as place from product where shop_id = $1 limit 1000
     ) short on short.place = 1 + n % 1000`,
    counts.events,
  );
  await run(
    `insert into webhook (shop_id, webhook_id, app_id, event_type, callback_url, active, created_at, updated_at, position)
     select $1, md5('webhook ' || n)::uuid, app_id, 'ORDER_CREATE', 'https://hooks.example/' || n, false, now(), now(), $2
     from app cross join generate_series(1, 10) n where shop_id = $1`,
    counts.events,
  );
  await run(
    `insert into webhook_delivery (shop_id, webhook_id, position, status, attempts, created_at, tried_at, status_code)
     select $1, md5('webhook ' || 1 + n % 10)::uuid, n, case when n % 500 = 0 then 'failed' else 'delivered' end, 1,
       now() - interval '25 days' * (1 - n::float8 / $2), now(), 200
     from generate_series(1, $2) n`,
    counts.deliveries,
  );
  await run(`update counter set value = $2 where shop_id = $1 and name = 'event'`, counts.events);
  advance(1);
  await run(
    `insert into job (shop_id, job_id, queue, content, created_at, run_at, attempts, failed_at, error)
     select $1, ${idAt('now()')}, 'mail', '{"template": "orderConfirmation", "to": "ada@mail.example"}', now(), null, 12,
       now() - n * interval '1 minute', 'The mail server refused the address'
     from generate_series(1, $2) n`,
    counts.failedJobs,
  );
  advance(1);
}

/** What the addresses of the pages name. */
async function adminShop(db: Database): Promise<Omit<AdminShop, 'sizes'>> {
  const token = await db.transaction(async (tx) => {
    const userId = await findOrCreateUser(tx, 'owner@shop.example');
    await putRole(tx, SHOP, userId, 'owner');
    await updateHost(tx, userId, true);
    return insertAdminSession(tx, userId, 'bench');
  });
  const idOf = async (text: string) =>
    (await db.pool.query<{ id: string }>(`select upper((${text})::text) as id`, [SHOP])).rows[0]!.id;
  return {
    shopId: SHOP,
    cookie: `admin=${token}`,
    newsletterId: await idOf('select campaign_id from newsletter_campaign where shop_id = $1 limit 1'),
    campaignId: await idOf(
      'select campaign_id from coupon where shop_id = $1 group by 1 order by count(*) desc limit 1',
    ),
    webhookId: await idOf('select webhook_id from webhook where shop_id = $1 limit 1'),
    categoryId: await idOf(
      `select category_id from listing_size where shop_id = $1 and category_id <> '00000000-0000-0000-0000-000000000000'
       order by products_below desc limit 1`,
    ),
    customerGroupId: await idOf('select customer_group_id from customer_group where shop_id = $1 limit 1'),
  };
}
