import type { Content, ContentLine, ContentPayment, ContentTaxClass } from '../pricing/content.ts';
import { deliveryPrice } from '../pricing/delivery.ts';
import type { CartInput, CouponInput, LineInput, ShopRules } from '../pricing/input.ts';
import { sum } from '../pricing/shares.ts';
import { inTaxType, toTaxBasis, taxClassFor } from '../pricing/tax.ts';
import { cartTotals, type CartTotals, type ServiceTax } from '../pricing/totals.ts';
import { priceOfQuantity } from '../pricing/unit-price.ts';
import { inCurrency } from '../catalogue/products/prices.ts';
import type { PaymentMethod, Settings, ShippingMethod, TaxClass } from '../shops/settings/settings.ts';

/** The edits of an order. Everything else stays as agreed when it was placed. */
export interface Edits {
  /** A line with today's price and texts. */
  added?: ContentLine;
  /** The price is per unit, in minor units. */
  changed?: { lineItemId: string; quantity?: string | undefined; price?: number | undefined };
  /** Id of a line. */
  removed?: string;
  shipping?: Omit<NonNullable<Content['shipping']>, 'taxes'>;
  payment?: Omit<ContentPayment, 'taxes'>;
}

/**
 * The content of an order after an edit: computed by the totals of carts, from the terms in the order itself. It uses
 * neither today's prices nor today's taxes.
 */
export function revised(content: Content, edits: Edits = {}): Content {
  const { added, changed, removed } = edits;
  const lines = content.lines.filter(({ lineItemId }) => lineItemId !== removed);
  if (added) lines.push(inTermsOfOrder(added, content));
  const shipping = edits.shipping ?? content.shipping;
  const payment = edits.payment ?? content.payment;
  const terms = { ...content, lines };
  const taxClasses = taxClassesOf(terms);
  const facts: CartInput = {
    currency: content.currency,
    taxType: content.taxType,
    country: null,
    customerGroupId: null,
    lines: lines.map((line) => lineFacts(line, content, changed)),
    coupon: couponOf(content),
    shipping: { methodId: shipping?.shippingMethodId ?? null, price: shipping?.price ?? null },
    payment: { methodId: null, price: payment?.price ?? 0 },
  };
  const totals = agreedTotals(facts, rulesOf(terms, taxClasses, shipping?.shippingMethodId));
  const taxed = ({ taxClass, tax }: ServiceTax) => ({ taxClass: taxClasses.get(taxClass.taxClassId)!, tax });
  const { expectedDelivery, ...agreed } = content;
  // The promised days were those of the former method.
  const isSameMethod = shipping?.shippingMethodId === content.shipping?.shippingMethodId;
  return {
    ...agreed,
    ...(expectedDelivery && isSameMethod && { expectedDelivery }),
    lines: lines.map((line, index) => {
      const { taxClass: _class, taxRate: _rate, shopQuantityPrice, ...amounts } = totals.lines[index]!;
      const shopPrices = line.shopPrices && { ...line.shopPrices, quantityPrice: shopQuantityPrice };
      return {
        ...line,
        quantity: facts.lines[index]!.quantity,
        ...amounts,
        ...(shopPrices && { shopPrices }),
      };
    }),
    subTotal: totals.subTotal,
    basketDiscount: totals.basketDiscount,
    coupon: content.coupon && {
      ...content.coupon,
      ...(totals.coupon && { amount: totals.coupon.amount, problems: [...totals.coupon.problems] }),
    },
    shippingPrice: totals.shipping?.price ?? 0,
    shipping: shipping && {
      ...shipping,
      price: totals.shipping?.price ?? 0,
      taxes: totals.shipping?.taxes.map(taxed) ?? [],
    },
    payment: payment && {
      ...payment,
      price: totals.payment?.price ?? 0,
      taxes: totals.payment?.taxes.map(taxed) ?? [],
    },
    taxes: [...totals.taxes],
    totalTax: totals.totalTax,
    totalBeforeTax: totals.totalBeforeTax,
    grandTotal: totals.grandTotal,
  };
}

/**
 * A coupon for free delivery has left a price of 0, and applies as long as there would be one to waive. When it no
 * longer applies, the delivery stays free, as agreed.
 */
function agreedTotals(facts: CartInput, rules: ShopRules): CartTotals {
  const { coupon, shipping } = facts;
  const waives = coupon !== null && (coupon.waivesShipping || coupon.kind === 'SHIPPING');
  if (!waives || shipping.price !== 0) return cartTotals(facts, rules);
  const waived = cartTotals({ ...facts, shipping: { ...shipping, price: 1 } }, rules);
  return waived.coupon!.problems.length === 0 ? waived : cartTotals(facts, rules);
}

/** One country is enough: in it every class has its one agreed rate. */
const COUNTRY = 'ZZ';

/** By class and rate, because a line that is added later may be taxed at another rate of the same class. */
const keyOf = ({ taxClassId, rate }: ContentTaxClass) => `${taxClassId} ${rate}`;

function taxClassesOf({ lines, serviceTaxClass }: Content): Map<string, ContentTaxClass> {
  const classes = [serviceTaxClass, ...lines.map(({ taxClass }) => taxClass)];
  return new Map(classes.toReversed().map((one) => [keyOf(one), one]));
}

function lineFacts(line: ContentLine, { currency }: Content, changed: Edits['changed']): LineInput {
  const change = changed?.lineItemId === line.lineItemId ? changed : undefined;
  return {
    quantity: change?.quantity ?? line.quantity,
    price: change?.price ?? (isPricedByUnit(line) ? line.unitPrice : null),
    product: {
      productId: line.productId,
      masterId: line.masterId,
      prices: { [currency]: line.shopPrices?.quantityPrice ?? line.quantityPrice },
      taxClassId: keyOf(line.taxClass),
      orderUnit: line.orderUnit,
      depositPrices: { [currency]: (line.shopPrices ?? line).unitDeposit },
      ecoParticipationPrices: { [currency]: (line.shopPrices ?? line).unitEcoParticipation },
    },
  };
}

/** The shop may have changed its tax model since the order was placed: the line follows the order. */
function inTermsOfOrder(
  { shopPrices, ...line }: ContentLine,
  { taxType, shopTaxModel }: Content,
): ContentLine {
  if (shopTaxModel === undefined) return line;
  const inShopModel = (minor: number) => inTaxType(minor, line.taxClass.rate, taxType, shopTaxModel);
  return {
    ...line,
    shopPrices: shopPrices ?? {
      quantityPrice: null,
      unitDeposit: inShopModel(line.unitDeposit),
      unitEcoParticipation: inShopModel(line.unitEcoParticipation),
    },
  };
}

/** Its price was set by hand: that is a unit price, while a product's is for `priceQuantity` units. */
function isPricedByUnit(line: ContentLine): boolean {
  const { quantity, orderUnit, unitPrice, quantityPrice, amount, shopPrices } = line;
  if (shopPrices) return shopPrices.quantityPrice === null;
  const { priceQuantity } = orderUnit;
  return (
    priceOfQuantity(quantityPrice, 1, priceQuantity) !== unitPrice ||
    priceOfQuantity(quantityPrice, quantity, priceQuantity) !== amount
  );
}

/** A coupon that took nothing off when the order was placed stays without effect; its use was not counted. */
function couponOf({ coupon, currency }: Content): CouponInput | null {
  if (!coupon || coupon.codeKey === null) return null;
  return {
    ...coupon.terms,
    currency,
    isWithdrawn: false,
    isUsedUp: false,
    isInTime: true,
    shippingMethodIds: null,
    paymentMethodIds: null,
  };
}

function rulesOf(
  { currency, taxType, shopTaxModel, serviceTaxClass, offers }: Content,
  taxClasses: ReadonlyMap<string, ContentTaxClass>,
  shippingMethodId: string | undefined,
): ShopRules {
  return {
    country: COUNTRY,
    taxModel: shopTaxModel ?? (taxType === 'NET' ? 'NET' : 'GROSS'),
    taxFreeOutsideEu: false,
    taxClasses: [...taxClasses].map(([key, { name, rate }]) => ({
      taxClassId: key,
      key,
      name,
      isDefault: key === keyOf(serviceTaxClass),
      isDefaultDigital: false,
      // Whether something is shipped was decided when the method was chosen.
      digital: false,
      supply: 'goods',
      rates: { [COUNTRY]: rate },
    })) satisfies TaxClass[],
    shippingMethods: shippingMethodId === undefined ? [] : [chosenMethod(shippingMethodId)],
    paymentMethods: [],
    basketDiscounts: offers,
    minimumCartCode: 'SumProduct',
    minimumCartAmount: null,
    defaultCurrency: currency,
    currencies: [currency],
    exchangeRates: {},
  };
}

/** The facts contain its price. */
function chosenMethod(shippingMethodId: string): ShippingMethod {
  return {
    shippingMethodId,
    key: shippingMethodId,
    name: {},
    description: {},
    logoUrl: null,
    kind: 'flat',
    amount: 0,
    amountPerKg: 0,
    tiers: [],
    freeFrom: null,
  };
}

/** The cost of an order's delivery by the method's rules of today, in the terms of the order. */
export function deliveryPriceToday(
  { currency, taxType, lines }: Content,
  method: ShippingMethod,
  country: string,
  settings: Settings,
): number {
  const shipped = lines.map(({ quantity, productId, masterId, weight, taxClass }) => ({
    quantity,
    price: null,
    product: {
      productId,
      masterId,
      prices: null,
      taxClassId: taxClass.taxClassId,
      ...(weight && { deliveryWeight: weight }),
    },
  }));
  // Limits are in the tax model of the shop.
  const value = sum(
    lines.map(({ amount, taxClass }) => inTaxType(amount, taxClass.rate, taxType, settings.taxModel)),
  );
  const price = deliveryPrice(method, { currency, lines: shipped }, value, settings);
  return toTaxBasis(taxType, price, taxClassFor(null, settings), country, settings);
}

/** The same for the payment. */
export function paymentPriceToday(
  { currency, taxType }: Content,
  method: PaymentMethod,
  country: string,
  settings: Settings,
): number {
  const price = inCurrency(method.amount, currency, settings);
  return toTaxBasis(taxType, price, taxClassFor(null, settings), country, settings);
}
