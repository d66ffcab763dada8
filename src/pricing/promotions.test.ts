import { describe, expect, test } from 'vitest';
import { givenProduct, PLAIN, line } from '../../test/priced-carts.ts';
import type { CartInput, LineInput, PromotionEffect, PromotionInput } from './input.ts';
import { cartTotals } from './totals.ts';

/**
 * What is known to go wrong with promotions elsewhere, with exact values. `totals.property.test.ts` compares carts of all
 * kinds with an implementation that tries every piece.
 */

type Given = Partial<Omit<PromotionInput, 'effect'>> & { effect: PromotionEffect };

/** `[price, quantity]` of each line. */
const cartOf = (
  goods: readonly (readonly [number, number | string])[],
  given: readonly Given[],
): CartInput => {
  const lines: LineInput[] = goods.map(([price, quantity]) => line(givenProduct(price), quantity));
  const all = lines.map(() => true);
  return {
    currency: 'EUR',
    taxType: 'GROSS',
    country: null,
    postcode: null,
    vatNumber: null,
    customerGroupId: null,
    lines,
    coupon: null,
    promotions: given.map((one, index) => ({
      promotionId: `P${index}`,
      isCoupon: false,
      combines: true,
      counts: all,
      rewards: one.counts ?? all,
      isForDelivery: false,
      minimumAmount: 0,
      minimumQuantity: 0,
      ...one,
    })),
    shipping: { methodId: null, price: null },
    payment: { methodId: null, price: null },
  };
};
const totalsOf = (goods: readonly (readonly [number, number | string])[], ...given: Given[]) =>
  cartTotals(cartOf(goods, given), PLAIN);
const discountOf = (...args: Parameters<typeof totalsOf>) => 0 - totalsOf(...args).basketDiscount;
const sharesOf = (...args: Parameters<typeof totalsOf>) =>
  totalsOf(...args).lines.map(({ discountShare }) => discountShare);

const buyGet = (buy: number, get: number, percent = 100, maxTimes: number | null = null) =>
  ({ kind: 'buyGet', buy, get, basisPoints: percent * 100, maxTimes }) as const;

describe('buy and get', () => {
  // medusajs/medusa#13265: it was applied once, whatever the quantity, and its limit was ignored.
  test.each([
    [2, 0],
    [3, 1000],
    [5, 1000],
    [6, 2000],
    [40, 13_000],
  ])('of %i pieces, 3 for 2 takes off %i', (quantity, expected) => {
    expect(discountOf([[1000, quantity]], { effect: buyGet(2, 1) })).toBe(expected);
    expect(discountOf([[1000, quantity]], { effect: buyGet(2, 1, 100, 1) })).toBe(Math.min(expected, 1000));
  });

  // medusajs/medusa#14432: all at once gave more than one by one.
  test('one line of four is two lines of two', () => {
    const effect = buyGet(1, 1);
    expect(discountOf([[1000, 4]], { effect })).toBe(2000);
    expect(
      discountOf(
        [
          [1000, 2],
          [1000, 2],
        ],
        { effect },
      ),
    ).toBe(2000);
  });

  // medusajs/medusa#8829: buy 10, get 20 reduced a cart of ten pieces below zero.
  test('what is not in the cart is not given', () => {
    expect(discountOf([[1000, 10]], { effect: buyGet(10, 20) })).toBe(0);
    expect(discountOf([[1000, 30]], { effect: buyGet(10, 20) })).toBe(20_000);
  });

  // medusajs/medusa#13431: four of a collection, and a shirt of the same collection free. It depended on the order.
  test('what is got may be among what is bought, wherever it stands in the cart', () => {
    const shirtLast = { counts: [true, true], rewards: [false, true], effect: buyGet(4, 1) };
    const shirtFirst = { counts: [true, true], rewards: [true, false], effect: buyGet(4, 1) };
    expect(
      discountOf(
        [
          [2000, 4],
          [1500, 1],
        ],
        shirtLast,
      ),
    ).toBe(1500);
    expect(
      discountOf(
        [
          [1500, 1],
          [2000, 4],
        ],
        shirtFirst,
      ),
    ).toBe(1500);
    expect(
      discountOf(
        [
          [1500, 5],
          [2000, 0.5],
        ],
        shirtFirst,
      ),
    ).toBe(1500);
    expect(
      discountOf(
        [
          [2000, 3],
          [1500, 1],
        ],
        shirtLast,
      ),
    ).toBe(0);
  });

  // medusajs/medusa#11259: half off was free.
  test('half off is half off, in one rounding', () => {
    expect(discountOf([[999, 2]], { effect: buyGet(1, 1, 50) })).toBe(500);
    expect(discountOf([[333, 6]], { effect: buyGet(1, 1, 33.33) })).toBe(333);
  });

  // craftcms/commerce#1728: the average was taken off instead of the cheapest.
  test('the cheapest is free, and all that count bear it', () => {
    expect(
      discountOf(
        [
          [2000, 1],
          [1000, 1],
        ],
        { effect: buyGet(1, 1) },
      ),
    ).toBe(1000);
    expect(
      sharesOf(
        [
          [2000, 1],
          [1000, 1],
        ],
        { effect: buyGet(1, 1) },
      ),
    ).toEqual([667, 333]);
    expect(
      sharesOf(
        [
          [2000, 1],
          [1000, 1],
          [500, 1],
        ],
        { effect: buyGet(2, 1) },
      ),
    ).toEqual([286, 143, 71]);
  });

  test('pieces that were bought for it are not got; half a metre is no piece', () => {
    expect(discountOf([[1000, 2]], { counts: [true], rewards: [true], effect: buyGet(2, 1) })).toBe(0);
    expect(discountOf([[1000, '2.9']], { effect: buyGet(2, 1) })).toBe(0);
    expect(discountOf([[1000, '3.5']], { effect: buyGet(2, 1) })).toBe(1000);
  });
});

// vendurehq/vendure#2995, #3091: an amount divided by the quantity lost cents.
test('an amount is taken off to the cent, and never more than there is', () => {
  expect(
    sharesOf(
      [
        [333, 3],
        [100, 1],
      ],
      { effect: { kind: 'amount', amount: 1000 } },
    ),
  ).toEqual([909, 91]);
  expect(discountOf([[333, 3]], { effect: { kind: 'amount', amount: 5000 } })).toBe(999);
});

// vendurehq/vendure#3091: 10 % off 25 pieces of 399.00 lost 11 cents in the sum.
test('a percentage of many pieces and their price sum to what is paid', () => {
  const totals = totalsOf([[39_900, 25]], { effect: { kind: 'percent', basisPoints: 1000 } });
  expect([totals.subTotal, totals.basketDiscount, totals.grandTotal]).toEqual([997_500, -99_750, 897_750]);
});

// medusajs/medusa#12059: two shirts for a tenth off everything took off nothing. #12626: what was for some goods
// reduced all of them.
test('what is counted and what becomes cheaper may differ', () => {
  const effect = { kind: 'percent', basisPoints: 1000 } as const;
  const shirts = { counts: [true, false], minimumQuantity: 2, effect };
  const of = (count: number, rewards: boolean[]) =>
    sharesOf(
      [
        [2000, count],
        [500, 1],
      ],
      { ...shirts, rewards },
    );
  expect(of(2, [true, true])).toEqual([400, 50]);
  expect(of(2, [true, false])).toEqual([400, 0]);
  expect(of(1, [true, true])).toEqual([0, 0]);
});

// vendurehq/vendure#3098: after fewer pieces, the discount was that of more.
test('a percentage of seven pieces is one of seven', () => {
  const effect = { kind: 'percent', basisPoints: 1000 } as const;
  expect([8, 7].map((count) => discountOf([[39_900, count]], { effect }))).toEqual([31_920, 27_930]);
});

test('a fixed price makes nothing dearer, and each line bears its own difference', () => {
  const effect = { kind: 'price', price: 800 } as const;
  expect(
    sharesOf(
      [
        [1000, 2],
        [500, 3],
        [900, '1.5'],
      ],
      { effect },
    ),
  ).toEqual([400, 0, 150]);
});

test('each takes its share of what those before it have left', () => {
  const half = { effect: { kind: 'percent', basisPoints: 5000 } } as const;
  expect(discountOf([[1000, 1]], half, half)).toBe(750);
  expect(totalsOf([[1000, 1]], half, half).promotions.map(({ amount }) => amount)).toEqual([-500, -250]);
});

test('what is missing is said for those that count something and do not apply', () => {
  const totals = totalsOf(
    [[1000, 2]],
    { effect: buyGet(2, 1) },
    { effect: { kind: 'percent', basisPoints: 1000 }, minimumAmount: 2500 },
    { effect: { kind: 'percent', basisPoints: 1000 }, minimumQuantity: 5, counts: [false] },
    { effect: { kind: 'amount', amount: 1 }, minimumQuantity: 2 },
  );
  expect(totals.missingForPromotions).toEqual([
    { promotionId: 'P0', amount: 0, quantity: 1 },
    { promotionId: 'P1', amount: 500, quantity: 0 },
  ]);
});
