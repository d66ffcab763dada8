import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ADA,
  changesNothing,
  changeSettings,
  DAY,
  done,
  givenCart,
  givenDemoShop,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  ID,
  NO_TOKEN,
  NOW,
  on,
  operationsOn,
  paymentId,
  price,
  problem,
  queuedEmails,
  reasonOf,
  refusal,
  shippingId,
  totalsOf,
  type GivenCart,
  type Shop,
} from '../../test/carts.ts';
import { startService, type Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';
import { ADDRESS_FIELDS } from '../shops/countries/address.ts';
import { orderConfirmation } from '../orders/confirmation-email.ts';
import type { QueuedEmail } from '../platform/email/queue.ts';
import { STATES } from '../orders/schema.ts';

let service: Service;
let demo: Shop;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  service.setClock(NOW);
  // A shop is gone with everything it has, so each test begins with full shelves and the first number.
  await service.db.run(sql`delete from shop`);
  await service.db.run(sql`delete from job`);
  demo = await givenDemoShop(service);
});
afterAll(() => service.close());

const order = (cart: GivenCart) => on(cart, 'POST', '/order');
const placed = (cart: GivenCart) => done(cart, 'POST', '/order');
const NOTHING = Object.fromEntries(ADDRESS_FIELDS.map((field) => [field, null]));
const productRow = (productId: string) =>
  service.db.one<{ stock: number | null; version: number; stockChangedAt: Date | null }>(sql`
    select stock::float8 as stock, version, stock_changed_at as "stockChangedAt" from product
    where product_id = ${productId}`);
const customerNumbers = async (shopId: string) =>
  (
    await service.db.many<{ number: string }>(sql`
      select customer_number as number from customer where shop_id = ${shopId} order by created_at, customer_id`)
  ).map(({ number }) => number);
const counters = async (shopId: string) =>
  Object.fromEntries(
    (
      await service.db.many<{ name: string; value: number }>(sql`
        select name, value from counter where shop_id = ${shopId} and name in ('order', 'customer')`)
    ).map(({ name, value }) => [name, value]),
  );

describe('an order', () => {
  test('answers 201 with what the cart came to, a number and a new customer', async () => {
    const cart = await givenFullCart(demo, { 'KN-101': 1, 'KN-120': 1 }, { locale: 'de_DE' });
    await done(cart, 'POST', '/coupon', { code: 'AUTUMN15' });
    const before = await done(cart, 'GET');
    const { status, headers, body } = await order(cart);
    expect(status).toBe(201);
    expect(headers['content-type']).toBe('application/json');
    const base = 'http://localhost:80/rs/shops/DemoShop';
    const whole = {
      orderId: ID,
      orderNumber: 'ORD261115/1001',
      creationDate: '2026-11-15T08:30:00.000Z',
      customerId: ID,
      customerNumber: '1016',
      locale: 'de_DE',
      currencyId: 'EUR',
      taxModel: 'GROSS',
      grandTotal: '87.94',
      totalBeforeTax: '73.9',
      totalTax: '14.04',
      customerComment: null,
      internalNote: null,
      billingAddress: { ...NOTHING, ...ADA },
      shippingAddress: null,
      shippingData: before.shippingData,
      paymentData: before.paymentData,
      viewedOn: null,
      lastUpdatedOnDate: null,
      rejectedOn: null,
      inProcessOn: null,
      pendingOn: null,
      readyForDispatchOn: null,
      partiallyDispatchedOn: null,
      dispatchedOn: null,
      deliveredOn: null,
      partiallyInvoicedOn: null,
      invoicedOn: null,
      partiallyPaidOn: null,
      paidOn: null,
      returnedOn: null,
      closedOn: null,
      archivedOn: null,
      lineItemContainer: before.lineItemContainer,
      links: [
        { rel: 'self', href: `${base}/orders/${body.orderId}` },
        { rel: 'customer', href: `${base}/customers/${body.customerId}` },
        {
          rel: 'shipping-method',
          href: `${base}/shipping-methods/${before.shippingData.shippingMethod.id}`,
        },
      ],
    };
    expect(body).toEqual(whole);
    expect(Object.keys(body)).toEqual(Object.keys(whole));
    expect(STATES.every((state) => body[state] === null)).toBe(true);
    expect(Object.keys(body.billingAddress)).toEqual([...ADDRESS_FIELDS]);
    expect(body.lineItemContainer.productLineItems[0].name).toBe('Reefline Kochmesser');
    const customer = await service.call('GET', `/DemoShop/customers/${body.customerId}`, {
      token: demo.token,
    });
    expect(customer.body).toMatchObject({ customerNumber: '1016', billingAddress: { ...NOTHING, ...ADA } });
  });

  interface Golden {
    order: number;
    quantities: Record<string, number>;
    mail: string;
    customer: string;
    address?: object;
    currency?: string;
    coupon?: string;
    shipping?: string;
    payment?: string;
    /** quantities, discount, coupon, shipping, payment, total, before tax, tax */
    totals: [number, number, number, number, number, number, number, number];
  }

  const JONAS = { mail: 'jonas.w@mail.example', customer: '1002' };
  const GOLDEN: Golden[] = [
    {
      order: 1001,
      quantities: { 'KN-110': 1, 'TE-100': 2 },
      ...JONAS,
      totals: [38.9, 0, 0, 7.43, 0, 46.33, 40.29, 6.04],
    },
    {
      order: 1005,
      quantities: { 'GI-100': 6, 'GI-110': 4 },
      mail: 'OFFICE@sandvoss.example',
      customer: '1005',
      payment: 'invoice',
      totals: [304, -30.4, 0, 13.47, 1.5, 288.57, 256.87, 31.7],
    },
    {
      order: 1007,
      quantities: { 'BK-110': 1 },
      mail: 'leo@marchetti.example',
      customer: '1006',
      address: { country: 'US' },
      currency: 'USD',
      shipping: 'express',
      totals: [30.8, 0, 0, 13.2, 0, 44, 44, 0],
    },
    { order: 1008, quantities: { 'BK-100': 1 }, ...JONAS, totals: [9.99, 0, 0, 0, 0, 9.99, 9.34, 0.65] },
    {
      order: 1009,
      quantities: { 'CB-101': 4, 'CB-200': 5 },
      mail: 'Ada@Pelican.example',
      customer: '1001',
      coupon: 'SUMMER20',
      totals: [99.1, 0, -20, 11.3, 0, 90.4, 83.43, 6.97],
    },
    {
      order: 1010,
      quantities: { 'KN-101': 1, 'KN-120': 1 },
      mail: 'm.castagne@mail.example',
      customer: '1003',
      address: { country: 'FR' },
      coupon: 'AUTUMN15',
      totals: [93.9, 0, -14.09, 8.13, 0, 87.94, 73.9, 14.04],
    },
    {
      order: 1011,
      quantities: { 'TE-110': 3, 'TE-100': 1 },
      mail: 'office@sandvoss.example',
      customer: '1005',
      coupon: 'SHIPFREE',
      totals: [34.05, 0, 0, 0, 0, 34.05, 31.82, 2.23],
    },
    { order: 1013, quantities: { 'RO-100': 7.5 }, ...JONAS, totals: [18, 0, 0, 7.62, 0, 25.62, 21.53, 4.09] },
  ];

  test.each(GOLDEN)(
    '$order of the demo shop has its totals, and its customer by mail in any case',
    async (golden) => {
      const { quantities, mail, customer, currency = 'EUR', coupon, shipping, payment, totals } = golden;
      const address = { emailAddress: mail, ...golden.address };
      const cart = await givenFullCart(demo, quantities, { address, currency });
      if (coupon) await done(cart, 'POST', '/coupon', { code: coupon });
      if (shipping) await done(cart, 'PUT', '/shipping-data', { id: await shippingId(demo, shipping) });
      if (payment) await done(cart, 'PUT', '/payment-data', { id: await paymentId(demo, payment) });
      const body = await placed(cart);
      expect(Object.values(totalsOf(body))).toEqual(totals);
      const [total, beforeTax, tax] = totals.slice(5);
      expect(body).toMatchObject({
        customerNumber: customer,
        currencyId: currency,
        grandTotal: String(total),
        totalBeforeTax: String(beforeTax),
        totalTax: String(tax),
      });
      const row = await service.db.one(sql`
      select grand_total as total, total_before_tax as "beforeTax", total_tax as tax, currency, locale,
        tax_model as "taxModel", order_number as number, created_at as "createdAt"
      from customer_order where order_id = ${body.orderId}`);
      const cents = (amount: number) => Math.round(amount * 100);
      expect(row).toEqual({
        total: cents(total!),
        beforeTax: cents(beforeTax!),
        tax: cents(tax!),
        currency,
        locale: 'en_GB',
        taxModel: 'GROSS',
        number: 'ORD261115/1001',
        createdAt: NOW,
      });
    },
  );

  test('without a delivery has no shipping data and no link to it', async () => {
    const body = await placed(await givenFullCart(demo, { 'BK-100': 1 }));
    expect(body.shippingData).toBeNull();
    expect(body.links.map(({ rel }: { rel: string }) => rel)).toEqual(['self', 'customer']);
  });

  test('numbers count up, and begin with the day in UTC', async () => {
    const numbers: string[] = [];
    for (const days of [0, 0, 16, 400]) {
      service.setClock(new Date(NOW.getTime() + days * DAY));
      numbers.push((await placed(await givenFullCart(demo, { 'BK-100': 1 }))).orderNumber);
    }
    expect(numbers).toEqual(['ORD261115/1001', 'ORD261115/1002', 'ORD261201/1003', 'ORD271220/1004']);
  });

  test('each shop counts for itself', async () => {
    await placed(await givenFullCart(demo, { 'BK-100': 1 }));
    const shop = await givenSmallShop(service);
    const body = await placed(await givenFullCart(shop, { [await givenProduct(shop)]: 1 }));
    expect(body).toMatchObject({ orderNumber: 'ORD261115/1001', customerNumber: '1001' });
  });

  test('keeps what it was: prices, names and settings that change later do not show', async () => {
    const cart = await givenFullCart(demo, { 'KN-101': 1 });
    const { orderId } = await placed(cart);
    const content = () => service.db.one(sql`select content from customer_order where order_id = ${orderId}`);
    const before = await content();
    await service.call('DELETE', `/DemoShop/products/${demo.ids['KN-101']}`, { token: demo.token });
    expect(await content()).toEqual(before);
    expect(before).toMatchObject({
      content: {
        grandTotal: 7137,
        lines: [
          { productNumber: 'KN-101', name: { en_GB: 'Reefline Chef Knife', de_DE: 'Reefline Kochmesser' } },
        ],
      },
    });
  });

  test.each([
    ['NET', 'NET', '71.36', '59.97', '11.39'],
    ['NONE', 'GROSS', '71.37', '71.37', '0'],
  ])('of a cart in %s terms is %s', async (taxType, taxModel, grandTotal, totalBeforeTax, totalTax) => {
    const body = await placed(await givenFullCart(demo, { 'KN-101': 1 }, { taxType }));
    expect(body).toMatchObject({ taxModel, grandTotal, totalBeforeTax, totalTax });
  });

  test('of a cart without goods works where there is no minimum', async () => {
    const shop = await givenSmallShop(service);
    const body = await placed(await givenFullCart(shop, {}));
    expect(body).toMatchObject({ grandTotal: '0', shippingData: null, paymentData: null });
    const cart = await givenFullCart(demo, {});
    expect(await refusal(service, () => order(cart))).toEqual([
      400,
      'The cart does not reach the minimum of 5.00 €',
    ]);
  });

  test('works in a shop that has said nothing of deliveries', async () => {
    const shop = await givenSmallShop(service);
    const body = await placed(await givenFullCart(shop, { [await givenProduct(shop)]: 2 }));
    expect(body).toMatchObject({ grandTotal: '20', shippingData: null });
  });

  test.each([
    ['nothing', undefined, {}],
    ['an empty object', {}, {}],
    ['an address', { ...ADA, emailAddress: 'other@mail.example' }, {}],
    ['an empty form', '', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a form', 'emailAddress=other%40mail.example', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['broken JSON', '{"firstName', { 'content-type': 'application/json' }],
    ['a type alone', undefined, { 'content-type': 'application/json' }],
  ])('ignores %s as its body', async (_what, body, headers) => {
    const cart = await givenFullCart(demo, { 'TE-100': 1 });
    const answer = await on(cart, 'POST', '/order', body, { headers });
    expect(answer.status).toBe(201);
    expect(answer.body.billingAddress).toEqual({ ...NOTHING, ...ADA });
  });

  test('holds the delivery address, and a payment that was set by hand', async () => {
    const cart = await givenFullCart(demo, { 'TE-100': 1 });
    await done(cart, 'PUT', '/shipping-address', { country: 'FR', city: 'Brest' });
    await done(cart, 'PUT', '/payment-data', { name: 'Barter', priceAmount: 2 });
    const body = await placed(cart);
    expect(body.shippingAddress).toEqual({ ...NOTHING, country: 'FR', city: 'Brest' });
    expect(body.paymentData).toMatchObject({ paymentMethod: null, price: price(2) });
    // 7.20 + 7.14 + 2.00
    expect(body.grandTotal).toBe('16.34');
    const row = await service.db.one(sql`
      select content -> 'payment' ->> 'name' as name from customer_order where order_id = ${body.orderId}`);
    expect(row).toEqual({ name: 'Barter' });
  });
});

describe('a country that the shop does not deliver to', () => {
  test('is accepted in addresses, and refused when the order would go there', async () => {
    const cart = await givenFullCart(demo, { 'TE-100': 1 }, { address: { country: 'JP' } });
    expect((await on(cart, 'GET', '')).body.billingAddress.country).toBe('JP');
    expect(await refusal(service, () => on(cart, 'POST', '/order'))).toEqual([
      400,
      problem('UNKNOWN_VALUE', 'billingAddress.country', 'Create order'),
    ]);
    await done(cart, 'PUT', '/shipping-address', { country: 'BR', city: 'Santos' });
    expect(await refusal(service, () => on(cart, 'POST', '/order'))).toEqual([
      400,
      problem('UNKNOWN_VALUE', 'shippingAddress.country', 'Create order'),
    ]);
    await done(cart, 'PUT', '/shipping-address', { country: 'at', city: 'Graz' });
    expect(await placed(cart)).toMatchObject({
      billingAddress: { country: 'JP' },
      shippingAddress: { country: 'AT' },
    });
  });

  test('may be one that it delivered to when the address was set', async () => {
    const shop = await givenSmallShop(service);
    const cart = await givenFullCart(shop, { [await givenProduct(shop)]: 1 });
    await changeSettings(shop, { countries: { default: 'AT', items: ['AT'] } });
    expect((await on(cart, 'POST', '/order')).status).toBe(400);
    await changeSettings(shop, { countries: { default: 'AT', items: ['AT', 'DE'] } });
    expect((await on(cart, 'POST', '/order')).status).toBe(201);
  });
});

describe('its customer', () => {
  const emailed = (emailAddress: string) =>
    givenFullCart(demo, { 'BK-100': 1 }, { address: { emailAddress } });

  test('is found by the mail address, ignoring case, else made once', async () => {
    const first = await placed(await emailed('New.Face@Mail.example'));
    const second = await placed(await emailed('new.face@mail.EXAMPLE'));
    expect(first.customerNumber).toBe('1016');
    expect(second).toMatchObject({ customerId: first.customerId, customerNumber: '1016' });
    expect(await customerNumbers('DemoShop')).toHaveLength(16);
    expect(await counters('DemoShop')).toEqual({ order: 1002, customer: 1016 });
  });

  test('who is known keeps the address that is known', async () => {
    const { customerId } = await placed(await emailed('JONAS.W@mail.example'));
    const { body } = await service.call('GET', `/DemoShop/customers/${customerId}`, { token: demo.token });
    expect(body).toMatchObject({ customerNumber: '1002', billingAddress: { street: 'Moorweg 3' } });
    expect(await counters('DemoShop')).toEqual({ order: 1001, customer: 1015 });
  });

  test('of many orders at once of somebody new is one', async () => {
    const carts = await Promise.all(
      Array.from({ length: 8 }, (_, index) => emailed(index % 2 ? 'twin@mail.example' : 'Twin@mail.example')),
    );
    const answers = await Promise.all(carts.map((cart) => order(cart)));
    expect(answers.map(({ status }) => status)).toEqual(carts.map(() => 201));
    expect(new Set(answers.map(({ body }) => body.customerId)).size).toBe(1);
    expect(await customerNumbers('DemoShop')).toHaveLength(16);
    expect(new Set(answers.map(({ body }) => body.orderNumber))).toEqual(
      new Set(Array.from({ length: 8 }, (_, index) => `ORD261115/${1001 + index}`)),
    );
  });

  test('of many orders at once of different people are different ones', async () => {
    const carts = await Promise.all(
      Array.from({ length: 8 }, (_, index) => emailed(`guest${index}@mail.example`)),
    );
    const answers = await Promise.all(carts.map((cart) => order(cart)));
    expect(answers.map(({ status }) => status)).toEqual(carts.map(() => 201));
    expect(new Set(answers.map(({ body }) => body.customerNumber)).size).toBe(8);
  });

  test('gets the next number that no merchant has given by hand', async () => {
    for (const customerNumber of ['1016', '1017', '1019']) {
      const body = { customerNumber, billingAddress: {} };
      expect((await service.call('POST', '/DemoShop/customers', { token: demo.token, body })).status).toBe(
        201,
      );
    }
    expect((await placed(await emailed('a@mail.example'))).customerNumber).toBe('1018');
    expect((await placed(await emailed('b@mail.example'))).customerNumber).toBe('1020');
    // However many there are: a merchant may have brought the numbers of another shop.
    await service.db.run(sql`
      insert into customer (shop_id, customer_id, customer_number, created_at)
      select 'DemoShop', gen_random_uuid(), number::text, now() from generate_series(1021, 3020) number`);
    expect((await placed(await emailed('c@mail.example'))).customerNumber).toBe('3021');
    expect(await counters('DemoShop')).toMatchObject({ customer: 3021 });
  });

  test('is the one the cart was made for, whatever mail address it has', async () => {
    const { body } = await service.call('GET', '/DemoShop/customers', { token: demo.token });
    const cafe = body.items.find((one: { customerNumber: string }) => one.customerNumber === '1001');
    const customerId = (cafe ?? body.items[0]).customerId;
    const cart = await givenFullCart(demo, { 'TE-100': 1 }, { customerId });
    const made = await placed(cart);
    expect(made.customerId).toBe(customerId);
    expect(made.billingAddress.emailAddress).toBe(ADA.emailAddress);
    expect(await customerNumbers('DemoShop')).toHaveLength(15);
  });

  test('who has got another mail address since is found by the new one only', async () => {
    const first = await placed(await emailed('old@mail.example'));
    const path = `/DemoShop/customers/${first.customerId}`;
    const body = [
      { op: 'add', path: '/billingAddress', value: { ...ADA, emailAddress: 'new@mail.example' } },
    ];
    expect((await service.call('PATCH', path, { token: demo.token, body })).status).toBe(200);
    expect((await placed(await emailed('New@mail.example'))).customerId).toBe(first.customerId);
    const other = await placed(await emailed('old@mail.example'));
    expect([first.customerNumber, other.customerNumber]).toEqual(['1016', '1017']);
    expect((await placed(await emailed('OLD@mail.example'))).customerId).toBe(other.customerId);
  });

  test('of another shop with the same mail address is somebody else', async () => {
    const shop = await givenSmallShop(service);
    const there = await placed(await givenFullCart(shop, { [await givenProduct(shop)]: 1 }));
    const here = await placed(await givenFullCart(demo, { 'BK-100': 1 }));
    expect(here.customerId).not.toBe(there.customerId);
    expect(here.customerNumber).toBe('1016');
  });
});

describe('what can not be ordered', () => {
  test('without a billing address is refused, and nothing changes', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    await done(cart, 'PUT', '/shipping-address', ADA);
    expect(await refusal(service, () => order(cart))).toEqual([
      400,
      'The cart has no billing address, set it with PUT billing-address',
    ]);
  });

  test('needs the scope and the cart token', async () => {
    const cart = await givenFullCart(demo, { 'KN-101': 1 });
    const attempt = (token: string, cartToken = cart.token) =>
      refusal(service, () => on({ ...cart, token: cartToken }, 'POST', '/order', undefined, { token }));
    expect(await attempt(NO_TOKEN)).toEqual([401, 'A token is needed']);
    expect(await attempt('demo-pricing')).toEqual([403, 'The token lacks the scope orders_write']);
    expect((await attempt('demo-all', 'x'))[0]).toBe(403);
  });

  test('is what was ordered: the cart is gone for clients with its token, and closed for others', async () => {
    const cart = await givenFullCart(demo, { 'KN-101': 1 });
    await done(cart, 'POST', '/coupon', { code: 'AUTUMN15' });
    cart.body = await done(cart, 'GET');
    const operations = await operationsOn(cart);
    await placed(cart);
    await changesNothing(service, async () => {
      for (const [method, path, body] of operations) {
        expect([method, path, ...(await reasonOf(on(cart, method, path, body)))]).toEqual([
          method,
          path,
          410,
          'This cart has become an order',
        ]);
        const stranger = { ...cart, token: 'x'.repeat(24) };
        expect((await on(stranger, method, path, body)).status).toBe(403);
      }
    });
  });

  test('of two orders at once of one cart one is placed', async () => {
    const cart = await givenFullCart(demo, { 'KN-101': 2 });
    const answers = await Promise.all(Array.from({ length: 6 }, () => order(cart)));
    const statuses = answers.map(({ status }) => status).toSorted((left, right) => left - right);
    expect(statuses).toEqual([201, 410, 410, 410, 410, 410]);
    expect((await productRow(demo.ids['KN-101']!))!.stock).toBe(12);
    expect(await queuedEmails(service)).toHaveLength(1);
  });
});

describe('the confirmation', () => {
  test('is queued once, in the language of the cart', async () => {
    const cart = await givenFullCart(demo, { 'CB-101': 2, 'DR-100': 6, 'AP-120': 1 }, { locale: 'de_DE' });
    await done(cart, 'POST', '/coupon', { code: 'SUMMER20' });
    const body = await placed(cart);
    const facts = { orderId: body.orderId };
    const jobs = await service.db.many<{ content: QueuedEmail }>(
      sql`select content from job order by content ->> 'template' desc`,
    );
    const emails = jobs.map(({ content }) => content);
    expect(emails).toEqual([
      { shopId: 'DemoShop', to: ADA.emailAddress, locale: 'de_DE', template: 'order', facts },
      {
        shopId: 'DemoShop',
        to: 'hello@harbour-hearth.example',
        locale: 'en_GB',
        template: 'newOrder',
        facts,
      },
    ]);
    const confirmed = await orderConfirmation.load!(service.db, emails[0]!);
    expect(confirmed).toEqual({
      ...facts,
      orderNumber: 'ORD261115/1001',
      orderedOn: '15. November 2026',
      deliveryDays: expect.stringMatching(/^Mi\., 18\.\s–\sDo\., 19\. November$/),
      lines: [
        {
          text: '2\u00a0× Tidewater Espressobohnen (Gewicht: 250 g, Röstung: Mittel)',
          amount: '19,80 €',
        },
        { text: '6\u00a0× Slipway Cola 0,33 l', amount: '8,70 €' },
        { text: '1\u00a0× Beacon Kaffeemühle', amount: '119,00 €' },
      ],
      subTotal: '147,50 €',
      basketDiscount: '-10,00 €',
      coupon: '-20,00 €',
      // 6 x 0.25 of deposits and 1.20 for recycling.
      extras: '2,70 €',
      shipping: { text: 'Standardversand', amount: '13,78 €' },
      pickup: null,
      promotions: [],
      payment: { text: 'Vorkasse', amount: '0,00 €' },
      totalBeforeTax: null,
      grandTotal: '133,98 €',
      taxes: [
        { text: '7\u00a0%', amount: '1,03 €' },
        { text: '19\u00a0%', amount: '18,87 €' },
      ],
      untaxed: [],
      totalTax: body.lineItemContainer.totalTax.formatted,
      transfer: {
        amount: '133,98 €',
        holder: 'Harbour & Hearth GmbH',
        bank: 'Harbour Bank',
        iban: 'DE02 1203 0000 0000 2020 51',
        bic: 'BYLADEM1001',
        reference: 'ORD261115/1001',
      },
      customerName: 'Ada Lindqvist',
      billingAddress: ['Ada Lindqvist', 'Kai 7', '20457 Hamburg'],
      shippingAddress: null,
      contact: { email: ADA.emailAddress, phone: null },
      comment: null,
      hasLegalGuarantee: true,
      legalSections: [
        {
          title: 'Gesetzliche Gewährleistung: Mindestens 2 Jahre',
          texts: [
            'Ist ein Produkt mangelhaft oder nicht wie vereinbart, haftet Ihnen der Verkäufer, Harbour & Hearth GmbH, mindestens 2 Jahre ab der Lieferung. Das Recht Ihres Landes kann längere Fristen vorsehen.',
            'Sie können kostenlos Reparatur oder Ersatz verlangen. Hilft das nicht, können Sie den Preis mindern oder Ihr Geld zurückverlangen.',
            'Ihre Rechte auf den Seiten der Europäischen Union: https://europa.eu/youreurope/citizens/consumers/shopping/guarantees/index_de.htm',
          ],
        },
      ],
      legalTexts: [
        {
          page: 'terms-and-conditions',
          title: 'Allgemeine Geschäftsbedingungen',
          text: 'Der Vertrag kommt mit unserer Auftragsbestätigung zustande. Preise enthalten die MwSt.',
        },
        {
          page: 'rights-of-withdrawal',
          title: 'Widerrufsrecht',
          text: 'Sie können binnen vierzehn Tagen ab Erhalt der Ware ohne Angabe von Gründen widerrufen.',
        },
      ],
    });
  });

  test('is not queued when the order is refused', async () => {
    const carts = [await givenCart(demo, { 'KN-101': 1 }), await givenFullCart(demo, { 'RO-100': 2 })];
    for (const cart of carts) expect((await order(cart)).status).toBe(400);
    expect(await queuedEmails(service)).toEqual([]);
  });
});

test('a shop without deliveries can begin to have some while a cart waits', async () => {
  const shop = await givenSmallShop(service);
  const cart = await givenFullCart(shop, { [await givenProduct(shop)]: 1 });
  await changeSettings(shop, { shippingMethods: [{ key: 'post', name: 'Post', kind: 'flat', price: 5 }] });
  expect(await placed(cart)).toMatchObject({ grandTotal: '15', shippingData: { price: price(5) } });
});
