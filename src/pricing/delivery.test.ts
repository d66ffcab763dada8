import { describe, expect, test } from 'vitest';
import {
  BY_WEIGHT,
  DEMO,
  PLAIN,
  STANDARD,
  cartOf,
  couponOf,
  delivery,
  givenProduct,
  grams,
  line,
  ounces,
  paidBy,
  paidByHand,
  payment,
  shippedBy,
  shown,
} from '../../test/priced-carts.ts';
import { lowestShippingPrice } from '../shops/shipping-methods/shipping-price.ts';
import type { ShippingMethod } from '../shops/settings/settings.ts';
import type { PricedProduct } from './cart-product.ts';
import type { CartInput, LineInput, ShopRules } from './input.ts';
import { cartTotals, type CartTotals } from './totals.ts';

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
