import { describe, expect, test } from 'vitest';
import { lowestShippingPrice } from '../shops/shipping-methods/shipping-price.ts';
import type { PaymentMethod, ShippingMethod, TaxClass } from '../shops/settings/settings.ts';
import type { PricedProduct } from './cart-product.ts';
import type { CartInput, CouponInput, LineInput, ShopRules } from './input.ts';
import { cartTotals, type CartTotals } from './totals.ts';

const taxClass = (key: string, rates: TaxClass['rates'], flags: Partial<TaxClass> = {}): TaxClass => ({
  taxClassId: key,
  key,
  name: {},
  isDefault: false,
  isDefaultDigital: false,
  digital: false,
  supply: 'goods',
  rates,
  ...flags,
});

const delivery = (
  key: string,
  kind: ShippingMethod['kind'],
  amount: number,
  changes: Partial<ShippingMethod> = {},
): ShippingMethod => ({
  shippingMethodId: key,
  key,
  name: {},
  description: {},
  logoUrl: null,
  kind,
  amount,
  amountPerKg: 0,
  tiers: [],
  freeFrom: null,
  ...changes,
});

const payment = (key: string, amount: number): PaymentMethod => ({
  paymentMethodId: key,
  key,
  name: {},
  providerName: null,
  additionalData: null,
  amount,
  releaseUnpaidAfterDays: null,
  releaseUnpaidAfterMinutes: null,
  providerLabel: null,
  capture: 'automatic',
});

const BY_WEIGHT = delivery('standard', 'weight', 700, { amountPerKg: 119 });
const STANDARD = taxClass('standard', { DE: 1900 }, { isDefault: true });

/** The rules of the demo shop, as far as totals depend on them. */
const DEMO: ShopRules = {
  country: 'DE',
  taxModel: 'GROSS',
  taxFreeOutsideEu: true,
  exportPrices: 'asShown',
  smallBusiness: false,
  distanceSales: 'rates',
  taxRegistrations: {},
  specialTerritories: false,
  deliveryTax: 'standard',
  taxClasses: [
    taxClass('none', { DE: 0 }),
    STANDARD,
    taxClass('reduced', { DE: 700 }),
    taxClass('digital', { DE: 1900 }, { isDefaultDigital: true, digital: true }),
    taxClass('ebooks', { DE: 700 }, { digital: true }),
  ],
  shippingMethods: [
    BY_WEIGHT,
    delivery('express', 'flat', 1200),
    delivery('pickup', 'pickup', 0),
    delivery('freight', 'flat', 4900),
  ],
  paymentMethods: [payment('advance', 0), payment('invoice', 150)],
  basketDiscounts: [
    { minimumAmount: 10_000, absolute: 1000 },
    { minimumAmount: 25_000, percent: 1000 },
  ],
  minimumCartCode: 'SumProduct',
  minimumCartAmount: 500,
  defaultCurrency: 'EUR',
  currencies: ['EUR', 'GBP', 'USD'],
  exchangeRates: { GBP: '0.85', USD: '1.1' },
};

/** A shop that charges the goods and nothing else. */
const PLAIN: ShopRules = {
  ...DEMO,
  shippingMethods: [delivery('free', 'flat', 0)],
  basketDiscounts: [],
  minimumCartAmount: null,
};

const givenProduct = (price: number, changes: Partial<PricedProduct> = {}): PricedProduct => ({
  productId: 'GOODS',
  masterId: null,
  prices: { EUR: price },
  taxClassId: null,
  ...changes,
});
const grams = (amount: number) => ({ deliveryWeight: { amount, unit: 'gram' as const } });
const ounces = (amount: number) => ({ deliveryWeight: { amount, unit: 'ounce' as const } });
const line = (
  product: PricedProduct,
  quantity: number | string = 1,
  price: number | null = null,
): LineInput => ({
  quantity: String(quantity),
  price,
  product,
});

const cartOf = (lines: LineInput[], changes: Partial<CartInput> = {}): CartInput => ({
  currency: 'EUR',
  taxType: 'GROSS',
  country: null,
  postcode: null,
  vatNumber: null,
  customerGroupId: null,
  lines,
  coupon: null,
  shipping: { methodId: null, price: null },
  payment: { methodId: null, price: null },
  ...changes,
});
const shippedBy = (methodId: string, price: number | null = null) => ({ shipping: { methodId, price } });
const paidBy = (methodId: string) => ({ payment: { methodId, price: null } });
const paidByHand = (price: number) => ({ payment: { methodId: null, price } });

const couponOf = (kind: CouponInput['kind'], amount: number | null, changes: Partial<CouponInput> = {}) => ({
  coupon: {
    kind,
    currency: 'EUR',
    amount,
    waivesShipping: false,
    minimumOrderValue: null,
    isWithdrawn: false,
    isUsedUp: false,
    isInTime: true,
    productIds: null,
    shippingMethodIds: null,
    paymentMethodIds: null,
    ...changes,
  },
});

/** What a page shows below the lines. */
const shown = (totals: CartTotals) => ({
  sub: totals.subTotal,
  disc: totals.basketDiscount,
  coup: totals.coupon?.amount ?? 0,
  ship: totals.shipping?.price ?? null,
  pay: totals.payment?.price ?? null,
  grand: totals.grandTotal,
  net: totals.totalBeforeTax,
  tax: totals.totalTax,
});

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
      method: null,
      isChosen: false,
      isNeeded: false,
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

describe('basket discounts', () => {
  const offering = (...basketDiscounts: ShopRules['basketDiscounts']): ShopRules => ({
    ...PLAIN,
    basketDiscounts,
  });
  const tenFromHundred = { minimumAmount: 10_000, absolute: 1000 };
  const tenPercent = { minimumAmount: 5000, percent: 1000 };

  test.each<[string, ShopRules, number, number]>([
    ['one cent below', offering(tenFromHundred), 9999, 0],
    ['just reached', offering(tenFromHundred), 10_000, -1000],
    ['the one that takes off most: absolute', offering(tenPercent, tenFromHundred), 10_000, -1000],
    ['the one that takes off most: percent', offering(tenPercent, tenFromHundred), 10_010, -1001],
    [
      'a higher minimum is not always more',
      offering(tenPercent, { minimumAmount: 10_000, absolute: 1 }),
      20_000,
      -2000,
    ],
    ['half a cent is rounded up', offering({ minimumAmount: 0, percent: 500 }), 10, -1],
    ['never more than the goods', offering({ minimumAmount: 0, absolute: 99_999 }), 1234, -1234],
    ['all of it', offering({ minimumAmount: 0, percent: 10_000 }), 1234, -1234],
    ['none', offering(), 1234, 0],
  ])('%s', (_, shop, price, discount) => {
    const totals = cartTotals(cartOf([line(givenProduct(price))]), shop);
    expect(totals.basketDiscount).toBe(discount);
    expect(totals.grandTotal).toBe(price + discount);
  });

  test('minimum and amount are in the currency of the cart', () => {
    const shop = offering(tenFromHundred, { minimumAmount: 20_000, percent: 1000 });
    const at = (price: number) =>
      cartTotals(cartOf([line(givenProduct(0, { prices: { GBP: price } }))], { currency: 'GBP' }), shop);
    expect(at(8499).basketDiscount).toBe(0);
    expect(at(8500).basketDiscount).toBe(-850);
    expect(at(8500).offers).toEqual([
      { minimumAmount: 8500, absolute: 850 },
      { minimumAmount: 17_000, percent: 1000 },
    ]);
  });
});

describe('coupons', () => {
  const shop: ShopRules = { ...DEMO, basketDiscounts: [] };
  const book = givenProduct(1000, { productId: 'BOOK', taxClassId: 'reduced' });
  const red = givenProduct(3000, { productId: 'RED', masterId: 'LAMP' });
  const both = [line(book), line(red)];

  test.each<[string, CartInput, { coup: number; ship: number | null; grand: number }]>([
    ['FIX', cartOf(both, couponOf('FIX', 500)), { coup: -500, ship: 700, grand: 4200 }],
    ['PERCENT', cartOf(both, couponOf('PERCENT', 1500)), { coup: -600, ship: 700, grand: 4100 }],
    [
      'PERCENT, half a cent',
      cartOf([line(givenProduct(10))], couponOf('PERCENT', 500)),
      { coup: -1, ship: 700, grand: 709 },
    ],
    ['SHIPPING', cartOf(both, couponOf('SHIPPING', null)), { coup: 0, ship: 0, grand: 4000 }],
    [
      'FIX and no delivery costs',
      cartOf(both, couponOf('FIX', 500, { waivesShipping: true })),
      { coup: -500, ship: 0, grand: 3500 },
    ],
    [
      'FIX for one product',
      cartOf(both, couponOf('FIX', 5000, { productIds: ['BOOK'] })),
      { coup: -1000, ship: 700, grand: 3700 },
    ],
    [
      'PERCENT for a master',
      cartOf(both, couponOf('PERCENT', 5000, { productIds: ['LAMP'] })),
      { coup: -1500, ship: 700, grand: 3200 },
    ],
    [
      'FIX of another currency',
      cartOf(both, couponOf('FIX', 550, { currency: 'USD' })),
      { coup: -500, ship: 700, grand: 4200 },
    ],
    [
      'a delivery by hand is waived too',
      cartOf(both, { ...couponOf('SHIPPING', null), ...shippedBy('express', 999) }),
      { coup: 0, ship: 0, grand: 4000 },
    ],
  ])('%s', (_, cart, expected) => {
    const totals = cartTotals(cart, shop);
    expect(shown(totals)).toMatchObject(expected);
    expect(totals.coupon!.problems).toEqual([]);
  });

  test('a coupon takes off no more than the goods; delivery, deposits and payment remain', () => {
    const bottle = givenProduct(145, { depositPrices: { EUR: 25 } });
    const facts = cartOf([line(bottle, 6)], { ...couponOf('FIX', 100_000), ...paidBy('invoice') });
    expect(shown(cartTotals(facts, shop))).toMatchObject({
      sub: 870,
      coup: -870,
      ship: 700,
      pay: 150,
      grand: 1000,
    });
  });

  test('after a basket discount it takes off no more than is left', () => {
    const tenOff = { ...shop, basketDiscounts: [{ minimumAmount: 0, absolute: 1000 }] };
    const totals = cartTotals(cartOf(both, couponOf('FIX', 100_000)), tenOff);
    expect(shown(totals)).toMatchObject({ sub: 4000, disc: -1000, coup: -3000, grand: 700 });
    const percent = cartTotals(cartOf(both, couponOf('PERCENT', 5000)), tenOff);
    expect(shown(percent)).toMatchObject({ disc: -1000, coup: -1500, grand: 2200 });
    // A quarter of the discount is on the book, so 7.50 of it is left.
    const forBook = cartTotals(cartOf(both, couponOf('FIX', 100_000, { productIds: ['BOOK'] })), tenOff);
    expect(shown(forBook)).toMatchObject({ disc: -1000, coup: -750, grand: 2950 });
    expect(forBook.lines.map(({ couponShare }) => couponShare)).toEqual([750, 0]);
  });

  test.each([
    [6000, 6000, 0, -2000, []],
    [5999, 6000, 0, 0, ['LineItemsSubTotalTooSmall']],
    [6000, 6000, 1000, -2000, []],
  ])(
    'the minimum is compared with the goods alone: %i at a minimum of %i and %i off the basket',
    (price, minimumOrderValue, absolute, amount, problems) => {
      const rules = { ...shop, basketDiscounts: [{ minimumAmount: 0, absolute }] };
      const totals = cartTotals(
        cartOf([line(givenProduct(price))], couponOf('FIX', 2000, { minimumOrderValue })),
        rules,
      );
      expect(totals.coupon).toEqual({ amount, problems });
    },
  );

  test('a minimum in another currency', () => {
    const facts = (price: number) =>
      cartOf(
        [line(givenProduct(price))],
        couponOf('FIX', 2000, { minimumOrderValue: 6600, currency: 'USD' }),
      );
    expect(cartTotals(facts(6000), shop).coupon).toEqual({ amount: -1818, problems: [] });
    expect(cartTotals(facts(5999), shop).coupon).toEqual({
      amount: 0,
      problems: ['LineItemsSubTotalTooSmall'],
    });
  });

  test.each<[string, Partial<CouponInput>, Partial<CartInput>, string[]]>([
    ['withdrawn', { isWithdrawn: true }, {}, ['CouponIsInvalidated']],
    ['used up', { isUsedUp: true }, {}, ['ValidCouponCountReached']],
    ['not yet or no longer', { isInTime: false }, {}, ['CouponNotEffective']],
    ['worth nothing', { amount: 0 }, {}, ['CouponNotEffective']],
    ['worth nothing, but the delivery is free', { amount: 0, waivesShipping: true }, {}, []],
    [
      'the delivery is free already',
      { kind: 'SHIPPING', amount: null },
      shippedBy('pickup'),
      ['CouponNotEffective'],
    ],
    ['for other payments', { paymentMethodIds: ['invoice'] }, {}, ['PaymentMethodMisMatch']],
    ['for this payment', { paymentMethodIds: ['invoice'] }, paidBy('invoice'), []],
    [
      'for a method, paid by hand',
      { paymentMethodIds: ['invoice'] },
      paidByHand(0),
      ['PaymentMethodMisMatch'],
    ],
    ['for other deliveries', { shippingMethodIds: ['pickup'] }, {}, ['ShippingMethodMisMatch']],
    ['for this delivery', { shippingMethodIds: ['pickup'] }, shippedBy('pickup'), []],
    ['for other goods', { productIds: ['TEA'] }, {}, ['ProductMisMatch']],
    ['for no goods', { productIds: [] }, {}, ['ProductMisMatch']],
    [
      'all at once, in their order',
      {
        isWithdrawn: true,
        isUsedUp: true,
        isInTime: false,
        minimumOrderValue: 1_000_000,
        productIds: ['TEA'],
        shippingMethodIds: ['pickup'],
        paymentMethodIds: ['invoice'],
      },
      {},
      [
        'LineItemsSubTotalTooSmall',
        'CouponIsInvalidated',
        'ValidCouponCountReached',
        'CouponNotEffective',
        'PaymentMethodMisMatch',
        'ShippingMethodMisMatch',
        'ProductMisMatch',
      ],
    ],
  ])('why a coupon does not count: %s', (_, changes, cart, problems) => {
    const coupon = couponOf('FIX', 500, changes);
    const totals = cartTotals(cartOf(both, { ...coupon, ...cart }), shop);
    expect(totals.coupon!.problems).toEqual(problems);
    if (problems.length === 0) return;
    // Nothing is taken off and nothing waived: as if there were none.
    const without = cartTotals(cartOf(both, cart), shop);
    expect(totals).toEqual({ ...without, coupon: { amount: 0, problems } });
  });

  test('one with a problem waives no delivery costs', () => {
    const facts = cartOf(both, couponOf('FIX', 500, { waivesShipping: true, isUsedUp: true }));
    expect(shown(cartTotals(facts, shop))).toMatchObject({ coup: 0, ship: 700, grand: 4700 });
  });

  test('nothing is shipped, so a coupon for a delivery is for another one', () => {
    const facts = cartOf([line(givenProduct(999, { taxClassId: 'ebooks' }))], {
      ...couponOf('FIX', 500, { shippingMethodIds: ['standard'] }),
    });
    expect(cartTotals(facts, shop).coupon).toEqual({ amount: 0, problems: ['ShippingMethodMisMatch'] });
  });
});

describe('spreading', () => {
  const at = (rate: 'none' | 'reduced' | 'standard', price: number) =>
    line(givenProduct(price, { taxClassId: rate }));
  const less = (absolute: number): ShopRules => ({
    ...PLAIN,
    basketDiscounts: [{ minimumAmount: 0, absolute }],
  });
  const byRate = (totals: CartTotals) => totals.taxes.map(({ rate, amount }) => [rate, amount]);

  test('in proportion to what is taxed at each rate', () => {
    const lines = [at('standard', 3000), at('reduced', 1000)];
    expect(byRate(cartTotals(cartOf(lines), less(400)))).toEqual([
      [700, 900],
      [1900, 2700],
    ]);
  });

  test('the odd cent goes to the largest remainder', () => {
    const lines = [at('standard', 200), at('reduced', 100)];
    expect(byRate(cartTotals(cartOf(lines), less(1)))).toEqual([
      [700, 100],
      [1900, 199],
    ]);
  });

  test('of equal remainders to the lower rate', () => {
    const lines = [at('standard', 100), at('reduced', 100), at('none', 100)];
    expect(byRate(cartTotals(cartOf(lines), less(2)))).toEqual([
      [0, 99],
      [700, 99],
      [1900, 100],
    ]);
  });

  test('within a rate the coupon is spread over the lines, of equal remainders to the earlier one', () => {
    const lines = [at('reduced', 100), at('standard', 100), at('standard', 100), at('standard', 100)];
    const totals = cartTotals(cartOf(lines, couponOf('FIX', 6)), PLAIN);
    // 1.5 and 4.5: the lower rate bears 2.
    expect(totals.lines.map(({ couponShare }) => couponShare)).toEqual([2, 2, 1, 1]);
    expect(byRate(totals)).toEqual([
      [700, 98],
      [1900, 296],
    ]);
  });

  test('the coupon is spread over what the basket discount has left', () => {
    // Percent of the subtotal: 10.00 and 1.00 left of 20.00 and 2.00.
    const lines = [at('standard', 2000), at('reduced', 200)];
    const half = { ...PLAIN, basketDiscounts: [{ minimumAmount: 0, percent: 5000 }] };
    const totals = cartTotals(cartOf(lines, couponOf('FIX', 1100)), half);
    expect(totals.lines.map(({ couponShare }) => couponShare)).toEqual([1000, 100]);
    expect(shown(totals)).toMatchObject({ disc: -1100, coup: -1100, grand: 0, net: 0, tax: 0 });
  });

  test('a line that costs nothing bears nothing', () => {
    const totals = cartTotals(cartOf([at('standard', 0), at('standard', 100)], couponOf('FIX', 50)), PLAIN);
    expect(totals.lines.map(({ couponShare }) => couponShare)).toEqual([0, 50]);
  });

  test('a net cart spreads by its net amounts', () => {
    const lines = [at('standard', 1190), at('reduced', 1070)];
    const totals = cartTotals(cartOf(lines, { taxType: 'NET' }), less(113));
    expect(totals.taxes).toEqual([
      { rate: 700, treatment: 'domestic', amount: 950, tax: 67 }, // 66.5
      { rate: 1900, treatment: 'domestic', amount: 950, tax: 181 }, // 180.5
    ]);
    expect(shown(totals)).toMatchObject({ sub: 2000, disc: -100, net: 1900, tax: 248, grand: 2148 });
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

describe('delivery', () => {
  const plain: ShopRules = { ...DEMO, basketDiscounts: [] };
  const cost = (cart: CartInput, shop: ShopRules) => cartTotals(cart, shop).shipping?.price;

  test.each<[number, NonNullable<PricedProduct['deliveryWeight']>['unit'], string, number]>([
    [50, 'ounce', '1', 869],
    [50, 'ounce', '2', 1037],
    [270, 'gram', '1', 732],
    [0, 'gram', '1', 700],
    [1, 'kilogram', '1', 819],
    [1, 'pound', '10', 1240],
    [1, 'tone', '1', 119_700],
    [500_000, 'milligram', '1', 760],
    // 1.19 x 0.0042016806 is a hair below half a cent, and one millionth more of it a hair above.
    [0.0001, 'kilogram', '42.016806', 700],
    [0.0001, 'kilogram', '42.016807', 701],
  ])('%d %s, %s times: %i', (amount, unit, quantity, price) => {
    expect(
      cost(cartOf([line(givenProduct(100, { deliveryWeight: { amount, unit } }), quantity)]), plain),
    ).toBe(price);
  });

  test('the weight of a line grows with its quantity, and all lines are weighed together', () => {
    const facts = [
      line(givenProduct(100, grams(70)), '7.5'),
      line(givenProduct(100, ounces(1)), 3),
      line(givenProduct(100)),
    ];
    // 0.525 kg + 0.085048569375 kg
    expect(cost(cartOf(facts), plain)).toBe(773);
  });

  test('the price that is shown for a method is the least it costs, and none for pickup', () => {
    const tiered = delivery('tiered', 'order_value', 0, {
      tiers: [
        { from: 0, amount: 600 },
        { from: 5000, amount: 300 },
      ],
    });
    expect([BY_WEIGHT, ...DEMO.shippingMethods.slice(1), tiered].map(lowestShippingPrice)).toEqual([
      700,
      1200,
      null,
      4900,
      300,
    ]);
    const weightless = cartOf([line(givenProduct(5000))]);
    for (const method of [BY_WEIGHT, tiered])
      expect(cost(weightless, { ...plain, shippingMethods: [method] })).toBe(lowestShippingPrice(method));
  });

  const tiers = [
    { from: 0, amount: 700 },
    { from: 5000, amount: 400 },
    { from: 10_000, amount: 0 },
  ];

  test.each<[string, ShippingMethod, number, number]>([
    ['flat', delivery('one', 'flat', 1200), 100, 1200],
    ['flat, free from: not yet', delivery('one', 'flat', 1200, { freeFrom: 5000 }), 4999, 1200],
    ['flat, free from', delivery('one', 'flat', 1200, { freeFrom: 5000 }), 5000, 0],
    ['by weight, free from', { ...BY_WEIGHT, freeFrom: 5000 }, 5000, 0],
    ['by value, the first tier', delivery('one', 'order_value', 0, { tiers }), 4999, 700],
    ['by value, the next tier', delivery('one', 'order_value', 0, { tiers }), 5000, 400],
    ['by value, the last tier', delivery('one', 'order_value', 0, { tiers }), 99_999, 0],
    ['by value, free from', delivery('one', 'order_value', 0, { tiers, freeFrom: 6000 }), 6000, 0],
    ['pickup', delivery('one', 'pickup', 0), 100, 0],
  ])('%s', (_, method, price, expected) => {
    expect(cost(cartOf([line(givenProduct(price))]), { ...plain, shippingMethods: [method] })).toBe(expected);
  });

  test('goods count at what they cost, before discounts', () => {
    const shop = {
      ...plain,
      shippingMethods: [delivery('one', 'flat', 1200, { freeFrom: 5000 })],
      basketDiscounts: [{ minimumAmount: 0, absolute: 4000 }],
    };
    expect(cost(cartOf([line(givenProduct(5000))], couponOf('FIX', 500)), shop)).toBe(0);
  });

  test('in the currency of the shop, then converted; thresholds too', () => {
    const shop: ShopRules = { ...plain, shippingMethods: [{ ...BY_WEIGHT, freeFrom: 5000 }] };
    const at = (price: number) =>
      cost(
        cartOf([line(givenProduct(0, { prices: { GBP: price }, ...grams(270) }))], { currency: 'GBP' }),
        shop,
      );
    expect(at(4249)).toBe(622); // 7.32 EUR
    expect(at(4250)).toBe(0);
  });

  const only = (...shippingMethodIds: string[]) => line(givenProduct(1000, { shippingMethodIds }));
  const download = line(
    givenProduct(999, { taxClassId: 'ebooks', ...grams(5000), shippingMethodIds: ['freight'] }),
  );
  const ALL = ['standard', 'express', 'pickup', 'freight'];

  test.each<[string, LineInput[], string | null, string[], string | null, boolean]>([
    ['the first method', [line(givenProduct(1000))], null, ALL, 'standard', false],
    ['the chosen one', [line(givenProduct(1000))], 'express', ALL, 'express', true],
    ['an unknown one is not chosen', [line(givenProduct(1000))], 'gone', ALL, 'standard', false],
    [
      'what a line allows, in the order of the shop',
      [only('freight', 'pickup')],
      null,
      ['pickup', 'freight'],
      'pickup',
      false,
    ],
    [
      'the chosen one is not allowed',
      [only('freight', 'pickup')],
      'express',
      ['pickup', 'freight'],
      'pickup',
      false,
    ],
    [
      'what all lines allow',
      [only('freight', 'pickup'), only('freight', 'express')],
      null,
      ['freight'],
      'freight',
      false,
    ],
    ['nothing fits all', [only('freight'), only('express')], 'express', [], null, false],
    ['a method that is gone does not count', [only('freight', 'gone')], null, ['freight'], 'freight', false],
    ['only methods that are gone: no restriction', [only('gone')], null, ALL, 'standard', false],
    ['a download restricts nothing', [line(givenProduct(1000)), download], null, ALL, 'standard', false],
    ['downloads alone are not shipped', [download], 'express', [], null, false],
  ])('%s', (_, lines, methodId, possible, method, isChosen) => {
    const { delivery } = cartTotals(cartOf(lines, { shipping: { methodId, price: null } }), plain);
    expect(delivery.possible.map(({ key }) => key)).toEqual(possible);
    expect(delivery.method?.key ?? null).toBe(method);
    expect(delivery.isChosen).toBe(isChosen);
  });

  test('a download weighs nothing, whatever it says', () => {
    expect(cost(cartOf([line(givenProduct(1000, grams(270))), download]), plain)).toBe(732);
  });

  test('a price by hand counts as long as its method does', () => {
    expect(cost(cartOf([line(givenProduct(1000))], shippedBy('express', 0)), plain)).toBe(0);
    expect(cost(cartOf([line(givenProduct(1000))], shippedBy('pickup', 250)), plain)).toBe(250);
    expect(cost(cartOf([only('freight')], shippedBy('express', 1)), plain)).toBe(4900);
    expect(cartTotals(cartOf([download], shippedBy('express', 1)), plain).shipping).toBeNull();
  });

  test('taxed at the default class', () => {
    const totals = cartTotals(cartOf([line(givenProduct(1070, { taxClassId: 'reduced' }))]), plain);
    expect(totals.taxes).toEqual([
      { rate: 700, treatment: 'domestic', amount: 1070, tax: 70 },
      { rate: 1900, treatment: 'domestic', amount: 700, tax: 112 },
    ]);
  });
});

describe('payment', () => {
  const shop: ShopRules = { ...PLAIN, paymentMethods: [payment('advance', -200), payment('invoice', 150)] };
  const paid = (totals: CartTotals) => [totals.payment?.method?.key ?? null, totals.payment?.price];

  test.each<[string, Partial<CartInput>, ShopRules, [string | null, number]]>([
    ['the first method', {}, shop, ['advance', -200]],
    ['the chosen one', paidBy('invoice'), shop, ['invoice', 150]],
    ['one that is gone', paidBy('gone'), shop, ['advance', -200]],
    ['by hand', paidByHand(99), shop, [null, 99]],
    ['by hand, for nothing', paidByHand(0), shop, [null, 0]],
    ['a shop without methods', {}, { ...shop, paymentMethods: [] }, [null, 0]],
    ['another currency', { ...paidBy('invoice'), currency: 'USD' }, shop, ['invoice', 165]],
  ])('%s', (_, changes, rules, expected) => {
    expect(paid(cartTotals(cartOf([line(givenProduct(10_000))], changes), rules))).toEqual(expected);
  });

  test('a payment that costs something is taxed at the default class', () => {
    const reduced = [line(givenProduct(10_700, { taxClassId: 'reduced' }))];
    const totals = cartTotals(cartOf(reduced, paidByHand(119)), shop);
    expect(totals.payment!.taxes).toEqual([
      { taxClass: STANDARD, rate: 1900, treatment: 'domestic', amount: 119, tax: 19 },
    ]);
    expect(totals.taxes).toEqual([
      { rate: 700, treatment: 'domestic', amount: 10_700, tax: 700 },
      { rate: 1900, treatment: 'domestic', amount: 119, tax: 19 },
    ]);
  });

  test('a payment that takes off takes off no more than there is to pay', () => {
    const totals = cartTotals(cartOf([line(givenProduct(150, { depositPrices: { EUR: 25 } }))]), shop);
    expect(shown(totals)).toMatchObject({ pay: -175, grand: 0, net: 0, tax: 0 });
    const nothing = cartTotals(cartOf([line(givenProduct(0))]), shop);
    expect(shown(nothing)).toMatchObject({ pay: 0, grand: 0, net: 0, tax: 0 });
  });

  test('a payment that takes off is a discount: it is spread over the rates', () => {
    const lines = [
      line(givenProduct(3000, { taxClassId: 'none' })),
      line(givenProduct(1000, { taxClassId: 'reduced' })),
    ];
    const totals = cartTotals(cartOf(lines, paidByHand(-400)), shop);
    expect(totals.taxes).toEqual([
      { rate: 0, treatment: 'domestic', amount: 2700, tax: 0 },
      { rate: 700, treatment: 'domestic', amount: 900, tax: 59 },
      { rate: 1900, treatment: 'domestic', amount: 0, tax: 0 },
    ]);
    expect(totals.payment!.taxes).toEqual([
      { taxClass: shop.taxClasses[0], rate: 0, treatment: 'domestic', amount: -300, tax: 0 },
      { taxClass: shop.taxClasses[2], rate: 700, treatment: 'domestic', amount: -100, tax: -7 },
    ]);
    expect(shown(totals)).toMatchObject({ pay: -400, grand: 3600, net: 3541, tax: 59 });
  });

  test('a payment that takes off all of a net cart pays no tax out', () => {
    const lines = [line(givenProduct(1000, { taxClassId: 'none' }))];
    const totals = cartTotals(cartOf(lines, { taxType: 'NET', ...paidByHand(-5000) }), shop);
    expect(shown(totals)).toMatchObject({ pay: -1000, grand: 0, net: 0, tax: 0 });
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
