import type { PricedProduct } from '../src/pricing/cart-product.ts';
import type { CartInput, CouponInput, LineInput, ShopRules } from '../src/pricing/input.ts';
import type { CartTotals } from '../src/pricing/totals.ts';
import type { PaymentMethod, ShippingMethod, TaxClass } from '../src/shops/settings/settings.ts';

/** Carts and the rules of shops for the arithmetic of totals, without a database. */

export const taxClass = (key: string, rates: TaxClass['rates'], flags: Partial<TaxClass> = {}): TaxClass => ({
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

export const delivery = (
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
  zones: [],
  place: {},
  hours: {},
  ...changes,
});

export const payment = (key: string, amount: number): PaymentMethod => ({
  paymentMethodId: key,
  key,
  name: {},
  providerName: null,
  appMethod: null,
  additionalData: null,
  amount,
  releaseUnpaidAfterDays: null,
  releaseUnpaidAfterMinutes: null,
  providerLabel: null,
  capture: 'automatic',
});

export const BY_WEIGHT = delivery('standard', 'weight', 700, { amountPerKg: 119 });
export const STANDARD = taxClass('standard', { DE: 1900 }, { isDefault: true });

/** The rules of the demo shop, as far as totals depend on them. */
export const DEMO: ShopRules = {
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
export const PLAIN: ShopRules = {
  ...DEMO,
  shippingMethods: [delivery('free', 'flat', 0)],
  basketDiscounts: [],
  minimumCartAmount: null,
};

export const givenProduct = (price: number, changes: Partial<PricedProduct> = {}): PricedProduct => ({
  productId: 'GOODS',
  masterId: null,
  prices: { EUR: price },
  taxClassId: null,
  ...changes,
});
export const grams = (amount: number) => ({ deliveryWeight: { amount, unit: 'gram' as const } });
export const ounces = (amount: number) => ({ deliveryWeight: { amount, unit: 'ounce' as const } });
export const line = (
  product: PricedProduct,
  quantity: number | string = 1,
  price: number | null = null,
): LineInput => ({
  quantity: String(quantity),
  price,
  product,
});

export const cartOf = (lines: LineInput[], changes: Partial<CartInput> = {}): CartInput => ({
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
export const shippedBy = (methodId: string, price: number | null = null) => ({
  shipping: { methodId, price },
});
export const paidBy = (methodId: string) => ({ payment: { methodId, price: null } });
export const paidByHand = (price: number) => ({ payment: { methodId: null, price } });

export const couponOf = (
  kind: CouponInput['kind'],
  amount: number | null,
  changes: Partial<CouponInput> = {},
) => ({
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
export const shown = (totals: CartTotals) => ({
  sub: totals.subTotal,
  disc: totals.basketDiscount,
  coup: totals.coupon?.amount ?? 0,
  ship: totals.shipping?.price ?? null,
  pay: totals.payment?.price ?? null,
  grand: totals.grandTotal,
  net: totals.totalBeforeTax,
  tax: totals.totalTax,
});
