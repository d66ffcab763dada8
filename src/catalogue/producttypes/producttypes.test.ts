import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { startService, type Answer, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { refreshListing } from '../products/listing.ts';

let service: Service;
let token: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  await service.db.run(sql`delete from shop`);
  await givenShop(service, 'Harbour');
  await givenShop(service, 'Other');
  await service.db.run(sql`update shop set locales = ${['en_GB', 'de_DE']} where shop_id = 'Harbour'`);
  token = await givenToken(service, 'Harbour');
});
afterAll(() => service.close());

const get = (path: string) => service.call('GET', `/Harbour/producttypes${path}`, { token });
const post = (body: unknown, query = '') =>
  service.call('POST', `/Harbour/producttypes${query}`, { token, body });
const patch = (id: string, body: unknown, query = '') =>
  service.call('PATCH', `/Harbour/producttypes/${id}${query}`, {
    token,
    body,
    headers: { 'content-type': 'application/json-patch+json' },
  });
const add = (value: object) => ({ op: 'add', path: '/attributevalues', value });
const removeValues = (value: object) => ({ op: 'remove', path: '/attributevalues', value });
const removeAttribute = (name: string) => ({ op: 'remove', path: '/attribute', value: { name } });

const choices = (...names: string[]) => names.map((name) => ({ value: name, name }));
const COLOUR = { visible: true, name: 'Colour', values: choices('Brass', 'Slate'), preDefAttribute: true };
const SIZE = { visible: false, name: 'Size', values: choices('Small', 'Large'), preDefAttribute: true };

async function givenType(facts: object = {}): Promise<string> {
  const { status, body } = await post({ name: 'Lamp', attributes: [COLOUR, SIZE], ...facts });
  expect(status).toBe(201);
  return body.productTypeId;
}

async function givenProduct(
  number: string,
  {
    type,
    master,
    selection,
    facts = {},
  }: { type?: string; master?: string; selection?: object; facts?: object },
): Promise<string> {
  const productId = newId(service.db.now);
  await service.db.transaction(async (tx) => {
    await tx.run(sql`
      insert into product (shop_id, product_id, product_number, kind, master_id, selection, created_at, version,
        visible, product_type_id, facts)
      values ('Harbour', ${productId}, ${number}, ${master ? 'variation' : 'regular'}, ${master ?? null},
        ${selection ?? null}, ${tx.now}, 1, true, ${type ?? null}, ${facts})`);
    await refreshListing(tx, 'Harbour', [productId]);
  });
  return productId;
}
const custom = (key: string, ...values: string[]) => ({
  attributes: [
    {
      key,
      name: {},
      type: 'string',
      singleValue: true,
      values: values.map((value) => ({ value, name: {} })),
    },
  ],
});

const everything = async () => [
  await service.db.many(sql`select * from product_type order by shop_id, product_type_id`),
  await service.db.many(sql`select * from counter order by shop_id, name`),
  await service.db.many(sql`select shop_id, settings_version from shop order by shop_id`),
  await service.db.many(sql`select * from listing order by shop_id, product_id, locale`),
];

/** The status and text of a refusal; on the way it is checked that nothing has changed. */
async function refusal(sent: () => Promise<Answer>): Promise<[status: number, text: string]> {
  const before = await everything();
  const { status, body } = await sent();
  expect(await everything()).toEqual(before);
  return [status, body.message.split(', Request: ')[0]];
}
const problem = (action: string, code: string, field: string) =>
  [400, `${action} failed:\n\tvalidation error ${code} on field ${field}`] as const;

describe('reading', () => {
  test('a new shop has one type, for what has no other', async () => {
    const { status, body } = await get('');
    expect([status, body]).toEqual([
      200,
      {
        results: 1,
        page: 1,
        resultsPerPage: 10,
        items: [{ name: 'Default', productTypeId: expect.any(String), attributes: [], alias: 'Default' }],
      },
    ]);
    expect((await get(`/${body.items[0].productTypeId.toLowerCase()}`)).body).toEqual(body.items[0]);
  });

  test('pages, oldest first', async () => {
    for (let index = 1; index <= 12; index++) await givenType({ name: `Type ${index}` });
    const names = async (query: string) => {
      const { results, items } = (await get(query)).body;
      expect(results).toBe(13);
      return items.map(({ name }: { name: string }) => name);
    };
    expect((await names('')).slice(0, 3)).toEqual(['Default', 'Type 1', 'Type 2']);
    expect(await names('?page=2')).toEqual(['Type 10', 'Type 11', 'Type 12']);
    expect(await names('?page=5&resultsPerPage=3')).toEqual(['Type 12']);
    expect(await names('?resultsPerPage=1000')).toHaveLength(13);
    expect(await names('?page=9')).toEqual([]);
  });

  test('needs no token, and knows nothing of another shop', async () => {
    const type = await givenType();
    expect((await service.call('GET', `/Harbour/producttypes/${type}`)).status).toBe(200);
    expect((await service.call('GET', `/Other/producttypes/${type}`)).status).toBe(404);
    expect((await get(`/${newId(new Date())}`)).status).toBe(404);
  });
});

describe('creating', () => {
  test('answers the type, which can be read again at once', async () => {
    const { status, body } = await post({ name: 'Lamp', attributes: [COLOUR, SIZE], alias: 'lamps' });
    expect(status).toBe(201);
    expect(body).toEqual({
      name: 'Lamp',
      productTypeId: expect.stringMatching(/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/),
      attributes: [COLOUR, SIZE],
      alias: 'lamps',
    });
    expect(Object.keys(body)).toEqual(['name', 'productTypeId', 'attributes', 'alias']);
    expect(Object.keys(body.attributes[0])).toEqual(['visible', 'name', 'values', 'preDefAttribute']);
    expect((await get(`/${body.productTypeId}`)).body).toEqual(body);
    expect((await get('')).body.items[1]).toEqual(body);
  });

  test('preDefAttribute is true when it is not said, and a value is its name', async () => {
    const attributes = [
      { name: 'Wood', values: [{ name: 'Oak' }, { value: null, name: 'Ash' }] },
      { name: 'Care', visible: null, values: null, preDefAttribute: null },
      { name: 'Note', preDefAttribute: false },
    ];
    expect((await post({ name: 'Board', attributes })).body.attributes).toEqual([
      { visible: false, name: 'Wood', values: choices('Oak', 'Ash'), preDefAttribute: true },
      { visible: false, name: 'Care', values: [], preDefAttribute: true },
      { visible: false, name: 'Note', values: [], preDefAttribute: false },
    ]);
  });

  test('makes an alias of the name, and counts up one that is taken', async () => {
    const aliases = [];
    for (const facts of [{}, {}, { alias: 'Lamp' }, { alias: null }, { alias: 'Default' }, { name: '?' }]) {
      aliases.push((await post({ name: 'Lamp', ...facts })).body.alias);
    }
    expect(aliases).toEqual(['Lamp', 'Lamp1', 'Lamp2', 'Lamp3', 'Default1', 'type']);
    const made = await Promise.all(Array.from({ length: 6 }, () => post({ name: 'Rope' })));
    expect(made.map(({ body }) => String(body.alias)).toSorted()).toEqual([
      'Rope',
      'Rope1',
      'Rope2',
      'Rope3',
      'Rope4',
      'Rope5',
    ]);
  });

  test('gives every attribute a number of its own', async () => {
    await givenType();
    const second = await givenType();
    await patch(second, [add({ name: 'Socket' }), add({ name: 'Cable' })]);
    const rows = await service.db.many<{ numbers: string }>(sql`
      select jsonb_path_query_array(attributes, '$[*].number')::text as numbers from product_type
      where shop_id = 'Harbour' order by created_at, product_type_id`);
    expect(rows.map(({ numbers }) => numbers)).toEqual(['[]', '[1, 2]', '[3, 4, 5, 6]']);
  });

  test('writes names in the locale of the call', async () => {
    const attributes = [{ name: 'Farbe', values: [{ value: 'brass', name: 'Messing' }] }];
    const { body } = await post({ name: 'Leuchte', alias: 'lamp', attributes }, '?locale=de_DE');
    expect(body).toMatchObject({ name: 'Leuchte', attributes: [{ name: 'Farbe' }] });
    expect((await get(`/${body.productTypeId}`)).body).toMatchObject({
      name: 'lamp',
      attributes: [{ name: 'Farbe', values: [{ value: 'brass', name: 'brass' }] }],
    });
    await patch(body.productTypeId, [add({ name: 'Farbe', values: [{ value: 'brass', name: 'Brass' }] })]);
    const valuesIn = async (locale: string) =>
      (await get(`/${body.productTypeId}?locale=${locale}`)).body.attributes[0].values;
    expect(await valuesIn('en_GB')).toEqual([{ value: 'brass', name: 'Brass' }]);
    expect(await valuesIn('de_DE')).toEqual([{ value: 'brass', name: 'Messing' }]);
  });

  test('refuses what does not fit', async () => {
    const wrong = (code: string, field: string) => problem('Create product type', code, field);
    expect(await refusal(() => post({}))).toEqual(wrong('MISSING', 'name'));
    expect(await refusal(() => post({ name: '' }))).toEqual(wrong('STRING_EMPTY', 'name'));
    expect(await refusal(() => post({ name: 'x', attributes: [{ values: [] }] }))).toEqual(
      wrong('MISSING', 'attributes.0.name'),
    );
    expect(await refusal(() => post({ name: 'x', attributes: [{ name: 'y', values: [{}] }] }))).toEqual(
      wrong('MISSING', 'attributes.0.values.0.name'),
    );
    const many = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `n${index}` }));
    expect(await refusal(() => post({ name: 'x', attributes: many(101) }))).toEqual(
      wrong('TOO_LONG', 'attributes'),
    );
    expect(await refusal(() => post({ name: 'x', attributes: [{ name: 'y', values: many(2001) }] }))).toEqual(
      wrong('TOO_LONG', 'attributes.0.values'),
    );
    const twice = [
      { name: 'y', values: many(2000) },
      { name: 'y', values: [{ name: 'one more' }] },
    ];
    expect(await refusal(() => post({ name: 'x', attributes: twice }))).toEqual(
      wrong('TOO_LONG', 'attributes'),
    );
    expect((await refusal(() => post({ name: 'x' }, '?locale=fr_FR')))[0]).toBe(400);
  });
});

describe('changing', () => {
  test('creates attributes that are missing, appends values, removes an attribute', async () => {
    const type = await givenType();
    const { status, body } = await patch(type, [
      add({
        name: 'Colour',
        visible: true,
        preDefAttribute: true,
        values: [{ value: 'Copper', name: 'Copper' }],
      }),
      add({ name: 'Use', values: [{ name: 'Desk' }, { name: 'Ceiling' }] }),
      removeAttribute('Size'),
    ]);
    expect(status).toBe(200);
    expect(body).toEqual({
      name: 'Lamp',
      productTypeId: type,
      attributes: [
        { ...COLOUR, values: choices('Brass', 'Slate', 'Copper') },
        { visible: false, name: 'Use', values: choices('Desk', 'Ceiling'), preDefAttribute: true },
      ],
      alias: 'Lamp',
    });
    expect((await get(`/${type}`)).body).toEqual(body);
  });

  test('replace is as good as add, a known value only gets its label', async () => {
    const type = await givenType();
    const { body } = await patch(type, [
      {
        op: 'replace',
        path: '/attributevalues',
        value: { name: 'Colour', values: [{ value: 'Brass', name: 'Gold' }] },
      },
      add({ name: 'Colour', visible: false, values: [{ name: 'Slate' }, { name: 'Gold' }] }),
    ]);
    expect(body.attributes[0]).toEqual({
      visible: false,
      name: 'Colour',
      values: [
        { value: 'Brass', name: 'Gold' },
        { value: 'Slate', name: 'Slate' },
      ],
      preDefAttribute: true,
    });
  });

  test('labels are those of the locale', async () => {
    const type = await givenType();
    await patch(
      type,
      [add({ name: 'Colour', values: [{ value: 'Brass', name: 'Messing' }] })],
      '?locale=de_DE',
    );
    const labels = async (locale: string) =>
      (await get(`/${type}?locale=${locale}`)).body.attributes[0].values.map(
        ({ name }: { name: string }) => name,
      );
    expect([await labels('en_GB'), await labels('de_DE')]).toEqual([
      ['Brass', 'Slate'],
      ['Messing', 'Slate'],
    ]);
    // By its label, as a client sees it.
    await patch(type, [removeValues({ name: 'Colour', values: [{ name: 'Messing' }] })], '?locale=de_DE');
    expect(await labels('en_GB')).toEqual(['Slate']);
  });

  test('removes the values named, and nothing when none is', async () => {
    const type = await givenType();
    const { body } = await patch(type, [
      removeValues({ name: 'Colour', values: [{ value: 'Brass' }, { name: 'no such one' }, {}] }),
      removeValues({ name: 'Size' }),
      removeValues({ name: 'Unknown', values: [{ name: 'x' }] }),
      removeAttribute('Unknown'),
    ]);
    expect(body.attributes).toEqual([{ ...COLOUR, values: choices('Slate') }, SIZE]);
  });

  test('what a product uses can not be removed', async () => {
    const type = await givenType();
    const master = await givenProduct('M', { type });
    await service.db.run(sql`update product set kind = 'master' where product_id = ${master}`);
    await givenProduct('V', { master, selection: { Colour: 'Brass' } });
    await givenProduct('B', { type, facts: custom('Size', 'Small') });
    // Of another type, and of a type of its own: neither counts.
    await givenProduct('O', { facts: custom('Size', 'Large') });
    const uses = (number: string) => [409, `The product ${number} uses what is to be removed`];
    const send = (...changes: object[]) => refusal(() => patch(type, changes));
    expect(await send(removeAttribute('Colour'))).toEqual(uses('V'));
    expect(await send(removeValues({ name: 'Colour', values: [{ value: 'Brass' }] }))).toEqual(uses('V'));
    expect(await send(removeAttribute('Size'))).toEqual(uses('B'));
    expect(
      await send(add({ name: 'New' }), removeValues({ name: 'Size', values: [{ name: 'Small' }] })),
    ).toEqual(uses('B'));
    const { status, body } = await patch(type, [
      removeValues({ name: 'Colour', values: [{ value: 'Slate' }] }),
      removeValues({ name: 'Size', values: [{ value: 'Large' }] }),
    ]);
    expect(status).toBe(200);
    expect(body.attributes).toEqual([
      { ...COLOUR, values: choices('Brass') },
      { ...SIZE, values: choices('Small') },
    ]);
  });

  test('products without a type are of the type Default', async () => {
    const type = (await get('')).body.items[0].productTypeId;
    await patch(type, [add({ name: 'Size', values: [{ name: 'Small' }] })]);
    await givenProduct('P', { facts: custom('Size', 'Small') });
    expect(await refusal(() => patch(type, [removeAttribute('Size')]))).toEqual([
      409,
      'The product P uses what is to be removed',
    ]);
  });

  test('search finds products by an attribute as soon as it is predefined', async () => {
    const type = await givenType({ attributes: [{ name: 'Wood', preDefAttribute: false }] });
    await givenProduct('P', { type, facts: custom('Wood', 'Oak') });
    await givenProduct('Q', { type, facts: custom('Finish', 'Oil') });
    const facets = async () =>
      (
        await service.db.many<{ facets: string }>(sql`
          select product_number || ' ' || facets::text as facets
          from listing join product using (shop_id, product_id)
          where shop_id = 'Harbour' and locale = 'en_GB' order by product_number`)
      ).map((row) => row.facets);
    expect(await facets()).toEqual(['P {}', 'Q {}']);
    await patch(type, [add({ name: 'Wood', preDefAttribute: true })]);
    expect(await facets()).toEqual(['P {a:1:Oak}', 'Q {}']);
    await patch(type, [add({ name: 'Finish', values: [{ name: 'Oil' }] })]);
    expect(await facets()).toEqual(['P {a:1:Oak}', 'Q {a:2:Oil}']);
    await patch(type, [add({ name: 'Wood', preDefAttribute: false })]);
    expect(await facets()).toEqual(['P {}', 'Q {a:2:Oil}']);
  });

  test('refuses other paths and operations, and what does not fit, all or nothing', async () => {
    const type = await givenType();
    const good = add({ name: 'Good', values: [{ name: 'x' }] });
    const send = (change: unknown) => refusal(() => patch(type, [good, change]));
    const wrong = (code: string, field: string) => problem('Update product type', code, `[1] ${field}`);
    expect(await send({ op: 'add', path: '/name', value: 'x' })).toEqual(wrong('UNKNOWN_PATH', '/name'));
    expect(await send({ op: 'add', path: '/attribute', value: { name: 'x' } })).toEqual(
      wrong('WRONG_OPERATION', '/attribute'),
    );
    expect(await send({ op: 'remove', path: '/attribute' })).toEqual(wrong('MISSING', '/attribute.value'));
    expect(await send({ op: 'remove', path: '/attribute', value: {} })).toEqual(
      wrong('MISSING', '/attribute.name'),
    );
    expect(await send({ op: 'remove', path: '/attribute', value: 'Size' })).toEqual(
      wrong('WRONG_TYPE', '/attribute'),
    );
    expect(await send({ op: 'add', path: '/attributevalues', value: null })).toEqual(
      wrong('WRONG_TYPE', '/attributevalues'),
    );
    expect(await send(add({}))).toEqual(wrong('MISSING', '/attributevalues.name'));
    expect(await send(add({ name: 'x', values: [{ value: 'y' }] }))).toEqual(
      wrong('MISSING', '/attributevalues.values.0.name'),
    );
    const many = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `n${index}` }));
    expect(await send(add({ name: 'Colour', values: many(1999) }))).toEqual(
      wrong('TOO_LONG', '/attributevalues'),
    );
    const hundred = many(98).map(add);
    expect(await refusal(() => patch(type, [...hundred, good]))).toEqual(
      problem('Update product type', 'TOO_LONG', '[98] /attributevalues'),
    );
    expect(await refusal(() => patch(type, {}))).toEqual(
      problem('Update product type', 'WRONG_TYPE', 'body'),
    );
    expect(await refusal(() => patch(type, [good], '?locale=fr_FR'))).toEqual([
      400,
      expect.stringContaining('fr_FR'),
    ]);
    expect(await refusal(() => patch(newId(new Date()), [good]))).toEqual([404, 'HTTP 404 Not Found']);
  });
});
