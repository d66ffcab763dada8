import { shownLines } from '../../pricing/shown-lines.ts';
import { hasLeftOutLines, LIFETIME, type PricedCart } from '../../carts/cart.ts';
import { deliveryProblem } from '../../carts/render.ts';
import { pickupToken } from '../../carts/pickup-token.ts';
import { anyText } from '../../catalogue/products/render.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { HttpError } from '../../http/errors.ts';
import { languageTag } from '../../http/locale.ts';
import { moneyText } from '../../http/price-text.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { taxesByRate, type Content, type ContentLine } from '../../pricing/content.ts';
import { productMessages, productPolicies, type Policy } from '../catalogue/disclosures.ts';
import { newOrder } from '../../checkout/new-order.ts';
import { requiredConsents } from '../../checkout/withdrawal-consent.ts';
import { isGoods } from '../../pricing/goods.ts';
import { guaranteeNotice, sellsToEuConsumers } from '../../shops/legal/guarantee-notice.ts';
import { isBusinessBuyer } from '../../shops/vat-numbers/buyer.ts';
import type { OfferedDeliveries } from '../../carts/delivery-options.ts';
import { extensionsOf, type Capability } from '../capabilities.ts';
import type { AssistantContext } from '../context.ts';
import { shownDetails } from '../details/details.ts';
import type { Message } from '../messages.ts';
import { orderedUnit, type QuantityUnit } from '../units.ts';
import { cartIdText } from './cart-id.ts';

/** The shop and the language in which it is shown. */
export type ShownIn = Pick<AssistantContext, 'settings' | 'locale'>;

export interface Total {
  type: string;
  display_text?: string;
  amount: number;
}

export interface ShownLine {
  id: string;
  item: { id: string; title: string; price: number; quantity_unit?: QuantityUnit };
  quantity: number;
  totals: Total[];
}

export interface ShownCart {
  id: string;
  line_items: ShownLine[];
  currency: string;
  totals: Total[];
  messages: Message[];
  policies?: Policy[];
  buyer?: object;
  discounts?: object;
  fulfillment?: object;
  /** Nothing is missing to the order. */
  isOrderable: boolean;
  /** Where the buyer goes on with a copy of this very cart. */
  continue_url: string;
  expires_at: string;
}

/** A cart as assistants see it: its sums are those of the cart. */
export async function shownCart(
  open: PricedCart,
  token: string,
  products: readonly Product[],
  offered: OfferedDeliveries,
  context: AssistantContext,
  capability: Capability,
): Promise<ShownCart> {
  const { cart, priced } = open;
  const { content } = priced;
  const extensions = extensionsOf(capability, context.capabilities);
  const isSession = capability === 'dev.ucp.shopping.checkout';
  const asksForAll = isSession && (await context.paymentMethod()) !== undefined;
  const details = shownDetails(open, offered, extensions, context, await context.links(), asksForAll);
  const isLocated = details.messages.some(({ code }) => code === 'address_undeliverable');
  const read = shownLines(content);
  const lines = read.map((line) => shownLine(line, context));
  const endsAt = new Date(cart.changedAt.getTime() + LIFETIME);
  // The first page that something is missing on is shown instead.
  const page = isSession ? '/checkout/review' : '/checkout';
  const pickup = new URLSearchParams({
    cart: cart.cartId,
    PickupToken: pickupToken(cart, endsAt),
    ...(isSession && { shown: String(priced.totals.grandTotal) }),
  });
  const productOf = (productId: string) => products.find((one) => one.productId === productId);
  const policies = read.flatMap(({ productId }, index) => {
    const product = productOf(productId);
    return product ? productPolicies(product, `$.line_items[${index}]`, context) : [];
  });
  return {
    id: cartIdText({ cartId: cart.cartId, token }),
    line_items: lines,
    currency: cart.currency,
    totals: shownTotals(content, context),
    ...details.members,
    messages: [
      ...cartMessages(open, context).filter(({ code }) => !isLocated || code !== 'address_undeliverable'),
      ...details.messages,
      ...dutyMessages(open, context, capability),
      ...read.flatMap(({ productId }, index) => {
        const product = productOf(productId);
        return product ? productMessages(product, `$.line_items[${index}]`, context) : [];
      }),
    ],
    ...(policies.length > 0 && { policies }),
    isOrderable: isSession && canBeOrdered(open, context.db.now),
    continue_url: `${context.home}${page}?${pickup.toString()}`,
    expires_at: endsAt.toISOString(),
  };
}

/** Whether an order could be made of the cart as it is; one that its buyer has opened is ordered in the shop. */
function canBeOrdered(open: PricedCart, now: Date): boolean {
  if (open.cart.pickedUpAt !== null) return false;
  try {
    newOrder({ ...open, giftCards: [] }, now, null);
    return true;
  } catch (error) {
    if (error instanceof HttpError) return false;
    throw error;
  }
}

export function shownLine(line: ContentLine, context: ShownIn): ShownLine {
  const { settings, locale } = context;
  const text = (texts: ContentLine['name']) => anyText(texts, locale, settings.defaultLocale) ?? '';
  const unit = orderedUnit(line.orderUnit.unit, line.orderUnit.interval, context);
  const discount = line.discountShare + line.couponShare;
  return {
    id: line.lineItemId,
    item: {
      id: line.productId,
      title: [text(line.name), line.variation && text(line.variation)].filter(Boolean).join(', '),
      price: line.unitPrice,
      ...(unit && { quantity_unit: unit }),
    },
    quantity: toSteps(Number(line.quantity), unit),
    totals: [
      { type: 'subtotal', amount: line.amount },
      ...(discount > 0 ? [{ type: 'items_discount', amount: -discount }] : []),
      { type: 'total', amount: line.amount - discount },
    ],
  };
}

/** A quantity is a whole number of steps; an amount between two of them is told as the nearest one. */
export const toSteps = (quantity: number, unit: QuantityUnit | undefined) =>
  Math.max(1, Math.round(quantity * 10 ** (unit?.scale ?? 0)));

/**
 * From the subtotal to the total of a cart or an order, in the order and the words of the cart in the shop. All of them add up
 * to the total.
 */
export function shownTotals(content: Content, { locale, settings }: ShownIn): Total[] {
  const messages = messagesIn(locale).storefront.cart;
  const text = (texts: ContentLine['name']) => anyText(texts, locale, settings.defaultLocale) ?? '';
  const sumOf = (key: 'deposit' | 'ecoParticipation') =>
    content.lines.reduce((sum, line) => sum + line[key], 0);
  const signed = (amount: number, more: string, less: string, display: string): Total[] =>
    amount === 0 ? [] : [{ type: amount > 0 ? more : less, display_text: display, amount }];
  const { shipping, payment } = content;
  const fees = messagesIn(locale).lineItems;
  const paymentName = payment?.method
    ? messages.payment({ name: text(payment.method.name) })
    : messages.agreedPayment;
  return [
    { type: 'subtotal', display_text: messages.subTotal, amount: content.subTotal },
    ...signed(content.basketDiscount, 'fee', 'items_discount', messages.discount),
    ...signed(content.coupon?.amount ?? 0, 'fee', 'items_discount', messages.coupon),
    ...signed(sumOf('deposit'), 'fee', 'discount', fees.deposit),
    ...signed(sumOf('ecoParticipation'), 'fee', 'discount', fees.ecoParticipation),
    ...(shipping
      ? [
          {
            type: 'fulfillment',
            display_text: messages.delivery({ name: text(shipping.name) }),
            amount: shipping.price,
          },
        ]
      : []),
    ...signed(payment?.price ?? 0, 'fee', 'discount', paymentName),
    ...(content.taxType === 'NET' ? taxTotals(content, locale) : []),
    { type: 'total', display_text: messages.total, amount: content.grandTotal },
  ];
}

const percentText = (rate: number, locale: string) =>
  new Intl.NumberFormat(languageTag(locale), { style: 'percent', maximumFractionDigits: 2 }).format(
    rate / 10_000,
  );

type Taxes = Pick<PricedCart['priced']['content'], 'taxes' | 'currency'>;

/** Taxes that come on top of the prices. */
function taxTotals({ taxes }: Taxes, locale: string): Total[] {
  const messages = messagesIn(locale).storefront.cart;
  return taxesByRate(taxes)
    .filter(({ tax }) => tax !== 0)
    .map(({ rate, tax }) => ({
      type: 'tax',
      display_text: messages.addedTax({ rate: percentText(rate, locale) }),
      amount: tax,
    }));
}

/** What the cart in the shop says, too: taxes that are in the total, what is no longer sold, and why it can't be ordered yet. */
function cartMessages(open: PricedCart, { locale }: AssistantContext): Message[] {
  const { cart, settings, priced } = open;
  const { content, totals } = priced;
  const messages = messagesIn(locale).storefront.cart;
  const money = (minor: number) => moneyText(minor, cart.currency, locale);
  const problem = deliveryProblem(cart, totals.delivery);
  const included =
    content.taxType === 'GROSS' && settings.displayTaxes
      ? taxesByRate(content.taxes).filter(({ tax }) => tax !== 0)
      : [];
  return [
    ...included.map(({ rate, tax }): Message => ({
      type: 'info',
      code: 'included_tax',
      content: `${messages.includedTax({ rate: percentText(rate, locale) })}: ${money(tax)}`,
    })),
    ...(hasLeftOutLines(open)
      ? [
          {
            type: 'error' as const,
            code: 'item_unavailable',
            severity: 'recoverable' as const,
            content: messages.productRemoved,
          },
        ]
      : []),
    ...(totals.minimum.isReached || totals.minimum.amount === null
      ? []
      : [
          {
            type: 'error' as const,
            code: 'minimum_not_reached',
            severity: 'recoverable' as const,
            content: messages.minimum({
              least: money(totals.minimum.amount),
              missing: money(totals.missingToMinimum),
            }),
          },
        ]),
    ...(problem
      ? [
          {
            type: 'error' as const,
            code: 'address_undeliverable',
            severity: 'recoverable' as const,
            content: messages.addressUndeliverable,
          },
        ]
      : []),
  ];
}

/** What a buyer must be told before the order, and must agree to in person: the last page of the checkout says the same. */
function dutyMessages(
  { cart, settings, priced: { content } }: PricedCart,
  { locale }: AssistantContext,
  capability: Capability,
): Message[] {
  const { billingAddress, buyer } = cart;
  const isConsumer = !billingAddress || !isBusinessBuyer(billingAddress, buyer);
  const hasNotice = isConsumer && sellsToEuConsumers(settings) && content.lines.some(isGoods);
  const notice = guaranteeNotice(settings, locale);
  const consents =
    capability === 'dev.ucp.shopping.checkout' ? requiredConsents(content, settings, locale) : [];
  return [
    ...(hasNotice
      ? [
          {
            type: 'warning' as const,
            code: 'legal_guarantee',
            presentation: 'disclosure' as const,
            content: [notice.title, notice.duration, ...notice.texts].map(asSentence).join(' '),
            url: notice.address,
          },
        ]
      : []),
    ...consents.map(({ text }): Message => ({
      type: 'error',
      code: 'withdrawal_consent',
      severity: 'requires_buyer_review',
      content: text,
    })),
  ];
}

const asSentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);
