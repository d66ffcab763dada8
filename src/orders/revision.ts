import {
  ratesOfClass,
  type Content,
  type ContentLine,
  type ContentPayment,
  type ContentTaxClass,
} from '../pricing/content.ts';
import { agreedPromotions, revisedPromotions } from '../pricing/cart-promotions.ts';
import { type Destination, deliveryPrice } from '../pricing/delivery.ts';
import type { CartInput, CouponInput, LineInput, ShopRules } from '../pricing/input.ts';
import { sum } from '../pricing/shares.ts';
import { deliveredLines, exactWeights, type ServiceTax } from '../pricing/service-tax.ts';
import { toShopPrice, toShownPrice } from '../pricing/tax.ts';
import { cartTotals, type CartTotals, type TaxOf } from '../pricing/totals.ts';
import { quantityOfPart } from '../pricing/bundles.ts';
import { partsOfLine, quantityInBundle, shownLines } from '../pricing/shown-lines.ts';
import { priceOfQuantity } from '../pricing/quantity.ts';
import { allocate, divideRounded } from '../kernel/money.ts';
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
  const lines = content.lines.filter(
    ({ lineItemId, bundleId }) => lineItemId !== removed && (!bundleId || bundleId !== removed),
  );
  if (added) lines.push(inTermsOfOrder(added, content));
  const shipping = edits.shipping ?? content.shipping;
  const payment = edits.payment ?? content.payment;
  const terms = { ...content, lines };
  const taxClasses = taxClassesOf(terms);
  const facts: CartInput = {
    currency: content.currency,
    taxType: content.taxType,
    country: null,
    postcode: null,
    vatNumber: null,
    customerGroupId: null,
    lines: lines.map((line) => lineFacts(line, content, changeOf(line, content, changed))),
    coupon: couponOf(content),
    ...(content.promotions && { promotions: agreedPromotions(content.promotions, shownLines(terms)) }),
    ...(hasPromotionCode(content) && { promotionProblems: [] }),
    shipping: { methodId: shipping?.shippingMethodId ?? null, price: shipping?.price ?? null },
    payment: { methodId: null, price: payment?.price ?? 0 },
    ...(content.appTaxes && { serviceTaxes: { payment: content.appTaxes.paymentTaxClass } }),
  };
  const taxOf: TaxOf = (taxClass) => {
    const agreed = taxClasses.get(taxClass.taxClassId)!;
    return { taxClass, ...ratesOfClass(agreed), treatment: agreed.treatment };
  };
  const totals = agreedTotals(facts, rulesOf(terms, taxClasses, shipping?.shippingMethodId), taxOf);
  const taxed = ({ taxClass, amount, tax }: ServiceTax) => {
    const { priceRate: _priceRate, ...named } = taxClasses.get(taxClass.taxClassId)!;
    return { taxClass: named, amount, tax };
  };
  // A discount for the payment has shares of the rates of everything; the tax of a surcharge is the app's.
  const paymentTaxed = (tax: ServiceTax) => {
    const { priceRate: _priceRate, ...given } = content.appTaxes!.paymentTaxClass;
    return totals.payment!.price < 0 ? taxed(tax) : { taxClass: given, amount: tax.amount, tax: tax.tax };
  };
  const { expectedDelivery, bundles: former, ...agreed } = content;
  const bundles = former?.filter(({ lineItemId }) => lines.some(({ bundleId }) => bundleId === lineItemId));
  // The promised days were those of the former method.
  const isSameMethod = shipping?.shippingMethodId === content.shipping?.shippingMethodId;
  return {
    ...agreed,
    ...(expectedDelivery && isSameMethod && { expectedDelivery }),
    ...(bundles?.length && { bundles }),
    lines: lines.map((line, index) => {
      const {
        taxClass: _class,
        taxRate: _rate,
        priceRate: _priceRate,
        treatment: _treatment,
        shopQuantityPrice,
        ...amounts
      } = totals.lines[index]!;
      const shopPrices = line.shopPrices && { ...line.shopPrices, quantityPrice: shopQuantityPrice };
      const { priceAppId, ...agreedLine } = line;
      const isPricedByHand = changeOf(line, content, changed)?.price !== undefined;
      return {
        ...agreedLine,
        ...(priceAppId !== undefined && !isPricedByHand && { priceAppId }),
        quantity: facts.lines[index]!.quantity,
        ...amounts,
        ...(shopPrices && { shopPrices }),
      };
    }),
    subTotal: totals.subTotal,
    basketDiscount: totals.basketDiscount,
    ...(content.promotions && { promotions: revisedPromotions(content.promotions, totals.promotions) }),
    coupon: content.coupon && {
      ...content.coupon,
      ...(totals.coupon && { amount: totals.coupon.amount, problems: [...totals.coupon.problems] }),
    },
    serviceTaxClass: taxClasses.get(totals.serviceTax.taxClass.taxClassId)!,
    shippingPrice: totals.shipping?.price ?? 0,
    shipping: shipping && {
      ...shipping,
      price: totals.shipping?.price ?? 0,
      taxes: totals.shipping?.taxes.map(taxed) ?? [],
    },
    payment: payment && {
      ...payment,
      price: totals.payment?.price ?? 0,
      taxes: totals.payment?.taxes.map(content.appTaxes ? paymentTaxed : taxed) ?? [],
    },
    taxes: totals.taxes.map(({ treatment, ...tax }) => ({ ...tax, ...(treatment && { treatment }) })),
    totalTax: totals.totalTax,
    totalBeforeTax: totals.totalBeforeTax,
    grandTotal: totals.grandTotal,
  };
}

/**
 * A coupon for free delivery has left a price of 0, and applies as long as there would be one to waive. When it no
 * longer applies, the delivery stays free, as agreed.
 */
function agreedTotals(facts: CartInput, rules: ShopRules, taxOf: TaxOf): CartTotals {
  const { coupon, shipping } = facts;
  const waives = coupon !== null && (coupon.waivesShipping || coupon.kind === 'SHIPPING');
  if (!waives || shipping.price !== 0) return cartTotals(facts, rules, taxOf);
  const waived = cartTotals({ ...facts, shipping: { ...shipping, price: 1 } }, rules, taxOf);
  return waived.coupon!.problems.length === 0 ? waived : cartTotals(facts, rules, taxOf);
}

/** One country is enough: in it every class has its one agreed rate. */
const COUNTRY = 'ZZ';

/** By class and its tax, because a line that is added later may be taxed in another way with the same class. */
const keyOf = ({ taxClassId, rate, priceRate = rate, treatment, isUndelivered }: ContentTaxClass) =>
  `${taxClassId} ${rate} ${priceRate} ${treatment} ${isUndelivered}`;

function taxClassesOf({ lines, serviceTaxClass }: Content): Map<string, ContentTaxClass> {
  const classes = [serviceTaxClass, ...lines.map(({ taxClass }) => taxClass)];
  return new Map(classes.toReversed().map((one) => [keyOf(one), one]));
}

/** The change of a line; that of a bundle changes all of its parts. */
function changeOf(
  line: ContentLine,
  content: Content,
  changed: Edits['changed'],
): Pick<NonNullable<Edits['changed']>, 'quantity' | 'price'> | undefined {
  if (!changed) return undefined;
  if (changed.lineItemId === line.lineItemId) return changed;
  const bundle = content.bundles?.find(({ lineItemId }) => lineItemId === line.bundleId);
  if (!bundle || changed.lineItemId !== bundle.lineItemId) return undefined;
  const { quantity, price } = changed;
  const parts = partsOfLine(content, bundle.lineItemId);
  const agreed = parts.map(({ quantityPrice }) => quantityPrice);
  const shareOf = (whole: number) =>
    allocate(whole, sum(agreed) > 0 ? agreed : agreed.map(() => 1))[parts.indexOf(line)]!;
  return {
    ...(quantity !== undefined && { quantity: quantityOfPart(quantity, quantityInBundle(line, bundle)) }),
    ...(price !== undefined && {
      price: shareOf(priceOfQuantity(price, bundle.orderUnit.priceQuantity, 1)),
    }),
  };
}

function lineFacts(
  line: ContentLine,
  content: Content,
  change: Pick<NonNullable<Edits['changed']>, 'quantity' | 'price'> | undefined,
): LineInput {
  const { currency } = content;
  const bundle = content.bundles?.find(({ lineItemId }) => lineItemId === line.bundleId);
  const quantity = change?.quantity ?? line.quantity;
  return {
    quantity,
    price: change?.price ?? (isPricedByUnit(line) ? (bundle ? line.quantityPrice : line.unitPrice) : null),
    ...(bundle && {
      priceUnits: line.orderUnit.priceQuantity,
      bundle: {
        lineItemId: bundle.lineItemId,
        quantity: quantityOfPart(quantity, 1 / quantityInBundle(line, bundle)),
        product: bundle,
      },
    }),
    product: {
      productId: line.productId,
      masterId: line.masterId,
      prices: { [currency]: line.shopPrices?.quantityPrice ?? line.quantityPrice },
      taxClassId: keyOf(line.taxClass),
      orderUnit: line.orderUnit,
      ...(line.giftCard && { giftCard: { minimum: {}, maximum: {} } }),
      depositPrices: { [currency]: (line.shopPrices ?? line).unitDeposit },
      ecoParticipationPrices: { [currency]: (line.shopPrices ?? line).unitEcoParticipation },
    },
  };
}

/** The shop may have changed its tax model since the order was placed: the line follows the order. */
function inTermsOfOrder({ shopPrices, ...added }: ContentLine, content: Content): ContentLine {
  const { taxType, shopTaxModel, serviceTaxClass } = content;
  const { treatment, priceRate, ...taxClass } = added.taxClass;
  // An order from before treatments were stored has none for its new lines either: they follow from its address.
  const isTreated = treatment !== undefined && serviceTaxClass.treatment !== undefined;
  const line: ContentLine = { ...added, taxClass: { ...taxClass, ...(isTreated && { treatment }) } };
  // The prices of such an order are those that it shows.
  if (shopTaxModel === undefined) return line;
  if (priceRate !== undefined) line.taxClass = { ...line.taxClass, priceRate };
  const rates = ratesOfClass(line.taxClass);
  const inShopModel = (minor: number) => toShopPrice(minor, rates, taxType, shopTaxModel);
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
export function isPricedByUnit(line: ContentLine): boolean {
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
  if (!coupon?.terms || coupon.codeKey === null) return null;
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

const hasPromotionCode = ({ coupon }: Content) => coupon !== null && !coupon.terms && coupon.codeKey !== null;

function rulesOf(
  { currency, taxType, shopTaxModel, serviceTaxClass, deliveryTax, offers }: Content,
  taxClasses: ReadonlyMap<string, ContentTaxClass>,
  shippingMethodId: string | undefined,
): ShopRules {
  return {
    country: COUNTRY,
    taxModel: shopTaxModel ?? (taxType === 'NET' ? 'NET' : 'GROSS'),
    taxFreeOutsideEu: false,
    exportPrices: 'asShown',
    smallBusiness: false,
    distanceSales: 'rates',
    taxRegistrations: {},
    specialTerritories: false,
    deliveryTax: deliveryTax ?? 'standard',
    taxClasses: [...taxClasses].map(([key, { name, rate, isUndelivered }]) => ({
      taxClassId: key,
      key,
      name,
      isDefault: key === keyOf(serviceTaxClass),
      isDefaultDigital: false,
      // Whether something is shipped was decided when the method was chosen.
      digital: false,
      supply: isUndelivered ? 'services' : 'goods',
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
    zones: [],
    place: {},
    hours: {},
  };
}

/**
 * The cost of an order's delivery by the method's rules of today, in the terms of the order; undefined: the method does
 * not deliver there.
 */
export function deliveryPriceToday(
  content: Content,
  method: ShippingMethod,
  destination: Destination,
  settings: Settings,
): number | undefined {
  const { currency, lines } = content;
  const shipped = lines.map((line) => shippedLine(line, currency));
  // Limits are in the tax model of the shop.
  const value = valueInShop(content, settings);
  const price = deliveryPrice(method, { currency, lines: shipped, ...destination }, value, settings);
  const delivered = deliveredLines(lines, ({ taxClass }) => !taxClass.isUndelivered);
  return price === undefined
    ? undefined
    : servicePrice(price, { ...content, lines: [...delivered] }, settings);
}

function shippedLine(
  { quantity, productId, masterId, weight, taxClass, unitShippingSurcharge }: ContentLine,
  currency: string,
): LineInput {
  return {
    quantity,
    price: null,
    product: {
      productId,
      masterId,
      prices: null,
      taxClassId: taxClass.taxClassId,
      ...(weight && { deliveryWeight: weight }),
      ...(unitShippingSurcharge !== undefined && {
        shippingSurcharge: { [currency]: unitShippingSurcharge },
      }),
    },
  };
}

/** The same for the payment. */
export function paymentPriceToday(content: Content, method: PaymentMethod, settings: Settings): number {
  const amount = inCurrency(method.amount, content.currency, settings);
  return servicePrice(amount, content, settings, content.appTaxes?.paymentTaxClass);
}

/** A price in the terms of the order, with the tax that was agreed for the delivery or payment of these lines. */
function servicePrice(
  price: number,
  content: Content,
  settings: Settings,
  taxClass: ContentTaxClass = content.serviceTaxClass,
): number {
  const { taxType, deliveryTax, lines } = content;
  if (deliveryTax === 'shares' && valueInShop(content, settings) > 0) {
    const { shown, ofShop } = exactWeights(shopAmounts(content, settings), settings.taxModel, taxType);
    return Number(divideRounded(BigInt(price) * shown, ofShop));
  }
  const [highest] =
    deliveryTax === 'highest'
      ? lines
          .map(({ taxClass }) => ratesOfClass(taxClass))
          .toSorted((left, right) => right.priceRate - left.priceRate || right.taxRate - left.taxRate)
      : [];
  return toShownPrice(price, highest ?? ratesOfClass(taxClass), settings.taxModel, taxType);
}

function valueInShop(content: Content, settings: Settings): number {
  return sum(shopAmounts(content, settings).map(({ shopAmount }) => shopAmount));
}

function shopAmounts({ lines, taxType }: Content, { taxModel }: Settings) {
  return lines.map(({ amount, taxClass }) => {
    const rates = ratesOfClass(taxClass);
    return { ...rates, shopAmount: toShopPrice(amount, rates, taxType, taxModel) };
  });
}
