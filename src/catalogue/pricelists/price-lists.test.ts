import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { givenToken } from '../../../test/builders.ts';
import { changeSettings, givenDemoShop, NOW, type Shop } from '../../../test/carts.ts';
import { startService, type Service } from '../../../test/service.ts';
import { signInAs } from '../../../test/signed-in.ts';
import { givenVisitor, mainOf, type PageAnswer, type Visitor } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';
import { applySettings } from '../../shops/settings/file.ts';

/** Price lists of customer groups: their prices by API and file, and what customers pay at which moment. */

const MINUTE = 60_000;
const ADA = 'ada.lindqvist@mail.example';
const NUMBER = 'TE-110';

let service: Service;
let shop: Shop;
let token: string;
let merchant: Merchant;

beforeAll(async () => {
  service = await startService({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
  service.setClock(NOW);
  shop = await givenDemoShop(service);
  token = await givenToken(service, 'DemoShop');
  merchant = await givenMerchant(service);
});
afterAll(() => service.close());
beforeEach(async () => {
  service.setClock(NOW);
  await changeSettings(shop, {
    priceLists: [
      { key: 'spring', name: 'Cafes in spring', active: true, customerGroups: ['Cafes'], to: '2026-11-16' },
      { key: 'advent', name: 'Advent', active: true, customerGroups: ['Cafes', 'Staff'], from: '2026-12-01' },
    ],
  });
  for (const { priceListId } of await lists()) {
    await manage('DELETE', `/price-lists/${priceListId}/prices`);
  }
});

const manage = (method: string, path: string, body?: unknown) =>
  service.call(method, `/manage/shops/DemoShop${path}`, { token, body });

const lists = async () => (await manage('GET', '/price-lists')).body.items as Record<string, string>[];

async function idOf(key: string): Promise<string> {
  return (await lists()).find((list) => list['key'] === key)!['priceListId']!;
}

async function setPrices(key: string, ...prices: object[]) {
  return manage('PATCH', `/price-lists/${await idOf(key)}/prices`, { prices });
}

const pricesIn = async (key: string) =>
  (await manage('GET', `/price-lists/${await idOf(key)}/prices`)).body.items;

const inGroup = (name: string | null) =>
  service.db.run(sql`
    update customer set customer_group_id = (
      select customer_group_id from customer_group where shop_id = 'DemoShop' and customer_group.name = ${name})
    where shop_id = 'DemoShop' and email_key = ${ADA}`);

const everything = () =>
  service.db.many(sql`select product_number, version, facts from product where shop_id = 'DemoShop'
    order by product_id`);

async function signedIn(): Promise<Visitor> {
  const visitor = givenVisitor(service, 'DemoShop');
  await signInAs(service, visitor, ADA);
  return visitor;
}

const shownPrice = ({ text }: PageAnswer) =>
  /class="price"[^>]*>\s*(?:<[^>]*>\s*)*([^<]*?)\s*</.exec(text)?.[1];

describe('the API', () => {
  test('sets, changes and takes away prices by quantity and currency', async () => {
    const answer = await setPrices(
      'spring',
      { productNumber: NUMBER, price: '7.50' },
      { productNumber: NUMBER, quantity: '010.50', price: 6.5, currency: 'eur' },
      { productNumber: 'KN-100', price: 0 },
    );
    expect([answer.status, answer.body]).toEqual([200, { changed: 2 }]);
    expect(await pricesIn('spring')).toEqual([
      {
        productId: expect.any(String),
        productNumber: 'KN-100',
        prices: [{ currency: 'EUR', quantity: '0', price: 0 }],
      },
      {
        productId: shop.ids[NUMBER],
        productNumber: NUMBER,
        prices: [
          { currency: 'EUR', quantity: '0', price: 7.5 },
          { currency: 'EUR', quantity: '10.5', price: 6.5 },
        ],
      },
    ]);
    expect((await setPrices('spring', { productNumber: 'KN-100', price: null })).body).toEqual({
      changed: 1,
    });
    // The same again changes nothing, and moves no version.
    const before = await everything();
    expect((await setPrices('spring', { productNumber: NUMBER, price: 7.5 })).body).toEqual({ changed: 0 });
    expect(await everything()).toEqual(before);
    expect(await lists()).toMatchObject([
      { key: 'spring', products: 1, from: null, to: '2026-11-16T00:00:00Z' },
      { key: 'advent', products: 0 },
    ]);
  });

  test.each([
    [{ productNumber: 'NO-1', price: 1 }, 'UNKNOWN_VALUE on field prices[1].productNumber'],
    [{ productNumber: NUMBER, currency: 'XXX', price: 1 }, 'UNKNOWN_VALUE on field prices[1].currency'],
    [{ productNumber: NUMBER, price: -1 }, 'OUT_OF_RANGE on field prices[1].price'],
    [{ productNumber: NUMBER, price: 1, quantity: -1 }, 'OUT_OF_RANGE on field prices[1].quantity'],
  ])('refuses all prices when one can not be: %j', async (bad, problem) => {
    const before = await everything();
    const answer = await setPrices('spring', { productNumber: NUMBER, price: 1 }, bad);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(problem);
    expect(await everything()).toEqual(before);
  });

  test('refuses more than 20 quantities of a product, and lists of other shops', async () => {
    const steps = Array.from({ length: 21 }, (_, index) => ({
      productNumber: NUMBER,
      quantity: index,
      price: 5,
    }));
    expect((await setPrices('spring', ...steps.slice(1))).status).toBe(200);
    const before = await everything();
    const { status, body } = await setPrices('spring', steps[0]!);
    expect([status, body.message]).toEqual([400, expect.stringContaining('at most 20 quantities')]);
    const unknown = await manage('DELETE', '/price-lists/018C16DF-9280-7011-A1E6-35C0FF99683F/prices');
    expect(unknown.status).toBe(404);
    expect(await everything()).toEqual(before);
  });

  test('forgets the prices of a list that the shop has removed with the next change of the product', async () => {
    await setPrices('spring', { productNumber: NUMBER, price: 7 });
    await setPrices('advent', { productNumber: NUMBER, price: 6 });
    const advent = await idOf('advent');
    await service.db.transaction((tx) =>
      applySettings(tx, 'DemoShop', {
        priceLists: [{ key: 'advent', name: 'Advent', active: true, customerGroups: ['Cafes'] }],
      }),
    );
    await setPrices('advent', { productNumber: NUMBER, price: 5 });
    const row = await service.db.one<{ listPrices: unknown }>(sql`
      select facts -> 'listPrices' as "listPrices" from product
      where shop_id = 'DemoShop' and product_number = ${NUMBER}`);
    expect(row!.listPrices).toEqual([
      { priceListId: advent, tiers: [{ quantity: '0', prices: { EUR: 500 } }] },
    ]);
  });
});

describe('customers', () => {
  test('pay the lowest price of the lists of their group, from its first to its last moment', async () => {
    await setPrices(
      'spring',
      { productNumber: NUMBER, price: 7.5 },
      { productNumber: NUMBER, quantity: 3, price: 7 },
    );
    await setPrices('advent', { productNumber: NUMBER, price: 6 });
    const visitor = await signedIn();
    await inGroup('Cafes');
    const guest = givenVisitor(service, 'DemoShop');
    const regular = shownPrice(await guest.get(`/Products/${NUMBER}`));
    const pageOf = async (one: Visitor) => shownPrice(await one.get(`/Products/${NUMBER}`));
    expect(await pageOf(visitor)).toBe('€7.50');
    await visitor.submit('/cart/add', { productId: shop.ids[NUMBER]!, quantity: '2' });
    expect(mainOf(await visitor.get('/cart'))).toContain('Subtotal €15.00');
    await visitor.submit('/cart/add', { productId: shop.ids[NUMBER]!, quantity: '1' });
    expect(mainOf(await visitor.get('/cart'))).toContain('Subtotal €21.00');
    expect(await pageOf(guest)).toBe(regular);

    // Spring is over at midnight, and nothing but the clock has changed.
    service.setClock(new Date(Date.parse('2026-11-16T00:00:00Z') - 1));
    expect(await pageOf(visitor)).toBe('€7.50');
    service.setClock(new Date('2026-11-16T00:00:00Z'));
    expect(await pageOf(visitor)).toBe(regular);
    expect(mainOf(await visitor.get('/cart'))).not.toContain('Subtotal €21.00');

    service.setClock(new Date(Date.parse('2026-12-01T00:00:00Z') + MINUTE));
    await signInAs(service, visitor, ADA);
    expect(await pageOf(visitor)).toBe('€6.00');
    await inGroup('Staff');
    expect(await pageOf(visitor)).toBe('€6.00');
    await inGroup(null);
    expect(await pageOf(visitor)).toBe(regular);
    expect(await pageOf(guest)).toBe(regular);
  });

  test('never pay more than without a list', async () => {
    const visitor = await signedIn();
    const regular = shownPrice(await visitor.get(`/Products/${NUMBER}`));
    await setPrices('spring', { productNumber: NUMBER, price: 999 });
    await inGroup('Cafes');
    expect(shownPrice(await visitor.get(`/Products/${NUMBER}`))).toBe(regular);
  });

  test('see no list that is switched off', async () => {
    await setPrices('spring', { productNumber: NUMBER, price: 1 });
    const visitor = await signedIn();
    await inGroup('Cafes');
    expect(shownPrice(await visitor.get(`/Products/${NUMBER}`))).toBe('€1.00');
    await changeSettings(shop, {
      priceLists: [{ key: 'spring', name: 'Cafes in spring', active: false, customerGroups: ['Cafes'] }],
    });
    expect(shownPrice(await visitor.get(`/Products/${NUMBER}`))).not.toBe('€1.00');
  });
});

describe('the admin', () => {
  const send = (path: string, content: string) => {
    const boundary = 'x-boundary';
    return service.app.inject({
      method: 'POST',
      url: `/admin/shops/DemoShop${path}`,
      headers: {
        host: 'localhost:8080',
        origin: 'http://localhost:8080',
        cookie: merchant.cookie,
        'content-type': `multipart/form-data; boundary=${boundary}`,
      },
      payload: `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="prices.csv"\r\nContent-Type: text/csv\r\n\r\n${content}\r\n--${boundary}--\r\n`,
    });
  };

  test('reads a file, says which lines it left out, and writes the same prices again', async () => {
    const path = `/price-lists/${await idOf('spring')}`;
    const german = await send(
      `${path}/import`,
      `Artikelnummer;Preis;Menge\n${NUMBER};7,50;\n${NUMBER};6,95;10\n`,
    );
    expect([german.statusCode, german.headers.location]).toEqual([303, `/admin/shops/DemoShop${path}`]);
    const mixed = await send(
      `${path}/import`,
      `productNumber,price,currency\nKN-100,12.00,EUR\nNO-1,1,EUR\n${NUMBER},1,XXX\nKN-110,cheap,\n`,
    );
    expect(mixed.statusCode).toBe(200);
    for (const text of [
      '1 product has new prices.',
      '3 lines were left out.',
      'There is no product with this number.',
      'The shop does not have this currency.',
      'This is not a price.',
    ]) {
      expect(mixed.body).toContain(text);
    }
    const file = (await merchant.get(`${path}/prices.csv`)).text;
    expect(
      file
        .replace(/^\u{feff}/u, '')
        .trim()
        .split(/\r?\n/),
    ).toEqual([
      'productNumber;currency;quantity;price',
      'KN-100;EUR;0;12',
      `${NUMBER};EUR;0;7.5`,
      `${NUMBER};EUR;10;6.95`,
    ]);
    const page = await merchant.get(path);
    expect(page.text).toContain('€6.95');
    expect((await merchant.get('/settings/priceLists')).text).toContain('2 products');
    expect((await merchant.post(`${path}/clear`)).status).toBe(303);
    expect(await pricesIn('spring')).toEqual([]);
  });
});
