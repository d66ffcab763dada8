import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  changeSettings,
  done,
  givenCoupon,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  ID,
  linesOf,
  NOW,
  paymentId,
  price,
  shippingId,
  totalsOf,
} from '../../test/carts.ts';
import {
  SETTINGS,
  placed,
  on,
  well,
  refused,
  stockOf,
  usesOf,
  historyOf,
  lineIds,
  givenOrder,
  countOrders,
  miscounts,
  lastMoment,
  service,
  startManaging,
} from '../../test/managed-orders.ts';
import type { Answer } from '../../test/service.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../kernel/ids.ts';

beforeAll(startManaging);
afterAll(() => service.close());

describe('lines', () => {
  test('more of a line takes stock, less gives it back, and the price stays as agreed', async () => {
    const { shop, order, tea, teaLine } = await givenOrder();
    await well(order, 'POST', '/edit');
    await service.db.run(sql`
      update product set prices = '{"EUR": 7777}', version = version + 1
      where shop_id = ${shop.shopId} and product_id = ${tea}`);
    const more = await well(order, 'PUT', `/line-items/${teaLine.toLowerCase()}`, { quantity: '4' });
    expect(linesOf(more)).toEqual([
      ['TEA', 4, 10, 40],
      ['BOOK', 3, 5, 15],
    ]);
    // 44.90 at 19 % hold 7.17, 15.00 at 7 % hold 0.98.
    expect(totalsOf(more)).toMatchObject({
      subtotal: 55,
      shipping: 4.9,
      total: 59.9,
      beforeTax: 51.75,
      tax: 8.15,
    });
    expect(more.grandTotal).toBe('59.9');
    expect(more.lastUpdatedOnDate).toBe(lastMoment());
    expect(await stockOf(shop, tea)).toBe(6);
    const less = await well(order, 'PUT', `/line-items/${teaLine}`, { quantity: 0.5 });
    expect(totalsOf(less)).toMatchObject({ subtotal: 20, total: 24.9, beforeTax: 22.34, tax: 2.56 });
    expect(await stockOf(shop, tea)).toBe(9.5);
    expect(
      (await historyOf(order)).slice(2).map(({ kind, details }: Answer['body']) => [kind, details]),
    ).toEqual([
      [
        'line changed',
        {
          lineItemId: teaLine,
          productId: tea,
          quantity: { from: 2, to: 4 },
          price: { from: 10, to: 10 },
          grandTotal: { from: 39.9, to: 59.9 },
        },
      ],
      [
        'line changed',
        {
          lineItemId: teaLine,
          productId: tea,
          quantity: { from: 4, to: 0.5 },
          price: { from: 10, to: 10 },
          grandTotal: { from: 59.9, to: 24.9 },
        },
      ],
    ]);
  });

  test('a price of its own moves no stock', async () => {
    const { shop, order, tea, teaLine } = await givenOrder();
    await well(order, 'POST', '/edit');
    const changed = await well(order, 'PUT', `/line-items/${teaLine}`, { price: '8.25', quantity: null });
    expect(linesOf(changed)[0]).toEqual(['TEA', 2, 8.25, 16.5]);
    expect(totalsOf(changed)).toMatchObject({ subtotal: 31.5, total: 36.4 });
    expect(await stockOf(shop, tea)).toBe(8);
    expect((await historyOf(order)).at(-1).details.price).toEqual({ from: 10, to: 8.25 });
    const free = await well(order, 'PUT', `/line-items/${teaLine}`, { price: 0 });
    expect(linesOf(free)[0]).toEqual(['TEA', 2, 0, 0]);
  });

  test('a product is added with the price and the texts of today, taxed at its rate', async () => {
    const { shop, order } = await givenOrder();
    const lamp = await givenProduct(shop, { number: 'LAMP', price: 2000, stock: 3, taxClass: 'reduced' });
    await well(order, 'POST', '/edit');
    const answer = await on(order, 'POST', '/line-items', { productId: lamp.toLowerCase(), quantity: 3 });
    expect(answer.status).toBe(201);
    expect(linesOf(answer.body)[2]).toEqual(['LAMP', 3, 20, 60]);
    // 24.90 at 19 % hold 3.98, 75.00 at 7 % hold 4.91.
    expect(totalsOf(answer.body)).toMatchObject({ subtotal: 95, total: 99.9, beforeTax: 91.01, tax: 8.89 });
    expect(await stockOf(shop, lamp)).toBe(0);
    expect((await historyOf(order)).at(-1)).toMatchObject({
      kind: 'line added',
      details: { lineItemId: ID, productId: lamp, quantity: { from: 0, to: 3 }, price: { from: 0, to: 20 } },
    });
    const rows = await service.db.many(sql`
      select upper(product_id::text) as id, quantity::float8 as quantity, gross::float8 as gross from order_line
      where shop_id = ${shop.shopId} and order_id = ${order.id} order by gross`);
    expect(rows).toHaveLength(3);
    expect(rows.at(-1)).toEqual({ id: lamp, quantity: 3, gross: 6000 });
  });

  test('or with a price that is named, even if it has none', async () => {
    const { shop, order } = await givenOrder();
    const gift = await givenProduct(shop, { number: 'GIFT' });
    await service.db.run(sql`
      update product set prices = null where shop_id = ${shop.shopId} and product_id = ${gift}`);
    await well(order, 'POST', '/edit');
    expect(await refused(order, 'POST', '/line-items', { productId: gift, quantity: 1 })).toEqual([
      400,
      'GIFT has no price in EUR',
    ]);
    const added = await well(order, 'POST', '/line-items', { productId: gift, quantity: 1.5, price: 0.99 });
    expect(linesOf(added)[2]).toEqual(['GIFT', 1.5, 0.99, 1.49]);
  });

  test('one is removed, and its goods come back', async () => {
    const { shop, order, book, teaLine, bookLine } = await givenOrder();
    await well(order, 'POST', '/edit');
    const left = await well(order, 'DELETE', `/line-items/${bookLine}`);
    expect(linesOf(left)).toEqual([['TEA', 2, 10, 20]]);
    expect(totalsOf(left)).toMatchObject({ subtotal: 20, total: 24.9, beforeTax: 20.92, tax: 3.98 });
    expect(await stockOf(shop, book)).toBe(10);
    expect(await refused(order, 'DELETE', `/line-items/${teaLine}`)).toEqual([
      409,
      'The last line can not be removed, cancel the order instead',
    ]);
    expect((await on(order, 'DELETE', `/line-items/${bookLine}`)).status).toBe(404);
  });

  test('what is not there can not be sold, unless the shop says so', async () => {
    const { shop, order, tea, book, teaLine } = await givenOrder();
    await well(order, 'POST', '/edit');
    const short = [409, 'There is not enough in stock of TEA'];
    expect(await refused(order, 'PUT', `/line-items/${teaLine}`, { quantity: 10.000001 })).toEqual(short);
    expect(await refused(order, 'POST', '/line-items', { productId: tea, quantity: 9 })).toEqual(short);
    expect(await refused(order, 'POST', '/line-items', { productId: book, quantity: 8 })).toEqual([
      409,
      'There is not enough in stock of BOOK',
    ]);
    await well(order, 'PUT', `/line-items/${teaLine}`, { quantity: 10 });
    expect(await stockOf(shop, tea)).toBe(0);
    await changeSettings(shop, { sellBeyondStock: true });
    await well(order, 'PUT', `/line-items/${teaLine}`, { quantity: 12 });
    expect(await stockOf(shop, tea)).toBe(-2);
  });

  test('of ten orders that want one of the last five, five get it', async () => {
    const { shop, tea } = await givenOrder();
    const last = await givenProduct(shop, { number: 'FIVE', stock: 5 });
    await changeSettings(shop, { sellBeyondStock: true });
    const orders = await Promise.all(Array.from({ length: 10 }, () => placed(shop, { [tea]: 1 })));
    await changeSettings(shop, { sellBeyondStock: false });
    await Promise.all(orders.map((order) => well(order, 'POST', '/edit')));
    const answers = await Promise.all(
      orders.map((order) => on(order, 'POST', '/line-items', { productId: last, quantity: 1 })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(5);
    expect(await stockOf(shop, last)).toBe(0);
  });

  test('what makes no sense is refused', async () => {
    const { shop, order, tea, teaLine } = await givenOrder();
    await well(order, 'POST', '/edit');
    const unknown = newId(NOW);
    const problem = (code: string, field: string) =>
      `Update order failed:\n\tvalidation error ${code} on field ${field}`;
    const line = `/line-items/${teaLine}`;
    for (const [method, path, body, status, text] of [
      ['PUT', line, {}, 400, problem('MISSING', 'body')],
      ['PUT', line, { other: 1 }, 400, problem('MISSING', 'quantity')],
      ['PUT', line, { quantity: null, price: null }, 400, problem('MISSING', 'quantity')],
      ['PUT', line, { quantity: 0 }, 400, problem('OUT_OF_RANGE', 'quantity')],
      ['PUT', line, { quantity: -1 }, 400, problem('OUT_OF_RANGE', 'quantity')],
      ['PUT', line, { quantity: 1_000_001 }, 400, problem('OUT_OF_RANGE', 'quantity')],
      ['PUT', line, { price: -1 }, 400, problem('OUT_OF_RANGE', 'price')],
      ['PUT', line, { price: 1.005 }, 400, problem('OUT_OF_RANGE', 'price')],
      ['PUT', line, { price: '1.005' }, 400, problem('OUT_OF_RANGE', 'price')],
      ['POST', '/line-items', { productId: tea, quantity: 0 }, 400, problem('OUT_OF_RANGE', 'quantity')],
      ['POST', '/line-items', { productId: tea }, 400, problem('MISSING', 'quantity')],
      ['POST', '/line-items', { productId: unknown, quantity: 1 }, 404, 'HTTP 404 Not Found'],
      ['POST', '/line-items', { productId: 'tea', quantity: 1 }, 404, 'HTTP 404 Not Found'],
      ['PUT', `/line-items/${unknown}`, { quantity: 1 }, 404, 'HTTP 404 Not Found'],
      ['PUT', '/shipping', { shippingMethodId: unknown }, 400, problem('UNKNOWN_VALUE', 'shippingMethodId')],
      ['PUT', '/payment', { paymentMethodId: unknown }, 400, problem('UNKNOWN_VALUE', 'paymentMethodId')],
    ] as const) {
      expect(await refused(order, method, path, body)).toEqual([status, text]);
    }
    await changeSettings(shop, { sellBeyondStock: true });
    expect(
      await refused(order, 'POST', '/line-items', {
        productId: tea,
        quantity: 1_000_000,
        price: 100_000_000,
      }),
    ).toEqual([400, 'The order would be worth more than can be ordered at once']);
  });

  test('an order with an invoice waits for a credit note', async () => {
    const { shop, order, tea, teaLine, bookLine } = await givenOrder();
    await well(order, 'POST', '/edit');
    const document = (kind: string, number: number, quantity: string, grandTotal: number) =>
      service.db.run(sql`
        insert into order_document (shop_id, document_id, order_id, kind, number, issued_at, created_at, address,
          terms, content)
        values (${shop.shopId}, ${newId(NOW)}, ${order.id}, ${kind}, ${number}, ${NOW}, ${NOW}, '{}', '{}',
          ${{ lines: [{ lineItemId: teaLine, quantity }], grandTotal }})`);
    await document('Invoice', 1, '2', 2490);
    const text = 'The order is invoiced, credit it first with a credit note';
    expect(await refused(order, 'PUT', `/line-items/${teaLine}`, { quantity: 1 })).toEqual([409, text]);
    expect(await refused(order, 'DELETE', `/line-items/${teaLine}`)).toEqual([409, text]);
    const express = { shippingMethodId: await shippingId(shop, 'express') };
    expect(await refused(order, 'PUT', '/shipping', express)).toEqual([409, text]);
    expect(await refused(order, 'PUT', `/line-items/${bookLine}`, { quantity: 1 })).toEqual([409, text]);
    expect(await refused(order, 'POST', '/line-items', { productId: tea, quantity: 1 })).toEqual([409, text]);
    await document('CreditNote', 1, '1', 1000);
    expect(await refused(order, 'PUT', `/line-items/${teaLine}`, { quantity: 1 })).toEqual([409, text]);
    await document('CreditNote', 2, '1', 1490);
    await well(order, 'PUT', `/line-items/${teaLine}`, { quantity: 1 });
    await well(order, 'PUT', '/shipping', express);
    expect(await stockOf(shop, tea)).toBe(9);
  });

  test('a basket discount and a coupon are computed anew with the terms of the order', async () => {
    const { shop } = await givenOrder({
      ...SETTINGS,
      basketDiscounts: [{ from: 50, percent: 10 }],
    });
    await givenCoupon(
      shop,
      'SAVE5',
      { name: 'FIX', amount: 5 },
      {
        minimumOrderValue: 20,
      },
    );
    const tea = await givenProduct(shop, { number: 'T', price: 1000, stock: 100 });
    const order = await placed(shop, { [tea]: 3 }, 'SAVE5');
    expect(totalsOf(order.body)).toMatchObject({ subtotal: 30, discount: 0, coupon: -5, total: 29.9 });
    await changeSettings(shop, { basketDiscounts: [] });
    await well(order, 'POST', '/edit');
    const line = `/line-items/${lineIds(order.body)[0]}`;
    const more = await well(order, 'PUT', line, { quantity: 6 });
    expect(totalsOf(more)).toMatchObject({ subtotal: 60, discount: -6, coupon: -5, total: 53.9, tax: 8.61 });
    const less = await well(order, 'PUT', line, { quantity: 1 });
    expect(totalsOf(less)).toMatchObject({ subtotal: 10, discount: 0, coupon: 0, total: 14.9 });
    expect(less.lineItemContainer.couponLineItem.validationErrors).toEqual(['LineItemsSubTotalTooSmall']);
    expect(await usesOf(shop, 'SAVE5')).toEqual({ used: 1, campaign: 1 });
    const again = await well(order, 'PUT', line, { quantity: 2 });
    expect(totalsOf(again)).toMatchObject({ subtotal: 20, coupon: -5, total: 19.9 });
    expect(again.lineItemContainer.couponLineItem.validationErrors).toEqual([]);
    await well(order, 'POST', '/cancel', {});
    expect(await usesOf(shop, 'SAVE5')).toEqual({ used: 0, campaign: 0 });
  });

  test('a delivery that a coupon has waived stays free, whatever becomes of the coupon', async () => {
    const { shop, tea } = await givenOrder();
    await givenCoupon(
      shop,
      'FREE',
      { name: 'SHIPPING', waiveShippingCosts: true },
      {
        minimumOrderValue: 20,
      },
    );
    const order = await placed(shop, { [tea]: 2 }, 'FREE');
    expect(totalsOf(order.body)).toMatchObject({ shipping: 0, total: 20 });
    await well(order, 'POST', '/edit');
    const line = `/line-items/${lineIds(order.body)[0]}`;
    const more = await well(order, 'PUT', line, { quantity: 3 });
    expect(totalsOf(more)).toMatchObject({ shipping: 0, total: 30 });
    expect(more.lineItemContainer.couponLineItem.validationErrors).toEqual([]);
    const less = await well(order, 'PUT', line, { quantity: 1 });
    expect(totalsOf(less)).toMatchObject({ shipping: 0, total: 10 });
  });
});

describe('shipping and payment', () => {
  test('another delivery, by its rules of today or at a price that is named', async () => {
    const { shop, order, teaLine } = await givenOrder();
    const heavy = await givenProduct(shop, {
      number: 'HEAVY',
      price: 100,
      facts: { deliveryWeight: { amount: 1500, unit: 'gram' } },
    });
    await well(order, 'POST', '/edit');
    await well(order, 'POST', '/line-items', { productId: heavy, quantity: 2 });
    const express = await shippingId(shop, 'express');
    const changed = await well(order, 'PUT', '/shipping', { shippingMethodId: express.toLowerCase() });
    expect(changed.shippingData).toMatchObject({
      shippingMethod: { id: express, name: 'Express' },
      price: price(10.57),
      taxes: [{ price: { amount: 1.69 } }],
    });
    expect(totalsOf(changed)).toMatchObject({ subtotal: 37, shipping: 10.57, total: 47.57 });
    const less = await well(order, 'PUT', `/line-items/${teaLine}`, { quantity: 1 });
    expect(totalsOf(less)).toMatchObject({ subtotal: 27, shipping: 10.57, total: 37.57 });
    const named = await well(order, 'PUT', '/shipping', { shippingMethodId: express, price: 0 });
    expect(totalsOf(named)).toMatchObject({ subtotal: 27, shipping: 0, total: 27 });
    expect((await historyOf(order)).at(-1)).toMatchObject({
      kind: 'shipping changed',
      details: {
        shippingMethodId: { from: express, to: express },
        price: { from: 10.57, to: 0 },
        grandTotal: { from: 37.57, to: 27 },
      },
    });
  });

  test('a delivery with zones costs what it costs at the address; beyond them a price is named', async () => {
    const { shop, order } = await givenOrder();
    await changeSettings(shop, {
      shippingMethods: [
        ...SETTINGS.shippingMethods!,
        {
          key: 'boat',
          name: 'Boat',
          kind: 'flat',
          zones: [
            { countries: ['DE'], price: 9 },
            { countries: ['DE'], postcodes: ['20*'], price: 14, maxWeight: 10 },
          ],
        },
        { key: 'ferry', name: 'Ferry', kind: 'flat', zones: [{ countries: ['SE'], price: 19 }] },
      ],
    });
    const oar = await givenProduct(shop, {
      number: 'OAR',
      price: 100,
      facts: { shippingSurcharge: { EUR: 500 }, deliveryWeight: { amount: 4, unit: 'kilogram' } },
    });
    await well(order, 'POST', '/edit');
    await well(order, 'POST', '/line-items', { productId: oar, quantity: 2 });
    const boat = { shippingMethodId: await shippingId(shop, 'boat') };
    expect(totalsOf(await well(order, 'PUT', '/shipping', boat)).shipping).toBe(24);
    const ferry = { shippingMethodId: await shippingId(shop, 'ferry') };
    const text = 'The chosen shipping method does not deliver to this address, choose another one';
    expect(await refused(order, 'PUT', '/shipping', ferry)).toEqual([400, text]);
    expect(totalsOf(await well(order, 'PUT', '/shipping', { ...ferry, price: 30 })).shipping).toBe(30);
    // Too heavy for these postcodes.
    await well(order, 'POST', '/line-items', { productId: oar, quantity: 1 });
    expect(await refused(order, 'PUT', '/shipping', boat)).toEqual([400, text]);
  });

  test('another payment, which may be a discount', async () => {
    const { shop, order } = await givenOrder();
    await well(order, 'POST', '/edit');
    const cod = await paymentId(shop, 'cod');
    const charged = await well(order, 'PUT', '/payment', { paymentMethodId: cod });
    expect(charged.paymentData).toMatchObject({
      paymentMethod: { id: cod, name: 'On delivery' },
      price: price(2.5),
    });
    expect(totalsOf(charged)).toMatchObject({ payment: 2.5, total: 42.4 });
    const debit = await paymentId(shop, 'debit');
    const reduced = await well(order, 'PUT', '/payment', { paymentMethodId: debit });
    // 0.62 of it falls on 24.90 at 19 %, 0.38 on 15.00 at 7 %.
    expect(totalsOf(reduced)).toMatchObject({ payment: -1, total: 38.9, tax: 4.84, beforeTax: 34.06 });
    const free = await well(order, 'PUT', '/payment', { paymentMethodId: debit, price: '-100' });
    expect(totalsOf(free)).toMatchObject({ payment: -39.9, total: 0, tax: 0 });
    expect((await historyOf(order)).at(-1)).toMatchObject({
      kind: 'payment method changed',
      details: { paymentMethodId: { from: debit, to: debit }, price: { from: -1, to: -39.9 } },
    });
  });
});

test('an order in a currency without decimals, to another country', async () => {
  const shop = await givenSmallShop(service, {
    ...SETTINGS,
    currencies: { default: 'EUR', items: ['EUR', 'JPY'], rates: { JPY: 160 } },
    countries: { default: 'DE', items: ['DE', 'FR'] },
    taxClasses: [{ key: 'standard', name: 'standard', default: true, rates: { DE: 19, FR: 20 } }],
  });
  const [tea, lamp] = [
    await givenProduct(shop, { number: 'TEA' }),
    await givenProduct(shop, { number: 'LAMP' }),
  ];
  const cart = await givenFullCart(shop, { [tea]: 1 }, { currency: 'JPY', address: { country: 'FR' } });
  const body = await done(cart, 'POST', '/order');
  const order = { shop, id: body.orderId, body };
  expect(totalsOf(body)).toMatchObject({ subtotal: 1600, shipping: 784, total: 2384, tax: 397 });
  await well(order, 'POST', '/edit');
  const added = await well(order, 'POST', '/line-items', { productId: lamp, quantity: 2 });
  expect(linesOf(added)[1]).toEqual(['LAMP', 2, 1600, 3200]);
  expect(added.lineItemContainer.productLineItems[1].taxClass.percentage).toBe(20);
  expect(totalsOf(added)).toMatchObject({ subtotal: 4800, total: 5584, tax: 931, beforeTax: 4653 });
  const cod = { paymentMethodId: await paymentId(shop, 'cod') };
  expect(totalsOf(await well(order, 'PUT', '/payment', cod))).toMatchObject({ payment: 400, total: 5984 });
  expect(await refused(order, 'POST', '/payments', { amount: 0.5 })).toEqual([
    400,
    expect.stringContaining('OUT_OF_RANGE on field amount'),
  ]);
  const paid = await well(order, 'POST', '/payments', { amount: '5984.00' });
  expect(paid.management.paidAmount).toMatchObject({ amount: 5984, currency: 'JPY' });
  await changeSettings(shop, { currencies: { default: 'EUR', items: ['EUR'] } });
  expect(await refused(order, 'POST', '/line-items', { productId: lamp, quantity: 1 })).toEqual([
    400,
    'LAMP has no price in JPY',
  ]);
  const parcel = { shippingMethodId: await shippingId(shop, 'parcel') };
  expect(await refused(order, 'PUT', '/shipping', parcel)).toEqual([
    400,
    'The shop does not sell in JPY any more, name a price',
  ]);
  await well(order, 'PUT', '/shipping', { ...parcel, price: 100 });
});

test('a line at another rate of the same class is taxed at its own', async () => {
  const { shop, order } = await givenOrder();
  const lamp = await givenProduct(shop, { number: 'LAMP', price: 1000 });
  await changeSettings(shop, {
    taxClasses: [
      { key: 'standard', name: 'standard', default: true, rates: { DE: 25 } },
      { key: 'reduced', name: 'reduced', rates: { DE: 7 } },
    ],
  });
  await well(order, 'POST', '/edit');
  const added = await well(order, 'POST', '/line-items', { productId: lamp, quantity: 1 });
  // 10.00 at 25 % hold 2.00; what was agreed before stays at 19 % and 7 %: 3.98 and 0.98.
  expect(totalsOf(added)).toMatchObject({ total: 49.9, tax: 6.96 });
  const rates = added.lineItemContainer.productLineItems.map(
    (line: Answer['body']) => line.taxClass.percentage,
  );
  expect(rates).toEqual([19, 7, 25]);
});

test('a master is not added itself', async () => {
  const { shop, order } = await givenOrder();
  const master = await givenProduct(shop, { number: 'ROPE' });
  await service.db.run(sql`
    update product set kind = 'master', stock = null where shop_id = ${shop.shopId} and product_id = ${master}`);
  await well(order, 'POST', '/edit');
  expect(await refused(order, 'POST', '/line-items', { productId: master, quantity: 1 })).toEqual([
    400,
    'ROPE has variations, add one of them',
  ]);
});

test('a product of another shop can not be added', async () => {
  const { order } = await givenOrder();
  const stranger = await givenSmallShop(service, SETTINGS);
  const theirs = await givenProduct(stranger);
  await well(order, 'POST', '/edit');
  expect(await refused(order, 'POST', '/line-items', { productId: theirs, quantity: 1 })).toEqual([
    404,
    'HTTP 404 Not Found',
  ]);
});

test('an order of a net shop', async () => {
  const { order, teaLine } = await givenOrder({ ...SETTINGS, taxes: { model: 'net' } });
  expect(totalsOf(order.body)).toMatchObject({
    subtotal: 35,
    shipping: 4.9,
    beforeTax: 39.9,
    tax: 5.78,
    total: 45.68,
  });
  await well(order, 'POST', '/edit');
  const changed = await well(order, 'PUT', `/line-items/${teaLine}`, { quantity: 3 });
  expect(totalsOf(changed)).toMatchObject({ subtotal: 45, beforeTax: 49.9, tax: 7.68, total: 57.58 });
});

test('what lists and sales are counted from is what the orders say', async () => {
  expect(await miscounts()).toEqual([]);
  expect(await countOrders()).toBeGreaterThan(10);
});
