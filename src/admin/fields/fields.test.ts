import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { givenToken } from '../../../test/builders.ts';
import { startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';

let service: Service;
let merchant: Merchant;
let productId: string;

beforeAll(async () => {
  service = await startDemo();
  merchant = await givenMerchant(service);
  const found = await service.db.one<{ id: string }>(sql`
    select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = 'AP-100'`);
  productId = found!.id;
});
afterAll(() => service.close());

const DEFINITION = {
  'name.en_GB': 'Washing',
  'name.de_DE': 'Wäsche',
  resource: 'product',
  type: 'text',
  namespace: 'care',
  key: 'washing',
  description: 'As on the label.',
  readableBy: 'public',
  writableBy: 'merchant',
};

/** The definition is accepted; its id. */
async function define(fields: Record<string, string>): Promise<string> {
  const { status, location } = await merchant.post('/custom-fields/new', { ...DEFINITION, ...fields });
  expect([status, location]).toEqual([303, '/admin/shops/DemoShop/custom-fields']);
  const { resource, namespace, key } = { ...DEFINITION, ...fields };
  const row = await service.db.one<{ id: string }>(sql`
    select upper(field_id::text) as id from custom_field
    where shop_id = 'DemoShop' and resource = ${resource} and namespace = ${namespace} and key = ${key}
      and removed_at is null`);
  return row!.id;
}

const valuesOf = async (path: string) =>
  (
    await service.call('GET', `/manage/shops/DemoShop${path}/custom-fields`, {
      token: await givenToken(service, 'DemoShop'),
    })
  ).body.fields;

/** The hidden input by which the page notices changes of others. */
const versionIn = (text: string) => /name="version" value="([^"]+)"/.exec(text)![1]!;

/** Fills in a page of fields, as it is now. */
async function fill(path: string, fields: Record<string, string | readonly string[]>) {
  const { text } = await merchant.get(`${path}/custom-fields`);
  return merchant.post(`${path}/custom-fields`, { version: versionIn(text), ...fields });
}

test('a field is defined, changed and deleted', async () => {
  const fieldId = await define({
    key: 'program',
    type: 'choice',
    'choices.en_GB': 'cold = Cold wash\nhot = Hot wash',
    'choices.de_DE': 'cold = Kaltwäsche',
    isFilter: 'yes',
    isFacet: 'yes',
    feedAttribute: 'custom_label_2',
  });
  const path = `/custom-fields/${fieldId}`;
  const list = await merchant.get('/custom-fields');
  expect(list.text).toContain('<code>care.program</code>');
  const page = await merchant.get(path);
  expect(page.text).toContain('cold = Kaltwäsche');
  expect(page.text).toMatch(/name="isFacet"[^>]*\schecked/);
  expect(page.text).toMatch(/<option value="custom_label_2" +selected>Custom label 2<\/option>/);
  const answer = await merchant.post(path, {
    ...DEFINITION,
    'name.en_GB': 'Program',
    'choices.en_GB': 'cold = Cold',
  });
  expect(answer.status).toBe(303);
  const row = await service.db.one(sql`
    select name, choices, is_filter as "isFilter", is_facet as "isFacet", feed_attribute as "feedAttribute" from custom_field where field_id = ${fieldId}`);
  expect(row).toEqual({
    name: { en_GB: 'Program', de_DE: 'Wäsche' },
    choices: [{ key: 'cold', label: { en_GB: 'Cold' } }],
    isFilter: false,
    isFacet: false,
    feedAttribute: null,
  });
  expect((await merchant.post(`${path}/delete`)).status).toBe(303);
  expect((await merchant.get(path)).status).toBe(404);
});

test('a definition that is refused keeps what was typed', async () => {
  const refused = async (fields: Record<string, string>) => {
    const { status, text } = await merchant.post('/custom-fields/new', {
      ...DEFINITION,
      key: 'typed',
      ...fields,
    });
    return [status, text] as const;
  };
  const [status, text] = await refused({ type: 'choice' });
  expect(status).toBe(400);
  expect(text).toContain('value="typed"');
  const [, schema] = await refused({ type: 'json', jsonSchema: '{' });
  expect(schema).toContain('This is not valid JSON.');
  expect((await refused({ namespace: 'Care' }))[0]).toBe(400);
});

test('the fields of a product are filled in as people type them', async () => {
  const fields = {
    note: await define({ key: 'note', isLocalised: 'yes' }),
    width: await define({ key: 'width', type: 'number' }),
    fee: await define({ key: 'fee', type: 'money' }),
    vegan: await define({ key: 'vegan', type: 'boolean' }),
    since: await define({ key: 'since', type: 'date' }),
    parts: await define({ key: 'parts', isList: 'yes' }),
    goes: await define({ key: 'goes', type: 'product', isList: 'yes' }),
    box: await define({ key: 'box', type: 'json' }),
    uses: await define({
      key: 'uses',
      type: 'choice',
      isList: 'yes',
      'choices.en_GB': 'in = Inside\nout = Outside',
    }),
  };
  const other = await service.db.one<{ id: string; number: string }>(sql`
    select upper(product_id::text) as id, product_number as number from product
    where shop_id = 'DemoShop' and product_number <> 'AP-100' and master_id is null order by product_number limit 1`);
  const typed = {
    [`value.${fields.note}.en_GB`]: 'Cold',
    [`value.${fields.note}.de_DE`]: 'Kalt',
    [`value.${fields.width}`]: '1,234.5',
    [`value.${fields.fee}`]: '12.90',
    [`value.${fields.vegan}`]: 'no',
    [`value.${fields.since}`]: '2026-11-19',
    [`value.${fields.parts}`]: 'b\na',
    [`value.${fields.goes}`]: other!.number,
    [`value.${fields.box}`]: '{"w": [1]}',
    [`value.${fields.uses}`]: ['in', 'out'],
  };
  const path = `/products/${productId}`;
  const { status, location } = await fill(path, typed);
  expect([status, location]).toEqual([303, `/admin/shops/DemoShop${path}`]);
  const expected = {
    'care.note': { en_GB: 'Cold', de_DE: 'Kalt' },
    'care.width': '1234.5',
    'care.fee': { amount: 12.9, currency: 'EUR' },
    'care.vegan': false,
    'care.since': '2026-11-19',
    'care.parts': ['b', 'a'],
    'care.goes': [other!.id],
    'care.box': { w: [1] },
    'care.uses': ['in', 'out'],
  };
  expect(await valuesOf(path)).toEqual(expected);
  // The page shows them, and sent again unchanged it changes nothing.
  const page = await merchant.get(`${path}/custom-fields`);
  expect(page.text).toContain(`value="1234.5"`);
  expect(page.text).toContain('12.90 EUR');
  const before = await service.db.one(sql`select version from product where product_id = ${productId}`);
  expect((await fill(path, { ...typed, [`value.${fields.fee}`]: '12.90 EUR' })).status).toBe(303);
  expect(await service.db.one(sql`select version from product where product_id = ${productId}`)).toEqual(
    before,
  );
  expect((await merchant.get(path)).text).toContain('Inside, Outside');
  // Only what was emptied goes.
  expect((await fill(path, { ...typed, [`value.${fields.width}`]: '' })).status).toBe(303);
  const { 'care.width': _width, ...others } = expected;
  expect(await valuesOf(path)).toEqual(others);
});

test('a refused value is named beside its input, and nothing is saved', async () => {
  const width = await define({ key: 'height', type: 'number' });
  const friend = await define({ key: 'friend', type: 'product' });
  const path = `/products/${productId}`;
  const before = await valuesOf(path);
  const wrong = await fill(path, { [`value.${width}`]: 'wide' });
  expect(wrong.status).toBe(400);
  expect(wrong.text).toContain('value="wide"');
  const unknown = await fill(path, { [`value.${friend}`]: 'NO-SUCH' });
  expect(unknown.text).toContain('There is nothing called NO-SUCH.');
  const stale = await merchant.post(`${path}/custom-fields`, { version: 'old', [`value.${width}`]: '1' });
  expect(stale.status).toBe(409);
  expect(await valuesOf(path)).toEqual(before);
});

/** What the path above a page calls the thing at this address. */
const stepTo = (path: string, text: string) =>
  new RegExp(`<a href="/admin/shops/DemoShop${path}">([^<]+)</a> ›`).exec(text)?.[1];

test('orders, customers, categories and the shop have a page for theirs', async () => {
  const order = await service.db.one<{ id: string; customer: string }>(sql`
    select upper(order_id::text) as id, upper(customer_id::text) as customer from customer_order
    where shop_id = 'DemoShop' order by created_at limit 1`);
  const category = await service.db.one<{ id: string }>(sql`
    select upper(category_id::text) as id from category where shop_id = 'DemoShop' order by number limit 1`);
  const places = {
    order: `/orders/${order!.id}`,
    customer: `/customers/${order!.customer}`,
    category: `/categories/${category!.id}`,
    shop: '/settings/shop',
  };
  // The path above the page names the thing.
  const names: Readonly<Record<string, RegExp>> = {
    order: /Order ORD/,
    customer: /\S/,
    category: /\S/,
    shop: /Shop/,
  };
  for (const [resource, path] of Object.entries(places)) {
    const empty = await merchant.get(`${path}/custom-fields`);
    expect(empty.text).toContain('No custom fields are defined');
    expect(stepTo(path, empty.text)).toMatch(names[resource]!);
    const fieldId = await define({ resource, readableBy: 'merchant', 'name.en_GB': `Note on ${resource}` });
    expect((await fill(path, { [`value.${fieldId}`]: 'Ahoy <b>' })).status).toBe(303);
    const page = await merchant.get(resource === 'shop' ? `${path}/custom-fields` : path);
    expect(page.text).toContain(`Note on ${resource}`);
    expect(page.text).toContain('Ahoy &lt;b&gt;');
  }
  const product = await merchant.get(`/products/${productId}/custom-fields`);
  expect(stepTo(`/products/${productId}`, product.text)).toBe('Beacon Kettle 1.7 l');
});

test('roles without the scope of the thing neither see nor change its fields', async () => {
  const accountant = await givenMerchant(service, 'accountant');
  const catalogue = await givenMerchant(service, 'catalogue');
  const path = `/products/${productId}/custom-fields`;
  expect((await accountant.get(path)).status).toBe(200);
  expect((await accountant.post(path, { version: '' })).status).toBe(403);
  expect((await catalogue.post('/custom-fields/new', DEFINITION)).status).toBe(403);
  const order = await service.db.one<{ id: string }>(sql`
    select upper(order_id::text) as id from customer_order where shop_id = 'DemoShop' limit 1`);
  expect((await catalogue.get(`/orders/${order!.id}/custom-fields`)).status).toBe(403);
});
