import { toSeconds } from '../http/dates.ts';
import { storefrontUrl } from '../http/links.ts';
import type { Localised } from '../http/locale.ts';
import { priceOf, type Price, type TaxType } from '../http/price.ts';
import type { Link } from '../http/schemas.ts';
import { imagesOf, SHOWN_IN_LINES } from '../media/images.ts';
import { absolute, anyText, tierPrice } from '../products/render.ts';
import { unitNames, unitSign } from '../products/units.ts';
import type { Settings } from '../shop/settings.ts';
import type { Content, ContentLine, ContentTax, ContentTaxClass, PricedContent } from './content.ts';
import { pickupToken } from './pickup-token.ts';
import { LIFETIME, type StoredCart } from './queries.ts';
import type { Cart, LineItemContainer, PaymentData, ShippingData } from './schema.ts';
import { wordsIn } from './words.ts';

/** How a cart or an order is looked at. */
export interface Look {
  locale: string;
  origin: string;
  settings: Settings;
}

export interface CartTextOptions {
  status?: Cart['status'];
  /**
   * With the token that opens the cart in the shop, and so lets read and change it: only for callers who have shown
   * the token of the cart, and for the app that made it.
   */
  hasPickup: boolean;
}

/** The answer's text, key by key as in `Cart`: the addresses are JSON already. */
export function cartText(
  cart: StoredCart,
  { content, totals }: PricedContent,
  look: Look,
  { status, hasPickup }: CartTextOptions,
): string {
  const { locale, settings } = look;
  const token = hasPickup ? pickupToken(cart, new Date(cart.changedAt.getTime() + LIFETIME)) : '';
  const pickup = hasPickup ? `?cart=${cart.cartId}&PickupToken=${encodeURIComponent(token)}` : '';
  const storefront = storefrontUrl(look.origin, settings);
  // Limits are compared in the shop's tax model, so that is what they are said in.
  const { currency, taxType, shopTaxModel = taxType } = content;
  const price = (minor: number) => priceOf(minor, currency, shopTaxModel, locale);
  const rest: Omit<Cart, 'cartId' | 'billingAddress' | 'shippingAddress'> = {
    lineItemContainer: lineItemContainer(content, look),
    shippingData: shippingData(content, look),
    paymentData: paymentData(content, look),
    minimumCart: {
      status: totals.minimum.isReached,
      code: settings.minimumCartCode,
      amount: totals.minimum.amount === null ? null : price(totals.minimum.amount),
    },
    pickupToken: token,
    creationDate: toSeconds(cart.createdAt),
    checkoutUrl: `${storefront}/checkout${pickup}`,
    registerSessionUrl: `${storefront}/cart${pickup}`,
    ...(status === undefined ? {} : { status }),
    cartValidation: {
      possibleShippingMethods: totals.delivery.possible.map(
        (method) => anyText(method.name, locale, settings.defaultLocale) ?? method.key,
      ),
    },
    potentialBasketDiscounts: totals.offers.map(({ minimumAmount, absolute: amount, percent }) => ({
      absolute: amount === undefined ? null : price(amount),
      minimumAmount: price(minimumAmount),
      percent: percent === undefined ? null : { percentage: percent / 100, formatted: `${percent / 100} %` },
    })),
    links: cartLinks(cart, content, look),
  };
  return (
    `{"cartId":"${cart.cartId}","billingAddress":${cart.billingAddress},` +
    `"shippingAddress":${cart.shippingAddress},${JSON.stringify(rest).slice(1)}`
  );
}

function cartLinks({ cartId }: StoredCart, { shipping, coupon }: Content, look: Look): Link[] {
  const base = apiOf(look);
  const self = `${base}/carts/${cartId}`;
  return [
    { rel: 'self', href: self },
    ...shippingLink(shipping, base),
    coupon
      ? { rel: 'remove-coupon', href: `${self}/coupon/${coupon.couponLineItemId}` }
      : { rel: 'add-coupon', href: `${self}/coupon` },
  ];
}

export function shippingLink(shipping: Content['shipping'], base: string): Link[] {
  if (!shipping) return [];
  return [{ rel: 'shipping-method', href: `${base}/shipping-methods/${shipping.shippingMethodId}` }];
}

export function apiOf({ origin, settings }: Pick<Look, 'origin' | 'settings'>): string {
  return `${origin}/rs/shops/${settings.shopId}`;
}

/** What a cart and an order hold, with their totals. */
export function lineItemContainer(content: Content, look: Look): LineItemContainer {
  const { locale } = look;
  const { currency, taxType, coupon } = content;
  const priceAs = (type: TaxType) => (minor: number) => priceOf(minor, currency, type, locale);
  const price = priceAs(taxType);
  const words = wordsIn(locale);
  const labelled = (word: string, line: ContentLine) => `${word}: ${textOf(line.name, look)}`;
  return {
    grandTotal: priceAs('GROSS')(content.grandTotal),
    totalBeforeTax: priceAs('NET')(content.totalBeforeTax),
    totalTax: priceAs('NONE')(content.totalTax),
    lineItemsSubTotal: price(content.subTotal),
    productLineItems: content.lines.map((line) => productLineItem(line, content, look, price)),
    couponLineItem: coupon && {
      couponLineItemId: coupon.couponLineItemId,
      couponCampaignId: coupon.couponCampaignId,
      lineItemPrice: priceAs('NONE')(coupon.amount),
      validationErrors: coupon.problems,
    },
    shippingPrice: price(content.shippingPrice),
    deposits: content.lines
      .filter(({ deposit }) => deposit !== 0)
      .map((line) => ({
        name: labelled(words.deposit, line),
        lineItemPrice: price(line.deposit),
        lineItemProductGuid: line.lineItemId,
      })),
    ecoParticipations: content.lines
      .filter(({ ecoParticipation }) => ecoParticipation !== 0)
      .map((line) => ({
        name: labelled(words.ecoParticipation, line),
        lineItemPrice: price(line.ecoParticipation),
      })),
    shippingOptions: [],
    basketDiscount: {
      ...(content.basketDiscount === 0
        ? {}
        : { name: words.basketDiscount, lineItemPrice: price(content.basketDiscount) }),
      links: [],
    },
  };
}

function productLineItem(
  line: ContentLine,
  { currency, taxType, coupon }: Content,
  look: Look,
  price: (minor: number) => Price,
): LineItemContainer['productLineItems'][number] {
  const { locale, origin, settings } = look;
  const { orderUnit, image, energyLabel } = line;
  const sign = unitSign(orderUnit.unit, locale, settings);
  const names = unitNames(orderUnit.unit, locale, settings);
  const quantity = Number(line.quantity);
  const tierFacts = { orderUnit, ...(line.reference && { reference: line.reference }) };
  return {
    lineItemId: line.lineItemId,
    sku: line.productNumber,
    name: textOf(line.name, look),
    productId: line.productId,
    quantity: { amount: quantity, unit: sign },
    lineItemPrice: price(line.amount),
    singleItemPrice: price(line.unitPrice),
    lineItemCouponDiscount: coupon ? price(line.couponShare) : null,
    images: image
      ? imagesOf(origin, settings.shopId, image.imageKey, image.sizes, {
          isZoomEnabled: true,
          order: SHOWN_IN_LINES,
        })
      : [],
    additionalInformation: {
      bulkPriceInfo: line.tiers.map((tier) =>
        tierPrice(tier, tierFacts, settings, { locale, currency, taxType }),
      ),
    },
    links: [
      { rel: 'product', href: `${apiOf(look)}/products/${line.productId}` },
      { rel: 'taxClass', href: `${apiOf(look)}/tax-classes/${line.taxClass.taxClassId}` },
    ],
    intervalOrder: String(orderUnit.interval),
    minOrder: String(orderUnit.minimum),
    orderUnitShort: names.orderShort ?? sign,
    orderUnit: names.long,
    priceQuantity: String(orderUnit.priceQuantity),
    quantityPrice: price(line.quantityPrice),
    variationString: line.variation && textOf(line.variation, look),
    essentialFeatures: line.essentialFeatures && textOf(line.essentialFeatures, look),
    taxClass: taxClassInfo(line.taxClass, look),
    deliveryWeight: line.weight
      ? {
          amount: Number((line.weight.amount * quantity).toFixed(6)),
          unit: unitSign(line.weight.unit, locale, settings),
        }
      : null,
    energyLabelsString: energyLabel?.classes ?? null,
    energyLabelsMaxEfficiencyString: energyLabel?.best ?? null,
    energyLabelSourceFile: absolute(energyLabel?.file, origin),
    productDataSheetSourceFile: absolute(line.dataSheet ?? undefined, origin),
    isInWishlist: false,
  };
}

export function shippingData(
  { shipping, currency, taxType }: Pick<Content, 'shipping' | 'currency' | 'taxType'>,
  look: Look,
): ShippingData | null {
  if (!shipping) return null;
  return {
    shippingMethod: { id: shipping.shippingMethodId, name: textOf(shipping.name, look) },
    price: priceOf(shipping.price, currency, taxType, look.locale),
    taxes: taxInfos(shipping.taxes, currency, look),
  };
}

/** The name of a payment that was set by hand is for the merchant, and not shown here. */
export function paymentData(
  { payment, currency, taxType }: Pick<Content, 'payment' | 'currency' | 'taxType'>,
  look: Look,
): PaymentData | null {
  if (!payment) return null;
  const { method, price } = payment;
  return {
    paymentMethod: method && {
      id: method.paymentMethodId,
      name: textOf(method.name, look),
      providerName: method.providerName,
      additionalData: method.additionalData,
    },
    transactionId: payment.transactionId,
    price: priceOf(price, currency, taxType, look.locale),
    status: payment.status,
    taxes: method && price !== 0 ? taxInfos(payment.taxes, currency, look) : null,
  };
}

function taxInfos(taxes: readonly ContentTax[], currency: string, look: Look) {
  return taxes.map(({ taxClass, tax }) => ({
    taxClass: taxClassInfo(taxClass, look),
    price: priceOf(tax, currency, 'NONE', look.locale),
  }));
}

function taxClassInfo({ taxClassId, name, rate }: ContentTaxClass, look: Look) {
  return { taxClassId, name: textOf(name, look), percentage: rate / 100 };
}

function textOf(texts: Localised, { locale, settings }: Look): string {
  return anyText(texts, locale, settings.defaultLocale) ?? '';
}
