import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../db/sql.ts';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { fingerprint, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';

let service: Service;
let owner: Merchant;
beforeAll(async () => {
  service = await startDemo();
  owner = await givenMerchant(service, 'owner');
});
afterAll(() => service.close());

async function idOf(number: string): Promise<string> {
  const row = await service.db.one<{ id: string }>(
    sql`select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = ${number}`,
  );
  return row!.id;
}

/** The problem that stands beside an input. */
const problemBeside = (text: string, input: string) =>
  new RegExp(`id="field-${input.replaceAll('.', '\\.')}-problem">([^<]*)<`).exec(text)?.[1];

async function stockOf(number: string): Promise<number> {
  const row = await service.db.one<{ stock: number }>(
    sql`select stock::float8 as stock from product where shop_id = 'DemoShop' and product_number = ${number}`,
  );
  return row!.stock;
}

describe('the grid of variations', () => {
  const moved = (id: string, stock: string, was: string) => ({
    [`stock.${id}`]: stock,
    [`was.stock.${id}`]: was,
  });

  test('saves the cells that have changed', async () => {
    const [path, id] = [`/products/${await idOf('CB-100')}/variations`, await idOf('CB-101')];
    const { text } = await owner.get(path);
    expect(text).toContain(`name="stock.${id}"`);
    const before = await service.db.one(
      sql`select count(*) as count from audit_entry where shop_id = 'DemoShop'`,
    );
    const answer = await owner.post(path, {
      ...moved(id, '115,5', '120'),
      ...moved(await idOf('CB-102'), '64', '64'),
    });
    expect(answer.status).toBe(303);
    expect([await stockOf('CB-101'), await stockOf('CB-102')]).toEqual([115.5, 64]);
    const after = await service.db.one(
      sql`select count(*) as count from audit_entry where shop_id = 'DemoShop'`,
    );
    expect(after).toEqual({ count: (before as { count: number }).count + 1 });
  });

  test('does not overwrite a stock that has moved, and writes nothing when one cell is wrong', async () => {
    const path = `/products/${await idOf('CB-100')}/variations`;
    const [first, second] = [await idOf('CB-102'), await idOf('CB-103')];
    const before = await fingerprint(service);
    const late = await owner.post(path, moved(first, '10', '65'));
    expect(late.status).toBe(409);
    expect(late.text).toContain('The stock has changed since you opened this page');
    const wrong = await owner.post(path, { ...moved(first, '10', '64'), ...moved(second, 'many', '8') });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('value="many"');
    expect(problemBeside(wrong.text, `stock.${second}`)).toContain('“many” is not a number.');
    expect(problemBeside(late.text, `stock.${first}`)).toContain('The stock has changed since');
    expect(await fingerprint(service)).toEqual(before);
  });

  test.each([
    ['productNumber that another product has', 'number', 'AP-100', 409, 'number'],
    ['number that is empty', 'number', '', 400, 'Number'],
    ['EAN that is too long', 'ean', '4'.repeat(1_001), 413, undefined],
    ['stock that is too large', 'stock', '2000000000', 400, 'Stock'],
    ['price below zero', 'price', '-1', 400, 'Price'],
  ])('says beside the cell what is wrong: a %s', async (_name, column, typed, status, words) => {
    const [path, id] = [`/products/${await idOf('CB-100')}/variations`, await idOf('CB-103')];
    const [, shown] = new RegExp(`name="was.${column}.${id}"\\s+value="([^"]*)"`).exec(
      (await owner.get(path)).text,
    )!;
    const before = await fingerprint(service);
    const other = await idOf('CB-102');
    const answer = await owner.post(path, {
      ...moved(other, '10', '64'),
      [`was.${column}.${id}`]: shown!,
      [`${column}.${id}`]: typed,
    });
    expect(answer.status).toBe(status);
    if (words !== undefined) expect(problemBeside(answer.text, `${column}.${id}`)).toContain(words);
    expect(await fingerprint(service)).toEqual(before);
  });

  test('is made from attributes and their values', async () => {
    const id = await idOf('GI-120');
    const { status } = await owner.post(`/products/${id}/variations`, {
      'attribute.0': 'Size',
      'values.0': 'S, M; L',
      'attribute.1': 'Colour',
      'values.1': 'navy, red',
      productType: 'Default',
    });
    expect(status).toBe(303);
    const rows = await service.db.many<{ selection: unknown; visible: boolean }>(sql`
      select selection, visible from product where shop_id = 'DemoShop' and master_id = ${id} order by product_id`);
    expect(rows.length).toBe(6);
    expect(rows[1]).toEqual({ selection: { Size: 'S', Colour: 'red' }, visible: true });
  });

  test('says beside the values of an attribute that one of them is too long', async () => {
    const before = await fingerprint(service);
    const path = `/products/${await idOf('TE-100')}/variations`;
    const { status, text } = await owner.post(path, {
      'attribute.0': 'Size',
      // Attributes without values are left out, and the others keep their places.
      'attribute.1': 'Material',
      'values.1': `cotton, ${'x'.repeat(201)}`,
      'attribute.2': 'Colour',
      'values.2': 'red',
    });
    expect(status).toBe(400);
    expect(problemBeside(text, 'values.1')).toBe('Values of attribute 2 is too long.');
    expect(await fingerprint(service)).toEqual(before);
  });
});

describe('in German', () => {
  let german: Merchant;
  beforeAll(async () => {
    german = await givenMerchant(service, 'owner', 'DemoShop', 'owner@german.example');
    await service.db.run(sql`update admin_user set language = 'de' where email = ${german.email}`);
  });

  test('attributes and their values have their German names, also where they are typed', async () => {
    const productId = await idOf('CB-100');
    const path = `/products/${productId}/variations`;
    const { text } = await german.get(path);
    const valueOf = (name: string) => new RegExp(`name="${name}"[^>]*?value="([^"]*)"`).exec(text)?.[1];
    expect([valueOf('attribute.1'), valueOf('values.1')]).toEqual(['Röstung', 'Mittel, Dunkel']);
    const attributes = async () =>
      (await service.db.one<{ known: unknown }>(
        sql`select facts -> 'variationAttributes' as known from product
          where shop_id = 'DemoShop' and product_id = ${productId}::uuid`,
      ))!.known;
    const before = await attributes();
    const variations = async () =>
      (await service.db.one<{ count: number }>(
        sql`select count(*) as count from product where shop_id = 'DemoShop' and master_id = ${productId}::uuid`,
      ))!.count;
    const made = await german.post(path, {
      'attribute.0': 'Gewicht',
      'values.0': '500 g',
      'attribute.1': 'Röstung',
      'values.1': 'Mittel, Dunkel',
    });
    expect(made.status).toBe(303);
    // Three weights in two roasts, and no value of another name beside them.
    expect([await variations(), await attributes()]).toEqual([6, before]);
    const page = await german.get(`/products/${productId}/attributes`);
    expect(page.text).toContain('Bekannte Werte: Mittel, Dunkel');
    expect(page.text).toContain('Werte in: Deutsch.');
  });

  test('units and languages have German names', async () => {
    const { text } = await german.get(`/products/${await idOf('TE-100')}`);
    expect(text).toMatch(/<option value="kilogram"[^>]*>Kilogramm<\/option>/);
    expect(text).toContain('>Kurzbeschreibung · Französisch<');
  });

  test('categories to export have German names', async () => {
    expect((await german.get('/products/export')).text).toContain('>Kaffee &gt; Bohnen</option>');
  });
});

describe('a new product', () => {
  test('is created with price, stock and category', async () => {
    const category = await service.db.one<{ id: string }>(
      sql`select upper(category_id::text) as id from category where shop_id = 'DemoShop' and alias = 'gifts'`,
    );
    const answer = await owner.post('/products/new', {
      name: 'Brass Whistle',
      productNumber: 'GI-900',
      price: '1.234,50',
      stock: '7',
      visible: 'yes',
      category: category!.id,
    });
    expect(answer.location).toBe(`/admin/shops/DemoShop/products/${await idOf('GI-900')}`);
    const row = await service.db.one(sql`
      select prices, stock::float8 as stock, visible, facts -> 'name' as name from product
      where shop_id = 'DemoShop' and product_number = 'GI-900'`);
    expect(row).toEqual({
      prices: { EUR: 123450 },
      stock: 7,
      visible: true,
      name: { en_GB: 'Brass Whistle' },
    });
  });

  test('is refused with a number that is taken, and what was typed stays', async () => {
    const before = await fingerprint(service);
    const answer = await owner.post('/products/new', { name: 'Another kettle', productNumber: 'AP-100' });
    expect(answer.status).toBe(409);
    expect(answer.text).toContain('value="Another kettle"');
    expect(await fingerprint(service)).toEqual(before);
  });
});

describe('a stock take', () => {
  test('finds by number and EAN, sets, adds and takes back', async () => {
    const id = await idOf('KN-110');
    await service.call('PATCH', `/DemoShop/products/${id}`, {
      token: 'demo-all',
      body: [{ op: 'add', path: '/ean', value: '4099887766554' }],
    });
    const found = await owner.get('/products/stock-take?code=4099887766554');
    expect(found.text).toContain('Reefline Paring Knife');
    const set = await owner.post('/products/stock-take?code=KN-110', {
      productId: id,
      count: '30,5',
      how: 'set',
    });
    expect(set.location).toBe(`/admin/shops/DemoShop/products/stock-take?counted=${id}_33_30.5`);
    expect(await stockOf('KN-110')).toBe(30.5);
    await owner.post('/products/stock-take', { productId: id, count: '2', how: 'add' });
    expect(await stockOf('KN-110')).toBe(32.5);
    const last = await owner.get(`/products/stock-take?counted=${id}_33_30.5`);
    expect(last.text).toContain('Latest counts');
    const undone = await owner.post(`/products/stock-take?counted=${id}_33_30.5`, {
      productId: id,
      count: '33',
      how: 'undo',
    });
    expect(undone.location).toBe('/admin/shops/DemoShop/products/stock-take');
    expect(await stockOf('KN-110')).toBe(33);
  });

  test('says what it does not know, and refuses what is no number', async () => {
    expect((await owner.get('/products/stock-take?code=nothing&counted=a_b_c~~')).text).toContain(
      'No product has the number or EAN nothing.',
    );
    const before = await fingerprint(service);
    const id = await idOf('KN-110');
    const [none, tooMany] = await Promise.all(
      ['x', '2000000000'].map((count) =>
        owner.post('/products/stock-take?code=KN-110', { productId: id, count, how: 'set' }),
      ),
    );
    expect([none!.status, tooMany!.status]).toEqual([400, 400]);
    const problemIn = ({ text }: { text: string }) =>
      new RegExp(`id="count-${id}-problem">([^<]*)<`).exec(text)?.[1];
    expect(problemIn(none!)).toContain('“x” is not a number.');
    expect(problemIn(tooMany!)).toContain('Stock is');
    expect((await owner.post('/products/stock-take', { productId: 'x', count: '1' })).status).toBe(400);
    expect(await fingerprint(service)).toEqual(before);
  });
});

describe('what belongs to a product', () => {
  test('a picture that is none, or nothing at all, is refused', async () => {
    const before = await fingerprint(service);
    const url = `/admin/shops/DemoShop/products/${await idOf('KN-110')}/pictures`;
    const headers = { host: 'localhost:8080', origin: 'http://localhost:8080', cookie: owner.cookie };
    const form = 'multipart/form-data; boundary=x';
    const file =
      '--x\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\n\r\nno picture\r\n--x--\r\n';
    for (const [type, payload] of [
      [undefined, undefined],
      ['application/x-www-form-urlencoded', 'image=1'],
      [form, ''],
      [form, file],
    ]) {
      const { statusCode } = await service.app.inject({
        method: 'POST',
        url,
        headers: { ...headers, ...(type !== undefined && { 'content-type': type }) },
        ...(payload !== undefined && { payload }),
      });
      expect([type, payload, statusCode]).toEqual([type, payload, 400]);
    }
    expect(await fingerprint(service)).toEqual(before);
  });

  test('pictures are described in every language, and one that came meanwhile keeps its text', async () => {
    const id = await idOf('KN-110');
    await service.db.run(sql`
      insert into product_image (shop_id, product_id, name, position, image_key, sizes, alt_texts, created_at)
      select 'DemoShop', ${id}, name, place, gen_random_uuid(), '{}', '{"en_GB": "Old"}', ${service.db.now}::timestamptz
      from unnest(array['handle.png', 'blade.png', 'late.png']) with ordinality as image (name, place)`);
    const { text } = await owner.get(`/products/${id}`);
    expect(text).toMatch(/alt="Old"/);
    expect(text).toMatch(/name="text\.1\.de_DE"/);
    const saved = await owner.post(`/products/${id}/pictures/texts`, {
      name: ['blade.png', 'handle.png'],
      'text.0.en_GB': 'The blade',
      'text.0.de_DE': 'Die Klinge',
      'text.1.en_GB': '',
    });
    expect([saved.status, saved.location]).toEqual([303, `/admin/shops/DemoShop/products/${id}`]);
    const rows = await service.db.many(sql`
      select name, alt_texts as texts from product_image where shop_id = 'DemoShop' and product_id = ${id}
        and name in ('handle.png', 'blade.png', 'late.png') order by name`);
    expect(rows).toEqual([
      { name: 'blade.png', texts: { en_GB: 'The blade', de_DE: 'Die Klinge' } },
      { name: 'handle.png', texts: {} },
      { name: 'late.png', texts: { en_GB: 'Old' } },
    ]);
    await service.db.run(sql`
      delete from product_image where shop_id = 'DemoShop' and product_id = ${id} and sizes = '{}'`);
  });

  test('attributes are set, added and emptied', async () => {
    const id = await idOf('KN-110');
    const path = `/products/${id}/attributes`;
    const version = async () => /name="version" value="([^"]+)"/.exec((await owner.get(path)).text)![1]!;
    await owner.post(path, { version: await version(), newKey: 'Handle', newValue: 'Olive wood' });
    const shown = await owner.get(path);
    expect(shown.text).toContain('value="Olive wood"');
    const [, field] = /name="(attribute\.\d+)"[^>]*value="Olive wood"/.exec(
      shown.text.replaceAll('\n', ' '),
    )!;
    await owner.post(path, { version: await version(), [field!]: '' });
    expect((await owner.get(path)).text).not.toContain('value="Olive wood"');
    expect((await owner.post(path, { version: 'old', newKey: 'a', newValue: 'b' })).status).toBe(409);
  });

  test('a value that an attribute does not take is refused beside its field', async () => {
    await service.db.run(sql`
      update product set facts = jsonb_set(facts, '{attributes}', ${JSON.stringify([
        { key: 'Weight', name: {}, type: 'number', singleValue: true, values: [{ value: '3', name: {} }] },
      ])}::jsonb) where shop_id = 'DemoShop' and product_number = 'KN-120'`);
    const path = `/products/${await idOf('KN-120')}/attributes`;
    const shown = (await owner.get(path)).text;
    const [, input] = /name="(attribute\.\d+)"[^>]*value="3"/.exec(shown)!;
    const [, version] = /name="version" value="([^"]+)"/.exec(shown)!;
    const before = await fingerprint(service);
    const { status, text } = await owner.post(path, { version: version!, [input!]: 'heavy' });
    expect(status).toBe(400);
    expect(problemBeside(text, input!)).toMatch(/^Weight /);
    expect(await fingerprint(service)).toEqual(before);
  });

  test('products that go well with it are found, added and removed', async () => {
    const [id, target] = [await idOf('KN-110'), await idOf('KN-120')];
    const path = `/products/${id}/related`;
    expect((await owner.get(`${path}?q=stone`)).text).toContain('Saltbox Sharpening Stone');
    const assigned = () =>
      service.db.many(sql`
        select upper(target_id::text) as id from cross_selling where shop_id = 'DemoShop' and product_id = ${id}`);
    await owner.post(`${path}/add`, { productId: target });
    expect(await assigned()).toEqual([{ id: target }]);
    await owner.post(`${path}/remove`, { productId: target });
    expect(await assigned()).toEqual([]);
  });

  test('the history of its prices', async () => {
    const id = await idOf('KN-120');
    await service.call('PATCH', `/DemoShop/products/${id}`, {
      token: 'demo-all',
      body: [{ op: 'add', path: '/priceInfo/price/amount', value: 23.92 }],
    });
    const { text } = await owner.get(`/products/${id}/prices`);
    expect(text).toContain('€29.90');
    expect(text).toContain('€23.92');
    expect(text).toContain('-20 %');
  });
});
