import { describe, expect, test } from 'vitest';
import {
  DEMO,
  PLAIN,
  cartOf,
  couponOf,
  givenProduct,
  line,
  paidBy,
  paidByHand,
  shippedBy,
  shown,
} from '../../test/priced-carts.ts';
import type { CartInput, CouponInput, ShopRules } from './input.ts';
import { cartTotals, type CartTotals } from './totals.ts';

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
