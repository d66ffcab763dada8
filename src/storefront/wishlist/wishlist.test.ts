import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changesNothing, statementsOf } from '../../../test/carts.ts';
import { givenOtherShop, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { loadAppScripts } from '../../../test/storefront.ts';
import { givenVisitor, mainOf, type Visitor } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';
import { MAX_WISHLIST_ITEMS, wishlistCleanup } from './queries.ts';

const NOW = new Date('2026-11-15T08:30:00Z');
const DAY = 86_400_000;

let service: Service;
let visitor: Visitor;
let ids: Record<string, string>;
let others: Record<string, string>;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0' }, NOW);
  await givenOtherShop(service);
  ids = await idsOf('DemoShop');
  others = await idsOf('OtherShop');
});
afterAll(() => service.close());
beforeEach(async () => {
  service.setClock(NOW);
  await service.db.run(sql`delete from wish`);
  await service.db.run(sql`delete from watcher`);
  visitor = givenVisitor(service, 'DemoShop');
});

async function idsOf(shopId: string): Promise<Record<string, string>> {
  const rows = await service.db.many<{ id: string; number: string }>(sql`
    select upper(product_id::text) as id, product_number as number from product where shop_id = ${shopId}`);
  return Object.fromEntries(rows.map(({ id, number }) => [number, id]));
}

let moment = 0;
/** Each a moment later than the one before. */
async function wish(number: string) {
  service.setClock(new Date(NOW.getTime() + ++moment));
  return visitor.submit('/wishlist/add', { productId: ids[number]! }, `/Products/${number}`);
}

const wishes = () =>
  service.db.many(sql`
    select wish.shop_id as shop, product_number as number from wish join product using (shop_id, product_id)
    order by wish.created_at`);
const numbersOn = ({ text }: { text: string }) =>
  [...text.matchAll(/<h2><a href="\/shop\/DemoShop\/Products\/([^"?]+)/g)].map(([, number]) => number);

describe('the wish list', () => {
  test('is empty at first, without a cookie and without a statement of its own', async () => {
    const statements = await statementsOf(() => visitor.get('/wishlist'));
    const page = await visitor.get('/wishlist');
    expect(page.status).toBe(200);
    expect(mainOf(page)).toBe(
      'Wish list There is nothing on your wish list yet. Open a product and add it to the list to find it here again. ' +
        'Go to the shop',
    );
    expect(page.headers['set-cookie']).toBeUndefined();
    expect(statements.filter((text) => text.includes('wish'))).toEqual([]);
  });

  test('shows what was wished for, newest first, and says how many', async () => {
    const answer = await wish('TE-100');
    expect(answer.place).toBe('/shop/DemoShop/Products/TE-100');
    expect(visitor.session()).toMatchObject({ wishlistCount: 1 });
    await wish('KN-100');
    expect(visitor.session()).toMatchObject({ wishlistCount: 2 });
    const page = await visitor.get('/wishlist');
    expect(numbersOn(page)).toEqual(['KN-100', 'TE-100']);
    expect(page.text).toContain('<meta name="robots" content="noindex" />');
    expect(await wishes()).toEqual([
      { shop: 'DemoShop', number: 'TE-100' },
      { shop: 'DemoShop', number: 'KN-100' },
    ]);
  });

  test('takes a product once', async () => {
    await wish('TE-100');
    await wish('TE-100');
    expect(await wishes()).toHaveLength(1);
    expect(visitor.session()).toMatchObject({ wishlistCount: 1 });
  });

  test('tells the scripts of apps once', async () => {
    await loadAppScripts(service);
    // On the host that the shops share, no scripts are loaded.
    const visitor = givenVisitor(service, 'DemoShop', '127.0.0.1', 'demoshop.localhost');
    await visitor.post('/consent', { consent: 'all' });
    await visitor.post('/wishlist/add', { productId: ids['TE-100']! });
    expect(visitor.session()).toMatchObject({
      visitorEvents: [{ event: 'wishlist:add', productId: ids['TE-100'] }],
      notice: 'The product is on your wish list.',
    });
    const told = await visitor.get('/wishlist');
    expect(told.text).toContain(
      JSON.stringify({
        name: 'wishlist:add',
        detail: { locale: 'en_GB', product: { productId: ids['TE-100'], quantity: 1 } },
      }),
    );
    expect(told.text).toContain('The product is on your wish list.');
    expect(visitor.session()).not.toHaveProperty('visitorEvents');
    expect((await visitor.get('/wishlist')).text).not.toContain('wishlist:add');
  });

  test('has a button for the cart, of a master a link, and of what is sold out neither', async () => {
    const [master] = await service.db.many<{ number: string }>(sql`
      select product_number as number from product where shop_id = 'DemoShop' and kind = 'master' and visible
      order by product_number limit 1`);
    const [soldOut] = await service.db.many<{ number: string }>(sql`
      select product_number as number from product
      where shop_id = 'DemoShop' and kind = 'regular' and visible and stock <= 0 order by product_number limit 1`);
    for (const number of ['TE-100', master!.number, soldOut!.number]) await wish(number);
    const { text } = await visitor.get('/wishlist');
    const cards = text.split('<li class="card"').slice(1);
    expect(cards).toHaveLength(3);
    expect(cards[0]).not.toContain('/cart/add');
    expect(cards[1]).not.toContain('/cart/add');
    expect(cards[1]).toContain('>Choose options</a');
    expect(cards[2]).toContain('action="/shop/DemoShop/cart/add"');
    for (const card of cards) expect(card).toContain('action="/shop/DemoShop/wishlist/remove"');
  });

  test('speaks the language of the visitor', async () => {
    await visitor.post('/wishlist/add?locale=de_DE', { productId: ids['TE-100']! });
    const { text } = await visitor.get('/wishlist?locale=de_DE');
    expect(text).toContain('<h1>Merkliste</h1>');
    expect(text).toContain('Der Artikel steht auf Ihrer Merkliste.');
    expect(text).toContain('action="/shop/DemoShop/wishlist/remove?locale=de_DE"');
  });

  test('forgets what is removed', async () => {
    await wish('TE-100');
    await wish('KN-100');
    const page = await visitor.submit('/wishlist/remove', { productId: ids['TE-100']! }, '/wishlist');
    expect(numbersOn(page)).toEqual(['KN-100']);
    expect(page.text).toContain('The product is no longer on your wish list.');
    expect(visitor.session()).toMatchObject({ wishlistCount: 1 });
    await visitor.submit('/wishlist/remove', { productId: ids['TE-100']! }, '/wishlist');
    await visitor.submit('/wishlist/remove', { productId: ids['KN-100']! }, '/wishlist');
    expect(visitor.session()).toMatchObject({ wishlistCount: 0 });
    expect(await wishes()).toEqual([]);
  });

  test('does not show or count what has become invisible', async () => {
    await wish('TE-100');
    await wish('KN-100');
    const setVisible = (isVisible: boolean) =>
      service.db.run(sql`
        update product set visible = ${isVisible}, version = version + 1
        where shop_id = 'DemoShop' and product_number = 'TE-100'`);
    await setVisible(false);
    expect(numbersOn(await visitor.get('/wishlist'))).toEqual(['KN-100']);
    expect(visitor.session()).toMatchObject({ wishlistCount: 1 });
    await setVisible(true);
    expect(numbersOn(await visitor.get('/wishlist'))).toEqual(['KN-100', 'TE-100']);
    expect(visitor.session()).toMatchObject({ wishlistCount: 2 });
  });

  test(`holds ${MAX_WISHLIST_ITEMS} products`, async () => {
    await wish('TE-100');
    const [{ hash }] = (await service.db.many<{ hash: Buffer }>(sql`
      select visitor_hash as hash from wish`)) as [{ hash: Buffer }];
    await service.db.run(sql`
      insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, prices, facts)
      select 'DemoShop', gen_random_uuid(), 'MANY-' || number, 'regular', ${NOW}, 1, true, '{"EUR": 100}', '{}'
      from generate_series(1, ${MAX_WISHLIST_ITEMS - 1}::int) as number`);
    await service.db.run(sql`
      insert into wish (shop_id, visitor_hash, product_id, created_at)
      select 'DemoShop', ${hash}, product_id, ${NOW}::timestamptz from product
      where shop_id = 'DemoShop' and product_number like 'MANY-%'`);
    const full = await visitor.submit('/wishlist/add', { productId: ids['KN-100']! }, '/wishlist');
    expect(full.text).toContain('Your wish list is full: it holds 200 products.');
    const again = await visitor.submit('/wishlist/add', { productId: ids['TE-100']! }, '/wishlist');
    expect(again.text).toContain('The product is on your wish list.');
    expect(numbersOn(again)).toHaveLength(MAX_WISHLIST_ITEMS);
    expect(await wishes()).toHaveLength(MAX_WISHLIST_ITEMS);
  });

  test('is of one visitor and one shop', async () => {
    await wish('TE-100');
    expect(mainOf(await givenVisitor(service, 'DemoShop').get('/wishlist'))).toContain(
      'nothing on your wish list',
    );
    const elsewhere = givenVisitor(service, 'OtherShop');
    elsewhere.useCookie(visitor.cookie());
    expect(mainOf(await elsewhere.get('/wishlist'))).toContain('nothing on your wish list');
  });

  test('refuses what is not there', async () => {
    await service.db.run(sql`
      update product set visible = false where shop_id = 'DemoShop' and product_number = 'KN-110'`);
    for (const productId of [
      '',
      'TE-100',
      '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E',
      ids['KN-110'] ?? '',
      others['TE-100']!,
    ]) {
      const { status } = await changesNothing(service, () => visitor.post('/wishlist/add', { productId }));
      expect([productId, status]).toEqual([productId, 404]);
    }
    expect(visitor.session()).toEqual({});
    const removed = await changesNothing(service, () => visitor.post('/wishlist/remove', { productId: 'x' }));
    expect(removed.status).toBe(303);
  });

  test('is forgotten after 400 days', async () => {
    await wish('TE-100');
    service.setClock(new Date(NOW.getTime() + 399 * DAY));
    expect(await wishlistCleanup.run(service.db, 10)).toBe(0);
    service.setClock(new Date(NOW.getTime() + 401 * DAY));
    expect(await wishlistCleanup.run(service.db, 10)).toBe(1);
    expect(mainOf(await visitor.get('/wishlist'))).toContain('nothing on your wish list');
  });
});

describe('being told when a product is back', () => {
  const watchers = () =>
    service.db.many(sql`
      select product_number as number, email, locale from watcher join product using (shop_id, product_id)
      order by email`);
  let soldOut: string;

  beforeAll(async () => {
    const [row] = await service.db.many<{ number: string }>(sql`
      select product_number as number from product
      where shop_id = 'DemoShop' and kind = 'regular' and visible and stock <= 0 order by product_number limit 1`);
    soldOut = row!.number;
  });

  test('notes the address in the language of the page', async () => {
    const answer = await visitor.post(`/Products/${soldOut}/notify?locale=de_DE`, {
      email: 'Ada@Mail.example',
    });
    expect([answer.status, answer.headers.location]).toEqual([
      303,
      `/shop/DemoShop/Products/${soldOut}?locale=de_DE`,
    ]);
    expect(visitor.session()).toMatchObject({
      notice: 'Wir senden Ihnen eine E-Mail, sobald der Artikel wieder verfügbar ist.',
    });
    await visitor.post(`/Products/${soldOut}/notify?locale=en_GB`, { email: 'ada@mail.example' });
    expect(await watchers()).toEqual([{ number: soldOut, email: 'ada@mail.example', locale: 'en_GB' }]);
  });

  test('is not needed for what can be bought', async () => {
    await changesNothing(service, () =>
      visitor.post('/Products/TE-100/notify', { email: 'ada@mail.example' }),
    );
    expect(visitor.session()).toMatchObject({ notice: 'This product is available. You can buy it now.' });
  });

  test.each(['', 'ada', 'a@b@c', 'a <b@c>', `${'a'.repeat(250)}@mail.example`])(
    'with the address %j is refused next to the field',
    async (email) => {
      const path = `/Products/${soldOut}/notify`;
      const answer = await changesNothing(service, () => visitor.post(path, { email }));
      expect(answer.status).toBe(400);
      expect(mainOf(answer)).toContain('Please enter an email address, such as name@example.com.');
      expect(answer.text).toContain(`action="/shop/DemoShop${path}"`);
      expect(answer.text).toContain('aria-invalid="true"');
    },
  );

  test.each(['NONE-1', '%00', "'"])('of the product %s is not found', async (number) => {
    const answer = await changesNothing(service, () =>
      visitor.post(`/Products/${number}/notify`, { email: 'ada@mail.example' }),
    );
    expect(answer.status).toBe(404);
  });
});
