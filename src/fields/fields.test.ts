import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenToken } from '../../test/builders.ts';
import {
  changesNothing,
  done,
  givenCart,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  NO_TOKEN,
  on,
  type GivenCart,
  type Shop,
} from '../../test/carts.ts';
import { startService, type Answer, type Service } from '../../test/service.ts';
import { createApp, deleteApp } from '../apps/apps.ts';
import { sql } from '../db/sql.ts';
import { SCOPES, type Scope } from '../http/scopes.ts';
import { fieldCleanup } from './queries.ts';

let service: Service;
let shop: Shop;
let productId: string;

beforeAll(async () => {
  service = await startService();
  shop = await givenSmallShop(service, { locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] } });
  productId = (await givenProduct(shop)).toUpperCase();
});
afterAll(() => service.close());

const manage = (
  method: string,
  path: string,
  { token = shop.token, body }: { token?: string; body?: unknown } = {},
) =>
  service.call(method, `/manage/shops/${shop.shopId}${path}`, {
    body,
    ...(token !== NO_TOKEN && { token }),
  });

const define = (field: object, token = shop.token) =>
  manage('POST', '/custom-fields', {
    token,
    body: {
      resource: 'product',
      namespace: 'care',
      type: 'text',
      name: { en_GB: 'Name' },
      readableBy: 'public',
      writableBy: 'owner',
      ...field,
    },
  });

/** The definition, which is accepted. */
async function defined(field: object, token?: string): Promise<Answer['body']> {
  const { status, body } = await define(field, token);
  expect({ status, message: body.message }).toEqual({ status: 201, message: undefined });
  return body;
}

const outcome = ({ status, body }: Answer) => [status, body?.message?.split(', Request: ')[0]];

const values = () =>
  service.db.many(
    sql`select * from custom_field_value order by shop_id, resource_id, field_id, locale, position`,
  );

/** A refusal, which changes neither definitions nor values. */
async function refusal(call: () => Promise<Answer>) {
  const before = [await values(), await service.db.many(sql`select * from custom_field`)];
  const answer = await changesNothing(service, call);
  expect([await values(), await service.db.many(sql`select * from custom_field`)]).toEqual(before);
  return outcome(answer);
}

const tokenOf = (name: string, scopes: readonly Scope[] = SCOPES) =>
  givenToken(service, shop.shopId, scopes, name);

describe('definitions', () => {
  test('are created, listed, replaced and deleted', async () => {
    const field = await defined({
      key: 'program',
      type: 'choice',
      isList: true,
      choices: [{ key: 'cold', label: { en_GB: 'Cold' } }],
    });
    const expected = {
      fieldId: field.fieldId,
      resource: 'product',
      namespace: 'care',
      key: 'program',
      type: 'choice',
      isList: true,
      isLocalised: false,
      appId: expect.any(String),
      name: { en_GB: 'Name' },
      description: null,
      readableBy: 'public',
      writableBy: 'owner',
      isFilter: false,
      isFacet: false,
      feedAttribute: null,
      choices: [{ key: 'cold', label: { en_GB: 'Cold' } }],
      jsonSchema: null,
    };
    expect(field).toEqual(expected);
    const path = `/custom-fields/${field.fieldId}`;
    expect((await manage('GET', path)).body).toEqual(expected);
    const change = {
      name: { en_GB: 'Programs', de_DE: 'Programme' },
      description: 'As on the label.',
      readableBy: 'merchant',
      writableBy: 'merchant',
      isFilter: true,
      isFacet: false,
      feedAttribute: null,
      choices: [{ key: 'hot', label: { en_GB: 'Hot' } }],
    };
    expect((await manage('PUT', path, { body: change })).body).toEqual({ ...expected, ...change });
    expect((await manage('GET', '/custom-fields?resource=product')).body.items).toContainEqual({
      ...expected,
      ...change,
    });
    expect((await manage('GET', '/custom-fields?resource=order')).body.items).toEqual([]);
    expect((await manage('DELETE', path)).status).toBe(204);
    expect((await manage('GET', path)).status).toBe(404);
    // Its name is free at once.
    const { body } = await define({ key: 'program' });
    expect((await manage('DELETE', `/custom-fields/${body.fieldId}`)).status).toBe(204);
  });

  test('are refused where they contradict themselves', async () => {
    const refused = (field: object) => refusal(() => define({ key: 'wrong', ...field }));
    expect(await refused({ type: 'choice' })).toEqual([
      400,
      'The custom field contradicts itself: a choice has choices, and nothing else has',
    ]);
    expect((await refused({ jsonSchema: {} }))[0]).toBe(400);
    expect((await refused({ type: 'json', jsonSchema: { pattern: '(a+)+$' } }))[1]).toBe(
      'Create custom field failed:\n\tvalidation error WRONG_FORMAT on field jsonSchema',
    );
    expect((await refused({ type: 'money', isFilter: true }))[0]).toBe(400);
    expect((await refused({ resource: 'category', isFilter: true }))[0]).toBe(400);
    expect((await refused({ readableBy: 'merchant', feedAttribute: 'color' }))[1]).toBe(
      'The custom field contradicts itself: feeds have public texts, numbers and choices of products and variations only',
    );
    expect((await refused({ type: 'money', feedAttribute: 'color' }))[0]).toBe(400);
    expect((await refused({ resource: 'category', feedAttribute: 'color' }))[0]).toBe(400);
    expect((await refused({ feedAttribute: 'price' }))[0]).toBe(400);
    expect((await refused({ type: 'number', isLocalised: true }))[0]).toBe(400);
    expect((await refused({ readableBy: 'owner', writableBy: 'merchant' }))[0]).toBe(400);
    expect((await refused({ writableBy: 'shopper' }))[0]).toBe(400);
    expect((await refused({ resource: 'customer' }))[0]).toBe(400);
    expect((await refused({ name: { fr_FR: 'Nom' } }))[1]).toBe(
      'Create custom field failed:\n\tvalidation error UNKNOWN_VALUE on field name.fr_FR',
    );
    expect((await refused({ namespace: 'Care' }))[0]).toBe(400);
    const choice = { key: 'a', label: { en_GB: 'A' } };
    expect((await refused({ type: 'choice', choices: [choice, choice] }))[1]).toBe(
      'The custom field contradicts itself: two choices have the same key',
    );
  });

  test('of a name are unique, for carts and orders together', async () => {
    await defined({ key: 'unique' });
    expect(await refusal(() => define({ key: 'unique' }))).toEqual([
      409,
      'There is a custom field of this namespace and key already',
    ]);
    await defined({ key: 'unique', resource: 'category' });
    await defined({ key: 'unique', resource: 'cart' });
    const order = { key: 'unique', resource: 'order', readableBy: 'merchant' };
    expect((await refusal(() => define(order)))[0]).toBe(409);
  });

  test('belong to the app whose namespace it is', async () => {
    const [one, other] = [await tokenOf('one'), await tokenOf('other')];
    const own = await defined({ namespace: 'own', key: 'a', readableBy: 'merchant' }, one);
    const hidden = await defined({ namespace: 'own', key: 'b', readableBy: 'owner' }, one);
    expect(await refusal(() => define({ namespace: 'own', key: 'c' }, other))).toEqual([
      403,
      'The namespace own belongs to another app or to the merchant',
    ]);
    const seen = await manage('GET', '/custom-fields', { token: other });
    const ids = seen.body.items.map(({ fieldId }: { fieldId: string }) => fieldId);
    expect(ids).toContain(own.fieldId);
    expect(ids).not.toContain(hidden.fieldId);
    const path = `/custom-fields/${own.fieldId}`;
    const body = { name: { en_GB: 'Stolen' }, readableBy: 'public', writableBy: 'owner' };
    expect((await refusal(() => manage('PUT', path, { token: other, body })))[0]).toBe(403);
    expect((await refusal(() => manage('DELETE', path, { token: other })))[0]).toBe(403);
    expect((await manage('GET', `/custom-fields/${hidden.fieldId}`, { token: other })).status).toBe(404);
  });

  test('need the scope of the thing', async () => {
    const token = await tokenOf('scoped', ['products_read', 'customers_read']);
    expect(await refusal(() => define({ namespace: 'scoped', key: 'a' }, token))).toEqual([
      403,
      'The token lacks the scope products_write',
    ]);
    await defined({ namespace: 'scoped-too', key: 'a', resource: 'order', readableBy: 'merchant' });
    const { body } = await manage('GET', '/custom-fields?resource=order', { token });
    expect(body.items).toEqual([]);
  });

  test('are at most 50 of one kind', async () => {
    const small = await givenSmallShop(service);
    const body = (index: number) => ({
      resource: 'shop',
      namespace: 'many',
      key: `f${index}`,
      type: 'text',
      name: { en_GB: 'N' },
      readableBy: 'public',
      writableBy: 'owner',
    });
    const create = (index: number) =>
      service.call('POST', `/manage/shops/${small.shopId}/custom-fields`, {
        token: small.token,
        body: body(index),
      });
    for (let index = 0; index < 49; index++) expect((await create(index)).status).toBe(201);
    const both = await Promise.all([create(49), create(50)]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([201, 409]));
  });
});

describe('values of products', () => {
  const path = () => `/products/${productId}/custom-fields`;
  const set = (fields: object, token = shop.token) => manage('PATCH', path(), { token, body: { fields } });

  test('are set, left, replaced and removed', async () => {
    await defined({ namespace: 'size', key: 'width', type: 'number' });
    await defined({ namespace: 'size', key: 'note', isLocalised: true });
    await defined({ namespace: 'size', key: 'parts', type: 'text', isList: true });
    await defined({ namespace: 'size', key: 'fee', type: 'money' });
    await defined({ namespace: 'size', key: 'box', type: 'json', jsonSchema: { required: ['w'] } });
    expect((await manage('GET', path())).body).toEqual({ fields: {} });
    const all = {
      'size.width': '12.5',
      'size.note': { en_GB: 'Wide', de_DE: 'Breit' },
      'size.parts': ['b', 'a'],
      'size.fee': { amount: 12.9, currency: 'EUR' },
      'size.box': { w: 1, nested: [null] },
    };
    expect(await set({ ...all, 'size.width': 12.5 })).toMatchObject({ status: 200, body: { fields: all } });
    const { 'size.note': _note, ...others } = all;
    expect((await set({ 'size.note': null, 'size.parts': ['c'] })).body.fields).toEqual({
      ...others,
      'size.parts': ['c'],
    });
    expect((await manage('GET', path())).body.fields).toEqual({ ...others, 'size.parts': ['c'] });
  });

  test('that are wrong change nothing', async () => {
    const text = (problem: string) =>
      `Update custom fields of product failed:\n\tvalidation error ${problem}`;
    expect(await refusal(() => set({ 'size.width': 1, 'size.unknown': 1 }))).toEqual([
      400,
      text('UNKNOWN_VALUE on field size.unknown'),
    ]);
    expect(await refusal(() => set({ 'size.parts': ['ok'], 'size.width': 'wide' }))).toEqual([
      400,
      text('WRONG_FORMAT on field size.width'),
    ]);
    expect(await refusal(() => set({ 'size.box': { x: 1 } }))).toEqual([
      400,
      text('WRONG_FORMAT on field size.box'),
    ]);
    const unknown = '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E';
    expect(
      (
        await refusal(() => manage('PATCH', `/products/${unknown}/custom-fields`, { body: { fields: {} } }))
      )[0],
    ).toBe(404);
  });

  test('together are bounded', async () => {
    await defined({ namespace: 'long', key: 'texts', type: 'richText', isList: true });
    expect(
      await refusal(() => set({ 'long.texts': Array.from({ length: 6 }, () => 'x'.repeat(19_000)) })),
    ).toEqual([409, 'The custom fields of one thing hold at most 100000 characters together']);
  });

  test('refer to things of the same shop only, and end with them', async () => {
    const other = await givenSmallShop(service);
    const foreign = (await givenProduct(other)).toUpperCase();
    const friend = (await givenProduct(shop)).toUpperCase();
    await defined({ namespace: 'refs', key: 'goes-with', type: 'product', isList: true });
    await defined({ namespace: 'refs', key: 'manual', type: 'file' });
    expect(await refusal(() => set({ 'refs.goes-with': [friend, foreign] }))).toEqual([
      400,
      'A custom field refers to something that does not exist',
    ]);
    expect((await refusal(() => set({ 'refs.manual': friend })))[0]).toBe(400);
    expect((await set({ 'refs.goes-with': [friend] })).status).toBe(200);
    const shown = () =>
      service.call('GET', `/${shop.shopId}/products/${productId}?includeFields=true`, { token: shop.token });
    const refs = async () =>
      (await shown()).body.fields.filter(({ namespace }: { namespace: string }) => namespace === 'refs');
    expect(await refs()).toEqual([
      { namespace: 'refs', key: 'goes-with', name: 'Name', type: 'product', value: [friend] },
    ]);
    const deleted = await service.call('DELETE', `/${shop.shopId}/products/${friend}`, { token: shop.token });
    expect(deleted.status).toBe(204);
    // Also where it was cached.
    expect(await refs()).toEqual([]);
  });

  test('are those that the caller may read and write', async () => {
    const [one, other] = [await tokenOf('reader one'), await tokenOf('reader other')];
    for (const readableBy of ['owner', 'merchant', 'public']) {
      await defined({ namespace: 'rights', key: readableBy, readableBy }, one);
    }
    const all = { 'rights.owner': 'o', 'rights.merchant': 'm', 'rights.public': 'p' };
    expect((await set(all, one)).status).toBe(200);
    const seenBy = async (token: string) => {
      const { body } = await manage('GET', path(), { token });
      return Object.keys(body.fields).filter((name) => name.startsWith('rights.'));
    };
    expect(await seenBy(one)).toEqual(['rights.owner', 'rights.merchant', 'rights.public']);
    expect(await seenBy(other)).toEqual(['rights.merchant', 'rights.public']);
    await service.db.run(sql`update shop set public_catalogue = true where shop_id = ${shop.shopId}`);
    expect(await seenBy(NO_TOKEN)).toEqual(['rights.public']);
    expect(await refusal(() => set({ 'rights.public': 'x' }, other))).toEqual([
      403,
      'The custom field rights.public can be read but not changed here',
    ]);
    // It is as if there was none.
    expect((await refusal(() => set({ 'rights.owner': 'x' }, other)))[0]).toBe(400);
    // Beside the product, each sees the same, however often it was read.
    const beside = async (token: string) =>
      (
        await service.call('GET', `/${shop.shopId}/products/${productId}?includeFields=true`, { token })
      ).body.fields.flatMap(({ namespace, key }: { namespace: string; key: string }) =>
        namespace === 'rights' ? [key] : [],
      );
    for (let round = 0; round < 2; round++) {
      expect(await beside(one)).toEqual(['owner', 'merchant', 'public']);
      expect(await beside(other)).toEqual(['merchant', 'public']);
    }
  });

  test('are beside the product on request only, and are never stale', async () => {
    await defined({ namespace: 'fresh', key: 'text', isLocalised: true });
    const read = (query: string) =>
      service.call('GET', `/${shop.shopId}/products/${productId}${query}`, { token: shop.token });
    const plain = await read('');
    expect((await set({ 'fresh.text': { en_GB: 'One', de_DE: 'Eins' } })).status).toBe(200);
    expect((await read('')).text).toBe(plain.text);
    const textIn = async (locale: string) =>
      (await read(`?includeFields=true&locale=${locale}`)).body.fields.find(
        ({ namespace }: { namespace: string }) => namespace === 'fresh',
      )?.value;
    expect([await textIn('en_GB'), await textIn('de_DE')]).toEqual(['One', 'Eins']);
    await set({ 'fresh.text': { en_GB: 'Two' } });
    expect([await textIn('en_GB'), await textIn('de_DE')]).toEqual(['Two', 'Two']);
    const { body } = await manage('GET', '/custom-fields?resource=product');
    const field = body.items.find(({ namespace }: { namespace: string }) => namespace === 'fresh');
    await manage('DELETE', `/custom-fields/${field.fieldId}`);
    expect(await textIn('en_GB')).toBe(undefined);
  });
});

describe('carts and orders', () => {
  let cart: GivenCart;
  const cartCall = (method: string, path: string, body?: unknown, token = shop.token) =>
    service.call(method, `/manage/shops/${shop.shopId}/carts/${cart.id}${path}/custom-fields`, {
      token,
      body,
      headers: { 'x-epages-cart-token': cart.token },
    });

  test('a shopper writes what is open to shoppers, and the order has it', async () => {
    const app = await tokenOf('gift app');
    const gift = { namespace: 'gift', resource: 'cart', type: 'text' };
    await defined({ ...gift, key: 'note', writableBy: 'shopper' }, app);
    await defined({ ...gift, key: 'price-list', readableBy: 'owner' }, app);
    await defined({ ...gift, resource: 'cartLine', key: 'engraving', writableBy: 'shopper' }, app);
    cart = await givenFullCart(shop, { [productId]: 2 });
    const lineId = cart.body.lineItemContainer.productLineItems[0].lineItemId;
    const other = await givenCart(shop, { [productId]: 1 });

    expect((await cartCall('PATCH', '', { fields: { 'gift.note': 'For Ada' } })).body).toEqual({
      fields: { 'gift.note': 'For Ada' },
    });
    const line = `/line-items/${lineId}`;
    expect((await cartCall('PATCH', line, { fields: { 'gift.engraving': 'A' } })).status).toBe(200);
    const own = await cartCall('PATCH', '', { fields: { 'gift.price-list': 'B' } }, app);
    expect(own.body.fields).toEqual({ 'gift.note': 'For Ada', 'gift.price-list': 'B' });
    expect((await refusal(() => cartCall('PATCH', '', { fields: { 'gift.price-list': 'C' } })))[0]).toBe(400);
    expect((await refusal(() => cartCall('PATCH', `/line-items/${cart.id}`, { fields: {} })))[0]).toBe(404);
    const stranger = { ...cart, token: other.token };
    expect(
      (
        await refusal(() =>
          service.call('GET', `/manage/shops/${shop.shopId}/carts/${cart.id}/custom-fields`, {
            token: shop.token,
            headers: { 'x-epages-cart-token': stranger.token },
          }),
        )
      )[0],
    ).toBe(403);

    const order = await done(cart, 'POST', '/order');
    const orderPath = `/orders/${order.orderId}`;
    expect((await manage('GET', `${orderPath}/custom-fields`, { token: app })).body.fields).toEqual({
      'gift.note': 'For Ada',
      'gift.price-list': 'B',
    });
    expect((await manage('GET', `${orderPath}/custom-fields`)).body.fields).toEqual({
      'gift.note': 'For Ada',
    });
    expect((await manage('GET', `${orderPath}${line}/custom-fields`)).body.fields).toEqual({
      'gift.engraving': 'A',
    });
    expect((await cartCall('PATCH', '', { fields: { 'gift.note': 'Late' } })).status).toBe(410);
    const left = await service.db.many(sql`
      select 1 from custom_field_value where shop_id = ${shop.shopId} and cart_id is not null`);
    expect(left).toEqual([]);

    // The shop adds fields that only orders have.
    await defined(
      { namespace: 'gift', resource: 'order', key: 'packed', type: 'boolean', readableBy: 'merchant' },
      app,
    );
    expect(
      (
        await manage('PATCH', `${orderPath}/custom-fields`, {
          token: app,
          body: { fields: { 'gift.packed': true } },
        })
      ).body.fields,
    ).toEqual({ 'gift.note': 'For Ada', 'gift.price-list': 'B', 'gift.packed': true });
    const events = await service.db.many<{ data: unknown }>(sql`
      select data from event where shop_id = ${shop.shopId} and type = 'ORDER_UPDATE'`);
    expect(events).toEqual([{ data: { changed: ['customFields'] } }]);
  });

  test('lines that are gone leave no values behind', async () => {
    cart = await givenCart(shop, { [productId]: 1 });
    const lineIn = async () => {
      const body = await done(cart, 'GET');
      return body.lineItemContainer.productLineItems[0].lineItemId as string;
    };
    const first = await lineIn();
    await cartCall('PATCH', `/line-items/${first}`, { fields: { 'gift.engraving': 'A' } });
    await on(cart, 'DELETE', `/line-items/${first}`);
    await done(cart, 'POST', '/line-items', { productId, quantity: 1 });
    const second = await lineIn();
    await cartCall('PATCH', `/line-items/${second}`, { fields: { 'gift.engraving': 'B' } });
    const rows = await service.db.many<{ value: string }>(sql`
      select value from custom_field_value where shop_id = ${shop.shopId} and cart_id = ${cart.id}`);
    expect(rows).toEqual([{ value: 'B' }]);
  });
});

describe('an app that is uninstalled', () => {
  const key = Buffer.alloc(32, 7);
  const app = { name: 'Sizes', callbackUrl: 'https://sizes.example/', scopes: SCOPES };
  const install = () => service.db.transaction((tx) => createApp(tx, key, shop.shopId, app));
  const uninstall = () => service.db.transaction((tx) => deleteApp(tx, shop.shopId, 'Sizes'));
  const givenValue = async (clientId: string) => {
    const fieldId = clientId.replace(/^.{8}/, 'ABCDEF01');
    await service.db.run(sql`
      insert into custom_field_namespace (shop_id, namespace, app_name, app_id)
      values (${shop.shopId}, 'sizes', 'Sizes', ${clientId})`);
    await service.db.run(sql`
      insert into custom_field (shop_id, field_id, resource, namespace, key, type, name, is_list, is_localised,
        readable_by, writable_by, is_filter, created_at)
      values (${shop.shopId}, ${fieldId}, 'product', 'sizes', 'chart', 'text', '{"en_GB": "Chart"}', false, false,
        'public', 'owner', false, ${service.db.now})`);
    await service.db.run(sql`
      insert into custom_field_value (shop_id, resource_id, field_id, locale, position, value, product_id)
      values (${shop.shopId}, ${productId}, ${fieldId}, '', 0, '"S"', ${productId})`);
    await service.db.run(sql`
      update shop set settings_version = settings_version + 1 where shop_id = ${shop.shopId}`);
  };
  const shown = async () =>
    (await manage('GET', `/products/${productId}/custom-fields`)).body.fields['sizes.chart'];
  const cleanUp = async () => {
    while ((await fieldCleanup.run(service.db, 1)) > 0);
  };
  const rows = async () =>
    (await service.db.one<{ count: number }>(sql`
      select count(*) as count from custom_field_value
      where shop_id = ${shop.shopId} and value = '"S"'`))!.count;

  test('takes its fields along, and brings them back within 30 days', async () => {
    const { clientId } = await install();
    await givenValue(clientId);
    expect(await shown()).toBe('S');
    await uninstall();
    expect(await shown()).toBe(undefined);
    // Nobody else gets its namespace in the meantime.
    expect((await refusal(() => define({ namespace: 'sizes', key: 'a' })))[0]).toBe(403);
    service.setClock(new Date(Date.now() + 29 * 86_400_000));
    await cleanUp();
    expect(await rows()).toBe(1);
    await install();
    expect(await shown()).toBe('S');
    await uninstall();
    service.setClock(new Date(Date.now() + 60 * 86_400_000));
    await cleanUp();
    expect(await rows()).toBe(0);
    await install();
    expect(await shown()).toBe(undefined);
    service.setClock(undefined);
    expect(
      await service.db.many(sql`
        select 1 from custom_field_namespace where shop_id = ${shop.shopId} and namespace = 'sizes'`),
    ).toEqual([]);
  });
});

describe('a customer', () => {
  test('gets their fields in an export, and an erasure deletes them', async () => {
    await defined({
      namespace: 'person',
      resource: 'customer',
      key: 'birthday',
      type: 'date',
      readableBy: 'merchant',
    });
    await defined({ namespace: 'person', resource: 'cart', key: 'wish', writableBy: 'shopper' });
    await defined({ namespace: 'person', key: 'designer', type: 'customer' });
    const cart = await givenFullCart(
      shop,
      { [productId]: 1 },
      { address: { emailAddress: 'eve@mail.example' } },
    );
    await service.call('PATCH', `/manage/shops/${shop.shopId}/carts/${cart.id}/custom-fields`, {
      body: { fields: { 'person.wish': 'Wrapped' } },
      headers: { 'x-epages-cart-token': cart.token },
    });
    const { orderId, customerId } = await done(cart, 'POST', '/order');
    const path = `/customers/${customerId}/custom-fields`;
    const birthday = { 'person.birthday': '1990-02-28' };
    expect((await manage('PATCH', path, { body: { fields: birthday } })).body).toEqual({ fields: birthday });
    const designer = { fields: { 'person.designer': customerId } };
    expect((await manage('PATCH', `/products/${productId}/custom-fields`, { body: designer })).status).toBe(
      200,
    );

    const data = (await manage('GET', `/customers/${customerId}/export`)).body;
    expect(
      data.customFields.toSorted((a: { field: string }, b: { field: string }) =>
        a.field < b.field ? -1 : 1,
      ),
    ).toEqual([
      { thing: 'customer', id: customerId, field: 'person.birthday', value: '1990-02-28' },
      { thing: 'order', id: orderId, field: 'person.wish', value: 'Wrapped' },
    ]);
    const erased = await manage('POST', `/customers/${customerId}/erase?force=true`);
    expect(erased.status).toBe(200);
    expect(erased.body.counts ?? erased.body).toMatchObject({ customFieldsDeleted: 3 });
    const left = await service.db.many(sql`
      select 1 from custom_field_value
      where shop_id = ${shop.shopId} and (order_id = ${orderId} or customer_id = ${customerId}
        or target_customer_id = ${customerId})`);
    expect(left).toEqual([]);
  });
});

test('the page of a product shows its public fields', async () => {
  await defined({
    namespace: 'page',
    key: 'vegan',
    type: 'boolean',
    name: { en_GB: 'Vegan', de_DE: 'Vegan' },
  });
  await defined({ namespace: 'page', key: 'weight', type: 'number', name: { en_GB: 'Dry <weight>' } });
  await defined({ namespace: 'page', key: 'secret', readableBy: 'merchant', name: { en_GB: 'Secret' } });
  const fields = { 'page.vegan': true, 'page.weight': '1234.5', 'page.secret': 'hidden-from-shoppers' };
  const path = `/products/${productId}/custom-fields`;
  expect((await manage('PATCH', path, { body: { fields } })).status).toBe(200);
  const { number } = (await service.db.one<{ number: string }>(sql`
    select product_number as number from product where product_id = ${productId}`))!;
  const page = () => service.app.inject({ url: `/shop/${shop.shopId}/Products/${number}` });
  const shown = (await page()).body.replaceAll(/\s+/g, ' ');
  expect(shown).toContain('<th scope="row">Vegan</th> <td>Yes</td>');
  expect(shown).toContain('<th scope="row">Dry &lt;weight&gt;</th> <td>1,234.5</td>');
  expect(shown).not.toContain('hidden-from-shoppers');
  await manage('PATCH', path, { body: { fields: { 'page.vegan': null } } });
  expect((await page()).body).not.toContain('Vegan');
});

describe('beside other things, on request', () => {
  const api = (path: string, headers: Record<string, string> = {}, token = shop.token) =>
    service.call('GET', `/${shop.shopId}${path}`, { token, headers });
  const put = (path: string, fields: object, headers?: Record<string, string>) =>
    service.call('PATCH', `/manage/shops/${shop.shopId}${path}/custom-fields`, {
      token: shop.token,
      body: { fields },
      ...(headers && { headers }),
    });
  const field = (resource: string, more: object = {}) =>
    defined({
      namespace: 'beside',
      key: 'note',
      resource,
      readableBy: 'merchant',
      isLocalised: true,
      ...more,
    });
  const shown = (value: string) => [{ namespace: 'beside', key: 'note', name: 'Name', type: 'text', value }];

  test('categories, customers and the shop have them, in lists too', async () => {
    const app = await tokenOf('beside owner');
    const [category] = (await api('/categories')).body;
    const categoryPath = `/categories/${category.categoryId}`;
    const customer = (
      await service.call('POST', `/${shop.shopId}/customers`, {
        token: shop.token,
        body: { billingAddress: { firstName: 'Ida' } },
      })
    ).body;
    const customerPath = `/customers/${customer.customerId}`;
    for (const [resource, path, read, list] of [
      ['category', categoryPath, categoryPath, '/categories'],
      ['customer', customerPath, customerPath, '/customers?resultsPerPage=100'],
      ['shop', '/shop', '', undefined],
    ] as const) {
      const before = [await api(read), list && (await api(list))];
      await field(resource);
      await defined({ namespace: 'hidden', key: resource, resource, readableBy: 'owner' }, app);
      expect((await put(path, { 'beside.note': { en_GB: 'One', de_DE: 'Eins' } })).status).toBe(200);
      // Without the parameter no byte changes.
      expect((await api(read)).text).toBe(before[0]!.text);
      const { fields, ...rest } = (await api(`${read}?includeFields=true&locale=de_DE`)).body;
      expect(fields).toEqual(shown('Eins'));
      expect(Object.keys(rest)).toEqual(Object.keys(before[0]!.body));
      if (!list) continue;
      expect((await api(list)).text).toBe(before[1]!.text);
      const { body } = await api(`${list}${list.includes('?') ? '&' : '?'}includeFields=true`);
      const items = body.items ?? body;
      const id = `${resource}Id`;
      const found = items.find((item: Answer['body']) => item[id] === rest[id]);
      expect(found.fields).toEqual(shown('One'));
      expect(items.every((item: Answer['body']) => Array.isArray(item.fields))).toBe(true);
    }
  });

  test('lists of products and variations have them', async () => {
    await field('product', { key: 'listed', isLocalised: false });
    const { productId: listed } = (
      await service.call('POST', `/${shop.shopId}/products`, {
        token: shop.token,
        body: { productNumber: 'LISTED', name: 'Listed', price: 5, visible: true },
      })
    ).body;
    await put(`/products/${listed}`, { 'beside.listed': 'In lists' });
    const plain = await api('/products?resultsPerPage=100');
    const { body } = await api('/products?resultsPerPage=100&includeFields=true');
    const { body: named } = await api(`/products?id=${listed}&includeFields=true`);
    for (const items of [body.items, named.items]) {
      const { fields, ...rest } = items.find((item: Answer['body']) => item.productId === listed);
      expect(fields).toContainEqual({
        namespace: 'beside',
        key: 'listed',
        name: 'Name',
        type: 'text',
        value: 'In lists',
      });
      expect(rest).toEqual(plain.body.items.find((item: Answer['body']) => item.productId === listed));
    }
    expect((await api('/products?resultsPerPage=100')).text).toBe(plain.text);

    await field('variation', { isLocalised: false });
    const master = (await givenProduct(shop)).toUpperCase();
    const variations = {
      productType: 'Default',
      visibleAfterCreation: true,
      variationAttributes: [{ name: 'Size', values: [{ value: 'S' }, { value: 'M' }] }],
    };
    await service.call('POST', `/${shop.shopId}/products/${master}/variations`, {
      token: shop.token,
      body: variations,
    });
    const path = `/products/${master}/variations`;
    const { items } = (await api(path)).body;
    const id = (item: Answer['body']) => item.link.href.split('/').at(-1);
    await put(`/products/${id(items[1])}`, { 'beside.note': 'Medium' });
    const withFields = (await api(`${path}?includeFields=true`)).body.items;
    expect(withFields).toEqual([
      { ...items[0], fields: [] },
      { ...items[1], fields: shown('Medium') },
    ]);
  });

  test('carts and orders have them, and so have their lines', async () => {
    const open = { readableBy: 'public', writableBy: 'shopper', isLocalised: false };
    await field('cart', open);
    await field('cartLine', open);
    const cart = await givenFullCart(shop, { [productId]: 1 });
    const headers = { 'x-epages-cart-token': cart.token };
    const path = `/carts/${cart.id}`;
    const { lineItemId } = cart.body.lineItemContainer.productLineItems[0];
    const plain = await api(path, headers);
    await put(path, { 'beside.note': 'For Ada' }, headers);
    await put(`${path}/line-items/${lineItemId}`, { 'beside.note': 'A. L.' }, headers);
    const again = await api(path, headers);
    expect([again.text, again.headers['etag']]).toEqual([plain.text, plain.headers['etag']]);
    const asked = await api(`${path}?includeFields=true`, headers);
    expect(asked.body.fields).toEqual(shown('For Ada'));
    expect(asked.body.lineItemContainer.productLineItems[0].fields).toEqual(shown('A. L.'));
    const listed = (await api('/carts?includeFields=true&resultsPerPage=100')).body.items.find(
      ({ cartId }: { cartId: string }) => cartId === asked.body.cartId,
    );
    expect(listed.fields).toEqual(shown('For Ada'));
    expect(listed.lineItemContainer.productLineItems[0].fields).toEqual(shown('A. L.'));

    // Another value is another answer, but not another cart.
    await put(path, { 'beside.note': 'For Eve' }, headers);
    const etag = String(asked.headers['etag']);
    const changed = await api(`${path}?includeFields=true`, { ...headers, 'if-none-match': etag });
    expect([changed.status, changed.body.fields]).toEqual([200, shown('For Eve')]);
    const orderedBy = (tag: string) =>
      service.call('POST', `/${shop.shopId}${path}/order`, {
        token: shop.token,
        headers: { ...headers, 'if-match': tag },
      });
    expect((await refusal(() => orderedBy(`"x${etag.slice(1)}`)))[0]).toBe(412);
    const ordered = await orderedBy(etag);
    expect(ordered.status).toBe(201);

    const { orderId } = ordered.body;
    for (const read of [`/orders/${orderId}`, `/orders?include=lineItems`]) {
      const { body } = await api(`${read}${read.includes('?') ? '&' : '?'}includeFields=true`);
      const order = body.items ? body.items.find((item: Answer['body']) => item.orderId === orderId) : body;
      expect(order.fields).toContainEqual(shown('For Eve')[0]);
      expect(order.lineItemContainer.productLineItems[0].fields).toEqual(shown('A. L.'));
    }
    const { body } = await manage('GET', `/orders/${orderId}?includeFields=true`);
    expect(body.fields).toContainEqual(shown('For Eve')[0]);
    const { items } = (await api('/orders?includeFields=true')).body;
    expect(items.find((item: Answer['body']) => item.orderId === orderId).fields).toContainEqual(
      shown('For Eve')[0],
    );
    expect((await api(`/orders/${orderId}`)).body).not.toHaveProperty('fields');
  });

  test('an answer holds at most a million characters of them', async () => {
    await defined({ namespace: 'beside', key: 'long', type: 'richText', isList: true });
    const ids: string[] = [];
    for (let index = 0; index < 11; index++) {
      const id = (await givenProduct(shop)).toUpperCase();
      await put(`/products/${id}`, { 'beside.long': Array.from({ length: 5 }, () => 'x'.repeat(19_000)) });
      ids.push(id);
    }
    const list = (count: number) =>
      api(
        `/products?includeFields=true&${ids
          .slice(0, count)
          .map((id) => `id=${id}`)
          .join('&')}`,
      );
    expect((await list(10)).status).toBe(200);
    expect(outcome(await list(11))).toEqual([
      409,
      'The custom fields of this answer hold more than 1000000 characters together: ask for fewer things',
    ]);
  });
});

describe('lists of the API are filtered by fields', () => {
  const filtered = (path: string, query: string, token = shop.token) =>
    service.call('GET', `/${shop.shopId}${path}?${query}&resultsPerPage=100`, { token });
  const set = (path: string, fields: object) =>
    manage('PATCH', `${path}/custom-fields`, { body: { fields } });
  const created = async (path: string, body: object) =>
    (await service.call('POST', `/${shop.shopId}${path}`, { token: shop.token, body })).body;
  const filter = { namespace: 'by', readableBy: 'merchant', isFilter: true };

  test('products, with the other filters of the list', async () => {
    await defined({ ...filter, key: 'colour' });
    await defined({ ...filter, key: 'size', type: 'number' });
    await defined({ ...filter, key: 'plain', isFilter: false });
    const ids: string[] = [];
    for (const [index, name] of ['Cap', 'Boat', 'Anchor'].entries()) {
      const body = { productNumber: `BY-${index}`, name, price: 10 - index, visible: index !== 1 };
      const { productId: id } = await created('/products', body);
      await set(`/products/${id}`, { 'by.colour': index === 2 ? 'Blue' : 'RED', 'by.size': '1.50' });
      ids.push(id);
    }
    const [cap, boat, anchor] = ids;
    const found = async (query: string) => {
      const { status, body } = await filtered('/products', query);
      expect(status).toBe(200);
      return [body.results, body.items.map((item: Answer['body']) => item.productId)];
    };
    expect(await found('field=by.colour:red')).toEqual([1, [cap]]);
    expect(await found('field=by.colour:red&includeInvisible=true')).toEqual([2, [boat, cap]]);
    expect(await found('field=by.size:1.5')).toEqual([2, [anchor, cap]]);
    expect(await found('field=by.size:1.5&direction=desc')).toEqual([2, [cap, anchor]]);
    expect(await found('field=by.size:1.5&sort=price')).toEqual([2, [anchor, cap]]);
    expect(await found('field=by.size:1.5&field=by.colour:BLUE')).toEqual([1, [anchor]]);
    expect(await found('field=by.size:1.5&q=cap')).toEqual([1, [cap]]);
    expect(await found(`field=by.size:1.5&categoryId=${boat}`)).toEqual([0, []]);
    expect(await found('field=by.colour:green')).toEqual([0, []]);
    expect(await found('field=by.colour:')).toEqual([0, []]);
    const problem = async (query: string) => (await filtered('/products', query)).status;
    expect(await problem('field=by.plain:red')).toBe(400);
    expect(await problem('field=by.unknown:red')).toBe(400);
    expect(await problem('field=')).toBe(400);
    expect(await problem(Array.from({ length: 6 }, () => 'field=by.size:1').join('&'))).toBe(400);
  });

  test('customers, and only by fields that the caller may read', async () => {
    const app = await tokenOf('filtering app');
    await defined({ ...filter, resource: 'customer', key: 'club', type: 'boolean' });
    await defined(
      { ...filter, namespace: 'secret', resource: 'customer', key: 'score', readableBy: 'owner' },
      app,
    );
    const members: string[] = [];
    for (const firstName of ['Ida', 'Ole']) {
      const { customerId } = await created('/customers', { billingAddress: { firstName } });
      await set(`/customers/${customerId}`, { 'by.club': true });
      members.push(customerId);
    }
    const { body } = await filtered('/customers', 'field=by.club:true&includeFields=true');
    expect([body.results, body.items.map((item: Answer['body']) => item.customerId)]).toEqual([2, members]);
    expect(body.items[0].fields).toContainEqual(expect.objectContaining({ key: 'club', value: true }));
    expect((await filtered('/customers', 'field=by.club:false')).body.results).toBe(0);
    await manage('PATCH', `/customers/${members[0]}/custom-fields`, {
      token: app,
      body: { fields: { 'secret.score': 'A' } },
    });
    expect((await filtered('/customers', 'field=secret.score:a', app)).body.results).toBe(1);
    expect((await filtered('/customers', 'field=secret.score:a')).status).toBe(400);
  });

  test('orders, also by what their carts had', async () => {
    await defined({ ...filter, resource: 'cart', key: 'wrap', readableBy: 'public', writableBy: 'shopper' });
    await defined({ ...filter, resource: 'order', key: 'checked', type: 'boolean' });
    const orders: Answer['body'][] = [];
    for (const wrap of ['Blue', 'Blue', 'Red']) {
      const cart = await givenFullCart(shop, { [productId]: 1 });
      await service.call('PATCH', `/manage/shops/${shop.shopId}/carts/${cart.id}/custom-fields`, {
        body: { fields: { 'by.wrap': wrap } },
        headers: { 'x-epages-cart-token': cart.token },
      });
      orders.push(await done(cart, 'POST', '/order'));
    }
    const [first, second] = orders;
    await set(`/orders/${first.orderId}`, { 'by.checked': true });
    const found = async (query: string) => {
      const { body } = await filtered('/orders', query);
      return [body.results, body.items.map((item: Answer['body']) => item.orderId)];
    };
    expect(await found('field=by.wrap:blue')).toEqual([2, [second.orderId, first.orderId]]);
    expect(await found('field=by.wrap:blue&field=by.checked:true')).toEqual([1, [first.orderId]]);
    expect(await found('field=by.wrap:blue&include=lineItems&lastUpdated=true')).toEqual([
      2,
      [second.orderId, first.orderId],
    ]);
    // All three were placed with the same email address.
    const ofCustomer = [2, [second.orderId, first.orderId]];
    expect(await found(`field=by.wrap:blue&customerId=${first.customerId}`)).toEqual(ofCustomer);
    const { customerId: stranger } = await created('/customers', { billingAddress: { firstName: 'Ada' } });
    expect(await found(`field=by.wrap:blue&customerId=${stranger}`)).toEqual([0, []]);
    expect((await found(`field=by.wrap:blue&productId=${productId}`))[0]).toBe(2);
    expect(await found('field=by.wrap:blue&closedOn=true')).toEqual([0, []]);
  });
});
