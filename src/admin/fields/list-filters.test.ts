import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { givenToken } from '../../../test/builders.ts';
import { startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';

/*
 * Lists of the admin that are filtered by custom fields.
 */

let service: Service;
let merchant: Merchant;
let token: string;

beforeAll(async () => {
  service = await startDemo();
  merchant = await givenMerchant(service);
  token = await givenToken(service, 'DemoShop');
});
afterAll(() => service.close());

/** A field is defined by an app; its id. */
async function define(resource: string, key: string, type: string, more: object = {}): Promise<string> {
  const { status, body } = await service.call('POST', '/manage/shops/DemoShop/custom-fields', {
    token,
    body: {
      resource,
      namespace: 'lists',
      key,
      type,
      name: { en_GB: `Name of ${key}` },
      readableBy: 'merchant',
      writableBy: 'merchant',
      isFilter: true,
      ...more,
    },
  });
  expect([status, body.message]).toEqual([201, undefined]);
  return body.fieldId;
}

async function fill(path: string, fields: Record<string, unknown>): Promise<void> {
  const answer = await service.call('PATCH', `/manage/shops/DemoShop${path}/custom-fields`, {
    token,
    body: { fields: Object.fromEntries(Object.entries(fields).map(([key, one]) => [`lists.${key}`, one])) },
  });
  expect([answer.status, answer.body.message]).toEqual([200, undefined]);
}

const addressOf = (list: string, query: Record<string, string>) => {
  const fields = Object.entries(query).map(([name, value]): [string, string] => [
    name.startsWith('lists.') ? `field.${name}` : name,
    value,
  ]);
  return `/${list}?${new URLSearchParams(fields).toString()}`;
};

/** The ids of the rows of a list, sorted. */
async function rowsOf(list: string, query: Record<string, string>): Promise<string[]> {
  const { status, text } = await merchant.get(addressOf(list, query));
  expect(status).toBe(200);
  const links = text.matchAll(new RegExp(`<a href="/admin/shops/DemoShop/${list}/([0-9A-F-]{36})"`, 'g'));
  return [...new Set([...links].map(([, id]) => id!))].toSorted();
}

describe('products', () => {
  let [first, second, third] = ['', '', ''];

  beforeAll(async () => {
    const rows = await service.db.many<{ id: string }>(sql`
      select upper(product_id::text) as id from product
      where shop_id = 'DemoShop' and master_id is null and visible order by product_number limit 3`);
    [first, second, third] = rows.map(({ id }) => id) as [string, string, string];
    await define('product', 'organic', 'boolean');
    await define('product', 'washing', 'choice', {
      choices: ['cold', 'hot'].map((key) => ({ key, label: { en_GB: `Label of ${key}` } })),
    });
    await define('product', 'width', 'number');
    await define('product', 'since', 'date');
    await define('product', 'origin', 'text', { isLocalised: true, isList: true });
    await define('product', 'internal', 'text', { readableBy: 'owner', writableBy: 'owner' });
    await define('product', 'plain', 'text', { isFilter: false });
    await fill(`/products/${first}`, {
      organic: true,
      washing: 'cold',
      width: '1.5',
      since: '2026-11-19',
      origin: { en_GB: ['Lower Saxony', 'Bremen'], de_DE: ['Niedersachsen', 'Bremen'] },
      internal: 'secret',
      plain: 'x',
    });
    await fill(`/products/${second}`, { organic: true, washing: 'hot', width: '15' });
    await fill(`/products/${third}`, { organic: false, washing: 'cold', width: '-1.5' });
  });

  test('are those with the value', async () => {
    expect(await rowsOf('products', { 'lists.organic': 'true' })).toEqual([first, second].toSorted());
    expect(await rowsOf('products', { 'lists.organic': 'false' })).toEqual([third]);
    expect(await rowsOf('products', { 'lists.washing': 'hot' })).toEqual([second]);
    expect(await rowsOf('products', { 'lists.width': '1.50' })).toEqual([first]);
    expect(await rowsOf('products', { 'lists.width': '-01.5' })).toEqual([third]);
    expect(await rowsOf('products', { 'lists.since': '2026-11-19' })).toEqual([first]);
    // Any entry, in any language, in any case.
    expect(await rowsOf('products', { 'lists.origin': ' niederSACHSEN ' })).toEqual([first]);
    expect(await rowsOf('products', { 'lists.origin': 'Bremen' })).toEqual([first]);
    expect(await rowsOf('products', { 'lists.origin': 'Saxony' })).toEqual([]);
    expect(await rowsOf('products', { 'lists.width': 'wide' })).toEqual([]);
    expect(await rowsOf('products', { 'lists.origin': "'; --%" })).toEqual([]);
  });

  test('have all values, and pass the other filters', async () => {
    expect(await rowsOf('products', { 'lists.organic': 'true', 'lists.washing': 'cold' })).toEqual([first]);
    expect(await rowsOf('products', { 'lists.organic': 'true', visible: 'no' })).toEqual([]);
    const { number } = (await service.db.one<{ number: string }>(sql`
      select product_number as number from product where shop_id = 'DemoShop' and product_id = ${second}`))!;
    expect(await rowsOf('products', { 'lists.organic': 'true', q: number })).toEqual([second]);
    expect(await rowsOf('products', { 'lists.organic': 'false', q: number })).toEqual([]);
    const stocks = await Promise.all(
      ['in', 'low', 'out'].map((stock) => rowsOf('products', { 'lists.organic': 'true', stock })),
    );
    expect([...new Set(stocks.flat())].toSorted()).toEqual([first, second].toSorted());
  });

  test('are filtered only by what people of the shop read and is a filter', async () => {
    const { text } = await merchant.get('/products');
    const names = [...text.matchAll(/name="field\.lists\.([a-z]+)"/g)].map(([, key]) => key);
    expect(names).toEqual(['organic', 'washing', 'width', 'since', 'origin']);
    expect(text).toContain('Name of washing: ');
    expect(text).toContain('Label of cold');
    // An unknown parameter is no filter, as any other.
    const all = await rowsOf('products', {});
    expect(await rowsOf('products', { 'lists.internal': 'other' })).toEqual(all);
    expect(await rowsOf('products', { 'lists.plain': 'y' })).toEqual(all);
  });

  test('are sorted, and the address keeps the filter in its links', async () => {
    const { text } = await merchant.get('/products?field.lists.organic=true&sort=-name');
    expect(text).toContain('1–2 of 2');
    expect(text).toContain('/products?field.lists.organic=true&amp;sort=price');
    expect(text).toMatch(/<details class="more-filters" open>/);
    expect(text).toMatch(/value="true" selected/);
    expect(text).toContain('name="query" value="field.lists.organic=true&amp;sort=-name"');
  });

  test('are changed together only when they have the value', async () => {
    const { text } = await merchant.get('/products?field.lists.washing=hot');
    const [, link] = /href="([^"]*\/bulk-edit\?[^"]*)"/.exec(text)!;
    const path = link!.replaceAll('&amp;', '&');
    const page = await merchant.get(`${path}&kind=hide`);
    expect(page.text).toContain('name="field.lists.washing" value="hot"');
    expect((await merchant.post(`${path}&kind=hide`)).status).toBe(303);
    const { items } = (await service.db.one<{ items: string[] }>(sql`
      select array(select upper(product_id::text) from bulk_edit_item where shop_id = 'DemoShop') as items
      from shop where shop_id = 'DemoShop'`))!;
    expect(items).toContain(second);
    expect(items).not.toContain(first);
    // A field that is no filter any more chooses nothing rather than everything.
    const none = await merchant.post('/products/bulk-edit?all=yes&field.lists.gone=x&kind=hide');
    expect(none.status).toBe(400);
  });
});

test('customers are those with the value, also in their file', async () => {
  const rows = await service.db.many<{ id: string; number: string; email: string }>(sql`
    select upper(customer_id::text) as id, customer_number as number, email_key as email from customer
    where shop_id = 'DemoShop' order by customer_number limit 2`);
  const [ada, jonas] = rows as [(typeof rows)[0], (typeof rows)[0]];
  await define('customer', 'level', 'text');
  await define('customer', 'vip', 'boolean');
  await fill(`/customers/${ada.id}`, { level: 'Gold', vip: true });
  await fill(`/customers/${jonas.id}`, { level: 'gold', vip: false });
  expect(await rowsOf('customers', { 'lists.level': 'GOLD' })).toEqual([ada.id, jonas.id].toSorted());
  expect(await rowsOf('customers', { 'lists.level': 'GOLD', 'lists.vip': 'true' })).toEqual([ada.id]);
  expect(await rowsOf('customers', { 'lists.level': 'silver' })).toEqual([]);
  // A text narrows further.
  expect(await rowsOf('customers', { 'lists.level': 'gold', q: jonas.number })).toEqual([jonas.id]);
  const page = await merchant.get('/customers?field.lists.vip=true');
  expect(page.text).not.toContain('filter.q');
  expect(page.text).toContain('/customers/export.csv?field.lists.vip=true');
  const file = await merchant.get('/customers/export.csv?field.lists.vip=true');
  const lines = file.text.trim().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain(ada.number);
});

test('orders are those with the value, of the order itself or of its cart', async () => {
  const rows = await service.db.many<{ id: string; number: string }>(sql`
    select upper(order_id::text) as id, order_number as number from customer_order
    where shop_id = 'DemoShop' order by created_at limit 2`);
  const [first, second] = rows as [(typeof rows)[0], (typeof rows)[0]];
  await define('order', 'checked', 'boolean');
  const wrapping = await define('cart', 'wrapping', 'text', {
    readableBy: 'public',
    writableBy: 'shopper',
  });
  await fill(`/orders/${first.id}`, { checked: true, wrapping: 'Red' });
  await fill(`/orders/${second.id}`, { checked: false, wrapping: 'red' });
  const all = { state: 'all' };
  expect(await rowsOf('orders', { ...all, 'lists.wrapping': 'RED' })).toEqual(
    [first.id, second.id].toSorted(),
  );
  expect(await rowsOf('orders', { ...all, 'lists.wrapping': 'red', 'lists.checked': 'true' })).toEqual([
    first.id,
  ]);
  expect(await rowsOf('orders', { ...all, 'lists.checked': 'false', q: second.number })).toEqual([second.id]);
  expect(await rowsOf('orders', { ...all, 'lists.checked': 'true', q: second.number })).toEqual([]);
  const returned = await service.db.many<{ id: string }>(sql`
    select distinct upper(order_id::text) as id from order_return
    where shop_id = 'DemoShop' and order_id = any (${[first.id, second.id]}::uuid[])
      and state in ('requested', 'approved', 'withdrawn')`);
  expect(returned).toHaveLength(1);
  expect(await rowsOf('orders', { state: 'returns', 'lists.wrapping': 'red' })).toEqual([returned[0]!.id]);
  expect(await rowsOf('orders', { ...all, 'lists.checked': 'true', to: '2000-01-01' })).toEqual([]);
  // An open cart with the value is none of them.
  await service.db.run(sql`
    insert into custom_field_value (shop_id, resource_id, field_id, locale, position, value, filter_key)
    values ('DemoShop', ${'FFFFFFFF-0000-7000-8000-000000000000'}, ${wrapping}, '', 0, '"red"', 'red')`);
  const page = await merchant.get(addressOf('orders', { ...all, 'lists.wrapping': 'red' }));
  expect(page.text).toContain('1–2 of 2');
  const file = await merchant.get('/orders/files/orders.csv?state=all&field.lists.checked=true');
  const lines = file.text.trim().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain(first.number);
});

describe('fields as columns', () => {
  test('are chosen like the others, and files have all of them', async () => {
    const { product, customer, order } = (await service.db.one<
      Record<'product' | 'customer' | 'order', string>
    >(sql`
      select upper((select product_id from product where shop_id = 'DemoShop' and product_number = 'AP-100')::text) as product,
        upper((select customer_id from customer where shop_id = 'DemoShop' order by customer_number limit 1)::text)
          as customer,
        upper((select order_id from customer_order where shop_id = 'DemoShop' order by created_at limit 1)::text) as "order"
      from shop where shop_id = 'DemoShop'`))!;
    for (const [resource, id] of Object.entries({ product, customer, order })) {
      await define(resource, 'shown', 'choice', {
        choices: ['a', 'b'].map((key) => ({ key, label: { en_GB: `Letter <${key}>` } })),
      });
      await define(resource, 'formula', 'text', { isFilter: false });
      await define(resource, 'box', 'json', { isFilter: false });
      await fill(`/${resource}s/${id}`, { shown: 'b', formula: '=1+1', box: { w: 1 } });
    }
    const all = { product: '', customer: '', order: '&state=all' };
    for (const [resource, more] of Object.entries(all)) {
      const plain = await merchant.get(`/${resource}s?page=1${more}`);
      expect(plain.text).toContain('value="field.lists.shown"');
      expect(plain.text).not.toContain('value="field.lists.box"');
      expect(plain.text).not.toContain('Letter &lt;b&gt;</td>');
      const chosen = await merchant.get(`/${resource}s?columns=field.lists.shown&field.lists.shown=b${more}`);
      expect(chosen.text).toContain('Name of shown');
      expect(chosen.text.replaceAll(/\s+/g, ' ')).toMatch(/<td[^>]*>(<[^>]+>|\s)*Letter &lt;b&gt;/);
    }
    for (const path of ['/customers/export.csv?', '/orders/files/orders.csv?state=all&']) {
      const { text } = await merchant.get(`${path}field.lists.shown=b`);
      const [titles, row] = text
        .trim()
        .split('\n')
        .map((line) => line.replaceAll('"', ''));
      expect(titles).toContain('Name of shown;Name of formula');
      expect(row).toContain("Letter <b>;'=1+1");
    }
  });
});
