import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runDueEdits } from '../../catalogue/products/bulk-edit-runner.ts';
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

  test('has no buttons for staff who may only read', async () => {
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

  const edit = (ids: readonly string[], change: Record<string, string>) =>
    `/products/bulk-edit?${new URLSearchParams([...ids.map((id): [string, string] => ['id', id]), ...Object.entries(change)]).toString()}`;
  const run = () => runDueEdits({ db: service.db, log: service.app.log });
  const plain = (text: string) => text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  const valuesOf = (pattern: string) =>
    service.db.many<{ number: string; stock: string | null; prices: object | null; visible: boolean }>(sql`
      select product_number as number, stock::float8::text as stock, prices, visible from product
      where shop_id = 'DemoShop' and product_number ~ ${pattern} order by product_number`);

  test('change their prices by a percentage, with a preview before, and back', async () => {
    const ids = await Promise.all(['KN-110', 'LA-100'].map(productId));
    const path = edit(ids, { kind: 'changePrice', amount: '-2,5', ending: '99' });
    const before = await fingerprint(service);
    const preview = await owner.get(path);
    expect(preview.text).toContain('Bulk edit of 2 products');
    expect(preview.text).toContain('€24.50');
    expect(preview.text).toContain('€23.99');
    expect(await fingerprint(service)).toEqual(before);
    const first = await valuesOf('^(KN-110|LA-100)');
    const saved = await owner.post(path);
    expect([saved.status, saved.location]).toEqual([
      303,
      expect.stringMatching(/\/products\/bulk-edits\/[0-9A-F-]{36}$/),
    ]);
    const result = saved.location!.replace('/admin/shops/DemoShop', '');
    expect((await owner.get(result)).text).toContain('In progress');
    await run();
    expect((await valuesOf('^KN-110$'))[0]!.prices).toEqual({ EUR: 2399 });
    expect((await owner.post(`${result}/undo`)).status).toBe(303);
    await run();
    expect(await valuesOf('^(KN-110|LA-100)')).toEqual(first);
    expect((await owner.get(result)).text).toContain('Undone');
    expect((await owner.post(`${result}/undo`)).status).toBe(400);
  });

  test('get a stock, a price, a category or another visibility; what was changed since is not undone', async () => {
    const ids = await Promise.all(['TE-100', 'TE-110', 'TE-120'].map(productId));
    const category = (await service.db.one<{ id: string }>(sql`
      select upper(category_id::text) as id from category
      where shop_id = 'DemoShop' and parent_id is not null and category_id not in (
        select category_id from product_category where shop_id = 'DemoShop' and product_id = any (${ids}::uuid[]))
      limit 1`))!.id;
    const inCategory = async () =>
      (await service.db.one<{ n: number }>(sql`
        select count(*) as n from product_category
        where shop_id = 'DemoShop' and category_id = ${category} and product_id = any (${ids}::uuid[])`))!.n;
    const before = await valuesOf('^TE-1[012]0');
    const resultOf = async (change: Record<string, string>) => {
      const saved = await owner.post(edit(ids, change));
      expect(saved.status).toBe(303);
      await run();
      return saved.location!.replace('/admin/shops/DemoShop', '');
    };
    const stock = await resultOf({ kind: 'setStock', amount: '77' });
    const stocked = await valuesOf('^TE-1[012]0');
    expect(new Set(stocked.filter(({ stock: one }) => one !== null).map(({ stock: one }) => one))).toEqual(
      new Set(['77']),
    );
    await resultOf({ kind: 'addStock', amount: '-7' });
    const added = (await valuesOf('^TE-1[012]0')).filter(({ stock: one }) => one !== null);
    expect(new Set(added.map(({ stock: one }) => one))).toEqual(new Set(['70']));
    // All of them were changed by the second edit, so the first cannot be undone.
    await owner.post(`${stock}/undo`);
    await run();
    const kept = plain((await owner.get(stock)).text);
    expect(kept).toContain(`Undone 0 Changed since ${String(added.length)}`);
    expect(kept).toContain(added[0]!.number);
    expect((await valuesOf('^TE-1[012]0')).filter(({ stock: one }) => one !== null)).toEqual(added);

    await resultOf({ kind: 'setPrice', amount: '5.55' });
    const own = (await valuesOf('^TE-1[012]0')).filter(({ prices }) => prices !== null);
    expect(own.every(({ prices }) => (prices as { EUR: number }).EUR === 555)).toBe(true);

    const assigned = await resultOf({ kind: 'addCategory', target: category });
    expect(await inCategory()).toBe(3);
    const { name } = (await service.db.one<{ name: string }>(sql`
      select name ->> 'en_GB' as name from category where shop_id = 'DemoShop' and category_id = ${category}`))!;
    const named = `Add to category: ${name.replaceAll('&', '&amp;')}`;
    expect((await owner.get(assigned)).text).toContain(named);
    expect((await owner.get(edit(ids, { kind: 'addCategory', target: category }))).text).toContain(named);
    await owner.post(`${assigned}/undo`);
    await run();
    expect(await inCategory()).toBe(0);

    const hidden = await resultOf({ kind: 'hide' });
    expect(
      (await numbers('?visible=no&q=tea')).filter((number) => /^TE-1[012]0$/.test(number!)),
    ).toHaveLength(3);
    await owner.post(`${hidden}/undo`);
    await run();
    expect((await valuesOf('^TE-1[012]0$')).map(({ visible }) => visible)).toEqual(
      before.filter(({ number }) => /^TE-1[012]0$/.test(number)).map(({ visible }) => visible),
    );
  });

  test('a main category that is taken away and put back is the main one again', async () => {
    const id = await productId('TE-100');
    const categories = () =>
      service.db.many<{ id: string; position: number }>(sql`
        select upper(category_id::text) as id, position from product_category
        where shop_id = 'DemoShop' and product_id = ${id} order by position`);
    const before = await categories();
    const saved = await owner.post(edit([id], { kind: 'removeCategory', target: before[0]!.id }));
    await run();
    expect(await categories()).toEqual(before.slice(1));
    await owner.post(`${saved.location!.replace('/admin/shops/DemoShop', '')}/undo`);
    await run();
    expect(await categories()).toEqual(before);
  });

  test('a value that makes no sense changes nothing, and neither does an undo after a day', async () => {
    const id = await productId('KN-110');
    const before = await fingerprint(service);
    for (const change of [
      { kind: 'changePrice', amount: 'abc' },
      { kind: 'changePrice', amount: '-100' },
      { kind: 'setStock', amount: '-1' },
      { kind: 'setPrice', amount: '' },
      { kind: 'addCategory', target: 'nowhere' },
      { kind: 'explode', amount: '1' },
    ]) {
      expect((await owner.get(edit([id], change))).text).toContain('Enter a value that fits the change');
      expect((await owner.post(edit([id], change))).status).toBe(400);
    }
    expect((await owner.post('/products/bulk-edit?kind=hide')).status).toBe(400);
    expect((await owner.post('/products/hide')).status).toBe(400);
    expect(await fingerprint(service)).toEqual(before);
    const saved = await owner.post(edit([id], { kind: 'setStock', amount: '5' }));
    await run();
    await service.db.run(sql`update bulk_edit set created_at = created_at - interval '25 hours'`);
    const result = saved.location!.replace('/admin/shops/DemoShop', '');
    expect((await owner.get(result)).text).not.toContain('/undo"');
    expect((await owner.post(`${result}/undo`)).status).toBe(400);
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

  test('changes all that match a filter, piece by piece, and goes on where a process died', async () => {
    const path = '/products/bulk-edit?all=yes&visible=no&kind=addStock&amount=3';
    const { text } = await owner.get('/products?visible=no');
    expect(text).toContain('/products/bulk-edit?all=yes&amp;visible=no');
    const preview = await owner.get(path);
    expect(preview.text).toContain('Bulk edit of 801 products');
    expect(preview.text).toContain('Change 801');
    const saved = await owner.post(path);
    const editId = saved.location!.split('/').at(-1)!;
    const sum = async () =>
      (await service.db.one<{ sum: number }>(sql`
        select sum(stock)::bigint as sum from product
        where shop_id = 'DemoShop' and not visible and kind = 'regular'`))!.sum;
    const before = await sum();
    // The process stops after some pieces, and forgets to release the edit.
    const log = service.app.log;
    const signal = new AbortController();
    setTimeout(() => signal.abort(), 500);
    await runDueEdits({ db: service.db, log }, signal.signal);
    const half = await service.db.one<{ done: number }>(sql`
      select items_done as done from bulk_edit where edit_id = ${editId}`);
    expect(half!.done).toBeLessThan(801);
    expect(await sum()).toBe(before + 3 * half!.done);
    await service.db.run(sql`update bulk_edit set attempts = attempts + 1 where edit_id = ${editId}`);
    await runDueEdits({ db: service.db, log });
    expect(await sum()).toBe(before + 2_403);
    const done = await service.db.one(sql`
      select state, items, items_done as done, changed, refused from bulk_edit where edit_id = ${editId}`);
    expect(done).toEqual({ state: 'done', items: 801, done: 801, changed: 801, refused: 0 });
  });

  test('a process that was too slow leaves the products to the one that has taken the edit', async () => {
    const id = (await service.db.one<{ id: string }>(sql`
      select product_id as id from product where shop_id = 'DemoShop' and product_number = 'KN-110'`))!.id;
    const stock = async () =>
      (await service.db.one<{ stock: number }>(sql`
        select stock::float8 as stock from product where shop_id = 'DemoShop' and product_id = ${id}`))!
        .stock;
    const before = await stock();
    const saved = await owner.post(`/products/bulk-edit?id=${id}&kind=addStock&amount=3`);
    const editId = saved.location!.split('/').at(-1)!;
    const log = service.app.log;
    let slow: Promise<void> | undefined;
    let taken: Promise<unknown> | undefined;
    await service.db.transaction(async (tx) => {
      await tx.run(sql`select from product where shop_id = 'DemoShop' and product_id = ${id} for update`);
      // It waits for the product, while its lease expires and another process takes the edit.
      slow = runDueEdits({ db: service.db, log });
      await expect
        .poll(
          async () =>
            (
              await service.db.many(sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
            ).length,
        )
        .toBeGreaterThan(0);
      taken = service.db.run(sql`
        update bulk_edit set attempts = attempts + 1, run_at = ${service.db.now}
        where shop_id = 'DemoShop' and edit_id = ${editId}`);
      await sleep(300);
    });
    await Promise.all([slow, taken]);
    await runDueEdits({ db: service.db, log });
    expect(await stock()).toBe(before + 3);
    const done = await service.db.one(sql`
      select state, items_done as done, changed from bulk_edit where edit_id = ${editId}`);
    expect(done).toEqual({ state: 'done', done: 1, changed: 1 });
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
