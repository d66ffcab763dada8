import { percentOf } from '../money.ts';
import { inCurrency, priceIn } from '../products/prices.ts';
import { ORDER_UNIT } from '../products/render.ts';
import type { BasketDiscount, PaymentMethod, ShippingMethod, TaxClass } from '../shop/settings.ts';
import type { CouponProblem } from './coupon-problems.ts';
import { deliveryOf, deliveryPrice, type Delivery } from './delivery.ts';
import type { CartFacts, LineFacts, ShopRules } from './facts.ts';
import { redeemed } from './redemption.ts';
import { ratesOf, spread, sum, type Taxed } from './shares.ts';
import { inTermsOf, taxClassFor, taxOn, taxRateIn } from './tax.ts';
import { askedPrice, priceOfQuantity } from './unit-price.ts';

/** What a cart comes to, in minor units of its currency. Discounts are negative. */
export interface CartTotals {
  /** One per line of the facts, in their order. */
  lines: readonly LineTotals[];
  subTotal: number;
  /** 0: none is reached. */
  basketDiscount: number;
  coupon: { amount: number; problems: readonly CouponProblem[] } | null;
  delivery: Delivery;
  /** Whose rates count. */
  country: string;
  /** What delivery and payment are taxed with. */
  serviceTax: { taxClass: TaxClass; rate: number };
  /** null: nothing is shipped. */
  shipping: { method: ShippingMethod; price: number; taxes: ServiceTax[] } | null;
  /** null: the cart is empty. A method of null was set by hand. */
  payment: { method: PaymentMethod | null; price: number; taxes: ServiceTax[] } | null;
  /** By rate, ascending: all amounts of this rate, and the tax in or on them. */
  taxes: readonly { rate: number; amount: number; tax: number }[];
  totalTax: number;
  totalBeforeTax: number;
  grandTotal: number;
  minimum: { amount: number | null; isReached: boolean };
  /** What the shop offers, in the cart's currency. */
  offers: readonly BasketDiscount[];
}

export interface LineTotals {
  taxClass: TaxClass;
  /** Basis points. */
  taxRate: number;
  /** Of one unit. */
  unitPrice: number;
  /** Of the amount that prices of this product are for. */
  quantityPrice: number;
  amount: number;
  deposit: number;
  ecoParticipation: number;
  /** This line's shares of the basket discount and of the coupon, positive. */
  discountShare: number;
  couponShare: number;
}

/** The tax of one amount for itself: information, because the total is rounded once per rate over everything. */
export interface ServiceTax {
  taxClass: TaxClass;
  rate: number;
  tax: number;
}

/**
 * The one place where a cart is computed; orders, documents and pages use what it says. Each line is rounded, then
 * the tax once per rate over the whole document: rounding it per line or per part gives other totals.
 */
export function cartTotals(cart: CartFacts, shop: ShopRules): CartTotals {
  const { taxType } = cart;
  const delivery = deliveryOf(cart, shop);
  // Who picks up takes over the goods where the shop is.
  const country = delivery.method?.kind === 'pickup' ? shop.country : (cart.country ?? shop.country);
  const priced = cart.lines.map((line) => pricedLine(line, cart, country, shop));
  const subTotal = sum(priced.map(({ amount }) => amount));

  const offers = offersIn(cart.currency, shop);
  const basketDiscount = bestDiscount(subTotal, offers);
  const discountShares = spread(basketDiscount, priced);
  const left =
    basketDiscount === 0
      ? priced
      : priced.map((line, index) => ({ ...line, amount: line.amount - discountShares[index]! }));

  const serviceClass = taxClassFor(null, shop);
  const serviceRate = taxRateIn(serviceClass, country, shop);
  const inTerms = (minor: number) => inTermsOf(taxType, minor, serviceClass, country, shop);
  const serviceTaxes = (price: number): ServiceTax[] => [
    { taxClass: serviceClass, rate: serviceRate, tax: taxOn(price, serviceRate, taxType) },
  ];

  const asked = shippingPrice(cart, delivery, subTotal, shop, inTerms);
  const method = paymentMethod(cart, shop);
  const coupon =
    cart.coupon && redeemed(cart.coupon, { cart, left, subTotal, delivery, method, asked, shop });
  const couponShares = coupon?.shares ?? priced.map(() => 0);
  const couponDiscount = sum(couponShares);
  const shipping = coupon?.waivesShipping ? 0 : asked;

  const lines = priced.map((line, index) => ({
    ...line,
    discountShare: discountShares[index]!,
    couponShare: couponShares[index]!,
  }));
  const extras = sum(lines.map(({ deposit, ecoParticipation }) => deposit + ecoParticipation));
  const payable = subTotal - basketDiscount - couponDiscount + extras + shipping;
  // A discount for the payment takes off no more than there is to pay.
  const payment =
    cart.lines.length === 0 ? 0 : Math.max(paymentPrice(cart, method, shop, inTerms), 0 - payable);

  const taxed: TaxedAt[] = [
    { taxClass: serviceClass, taxRate: serviceRate, amount: shipping + Math.max(payment, 0) },
    ...lines.map((line, index) => ({
      ...line,
      amount: left[index]!.amount - line.couponShare + line.deposit + line.ecoParticipation,
    })),
  ];
  // Taken off at the default rate alone it could leave less than nothing there, and pay out tax.
  const paymentShares = spread(Math.max(0, 0 - payment), taxed);
  const taxes = taxesByRate(lessShares(taxed, paymentShares), taxType);
  const paymentTaxes = payment < 0 ? taxesOfShares(taxed, paymentShares, taxType) : serviceTaxes(payment);
  const totalTax = sum(taxes.map(({ tax }) => tax));
  const total = payable + payment;
  return {
    lines,
    subTotal,
    basketDiscount: 0 - basketDiscount,
    coupon: coupon && { amount: 0 - couponDiscount, problems: coupon.problems },
    delivery,
    country,
    serviceTax: { taxClass: serviceClass, rate: serviceRate },
    shipping: delivery.method && { method: delivery.method, price: shipping, taxes: serviceTaxes(shipping) },
    payment: cart.lines.length === 0 ? null : { method, price: payment, taxes: paymentTaxes },
    taxes,
    totalTax,
    totalBeforeTax: taxType === 'GROSS' ? total - totalTax : total,
    grandTotal: taxType === 'GROSS' ? total : total + totalTax,
    minimum: minimumOf(cart.currency, shop, {
      SumProduct: subTotal,
      SumCoupon: -couponDiscount,
      SumDiscount: -basketDiscount,
      SumDelivery: shipping,
      SumPayment: payment,
    }),
    offers,
  };
}

type PricedLine = Omit<LineTotals, 'discountShare' | 'couponShare'>;

function pricedLine(
  { quantity, price, product }: LineFacts,
  { currency, taxType, customerGroupId }: CartFacts,
  country: string,
  shop: ShopRules,
): PricedLine {
  const taxClass = taxClassFor(product.taxClassId, shop);
  const inTerms = (minor: number) => inTermsOf(taxType, minor, taxClass, country, shop);
  const { priceQuantity } = product.orderUnit ?? ORDER_UNIT;
  const forAll = (prices: typeof product.depositPrices) =>
    priceOfQuantity(inTerms(priceIn(prices, currency, shop) ?? 0), quantity, 1);
  const common = {
    taxClass,
    taxRate: taxRateIn(taxClass, country, shop),
    deposit: forAll(product.depositPrices),
    ecoParticipation: forAll(product.ecoParticipationPrices),
  };
  if (price !== null) {
    return {
      ...common,
      unitPrice: price,
      quantityPrice: priceOfQuantity(price, priceQuantity, 1),
      amount: priceOfQuantity(price, quantity, 1),
    };
  }
  const quantityPrice = inTerms(askedPrice(product, quantity, currency, customerGroupId, shop) ?? 0);
  return {
    ...common,
    unitPrice: priceOfQuantity(quantityPrice, 1, priceQuantity),
    quantityPrice,
    amount: priceOfQuantity(quantityPrice, quantity, priceQuantity),
  };
}

function offersIn(currency: string, shop: ShopRules): BasketDiscount[] {
  return shop.basketDiscounts.map(({ minimumAmount, absolute, percent }) => ({
    minimumAmount: inCurrency(minimumAmount, currency, shop),
    ...(absolute !== undefined && { absolute: inCurrency(absolute, currency, shop) }),
    ...(percent !== undefined && { percent }),
  }));
}

/** Of those that are reached, the one that takes off most; never more than the goods are worth. */
function bestDiscount(subTotal: number, offers: readonly BasketDiscount[]): number {
  const reached = offers.filter(({ minimumAmount }) => subTotal >= minimumAmount);
  return Math.max(
    0,
    ...reached.map(({ absolute, percent }) =>
      Math.min(absolute ?? percentOf(subTotal, percent ?? 0), subTotal),
    ),
  );
}

/** What was set by hand is in the terms of the cart already. */
function shippingPrice(
  cart: CartFacts,
  { method, isChosen }: Delivery,
  subTotal: number,
  shop: ShopRules,
  inTerms: (minor: number) => number,
): number {
  if (!method) return 0;
  const byHand = isChosen ? cart.shipping.price : null;
  return byHand ?? inTerms(deliveryPrice(method, cart, subTotal, shop));
}

function paymentMethod({ payment }: CartFacts, { paymentMethods }: ShopRules): PaymentMethod | null {
  if (payment.price !== null) return null;
  const chosen = paymentMethods.find(({ paymentMethodId }) => paymentMethodId === payment.methodId);
  return chosen ?? paymentMethods[0] ?? null;
}

function paymentPrice(
  { payment, currency }: CartFacts,
  method: PaymentMethod | null,
  shop: ShopRules,
  inTerms: (minor: number) => number,
): number {
  if (payment.price !== null) return payment.price;
  return inTerms(inCurrency(method?.amount ?? 0, currency, shop));
}

type TaxedAt = Taxed & { taxClass: TaxClass };

function lessShares(taxed: readonly TaxedAt[], shares: readonly number[]): TaxedAt[] {
  return taxed.map((part, index) => ({ ...part, amount: part.amount - shares[index]! }));
}

function taxesByRate(taxed: readonly Taxed[], taxType: CartFacts['taxType']) {
  return ratesOf(taxed.map(({ taxRate }) => taxRate)).map((rate) => {
    const amount = sum(taxed.filter(({ taxRate }) => taxRate === rate).map((part) => part.amount));
    return { rate, amount, tax: taxOn(amount, rate, taxType) };
  });
}

/** The tax that a discount takes off with it. */
function taxesOfShares(
  taxed: readonly TaxedAt[],
  shares: readonly number[],
  taxType: CartFacts['taxType'],
): ServiceTax[] {
  const discounts = taxed.map((part, index) => ({ ...part, amount: 0 - shares[index]! }));
  return taxesByRate(discounts, taxType).flatMap(({ rate, amount, tax }) =>
    amount === 0 ? [] : [{ taxClass: taxed.find(({ taxRate }) => taxRate === rate)!.taxClass, rate, tax }],
  );
}

/** The steps in which a cart adds up; a minimum is compared with the sum after the step that it names. */
const STEPS = ['SumProduct', 'SumCoupon', 'SumDiscount', 'SumDelivery', 'SumPayment'] as const;

function minimumOf(
  currency: string,
  shop: ShopRules,
  steps: Record<(typeof STEPS)[number], number>,
): CartTotals['minimum'] {
  if (shop.minimumCartAmount === null) return { amount: null, isReached: true };
  const amount = inCurrency(shop.minimumCartAmount, currency, shop);
  return { amount, isReached: sumUpTo(shop.minimumCartCode, steps) >= amount };
}

function sumUpTo(code: ShopRules['minimumCartCode'], steps: Record<(typeof STEPS)[number], number>): number {
  return sum(STEPS.slice(0, STEPS.indexOf(code) + 1).map((step) => steps[step]));
}

/** How much more the cart must be worth to reach the minimum; 0: it does. */
export function missingToMinimum(totals: CartTotals, { minimumCartCode }: ShopRules): number {
  const { minimum, subTotal, coupon, basketDiscount, shipping, payment } = totals;
  if (minimum.isReached) return 0;
  return (
    minimum.amount! -
    sumUpTo(minimumCartCode, {
      SumProduct: subTotal,
      SumCoupon: coupon?.amount ?? 0,
      SumDiscount: basketDiscount,
      SumDelivery: shipping?.price ?? 0,
      SumPayment: payment?.price ?? 0,
    })
  );
}
