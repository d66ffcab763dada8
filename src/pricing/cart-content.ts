import type { Localised } from '../http/locale.ts';
import { headlineTexts, withdrawalExclusion } from '../catalogue/products/custom-text.ts';
import { inCurrency, priceIn, pricedTiers } from '../catalogue/products/prices.ts';
import { ORDER_UNIT } from '../catalogue/products/orderable.ts';
import { selectionOf } from '../catalogue/products/render.ts';
import type { Settings } from '../shops/settings/settings.ts';
import type {
  CartCoupon,
  CartInput,
  CouponInput,
  DeliveryOption,
  LineInput,
  CartSelection,
  StoredLine,
} from './input.ts';
import type { CartProduct } from './cart-product.ts';
import {
  deliveryQuestion,
  optionInput,
  questionDigest,
  type ContentDeliveryOption,
  type DeliveryQuestion,
} from './delivery-option.ts';
import { toShownPrice, type AppliedTax } from './tax.ts';
import { isGoodsClass, type ServiceTax } from './service-tax.ts';
import { cartTotals, type CartTotals, type LineTotals } from './totals.ts';
import type { Destination } from './zones.ts';
import {
  type Content,
  type CouponTerms,
  type ContentLine,
  type ShopPrices,
  type ContentTaxClass,
  type ContentTax,
  contentMethod,
  named,
} from './content.ts';

/** The sellable lines of a cart, and their totals. */
export interface PricedContent {
  content: Content;
  totals: CartTotals;
  products: readonly CartProduct[];
}

export function contentOf(cart: CartSelection, settings: Settings, now: Date): PricedContent {
  const lines = knownLines(cart, settings);
  const option = chosenOption(cart);
  const facts = inputOf(cart, lines, now);
  let totals = cartTotals(facts, settings);
  if (option && questionDigest(deliveryQuestion(facts, lines, totals, settings)) !== option.questionDigest) {
    const shipping = { ...facts.shipping, option: { ...facts.shipping.option!, isOutdated: true } };
    totals = cartTotals({ ...facts, shipping }, settings);
  }
  const isOther = isInOtherTerms(cart, totals, settings);
  const content: Content = {
    currency: cart.currency,
    taxType: cart.taxType,
    lines: lines.map((line, index) => contentLine(line, totals.lines[index]!, isOther, cart, settings)),
    subTotal: totals.subTotal,
    basketDiscount: totals.basketDiscount,
    coupon: totals.coupon && {
      couponLineItemId: cart.couponLineItemId!,
      couponCampaignId: cart.coupon!.campaignId,
      codeKey: totals.coupon.problems.length === 0 ? cart.coupon!.codeKey : null,
      terms: couponTerms(cart.coupon!, cart.currency, settings),
      amount: totals.coupon.amount,
      problems: [...totals.coupon.problems],
    },
    shippingPrice: totals.shipping?.price ?? 0,
    shipping: totals.shipping && {
      ...contentDelivery(totals.shipping.method, settings),
      price: totals.shipping.price,
      taxes: contentTaxes(totals.shipping.taxes, settings),
      ...(option && totals.delivery.isChosen && { option: contentOption(option) }),
    },
    payment: totals.payment && {
      method: totals.payment.method && contentMethod(totals.payment.method, settings),
      name: cart.paymentName,
      transactionId: cart.paymentTransactionId,
      status: cart.paymentStatus,
      price: totals.payment.price,
      taxes: contentTaxes(totals.payment.taxes, settings),
    },
    serviceTaxClass: contentTaxClass(totals.serviceTax, settings),
    offers: [...totals.offers],
    taxes: totals.taxes.map(({ treatment, ...tax }) => ({ ...tax, ...(treatment && { treatment }) })),
    totalTax: totals.totalTax,
    totalBeforeTax: totals.totalBeforeTax,
    grandTotal: totals.grandTotal,
    // Last, because fields that follow a spread in a literal are slow.
    ...(isOther && { shopTaxModel: settings.taxModel }),
    ...(settings.deliveryTax !== 'standard' && { deliveryTax: settings.deliveryTax }),
  };
  return { content, totals, products: lines.map(({ product }) => product) };
}

/**
 * What apps are asked about the delivery of this cart: as it would be with an option of an app, because the shown prices
 * of goods that are collected may differ. undefined: nothing is shipped, or it is not known where to.
 */
export function deliveryQuestionOf(
  cart: CartSelection,
  settings: Settings,
  now: Date,
): DeliveryQuestion | undefined {
  const lines = knownLines(cart, settings);
  const selection = { ...cart, shippingMethodId: ANY_OPTION.shippingMethodId, deliveryOption: ANY_OPTION };
  const facts = inputOf(selection, lines, now);
  const totals = cartTotals(facts, settings);
  if (!totals.delivery.isNeeded || facts.country === null) return undefined;
  return deliveryQuestion(facts, lines, totals, settings);
}

const ANY_OPTION: DeliveryOption = {
  shippingMethodId: '00000000-0000-8000-8000-000000000000',
  appId: '',
  optionId: '',
  name: {},
  price: 0,
  fixedPrice: null,
  days: null,
  questionDigest: '',
};

/** What an app has answered for the chosen method; null: it is a method of the shop. */
function chosenOption({ deliveryOption, shippingMethodId }: CartSelection): DeliveryOption | null {
  return deliveryOption && deliveryOption.shippingMethodId === shippingMethodId ? deliveryOption : null;
}

function inputOf(cart: CartSelection, lines: CartInput['lines'], now: Date): CartInput {
  const { country, postcode } = destinationOf(cart);
  const option = chosenOption(cart);
  return {
    currency: cart.currency,
    taxType: cart.taxType,
    country,
    postcode,
    vatNumber: confirmedVatNumber(cart.buyer),
    customerGroupId: cart.customerGroupId,
    lines,
    coupon: cart.couponLineItemId === null || !cart.coupon ? null : couponFacts(cart.coupon, now),
    shipping: {
      methodId: cart.shippingMethodId,
      price: cart.shippingPrice ?? option?.price ?? null,
      ...(option && { option: optionInput(option) }),
    },
    payment: { methodId: cart.paymentMethodId, price: cart.paymentPrice },
  };
}

/**
 * A product that was deleted, or has lost its price, cannot be sold: its line is left out. In a currency that the shop
 * has given up, no product can be sold.
 */
function knownLines(
  cart: CartSelection,
  settings: Settings,
): (LineInput & { product: CartProduct; line: StoredLine })[] {
  if (!settings.currencies.includes(cart.currency)) return [];
  const byId = new Map(cart.products.map((product) => [product.productId, product]));
  return cart.lines.flatMap((line) => {
    const product = byId.get(line.productId);
    if (!product) return [];
    const hasPrice = line.price !== undefined || priceIn(product.prices, cart.currency, settings) !== null;
    if (!hasPrice) return [];
    const { quantity, price = null, customText } = line;
    return [{ line, quantity, price, hasCustomText: customText !== undefined, product }];
  });
}

function contentOption({ appId, optionId, days, fixedPrice }: DeliveryOption): ContentDeliveryOption {
  return { appId, optionId, days, isFixedPrice: fixedPrice !== null };
}

/** The destination of the goods: the delivery address, else the billing address. */
export function destinationOf({
  shippingAddress,
  billingAddress,
}: Pick<CartSelection, 'shippingAddress' | 'billingAddress'>): Destination {
  const address = shippingAddress ?? billingAddress;
  return { country: address?.country ?? null, postcode: address?.zipCode ?? null };
}

/** A number that was not confirmed counts as none: then tax is charged. */
function confirmedVatNumber(buyer: CartSelection['buyer']): string | null {
  return buyer?.vatCheck?.result === 'valid' ? buyer.vatCheck.vatNumber : null;
}

function couponFacts(coupon: CartCoupon, now: Date): CouponInput {
  const isFull = (used: number, limit: number | null) => limit !== null && used >= limit;
  return {
    ...coupon,
    isWithdrawn: coupon.withdrawnAt !== null,
    isUsedUp:
      isFull(coupon.used, coupon.usageLimit) || isFull(coupon.campaignUsed, coupon.campaignUsageLimit),
    isInTime:
      !(coupon.validFrom && new Date(coupon.validFrom) > now) &&
      !(coupon.validTo && new Date(coupon.validTo) <= now),
  };
}

function couponTerms(coupon: CartCoupon, currency: string, settings: Settings): CouponTerms {
  const { kind, amount, minimumOrderValue, waivesShipping, productIds } = coupon;
  const converted = (minor: number | null) => minor && inCurrency(minor, currency, settings, coupon.currency);
  return {
    kind,
    amount: kind === 'FIX' ? converted(amount) : amount,
    minimumOrderValue: converted(minimumOrderValue),
    waivesShipping,
    productIds,
  };
}

function contentLine(
  { line, product }: { line: StoredLine; product: CartProduct },
  totals: LineTotals,
  isOther: boolean,
  cart: CartSelection,
  settings: Settings,
): ContentLine {
  const { currency, taxType } = cart;
  const { facts, master } = product;
  const shopPrices: ShopPrices = {
    quantityPrice: totals.shopQuantityPrice,
    unitDeposit: priceIn(product.depositPrices, currency, settings) ?? 0,
    unitEcoParticipation: priceIn(product.ecoParticipationPrices, currency, settings) ?? 0,
  };
  const withdrawalExcluded = withdrawalExclusion(
    facts.withdrawalExcluded,
    product.customisation,
    line.customText,
  );
  const surcharge = priceIn(product.shippingSurcharge, currency, settings) ?? 0;
  const inTerms = (minor: number) => toShownPrice(minor, totals, settings.taxModel, taxType);
  return {
    lineItemId: line.lineItemId,
    productId: line.productId,
    masterId: product.masterId,
    productNumber: product.productNumber,
    name: facts.name ?? { [settings.defaultLocale]: master?.productNumber ?? product.productNumber },
    variation: variationOf(product, settings),
    essentialFeatures: facts.essentialFeatures ?? null,
    quantity: line.quantity,
    orderUnit: facts.orderUnit ?? ORDER_UNIT,
    unitPrice: totals.unitPrice,
    quantityPrice: totals.quantityPrice,
    amount: totals.amount,
    ...(isOther && { shopPrices }),
    unitDeposit: inTerms(shopPrices.unitDeposit),
    unitEcoParticipation: inTerms(shopPrices.unitEcoParticipation),
    deposit: totals.deposit,
    ecoParticipation: totals.ecoParticipation,
    discountShare: totals.discountShare,
    couponShare: totals.couponShare,
    taxClass: contentTaxClass(totals, settings),
    weight: facts.deliveryWeight ?? null,
    ...(surcharge > 0 && { unitShippingSurcharge: surcharge }),
    tiers: pricedTiers(facts.bulkPrices ?? [], currency, settings).map((tier) => ({
      ...tier,
      price: inTerms(tier.price),
      regularPrice: inTerms(tier.regularPrice),
    })),
    reference: facts.reference ?? null,
    image: product.image,
    energyLabel: facts.energyLabel ?? null,
    dataSheet: facts.dataSheet?.url ?? null,
    ...(line.customText !== undefined && typedFor(line.customText, product, settings)),
    ...(withdrawalExcluded && { withdrawalExcluded }),
    ...(facts.durabilityGuarantee && { durabilityGuarantee: facts.durabilityGuarantee }),
    ...(facts.hsCode !== undefined && { hsCode: facts.hsCode }),
    ...(facts.originCountry !== undefined && { originCountry: facts.originCountry }),
  };
}

function typedFor(
  customText: string,
  { customisation }: CartProduct,
  { defaultLocale }: Settings,
): Pick<ContentLine, 'customText' | 'customTextHeadline'> {
  const headlines = customisation ? headlineTexts(customisation, defaultLocale) : {};
  return { customText, ...(Object.keys(headlines).length > 0 && { customTextHeadline: headlines }) };
}

/** Whether the amounts of a cart differ from the shop's prices. */
function isInOtherTerms(
  { taxType }: Pick<CartSelection, 'taxType'>,
  { lines, serviceTax }: CartTotals,
  { taxModel }: Settings,
): boolean {
  if (taxType === 'NONE') return false;
  const isTakenOff = [serviceTax, ...lines].some(({ taxRate, priceRate }) => taxRate !== priceRate);
  return taxType !== taxModel || (isTakenOff && taxModel === 'GROSS');
}

/** `Colour: blue, Size: small`, in each language of the shop. */
function variationOf(product: CartProduct, settings: Settings): Localised | null {
  if (!product.selection) return null;
  return Object.fromEntries(
    settings.locales.map((locale) => [
      locale,
      selectionOf(product, settings, locale)!
        .map(({ displayName, displayValue }) => `${displayName}: ${displayValue}`)
        .join(', '),
    ]),
  );
}

function contentTaxes(taxes: readonly ServiceTax[], settings: Settings): ContentTax[] {
  return taxes.map(({ taxClass, rate, treatment, amount, tax }) => ({
    taxClass: contentTaxClass({ taxClass, taxRate: rate, priceRate: rate, treatment }, settings),
    amount,
    tax,
  }));
}

function contentTaxClass(tax: AppliedTax, settings: Settings): ContentTaxClass {
  const { taxClass, taxRate, priceRate, treatment } = tax;
  return {
    taxClassId: taxClass.taxClassId,
    name: named(taxClass, settings),
    rate: taxRate,
    ...(treatment && { treatment }),
    ...(priceRate !== taxRate && { priceRate }),
    ...(!isGoodsClass(taxClass) && { isUndelivered: true }),
  };
}
