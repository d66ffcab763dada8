import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { startService, type Answer, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { applySettings } from '../../shops/settings/file.ts';
import { combinations, mergedDimensions, selectionText } from './combinations.ts';

let service: Service;
let token: string;
let reader: string;
let master: string;

const NOW = new Date('2026-11-15T08:30:00Z');
const BASE = 'http://localhost:80/rs/shops/Harbour';

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  await service.db.run(sql`delete from shop`);
  service.setClock(NOW);
  await givenShop(service, 'Harbour');
  await service.db.transaction((tx) =>
    applySettings(tx, 'Harbour', {
      locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] },
      currencies: { default: 'EUR', items: ['EUR', 'GBP'], rates: { GBP: 0.5 } },
    }),
  );
  token = await givenToken(service, 'Harbour');
  reader = await givenToken(service, 'Harbour', ['products_read']);
  const lamp = await call('POST', '/products', {
    name: 'Lamp',
    productNumber: 'LA',
    visible: true,
    price: 79,
    stocklevel: 5,
    manufacturer: 'Lantern Point',
  });
  master = lamp.body.productId;
  await call('POST', '/producttypes', {
    name: 'Lamp type',
    alias: 'Lamp',
    attributes: [
      { name: 'Colour', values: [{ value: 'brass', name: 'Brass' }, { name: 'Slate' }] },
      { name: 'Size', values: [{ name: 'Small' }] },
    ],
  });
});
afterAll(() => service.close());

const call = (method: string, path: string, body?: unknown, as = token) =>
  service.call(method, `/Harbour${path}`, { token: as, body });

const asked = (...dimensions: [name: string, values: string[], existing?: string][]) => ({
  productType: 'Lamp',
  visibleAfterCreation: true,
  variationAttributes: dimensions.map(([name, values, existing]) => ({
    name,
    defaultForExistingProducts: existing ?? null,
    values: values.map((value) => ({ value })),
  })),
});

async function create(body: unknown, id = master): Promise<void> {
  const { status, text } = await call('POST', `/products/${id}/variations`, body);
  expect([status, text]).toEqual([204, '']);
}

async function lampType() {
  const { items } = (await call('GET', '/producttypes')).body;
  return items.find(({ alias }: { alias: string }) => alias === 'Lamp');
}

interface Listed {
  link: { href: string };
  attributeSelection: { name: string; value: string }[];
}

async function listed(query = '') {
  const { body } = await call('GET', `/products/${master}/variations${query}`);
  return body.items.map(({ link, attributeSelection }: Listed) => ({
    id: link.href.split('/').at(-1)!,
    values: attributeSelection.map(({ value }) => value).join(' '),
  })) as { id: string; values: string }[];
}

const everything = async () =>
  Promise.all(
    [
      sql`select * from product order by product_id`,
      sql`select * from product_type order by product_type_id`,
      sql`select * from listing order by product_id, locale`,
      sql`select * from counter order by name`,
    ].map((query) => service.db.many(query)),
  );

async function refusal(send: () => Promise<Answer>): Promise<[status: number, text: string]> {
  const before = await everything();
  const { status, body } = await send();
  expect(await everything()).toEqual(before);
  return [status, body.message.split(', Request: ')[0]];
}

describe('creating', () => {
  test('builds all combinations and makes a master of the product', async () => {
    await create(asked(['Colour', ['Brass', 'slate']], ['Size', ['Small', 'Large']]));
    const { body } = await call('GET', `/products/${master}/variations`);
    expect(body).toMatchObject({ results: 4, resultsPerPage: 100, page: 1, links: [] });
    expect(Object.keys(body).join()).toBe('results,resultsPerPage,page,links,variationAttributes,items');
    // Names and labels are taken for the keys of the type; what is new keeps its spelling.
    expect(body.variationAttributes).toEqual([
      {
        name: 'Colour',
        displayName: 'Colour',
        values: [
          { value: 'brass', displayValue: 'Brass' },
          { value: 'Slate', displayValue: 'Slate' },
        ],
      },
      {
        name: 'Size',
        displayName: 'Size',
        values: [
          { value: 'Small', displayValue: 'Small' },
          { value: 'Large', displayValue: 'Large' },
        ],
      },
    ]);
    expect(body.items[1]).toEqual({
      link: { rel: 'variation', href: expect.stringContaining(`${BASE}/products/`) },
      attributeSelection: [
        { name: 'Colour', displayName: 'Colour', value: 'brass', displayValue: 'Brass' },
        { name: 'Size', displayName: 'Size', value: 'Large', displayValue: 'Large' },
      ],
    });
    expect((await listed()).map(({ values }) => values)).toEqual([
      'brass Small',
      'brass Large',
      'Slate Small',
      'Slate Large',
    ]);
    expect((await listed('?page=2&resultsPerPage=3')).map(({ values }) => values)).toEqual(['Slate Large']);
    const product = (await call('GET', `/products/${master}`)).body;
    // 29, 81: a master is not for sale and has no stock.
    expect(product).toMatchObject({
      productVariationType: 'master',
      forSale: false,
      availability: null,
      availabilityText: '',
      stocklevel: null,
    });
    const type = await lampType();
    expect(product.links).toContainEqual({
      rel: 'producttype',
      href: `${BASE}/producttypes/${type.productTypeId}`,
    });
    expect(type.attributes[1].values.map(({ value }: { value: string }) => value)).toEqual([
      'Small',
      'Large',
    ]);
  });

  test('a variation inherits what it does not say itself, and links to its master', async () => {
    await create(asked(['Size', ['Small', 'Large']]));
    const [small] = await listed();
    const product = async () => (await call('GET', `/products/${small!.id}`)).body;
    expect(await product()).toMatchObject({
      name: 'Lamp',
      productNumber: 'LA-1',
      visible: true,
      productVariationType: 'variation',
      productVariationMasterName: 'Lamp',
      productVariationMasterId: master,
      productVariationSelection: [
        { name: 'Size', displayName: 'Size', value: 'Small', displayValue: 'Small' },
      ],
      manufacturer: 'Lantern Point',
      forSale: true,
      stocklevel: null,
      priceInfo: { price: { amount: 79 } },
    });
    expect(
      (await product()).links.map(({ rel, href }: { rel: string; href: string }) => [rel, href]),
    ).toEqual(
      expect.arrayContaining([
        ['variations', `${BASE}/products/${master}/variations`],
        ['master', `${BASE}/products/${master}`],
      ]),
    );
    await call('PATCH', `/products/${small!.id}`, [
      { op: 'add', path: '/name', value: 'Small lamp' },
      { op: 'add', path: '/priceInfo/price/amount', value: 59 },
    ]);
    await call('PATCH', `/products/${master}`, [
      { op: 'add', path: '/name', value: 'Lantern' },
      { op: 'add', path: '/manufacturer', value: 'Beacon' },
      { op: 'add', path: '/priceInfo/price/amount', value: 99 },
    ]);
    expect(await product()).toMatchObject({
      name: 'Small lamp',
      productVariationMasterName: 'Lantern',
      manufacturer: 'Beacon',
      priceInfo: { price: { amount: 59 } },
    });
    await call('PATCH', `/products/${small!.id}`, [
      { op: 'remove', path: '/name' },
      { op: 'remove', path: '/priceInfo/price/amount' },
    ]);
    expect(await product()).toMatchObject({ name: 'Lantern', priceInfo: { price: { amount: 99 } } });
  });

  test('adds to what exists: new values, and a default for what lacks an attribute', async () => {
    await create(asked(['Size', ['Small']]));
    const [first] = await listed();
    await create(asked(['Size', ['Small', 'Large']], ['Colour', ['Brass', 'Slate'], 'SLATE']));
    const all = await listed();
    expect(all.find(({ id }) => id === first!.id)!.values).toBe('Small Slate');
    expect(all.map(({ values }) => values).toSorted()).toEqual([
      'Large Slate',
      'Large brass',
      'Small Slate',
      'Small brass',
    ]);
    const before = await everything();
    await create(asked(['Colour', ['Brass']]));
    expect((await listed()).length).toBe(4);
    expect((await everything())[1]).toEqual(before[1]);
  });

  test('numbers that are taken are skipped', async () => {
    await call('POST', '/products', { productNumber: 'LA-2' });
    await create(asked(['Size', ['S', 'M', 'L']]));
    const rows = await service.db.many(
      sql`select product_number as n from product where kind = 'variation' order by n`,
    );
    expect(rows).toEqual([{ n: 'LA-1' }, { n: 'LA-3' }, { n: 'LA-4' }]);
  });

  test('rubbish is refused and changes nothing', async () => {
    await create(asked(['Size', ['Small']]));
    const [small] = await listed();
    const send =
      (body: unknown, id = master) =>
      () =>
        call('POST', `/products/${id}/variations`, body);
    const failed = (code: string, field: string) => [
      400,
      `Create variations failed:\n\tvalidation error ${code} on field ${field}`,
    ];
    expect(await refusal(send({}))).toEqual(failed('MISSING', 'productType'));
    expect(await refusal(send({ ...asked(['Size', ['S']]), productType: 'Kettle' }))).toEqual(
      failed('UNKNOWN_VALUE', 'productType'),
    );
    expect(await refusal(send(asked(['Size', []])))).toEqual(
      failed('LIST_EMPTY', 'variationAttributes.0.values'),
    );
    expect(await refusal(send(asked(['Colour', ['Brass']])))).toEqual(
      failed('MISSING', 'variationAttributes[0].defaultForExistingProducts'),
    );
    expect(await refusal(send(asked(['Colour', ['Brass'], 'Gold'])))).toEqual(
      failed('UNKNOWN_VALUE', 'variationAttributes[0].defaultForExistingProducts'),
    );
    expect(await refusal(send(asked(['Size', ['a']], ['size', ['b']])))).toEqual([
      400,
      'An attribute is named twice',
    ]);
    const many = Array.from({ length: 80 }, (_, n) => String(n));
    expect(await refusal(send(asked(['A', many, '0'], ['B', many, '0'])))).toEqual([
      400,
      'These are more than 5000 combinations',
    ]);
    const word = 'x'.repeat(200);
    const long = Array.from({ length: 12 }, (_, n): [string, string[], string] => [String(n), [word], word]);
    expect(await refusal(send(asked(...long)))).toEqual([
      400,
      'The names and values of a combination are too long',
    ]);
    expect(await refusal(send(asked(['Size', ['S']]), small!.id))).toEqual([
      400,
      'A variation can not have variations of its own',
    ]);
    expect((await refusal(send(asked(['Size', ['S']]), newId(NOW))))[0]).toBe(404);
  });

  test('two at once make each combination once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        call('POST', `/products/${master}/variations`, asked(['Size', ['S', 'M', 'L'], 'S'])),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(204));
    expect((await listed()).map(({ values }) => values)).toEqual(['S', 'M', 'L']);
  });
});

describe('reading', () => {
  test('a product without variations has no list of them', async () => {
    expect((await call('GET', `/products/${master}/variations`)).status).toBe(404);
    expect((await call('GET', `/products/${newId(NOW)}/variations`)).status).toBe(404);
  });

  test('only visible variations are listed, also by way of one of them', async () => {
    await create(asked(['Size', ['Small', 'Large']]));
    const [small, large] = await listed();
    await call('PATCH', `/products/${small!.id}`, [{ op: 'add', path: '/visible', value: false }]);
    const { body } = await call('GET', `/products/${large!.id}/variations`);
    expect(body).toMatchObject({ results: 1 });
    expect(body.items[0].attributeSelection[0].value).toBe('Large');
    await call('PATCH', `/products/${large!.id}`, [{ op: 'add', path: '/visible', value: false }]);
    expect((await call('GET', `/products/${master}/variations`)).status).toBe(404);
  });

  test('lists hold the master, not its variations', async () => {
    await create(asked(['Size', ['Small', 'Large']]));
    const { body } = await call('GET', '/products');
    expect(body.results).toBe(1);
    expect(body.items[0]).toMatchObject({
      productId: master,
      productVariationType: 'master',
      forSale: false,
    });
    expect(body.items[0].links.map(({ rel }: { rel: string }) => rel)).toContain('variations');
  });

  test('labels are those of the language', async () => {
    await create(asked(['Colour', ['brass']]));
    const type = await lampType();
    await call('PATCH', `/producttypes/${type.productTypeId}?locale=de_DE`, [
      {
        op: 'add',
        path: '/attributevalues',
        value: { name: 'Colour', values: [{ value: 'brass', name: 'Messing' }] },
      },
    ]);
    const [variation] = await listed();
    const german = (await call('GET', `/products/${variation!.id}?locale=de_DE`)).body;
    expect(german.productVariationSelection[0]).toMatchObject({ value: 'brass', displayValue: 'Messing' });
    const english = (await call('GET', `/products/${variation!.id}`)).body;
    expect(english.productVariationSelection[0].displayValue).toBe('Brass');
  });
});

describe('the lowest price', () => {
  const lowest = (id = master, query = '', as = token) =>
    call('GET', `/products/${id}/lowest-price${query}`, undefined, as);
  const setPrice = (id: string, value: number) =>
    call('PATCH', `/products/${id}`, [{ op: 'add', path: '/priceInfo/price/amount', value }]);
  const range = async () => {
    const { priceInfo, links } = (await call('GET', `/products/${master}`)).body;
    return [
      priceInfo.lowestPrice?.amount ?? null,
      priceInfo.highestPrice?.amount ?? null,
      priceInfo.lowestRefPriceFormatted,
      links.some(({ rel }: { rel: string }) => rel === 'lowest-price'),
    ];
  };

  test('needs a variation with a price of its own', async () => {
    expect((await lowest()).status).toBe(404);
    await create(asked(['Size', ['Small', 'Large']]));
    const [small, large] = await listed();
    expect((await lowest()).status).toBe(404);
    expect(await range()).toEqual([null, null, null, false]);
    // A price of its own that is the master's is none.
    await setPrice(small!.id, 79);
    expect((await lowest()).status).toBe(404);
    await setPrice(large!.id, 59.5);
    expect(await range()).toEqual([59.5, 79, '1 piece(s) = 59.50 €', true]);
    const answer = await lowest(master, '?currency=GBP');
    expect(answer.body).toEqual({
      priceInfo: {
        price: { taxType: 'GROSS', formatted: '29.75 £', amount: 29.75, currency: 'GBP' },
        quantity: { amount: 1, unit: 'piece(s)' },
      },
      bulkPriceInfo: [],
      customerSpecificPriceInfo: [],
      links: [{ rel: 'product', href: `${BASE}/products/${large!.id}` }],
    });
    // In the list, the master stands where its cheapest variation would.
    await call('POST', '/products', { name: 'Bulb', visible: true, price: 70 });
    const { items } = (await call('GET', '/products?sort=price')).body;
    expect(items.map(({ name }: { name: string }) => name)).toEqual(['Lamp', 'Bulb']);
    await call('PATCH', `/products/${large!.id}`, [{ op: 'add', path: '/visible', value: false }]);
    expect((await lowest()).status).toBe(404);
    expect((await lowest(small!.id)).status).toBe(404);
  });

  test('can be switched off by the shop', async () => {
    await create(asked(['Size', ['Small', 'Large']]));
    await setPrice((await listed())[0]!.id, 10);
    expect((await lowest()).status).toBe(200);
    await service.db.transaction((tx) => applySettings(tx, 'Harbour', { showFromPrices: false }));
    expect((await lowest()).status).toBe(404);
    expect(await range()).toEqual([10, 79, '1 piece(s) = 10.00 €', false]);
  });

  test('of an invisible master is for those who may write', async () => {
    await create(asked(['Size', ['Small', 'Large']]));
    await setPrice((await listed())[0]!.id, 10);
    await call('PATCH', `/products/${master}`, [{ op: 'add', path: '/visible', value: false }]);
    expect((await lowest(master, '', reader)).status).toBe(404);
    expect((await lowest()).status).toBe(200);
  });

  test('deleting a variation shows in its master, deleting the master takes them all', async () => {
    await create(asked(['Size', ['Small', 'Large']]));
    const [small] = await listed();
    await setPrice(small!.id, 10);
    expect(await range()).toEqual([10, 79, '1 piece(s) = 10.00 €', true]);
    await call('DELETE', `/products/${small!.id}`);
    expect(await range()).toEqual([null, null, null, false]);
    await call('DELETE', `/products/${master}`);
    expect(await service.db.many(sql`select 1 from product`)).toEqual([]);
    expect(await service.db.many(sql`select 1 from listing`)).toEqual([]);
  });
});

describe('custom attributes', () => {
  const attributes = (method: string, id: string, body?: unknown, query = '') =>
    call(method, `/products/${id}/custom-attributes${query}`, body);
  const add = (key: string, displayValue: unknown) => ({
    op: 'add',
    path: '/',
    value: { key, displayValue },
  });
  const string = (key: string, value: string | null, displayValue: string) => ({
    key,
    displayKey: key,
    singleValue: true,
    type: 'string',
    values: [{ value, displayValue }],
  });

  test('of the type are listed, of the product added', async () => {
    expect((await attributes('GET', master)).body).toEqual({ items: [] });
    expect((await attributes('PATCH', master, [add('Wood', 'Oak')])).body).toEqual({
      items: [string('Wood', 'Oak', 'Oak')],
    });
    await attributes('PATCH', master, [add('Wood', 'Eiche')], '?locale=de_DE');
    expect((await attributes('GET', master, undefined, '?locale=de_DE')).body.items).toEqual([
      string('Wood', 'Oak', 'Eiche'),
    ]);
    const type = await lampType();
    await call('PATCH', `/products/${master}`, [
      { op: 'replace', path: '/producttype', value: type.productTypeId },
    ]);
    await attributes('PATCH', master, [add('Colour', 'BRASS')]);
    expect((await attributes('GET', master)).body.items).toEqual([
      string('Colour', 'brass', 'Brass'),
      string('Size', null, ''),
      string('Wood', 'Oak', 'Oak'),
    ]);
  });

  test('a removed attribute keeps its key with an empty value', async () => {
    await attributes('PATCH', master, [add('Wood', 'Oak'), add('Care', 'Oil')]);
    const removal = [{ op: 'remove', path: '/', value: { key: 'Wood' } }];
    const { body } = await attributes('PATCH', master, removal);
    expect(body.items).toEqual([string('Wood', null, ''), string('Care', 'Oil', 'Oil')]);
    expect((await attributes('GET', master)).body).toEqual(body);
    expect((await attributes('PATCH', master, removal)).body).toEqual(body);
  });

  test('a variation shows what it was chosen by', async () => {
    await create(asked(['Size', ['Small', 'Large']]));
    const [small] = await listed();
    expect((await attributes('GET', small!.id)).body.items).toEqual([
      string('Colour', null, ''),
      string('Size', 'Small', 'Small'),
    ]);
    expect(await refusal(() => attributes('PATCH', small!.id, [add('Size', 'Large')]))).toEqual([
      400,
      "Size is what this variation was chosen by, so it can't be changed",
    ]);
  });

  test.each([
    ['{}', {}],
    ['nothing', []],
    ['another path', [{ op: 'add', path: '/Wood', value: { key: 'Wood', displayValue: 'Oak' } }]],
    ['no key', [{ op: 'add', path: '/', value: { displayValue: 'Oak' } }]],
    ['no value', [{ op: 'add', path: '/', value: { key: 'Wood' } }]],
    ['removing nothing', [{ op: 'remove', path: '/' }]],
    ['removing null', [{ op: 'remove', path: '/', value: null }]],
    ['an object as value', [add('Wood', { a: 1 })]],
  ])('refuses %s', async (_case, body) => {
    expect((await refusal(() => attributes('PATCH', master, body)))[0]).toBe(400);
  });
});

describe('combinations', () => {
  test('the last dimension moves fastest', () => {
    expect(
      combinations([
        { key: 'a', values: ['1', '2'] },
        { key: 'b', values: ['x', 'y'] },
      ]),
    ).toEqual([
      { a: '1', b: 'x' },
      { a: '1', b: 'y' },
      { a: '2', b: 'x' },
      { a: '2', b: 'y' },
    ]);
  });

  test('merging keeps the order of what is there', () => {
    const there = [{ key: 'a', values: ['1'] }];
    const more = [
      { key: 'b', values: ['x'] },
      { key: 'a', values: ['2', '1'] },
    ];
    expect(mergedDimensions(there, more)).toEqual([
      { key: 'a', values: ['1', '2'] },
      { key: 'b', values: ['x'] },
    ]);
    expect(there).toEqual([{ key: 'a', values: ['1'] }]);
  });

  test('a selection is the same in any order', () => {
    expect(selectionText({ a: '1', b: '2' })).toBe(selectionText({ b: '2', a: '1' }));
  });
});
