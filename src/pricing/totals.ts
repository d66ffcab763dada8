import { percentOf } from '../kernel/money.ts';
import { askedPrice, inCurrency, priceIn } from '../catalogue/products/prices.ts';
import { ORDER_UNIT } from '../catalogue/products/orderable.ts';
import type { BasketDiscount, PaymentMethod, ShippingMethod, TaxClass } from '../shops/settings/settings.ts';
import { bundleUnits } from './bundles.ts';
import { deliveryOf, deliveryPrice, type Delivery } from './delivery.ts';
import { givenTax } from './given-tax.ts';
import type { CartInput, CouponProblem, GivenTax, LineInput, ShopRules } from './input.ts';
import {
  applyPromotions,
  inProportion,
  isReached,
  missingFor,
  type AppliedReduction,
  type MissingForPromotion,
  type Undiscounted,
} from './promotions.ts';
import { isDiscounted, redeemed, type Redeemed } from './redemption.ts';
import {
  deliveredLines,
  isGoodsClass,
  oneTax,
  serviceTaxing,
  type ServiceTax,
  type ServiceTaxing,
} from './service-tax.ts';
import {
  groupByTax,
  lessShares,
  ratesOf,
  spread,
  sum,
  taxesOf,
  type Taxed,
  type TaxedPart,
} from './shares.ts';
import {
  appliedTax,
  taxClassFor,
  taxOn,
  toShopPrice,
  toShownPrice,
  voucherTax,
  type AppliedTax,
} from './tax.ts';
import type { TaxTreatment } from '../shops/taxes/treatments.ts';
import { priceOfQuantity } from './quantity.ts';

/** The totals of a cart, in minor units of its currency. Discounts are negative. */
export interface CartTotals {
  /** One per line of the facts, in their order. */
  lines: readonly LineTotals[];
  subTotal: number;
  /** With all promotions that apply without a code. 0: none is reached. */
  basketDiscount: number;
  /** In the order in which they apply; the amounts are those that the cart shows. */
  promotions: readonly AppliedPromotion[];
  /** In the shop's tax model, like all limits. */
  missingForPromotions: readonly MissingForPromotion[];
  coupon: { amount: number; problems: readonly CouponProblem[] } | null;
  delivery: Delivery;
  /** The country whose rates apply. */
  country: string;
  /** The tax of the delivery, unless it is taxed in shares. */
  serviceTax: AppliedTax;
  /** The same of the payment, where an app has given it. */
  paymentTax?: AppliedTax;
  /** null: nothing is shipped. */
  shipping: { method: ShippingMethod; price: number; taxes: ServiceTax[] } | null;
  /** null: the cart is empty. A method of null was set by hand. */
  payment: { method: PaymentMethod | null; price: number; taxes: ServiceTax[] } | null;
  /** By rate, ascending, and treatment: all amounts of this rate, and the tax in or on them. */
  taxes: readonly { rate: number; treatment: TaxTreatment | undefined; amount: number; tax: number }[];
  totalTax: number;
  totalBeforeTax: number;
  grandTotal: number;
  /** In the shop's tax model, like all limits: they are compared with the cart's value there. */
  minimum: { amount: number | null; isReached: boolean };
  /** How much is missing to the minimum, in the shop's tax model; 0: it is reached. */
  missingToMinimum: number;
  /** The shop's offers, in the cart's currency and the shop's tax model. */
  offers: readonly BasketDiscount[];
}

export interface AppliedPromotion {
  promotionId: string;
  amount: number;
  deliveryAmount: number;
}

export interface LineTotals extends AppliedTax {
  /** Per unit. */
  unitPrice: number;
  /** For the amount that prices of this product refer to. */
  quantityPrice: number;
  /** The same as the shop's own price, in the shop's tax model; null: the price was set by hand. */
  shopQuantityPrice: number | null;
  amount: number;
  deposit: number;
  ecoParticipation: number;
  /** This line's shares of the basket discount, with promotions, and of the coupon, positive. */
  discountShare: number;
  couponShare: number;
}

/**
 * The only place where a cart is computed; orders, documents and pages use its result. Each line is rounded, then the
 * tax once per rate over the whole document: rounding it per line or per part gives other totals.
 *
 * The tax type of a cart only determines how prices are shown. Everything with a limit or a fixed amount (discounts,
 * coupons, delivery, payment, the minimum) is decided in the shop's tax model; the amounts named `shop...` are in it.
 * The result is then shown in the cart's tax type: a discount in proportion to its base, so each tax rate bears the
 * same share of it as in the shop's tax model.
 */
export function cartTotals(cart: CartInput, shop: ShopRules, agreedTax?: TaxOf): CartTotals {
  const { taxType } = cart;
  const delivery = deliveryOf(cart, shop);
  const isPickup = delivery.method?.kind === 'pickup';
  // With pickup, goods are handed over where the shop is.
  const country = isPickup ? shop.country : (cart.country ?? shop.country);
  const taxOf = agreedTax ?? decidedTaxes(cart, isPickup, shop);
  const priced = cart.lines.map((line) => {
    if (line.product.giftCard)
      return pricedLine(
        line,
        cart,
        agreedTax ? taxOf(taxClassFor(line.product.taxClassId, shop)) : voucherTax(shop),
        shop,
      );
    const own = taxOf(taxClassFor(line.product.taxClassId, shop));
    const tax = line.appTax ? givenTax(own, line.appTax, { isAbroad: country !== shop.country }) : own;
    return pricedLine(line, cart, tax, shop);
  });
  // Discounts are spread by the rates in the prices: whether a business pays these taxes does not change its shares.
  const shownLines = priced.map(({ priceRate, taxClass: { taxClassId }, amount }) => ({
    taxRate: priceRate,
    taxClassId,
    amount,
  }));
  const shopLines = shownLines.map((line, index) => ({ ...line, amount: priced[index]!.shopAmount }));
  const subTotal = sumOf(priced);
  const shopSubTotal = sumOf(shopLines);

  // Delivery and payment are no part of a voucher: with goods beside it, they are taxed like these.
  const supplied = suppliedLines(priced);
  const standard = standardServiceTax(supplied, taxOf, shop);
  const delivered = deliveredLines(supplied, ({ taxClass }) => isGoodsClass(taxClass));
  const taxingOf = (given: GivenTax | undefined, lines: readonly PricedLine[]) =>
    given
      ? oneTax(givenTax(standard, given, { isAbroad: country !== shop.country }), taxType, shop)
      : serviceTaxing(lines, standard, taxType, shop);
  const deliveryTaxing = taxingOf(cart.serviceTaxes?.delivery, delivered);
  const paymentTaxing = taxingOf(cart.serviceTaxes?.payment, supplied);
  const asked = shippingPrice(cart, delivery, shopSubTotal, shop, deliveryTaxing);
  const method = paymentMethod(cart, shop);
  const offers = offersIn(cart.currency, shop);
  // A discount on a bundle is taken off its price, and then borne by its parts.
  const units = bundleUnits(cart.lines);
  const goods: Undiscounted = {
    shop: ofUnits(shopLines, units),
    shown: ofUnits(shownLines, units),
    quantities: units.map(([first]) => (cart.lines[first!]!.bundle ?? cart.lines[first!]!).quantity),
    isDiscounted: units.map(([first]) => isDiscounted(cart.lines[first!]!.product)),
    delivery: asked.shop,
  };
  const discountedSubTotal = sum(
    goods.shop.map(({ amount }, index) => (goods.isDiscounted[index] ? amount : 0)),
  );
  const promoted = applyPromotions(
    cart.promotions ?? [],
    (value) => bestDiscount(discountedSubTotal, value, offers),
    goods,
  );
  const withCode = promoted.applied.filter(({ promotion }) => promotion?.isCoupon);
  const automatic = promoted.applied.filter(({ promotion }) => !promotion?.isCoupon);
  const promotedShipping =
    promoted.delivery === asked.shop
      ? asked
      : { shop: promoted.delivery, shown: deliveryTaxing.toShown(promoted.delivery) };
  const campaign =
    cart.coupon &&
    redeemed(cart.coupon, {
      currency: cart.currency,
      products: units.map(([first]) => (cart.lines[first!]!.bundle ?? cart.lines[first!]!).product),
      left: promoted.left.shop,
      subTotal: shopSubTotal,
      delivery,
      method,
      asked: promotedShipping,
      shop,
    });
  const discountShares = borneByLines(addShares(automatic, units.length), units, shownLines);
  const left = lessShares(shownLines, discountShares);
  const couponShares = borneByLines(
    campaign ? shownCoupon(campaign, promoted.left.shown) : addShares(withCode, units.length),
    units,
    left,
  );
  const basketDiscount = sum(discountShares);
  const couponDiscount = sum(couponShares);
  const shopDiscount = sum(automatic.map(({ amount }) => amount));
  const shopCoupon = campaign?.amount ?? sum(withCode.map(({ amount }) => amount));
  const coupon = campaign ?? couponPromotion(cart, withCode, goods);
  const shipping = campaign?.waivesShipping ? NOTHING : promotedShipping;

  // Each field by name, because copying the rest of an object is slow.
  const lines = priced.map((line, index): LineTotals => ({
    taxClass: line.taxClass,
    taxRate: line.taxRate,
    priceRate: line.priceRate,
    treatment: line.treatment,
    unitPrice: line.unitPrice,
    quantityPrice: line.quantityPrice,
    shopQuantityPrice: line.shopQuantityPrice,
    amount: line.amount,
    deposit: line.deposit,
    ecoParticipation: line.ecoParticipation,
    discountShare: discountShares[index]!,
    couponShare: couponShares[index]!,
  }));
  const extras = sum(lines.map(({ deposit, ecoParticipation }) => deposit + ecoParticipation));
  const payable = subTotal - basketDiscount - couponDiscount + extras + shipping.shown;
  const shopPayable =
    shopSubTotal -
    shopDiscount -
    shopCoupon +
    sum(priced.map(({ shopExtras }) => shopExtras)) +
    shipping.shop;
  const payment =
    cart.lines.length === 0
      ? NOTHING
      : paymentPrice(cart, method, shop, paymentTaxing, { shop: shopPayable, shown: payable });

  const shippingTaxes = deliveryTaxing.split(shipping.shown);
  const surchargeTaxes = paymentTaxing.split(Math.max(payment.shown, 0));
  const taxed: TaxedAt[] = [
    ...[...shippingTaxes, ...surchargeTaxes].map(({ taxClass, rate, treatment, amount }) => ({
      taxClass,
      taxRate: rate,
      treatment,
      amount,
    })),
    ...lines.map(({ taxClass, taxRate, treatment, couponShare, deposit, ecoParticipation }, index) => ({
      taxClass,
      taxRate,
      treatment,
      amount: left[index]!.amount - couponShare + deposit + ecoParticipation,
    })),
  ];
  const groups = groupByTax(taxed);
  // Taken off at the default rate alone, it could leave a negative amount there, and pay out tax.
  const paymentShares = spread(Math.max(0, 0 - payment.shown), groups);
  const taxes = taxesOf(
    groups.map(({ taxRate, treatment, amount }, index) => ({
      taxRate,
      treatment,
      amount: amount - paymentShares[index]!,
    })),
    taxType,
  );
  const paymentTaxes =
    payment.shown < 0 ? taxesOfShares(taxed, groups, paymentShares, taxType) : surchargeTaxes;
  const totalTax = sum(taxes.map(({ tax }) => tax));
  const total = payable + payment.shown;
  const minimum =
    shop.minimumCartAmount === null ? null : inCurrency(shop.minimumCartAmount, cart.currency, shop);
  const missingToMinimum =
    minimum === null
      ? 0
      : Math.max(
          0,
          minimum -
            sumUpTo(shop.minimumCartCode, {
              SumProduct: shopSubTotal,
              SumCoupon: -shopCoupon,
              SumDiscount: -shopDiscount,
              SumDelivery: shipping.shop,
              SumPayment: payment.shop,
            }),
        );
  return {
    lines,
    subTotal,
    basketDiscount: 0 - basketDiscount,
    missingForPromotions: missingFor(cart.promotions ?? [], promoted, goods),
    promotions: shownPromotions(promoted.applied, asked, (price) => deliveryTaxing.toShown(price)),
    coupon: coupon && { amount: 0 - couponDiscount, problems: coupon.problems },
    delivery,
    country,
    serviceTax: deliveryTaxing.tax,
    ...(cart.serviceTaxes && { paymentTax: paymentTaxing.tax }),
    shipping: delivery.method && {
      method: delivery.method,
      price: shipping.shown,
      taxes: shippingTaxes,
    },
    payment: cart.lines.length === 0 ? null : { method, price: payment.shown, taxes: paymentTaxes },
    taxes,
    totalTax,
    totalBeforeTax: taxType === 'GROSS' ? total - totalTax : total,
    grandTotal: taxType === 'GROSS' ? total : total + totalTax,
    minimum: { amount: minimum, isReached: missingToMinimum === 0 },
    missingToMinimum,
    offers,
  };
}

/** The same price in the shop's tax model and as the cart shows it. */
export interface PricePair {
  shop: number;
  shown: number;
}

const NOTHING: PricePair = { shop: 0, shown: 0 };

/** How a tax class is taxed. */
export type TaxOf = (taxClass: TaxClass) => AppliedTax;

function decidedTaxes(
  { country, postcode, vatNumber }: CartInput,
  isPickup: boolean,
  shop: ShopRules,
): TaxOf {
  const destination = country === null ? null : { country, zipCode: postcode };
  const known = new Map<TaxClass, AppliedTax>();
  return (taxClass) => {
    let tax = known.get(taxClass);
    if (!tax) known.set(taxClass, (tax = appliedTax(taxClass, { destination, isPickup, vatNumber }, shop)));
    return tax;
  };
}

/** Without the gift cards that are sold; with nothing else, these. */
function suppliedLines(lines: readonly PricedLine[]): readonly PricedLine[] {
  const supplied = lines.filter(({ treatment }) => treatment !== 'voucher');
  return supplied.length > 0 ? supplied : lines;
}

/** Delivery and payment belong to what is sold, so they are the same kind of supply: with any goods, goods. */
function standardServiceTax(lines: readonly AppliedTax[], taxOf: TaxOf, shop: ShopRules): AppliedTax {
  const standard = taxClassFor(null, shop);
  const main = (
    lines.some(({ treatment }) => treatment === 'voucher')
      ? undefined
      : (lines.find(({ taxClass }) => isGoodsClass(taxClass)) ??
        lines.find(({ taxClass }) => !taxClass.digital) ??
        lines[0])
  )?.taxClass;
  if (!main || (main.digital === standard.digital && main.supply === standard.supply)) return taxOf(standard);
  const { taxRate, priceRate, treatment } = taxOf({
    ...standard,
    digital: main.digital,
    supply: main.supply,
  });
  return { taxClass: standard, taxRate, priceRate, treatment };
}

/** The price of a service: one set by hand is in the cart's tax type, the shop's own is in the shop's. */
function servicePrice(byHand: number | null, asked: number, services: ServiceTaxing): PricePair {
  return byHand === null
    ? { shop: asked, shown: services.toShown(asked) }
    : { shop: services.toShop(byHand), shown: byHand };
}

const sumOf = (amounts: readonly { amount: number }[]) => sum(amounts.map(({ amount }) => amount));

/** Each with what it has changed of what the cart shows, so that they sum to it. */
function shownPromotions(
  applied: readonly AppliedReduction[],
  asked: PricePair,
  toShown: (price: number) => number,
): AppliedPromotion[] {
  let delivery = asked;
  return applied.flatMap(({ promotion, shares, deliveryAmount }) => {
    if (!promotion) return [];
    const before = delivery;
    const shop = before.shop - deliveryAmount;
    if (deliveryAmount > 0) delivery = { shop, shown: toShown(shop) };
    return [
      {
        promotionId: promotion.promotionId,
        amount: 0 - sum(shares),
        deliveryAmount: delivery.shown - before.shown,
      },
    ];
  });
}

/** Lines that are sold as one, each group with the taxes of its first line: the choice does not change the discount. */
function ofUnits(lines: readonly (Taxed & { taxClassId: string })[], units: readonly (readonly number[])[]) {
  if (units.length === lines.length) return lines;
  return units.map((unit) => ({
    ...lines[unit[0]!]!,
    amount: sum(unit.map((index) => lines[index]!.amount)),
  }));
}

/** The parts of a bundle bear its discount, in proportion to what is left of them. */
function borneByLines(
  shares: readonly number[],
  units: readonly (readonly number[])[],
  lines: readonly Taxed[],
): readonly number[] {
  if (units.length === lines.length) return shares;
  const ofLines = lines.map(() => 0);
  for (const [index, unit] of units.entries()) {
    const ofUnit = spread(
      shares[index]!,
      unit.map((line) => lines[line]!),
    );
    for (const [place, line] of unit.entries()) ofLines[line] = ofUnit[place]!;
  }
  return ofLines;
}

function addShares(reductions: readonly { shares: readonly number[] }[], lineCount: number): number[] {
  return Array.from({ length: lineCount }, (_, index) => sum(reductions.map(({ shares }) => shares[index]!)));
}

/** A code of a promotion says why it takes nothing off, as the code of a campaign does. */
function couponPromotion(
  { promotions = [], promotionProblems }: CartInput,
  applied: readonly AppliedReduction[],
  goods: Undiscounted,
): { problems: readonly CouponProblem[] } | null {
  if (!promotionProblems) return null;
  const promotion = promotions.find(({ isCoupon }) => isCoupon);
  if (!promotion || applied.length > 0) return { problems: promotionProblems };
  if (!promotion.counts.includes(true)) return { problems: ['ProductMisMatch'] };
  return { problems: [isReached(promotion, goods) ? 'CouponNotEffective' : 'LineItemsSubTotalTooSmall'] };
}

/** The shares of a coupon as the cart shows them; it is taken off the lines it applies to. */
function shownCoupon({ amount, isFor, base }: Redeemed, left: readonly Taxed[]): number[] {
  const eligible = left.map((line, index) => ({ ...line, amount: isFor[index] ? line.amount : 0 }));
  return spread(inProportion(amount, base, sumOf(eligible)), eligible);
}

interface PricedLine extends Omit<LineTotals, 'discountShare' | 'couponShare'> {
  /** In the shop's tax model: the line itself, and its deposit and fee. */
  shopAmount: number;
  shopExtras: number;
}

function pricedLine(
  line: LineInput,
  { currency, taxType, customerGroupId }: CartInput,
  tax: AppliedTax,
  shop: ShopRules,
): PricedLine {
  const { quantity, price, priceUnits = 1, appPrice, product } = line;
  const { taxClass, taxRate, priceRate, treatment } = tax;
  const shown = (minor: number) => toShownPrice(minor, tax, shop.taxModel, taxType);
  const { priceQuantity } = product.orderUnit ?? ORDER_UNIT;
  const forAll = (prices: typeof product.depositPrices) =>
    priceOfQuantity(priceIn(prices, currency, shop) ?? 0, quantity, 1);
  const shopDeposit = forAll(product.depositPrices);
  const shopEcoParticipation = forAll(product.ecoParticipationPrices);
  const deposit = shown(shopDeposit);
  const ecoParticipation = shown(shopEcoParticipation);
  const shopExtras = shopDeposit + shopEcoParticipation;
  if (price !== null) {
    const amount = priceOfQuantity(price, quantity, priceUnits);
    return {
      taxClass,
      taxRate,
      priceRate,
      treatment,
      unitPrice: priceOfQuantity(price, 1, priceUnits),
      quantityPrice: priceOfQuantity(price, priceQuantity, priceUnits),
      shopQuantityPrice: null,
      amount,
      deposit,
      ecoParticipation,
      shopAmount: toShopPrice(amount, tax, taxType, shop.taxModel),
      shopExtras,
    };
  }
  const shopQuantityPrice = appPrice ?? ownPrice(line, { currency, customerGroupId }, shop);
  const quantityPrice = shown(shopQuantityPrice);
  const shopAmount = priceOfQuantity(shopQuantityPrice, quantity, priceQuantity);
  return {
    taxClass,
    taxRate,
    priceRate,
    treatment,
    unitPrice: priceOfQuantity(quantityPrice, 1, priceQuantity),
    quantityPrice,
    shopQuantityPrice,
    // Not the rounded price times the quantity: with many cheap pieces the sum would differ.
    amount: shown(shopAmount),
    deposit,
    ecoParticipation,
    shopAmount,
    shopExtras,
  };
}

/** The shop's own price of a line, with its typed text: for `priceQuantity` units, in the shop's tax model. */
export function ownPrice(
  { quantity, hasCustomText = false, product }: LineInput,
  { currency, customerGroupId }: Pick<CartInput, 'currency' | 'customerGroupId'>,
  shop: ShopRules,
): number {
  const { priceQuantity } = product.orderUnit ?? ORDER_UNIT;
  const textPrice = hasCustomText ? (priceIn(product.customisation?.prices, currency, shop) ?? 0) : 0;
  return (
    (askedPrice(product, quantity, currency, customerGroupId, shop) ?? 0) +
    priceOfQuantity(textPrice, priceQuantity, 1)
  );
}

function offersIn(currency: string, shop: ShopRules): BasketDiscount[] {
  return shop.basketDiscounts.map(({ minimumAmount, absolute, percent }) => ({
    minimumAmount: inCurrency(minimumAmount, currency, shop),
    ...(absolute !== undefined && { absolute: inCurrency(absolute, currency, shop) }),
    ...(percent !== undefined && { percent }),
  }));
}

/** The largest of the discounts that goods of this value reach; never more than is left of them. */
function bestDiscount(subTotal: number, left: number, offers: readonly BasketDiscount[]): number {
  const reached = offers.filter(({ minimumAmount }) => subTotal >= minimumAmount);
  return Math.max(
    0,
    ...reached.map(({ absolute, percent }) => Math.min(absolute ?? percentOf(left, percent ?? 0), left)),
  );
}

function shippingPrice(
  cart: CartInput,
  { method, isChosen }: Delivery,
  shopSubTotal: number,
  shop: ShopRules,
  services: ServiceTaxing,
): PricePair {
  if (!method) return NOTHING;
  const byHand = isChosen ? cart.shipping.price : null;
  // A possible method has a price for the destination.
  return servicePrice(byHand, byHand ?? deliveryPrice(method, cart, shopSubTotal, shop)!, services);
}

function paymentMethod({ payment }: CartInput, { paymentMethods }: ShopRules): PaymentMethod | null {
  if (payment.price !== null) return null;
  const chosen = paymentMethods.find(({ paymentMethodId }) => paymentMethodId === payment.methodId);
  return chosen ?? paymentMethods[0] ?? null;
}

/** A discount for the payment takes off at most the amount payable and, like any discount, applies to everything. */
function paymentPrice(
  { payment, currency }: CartInput,
  method: PaymentMethod | null,
  shop: ShopRules,
  services: ServiceTaxing,
  payable: PricePair,
): PricePair {
  const asked = servicePrice(payment.price, inCurrency(method?.amount ?? 0, currency, shop), services);
  const limited = {
    shop: Math.max(asked.shop, 0 - payable.shop),
    shown: Math.max(asked.shown, 0 - payable.shown),
  };
  if (payment.price !== null || limited.shop >= 0) return limited;
  return { shop: limited.shop, shown: 0 - inProportion(0 - limited.shop, payable.shop, payable.shown) };
}

type TaxedAt = TaxedPart & { taxClass: TaxClass };

/** The tax reduction of a discount, by rate. */
function taxesOfShares(
  taxed: readonly TaxedAt[],
  groups: readonly Taxed[],
  shares: readonly number[],
  taxType: CartInput['taxType'],
): ServiceTax[] {
  return ratesOf(groups.map(({ taxRate }) => taxRate)).flatMap((rate) => {
    const amount = 0 - sum(shares.filter((_, index) => groups[index]!.taxRate === rate));
    if (amount === 0) return [];
    const { taxClass, treatment } = taxed.find(({ taxRate }) => taxRate === rate)!;
    return [{ taxClass, rate, treatment, amount, tax: taxOn(amount, rate, taxType) }];
  });
}

/** The steps in which a cart adds up; a minimum is compared with the sum after its step. */
const STEPS = ['SumProduct', 'SumCoupon', 'SumDiscount', 'SumDelivery', 'SumPayment'] as const;

function sumUpTo(code: ShopRules['minimumCartCode'], steps: Record<(typeof STEPS)[number], number>): number {
  return sum(STEPS.slice(0, STEPS.indexOf(code) + 1).map((step) => steps[step]));
}
