import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant } from '../../../test/admin.ts';
import { done, givenFullCart } from '../../../test/carts.ts';
import { startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';

let service: Service;
beforeAll(async () => {
  service = await startDemo();
});
afterAll(() => service.close());

const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

test('the numbers are those of the orders', async () => {
  const merchant = await givenMerchant(service);
  const [open] = await service.db.many<{ unpaid: number; unsent: number }>(sql`
    select count(*) filter (where paid_at is null) as unpaid,
      count(*) filter (
        where dispatched_at is null and delivered_at is null and returned_at is null
          and (payment_wait is null or paid_at is not null or paid_amount >= grand_total)
      ) as unsent
    from customer_order
    where shop_id = 'DemoShop' and rejected_at is null and closed_at is null and archived_at is null`);
  const [sold] = await service.db.many<{ orders: number; gross: number }>(sql`
    select count(*) as orders, sum(grand_total)::bigint as gross from customer_order
    where shop_id = 'DemoShop' and currency = 'EUR' and rejected_at is null
      and created_at >= ${new Date(service.db.now.getTime() - 89 * 86_400_000).toISOString().slice(0, 10)}::date`);
  const text = textOf((await merchant.get('?days=90')).text);
  expect(text).toContain(`Orders to ship ${open!.unsent} `);
  expect(text).toContain(`Unpaid orders ${open!.unpaid} `);
  const revenue = (sold!.gross / 100).toLocaleString('en-GB', { style: 'currency', currency: 'EUR' });
  expect(text).toContain(`Revenue ${revenue} `);
  expect(text).toContain(`Orders ${sold!.orders} `);
});

test('best sellers that are not counted from the whole period say since when they are', async () => {
  const merchant = await givenMerchant(service);
  expect((await merchant.get('?days=90')).text).not.toContain('Based on the latest');
  const sold = new Date(service.db.now.getTime() - 3 * 86_400_000);
  await service.db.run(sql`
    insert into order_line (shop_id, order_id, line_item_id, product_id, created_at, currency, quantity, gross, net)
    select shop_id, order_id, gen_random_uuid(), gen_random_uuid(), ${sold}::timestamptz, 'EUR', 2, 500000, 400000
    from generate_series(1, 10000) cross join (
      select shop_id, order_id from customer_order where shop_id = 'DemoShop' order by order_id desc limit 1
    ) newest`);
  const day = sold.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
  const text = textOf((await merchant.get('?days=7')).text);
  expect(text).toContain(`Based on the latest 10,000 order lines, since ${day}.`);
  await service.db.run(sql`delete from order_line where shop_id = 'DemoShop' and gross = 500000`);
});

test('a cancelled order does not count for the best sellers', async () => {
  const merchant = await givenMerchant(service);
  const best = async () =>
    textOf(/<h2 id="best">[\s\S]*?<\/section>/.exec((await merchant.get('?days=7')).text)![0]);
  const before = await best();
  const product = await service.db.one<{ id: string }>(
    sql`select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = 'KN-110'`,
  );
  const shop = { service, shopId: 'DemoShop', token: 'demo-all', ids: { 'KN-110': product!.id } };
  const { orderId } = await done(await givenFullCart(shop, { 'KN-110': 30 }), 'POST', '/order');
  expect(await best()).toContain('Reefline Paring Knife 30 ×');
  const cancelled = await service.call('POST', `/manage/shops/DemoShop/orders/${orderId}/cancel`, {
    token: 'demo-all',
    body: {},
  });
  expect(cancelled.status).toBe(200);
  expect(await best()).toBe(before);
});

test('whoever may not see orders sees none of their numbers', async () => {
  const merchant = await givenMerchant(service, 'catalogue');
  const text = textOf((await merchant.get('')).text);
  for (const word of ['Orders to ship', 'Revenue', 'Best sellers']) expect(text).not.toContain(word);
});

test('the search finds orders, products, customers and pages, each for those who may see them', async () => {
  const owner = await givenMerchant(service);
  const order = await service.db.one<{ number: string; id: string }>(sql`
    select order_number as number, upper(order_id::text) as id from customer_order
    where shop_id = 'DemoShop' order by order_number limit 1`);
  expect((await owner.get(`/search?q=${order!.number}`)).text).toContain(`/orders/${order!.id}"`);
  expect(textOf((await owner.get('/search?q=la-10')).text)).toContain('Lantern Point Lamp LA-100');
  expect(textOf((await owner.get('/search?q=ada%40')).text)).toContain('Ada Brennan ada@pelican.example');
  expect((await owner.get('/search?q=custom')).text).toContain('href="/admin/shops/DemoShop/customers">');
  expect((await owner.get('/search?q=%3Cb%3E')).text).toContain('“&lt;b&gt;”');
  const catalogue = await givenMerchant(service, 'catalogue');
  expect(textOf((await catalogue.get('/search?q=ada%40')).text)).not.toContain('pelican');
});
