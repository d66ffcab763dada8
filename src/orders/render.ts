import { toMilliseconds } from '../http/dates.ts';
import type { Link } from '../http/schemas.ts';
import { toDecimal } from '../kernel/money.ts';
import type { ListedOrder, OrderRow } from './queries.ts';
import { type Order, STATES, type State } from './schema.ts';
import { absolute, anyText, tierPrice } from '../catalogue/products/render.ts';
import { unitNames, unitSign } from '../catalogue/products/units.ts';
import type { ShownField } from '../fields/value.ts';
import type { Localised } from '../http/locale.ts';
import { type Price, type TaxType, priceOf } from '../http/price.ts';
import { messagesIn } from '../kernel/messages.ts';
import { SHOWN_IN_LINES, imagesOf } from '../platform/media/images.ts';
import type { Content, ContentLine, ContentTax, ContentTaxClass } from '../pricing/content.ts';
import { shownLines } from '../pricing/shown-lines.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { providerLabel } from './payments/providers.ts';
import type { LineItemContainer, PaymentData, ShippingData } from './line-item-schema.ts';

export function toOrder(order: OrderRow, context: RenderContext): Order {
  return {
    ...withoutLines(order, context),
    lineItemContainer: lineItemContainer(order.content, context),
    links: orderLinks(order, context),
  };
}

/** The order as lists show it unless the lines are requested. */
export function toListedOrder(order: ListedOrder, context: RenderContext): Omit<Order, 'lineItemContainer'> {
  return { ...withoutLines(order, context), links: orderLinks(order, context) };
}

/** The keys stand in the order of `Order`. */
function withoutLines(
  order: ListedOrder,
  context: RenderContext,
): Omit<Order, 'lineItemContainer' | 'links'> {
  const { content, currency } = order;
  const { viewedOn, ...states } = Object.fromEntries(
    STATES.map((state) => [state, moment(order[state])]),
  ) as Record<State, string | null>;
  return {
    orderId: order.orderId,
    orderNumber: order.orderNumber,
    creationDate: toMilliseconds(order.createdAt),
    customerId: order.customerId,
    customerNumber: order.customerNumber,
    locale: order.locale,
    currencyId: currency,
    taxModel: order.taxModel,
    grandTotal: String(toDecimal(content.grandTotal, currency)),
    totalBeforeTax: String(toDecimal(content.totalBeforeTax, currency)),
    totalTax: String(toDecimal(content.totalTax, currency)),
    customerComment: order.customerComment,
    internalNote: order.internalNote,
    billingAddress: order.billingAddress,
    shippingAddress: order.shippingAddress,
    shippingData: shippingData(content, context),
    paymentData: paymentData(content, context),
    viewedOn,
    lastUpdatedOnDate: moment(order.updatedAt),
    ...states,
  };
}

function orderLinks({ orderId, customerId, content }: ListedOrder, context: RenderContext): Link[] {
  const base = apiOf(context);
  return [
    { rel: 'self', href: `${base}/orders/${orderId}` },
    { rel: 'customer', href: `${base}/customers/${customerId}` },
    ...shippingLink(content.shipping, base),
  ];
}

const moment = (date: Date | null) => date && toMilliseconds(date);

/** The language and the address for showing a cart, an order or a document. */
export interface RenderContext {
  locale: string;
  origin: string;
  settings: Settings;
}

export function shippingLink(shipping: Content['shipping'], base: string): Link[] {
  // A method that an app offered is not one of the shop's.
  if (!shipping || shipping.option) return [];
  return [{ rel: 'shipping-method', href: `${base}/shipping-methods/${shipping.shippingMethodId}` }];
}

export function apiOf({ origin, settings }: Pick<RenderContext, 'origin' | 'settings'>): string {
  return `${origin}/rs/shops/${settings.shopId}`;
}

/** The content of a cart and an order, with their totals. */
export function lineItemContainer(content: Content, context: RenderContext): LineItemContainer {
  const { locale } = context;
  const { currency, taxType, coupon } = content;
  const priceAs = (type: TaxType) => (minor: number) => priceOf(minor, currency, type, locale);
  const price = priceAs(taxType);
  const messages = messagesIn(locale).lineItems;
  const labelled = (word: string, line: ContentLine) => `${word}: ${textOf(line.name, context)}`;
  return {
    grandTotal: priceAs('GROSS')(content.grandTotal),
    totalBeforeTax: priceAs('NET')(content.totalBeforeTax),
    totalTax: priceAs('NONE')(content.totalTax),
    lineItemsSubTotal: price(content.subTotal),
    productLineItems: shownLines(content).map((line) => productLineItem(line, content, context, price)),
    couponLineItem: coupon && {
      couponLineItemId: coupon.couponLineItemId,
      couponCampaignId: coupon.couponCampaignId,
      lineItemPrice: priceAs('NONE')(coupon.amount),
      validationErrors: coupon.problems,
    },
    shippingPrice: price(content.shippingPrice),
    deposits: shownLines(content)
      .filter(({ deposit }) => deposit !== 0)
      .map((line) => ({
        name: labelled(messages.deposit, line),
        lineItemPrice: price(line.deposit),
        lineItemProductGuid: line.lineItemId,
      })),
    ecoParticipations: shownLines(content)
      .filter(({ ecoParticipation }) => ecoParticipation !== 0)
      .map((line) => ({
        name: labelled(messages.ecoParticipation, line),
        lineItemPrice: price(line.ecoParticipation),
      })),
    shippingOptions: [],
    basketDiscount: {
      ...(content.basketDiscount === 0
        ? {}
        : { name: messages.basketDiscount, lineItemPrice: price(content.basketDiscount) }),
      links: [],
    },
  };
}

export function lineIdsOf(container: LineItemContainer | undefined): string[] {
  return container?.productLineItems.map(({ lineItemId }) => lineItemId) ?? [];
}

/** The lines with their custom fields. */
export function linesWithFields(
  container: LineItemContainer,
  fieldsOf: (lineItemId: string) => ShownField[],
): LineItemContainer {
  return {
    ...container,
    productLineItems: container.productLineItems.map((line) => ({
      ...line,
      fields: fieldsOf(line.lineItemId),
    })),
  };
}

function productLineItem(
  line: ContentLine,
  { currency, taxType, coupon }: Content,
  context: RenderContext,
  price: (minor: number) => Price,
): LineItemContainer['productLineItems'][number] {
  const { locale, origin, settings } = context;
  const { orderUnit, image, energyLabel } = line;
  const sign = unitSign(orderUnit.unit, locale, settings);
  const names = unitNames(orderUnit.unit, locale, settings);
  const quantity = Number(line.quantity);
  const tierFacts = { orderUnit, ...(line.reference && { reference: line.reference }) };
  return {
    lineItemId: line.lineItemId,
    sku: line.productNumber,
    name: textOf(line.name, context),
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
      { rel: 'product', href: `${apiOf(context)}/products/${line.productId}` },
      { rel: 'taxClass', href: `${apiOf(context)}/tax-classes/${line.taxClass.taxClassId}` },
    ],
    intervalOrder: String(orderUnit.interval),
    minOrder: String(orderUnit.minimum),
    orderUnitShort: names.orderShort ?? sign,
    orderUnit: names.long,
    priceQuantity: String(orderUnit.priceQuantity),
    quantityPrice: price(line.quantityPrice),
    variationString: line.variation && textOf(line.variation, context),
    essentialFeatures: line.essentialFeatures && textOf(line.essentialFeatures, context),
    taxClass: taxClassInfo(line.taxClass, context),
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
    ...(line.customText !== undefined && {
      customText: line.customText,
      ...(line.customTextHeadline && { customTextHeadline: textOf(line.customTextHeadline, context) }),
    }),
    ...(line.giftCard && { giftCard: line.giftCard }),
    isInWishlist: false,
  };
}

export function shippingData(
  { shipping, currency, taxType }: Pick<Content, 'shipping' | 'currency' | 'taxType'>,
  context: RenderContext,
): ShippingData | null {
  if (!shipping) return null;
  return {
    shippingMethod: { id: shipping.shippingMethodId, name: textOf(shipping.name, context) },
    price: priceOf(shipping.price, currency, taxType, context.locale),
    taxes: taxInfos(shipping.taxes, currency, context),
  };
}

/** The delivery that an app has offered, for that app to find its own; null: it is none of an app. */
export function deliveryOption({ shipping }: Pick<Content, 'shipping'>, context: RenderContext) {
  if (!shipping?.option) return null;
  const { appId, optionId, isFixedPrice } = shipping.option;
  return { appId, optionId: isFixedPrice ? null : optionId, name: textOf(shipping.name, context) };
}

/** The name of a payment set by hand is for the merchant, and not shown here. */
export function paymentData(
  { payment, currency, taxType }: Pick<Content, 'payment' | 'currency' | 'taxType'>,
  context: RenderContext,
): PaymentData | null {
  if (!payment) return null;
  const { method, price } = payment;
  return {
    paymentMethod: method && {
      id: method.paymentMethodId,
      name: textOf(method.name, context),
      providerName: providerLabel(method.providerName),
      additionalData: method.additionalData,
    },
    transactionId: payment.transactionId,
    price: priceOf(price, currency, taxType, context.locale),
    status: payment.status,
    taxes: method && price !== 0 ? taxInfos(payment.taxes, currency, context) : null,
  };
}

function taxInfos(taxes: readonly ContentTax[], currency: string, context: RenderContext) {
  return taxes.map(({ taxClass, tax }) => ({
    taxClass: taxClassInfo(taxClass, context),
    price: priceOf(tax, currency, 'NONE', context.locale),
  }));
}

function taxClassInfo({ taxClassId, name, rate }: ContentTaxClass, context: RenderContext) {
  return { taxClassId, name: textOf(name, context), percentage: rate / 100 };
}

export function textOf(texts: Localised, { locale, settings }: RenderContext): string {
  return anyText(texts, locale, settings.defaultLocale) ?? '';
}
