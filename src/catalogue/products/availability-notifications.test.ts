import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { statementsOf } from '../../../test/carts.ts';
import { startService, type Answer, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { queueAvailabilityNotifications } from './availability-notifications.ts';
import type { ProductFacts, ProductKind } from './facts.ts';

let service: Service;
let token: string;

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Harbour');
  await givenShop(service, 'Other');
  await service.db.run(sql`
    update shop set locales = '{en_GB,de_DE,fr_FR}', settings_version = settings_version + 1
    where shop_id = 'Harbour'`);
  token = await givenToken(service, 'Harbour', ['products_write']);
});
afterAll(() => service.close());
beforeEach(async () => {
  await service.db.run(sql`delete from product where shop_id in ('Harbour', 'Other')`);
  await service.db.run(sql`delete from job`);
});

interface Facts {
  shopId?: string;
  number?: string;
  kind?: ProductKind;
  masterId?: string;
  stock?: number | null;
  visible?: boolean;
  name?: ProductFacts['name'] | undefined;
}

async function givenProduct(facts: Facts = {}): Promise<string> {
  const { shopId = 'Harbour', kind = 'regular', masterId, stock = 0, visible = true } = facts;
  const productId = newId(service.db.now);
  const number = facts.number ?? productId;
  const name = 'name' in facts ? facts.name : { en_GB: `Name of ${number}` };
  await service.db.run(sql`
    insert into product (shop_id, product_id, product_number, kind, master_id, selection, created_at, version,
      visible, stock, facts)
    values (${shopId}, ${productId}, ${number}, ${kind}, ${masterId ?? null},
      ${kind === 'variation' ? { Size: number } : null}, ${service.db.now}, 1, ${visible}, ${stock},
      ${name === undefined ? {} : { name }})`);
  return productId;
}

const watch = (productId: string, body: unknown, options = {}) =>
  service.call('POST', `/Harbour/products/${productId}/availability-notifications`, {
    token,
    body,
    ...options,
  });

const watched = (search = '') => service.call('GET', `/Harbour/watched-products${search}`, { token });

const setStock = (productId: string, stock: number | null) =>
  service.db.run(sql`
    update product set stock = ${stock} where shop_id = 'Harbour' and product_id = ${productId}`);

const watchers = () =>
  service.db.many(sql`
    select upper(product_id::text) as "productId", email, locale from watcher where shop_id = 'Harbour'
    order by product_id, email`);

/** The mails that wait. */
const mails = () =>
  service.db.many<{ content: unknown }>(sql`
    select content from job order by content ->> 'to'`);

describe('availability notifications', () => {
  test('adds a watcher and answers 200 without a body', async () => {
    const productId = await givenProduct();
    const answer = await watch(productId.toLowerCase(), { email: 'Ada@Pelican.Example', locale: 'de_de' });
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(answer.headers['content-type']).toBeUndefined();
    expect(await watchers()).toEqual([{ productId, email: 'ada@pelican.example', locale: 'de_DE' }]);
  });

  test('count an address once, whatever its case, in the locale named last', async () => {
    const productId = await givenProduct();
    for (const [email, locale] of [
      ['ada@mail.example', 'en_GB'],
      ['ADA@mail.example', 'fr_FR'],
      ['ben@mail.example', 'en_GB'],
    ]) {
      expect((await watch(productId, { email, locale })).status).toBe(200);
    }
    expect(await watchers()).toEqual([
      { productId, email: 'ada@mail.example', locale: 'fr_FR' },
      { productId, email: 'ben@mail.example', locale: 'en_GB' },
    ]);
  });

  test.each([
    ['in stock', { stock: 5 }],
    ['not tracked', { stock: null }],
    ['invisible', { visible: false }],
  ])('take a product that is %s', async (_, facts) => {
    const productId = await givenProduct(facts);
    expect((await watch(productId, { email: 'ada@mail.example', locale: 'en_GB' })).status).toBe(200);
    expect(await watchers()).toHaveLength(1);
  });

  test.each(['ümlaut@müller.example', "o'neil+shop@mail.example", 'İ@mail.example', 'ΑΣ@mail.example'])(
    'take %s',
    async (email) => {
      const productId = await givenProduct();
      expect((await watch(productId, { email, locale: 'en_GB' })).status).toBe(200);
      expect(await watchers()).toHaveLength(1);
    },
  );

  const long = `${'x'.repeat(250)}@x.de`;
  test.each([
    ['no @', 'ada.mail.example'],
    ['two @', 'ada@mail@example'],
    ['nothing before the @', '@mail.example'],
    ['nothing behind the @', 'ada@'],
    ['a blank', 'ada @mail.example'],
    ['a line break', 'ada@mail.example\r\nBcc: all@mail.example'],
    ['a control character', 'ada\u007f@mail.example'],
    ['an end of an address', 'ada@mail.example>'],
    ['too many characters', long],
    ['nothing', ''],
    ['a number', 7],
    ['null', null],
  ])('refuse an address with %s', async (_, email) => {
    const productId = await givenProduct();
    const answer = await watch(productId, { email, locale: 'en_GB' });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain('validation error');
    expect(answer.body.message).toContain('on field email');
    expect(await watchers()).toEqual([]);
  });

  test.each([
    ['without a country', 'de', 'expected full locale for example en_US'],
    ['that the shop lacks', 'nl_NL', 'The shop has no locale nl_NL, it has en_GB, de_DE, fr_FR'],
    ['that is empty', '', 'expected full locale for example en_US'],
  ])('refuse a locale %s', async (_, locale, message) => {
    const productId = await givenProduct();
    const path = `/rs/shops/Harbour/products/${productId}/availability-notifications`;
    expect(await watch(productId, { email: 'ada@mail.example', locale })).toMatchObject({
      status: 400,
      body: { message: `${message}, Request: POST ${path}`, status: 'Bad Request' },
    });
    expect(await watchers()).toEqual([]);
  });

  test.each([[{}], [{ email: 'ada@mail.example' }], [{ locale: 'en_GB' }], [[]], [undefined]])(
    'refuse the body %j',
    async (body) => {
      const productId = await givenProduct();
      expect((await watch(productId, body)).status).toBe(400);
      expect(await watchers()).toEqual([]);
    },
  );

  test('refuse a master, which has no stock', async () => {
    const master = await givenProduct({ kind: 'master', stock: null });
    const answer = await watch(master, { email: 'ada@mail.example', locale: 'en_GB' });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain('name one of its variations');
    expect(await watchers()).toEqual([]);
  });

  test.each([
    ['an unknown id', async () => newId(new Date())],
    ['a malformed id', async () => 'HP-003'],
    ["another shop's id", () => givenProduct({ shopId: 'Other' })],
  ])('of %s are not found', async (_, id) => {
    const body = { email: 'ada@mail.example', locale: 'en_GB' };
    expect((await watch(await id(), body)).status).toBe(404);
    expect(await service.db.many(sql`select 1 from watcher`)).toEqual([]);
  });

  test('need the scope products_write', async () => {
    const productId = await givenProduct();
    const reader = await givenToken(service, 'Harbour', ['products_read']);
    const body = { email: 'ada@mail.example', locale: 'en_GB' };
    expect((await watch(productId, body, { token: reader })).status).toBe(403);
    expect((await watch(productId, body, { token: undefined })).status).toBe(401);
    expect(await watchers()).toEqual([]);
  });

  test('are replayed with their Idempotency-Key', async () => {
    const productId = await givenProduct();
    const body = { email: 'ada@mail.example', locale: 'en_GB' };
    const options = { headers: { 'idempotency-key': 'watch-1' } };
    await watch(productId, body, options);
    const again = await watch(productId, body, options);
    expect(again).toMatchObject({ status: 200, text: '', headers: { 'idempotency-replayed': 'true' } });
  });
});

describe('watched products', () => {
  test('lists products that are out of stock and watched, the most wanted first', async () => {
    const tea = await givenProduct({ number: 'TE-1', name: { en_GB: 'Tea', de_DE: 'Tee' } });
    const lamp = await givenProduct({ number: 'LA-1', stock: -2 });
    const inStock = await givenProduct({ number: 'IN-1', stock: 0.5 });
    const untracked = await givenProduct({ number: 'UN-1', stock: null });
    await givenProduct({ number: 'NO-1' });
    const others = await givenProduct({ shopId: 'Other' });
    await service.db.run(sql`
      insert into watcher (shop_id, product_id, email, locale, created_at)
      values ('Other', ${others}, 'eve@mail.example', 'en_GB', ${service.db.now})`);
    await watch(lamp, { email: 'ada@mail.example', locale: 'en_GB' });
    for (const productId of [tea, inStock, untracked]) {
      await watch(productId, { email: 'ada@mail.example', locale: 'en_GB' });
      await watch(productId, { email: 'ben@mail.example', locale: 'en_GB' });
    }
    const { status, text } = await watched();
    expect(status).toBe(200);
    const link = (productId: string) => [
      { rel: 'product', href: `http://localhost:80/rs/shops/Harbour/products/${productId}` },
    ];
    expect(text).toBe(
      JSON.stringify({
        results: 2,
        page: 1,
        resultsPerPage: 10,
        items: [
          { productId: tea, name: 'Tea', productNumber: 'TE-1', watchers: 2, links: link(tea) },
          { productId: lamp, name: 'Name of LA-1', productNumber: 'LA-1', watchers: 1, links: link(lamp) },
        ],
      }),
    );
    expect((await watched('?locale=de_DE')).body.items[0].name).toBe('Tee');
    expect((await watched('?locale=de')).status).toBe(400);
    expect((await watched('?locale=nl_NL')).body.items[0].name).toBe('Tea');
  });

  test('go by their own name, else by that of the master, else by the number', async () => {
    const masterId = await givenProduct({
      kind: 'master',
      stock: null,
      name: { en_GB: 'Rope', fr_FR: 'Corde' },
    });
    const variation = (number: string, name?: ProductFacts['name']) =>
      givenProduct({ number, kind: 'variation', masterId, name });
    const own = await variation('R-1', { en_GB: 'Aged rope' });
    const inherited = await variation('R-2');
    const nameless = await givenProduct({ number: 'Z-1', name: undefined });
    for (const productId of [own, inherited, nameless]) {
      await watch(productId, { email: 'ada@mail.example', locale: 'en_GB' });
    }
    const names = async (search: string) =>
      (await watched(search)).body.items.map((item: { name: string }) => item.name);
    // Of as many watchers: by name.
    expect(await names('')).toEqual(['Aged rope', 'Rope', 'Z-1']);
    expect(await names('?locale=fr_FR')).toEqual(['Aged rope', 'Corde', 'Z-1']);
  });

  test('come in pages, and their statements do not grow with them', async () => {
    for (const number of ['A', 'B', 'C']) {
      await watch(await givenProduct({ number }), { email: 'ada@mail.example', locale: 'en_GB' });
    }
    let answer: Answer;
    const statements = await statementsOf(async () => {
      answer = await watched('?resultsPerPage=2&page=2');
    });
    expect(statements.filter((text) => text.includes('watcher'))).toHaveLength(2);
    expect(answer!.body).toMatchObject({
      results: 3,
      page: 2,
      resultsPerPage: 2,
      items: [{ productNumber: 'C' }],
    });
    expect((await watched('?page=9')).body).toEqual({ results: 3, page: 9, resultsPerPage: 10, items: [] });
    expect((await watched('?resultsPerPage=1000')).body.resultsPerPage).toBe(100);
    expect((await watched('?page=0')).status).toBe(400);
  });

  test('are for tokens with products_write', async () => {
    const reader = await givenToken(service, 'Harbour', ['products_read']);
    expect((await service.call('GET', '/Harbour/watched-products', { token: reader })).status).toBe(403);
    expect((await service.call('GET', '/Harbour/watched-products')).status).toBe(401);
  });
});

describe('when stock comes back', () => {
  const notify = (...productIds: string[]) =>
    service.db.transaction((tx) => queueAvailabilityNotifications(tx, 'Harbour', productIds));

  test('everybody who waits gets one mail in the own language and waits no more', async () => {
    const tea = await givenProduct({ number: 'TE-1', name: { en_GB: 'Tea', de_DE: 'Tee' } });
    const lamp = await givenProduct({ number: 'LA-1' });
    const rope = await givenProduct({ number: 'RO-1' });
    await watch(tea, { email: 'ada@mail.example', locale: 'de_DE' });
    await watch(tea, { email: 'ben@mail.example', locale: 'fr_FR' });
    await watch(lamp, { email: 'cleo@mail.example', locale: 'en_GB' });
    await watch(rope, { email: 'dora@mail.example', locale: 'en_GB' });
    await setStock(tea, 3);
    await setStock(lamp, null);
    await notify(tea.toLowerCase(), lamp, rope);
    const mail = (to: string, locale: string, productName: string, productNumber: string) => ({
      content: {
        to,
        locale,
        shopId: 'Harbour',
        template: 'availability',
        facts: { productName, productNumber },
      },
    });
    const expected = [
      mail('ada@mail.example', 'de_DE', 'Tee', 'TE-1'),
      mail('ben@mail.example', 'fr_FR', 'Tea', 'TE-1'),
      mail('cleo@mail.example', 'en_GB', 'Name of LA-1', 'LA-1'),
    ];
    expect(await mails()).toEqual(expected);
    expect(await watchers()).toEqual([{ productId: rope, email: 'dora@mail.example', locale: 'en_GB' }]);

    await notify(tea, lamp, rope);
    expect(await mails()).toEqual(expected);
  });

  test('by a change of the product, the mail goes out with it, and only when it was used up before', async () => {
    const tea = await givenProduct();
    const changeStock = async (value: number) => {
      const body = [{ op: 'replace', path: '/stocklevel', value }];
      const { status } = await service.call('PATCH', `/Harbour/products/${tea}`, { token, body });
      expect(status).toBe(200);
      return (await mails()).length;
    };
    await watch(tea, { email: 'ada@mail.example', locale: 'en_GB' });
    expect(await changeStock(-1)).toBe(0);
    expect(await changeStock(5)).toBe(1);
    await watch(tea, { email: 'ada@mail.example', locale: 'en_GB' });
    expect(await changeStock(6)).toBe(1);
    expect(await changeStock(0)).toBe(1);
    expect(await changeStock(1)).toBe(2);
  });

  test('a rollback queues nothing and everybody goes on waiting', async () => {
    const tea = await givenProduct({ stock: 1 });
    await watch(tea, { email: 'ada@mail.example', locale: 'en_GB' });
    await expect(
      service.db.transaction(async (tx) => {
        await queueAvailabilityNotifications(tx, 'Harbour', [tea]);
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    expect(await mails()).toEqual([]);
    expect(await watchers()).toHaveLength(1);
  });

  test('two changes at the same time send one mail', async () => {
    const tea = await givenProduct({ stock: 1 });
    await watch(tea, { email: 'ada@mail.example', locale: 'en_GB' });
    await Promise.all([notify(tea), notify(tea), notify(tea)]);
    expect(await mails()).toHaveLength(1);
  });

  test("another shop's watchers are left alone", async () => {
    const others = await givenProduct({ shopId: 'Other', stock: 1 });
    await service.db.run(sql`
      insert into watcher (shop_id, product_id, email, locale, created_at)
      values ('Other', ${others}, 'eve@mail.example', 'en_GB', ${service.db.now})`);
    await notify(others);
    expect(await mails()).toEqual([]);
    expect(await service.db.many(sql`select email from watcher where shop_id = 'Other'`)).toHaveLength(1);
  });

  test('three statements do for any number of watchers', async () => {
    const tea = await givenProduct({ stock: 1 });
    await service.db.run(sql`
      insert into watcher (shop_id, product_id, email, locale, created_at)
      select 'Harbour', ${tea}, number || '@mail.example', 'en_GB', ${service.db.now}
      from generate_series(1, 1000) as number`);
    let statements = 0;
    await service.db.transaction(async (tx) => {
      const many: typeof tx.many = (query) => (statements++, tx.many(query));
      const run: typeof tx.run = (query) => (statements++, tx.run(query));
      await queueAvailabilityNotifications({ ...tx, many, run }, 'Harbour', [tea]);
    });
    expect(statements).toBe(3);
    expect(await mails()).toHaveLength(1000);
  });
});
