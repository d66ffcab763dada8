import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../src/db/sql.ts';
import { refreshStatistics } from '../src/db/statistics.ts';
import { givenMerchant } from './admin.ts';
import { givenToken } from './builders.ts';
import { demoShop, startDemo } from './demo.ts';
import { CITUS_URL } from './cluster.ts';
import { IS_POOLED } from './pgbouncer.ts';
import { recordStatements } from './recorded-statements.ts';
import { callCombinations, callInVariations } from './variations.ts';
import type { Service } from './service.ts';

/*
 * A statement is planned once per connection. The tables of this service were analysed when they were as good as empty,
 * and PostgreSQL does not analyse them again by itself: so it is in the first minute of a shop, and here for ever. Then
 * the shop grows, the service notices it, and no statement may still read all that the shop has.
 */

/** What has a row for each thing that a shop sells, or for each time that it does. */
const GROWING = (
  'product price_history product_image product_category cross_selling watcher listing category_listing subcategory_listing ' +
  'customer cart coupon customer_order order_line order_event order_payment order_shipment order_return order_document audit_entry ' +
  'newsletter_subscriber custom_field_value'
).split(' ');

/** What of them is made anew in a copy; other ids name what is not copied, as tax classes. */
const COPIED_IDS = new Set(
  (
    'product_id master_id target_id image_key customer_id cart_id order_id line_item_id event_id payment_id shipment_id ' +
    'return_id document_id entry_id resource_id'
  ).split(' '),
);

/** Keys that say what a row is about: many rows have the same. */
const NOT_COPIED = new Set(['shop_id', 'locale', 'kind', 'currency', 'name']);

/** Statements that may read all rows of a shop, by how they begin, and why they may. */
const READING_ALL: readonly { begins: readonly string[]; because: string }[] = [
  {
    because: 'it is asked for all of them, or for how many there are',
    begins: [
      'select count(*) as count from customer where',
      'select count(*) as count from order_return where',
      'select campaign_id as "campaignId", code_key',
      'select campaign_id as "campaignId", language, identifier, name, description, subject, ( select count(*)',
      'select ( select count(*) from newsletter_subscriber',
      'select count(*) as count from (select distinct product_id from watcher',
      'select upper(product.product_id::text) as "productId", coalesce(product.facts -> \'name\'',
    ],
  },
  {
    because: 'an index has only the products that have prices in lists',
    begins: [
      'select list ->> \'priceListId\' as "priceListId", count(*) as count from product cross join',
      'select upper(product_id::text) as "productId", product_number as "productNumber", facts -> \'listPrices\'',
    ],
  },
  {
    because: 'an index has only the orders that wait for something',
    begins: ['with unpaid as materialized'],
  },
  {
    because: 'it reads a page in the order of an index, or the first row, and stops',
    begins: [
      'select customer_id as "customerId", customer_number as "customerNumber"',
      'select $1::bigint as results, settings_version as "settingsVersion", upper(customer_order.order_id::text)',
      'insert into listing_rebuild',
      'select coalesce(( select true from product where shop_id',
      'select order_id as "orderId" from ( select order_id, order_number from customer_order',
      'select coalesce(sum(orders) filter (where states',
      'with changed as materialized',
    ],
  },
  {
    because: 'a person is looked for in everything, when data are exported or erased',
    begins: [
      'select upper(watcher.product_id::text)',
      'select upper(cart_id::text) as "cartId", created_at as "creationDate"',
      'delete from watcher where shop_id = $1 and email',
      'delete from cart where shop_id = $1 and ( customer_id',
      'select case when order_id is null then custom_field.resource',
    ],
  },
  {
    because: 'of a few thousand products the texts are read faster than the indexes of their letters',
    begins: [
      'with beginning as materialized',
      'with sample as materialized',
      'with word_hit as materialized',
      'select given.word from shop cross join unnest',
    ],
  },
  {
    because: 'a whole category is emptied',
    begins: [
      'delete from category_listing where shop_id = $1 and category_id',
      'delete from subcategory_listing where shop_id = $1 and category_id',
    ],
  },
  {
    because: 'it cleans up once an hour',
    begins: ['delete from cart where created_at', 'delete from audit_entry'],
  },
  {
    because: 'only these tests send it',
    begins: ['select customer_id as id from customer', "select content #>> '{lines,0,lineItemId}'"],
  },
];

let service: Service;
let texts: ReadonlySet<string>;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
  texts = recordStatements(service.db).named;
  // Fills what the demo shop has nothing of, as shipments and pictures.
  await callInVariations(demoShop(service), 3, { isPlain: true });
  await callCombinations(demoShop(service), 3);
  // The lists and the search of the admin, which the variations do not call.
  const merchant = await givenMerchant(service);
  await service.db.run(sql`
    update shop set settings_version = settings_version + 1,
      settings = settings || '{"accounting": {"advisorNumber": 1001, "clientNumber": 1}}'
    where shop_id = 'DemoShop'`);
  await fillFields();
  for (const path of [
    '/orders?state=toShip',
    '/orders?state=toShip&sort=-changed',
    '/orders?state=toShip&q=1014',
    '/orders?state=waitingForPayment',
    '/orders?state=paymentFailed',
    '/search?q=1001',
    '/orders?q=1001',
    '/customers?q=1001',
    '/orders/accounting/orders.csv',
    '/orders/accounting/documents.zip',
    '/orders/accounting/datev.zip',
    '/orders/bank',
    '/support',
    '/reports/taxes',
    '/reports?by=category',
    '/apps/audit',
    '/products?field.plans.note=Red&field.plans.level=2',
    '/products?field.plans.note=Red&q=shirt',
    '/orders?state=all&field.plans.note=Red',
    '/orders?state=all&field.plans.note=Red&q=1001',
    '/customers?field.plans.note=Red',
    '/customers?field.plans.note=Red&q=1001',
    '/customers/export.csv?field.plans.note=Red',
  ]) {
    await merchant.get(path);
  }
  for (const path of ['/products', '/products?q=shirt', '/customers', '/orders']) {
    const and = path.includes('?') ? '&' : '?';
    await service.call('GET', `/DemoShop${path}${and}field=plans.note:Red&includeFields=true`, {
      token: 'demo-all',
    });
  }
  await filterByFields();
  await service.db.pool.query('vacuum analyze');
  for (const table of GROWING) {
    await service.db.pool.query(`alter table ${table} set (autovacuum_enabled = false)`);
  }
}, 120_000);

afterAll(() => service.close());

/** Custom fields by which the lists and the storefront are filtered, and something that has a value. */
async function fillFields(): Promise<void> {
  const token = await givenToken(service, 'DemoShop');
  const call = async (method: string, path: string, body: unknown) => {
    const answer = await service.call(method, `/manage/shops/DemoShop${path}`, { token, body });
    expect([200, 201]).toContain(answer.status);
  };
  const { rows } = await service.db.pool.query<Record<'product' | 'customer' | 'order', string>>(`
    select (select product_id from product where shop_id = 'DemoShop' and master_id is null limit 1) as product,
      (select customer_id from customer where shop_id = 'DemoShop' limit 1) as customer,
      (select order_id from customer_order where shop_id = 'DemoShop' limit 1) as order
    from shop where shop_id = 'DemoShop'`);
  for (const [resource, id] of Object.entries(rows[0]!)) {
    for (const [key, type] of [
      ['note', 'text'],
      ['level', 'number'],
    ]) {
      await call('POST', '/custom-fields', {
        resource,
        namespace: 'plans',
        key,
        type,
        name: { en_GB: key },
        readableBy: resource === 'product' ? 'public' : 'merchant',
        writableBy: 'merchant',
        isFilter: true,
        isFacet: resource === 'product',
      });
    }
    await call('PATCH', `/${resource}s/${id}/custom-fields`, {
      fields: { 'plans.note': 'Red', 'plans.level': '2' },
    });
  }
}

/** A shopper filters by a custom field. */
async function filterByFields(): Promise<void> {
  for (const path of ['/Categories/lamps?', '/search?q=lamp&']) {
    const { statusCode } = await service.app.inject(`/shop/DemoShop${path}f=f:plans.note:Red`);
    expect(statusCode).toBe(200);
  }
}

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Filter?: string;
  Plans?: Plan[];
}

// Behind a pooler that cannot keep prepared statements nothing is planned beforehand. On a cluster the coordinator only
// decides where a statement goes; `citus.test.ts` looks at that.
const PLANS_NOTHING = IS_POOLED || CITUS_URL !== undefined;

test.skipIf(PLANS_NOTHING)(
  'a plan that was made for an empty table is not used for a full one',
  async () => {
    const { db } = service;
    // A connection of its own, because its plans are its own.
    const [client, writer] = [await db.pool.connect(), await db.pool.connect()];
    try {
      await client.query(
        'prepare find_coupon as select used from coupon where shop_id = $1 and code_key = $2',
      );
      const planned = async () => {
        const { rows } = await client.query("explain (format json) execute find_coupon ('DemoShop', 'x')");
        return (rows[0]['QUERY PLAN'] as { Plan: Plan }[])[0]!.Plan['Node Type'];
      };
      expect(await planned()).toBe('Seq Scan');
      await grow(writer, 'DemoShop');
      expect(await planned()).toBe('Seq Scan');
      expect((await refreshStatistics(db)).toSorted()).toEqual(GROWING.toSorted());
      expect(await planned()).toBe('Index Scan');
      // Nothing more to do until they have doubled again.
      expect(await refreshStatistics(db)).toEqual([]);
    } finally {
      client.release();
      writer.release();
    }
  },
  120_000,
);

test.skipIf(PLANS_NOTHING)(
  'in a shop that has grown no statement reads all of it',
  async () => expect(await findWholeReadings()).toEqual({}),
  120_000,
);

test.skipIf(PLANS_NOTHING)(
  'nor does one when the average of all shops is tiny',
  async () => {
    const client = await service.db.pool.connect();
    try {
      await addTinyShops(client, 'DemoShop');
    } finally {
      client.release();
    }
    expect(await findWholeReadings()).toEqual({});
  },
  120_000,
);

/** What is read as a whole without a reason, by statement. */
async function findWholeReadings(): Promise<Record<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const text of texts) {
    if (!/^\s*(?:with|select|insert|update|delete)\b/.test(text)) continue;
    const { rows } = await service.db.pool.query(`explain (generic_plan, format json, costs off) ${text}`);
    const readings = wholeReadings((rows[0]['QUERY PLAN'] as { Plan: Plan }[])[0]!.Plan);
    if (readings.length > 0) found.set(text.replaceAll(/\s+/g, ' ').trim(), readings);
  }
  const allowed = READING_ALL.flatMap(({ begins }) => begins);
  return Object.fromEntries([...found].filter(([text]) => !allowed.some((begin) => text.startsWith(begin))));
}

/** Where all rows of a growing table are read, or all of one shop. */
function wholeReadings(plan: Plan, table?: string): string[] {
  const relation = plan['Relation Name'] ?? table;
  const readings: string[] = [];
  if (relation !== undefined && GROWING.includes(relation)) {
    const condition = plan['Index Cond'] ?? '';
    const isOfShopOnly = condition
      .replaceAll(/\(|\)/g, '')
      .split(' AND ')
      .every((part) => /^(?:\w+\.)?shop_id = \S+$|^$/.test(part));
    if (plan['Node Type'] === 'Seq Scan') readings.push(`all of ${relation}`);
    else if (plan['Index Name'] !== undefined && isOfShopOnly) {
      readings.push(`${relation} of the shop by ${plan['Index Name']}`);
    }
  }
  const isBitmap = /^Bitmap(?: Heap Scan|Or|And)$/.test(plan['Node Type']);
  return [
    ...readings,
    ...(plan.Plans ?? []).flatMap((part) => wholeReadings(part, isBitmap ? relation : undefined)),
  ];
}

const ROWS = 2_000;

/** Copies what grows in a shop until every table has many rows, with new ids, numbers and addresses. */
async function grow(client: PoolClient, shopId: string): Promise<void> {
  // The order in which the tables are filled does not matter then.
  await client.query('set session_replication_role = replica');
  for (const table of GROWING) {
    const { rows: columns } = await client.query<{ name: string; type: string; isKey: boolean }>(
      `select attname as name, format_type(atttypid, null) as type, exists (
         select from pg_index where indrelid = attrelid and indisunique and attnum = any (indkey)
       ) as "isKey"
       from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
      [table],
    );
    const copied = columns.map(({ name, type, isKey }) => {
      if (type === 'uuid') return COPIED_IDS.has(name) ? `md5(${name}::text || copy)::uuid` : name;
      if (!isKey || NOT_COPIED.has(name)) return name;
      if (type === 'text') return `${name} || '#' || copy`;
      if (type === 'bytea') return `sha256(${name} || copy::text::bytea)`;
      return type === 'bigint' ? `${name} + copy::bigint * 1000000` : name;
    });
    await client.query(
      `insert into ${table} (${columns.map(({ name }) => name).join()})
       select ${copied.join()} from ${table} cross join generate_series(1, ${ROWS}) copy where shop_id = $1
       order by copy limit ${ROWS}`,
      [shopId],
    );
  }
  await client.query('reset session_replication_role');
  // What was written is counted at once, and not within the next seconds.
  await client.query('select pg_stat_force_next_flush()');
}

const TINY_SHOPS = 1_000;

/** Shops that have a few rows of everything. */
async function addTinyShops(client: PoolClient, shopId: string): Promise<void> {
  await client.query('set session_replication_role = replica');
  for (const table of GROWING) {
    const { rows } = await client.query<{ columns: string }>(
      `select string_agg(attname, ',') as columns from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attname <> 'shop_id'`,
      [table],
    );
    const { columns } = rows[0]!;
    await client.query(
      `insert into ${table} (shop_id, ${columns}) overriding system value
       select 'Tiny' || copy, ${columns}
       from (select * from ${table} where shop_id = $1 limit 5) as few cross join generate_series(1, ${TINY_SHOPS}) as copy`,
      [shopId],
    );
  }
  await client.query('reset session_replication_role');
  await client.query('analyze');
}
