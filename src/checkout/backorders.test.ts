import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  changesNothing,
  changeSettings,
  done,
  givenCart,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  linesOf,
  NOW,
  on,
  queuedEmails,
  reasonOf,
  type Shop,
} from '../../test/carts.ts';
import {
  lineIds,
  on as manage,
  placed,
  refused,
  service,
  SETTINGS,
  startManaging,
  stockOf,
  well,
  type Placed,
} from '../../test/managed-orders.ts';
import type { BackorderJob } from '../catalogue/products/backorder-queue.ts';
import { sql } from '../db/sql.ts';
import { tellWaiting } from '../orders/backorder-notices.ts';
import type { SettingsFile } from '../shops/settings/file.ts';

/** Products that are sold beyond their stock: what is promised, to whom, and who gets what arrives. */

beforeAll(() => startManaging());
afterAll(() => service.close());

const TERMS = { kind: 'backorder', limit: 5, expectedOn: '2027-03-01' };

const update = (shop: Shop, productId: string, body: object) =>
  service.call('PATCH', `/manage/shops/${shop.shopId}/products/${productId}`, { token: shop.token, body });

async function givenLamp(
  terms: object | null = TERMS,
  { stock = 3, settings = SETTINGS }: { stock?: number | null; settings?: SettingsFile } = {},
) {
  const shop = await givenSmallShop(service, settings);
  const lamp = await givenProduct(shop, { number: 'LAMP', ...(stock !== null && { stock }) });
  const { status, body } = await update(shop, lamp, { backorder: terms });
  expect([status, body.message]).toEqual([200, undefined]);
  return { shop, lamp };
}

const promisedOf = async ({ shopId }: Shop, productId: string) =>
  (await service.db.one<{ promised: number }>(sql`
    select promised::float8 as promised from product where shop_id = ${shopId} and product_id = ${productId}`))!
    .promised;

const stocks = async (shop: Shop, productId: string) => [
  await stockOf(shop, productId),
  await promisedOf(shop, productId),
];

const setStock = (shop: Shop, productId: string, value: number, op = 'replace') =>
  service.call('PATCH', `/${shop.shopId}/products/${productId}`, {
    token: shop.token,
    body: [{ op, path: '/stocklevel', value }],
  });

const productOf = async ({ shopId, token }: Shop, productId: string) =>
  (await service.call('GET', `/${shopId}/products/${productId}`, { token })).body;

/** What of each line waits, by the order. */
async function waitingOf(order: Placed): Promise<number[]> {
  const { management } = await well(order, 'GET');
  return (management.backorders ?? []).map(({ waiting }: { waiting: number }) => waiting);
}

/** Runs what the background does. */
async function tell({ shopId }: Shop): Promise<void> {
  const jobs = await service.db.many<{ content: BackorderJob }>(sql`
    delete from job where shop_id = ${shopId} and queue = 'backorder' returning content`);
  for (const { content } of jobs) await tellWaiting(service.db, content);
}

const emailsOf = async ({ shopId }: Shop, name: string) =>
  (await queuedEmails(service, shopId)).filter(({ template }) => template === name);

describe('a product on backorder', () => {
  test('can be ordered beyond its stock up to the limit, as the contract orders', async () => {
    const { shop, lamp } = await givenLamp();
    const cart = await givenFullCart(shop, { [lamp]: 20 });
    expect(linesOf(await done(cart, 'GET'))).toEqual([['LAMP', 8, 10, 80]]);
    await done(cart, 'POST', '/order');
    expect(await stocks(shop, lamp)).toEqual([0, 5]);
    expect(
      await reasonOf(
        service.call('POST', `/${shop.shopId}/carts`, {
          token: shop.token,
          body: { lineItems: [{ productId: lamp, quantity: 1 }] },
        }),
      ),
    ).toEqual([400, expect.stringContaining('LAMP')]);
  });

  test('says when it is expected, and keeps the fields of its stock', async () => {
    const { shop, lamp } = await givenLamp();
    expect(await productOf(shop, lamp)).toMatchObject({
      stocklevel: 3,
      availability: 'OnStock',
      availabilityText: 'In stock',
      backorder: { kind: 'backorder', expectedOn: '2027-03-01', isOpen: true, limit: 5, promised: 0 },
    });
    await placed(shop, { [lamp]: 4 });
    expect(await productOf(shop, lamp)).toMatchObject({
      stocklevel: 0,
      availability: 'OutStock',
      availabilityText: 'On backorder: expected around 1 March 2027',
      forSale: true,
      backorder: { isOpen: true, promised: 1 },
    });
    await placed(shop, { [lamp]: 4 });
    expect(await productOf(shop, lamp)).toMatchObject({
      availabilityText: 'Not in stock',
      backorder: { isOpen: false, promised: 5 },
    });
    const other = await givenProduct(shop, { number: 'OTHER', stock: 0 });
    expect(await productOf(shop, other)).not.toHaveProperty('backorder');
  });

  test('is sold by its own limit where the shop sells everything beyond its stock', async () => {
    const { shop, lamp } = await givenLamp(TERMS, {
      stock: 0,
      settings: { ...SETTINGS, sellBeyondStock: true },
    });
    const rope = await givenProduct(shop, { number: 'ROPE', stock: 0 });
    const cart = await givenFullCart(shop, { [lamp]: 9, [rope]: 9 });
    expect(linesOf(await done(cart, 'GET')).map(([, quantity]) => quantity)).toEqual([5, 9]);
    await done(cart, 'POST', '/order');
    expect([await stocks(shop, lamp), await stocks(shop, rope)]).toEqual([
      [0, 5],
      [-9, 0],
    ]);
  });

  test('is promised until its day has passed', async () => {
    const { shop, lamp } = await givenLamp({ ...TERMS, expectedOn: '2026-11-15' }, { stock: 0 });
    const cart = await givenFullCart(shop, { [lamp]: 1 });
    expect((await productOf(shop, lamp)).backorder.isOpen).toBe(true);
    // Eleven in the evening in UTC is the next day in Berlin.
    service.setClock(new Date('2026-11-15T23:10:00Z'));
    expect((await productOf(shop, lamp)).backorder.isOpen).toBe(false);
    expect((await changesNothing(service, () => reasonOf(on(cart, 'POST', '/order'))))[0]).toBe(409);
    service.setClock(NOW);
  });

  test('refuses terms that promise nothing certain', async () => {
    const { shop, lamp } = await givenLamp(null);
    const refusals = [
      { kind: 'preorder', limit: 5 },
      { kind: 'preorder', limit: 5, expectedOn: '2027-02-30' },
      { kind: 'backorder', limit: 0 },
      { kind: 'backorder', limit: 100_001 },
      { kind: 'never', limit: 1 },
    ];
    for (const backorder of refusals) {
      const [status] = await changesNothing(service, () => reasonOf(update(shop, lamp, { backorder })));
      expect([backorder, status]).toEqual([backorder, 400]);
    }
  });

  test('without a counted stock is sold as before', async () => {
    const { shop, lamp } = await givenLamp(TERMS, { stock: null });
    await placed(shop, { [lamp]: 50 });
    expect(await stocks(shop, lamp)).toEqual([null, 0]);
  });

  test('its variations have its terms, each with a limit of its own', async () => {
    const { shop, lamp } = await givenLamp(TERMS, { stock: null });
    const variation = async (number: string) => {
      const id = await givenProduct(shop, { number, stock: 0, facts: {} });
      await service.db.run(sql`
        update product set kind = 'variation', master_id = ${lamp}, selection = ${{ size: number }}
        where shop_id = ${shop.shopId} and product_id = ${id}`);
      return id;
    };
    await service.db.run(sql`
      update product set kind = 'master' where shop_id = ${shop.shopId} and product_id = ${lamp}`);
    const [small, large] = [await variation('SMALL'), await variation('LARGE')];
    const cart = await givenFullCart(shop, { [small]: 9, [large]: 9 });
    expect(linesOf(await done(cart, 'GET')).map(([, quantity]) => quantity)).toEqual([5, 5]);
    await done(cart, 'POST', '/order');
    expect([await promisedOf(shop, small), await promisedOf(shop, large)]).toEqual([5, 5]);
  });
});

describe('orders that wait', () => {
  test('of twenty at once, as many are placed as there are pieces and promises', async () => {
    const { shop, lamp } = await givenLamp();
    const carts = [];
    for (let index = 0; index < 20; index++) carts.push(await givenFullCart(shop, { [lamp]: 1 }));
    const answers = await Promise.all(carts.map((cart) => on(cart, 'POST', '/order')));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(8);
    expect(statuses.filter((status) => status === 409)).toHaveLength(12);
    expect(await stocks(shop, lamp)).toEqual([0, 5]);
    const ledger = await service.db.one<{ lines: number; waiting: number }>(sql`
      select count(*) as lines, sum(waiting)::float8 as waiting from backorder_line where shop_id = ${shop.shopId}`);
    expect(ledger).toEqual({ lines: 5, waiting: 5 });
  });

  test('get what arrives first come, first served, and it is not sold to others', async () => {
    const { shop, lamp } = await givenLamp(TERMS, { stock: 0 });
    const first = await placed(shop, { [lamp]: 2 });
    const second = await placed(shop, { [lamp]: 2 });
    const third = await placed(shop, { [lamp]: 1 });
    await setStock(shop, lamp, 3);
    expect(await stocks(shop, lamp)).toEqual([0, 2]);
    expect([await waitingOf(first), await waitingOf(second), await waitingOf(third)]).toEqual([
      [0],
      [1],
      [1],
    ]);
    // The limit counts what waits at the same time.
    expect(linesOf((await givenCart(shop, { [lamp]: 9 })).body).map(([, quantity]) => quantity)).toEqual([3]);
    await setStock(shop, lamp, 5, 'add');
    expect(await stocks(shop, lamp)).toEqual([3, 0]);
    const { management } = await well(third, 'GET');
    expect(management.backorders).toEqual([
      {
        lineItemId: lineIds(third.body)[0],
        quantity: 1,
        waiting: 0,
        expectedOn: '2027-03-01',
        readyOn: expect.stringMatching(/^2026-11-15T/),
      },
    ]);
  });

  test('are sent as far as they are ready', async () => {
    const { shop, lamp } = await givenLamp();
    const tea = await givenProduct(shop, { number: 'TEA', stock: 9 });
    const order = await placed(shop, { [lamp]: 5, [tea]: 1 });
    const [lampLine, teaLine] = lineIds(order.body) as [string, string];
    expect(
      await refused(order, 'POST', '/shipments', { lines: [{ lineItemId: lampLine, quantity: 4 }] }),
    ).toEqual([409, expect.stringContaining('not in stock yet')]);
    const sent = await well(order, 'POST', '/shipments', {});
    expect(sent.management.shipments[0].lines).toEqual([
      { lineItemId: lampLine, quantity: 3 },
      { lineItemId: teaLine, quantity: 1 },
    ]);
    expect([sent.partiallyDispatchedOn === null, sent.dispatchedOn]).toEqual([false, null]);
    expect(await refused(order, 'POST', '/shipments', {})).toEqual([
      409,
      expect.stringContaining('not in stock yet'),
    ]);
    await setStock(shop, lamp, 2);
    const rest = await well(order, 'POST', '/shipments', {});
    expect(rest.management.shipments[1].lines).toEqual([{ lineItemId: lampLine, quantity: 2 }]);
    expect(rest.dispatchedOn).not.toBeNull();
  });

  test('give back what they wait for first, and then what they have', async () => {
    const { shop, lamp } = await givenLamp();
    const order = await placed(shop, { [lamp]: 5 });
    expect(await stocks(shop, lamp)).toEqual([0, 2]);
    const [line] = lineIds(order.body);
    await well(order, 'POST', '/edit');
    await well(order, 'PUT', `/line-items/${line}`, { quantity: 4 });
    expect(await stocks(shop, lamp)).toEqual([0, 1]);
    await well(order, 'PUT', `/line-items/${line}`, { quantity: 2 });
    expect(await stocks(shop, lamp)).toEqual([1, 0]);
    await well(order, 'PUT', `/line-items/${line}`, { quantity: 7 });
    expect(await stocks(shop, lamp)).toEqual([0, 4]);
    expect(await refused(order, 'PUT', `/line-items/${line}`, { quantity: 9 })).toEqual([
      409,
      expect.stringContaining('LAMP'),
    ]);
    await well(order, 'DELETE', '/edit');
    await well(order, 'POST', '/cancel', {});
    expect(await stocks(shop, lamp)).toEqual([3, 0]);
  });

  test('leave to the next what they give back', async () => {
    const { shop, lamp } = await givenLamp({ kind: 'backorder', limit: 5 }, { stock: 2 });
    const first = await placed(shop, { [lamp]: 3 });
    const second = await placed(shop, { [lamp]: 2 });
    expect(await stocks(shop, lamp)).toEqual([0, 3]);
    await well(first, 'POST', '/cancel', {});
    // One was promised to the first, and its two go to the second.
    expect(await stocks(shop, lamp)).toEqual([0, 0]);
    expect(await waitingOf(second)).toEqual([0]);
  });

  test('get what others send back', async () => {
    const { shop, lamp } = await givenLamp({ kind: 'backorder', limit: 5 }, { stock: 1 });
    const first = await placed(shop, { [lamp]: 1 });
    const second = await placed(shop, { [lamp]: 1 });
    await well(first, 'POST', '/shipments', {});
    await well(first, 'POST', '/returns', {
      lines: [{ lineItemId: lineIds(first.body)[0], quantity: 1 }],
    });
    expect(await stocks(shop, lamp)).toEqual([0, 0]);
    expect(await waitingOf(second)).toEqual([0]);
  });

  test('wait no longer when an older program says that all was sent, or the product is gone', async () => {
    const { shop, lamp } = await givenLamp(TERMS, { stock: 0 });
    const first = await placed(shop, { [lamp]: 1 });
    const second = await placed(shop, { [lamp]: 1 });
    const { status } = await service.call('PATCH', `/${shop.shopId}/orders/${first.id}`, {
      token: shop.token,
      body: [{ op: 'add', path: '/dispatchedOn', value: '2026-11-15T09:00:00Z' }],
    });
    expect([status, await stocks(shop, lamp)]).toEqual([200, [0, 1]]);
    await service.call('DELETE', `/${shop.shopId}/products/${lamp}`, { token: shop.token });
    expect(await waitingOf(second)).toEqual([0]);
    expect((await manage(second, 'POST', '/shipments', {})).status).toBe(201);
  });

  test('are enough served when the stock is no longer counted', async () => {
    const { shop, lamp } = await givenLamp(TERMS, { stock: 0 });
    const order = await placed(shop, { [lamp]: 4 });
    await service.call('PATCH', `/${shop.shopId}/products/${lamp}`, {
      token: shop.token,
      body: [{ op: 'remove', path: '/stocklevel' }],
    });
    expect([await stocks(shop, lamp), await waitingOf(order)]).toEqual([[null, 0], [0]]);
  });

  test('arrive later: the day of delivery counts from the day of the last goods', async () => {
    const { shop, lamp } = await givenLamp(TERMS, {
      settings: {
        ...SETTINGS,
        deliveryTimes: {
          timeZone: 'Europe/Berlin',
          handling: { from: 0, to: 1 },
          methods: { parcel: { from: 1, to: 2 } },
        },
      },
    });
    const deliveryOf = async (quantity: number) => {
      const { id } = await placed(shop, { [lamp]: quantity });
      const row = await service.db.one<{ days: object }>(sql`
        select content -> 'expectedDelivery' as days from customer_order
        where shop_id = ${shop.shopId} and order_id = ${id}`);
      return row!.days;
    };
    expect(await deliveryOf(2)).toEqual({ from: '2026-11-17', to: '2026-11-19' });
    expect(await deliveryOf(2)).toEqual({ from: '2027-03-02', to: '2027-03-04' });
  });
});

describe('a bundle', () => {
  test('is sold beyond its stock as its parts are', async () => {
    const { shop, lamp } = await givenLamp(TERMS, { stock: 2 });
    const book = await givenProduct(shop, { number: 'BOOK', stock: 9 });
    const set = await givenProduct(shop, { number: 'SET' });
    const parts = [
      { productId: lamp, quantity: 2 },
      { productId: book, quantity: 1 },
    ];
    expect((await update(shop, set, { parts })).status).toBe(200);
    expect(await productOf(shop, set)).toMatchObject({
      stocklevel: 1,
      backorder: { kind: 'backorder', expectedOn: '2027-03-01', isOpen: true },
    });
    const cart = await givenFullCart(shop, { [set]: 9 });
    expect(linesOf(await done(cart, 'GET')).map(([, quantity]) => quantity)).toEqual([3]);
    const body = await done(cart, 'POST', '/order');
    expect([await stocks(shop, lamp), await stockOf(shop, book)]).toEqual([[0, 4], 6]);
    expect(await productOf(shop, set)).toMatchObject({ stocklevel: 0, backorder: { isOpen: false } });
    const order = { shop, id: body.orderId, body };
    expect(await waitingOf(order)).toEqual([4]);
    await setStock(shop, lamp, 5);
    expect([await stocks(shop, lamp), await waitingOf(order)]).toEqual([[1, 0], [0]]);
    expect(await changesNothing(service, () => reasonOf(update(shop, set, { backorder: TERMS })))).toEqual([
      409,
      expect.stringContaining('parts'),
    ]);
    // It follows its parts when they change.
    await update(shop, lamp, { backorder: null });
    expect(await productOf(shop, set)).not.toHaveProperty('backorder');
  });
});

describe('customers who wait', () => {
  test('hear once of each new day, and that they may cancel', async () => {
    const { shop, lamp } = await givenLamp(TERMS, { stock: 0 });
    const order = await placed(shop, { [lamp]: 2 });
    await tell(shop);
    expect(await emailsOf(shop, 'backorderMoved')).toEqual([]);
    await update(shop, lamp, { backorder: { ...TERMS, expectedOn: '2027-04-15' } });
    await update(shop, lamp, { backorder: { ...TERMS, limit: 9, expectedOn: '2027-04-15' } });
    await tell(shop);
    await tell(shop);
    const emails = await emailsOf(shop, 'backorderMoved');
    expect(emails.map(({ to, facts }) => [to, facts])).toEqual([
      [
        'ada.lindqvist@mail.example',
        {
          orderId: order.id,
          orderNumber: order.body.orderNumber,
          goods: ['2\u00a0× LAMP'],
          date: '15 April 2027',
        },
      ],
    ]);
    expect((await well(order, 'GET')).management.backorders[0].expectedOn).toBe('2027-04-15');
    await update(shop, lamp, { backorder: { kind: 'backorder', limit: 9 } });
    await tell(shop);
    expect((await emailsOf(shop, 'backorderMoved')).at(-1)!.facts).toMatchObject({ date: null });
  });

  test('of hundreds are told in steps', async () => {
    const { shop, lamp } = await givenLamp({ ...TERMS, limit: 500 }, { stock: 0 });
    const order = await placed(shop, { [lamp]: 1 });
    await service.db.run(sql`
      insert into backorder_line (shop_id, order_id, line_item_id, product_id, ordered_at, quantity, waiting, expected_on)
      select shop_id, order_id, gen_random_uuid(), product_id, ordered_at, 1, 1, expected_on
      from backorder_line, generate_series(1, 150) where shop_id = ${shop.shopId}`);
    await tell(shop);
    await update(shop, lamp, { backorder: { ...TERMS, limit: 500, expectedOn: '2027-05-01' } });
    const untold = async () =>
      (await service.db.one<{ lines: number }>(sql`
        select count(*) as lines from backorder_line
        where shop_id = ${shop.shopId} and expected_on = '2027-03-01'`))!.lines;
    await tell(shop);
    expect(await untold()).toBe(51);
    await tell(shop);
    expect(await untold()).toBe(0);
    expect((await emailsOf(shop, 'backorderMoved')).map(({ to }) => to)).toEqual([
      order.body.billingAddress.emailAddress,
    ]);
  });

  test('hear when all of a line is there, if the shop wants', async () => {
    const { shop, lamp } = await givenLamp(TERMS, { stock: 0 });
    const order = await placed(shop, { [lamp]: 2 });
    await setStock(shop, lamp, 1);
    await tell(shop);
    expect(await emailsOf(shop, 'backorderReady')).toEqual([]);
    await setStock(shop, lamp, 1);
    await tell(shop);
    await tell(shop);
    expect((await emailsOf(shop, 'backorderReady')).map(({ facts }) => facts)).toEqual([
      { orderId: order.id, orderNumber: order.body.orderNumber, goods: ['2\u00a0× LAMP'] },
    ]);
    await changeSettings(shop, { backorderReadyEmails: false });
    await placed(shop, { [lamp]: 1 });
    await setStock(shop, lamp, 1);
    await tell(shop);
    expect(await emailsOf(shop, 'backorderReady')).toHaveLength(1);
  });

  test('hear nothing of an order that was cancelled', async () => {
    const { shop, lamp } = await givenLamp(TERMS, { stock: 0 });
    const order = await placed(shop, { [lamp]: 2 });
    await well(order, 'POST', '/cancel', {});
    await update(shop, lamp, { backorder: { ...TERMS, expectedOn: '2027-06-01' } });
    await setStock(shop, lamp, 5);
    await tell(shop);
    expect([
      ...(await emailsOf(shop, 'backorderMoved')),
      ...(await emailsOf(shop, 'backorderReady')),
    ]).toEqual([]);
  });
});
