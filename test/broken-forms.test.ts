import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Sql, sql } from '../src/db/sql.ts';
import { givenMerchant, type AdminAnswer, type Merchant } from './admin.ts';
import { fingerprint, startDemo } from './demo.ts';
import { findForms, formsIn, type FoundForm } from './forms.ts';
import { ofTheDay } from './seed.ts';
import type { Service } from './service.ts';

/*
 * A form of the admin is saved whole or not at all. The database refuses the first write of a form, then the second, and so
 * on, as if the connection had broken there. Each time everything must be as it was before; in the end the form is saved.
 */

let service: Service;
let merchant: Merchant;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
  merchant = await givenMerchant(service);
  const { db } = service;
  // Sequences count what is rolled back, too.
  await db.run(sql`create sequence written minvalue 0 start 0`);
  await db.run(sql`create sequence refused minvalue 0 start 0`);
  await refuseWith(FAILURE);
  const tables = await db.many<{ name: string }>(sql`
    select tablename as name from pg_tables
    where schemaname = 'public' and tablename not in ('app_call_log', 'app_use', 'demo_access_end', 'rate_window', 'shop_day')`);
  for (const { name } of tables) {
    const trigger = `create trigger refuse_write after insert or update or delete on ${name} execute function refuse_write()`;
    await db.run(new Sql([trigger], [], false));
  }
}, 60_000);
afterAll(() => service.close());

const FAILURE = 'P0001';
const DEADLOCK = '40P01';

/** Sets the code of the error that refuses a write. */
const refuseWith = (code: string) =>
  service.db.run(
    new Sql(
      [
        `create or replace function refuse_write() returns trigger language plpgsql as $$
        begin
          if nextval('written') = (select last_value from refused) then
            raise exception 'refused on purpose' using errcode = '${code}';
          end if;
          return null;
        end $$`,
      ],
      [],
      false,
    ),
  );

/** No write has this place. */
const NONE = 0;

/** Lets the database refuse the write in this place, counted from 1. */
const refuseWrite = (place: number) =>
  service.db.one(sql`select setval('written', 0), setval('refused', ${place})`);

async function countWrites(): Promise<number> {
  const row = await service.db.one<{ count: number }>(sql`select last_value as count from written`);
  return row!.count;
}

/** Sends a form until none of its writes is refused any more: how many it has, and the last answer. */
async function breakForm(
  send: () => Promise<AdminAnswer>,
  { writesAfterCommit = false } = {},
): Promise<{ writes: number; answer: AdminAnswer }> {
  for (let place = 1; ; place++) {
    const before = await fingerprint(service);
    await refuseWrite(place);
    const answer = await send();
    const writes = await countWrites();
    await refuseWrite(NONE);
    if (writes < place || (writesAfterCommit && answer.status === 303)) return { writes, answer };
    const after = await fingerprint(service);
    const changed = Object.keys(after).filter((table) => after[table] !== before[table]);
    expect({ place, status: answer.status, changed }).toEqual({ place, status: 500, changed: [] });
  }
}

/** The PDF is written when the document is there, or when somebody asks for it. */
const WRITES_AFTER_COMMIT = /\/(?:invoice|credit)s?$/;

/** Bits of `customer_order.states`: rejected, sent, invoiced, paid, returned, closed and archived. */
const CLOSED_STATES = 2 + 32 + 64 + 128 + 256 + 512 + 1_024 + 2_048 + 4_096 + 8_192 + 16_384;

/** Takes all connections but one: a form whose transaction needed a second one would wait for ever. */
async function withOneConnection<Result>(work: () => Promise<Result>): Promise<Result> {
  const { pool } = service.db;
  const taken = await Promise.all(Array.from({ length: pool.options.max - 1 }, () => pool.connect()));
  try {
    return await work();
  } finally {
    for (const client of taken) client.release();
  }
}

const productIds = async (numbers: readonly string[]) =>
  (
    await service.db.many<{ id: string }>(sql`
      select upper(product_id::text) as id from product
      where shop_id = 'DemoShop' and product_number = any (${numbers}::text[]) order by product_number`)
  ).map(({ id }) => id);

const post = (path: string, fields: Record<string, string> = {}) =>
  sendFields(`/admin/shops/DemoShop${path}`, Object.entries(fields));

const valueIn = (text: string, name: string) =>
  new RegExp(`name="${name}"\\s+value="([^"]*)"`).exec(text)?.[1] ?? '';

describe('with several writes:', () => {
  type Sending = () => Promise<() => Promise<AdminAnswer>>;
  const FORMS: [name: string, sending: Sending, minWrites: number][] = [
    [
      'an order by hand',
      async () => {
        const [product] = await productIds(['AP-100']);
        const address = {
          'billing-lastName': 'Holm',
          'billing-street': 'Kaistraße 1',
          'billing-zipCode': '20457',
          'billing-city': 'Hamburg',
          'billing-emailAddress': 'ida@holm.example',
          'billing-country': 'DE',
        };
        const fields = {
          ...address,
          product: product!,
          [`quantity.${product!}`]: '2',
          [`price.${product!}`]: '39,50',
          internalNote: 'by phone',
        };
        return () => post('/orders/new', { ...fields, do: 'place' });
      },
      8,
    ],
    [
      'the items of an order',
      async () => {
        const order = await service.db.one<{ id: string }>(sql`
          select upper(order_id::text) as id from customer_order
          where shop_id = 'DemoShop' and states & ${CLOSED_STATES} = 0 and cancelled_at is null and editing_since is null
          order by created_at limit 1`);
        const path = `/orders/${order!.id}/edit`;
        const { text } = await merchant.get(path);
        const [product] = await productIds(['TE-100']);
        const quantity = /name="(quantity\.[^"]*)"[^>]*?\svalue="([^"]*)"/.exec(text)!;
        const fields = {
          do: 'save',
          version: valueIn(text, 'version'),
          product: product!,
          [`quantity.${product!}`]: '1',
        };
        return () => post(path, { ...fields, [quantity[1]!]: String(Number(quantity[2]) + 1) });
      },
      6,
    ],
    [
      'a customer and his group',
      async () => {
        const customer = await service.db.one<{ id: string }>(sql`
          select upper(customer_id::text) as id from customer
          where shop_id = 'DemoShop' and customer_group_id is null order by customer_number limit 1`);
        const path = `/customers/${customer!.id}`;
        const { text } = await merchant.get(path);
        const group = /<option value="([0-9A-F-]{36})"(?! selected)/.exec(text)![1]!;
        const fields = { version: valueIn(text, 'version'), customerNumber: 'C-1', internalNote: 'changed' };
        return () => post(path, { ...fields, customerGroupId: group });
      },
      4,
    ],
    [
      'a coupon with its code',
      async () => () =>
        post('/marketing/coupons/new', { name: 'Flut', kind: 'FIX', amount: '5', code: 'FLUT' }),
      3,
    ],
    [
      'a category',
      async () => {
        const root = await service.db.one<{ id: string }>(sql`
          select upper(category_id::text) as id from category where shop_id = 'DemoShop' and parent_id is null`);
        return () => post(`/categories/${root!.id}/add`, { name: 'Nets' });
      },
      4,
    ],
    [
      'a product in a category',
      async () => {
        const row = await service.db.one<{ id: string }>(sql`
          select upper(category_id::text) as id from category
          where shop_id = 'DemoShop' and parent_id is not null order by category_id limit 1`);
        return () => post('/products/new', { name: 'Net', price: '5', category: row!.id });
      },
      4,
    ],
    [
      'a bulk edit',
      async () => {
        const ids = await productIds(['AP-100', 'TE-100']);
        const query = `id=${ids.join('&id=')}&kind=changePrice&amount=10&ending=exact`;
        return () => post(`/products/bulk-edit?${query}`);
      },
      // The edit, its products and the entry of the audit log; products change in the background.
      3,
    ],
    [
      'many products that are hidden',
      async () => {
        const ids = await productIds(['AP-100', 'TE-100']);
        return () => post('/products/hide', { id: ids.join(',') });
      },
      4,
    ],
    [
      'many products that are deleted',
      async () => {
        const ids = await productIds(['AP-100', 'TE-100']);
        return () => post(`/products/delete?id=${ids.join('&id=')}`);
      },
      4,
    ],
  ];

  test.each(FORMS)('%s', async (_name, sending, minWrites) => {
    const send = await sending();
    const { writes, answer } = await withOneConnection(() => breakForm(send));
    expect(answer.status).toBe(303);
    expect(writes).toBeGreaterThanOrEqual(minWrites);
  });
});

test('a form that ends in a deadlock is retried as a whole, and is done once', async () => {
  const root = await service.db.one<{ id: string }>(sql`
    select upper(category_id::text) as id from category where shop_id = 'DemoShop' and parent_id is null`);
  const added = () =>
    service.db.one(sql`
      select count(*) as count from category where shop_id = 'DemoShop' and name::text like '%Tides%'`);
  await refuseWith(DEADLOCK);
  // The second of its two operations meets the deadlock.
  await refuseWrite(5);
  const answer = await post(`/categories/${root!.id}/add`, { name: 'Tides' });
  const writes = await countWrites();
  await refuseWrite(NONE);
  await refuseWith(FAILURE);
  expect({ status: answer.status, added: await added() }).toEqual({ status: 303, added: { count: 1 } });
  expect(writes).toBeGreaterThan(5);
});

test('every other form that is found on a page, a sixth of them a day', async () => {
  const found = await findForms(merchant, await service.app.adminPages(), ['/admin/shops/DemoShop']);
  const forms = [...found.values()].filter(
    ({ isMultipart, route }) => !isMultipart && route.startsWith('/admin/shops/'),
  );
  const isLast = ({ route }: FoundForm) => /delete|remove|erase|cancel|revoke/.test(route);
  const today = ofTheDay(forms, Math.ceil(forms.length / 6));
  const ordered = today.toSorted((one, other) => Number(isLast(one)) - Number(isLast(other)));
  const written: string[] = [];
  for (const form of ordered) {
    const { text } = await merchant.get(form.page);
    const shown = [...formsIn(text, form.page)].find(({ action }) => action === form.action);
    if (!shown) continue;
    const fields = shown.fields.map(({ name, value, isText }): [string, string] => [
      name,
      isText && /^\p{L}[\p{L} ]+$/u.test(value) ? `${value}x` : value,
    ]);
    const writesAfterCommit = WRITES_AFTER_COMMIT.test(form.route);
    try {
      const { writes } = await breakForm(() => sendFields(form.action, fields), { writesAfterCommit });
      if (writes > 0) written.push(form.route);
    } catch (error) {
      throw new Error(`${form.route} is not saved whole`, { cause: error });
    }
  }
  console.log(`${written.length} of ${today.length} forms were broken at each of their writes`);
  expect(written.length).toBeGreaterThan(5);
}, 120_000);

async function sendFields(url: string, fields: [string, string][]): Promise<AdminAnswer> {
  const response = await service.app.inject({
    method: 'POST',
    url,
    headers: {
      host: 'localhost:8080',
      cookie: merchant.cookie,
      origin: 'http://localhost:8080',
      'content-type': 'application/x-www-form-urlencoded',
    },
    payload: new URLSearchParams(fields).toString(),
  });
  const { statusCode: status, body: text, headers } = response;
  return { status, text, headers, location: headers.location };
}
