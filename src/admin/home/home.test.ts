import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { done, givenCart, givenFullCart } from '../../../test/carts.ts';
import { givenOtherShop, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { cartDays } from '../../carts/cart-days.ts';
import { sql } from '../../db/sql.ts';
import { reportSums } from '../../orders/reports/counting.ts';
import { findStaleDays } from '../../orders/reports/day-sums.ts';

let service: Service;
beforeAll(async () => {
  service = await startDemo();
  await givenOtherShop(service);
});
afterAll(() => service.close());

const BUYER = {
  firstName: 'Tove',
  lastName: 'Oestergaard',
  company: 'Nordlicht Kontor',
  street: 'Sandtorkai 50',
  zipCode: '2045 7X',
  phoneNumber: '+49 (0)40 / 987 65 43',
  mobilePhoneNumber: '+49 1511 2233445',
  emailAddress: 'tove@oestergaard.example',
};
const RECIPIENT = {
  firstName: 'Nils',
  lastName: 'Fjellstad',
  street: 'Havnegata 1',
  zipCode: '0150Z',
  city: 'Hamburg',
  country: 'DE',
};

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

test('staff who may not see orders see none of their numbers', async () => {
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

describe('the search finds an order and its customer', () => {
  let owner: Merchant;
  let orderId: string;
  let orderNumber: string;
  let customerId: string;
  beforeAll(async () => {
    owner = await givenMerchant(service);
    const products = await service.db.many<{ id: string; number: string }>(sql`
      select upper(product_id::text) as id, product_number as number from product
      where shop_id = 'DemoShop' and product_number = 'KN-110'`);
    const shop = { service, shopId: 'DemoShop', token: 'demo-all', ids: { 'KN-110': products[0]!.id } };
    const cart = await givenFullCart(shop, { 'KN-110': 1 }, { address: BUYER });
    await done(cart, 'PUT', '/shipping-address', { ...BUYER, ...RECIPIENT });
    const order = await done(cart, 'POST', '/order');
    ({ orderId, orderNumber, customerId } = order);
    await service.call('POST', `/manage/shops/DemoShop/orders/${orderId}/shipments`, {
      token: 'demo-all',
      body: { trackingCode: '00340434 1610 9404.2557' },
    });
  });

  const found = async (text: string, merchant = owner) => {
    const { text: page } = await merchant.get(`/search?q=${encodeURIComponent(text)}`);
    return {
      order: page.includes(`/orders/${orderId}"`),
      customer: page.includes(`/customers/${customerId}"`),
    };
  };

  test.each([
    ['the whole number', (number: string) => number],
    ['its last digits', (number: string) => number.slice(-4)],
    ['its beginning and no more', (number: string) => number.slice(0, -2)],
    ['a part of the middle, in small letters', (number: string) => number.slice(1, -1).toLowerCase()],
  ])('by %s', async (_name, partOf) => {
    expect((await found(partOf(orderNumber))).order).toBe(true);
  });

  test.each([
    ['telephone as it is stored', '+49 (0)40 / 987 65 43'],
    ['telephone without the country', '040 9876543'],
    ['telephone as it is dialled from abroad', '0049409876543'],
    ['telephone with its plus sign', '+49-40-987-6543'],
    ['last digits of the telephone', '876543'],
    ['mobile telephone', '01511 2233445'],
    ['street', 'sandtorkai 50'],
    ['postcode', '20457x'],
    ['postcode with a space', '2045 7X'],
    ['company', 'nordlicht kont'],
    ['last name', 'oestergaard'],
    ['whole name', 'tove oester'],
    ['email address', 'tove@oester'],
  ])('by the %s', async (_name, text) => {
    expect(await found(text)).toEqual({ order: true, customer: true });
  });

  test.each([
    ['tracking number', '00340434161094042557'],
    ['beginning of the tracking number, in groups', '0034 0434 1610'],
    ['name of the recipient', 'fjellstad'],
    ['street of the recipient', 'havnegata 1'],
    ['postcode of the recipient', '0150z'],
  ])('by the %s', async (_name, text) => {
    expect(await found(text)).toEqual({ order: true, customer: false });
  });

  test('by the number of its invoice, and says so', async () => {
    const path = `/manage/shops/DemoShop/orders/${orderId}/invoices`;
    const { body } = await service.call('POST', path, { token: 'demo-all', body: {} });
    const number = body.documentNumber as string;
    for (const text of [number, `Invoice ${number}`, `#${number}`]) {
      expect(await found(text)).toMatchObject({ order: true });
    }
    const { text } = await owner.get(`/search?q=Invoice+${number}`);
    expect(textOf(text)).toContain(
      `${orderNumber} Tove Oestergaard · found by invoice or credit note number`,
    );
  });

  test('not by another telephone number that ends alike', async () => {
    expect(await found('+49 89 9876543')).toEqual({ order: false, customer: false });
    expect(await found('6543')).toEqual({ order: false, customer: false });
  });

  test('not in another shop, and customers not without that permission', async () => {
    const stranger = await givenMerchant(service, 'owner', 'OtherShop');
    for (const text of [orderNumber, '040 9876543', 'sandtorkai', '00340434161094042557', 'fjellstad']) {
      expect(await found(text, stranger)).toEqual({ order: false, customer: false });
    }
    const catalogue = await givenMerchant(service, 'catalogue');
    expect(await found('sandtorkai', catalogue)).toEqual({ order: false, customer: false });
  });

  test('the lists of orders and of customers find them too', async () => {
    expect((await owner.get('/orders?q=sandtorkai')).text).toContain(orderNumber);
    expect((await owner.get('/orders?q=00340434161094042557')).text).toContain(orderNumber);
    expect((await owner.get('/customers?q=040%209876543')).text).toContain('Oestergaard');
  });

  test('a text of any kind is bounded and finds nothing', async () => {
    for (const text of ['0'.repeat(5_000), "'; drop table customer; --", '%_', '\u{10FFFF}', '(0)(0)']) {
      expect(await found(text)).toEqual({ order: false, customer: false });
    }
  });

  test('nothing of an erased person, but the order by its number', async () => {
    const erased = await service.call(
      'POST',
      `/manage/shops/DemoShop/customers/${customerId}/erase?force=true`,
      {
        token: 'demo-all',
      },
    );
    expect(erased.status).toBe(200);
    for (const text of [
      '040 9876543',
      'sandtorkai',
      '20457x',
      'nordlicht',
      'oestergaard',
      'fjellstad',
      'havnegata',
      '00340434161094042557',
    ]) {
      expect(await found(text)).toEqual({ order: false, customer: false });
    }
    expect((await found(orderNumber)).order).toBe(true);
  });
});

describe('a report', () => {
  let owner: Merchant;
  const ALL = 'from=2020-01-01&to=2026-12-31&compare=none&currency=EUR';
  beforeAll(async () => {
    owner = await givenMerchant(service);
  });

  const rowsOf = async (query: string, file = 'parts.csv') => {
    const { status, text } = await owner.get(`/reports/${file}?${query}`);
    expect(status).toBe(200);
    return text
      .replace('\u{FEFF}', '')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(','));
  };
  const sumOf = (rows: string[][], fromEnd: number) =>
    rows.reduce((sum, row) => sum + Math.round(Number(row.at(fromEnd)) * 100), 0);
  /** What looking at every order says. */
  const sold = async () =>
    (await service.db.one<{ orders: number; gross: number; net: number }>(sql`
      select count(*) as orders, sum(grand_total)::bigint as gross, round(sum(net_revenue))::bigint as net
      from customer_order where shop_id = 'DemoShop' and currency = 'EUR' and rejected_at is null
        and created_at between '2020-01-01' and '2027-01-01'`))!;
  const expectClosed = async () => {
    const orders = await sold();
    for (const part of ['product', 'category', 'country', 'payment', 'source', 'group', 'customer']) {
      const rows = await rowsOf(`${ALL}&by=${part}`);
      const counted = part === 'product' || part === 'category';
      expect({
        part,
        gross: sumOf(rows, -3),
        net: sumOf(rows, -2),
        ...(!counted && { orders: rows.reduce((sum, row) => sum + Number(row[1]), 0) }),
      }).toEqual({ part, gross: orders.gross, net: orders.net, ...(!counted && { orders: orders.orders }) });
    }
    const months = await rowsOf(ALL, 'days.csv');
    expect([months.length, sumOf(months, 1), sumOf(months, 2)]).toEqual([84, orders.gross, orders.net]);
  };
  const stale = () => findStaleDays(service.db, 'DemoShop', { from: '2020-01-01', to: '2026-12-31' }, 1_000);
  const count = async () => {
    await service.db.run(sql`update report_run set due_at = '-infinity'`);
    while ((await reportSums.run(service.db, 500)) === 500);
  };

  test('closes with the orders to the cent, before its days are counted and after', async () => {
    expect((await stale()).length).toBeGreaterThan(3);
    await expectClosed();
    await count();
    expect(await stale()).toEqual([]);
    await expectClosed();
    // Counting again doubles nothing.
    await service.db.run(sql`update report_state set print = '' where shop_id = 'DemoShop'`);
    await count();
    expect(await stale()).toEqual([]);
    await expectClosed();
  });

  test('closes after a cancellation, and after an order was sent to another country', async () => {
    const before = await sold();
    const orders = await service.db.many<{ id: string }>(sql`
      select upper(order_id::text) as id from customer_order
      where shop_id = 'DemoShop' and currency = 'EUR' and rejected_at is null and dispatched_at is null
        and erased_at is null and paid_amount = 0
      order by created_at limit 2`);
    const [first, second] = orders.map(({ id }) => id);
    const cancelled = await service.call('POST', `/manage/shops/DemoShop/orders/${first}/cancel`, {
      token: 'demo-all',
      body: {},
    });
    expect(cancelled.status).toBe(200);
    expect((await sold()).orders).toBe(before.orders - 1);
    await expectClosed();
    const moved = await service.call('PATCH', `/DemoShop/orders/${second}`, {
      token: 'demo-all',
      body: [{ op: 'add', path: '/shippingAddress', value: { ...BUYER, ...RECIPIENT, country: 'AT' } }],
    });
    expect(moved.status).toBe(200);
    const countries = await rowsOf(`${ALL}&by=country`);
    expect(countries.some(([name]) => name === 'Austria')).toBe(true);
    expect(await stale()).not.toEqual([]);
    await count();
    expect(await stale()).toEqual([]);
    expect(await rowsOf(`${ALL}&by=country`)).toEqual(countries);
    await expectClosed();
  });

  test('is compared with the period before and the year before', async () => {
    const gross = async (from: string, to: string) =>
      (await service.db.one<{ gross: number }>(sql`
        select coalesce(sum(grand_total), 0)::bigint as gross from customer_order
        where shop_id = 'DemoShop' and currency = 'EUR' and rejected_at is null
          and created_at >= ${from}::date and created_at < ${to}::date + 1`))!.gross;
    const today = service.db.now.toISOString().slice(0, 10);
    const shifted = (days: number) =>
      new Date(Date.parse(today) - days * 86_400_000).toISOString().slice(0, 10);
    const rows = await rowsOf(`from=${shifted(2)}&to=${today}&compare=before&by=country`);
    expect(sumOf(rows, -1)).toBe(await gross(shifted(5), shifted(3)));
    expect(sumOf(rows, -4)).toBe(await gross(shifted(2), today));
    const next = `${Number(today.slice(0, 4)) + 1}${today.slice(4)}`;
    const later = await rowsOf(`from=${next}&to=${next}&compare=year&by=country`);
    expect([sumOf(later, -4), sumOf(later, -1)]).toEqual([0, await gross(today, today)]);
  });

  test('counts carts on the day of their creation, with address and ordered, and keeps them when they are gone', async () => {
    const today = service.db.now.toISOString().slice(0, 10);
    const yesterday = new Date(Date.parse(today) - 86_400_000).toISOString().slice(0, 10);
    const query = `from=${yesterday}&to=${today}&compare=none`;
    const countsOf = async () => (await rowsOf(query, 'carts.csv')).map((row) => row.slice(0, 4));
    const before = await countsOf();
    const product = await service.db.one<{ id: string }>(sql`
      select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = 'KN-110'`);
    const shop = { service, shopId: 'DemoShop', token: 'demo-all', ids: { 'KN-110': product!.id } };
    await givenCart(shop, { 'KN-110': 1 });
    const left = await givenFullCart(shop, { 'KN-110': 1 });
    await done(await givenFullCart(shop, { 'KN-110': 1 }), 'POST', '/order');
    const plus = (row: string[], carts: number, address: number, orders: number) => [
      row[0],
      ...[carts, address, orders].map((more, index) => String(Number(row[index + 1]) + more)),
    ];
    const after = [before[0]!, plus(before[1]!, 3, 2, 1)];
    expect(await countsOf()).toEqual(after);
    const { cartId: id } = left.body;
    await service.db.run(sql`
      update cart set created_at = created_at - interval '9 days', changed_at = changed_at - interval '9 days'
      where shop_id = 'DemoShop' and cart_id = ${id}`);
    const nineAgo = new Date(Date.parse(today) - 9 * 86_400_000).toISOString().slice(0, 10);
    await cartDays.run(service.db, 500);
    const old = `from=${nineAgo}&to=${nineAgo}&compare=none`;
    const kept = await rowsOf(old, 'carts.csv');
    expect(Number(kept[0]![1])).toBeGreaterThan(0);
    // The cart ends, and the day is counted again: what is known stays.
    await service.db.run(sql`delete from cart where shop_id = 'DemoShop' and cart_id = ${id}`);
    await service.db.run(sql`update cart_day_run set due_at = '-infinity'`);
    await cartDays.run(service.db, 500);
    expect(await rowsOf(old, 'carts.csv')).toEqual(kept);
    const page = textOf((await owner.get(`/reports?${query}`)).text);
    expect(page).toContain('From cart to order');
    const stranger = await givenMerchant(service, 'owner', 'OtherShop');
    expect(textOf((await stranger.get(`/reports?${query}`)).text)).toContain('Carts 0');
  });

  test('is a page with figures, chart and tables, for those who may see orders', async () => {
    const { text, status } = await owner.get('/reports?by=payment');
    expect(status).toBe(200);
    for (const part of [
      'id="chart"',
      'Average order value',
      'Breakdown: Payment method',
      '/reports/parts.csv?',
    ]) {
      expect(text).toContain(part);
    }
    const refused = await owner.get(
      '/reports?from=2026-02-01&to=2026-01-01&by=nothing&compare=x&currency=%27',
    );
    expect([refused.status, refused.text.includes('Choose a period of 1 to 3660 days.')]).toEqual([
      200,
      true,
    ]);
    expect((await owner.get('/reports/other.csv')).status).toBe(404);
    const catalogue = await givenMerchant(service, 'catalogue');
    expect((await catalogue.get('/reports')).status).toBe(403);
    const stranger = await givenMerchant(service, 'owner', 'OtherShop');
    expect((await stranger.get('/reports?by=country')).text).toContain('Nothing was sold in this period.');
  });
});
