import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { generatedCarts } from '../../test/generated-carts.ts';
import { SEED, halfOf } from '../../test/seed.ts';
import { contentOf, type Content, type ContentLine } from '../pricing/content.ts';
import type { CartInput, ShopRules } from '../pricing/input.ts';
import type { CartProduct, PricedProduct } from '../pricing/cart-product.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { revised, type Edits } from './revision.ts';

const NOW = new Date('2026-11-15T08:30:00Z');

/** A confirmed VAT number. */
const checkOf = (vatNumber: string) => ({
  vatNumber,
  result: 'valid' as const,
  checkedAt: NOW.toISOString(),
});
const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);

/** Compared plainly first: asking the test runner is slow, and there are tens of thousands of comparisons. */
function expectEqual(found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) expect(found).toEqual(expected);
}

/** The generated products come from a pool, so that each is needed many times. */
const cartProducts = new WeakMap<PricedProduct, CartProduct>();

function cartProductOf(product: PricedProduct): CartProduct {
  let known = cartProducts.get(product);
  if (!known) {
    known = {
      ...product,
      productNumber: product.productId,
      kind: 'regular',
      selection: null,
      visible: true,
      stock: null,
      promised: 0,
      productTypeId: null,
      master: null,
      image: null,
      categoryIds: [],
      versionStamp: '',
      facts: product,
    };
    cartProducts.set(product, known);
  }
  return known;
}

/** The content that an order of this cart would hold. */
function frozen(cart: CartInput, shop: ShopRules): Content {
  // A cart has one line per product.
  const lines = cart.lines.filter(
    ({ product }, index) =>
      cart.lines.findIndex((one) => one.product.productId === product.productId) === index,
  );
  const products = lines.map(({ product }) => cartProductOf(product));
  const { coupon } = cart;
  const { content } = contentOf(
    {
      ...cart,
      lines: lines.map(({ product, quantity, price }, index) => ({
        lineItemId: `LINE-${index}`,
        productId: product.productId,
        quantity,
        ...(price !== null && { price }),
      })),
      products,
      coupon: coupon && {
        ...coupon,
        codeKey: 'CODE',
        campaignId: 'CAMPAIGN',
        withdrawnAt: coupon.isWithdrawn ? NOW.toISOString() : null,
        used: coupon.isUsedUp ? 1 : 0,
        usageLimit: 1,
        campaignUsed: 0,
        campaignUsageLimit: null,
        validFrom: null,
        validTo: coupon.isInTime ? null : NOW.toISOString(),
      },
      couponLineItemId: coupon && 'COUPON',
      billingAddress: cart.country === null ? null : { country: cart.country, zipCode: cart.postcode },
      shippingAddress: null,
      buyer: cart.vatNumber === null ? null : { vatCheck: checkOf(cart.vatNumber) },
      shippingMethodId: cart.shipping.methodId,
      shippingPrice: cart.shipping.price,
      paymentMethodId: cart.payment.methodId,
      paymentTransactionId: null,
      paymentStatus: null,
      paymentName: null,
      paymentPrice: cart.payment.price,
    },
    {
      ...shop,
      promotions: [],
      customerGroups: [],
      priceLists: [],
      defaultLocale: 'en_GB',
      locales: ['en_GB'],
      units: {},
    } as unknown as Settings,
    NOW,
  );
  // As it comes back from the database.
  return JSON.parse(JSON.stringify(content)) as Content;
}

/** What is taxed at each rate and how, as the lines, the delivery and the payment themselves say. */
function amountsByTax({ lines, shipping, payment }: Content): [string, number][] {
  const amounts = new Map<string, number>();
  const add = ({ rate, treatment }: ContentLine['taxClass'], amount: number) => {
    const key = `${rate} ${treatment}`;
    amounts.set(key, (amounts.get(key) ?? 0) + amount);
  };
  for (const { taxClass, amount } of [...(shipping?.taxes ?? []), ...payment!.taxes]) add(taxClass, amount!);
  for (const line of lines) {
    const left = line.amount - line.discountShare - line.couponShare + line.deposit + line.ecoParticipation;
    add(line.taxClass, left);
  }
  return [...amounts].toSorted(([left], [right]) => (left < right ? -1 : 1));
}

/** What must hold of every order. */
function expectClosed(content: Content): void {
  // A discount for the payment is spread over all rates.
  if (content.payment!.price >= 0) {
    expectEqual(
      content.taxes
        .map(({ rate, treatment, amount }): [string, number] => [`${rate} ${treatment}`, amount])
        .toSorted(([left], [right]) => (left < right ? -1 : 1)),
      amountsByTax(content),
    );
  }
  const { taxType, lines, taxes } = content;
  const whole = taxType === 'GROSS' ? content.grandTotal : content.totalBeforeTax;
  const parts = [
    content.subTotal,
    content.basketDiscount,
    content.coupon?.amount ?? 0,
    content.shippingPrice,
    content.payment?.price ?? 0,
    ...lines.flatMap(({ deposit, ecoParticipation }) => [deposit, ecoParticipation]),
  ];
  const found = {
    parts: sum(parts),
    taxed: sum(taxes.map(({ amount }) => amount)),
    tax: sum(taxes.map(({ tax }) => tax)),
    total: content.totalBeforeTax + content.totalTax,
    lines: sum(lines.map(({ amount }) => amount)),
    discount: 0 - sum(lines.map(({ discountShare }) => discountShare)),
    coupon: 0 - sum(lines.map(({ couponShare }) => couponShare)),
    shipping: content.shipping?.price ?? 0,
    isBelowZero: Math.min(content.grandTotal, ...taxes.map(({ amount }) => amount)) < 0,
  };
  expectEqual(found, {
    parts: whole,
    taxed: whole,
    tax: content.totalTax,
    total: content.grandTotal,
    lines: content.subTotal,
    discount: content.basketDiscount,
    coupon: content.coupon?.amount ?? 0,
    shipping: content.shippingPrice,
    isBelowZero: false,
  });
}

const CARTS = halfOf(1_000);

test(`without an edit an order of any kind stays what it is, seed ${SEED}`, () => {
  let checked = 0;
  fc.assert(
    fc.property(generatedCarts, ({ cart, shop }) => {
      const content = frozen(cart, shop);
      expectEqual(revised(content), content);
      checked += 1;
    }),
    { seed: SEED, numRuns: CARTS },
  );
  expect(checked).toBe(CARTS);
});

const money = fc.oneof(fc.constantFrom(0, 1, 99, 1000), fc.nat(200_000));
const KINDS = ['quantity', 'price', 'both', 'removed', 'added', 'shipping', 'payment'] as const;
interface RandomEdit {
  kind: (typeof KINDS)[number];
  at: number;
  quantity: string;
  price: number;
  rate: number;
}
const edit: fc.Arbitrary<RandomEdit> = fc.record({
  kind: fc.constantFrom(...KINDS),
  at: fc.nat(11),
  quantity: fc.constantFrom('1', '2', '0.000001', '7.5', '40', '1.333333'),
  price: money,
  rate: fc.constantFrom(0, 700, 1900, 2500),
});

function editOf({ lines }: Content, { kind, at, quantity, price, rate }: RandomEdit): Edits {
  const { lineItemId } = lines[at % lines.length]!;
  const added = {
    ...(lines[0] as ContentLine),
    lineItemId: `ADDED-${at}-${price}-${rate}-${quantity}`,
    quantity,
    unitPrice: price,
    quantityPrice: price,
    orderUnit: { priceQuantity: 1, unit: 'piece' as const, minimum: 1, interval: 1 },
    amount: -1,
    taxClass: { taxClassId: 'CLASS-0', name: { en_GB: 'later' }, rate },
  };
  switch (kind) {
    case 'quantity':
      return { changed: { lineItemId, quantity } };
    case 'price':
      return { changed: { lineItemId, price } };
    case 'both':
      return { changed: { lineItemId, quantity, price } };
    case 'removed':
      return lines.length > 1 ? { removed: lineItemId } : {};
    case 'added':
      return { added };
    case 'shipping':
      return { shipping: { shippingMethodId: 'OTHER', name: {}, price } };
    case 'payment':
      return {
        payment: { method: null, name: 'Cash', transactionId: null, status: null, price: price - 500 },
      };
  }
}

test(`whatever is edited, totals close and nothing falls below zero, seed ${SEED}`, () => {
  let edited = 0;
  fc.assert(
    fc.property(generatedCarts, fc.array(edit, { minLength: 1, maxLength: 5 }), ({ cart, shop }, edits) => {
      let content = frozen(cart, shop);
      if (content.lines.length === 0) return;
      for (const one of edits) {
        const before = content;
        content = revised(before, editOf(before, one));
        expectClosed(content);
        expectEqual(revised(content), content);
        if (one.kind !== 'shipping' && before.shippingPrice === 0) expect(content.shippingPrice).toBe(0);
        edited += 1;
      }
    }),
    { seed: SEED, numRuns: CARTS / 2 },
  );
  expect(edited).toBeGreaterThanOrEqual(CARTS / 2);
});
