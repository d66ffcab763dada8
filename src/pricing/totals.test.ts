import { describe, expect, test } from 'vitest';
import {
  taxClass,
  delivery,
  payment,
  BY_WEIGHT,
  STANDARD,
  DEMO,
  PLAIN,
  givenProduct,
  grams,
  ounces,
  line,
  cartOf,
  shippedBy,
  paidBy,
  paidByHand,
  couponOf,
  shown,
} from '../../test/priced-carts.ts';
import type { PricedProduct } from './cart-product.ts';
import type { CartInput, LineInput, ShopRules } from './input.ts';
import { cartTotals } from './totals.ts';

describe('known carts', () => {
  const tenOff = { ...DEMO, basketDiscounts: [{ minimumAmount: 1000, absolute: 1000 }] };
  const plain = { ...DEMO, basketDiscounts: [] };
  const heavy = givenProduct(1299, ounces(50));

  test.each<[string, CartInput, ShopRules, ReturnType<typeof shown>]>([
    [
      'one piece, ten off',
      cartOf([line(heavy)]),
      tenOff,
      { sub: 1299, disc: -1000, coup: 0, ship: 869, pay: 0, grand: 1168, net: 982, tax: 186 },
    ],
    [
      'a coupon worth more than the piece',
      cartOf([line(heavy)], couponOf('FIX', 5000)),
      plain,
      { sub: 1299, disc: 0, coup: -1299, ship: 869, pay: 0, grand: 869, net: 730, tax: 139 },
    ],
    [
      'a coupon worth more than two pieces',
      cartOf([line(heavy, 2)], couponOf('FIX', 5000)),
      plain,
      { sub: 2598, disc: 0, coup: -2598, ship: 1037, pay: 0, grand: 1037, net: 871, tax: 166 },
    ],
    [
      'two pieces, ten off',
      cartOf([line(heavy, 2)]),
      tenOff,
      { sub: 2598, disc: -1000, coup: 0, ship: 1037, pay: 0, grand: 2635, net: 2214, tax: 421 },
    ],
    [
      'a payment that costs something',
      cartOf([line(heavy, 2)], paidByHand(195)),
      tenOff,
      { sub: 2598, disc: -1000, coup: 0, ship: 1037, pay: 195, grand: 2830, net: 2378, tax: 452 },
    ],
    [
      'a delivery by hand',
      cartOf([line(heavy, 2)], shippedBy('standard', 395)),
      tenOff,
      { sub: 2598, disc: -1000, coup: 0, ship: 395, pay: 0, grand: 1993, net: 1675, tax: 318 },
    ],
    [
      'a price by hand',
      cartOf([line(givenProduct(19_900), 2, 7995)]),
      plain,
      { sub: 15_990, disc: 0, coup: 0, ship: 700, pay: 0, grand: 16_690, net: 14_025, tax: 2665 },
    ],
    [
      'two prices: each part rounded for itself would hold 15.48 of tax',
      cartOf([line(givenProduct(7295)), line(givenProduct(1695))]),
      plain,
      { sub: 8990, disc: 0, coup: 0, ship: 700, pay: 0, grand: 9690, net: 8143, tax: 1547 },
    ],
    [
      'a single price: goods and delivery rounded for themselves would hold 3.83 of tax',
      cartOf([line(givenProduct(1695))]),
      plain,
      { sub: 1695, disc: 0, coup: 0, ship: 700, pay: 0, grand: 2395, net: 2013, tax: 382 },
    ],
  ])('%s', (_, cart, shop, expected) => {
    expect(shown(cartTotals(cart, shop))).toEqual(expected);
  });

  test.each([
    [999, 839, 160],
    [9690, 8143, 1547],
    [21_195, 17_811, 3384],
    [57_990, 48_731, 9259],
  ])('%i holds %i and %i of tax', (grand, net, tax) => {
    expect(shown(cartTotals(cartOf([line(givenProduct(grand))]), PLAIN))).toMatchObject({ grand, net, tax });
  });

  test.each([
    [869, 139],
    [1037, 166],
    [700, 112],
    [395, 63],
  ])('a delivery of %i says its own tax of %i', (price, tax) => {
    const totals = cartTotals(cartOf([line(givenProduct(100))], shippedBy('standard', price)), DEMO);
    expect(totals.shipping).toEqual({
      method: BY_WEIGHT,
      price,
      taxes: [{ taxClass: STANDARD, rate: 1900, treatment: 'domestic', amount: price, tax }],
    });
  });

  test('an empty cart comes to nothing', () => {
    const totals = cartTotals(cartOf([], { ...shippedBy('express', 500), ...paidByHand(300) }), DEMO);
    expect(totals).toMatchObject({
      lines: [],
      subTotal: 0,
      basketDiscount: 0,
      coupon: null,
      shipping: null,
      payment: null,
      totalTax: 0,
      totalBeforeTax: 0,
      grandTotal: 0,
      minimum: { amount: 500, isReached: false },
    });
    expect(totals.delivery).toEqual({
      possible: DEMO.shippingMethods,
      zones: DEMO.shippingMethods.map(() => null),
      method: null,
      isChosen: false,
      isNeeded: false,
      unavailable: null,
      isUndeliverable: false,
    });
  });
});

describe('the orders of the demo shop', () => {
  const reduced = { taxClassId: 'reduced' };
  const noTax = { taxClassId: 'none' };
  const bulk = [
    { quantity: '5', prices: { EUR: 1190 } },
    { quantity: '10', prices: { EUR: 1090 } },
  ];
  const paringKnife = givenProduct(2450, grams(120));
  const chefKnife = givenProduct(6400, grams(310));
  const stone = givenProduct(2990, grams(640));
  const greenTea = givenProduct(720, { ...grams(120), ...reduced });
  const blackTea = givenProduct(895, { ...grams(280), ...reduced });
  const filterRoast = givenProduct(1280, { ...grams(515), ...reduced, bulkPrices: bulk });
  const beans = {
    small: givenProduct(990, { ...grams(260), ...reduced }),
    medium: givenProduct(1750, { ...grams(520), ...reduced }),
    large: givenProduct(3100, { ...grams(1040), ...reduced }),
  };
  const lamp = givenProduct(9900, grams(2600));
  const bulb = givenProduct(690, { ...grams(60), bulkPrices: [{ quantity: '10', prices: { EUR: 590 } }] });
  const espressoMachine = givenProduct(38_900, grams(9800));
  const kettle = givenProduct(4990, grams(1350));
  const grinder = givenProduct(11_900, grams(2900));
  const board = givenProduct(3400, grams(900));
  const giftCard = givenProduct(2500, { ...grams(10), ...noTax });
  const cookbook = givenProduct(2800, { ...grams(1150), ...reduced });
  const ebook = givenProduct(999, { taxClassId: 'ebooks' });
  const lemonade = givenProduct(1440, { ...grams(14_500), shippingMethodIds: ['freight', 'pickup'] });
  const rope = givenProduct(240, {
    ...grams(70),
    orderUnit: { priceQuantity: 1, unit: 'metre', minimum: 2, interval: 0.5 },
  });

  /** Its basket discounts began after the first two orders. */
  const before = { ...DEMO, basketDiscounts: [] };
  const express = shippedBy('express');
  const dollars = { ...express, country: 'US', currency: 'USD' };

  test.each<
    [number, CartInput, ShopRules, [number, number, number, number | null, number, number, number, number]]
  >([
    [1001, cartOf([line(paringKnife), line(greenTea, 2)]), before, [3890, 0, 0, 743, 0, 4633, 4029, 604]],
    [
      1002,
      cartOf([line(filterRoast, 10), line(beans.large, 2)]),
      before,
      [17_100, 0, 0, 1560, 0, 18_660, 17_292, 1368],
    ],
    [
      1003,
      cartOf([line(lamp), line(bulb, 10)], { ...express, country: 'FR' }),
      DEMO,
      [15_800, -1000, 0, 1200, 0, 16_000, 13_445, 2555],
    ],
    [
      1004,
      cartOf([line(espressoMachine)], { ...express, country: 'GB' }),
      DEMO,
      [38_900, -3890, 0, 1200, 0, 36_210, 36_210, 0],
    ],
    [
      1005,
      cartOf([line(board, 6), line(giftCard, 4)], paidBy('invoice')),
      DEMO,
      [30_400, -3040, 0, 1347, 150, 28_857, 25_687, 3170],
    ],
    [1006, cartOf([line(kettle)]), DEMO, [4990, 0, 0, 861, 0, 5851, 4917, 934]],
    [1007, cartOf([line(cookbook)], dollars), DEMO, [3080, 0, 0, 1320, 0, 4400, 4400, 0]],
    [1008, cartOf([line(ebook)]), DEMO, [999, 0, 0, null, 0, 999, 934, 65]],
    [
      1009,
      cartOf(
        [line(beans.small, 4), line(filterRoast, 5)],
        couponOf('FIX', 2000, { minimumOrderValue: 6000 }),
      ),
      DEMO,
      [9910, 0, -2000, 1130, 0, 9040, 8343, 697],
    ],
    [
      1010,
      cartOf([line(chefKnife), line(stone)], { ...couponOf('PERCENT', 1500), country: 'FR' }),
      DEMO,
      [9390, 0, -1409, 813, 0, 8794, 7390, 1404],
    ],
    [
      1011,
      cartOf(
        [line(blackTea, 3), line(greenTea)],
        couponOf('SHIPPING', null, { waivesShipping: true, minimumOrderValue: 3000 }),
      ),
      DEMO,
      [3405, 0, 0, 0, 0, 3405, 3182, 223],
    ],
    [
      1012,
      cartOf([line(lemonade, 2)], { ...shippedBy('pickup'), country: 'GB' }),
      DEMO,
      [2880, 0, 0, 0, 0, 2880, 2420, 460],
    ],
    [1013, cartOf([line(rope, '7.5')]), DEMO, [1800, 0, 0, 762, 0, 2562, 2153, 409]],
    [
      1014,
      cartOf([line(beans.medium), line(grinder), line(giftCard)]),
      DEMO,
      [16_150, -1000, 0, 1108, 0, 16_258, 14_192, 2066],
    ],
    [1015, cartOf([line(cookbook)], dollars), DEMO, [3080, 0, 0, 1320, 0, 4400, 4400, 0]],
  ])('order %i', (_, cart, shop, [sub, disc, coup, ship, pay, grand, net, tax]) => {
    expect(shown(cartTotals(cart, shop))).toEqual({ sub, disc, coup, ship, pay, grand, net, tax });
  });

  test('three rates: the discount is spread over them, the odd cents to the largest remainders', () => {
    const totals = cartTotals(cartOf([line(beans.medium), line(grinder), line(giftCard)]), DEMO);
    expect(totals.taxes).toEqual([
      { rate: 0, treatment: 'domestic', amount: 2345, tax: 0 },
      { rate: 700, treatment: 'domestic', amount: 1642, tax: 107 },
      { rate: 1900, treatment: 'domestic', amount: 12_271, tax: 1959 },
    ]);
  });
});

describe('unit prices', () => {
  const off = (quantity: string, price: number, discount: number) => ({
    quantity,
    prices: { EUR: price },
    discount,
  });
  const roast = givenProduct(1280, {
    bulkPrices: [
      { quantity: '10', prices: { EUR: 1090 } },
      { quantity: '5', prices: { EUR: 1190 } },
    ],
    groupPrices: [
      { customerGroupId: 'dear', tiers: [off('1', 5000, 1000)] },
      { customerGroupId: 'cafes', tiers: [off('1', 1280, 500), off('5', 1190, 500), off('10', 1090, 500)] },
      { customerGroupId: 'many', tiers: [off('20', 500, 0)] },
    ],
  });
  const dearTier = givenProduct(1000, { bulkPrices: [{ quantity: '2', prices: { EUR: 1100 } }] });

  test.each<[string, PricedProduct, string, string | null, number]>([
    ['below every tier the list price', roast, '4.999999', null, 1280],
    ['the first tier', roast, '5', null, 1190],
    ['the first tier up to the next', roast, '9.5', null, 1190],
    ['the highest tier that is reached, however they are sorted', roast, '12', null, 1090],
    ['a tier replaces the list price even where it is dearer', dearTier, '2', null, 1100],
    ['the group pays less', roast, '1', 'cafes', 1216],
    ['the group pays less, a half is rounded up', roast, '5', 'cafes', 1131],
    ['the highest tier of the group', roast, '10', 'cafes', 1036],
    ['a group with dearer prices pays what all pay', roast, '1', 'dear', 1280],
    ['a tier of the group that is not reached', roast, '19', 'many', 1090],
    ['a tier of the group that is reached', roast, '20', 'many', 500],
    ['a group without prices', roast, '5', 'staff', 1190],
  ])('%s', (_, product, quantity, customerGroupId, unitPrice) => {
    const totals = cartTotals(cartOf([line(product, quantity)], { customerGroupId }), PLAIN);
    expect(totals.lines[0]).toMatchObject({ unitPrice, quantityPrice: unitPrice });
  });

  test('a tier with a discount of its group: 55 less 10 % is 49.50', () => {
    const product = givenProduct(5500, {
      groupPrices: [{ customerGroupId: 'staff', tiers: [off('5', 5500, 1000)] }],
    });
    const totals = cartTotals(cartOf([line(product, 5)], { customerGroupId: 'staff' }), PLAIN);
    expect(totals.lines[0]).toMatchObject({ unitPrice: 4950, amount: 24_750 });
  });

  test('a price by hand wins over tiers and groups, 0 too', () => {
    const facts = cartOf([line(roast, 10, 0), line(roast, 10, 999)], { customerGroupId: 'cafes' });
    expect(cartTotals(facts, PLAIN).lines.map(({ unitPrice, amount }) => [unitPrice, amount])).toEqual([
      [0, 0],
      [999, 9990],
    ]);
  });

  const per = (price: number, priceQuantity: number) =>
    givenProduct(price, { orderUnit: { priceQuantity, unit: 'metre', minimum: 0.5, interval: 0.5 } });

  test.each<[string, LineInput, number, number, number]>([
    // unitPrice, quantityPrice, amount
    ['the price of one', line(per(1299, 1), 2), 1299, 1299, 2598],
    ['the price of a hundred', line(per(240, 100), 250), 2, 240, 600],
    ['the price of three', line(per(100, 3), 2), 33, 100, 67],
    ['the price of half', line(per(120, 0.5), '0.5'), 240, 120, 120],
    ['half a cent is rounded up', line(per(5, 1), '0.5'), 5, 5, 3],
    ['by hand, of a hundred', line(per(240, 100), 250, 3), 3, 300, 750],
    ['by hand, of half', line(per(120, 0.5), '1.5', 3), 3, 2, 5],
  ])('amount and quantity price follow from the price: %s', (_, facts, unitPrice, quantityPrice, amount) => {
    expect(cartTotals(cartOf([facts]), PLAIN).lines[0]).toMatchObject({ unitPrice, quantityPrice, amount });
  });
});

describe('terms', () => {
  const net = { ...PLAIN, taxModel: 'NET' as const };
  const abroad = (shop: ShopRules): ShopRules => ({
    ...shop,
    taxClasses: [taxClass('standard', { DE: 1900, FR: 2000 }, { isDefault: true })],
  });

  test.each([
    [6500, 5462],
    [29_900, 25_126],
    [14_999, 12_604],
    [5000, 4202],
  ])('a net cart in a gross shop: %i is %i', (gross, unitPrice) => {
    const totals = cartTotals(cartOf([line(givenProduct(gross))], { taxType: 'NET' }), PLAIN);
    expect(totals.lines[0]!.unitPrice).toBe(unitPrice);
    expect(shown(totals)).toMatchObject({ grand: gross, net: unitPrice, tax: gross - unitPrice });
  });

  test.each<[string, ShopRules, CartInput['taxType'], string | null, number, number, number, number]>([
    // unit price, net, tax, grand
    ['gross in gross', PLAIN, 'GROSS', null, 1190, 1000, 190, 1190],
    ['net in gross', PLAIN, 'NET', null, 1000, 1000, 190, 1190],
    [
      'net in gross, abroad: without the tax of abroad, so that the sum is that of the gross cart',
      abroad(PLAIN),
      'NET',
      'FR',
      992,
      992,
      198,
      1190,
    ],
    ['gross in gross, abroad: the price stays', abroad(PLAIN), 'GROSS', 'FR', 1190, 992, 198, 1190],
    ['none in gross', PLAIN, 'NONE', null, 1190, 1190, 0, 1190],
    ['net in net', net, 'NET', null, 1190, 1190, 226, 1416],
    ['gross in net', net, 'GROSS', null, 1416, 1190, 226, 1416],
    ['gross in net, abroad: with the tax of abroad', abroad(net), 'GROSS', 'FR', 1428, 1190, 238, 1428],
    ['gross in net, out of the Union', net, 'GROSS', 'US', 1190, 1190, 0, 1190],
    ['net in gross, out of the Union: without any tax', PLAIN, 'NET', 'US', 1190, 1190, 0, 1190],
    ['none in net', net, 'NONE', null, 1190, 1190, 0, 1190],
  ])('%s', (_, shop, taxType, country, unitPrice, before, tax, grand) => {
    const totals = cartTotals(cartOf([line(givenProduct(1190))], { taxType, country }), shop);
    expect(totals.lines[0]!.unitPrice).toBe(unitPrice);
    expect(shown(totals)).toMatchObject({ sub: unitPrice, net: before, tax, grand });
  });

  test('deposits, fees, delivery and payment are in the terms of the cart too', () => {
    const shop = { ...DEMO, basketDiscounts: [], paymentMethods: [payment('invoice', 238)] };
    const product = givenProduct(1190, { depositPrices: { EUR: 119 }, ecoParticipationPrices: { EUR: 357 } });
    const totals = cartTotals(cartOf([line(product)], { taxType: 'NET', ...shippedBy('express') }), shop);
    expect(totals.lines[0]).toMatchObject({ unitPrice: 1000, deposit: 100, ecoParticipation: 300 });
    expect(shown(totals)).toEqual({
      sub: 1000,
      disc: 0,
      coup: 0,
      ship: 1008,
      pay: 200,
      grand: 3104,
      net: 2608,
      tax: 496,
    });
  });

  test('what was set by hand is not changed, discounts and coupons take off what the shop says with tax', () => {
    const shop = { ...DEMO, basketDiscounts: [{ minimumAmount: 0, absolute: 119 }] };
    const facts = cartOf([line(givenProduct(2380), 1, 1000)], {
      taxType: 'NET',
      ...shippedBy('express', 300),
      ...paidByHand(50),
      ...couponOf('FIX', 238),
    });
    expect(shown(cartTotals(facts, shop))).toEqual({
      sub: 1000,
      disc: -100,
      coup: -200,
      ship: 300,
      pay: 50,
      grand: 1250,
      net: 1050,
      tax: 200, // 199.5
    });
  });

  test('many cheap pieces cost the same: the line is rounded, not the piece', () => {
    const cheap = [line(givenProduct(5), 1000)];
    expect(shown(cartTotals(cartOf(cheap), PLAIN))).toMatchObject({ sub: 5000, grand: 5000 });
    const totals = cartTotals(cartOf(cheap, { taxType: 'NET' }), PLAIN);
    expect(totals.lines[0]).toMatchObject({ unitPrice: 4, shopQuantityPrice: 5, amount: 4202 });
    expect(shown(totals)).toMatchObject({ sub: 4202, net: 4202, tax: 798, grand: 5000 });
  });

  // 10.00 with tax is 8.40 without: every limit is the shop's, in whatever terms the cart is shown.
  describe('limits are compared with what the shop asks', () => {
    const inNet = (shop: ShopRules, facts: Partial<CartInput> = {}) =>
      cartTotals(cartOf([line(givenProduct(1000))], { taxType: 'NET', ...facts }), shop);

    test('of a basket discount', () => {
      const less = (minimumAmount: number) => ({
        ...PLAIN,
        basketDiscounts: [{ minimumAmount, absolute: 500 }],
      });
      expect(shown(inNet(less(1000)))).toMatchObject({ sub: 840, disc: -420, net: 420, tax: 80, grand: 500 });
      expect(shown(inNet(less(1001)))).toMatchObject({ disc: 0, grand: 1000 });
    });

    test('of a coupon', () => {
      const coupon = (minimumOrderValue: number) => couponOf('FIX', 500, { minimumOrderValue });
      expect(shown(inNet(PLAIN, coupon(1000)))).toMatchObject({ coup: -420, grand: 500 });
      expect(inNet(PLAIN, coupon(1001)).coupon).toEqual({
        amount: 0,
        problems: ['LineItemsSubTotalTooSmall'],
      });
    });

    test('of the delivery', () => {
      const free = (freeFrom: number) => ({
        ...PLAIN,
        shippingMethods: [delivery('flat', 'flat', 595, { freeFrom })],
      });
      expect(inNet(free(1000)).shipping!.price).toBe(0);
      expect(inNet(free(1001)).shipping!.price).toBe(500);
      const tiers = [
        { from: 0, amount: 595 },
        { from: 1000, amount: 119 },
      ];
      const tiered = { ...PLAIN, shippingMethods: [delivery('tiers', 'order_value', 0, { tiers })] };
      expect(inNet(tiered).shipping!.price).toBe(100);
    });

    test('of the minimum', () => {
      const least = (minimumCartAmount: number) => inNet({ ...PLAIN, minimumCartAmount });
      expect(least(1000)).toMatchObject({ minimum: { amount: 1000, isReached: true }, missingToMinimum: 0 });
      expect(least(1001)).toMatchObject({ minimum: { amount: 1001, isReached: false }, missingToMinimum: 1 });
    });
  });

  test('a discount for the payment is shared over the rates as it is with tax', () => {
    const shop = { ...PLAIN, paymentMethods: [payment('transfer', -214)] };
    const facts = [line(givenProduct(1070, { taxClassId: 'reduced' }))];
    expect(shown(cartTotals(cartOf(facts), shop))).toMatchObject({ pay: -214, grand: 856 });
    expect(shown(cartTotals(cartOf(facts, { taxType: 'NET' }), shop))).toMatchObject({
      pay: -200,
      net: 800,
      tax: 56,
      grand: 856,
    });
  });
});

describe('tax rates', () => {
  const classes = [
    taxClass('standard', { DE: 1900, FR: 2000, GB: 2000 }, { isDefault: true }),
    taxClass('reduced', { DE: 700, FR: 550 }),
    taxClass('empty', {}),
  ];
  const shop: ShopRules = { ...PLAIN, taxClasses: classes };
  const pickup = { ...shop, shippingMethods: [delivery('pickup', 'pickup', 0)] };

  test.each<[string, ShopRules, string | null, string | null, number]>([
    ['the default class at home', shop, null, null, 1900],
    ['a class that is gone is the default class', shop, 'gone', null, 1900],
    ['the class of the product', shop, 'reduced', null, 700],
    ['where the goods go', shop, 'reduced', 'FR', 550],
    ['no rate there: that of home', shop, 'reduced', 'AT', 700],
    ['no rate anywhere', shop, 'empty', 'FR', 0],
    ['out of the Union, free', shop, 'reduced', 'GB', 0],
    ['out of the Union, not free: the rate there', { ...shop, taxFreeOutsideEu: false }, null, 'GB', 2000],
    ['out of the Union, not free, no rate there', { ...shop, taxFreeOutsideEu: false }, 'reduced', 'CH', 700],
    ['a shop out of the Union at home', { ...shop, country: 'GB' }, null, 'GB', 2000],
    ['a shop out of the Union, to another country out of it', { ...shop, country: 'GB' }, null, 'US', 0],
    ['a shop out of the Union, into it', { ...shop, country: 'GB' }, 'reduced', 'FR', 550],
    ['who picks up takes over at home', pickup, null, 'US', 1900],
  ])('%s', (_, rules, taxClassId, country, taxRate) => {
    const totals = cartTotals(cartOf([line(givenProduct(1000, { taxClassId }))], { country }), rules);
    expect(totals.lines[0]!.taxRate).toBe(taxRate);
  });

  test('the country that counts is said', () => {
    const at = (rules: ShopRules, country: string | null) =>
      cartTotals(cartOf([line(givenProduct(1))], { country }), rules).country;
    expect([at(shop, null), at(shop, 'FR'), at(pickup, 'FR')]).toEqual(['DE', 'FR', 'DE']);
  });
});

describe('deposits and eco fees', () => {
  const crate = givenProduct(1440, { depositPrices: { EUR: 330 }, ecoParticipationPrices: { EUR: 50 } });

  test('by quantity, at the rate of the product, not in the subtotal, in the total', () => {
    const food = givenProduct(1000, { taxClassId: 'reduced', depositPrices: { EUR: 25 } });
    const totals = cartTotals(cartOf([line(crate, 2), line(food, 3)]), PLAIN);
    expect(totals.lines).toMatchObject([
      { amount: 2880, deposit: 660, ecoParticipation: 100 },
      { amount: 3000, deposit: 75, ecoParticipation: 0 },
    ]);
    expect(totals.taxes).toEqual([
      { rate: 700, treatment: 'domestic', amount: 3075, tax: 201 },
      { rate: 1900, treatment: 'domestic', amount: 3640, tax: 581 },
    ]);
    expect(shown(totals)).toMatchObject({ sub: 5880, grand: 6715, net: 5933, tax: 782 });
  });

  test('of a part of a unit, rounded; whatever its price is for', () => {
    const byHundred = { orderUnit: { priceQuantity: 100, unit: 'metre', minimum: 1, interval: 1 } } as const;
    const totals = cartTotals(cartOf([line({ ...crate, ...byHundred }, '0.25')]), PLAIN);
    expect(totals.lines[0]).toMatchObject({ amount: 4, deposit: 83, ecoParticipation: 13 });
  });

  test('no minimum, no discount and no "free from" counts them', () => {
    const shop: ShopRules = {
      ...DEMO,
      shippingMethods: [delivery('flat', 'flat', 500, { freeFrom: 1500 })],
      basketDiscounts: [{ minimumAmount: 1500, absolute: 100 }],
      minimumCartAmount: 1500,
    };
    const totals = cartTotals(cartOf([line(crate)], couponOf('FIX', 100, { minimumOrderValue: 1500 })), shop);
    expect(shown(totals)).toMatchObject({ sub: 1440, disc: 0, coup: 0, ship: 500, grand: 2320 });
    expect(totals.coupon!.problems).toEqual(['LineItemsSubTotalTooSmall']);
    expect(totals.minimum).toEqual({ amount: 1500, isReached: false });
  });
});

describe('the least a cart must come to', () => {
  const shop: ShopRules = {
    ...DEMO,
    shippingMethods: [delivery('flat', 'flat', 300)],
    paymentMethods: [payment('invoice', 50)],
    basketDiscounts: [{ minimumAmount: 0, absolute: 100 }],
  };
  // 10.00, with the coupon 8.00, with the discount 7.00, delivered 10.00, paid 10.50
  const facts = cartOf([line(givenProduct(1000))], couponOf('FIX', 200));

  test.each([
    ['SumProduct', 1000],
    ['SumCoupon', 800],
    ['SumDiscount', 700],
    ['SumDelivery', 1000],
    ['SumPayment', 1050],
  ] as const)('%s compares %i', (minimumCartCode, sum) => {
    const at = (minimumCartAmount: number) =>
      cartTotals(facts, { ...shop, minimumCartCode, minimumCartAmount }).minimum;
    expect(at(sum)).toEqual({ amount: sum, isReached: true });
    expect(at(sum + 1)).toEqual({ amount: sum + 1, isReached: false });
  });

  test('two metres of rope are too little for the demo shop', () => {
    expect(cartTotals(cartOf([line(givenProduct(240), 2)]), DEMO).minimum).toEqual({
      amount: 500,
      isReached: false,
    });
    expect(cartTotals(cartOf([line(givenProduct(240), '2.5')]), DEMO).minimum).toEqual({
      amount: 500,
      isReached: true,
    });
  });

  test('in the currency of the cart; none: always reached', () => {
    const pounds = (price: number) =>
      cartTotals(cartOf([line(givenProduct(0, { prices: { GBP: price } }))], { currency: 'GBP' }), DEMO)
        .minimum;
    expect(pounds(424)).toEqual({ amount: 425, isReached: false });
    expect(pounds(425)).toEqual({ amount: 425, isReached: true });
    expect(cartTotals(cartOf([]), { ...DEMO, minimumCartAmount: null }).minimum).toEqual({
      amount: null,
      isReached: true,
    });
  });
});

describe('other currencies', () => {
  const shop: ShopRules = {
    ...DEMO,
    currencies: ['EUR', 'JPY', 'KWD', 'USD'],
    exchangeRates: { JPY: '163.27', KWD: '0.3071', USD: '1.1' },
  };
  // 12.99 EUR are 2120.8773 yen and 3.989229 dinars; 500 g cost 7.60 EUR, 1240.852 yen, 2.33396 dinars.
  const facts = (currency: string) => cartOf([line(givenProduct(1299, grams(250)), 2)], { currency });

  test('yen have no decimals', () => {
    expect(shown(cartTotals(facts('JPY'), shop))).toEqual({
      sub: 4242,
      disc: 0,
      coup: 0,
      ship: 1241,
      pay: 0,
      grand: 5483,
      net: 4608,
      tax: 875, // 875.43
    });
  });

  test('dinars have three', () => {
    expect(shown(cartTotals(facts('KWD'), shop))).toEqual({
      sub: 7978,
      disc: 0,
      coup: 0,
      ship: 2334,
      pay: 0,
      grand: 10_312,
      net: 8666,
      tax: 1646, // 1646.45
    });
  });

  test('a price that was given is not converted', () => {
    const product = givenProduct(1299, { prices: { EUR: 1299, JPY: 2000 } });
    expect(cartTotals(cartOf([line(product)], { currency: 'JPY' }), shop).lines[0]!.unitPrice).toBe(2000);
  });

  test('a price that only another currency has goes through the shop’s own', () => {
    const product = givenProduct(0, { prices: { USD: 1100 } });
    expect(cartTotals(cartOf([line(product)], { currency: 'JPY' }), shop).lines[0]!.unitPrice).toBe(1633);
  });

  test('discounts, coupons, delivery and payment in a shop that counts in yen', () => {
    const rules: ShopRules = {
      ...shop,
      defaultCurrency: 'JPY',
      exchangeRates: { EUR: '0.0061', KWD: '0.00188', USD: '0.0067' },
      shippingMethods: [delivery('flat', 'flat', 800)],
      paymentMethods: [payment('invoice', 100)],
      basketDiscounts: [{ minimumAmount: 5000, absolute: 500 }],
      minimumCartAmount: 1000,
    };
    const product = givenProduct(0, { prices: { JPY: 6000 } });
    const yen = cartOf([line(product)], { currency: 'JPY', ...couponOf('FIX', 3000, { currency: 'KWD' }) });
    // 3 dinars are 1595.74 yen.
    expect(shown(cartTotals(yen, rules))).toEqual({
      sub: 6000,
      disc: -500,
      coup: -1596,
      ship: 800,
      pay: 100,
      grand: 4804,
      net: 4037,
      tax: 767, // 767.03
    });
    const euros = cartTotals({ ...yen, currency: 'EUR' }, rules);
    // 36.60, 3.05 off, 3 dinars are 9.734 EUR, 4.88, 0.61
    expect(shown(euros)).toEqual({
      sub: 3660,
      disc: -305,
      coup: -973,
      ship: 488,
      pay: 61,
      grand: 2931,
      net: 2463,
      tax: 468, // 467.97
    });
    expect(euros.minimum).toEqual({ amount: 610, isReached: true });
  });
});
