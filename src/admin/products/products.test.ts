import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../db/sql.ts';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { givenShop } from '../../../test/builders.ts';
import { fingerprint, startDemo } from '../../../test/demo.ts';
import { generateProducts } from '../../commands/demo/generate.ts';
import type { Service } from '../../../test/service.ts';

let service: Service;
let owner: Merchant;
beforeAll(async () => {
  service = await startDemo();
  owner = await givenMerchant(service, 'owner');
});
afterAll(() => service.close());

const namesOf = (text: string) =>
  [...text.matchAll(/<td class="" data-title="Name">[\s\S]*?<span>([^<\n]+)/g)].map(([, name]) =>
    name!.trim(),
  );

const numbers = async (query: string) =>
  [...(await owner.get(`/products${query}`)).text.matchAll(/data-title="Number">\s*([^<\s]+)/g)].map(
    ([, number]) => number,
  );

async function productId(number: string): Promise<string> {
  const row = await service.db.one<{ id: string }>(
    sql`select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = ${number}`,
  );
  return row!.id;
}

describe('the list of products', () => {
  test('has all of them by name, hidden ones too', async () => {
    const { status, text } = await owner.get('/products');
    expect(status).toBe(200);
    expect(namesOf(text).slice(0, 3)).toEqual([
      'Anchor Socks',
      'Beacon Burr Grinder',
      'Beacon Espresso Machine',
    ]);
    expect(text).toContain('1–25 of 25');
  });

  test('is filtered by text, visibility, stock and category', async () => {
    expect(await numbers('?q=herbal')).toEqual(['TE-120']);
    expect(await numbers('?q=la100')).toEqual(['LA-100']);
    expect(await numbers('?visible=no')).toEqual(['ZZ-100']);
    expect(await numbers('?stock=out')).toEqual(['TE-120', 'DR-120', 'CB-100']);
    expect(await numbers('?stock=low')).toEqual(['AP-120', 'CB-100']);
    expect(await numbers('?stock=low&q=beacon')).toEqual(['AP-120']);
    expect(await numbers('?stock=out&q=te120')).toEqual(['TE-120']);
    expect(await numbers('?stock=out&q=lantern')).toEqual([]);
    expect((await numbers('?stock=in')).length).toBe(21);
    const category = await service.db.one<{ id: string }>(
      sql`select category_id as id from category where shop_id = 'DemoShop' and alias = 'knives'`,
    );
    expect(await numbers(`?category=${category!.id}&sort=-price`)).toEqual(['KN-100', 'KN-120', 'KN-110']);
    expect(await numbers(`?category=${category!.id}&q=stone`)).toEqual(['KN-120']);
    expect(await numbers('?category=nonsense&q=nothing+of+this')).toEqual([]);
  });

  test('has all that is sold out of a word that more products have than are compared', async () => {
    await givenShop(service, 'Large');
    await generateProducts(service.db, { shopId: 'Large', products: 2_600, seed: 7 }, () => {});
    const sold = await service.db.one<{ count: number }>(sql`
      select count(distinct coalesce(master_id, product_id)) as count from product
      where shop_id = 'Large' and kind <> 'master' and stock <= 0`);
    const large = await givenMerchant(service, 'owner', 'Large');
    const { text } = await large.get('/products?q=G7&stock=out');
    expect(/class="quiet"\s*>1–(\d+ of [\d+]+)</.exec(text)?.[1]).toBe(`${sold!.count} of ${sold!.count}`);
  });

  test('is sorted by price', async () => {
    expect((await numbers('?sort=-price')).slice(0, 2)).toEqual(['AP-110', 'AP-120']);
    expect((await numbers('?sort=price')).slice(0, 2)).toEqual(['ZZ-110', 'DR-100']);
  });

  test('has no buttons for whoever may only read', async () => {
    const { text } = await (await givenMerchant(service, 'orders')).get('/products');
    expect(text).not.toContain('/products/new');
    expect(text).not.toContain('bulk-actions');
  });
});

describe('several products at once', () => {
  test('are hidden, and shown again by undo', async () => {
    const ids = await Promise.all(['TE-100', 'TE-110'].map(productId));
    const hidden = await owner.post('/products/hide', { id: ids });
    expect([hidden.status, hidden.location]).toEqual([303, '/admin/shops/DemoShop/products']);
    expect(await numbers('?visible=no&q=tea')).toEqual(['TE-100', 'TE-110']);
    await owner.post('/products/show', { id: ids.join(',') });
    expect(await numbers('?visible=no&q=tea')).toEqual([]);
  });

  test('change their prices by a percentage, with a preview before', async () => {
    const ids = await Promise.all(['KN-110', 'LA-100'].map(productId));
    const query = `?${new URLSearchParams([...ids.map((id) => ['id', id]), ['percent', '-2,5'], ['ending', '99']] as [string, string][]).toString()}`;
    const before = await fingerprint(service);
    const preview = await owner.get(`/products/change-prices${query}`);
    expect(preview.text).toContain('€24.50');
    expect(preview.text).toContain('€23.99');
    expect(await fingerprint(service)).toEqual(before);
    expect((await owner.post(`/products/change-prices${query}`)).status).toBe(303);
    const rows = await service.db.many<{ number: string; prices: Record<string, number> }>(sql`
      select product_number as number, prices from product
      where shop_id = 'DemoShop' and prices is not null and product_number like 'KN-110%'`);
    expect(rows).toEqual([{ number: 'KN-110', prices: { EUR: 2399 } }]);
  });

  test('a percentage that is none changes nothing', async () => {
    const id = await productId('KN-110');
    const before = await fingerprint(service);
    const shown = await owner.get(`/products/change-prices?id=${id}&percent=abc`);
    expect(shown.text).toContain('Enter a percentage between -90 and 900');
    expect((await owner.post(`/products/change-prices?id=${id}&percent=-100`)).status).toBe(400);
    expect((await owner.post('/products/hide')).status).toBe(400);
    expect(await fingerprint(service)).toEqual(before);
  });

  test('are deleted after a question', async () => {
    const id = await productId('ZZ-110');
    const question = await owner.get(`/products/delete?id=${id}`);
    expect(question.text).toContain('Delete 1 product?');
    expect(question.text).toContain('Sample Spoon');
    await owner.post(`/products/delete?id=${id}`);
    expect(await numbers('?q=sample+spoon')).toEqual([]);
  });
});

describe('a shop with very many products', () => {
  beforeAll(async () => {
    await service.db.run(sql`
      insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, stock, prices, facts)
      select 'DemoShop', md5('many ' || n)::uuid, 'MANY-' || n, 'regular', now(), 1, n % 2 = 0,
        case when n % 100 = 0 then 0 else 50 end, '{"EUR": 100}',
        jsonb_build_object('name', jsonb_build_object('en_GB', 'Many ' || to_char(n, 'FM0000')))
      from generate_series(1, 1600) n`);
    await service.db.run(sql`
      insert into listing (shop_id, locale, product_id, visible, name, price, text, words, facets)
      select 'DemoShop', 'en_GB', product_id, visible, facts #>> '{name,en_GB}', 100,
        ' ' || lower(facts #>> '{name,en_GB}') || ' ', to_tsvector('english', facts #>> '{name,en_GB}'), '{}'
      from product where shop_id = 'DemoShop' and product_number like 'MANY-%'`);
  });

  test('shows the first ones of a word that most of them have, in the order of the list', async () => {
    const { text } = await owner.get('/products?q=many&page=2');
    expect(text).toMatch(/51–100 of 1,[0-9]{3}\+/);
    expect(namesOf(text)).toEqual(
      Array.from({ length: 50 }, (_, index) => `Many 00${String(51 + index)}`.replace('00100', '0100')),
    );
    expect(namesOf((await owner.get('/products?q=many&visible=no')).text).slice(0, 3)).toEqual([
      'Many 0001',
      'Many 0003',
      'Many 0005',
    ]);
    expect(namesOf((await owner.get('/products?q=many&sort=-name')).text)[0]).toBe('Many 1600');
  });

  test('finds a rare word, and what is sold out among many', async () => {
    expect(await numbers('?q=many+1234')).toEqual(['MANY-1234']);
    expect((await numbers('?q=many&stock=out')).length).toBe(16);
    expect(await numbers('?q=herbal')).toEqual(['TE-120']);
  });

  test('is searched by everything that the header finds', async () => {
    const hits = async (text: string) =>
      [
        ...(await owner.get(`/search?q=${encodeURIComponent(text)}`)).text.matchAll(
          /<a\s+href="([^"]*\/products\/[^"]*)"/g,
        ),
      ].length;
    expect(await hits('many')).toBe(6);
    expect(await hits('many 0042')).toBe(1);
    expect(await hits('MANY-160')).toBe(2);
    expect(await hits('beecon')).toBeGreaterThan(0);
    expect(await hits('+')).toBe(0);
    expect((await owner.get('/search?q=brenn')).text).toContain('Ada Brennan');
  });
});
