import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changesNothing, givenSmallShop, type Shop } from '../../../test/carts.ts';
import { startService, type Answer, type Service } from '../../../test/service.ts';
import { readPage } from '../../../test/storefront.ts';
import { createApp, deleteApp } from '../../apps/apps.ts';
import { importFile } from '../../catalogue/products/import.ts';
import { runDueRebuilds } from '../../catalogue/products/listing-rebuild.ts';
import { sql } from '../../db/sql.ts';
import { SCOPES } from '../../http/scopes.ts';

let service: Service;
let shop: Shop;
let folder: string;
let productIds: Record<string, string>;
let fieldIds: Record<string, string>;

const wood = {
  key: 'wood',
  type: 'choice',
  name: { en_GB: 'Wood', de_DE: 'Holz' },
  choices: [
    { key: 'oak', label: { en_GB: 'Oak', de_DE: 'Eiche' } },
    { key: 'ash', label: { en_GB: 'Ash', de_DE: 'Esche' } },
    { key: 'elm', label: { en_GB: 'Elm', de_DE: 'Ulme' } },
  ],
  isList: true,
};
const DEFINITIONS: Record<string, Record<string, unknown>> = {
  wood,
  vegan: { key: 'vegan', type: 'boolean', name: { en_GB: 'Vegan' } },
  width: { key: 'width', type: 'number', name: { en_GB: 'Width' } },
  style: { key: 'style', type: 'text', name: { en_GB: 'Style', de_DE: 'Stil' }, isLocalised: true },
  secret: { key: 'secret', type: 'text', name: { en_GB: 'Secret' }, readableBy: 'merchant', isFacet: false },
};

const PRODUCTS = `Alias;Name/en;ListPrices/EUR/gross;Categories;field.make.wood;field.make.vegan;field.make.width;field.make.style/en_GB;field.make.style/de_DE
BENCH-A;Bench A;10;Benches;oak;1;1200;Modern;Neuzeitlich
BENCH-B;Bench B;20;Benches;oak,ash;0;1200.5;Rustic;
BENCH-C;Bench C;30;Benches;ash;1;90;Modern;Neuzeitlich
BENCH-D;Bench D;40;Benches;elm;;;;
STOOL-A;Stool A;50;;oak;1;;"Mid  <b> century";
`;

beforeAll(async () => {
  service = await startService();
  folder = await mkdtemp(path.join(tmpdir(), 'kontor-facets-'));
  shop = await givenSmallShop(service, {
    locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] },
  });
  fieldIds = {};
  for (const [key, field] of Object.entries(DEFINITIONS)) fieldIds[key] = (await define(field)).body.fieldId;
  await imported(PRODUCTS);
  await service.db.run(sql`update category set visible = true where shop_id = ${shop.shopId}`);
  await service.db.run(
    sql`update shop set settings_version = settings_version + 1 where shop_id = ${shop.shopId}`,
  );
  const rows = await service.db.many<{ id: string; number: string }>(sql`
    select upper(product_id::text) as id, product_number as number from product where shop_id = ${shop.shopId}`);
  productIds = Object.fromEntries(rows.map(({ id, number }) => [number, id]));
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const manage = (method: string, place: string, body?: unknown) =>
  service.call(method, `/manage/shops/${shop.shopId}${place}`, { token: shop.token, body });

const define = (field: object) =>
  manage('POST', '/custom-fields', {
    resource: 'product',
    namespace: 'make',
    readableBy: 'public',
    writableBy: 'merchant',
    isFacet: true,
    ...field,
  });

let files = 0;
async function imported(text: string) {
  const file = path.join(folder, `${++files}.csv`);
  await writeFile(file, text);
  const report = await importFile(service.db, file, { shopId: shop.shopId, visible: true });
  expect(report.problems).toEqual([]);
}

const setValues = async (number: string, fields: object) => {
  const answer = await manage('PATCH', `/products/${productIds[number]}/custom-fields`, { fields });
  expect(answer.status).toBe(200);
};

/** What the definition of a field says, with changes. */
const redefine = async (key: string, changes: object) => {
  const { isList: _list, isLocalised: _localised, key: _key, type: _type, ...field } = DEFINITIONS[key]!;
  return manage('PUT', `/custom-fields/${fieldIds[key]}`, {
    readableBy: 'public',
    writableBy: 'merchant',
    isFacet: true,
    ...field,
    ...changes,
  });
};

const rebuilds = async () =>
  (await service.db.many(sql`select 1 from listing_rebuild where shop_id = ${shop.shopId}`)).length;

const CATEGORY = '/Categories/Benches';

const read = (place: string) => readPage(service, `/${shop.shopId}${place}`);

/** The same list with these parameters in its address. */
const withParameters = (place: string, parameters: readonly (readonly [string, string])[]) =>
  read(
    `${place}${place.includes('?') ? '&' : '?'}${new URLSearchParams(parameters.map(([...pair]) => pair)).toString()}`,
  );

const filtered = (facets: readonly string[], place = CATEGORY) =>
  withParameters(
    place,
    facets.map((facet) => ['f', facet] as const),
  );

const namesOf = (main: string) =>
  [...main.matchAll(/<h2><a href="[^"]*">([^<]*)<\/a><\/h2>/g)].map(([, name]) => name);

/** The filters of a page by their names: `Oak 2`, and `Oak ×` where it is chosen. */
function filtersOf(main: string): Record<string, string[]> {
  const sections = [...main.matchAll(/<section>\s*<h2>([^<]*)<\/h2>\s*<ul>([^]*?)<\/section>/g)];
  return Object.fromEntries(
    sections.map(([, title, values]) => [
      title!,
      [...values!.matchAll(/<li[^>]*>\s*<a\s[^>]*>([^]*?)<\/a>/g)].map(([, text]) =>
        text!
          .replaceAll(/<span class="visually-hidden">[^<]*<\/span>|<[^>]*>|[()]/g, '')
          .replaceAll(/\s+/g, ' ')
          .trim(),
      ),
    ]),
  );
}

/** The address behind a value. */
const hrefOf = (main: string, name: string) =>
  [...main.matchAll(/<a\s+href="([^"]+)"\s*>([^]*?)<\/a>/g)]
    .find(([, , text]) => text!.includes(name))![1]!
    .replaceAll('&amp;', '&')
    .replace('/shop', '');

const facetsOf = async (number: string, locale = 'en_GB') => {
  const row = await service.db.one<{ facets: string[] }>(sql`
    select facets from listing
    where shop_id = ${shop.shopId} and product_id = ${productIds[number]} and locale = ${locale}`);
  return row!.facets.filter((facet) => facet.startsWith('f:'));
};

describe('a list', () => {
  test('has custom fields among its filters, in the language of the page', async () => {
    const { main } = await read(CATEGORY);
    expect(namesOf(main)).toEqual(['Bench A', 'Bench B', 'Bench C', 'Bench D']);
    expect(filtersOf(main)).toEqual({
      Wood: ['Oak 2', 'Ash 2', 'Elm 1'],
      Vegan: ['Yes 2', 'No 1'],
      Width: ['90 1', '1,200 1', '1,200.5 1'],
      Style: ['Modern 2', 'Rustic 1'],
    });
    expect(filtersOf((await read(`${CATEGORY}?locale=de_DE`)).main)).toEqual({
      Holz: ['Eiche 2', 'Esche 2', 'Ulme 1'],
      Vegan: ['Ja 2', 'Nein 1'],
      Width: ['90 1', '1.200 1', '1.200,5 1'],
      Stil: ['Neuzeitlich 2', 'Rustic 1'],
    });
    expect(main).not.toContain('Secret');
  });

  test('is filtered by a link, and a second value of the field widens it', async () => {
    const { main } = await read(CATEGORY);
    const href = hrefOf(main, 'Oak');
    expect(href).toBe(`/${shop.shopId}${CATEGORY}?f=f%3Amake.wood%3Aoak`);
    const oak = await readPage(service, href);
    expect(oak.text).toContain('<meta name="robots" content="noindex" />');
    expect(namesOf(oak.main)).toEqual(['Bench A', 'Bench B']);
    // Of the chosen field the numbers are those of all benches, as others would come beside the hits.
    expect(filtersOf(oak.main)).toEqual({
      Wood: ['Oak ×', 'Ash 2', 'Elm 1'],
      Vegan: ['Yes 1', 'No 1'],
      Width: ['1,200 1', '1,200.5 1'],
      Style: ['Modern 1', 'Rustic 1'],
    });
    const both = await readPage(service, hrefOf(oak.main, 'Elm'));
    expect(namesOf(both.main)).toEqual(['Bench A', 'Bench B', 'Bench D']);
    expect(filtersOf(both.main)['Wood']).toEqual(['Oak ×', 'Ash 2', 'Elm ×']);
    const elm = await readPage(service, hrefOf(both.main, 'Oak'));
    expect(namesOf(elm.main)).toEqual(['Bench D']);
  });

  test('obeys several fields, and the price', async () => {
    const two = await filtered(['f:make.wood:oak', 'f:make.wood:ash', 'f:make.vegan:true']);
    expect(namesOf(two.main)).toEqual(['Bench A', 'Bench C']);
    expect(filtersOf(two.main)).toEqual({
      Wood: ['Oak ×', 'Ash ×'],
      Vegan: ['Yes ×', 'No 1'],
      Width: ['90 1', '1,200 1'],
    });
    const three = await withParameters(CATEGORY, [
      ['f', 'f:make.vegan:true'],
      ['f', 'f:make.style:Modern'],
      ['max', '20'],
    ]);
    expect(namesOf(three.main)).toEqual(['Bench A']);
    expect(filtersOf(three.main)).toEqual({ Vegan: ['Yes ×'], Style: ['Modern ×'] });
    const none = await filtered(['f:make.wood:elm', 'f:make.vegan:true']);
    expect(none.lines).toContain('No products match all of these filters.');
    expect(filtersOf(none.main)).toEqual({ Wood: ['Oak 1', 'Ash 1', 'Elm ×'], Vegan: ['Yes ×'] });
  });

  test('has all that the other filters leave, when a text was chosen in another language', async () => {
    const oak = await filtered(['f:make.wood:oak']);
    const href = hrefOf(oak.main, 'Modern');
    expect(href).toContain('f%3Amake.style%40en_GB%3AModern');
    const modern = await readPage(service, href);
    expect(namesOf(modern.main)).toEqual(['Bench A']);
    expect(filtersOf(modern.main)['Style']).toEqual(['Modern ×', 'Rustic 1']);
    const german = await readPage(service, `${href}&locale=de_DE`);
    expect(namesOf(german.main)).toEqual(['Bench A', 'Bench B']);
    expect(filtersOf(german.main)).toMatchObject({
      Holz: ['Eiche ×', 'Esche 2', 'Ulme 1'],
      Stil: ['Neuzeitlich 1', 'Rustic 1'],
    });
    expect(german.main).not.toContain('en_GB%3AModern');
    const chosen = await readPage(service, hrefOf(german.main, 'Neuzeitlich'));
    expect(namesOf(chosen.main)).toEqual(['Bench A']);
    // An address from before has no language.
    expect(namesOf((await filtered(['f:make.style:Modern'])).main)).toEqual(['Bench A', 'Bench C']);
  });

  test('is the same in a search', async () => {
    const { main } = await read('/search?q=bench');
    expect(filtersOf(main)['Wood']).toEqual(['Oak 2', 'Ash 2', 'Elm 1']);
    const chosen = await filtered(['f:make.wood:ash'], '/search?q=bench');
    expect(new Set(namesOf(chosen.main))).toEqual(new Set(['Bench B', 'Bench C']));
    expect(filtersOf(chosen.main)['Wood']).toEqual(['Oak 2', 'Ash ×', 'Elm 1']);
  });

  test('takes texts as they are, and shows them escaped', async () => {
    const { main } = await read('/search?q=a');
    expect(main).toContain('Mid &lt;b&gt; century');
    const chosen = await readPage(service, hrefOf(main, 'Mid &lt;b&gt; century'));
    expect(namesOf(chosen.main)).toEqual(['Stool A']);
  });

  test('has nothing for values and fields that are no filter', async () => {
    for (const facet of [
      'f:make.wood:pine',
      'f:make.secret:x',
      'f:make.nothing:x',
      `f:${fieldIds['wood']}:oak`,
    ]) {
      const { status, main } = await filtered([facet]);
      const isFilter = !facet.startsWith(`f:${fieldIds['wood']}`);
      expect([facet, status, namesOf(main).length]).toEqual([facet, 200, isFilter ? 0 : 4]);
    }
  });

  test('is not another one for the API', async () => {
    const answer = await service.call('POST', `/${shop.shopId}/search/products`, {
      token: shop.token,
      body: { query: 'bench' },
    });
    expect(answer.body.facets).toEqual([
      {
        attributeName: 'Category',
        attributeType: 'Standard',
        values: [
          {
            matches: 4,
            name: 'Benches',
            filter: { fieldName: 'CategoryID', attributeValue: expect.any(String) },
          },
        ],
      },
      {
        attributeName: 'ListPrice',
        attributeType: 'Standard',
        values: [
          {
            matches: -1,
            name: 'EUR',
            filter: { fieldName: 'ListPrice', attributeRange: { min: '10.00', max: '40.00' } },
          },
        ],
      },
    ]);
    const refused = await service.call('POST', `/${shop.shopId}/search/products`, {
      token: shop.token,
      body: { attributeFilters: [{ fieldName: 'make.wood', attributeValue: 'oak' }] },
    });
    expect(refused.status).toBe(400);
  });
});

describe('lists follow', () => {
  test('a value that is written or removed', async () => {
    await setValues('BENCH-D', { 'make.wood': ['ash'], 'make.secret': 'x' });
    expect(await facetsOf('BENCH-D')).toEqual([`f:${fieldIds['wood']}:ash`]);
    expect(namesOf((await filtered(['f:make.wood:ash'])).main)).toEqual(['Bench B', 'Bench C', 'Bench D']);
    await setValues('BENCH-D', { 'make.wood': null });
    expect(await facetsOf('BENCH-D')).toEqual([]);
    await setValues('BENCH-D', { 'make.wood': ['elm'] });
    expect(filtersOf((await read(CATEGORY)).main)['Wood']).toEqual(['Oak 2', 'Ash 2', 'Elm 1']);
  });

  test('a file of products', async () => {
    await imported('Alias;field.make.wood\nBENCH-C;"ash,elm"\n');
    expect(await facetsOf('BENCH-C', 'de_DE')).toContain(`f:${fieldIds['wood']}:elm`);
    expect(namesOf((await filtered(['f:make.wood:elm'])).main)).toEqual(['Bench C', 'Bench D']);
    await imported('Alias;field.make.wood\nBENCH-C;ash\n');
    expect(namesOf((await filtered(['f:make.wood:elm'])).main)).toEqual(['Bench D']);
  });

  test('the names of a field and its choices at once', async () => {
    expect(
      (await redefine('wood', { name: { en_GB: 'Timber' }, choices: wood.choices.slice(0, 2) })).status,
    ).toBe(200);
    expect(filtersOf((await read(CATEGORY)).main)).toMatchObject({ Timber: ['Oak 2', 'Ash 2'] });
    expect(await rebuilds()).toBe(0);
    expect((await redefine('wood', {})).status).toBe(200);
  });

  test('a field that is no filter any longer, and is one again', async () => {
    expect((await redefine('wood', { isFacet: false, readableBy: 'merchant' })).status).toBe(200);
    const hidden = async () => {
      expect(Object.keys(filtersOf((await read(CATEGORY)).main))).toEqual(['Vegan', 'Width', 'Style']);
      expect(namesOf((await filtered(['f:make.wood:oak'])).main)).toEqual([]);
    };
    // At once, although the lists still have its values.
    await hidden();
    expect(await facetsOf('STOOL-A')).toContain(`f:${fieldIds['wood']}:oak`);
    expect(await runDueRebuilds(service.db)).toBe(1);
    await hidden();
    expect(await facetsOf('STOOL-A')).not.toContain(`f:${fieldIds['wood']}:oak`);
    expect((await redefine('wood', {})).status).toBe(200);
    expect(await runDueRebuilds(service.db)).toBe(1);
    expect(filtersOf((await read(CATEGORY)).main)['Wood']).toEqual(['Oak 2', 'Ash 2', 'Elm 1']);
  });

  test('a field that is deleted and defined anew', async () => {
    const { body } = await define({ key: 'grade', type: 'text', name: { en_GB: 'Grade' } });
    await setValues('BENCH-A', { 'make.grade': 'Fine' });
    await setValues('BENCH-B', { 'make.grade': 'Rough' });
    expect(filtersOf((await read(CATEGORY)).main)['Grade']).toEqual(['Fine 1', 'Rough 1']);
    expect((await manage('DELETE', `/custom-fields/${body.fieldId}`)).status).toBe(204);
    const anew = await define({ key: 'grade', type: 'text', name: { en_GB: 'Grade' } });
    expect(filtersOf((await read(CATEGORY)).main)['Grade']).toBe(undefined);
    expect(namesOf((await filtered(['f:make.grade:Fine'])).main)).toEqual([]);
    expect(await runDueRebuilds(service.db)).toBe(1);
    expect(await facetsOf('BENCH-A')).not.toContain(`f:${body.fieldId}:Fine`);
    expect((await manage('DELETE', `/custom-fields/${anew.body.fieldId}`)).status).toBe(204);
  });

  test('an app that is uninstalled and installed again', async () => {
    const key = Buffer.alloc(32, 7);
    const app = { name: 'Labels', callbackUrl: 'https://labels.example/', scopes: SCOPES };
    const install = () => service.db.transaction((tx) => createApp(tx, key, shop.shopId, app));
    const { clientId } = await install();
    const { body } = await define({
      namespace: 'labels',
      key: 'eco',
      type: 'text',
      name: { en_GB: 'Label' },
    });
    await service.db.run(sql`
      update custom_field_namespace set app_name = 'Labels', app_id = ${clientId}
      where shop_id = ${shop.shopId} and namespace = 'labels'`);
    await service.db.run(sql`
      insert into custom_field_value (shop_id, resource_id, field_id, locale, position, value, product_id)
      values (${shop.shopId}, ${productIds['BENCH-A']}, ${body.fieldId}, '', 0, '"Green"', ${productIds['BENCH-A']})`);
    await service.db.transaction((tx) => deleteApp(tx, shop.shopId, 'Labels'));
    expect(await runDueRebuilds(service.db)).toBe(1);
    expect(await facetsOf('BENCH-A')).not.toContain(`f:${body.fieldId}:Green`);
    await install();
    expect(await runDueRebuilds(service.db)).toBe(1);
    expect(await facetsOf('BENCH-A')).toContain(`f:${body.fieldId}:Green`);
    expect(filtersOf((await read(CATEGORY)).main)['Label']).toEqual(['Green 1']);
    await service.db.transaction((tx) => deleteApp(tx, shop.shopId, 'Labels'));
    expect(await runDueRebuilds(service.db)).toBe(1);
  });
});

describe('a filter is bounded', () => {
  const refused = async (call: () => Promise<Answer>) => {
    const answer = await changesNothing(service, call);
    return [answer.status, answer.body.message];
  };

  test('to public fields of products with few values', async () => {
    const contradiction =
      'The custom field contradicts itself: shoppers filter by public texts, numbers, choices and yes or no of products only';
    for (const field of [
      { readableBy: 'merchant' },
      { type: 'date' },
      { type: 'money' },
      { type: 'json' },
      { resource: 'variation' },
      { resource: 'category' },
    ]) {
      const call = () => define({ key: 'wrong', type: 'text', name: { en_GB: 'Wrong' }, ...field });
      expect([field, await refused(call)]).toEqual([field, [400, expect.stringContaining(contradiction)]]);
    }
    expect(await refused(() => redefine('wood', { readableBy: 'merchant' }))).toEqual([
      400,
      expect.stringContaining(contradiction),
    ]);
  });

  test('in their number', async () => {
    const { body } = await manage('GET', '/custom-fields?resource=product');
    const used = body.items.filter(({ isFacet }: { isFacet: boolean }) => isFacet).length;
    const added: string[] = [];
    const name = { en_GB: 'Name' };
    for (let index = used; index < 20; index++) {
      const answer = await define({ namespace: 'many', key: `f${index}`, type: 'text', name });
      expect(answer.status).toBe(201);
      added.push(answer.body.fieldId);
    }
    const message = expect.stringContaining('Shoppers filter by at most 20 custom fields');
    const more = { namespace: 'many', key: 'more', type: 'text', name };
    expect(await refused(() => define(more))).toEqual([409, message]);
    const plain = await define({ ...more, isFacet: false });
    const change = { name, readableBy: 'public', writableBy: 'merchant', isFacet: true };
    expect(await refused(() => manage('PUT', `/custom-fields/${plain.body.fieldId}`, change))).toEqual([
      409,
      message,
    ]);
    // One of the twenty is changed as before.
    expect((await manage('PUT', `/custom-fields/${added[0]}`, change)).status).toBe(200);
    for (const fieldId of [...added, plain.body.fieldId]) await manage('DELETE', `/custom-fields/${fieldId}`);
    expect(await runDueRebuilds(service.db)).toBe(1);
  });

  test('in its values', async () => {
    const { body } = await define({ key: 'many', type: 'text', isList: true, name: { en_GB: 'Many' } });
    const texts = Array.from({ length: 50 }, (_, index) => `${index} ${'x'.repeat(150)}`);
    await setValues('BENCH-A', { 'make.many': texts });
    const facets = (await facetsOf('BENCH-A')).filter((facet) => facet.startsWith(`f:${body.fieldId}:`));
    expect(facets).toHaveLength(50);
    expect(new Set(facets.map((facet) => facet.length))).toEqual(new Set([2 + 36 + 1 + 100]));
    const cut = texts[7]!.slice(0, 100);
    expect(namesOf((await filtered([`f:make.many:${cut}`])).main)).toEqual(['Bench A']);
    expect((await manage('DELETE', `/custom-fields/${body.fieldId}`)).status).toBe(204);
  });
});

test('another shop has none of it', async () => {
  const other = await givenSmallShop(service);
  const { status, main } = await readPage(service, `/${other.shopId}/search?q=bench&f=f%3Amake.wood%3Aoak`);
  expect([status, namesOf(main), filtersOf(main)]).toEqual([200, [], {}]);
});
