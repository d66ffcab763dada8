import fc from 'fast-check';
import type { PricedProduct } from '../src/pricing/cart-product.ts';
import type {
  CartInput,
  CouponInput,
  LineInput,
  ShopRules,
  PromotionEffect,
  PromotionInput,
} from '../src/pricing/input.ts';
import { TAX_TYPES } from '../src/http/price.ts';
import {
  MINIMUM_CART_CODES,
  type PaymentMethod,
  type ShippingMethod,
  type ShippingZone,
  type TaxClass,
} from '../src/shops/settings/settings.ts';

/**
 * Carts and shops of every kind. Shops, products and coupons come from pools that are drawn once, which makes carts
 * cheap to generate; few ids and few round amounts make them meet, and make ties.
 */

const SEED = 4711;
const pool = <T>(one: fc.Arbitrary<T>, size: number) =>
  // Cloned, because objects without a prototype are slow to read and hard to look at.
  fc.constantFrom(...fc.sample(one, { numRuns: size, seed: SEED }).map((value) => structuredClone(value)));

const COUNTRIES = ['DE', 'FR', 'AT', 'GB', 'US'];
const CURRENCIES = ['EUR', 'USD', 'JPY', 'KWD'];
const ids = (kind: string, count: number) => Array.from({ length: count }, (_, index) => `${kind}-${index}`);
const CLASSES = ids('CLASS', 5);
const METHODS = ids('METHOD', 5);
const PAYMENTS = ids('PAYMENT', 3);
const GROUPS = ids('GROUP', 2);
const PRODUCTS = ids('PRODUCT', 9);
const MASTERS = ids('MASTER', 3);

const orNull = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null });
const money = fc.oneof(
  fc.constantFrom(0, 1, 2, 5, 99, 100, 250, 500, 990, 1000, 1299, 10_000),
  fc.integer({ min: 0, max: 200_000 }),
);
const someOf = (all: string[]) => fc.subarray(all, { minLength: 1 });
const prices = fc.record(
  { EUR: money, USD: money, JPY: money, KWD: money },
  { requiredKeys: ['EUR'] },
) as fc.Arbitrary<Record<string, number>>;
const quantities = fc.oneof(
  fc.integer({ min: 1, max: 40 }).map(String),
  fc.integer({ min: 1, max: 60 }).map((halves) => String(halves / 2)),
  fc.integer({ min: 1, max: 50_000 }).map((thousandths) => String(thousandths / 1000)),
  fc.constantFrom('0.000001', '1.333333', '33.000003', '10', '5'),
);
const basisPoints = fc.oneof(fc.constantFrom(0, 1, 1000, 1500, 5000, 9999, 10_000), fc.nat(10_000));

// Exact halves are rare by chance: rates of 0 %, 25 % and 100 % bring them.
const rates = fc.constantFrom(0, 1, 250, 500, 550, 700, 1900, 2000, 2500, 8100, 10_000);
const taxClass = (index: number, defaultIndex: number): fc.Arbitrary<TaxClass> =>
  fc.record({
    taxClassId: fc.constant(CLASSES[index]!),
    key: fc.constant(CLASSES[index]!),
    name: fc.constant({}),
    isDefault: fc.constant(index === defaultIndex),
    isDefaultDigital: fc.constant(false),
    digital: fc.boolean().map((digital) => digital && index === 4),
    supply: fc.constantFrom('goods' as const, 'goods' as const, 'services' as const),
    rates: fc.record({ DE: rates, FR: rates, AT: rates, GB: rates, US: rates }, { requiredKeys: [] }),
  });

const valueTiers = fc
  .uniqueArray(money, { maxLength: 3 })
  .map((amounts) => [0, ...amounts.filter((from) => from > 0).toSorted((a, b) => a - b)])
  .chain((froms) => fc.tuple(...froms.map((from) => fc.record({ from: fc.constant(from), amount: money }))));

const grams = fc.oneof(fc.constantFrom(1, 500, 2000, 5000), fc.integer({ min: 1, max: 100_000 }));
const weights = fc
  .uniqueArray(grams, { minLength: 1, maxLength: 3 })
  .map((all) => all.toSorted((a, b) => a - b))
  .chain((all) => fc.tuple(...all.map((upTo) => fc.record({ upTo: fc.constant(upTo), amount: money }))));

const shippingZone: fc.Arbitrary<ShippingZone> = fc
  .record({
    terms: fc.oneof(
      money.map((amount) => ({ amount, tiers: [], weights: [] })),
      valueTiers.map((tiers) => ({ amount: null, tiers, weights: [] })),
      weights.map((steps) => ({ amount: null, tiers: [], weights: steps })),
    ),
    rest: fc.record({
      countries: someOf(COUNTRIES),
      postcodes: fc.constantFrom<string[]>([], [], ['35000-35999', '38*'], ['BT*'], ['10115'], ['10-36']),
      freeFrom: orNull(money),
      days: fc.constant(null),
      maxWeight: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, grams),
    }),
  })
  .map(({ terms, rest }) => ({ ...rest, ...terms }));

const shippingMethod = (index: number): fc.Arbitrary<ShippingMethod> =>
  fc
    .record({
      shippingMethodId: fc.constant(METHODS[index]!),
      key: fc.constant(METHODS[index]!),
      name: fc.constant({}),
      description: fc.constant({}),
      logoUrl: fc.constant(null),
      kind: fc.constantFrom('flat', 'weight', 'order_value', 'pickup'),
      amount: money,
      amountPerKg: fc.nat(500),
      tiers: valueTiers,
      freeFrom: orNull(money),
      zones: fc.oneof(
        { weight: 2, arbitrary: fc.constant<ShippingZone[]>([]) },
        fc.array(shippingZone, { maxLength: 4 }),
      ),
      place: fc.constant({}),
      hours: fc.constant({}),
    })
    .map((method) => (method.kind === 'pickup' ? { ...method, zones: [] } : method));

const paymentMethod = (index: number): fc.Arbitrary<PaymentMethod> =>
  fc.record({
    paymentMethodId: fc.constant(PAYMENTS[index]!),
    key: fc.constant(PAYMENTS[index]!),
    name: fc.constant({}),
    providerName: fc.constant(null),
    appMethod: fc.constant(null),
    additionalData: fc.constant(null),
    amount: fc.oneof(
      money,
      money.map((amount) => 0 - amount),
    ),
    releaseUnpaidAfterDays: fc.constant(null),
    releaseUnpaidAfterMinutes: fc.constant(null),
    providerLabel: fc.constant(null),
    capture: fc.constant('automatic' as const),
  });

const shop: fc.Arbitrary<ShopRules> = fc
  .record({
    defaultIndex: fc.nat(3),
    classes: fc.integer({ min: 4, max: 5 }),
    home: fc.constantFrom('DE', 'FR', 'GB'),
  })
  .chain(({ defaultIndex, classes, home }) =>
    fc.record({
      country: fc.constant(home),
      taxModel: fc.constantFrom('GROSS', 'NET'),
      taxFreeOutsideEu: fc.boolean(),
      exportPrices: fc.constantFrom('asShown', 'withoutTax'),
      smallBusiness: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
      distanceSales: fc.constantFrom('rates', 'rates', 'origin', 'oss'),
      taxRegistrations: fc.constantFrom<Record<string, string>>({}, {}, { FR: 'FR12345678901' }),
      specialTerritories: fc.boolean(),
      deliveryTax: fc.constantFrom('standard', 'shares', 'highest'),
      taxClasses: fc.tuple(...ids('CLASS', classes).map((_, index) => taxClass(index, defaultIndex))),
      shippingMethods: fc
        .subarray([0, 1, 2, 3, 4], { minLength: 1 })
        .chain((indexes) => fc.tuple(...indexes.map(shippingMethod))),
      paymentMethods: fc.subarray([0, 1, 2]).chain((indexes) => fc.tuple(...indexes.map(paymentMethod))),
      basketDiscounts: fc.array(
        fc.oneof(
          fc.record({ minimumAmount: money, absolute: money }),
          fc.record({ minimumAmount: money, percent: basisPoints }),
        ),
        { maxLength: 3 },
      ),
      minimumCartCode: fc.constantFrom(...MINIMUM_CART_CODES),
      minimumCartAmount: orNull(money),
      defaultCurrency: fc.constantFrom(...CURRENCIES),
      currencies: fc.constant(CURRENCIES),
      exchangeRates: fc.record({
        EUR: fc.constantFrom('1', '0.92', '0.5'),
        USD: fc.constantFrom('1.1', '1', '2'),
        JPY: fc.constantFrom('163.27', '100', '0.0061'),
        KWD: fc.constantFrom('0.307119', '1', '3.5'),
      }),
    }),
  );

const tier = fc.record({
  quantity: fc.constantFrom('1', '2', '5', '5.5', '10', '25'),
  prices,
});
const tiers = fc.uniqueArray(tier, { maxLength: 3, selector: ({ quantity }) => quantity });
const groupTiers = fc.uniqueArray(
  fc.record({ quantity: fc.constantFrom('1', '3', '5', '10'), prices, discount: basisPoints }),
  { maxLength: 3, selector: ({ quantity }) => quantity },
);

const product: fc.Arbitrary<PricedProduct> = fc.record(
  {
    productId: fc.constantFrom(...PRODUCTS),
    masterId: orNull(fc.constantFrom(...MASTERS)),
    prices,
    taxClassId: orNull(fc.constantFrom(...CLASSES)),
    bulkPrices: tiers,
    groupPrices: fc.uniqueArray(
      fc.record({ customerGroupId: fc.constantFrom(...GROUPS), tiers: groupTiers }),
      {
        maxLength: 2,
        selector: ({ customerGroupId }) => customerGroupId,
      },
    ),
    depositPrices: prices,
    ecoParticipationPrices: prices,
    shippingSurcharge: prices,
    customisation: fc.record({ textLength: fc.constant(40), headline: fc.constant(''), prices }),
    orderUnit: fc.record({
      priceQuantity: fc.constantFrom(1, 3, 100, 1000, 0.5),
      unit: fc.constant('metre' as const),
      minimum: fc.constant(1),
      interval: fc.constant(1),
    }),
    deliveryWeight: fc.oneof(
      fc.record({ amount: fc.nat(3000), unit: fc.constantFrom('milligram', 'gram', 'ounce') }),
      fc.record({
        amount: fc.constantFrom(0.25, 1.000001, 2),
        unit: fc.constantFrom('kilogram', 'pound', 'tone'),
      }),
    ),
    // Seldom, or the goods of a cart could never travel together.
    shippingMethodIds: fc.oneof(
      { weight: 5, arbitrary: fc.constant<string[]>([]) },
      someOf([...METHODS, 'GONE']),
    ),
  },
  { requiredKeys: ['productId', 'masterId', 'prices', 'taxClassId'] },
);

const coupon: fc.Arbitrary<CouponInput> = fc
  .record({
    currency: fc.constantFrom(...CURRENCIES),
    terms: fc.oneof(
      fc.record({ kind: fc.constant('FIX' as const), amount: money }),
      fc.record({ kind: fc.constant('PERCENT' as const), amount: basisPoints }),
      fc.constant({ kind: 'SHIPPING' as const, amount: null }),
    ),
    waivesShipping: fc.boolean(),
    minimumOrderValue: orNull(fc.constantFrom(0, 500, 10_000)),
    troubles: fc.nat(19),
    productIds: orNull(someOf([...PRODUCTS.slice(0, 6), ...MASTERS])),
    shippingMethodIds: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, someOf(METHODS)),
    paymentMethodIds: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, someOf(PAYMENTS)),
  })
  .map(({ terms, troubles, ...others }) => ({
    ...others,
    ...terms,
    isWithdrawn: troubles === 0 || troubles === 3,
    isUsedUp: troubles === 1 || troubles === 3,
    isInTime: troubles !== 2 && troubles !== 3,
  }));

const plain = { noNullPrototype: true } as const;

const line: fc.Arbitrary<LineInput> = fc.record(
  {
    product: pool(product, 2000),
    quantity: pool(quantities, 500),
    price: fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, money),
    hasCustomText: fc.boolean(),
  },
  plain,
);

const cart: fc.Arbitrary<CartInput> = fc.record(
  {
    currency: fc.constantFrom(...CURRENCIES),
    taxType: fc.constantFrom(...TAX_TYPES),
    country: fc.constantFrom(null, ...COUNTRIES),
    postcode: fc.constantFrom(null, '35001', '38 002', 'ES-35500', 'bt1 1aa', '10115', '75001', '27498', ''),
    vatNumber: fc.constantFrom(null, null, 'FR12345678901', 'DE123456789', 'ATU12345678'),
    customerGroupId: fc.constantFrom(null, ...GROUPS),
    lines: fc.array(line, { minLength: 1, maxLength: 12 }),
    coupon: fc.oneof(fc.constant(null), { weight: 2, arbitrary: pool(coupon, 2000) }),
    shipping: fc.record(
      {
        methodId: fc.constantFrom(null, ...METHODS),
        price: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, money),
      },
      plain,
    ),
    payment: fc.oneof(
      fc.record({ methodId: fc.constantFrom(null, ...PAYMENTS), price: fc.constant(null) }, plain),
      fc.record({ methodId: fc.constant(null), price: fc.integer({ min: -3000, max: 3000 }) }, plain),
    ),
  },
  plain,
);

export const generatedCarts = fc.record({ cart, shop: pool(shop, 1000) }, plain);

const times = fc.integer({ min: 1, max: 3 });
const effect: fc.Arbitrary<PromotionEffect> = fc.oneof(
  fc.record({ kind: fc.constant('percent' as const), basisPoints }),
  fc.record({ kind: fc.constant('amount' as const), amount: money }),
  fc.record({ kind: fc.constant('price' as const), price: money }),
  fc.record({
    kind: fc.constant('buyGet' as const),
    buy: times,
    get: times,
    basisPoints: fc.constantFrom(10_000, 5000, 3333),
    maxTimes: orNull(times),
  }),
);
/** Six places are repeated over the lines of a cart. */
const places = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean());
const promotion = fc.record({
  combines: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
  counts: fc.oneof(places, fc.constant([true])),
  others: fc.oneof(fc.constant(null), places),
  isForDelivery: fc.nat(4).map((one) => one === 0),
  minimumAmount: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, money),
  minimumQuantity: fc.constantFrom(0, 0, 1, 5),
  effect,
});

/** The same carts with promotions, the last of which may be one with a code. */
export const promotedCarts = fc
  .record({
    given: generatedCarts,
    promotions: fc.array(pool(promotion, 2000), { minLength: 1, maxLength: 6 }),
    hasCode: fc.boolean(),
  })
  .map(({ given: { cart, shop }, promotions, hasCode }) => {
    const isCode = (index: number) => hasCode && !cart.coupon && index === promotions.length - 1;
    const byLine = (all: readonly boolean[]) => cart.lines.map((_, index) => all[index % all.length]!);
    const inputs = promotions.map(({ counts, others, ...one }, index): PromotionInput => ({
      ...one,
      promotionId: `PROMOTION-${index}`,
      isCoupon: isCode(index),
      counts: byLine(counts),
      rewards: one.isForDelivery ? cart.lines.map(() => false) : byLine(others ?? counts),
    }));
    const isWithCode = inputs.some(({ isCoupon }) => isCoupon);
    return {
      shop,
      cart: { ...cart, promotions: inputs, ...(isWithCode && { promotionProblems: [] }) },
    };
  });

/** The same carts, of which some lines are the parts of bundles. */
export const bundledCarts = fc
  .record({
    given: promotedCarts,
    sizes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
    quantities: fc.tuple(fc.constantFrom('1', '2', '5'), fc.constantFrom('1', '3')),
  })
  .map(({ given: { cart, shop }, sizes, quantities }) => {
    const lines: LineInput[] = [];
    let units = 0;
    while (lines.length < cart.lines.length) {
      const size = sizes[units % sizes.length]!;
      const parts = cart.lines.slice(lines.length, lines.length + size);
      const bundle = {
        lineItemId: `BUNDLE-${units}`,
        quantity: quantities[units % quantities.length]!,
        product: { productId: parts[0]!.product.productId, masterId: null },
      };
      lines.push(...(size === 1 ? parts : parts.map((part) => ({ ...part, bundle }))));
      units += 1;
    }
    // After a fixed price all units cost the same, and which of equal ones are got is open.
    const hasUnits = cart.promotions.some(({ effect }) => effect.kind === 'buyGet');
    const promotions = cart.promotions
      .filter(({ effect }) => !(hasUnits && effect.kind === 'price'))
      .map((one) => ({
        ...one,
        counts: one.counts.slice(0, units),
        rewards: one.rewards.slice(0, units),
      }));
    const { promotionProblems, ...others } = cart;
    const isWithCode = promotionProblems && promotions.some(({ isCoupon }) => isCoupon);
    return {
      shop,
      cart: { ...others, lines, promotions, ...(isWithCode && { promotionProblems }) },
    };
  });
