import type { Messages } from '../kernel/messages.ts';
import { formatMoney } from '../kernel/money.ts';
import type { EmailKind, EmailWords } from '../platform/email/kind.ts';
import type { Row } from '../platform/email/letter.ts';
import type { QueuedEmail } from '../platform/email/queue.ts';
import type { Content } from '../pricing/content.ts';
import { anyText } from '../catalogue/products/render.ts';
import { unitSign } from '../catalogue/products/units.ts';
import { recordUnsentEmail } from './history.ts';
import type { RenderContext } from './line-item-view.ts';
import { ORDER_EMAIL, unbroken } from './order-email.ts';

interface PricedText {
  text: string;
  amount: string;
}

/** An order that was placed. Amounts are formatted; a row that is null does not appear. */
export interface OrderPlaced {
  orderId: string;
  orderNumber: string;
  lines: PricedText[];
  subTotal: string;
  basketDiscount: string | null;
  coupon: string | null;
  /** Deposits and recycling fees. */
  extras: string | null;
  shipping: PricedText | null;
  payment: PricedText | null;
  grandTotal: string;
  /** The tax that the total includes; null: none. */
  totalTax: string | null;
}

type ConfirmationWords = EmailWords & Messages['email']['order'];

export const orderConfirmation: EmailKind<OrderPlaced, ConfirmationWords> = {
  ...ORDER_EMAIL,
  name: 'order',
  occasion: 'To the customer, when an order was placed.',
  example: { en_GB: { subject: 'Order {orderNumber}', text: 'Thank you!\n\n{lines}\n\nYour {shopName}' } },
  isLimited: true,
  onLimited: (db, shopId, emailId, { orderId }) => recordUnsentEmail(db, shopId, orderId, emailId),
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    total: {
      meaning: 'What the order costs, with its currency.',
      value: ({ grandTotal }) => unbroken(grandTotal),
    },
    tax: {
      meaning: 'Tax in the total; nothing if there is none.',
      value: ({ totalTax }) => totalTax && unbroken(totalTax),
    },
    shippingMethod: {
      meaning: 'Name of the shipping method; nothing if nothing is shipped.',
      value: ({ shipping }) => shipping?.text ?? null,
    },
    paymentMethod: {
      meaning: 'Name of the payment method; nothing if there is none.',
      value: ({ payment }) => payment?.text ?? null,
    },
  },
  lines: { meaning: 'The table of what was ordered, with discounts, costs and total.', rows: orderRows },
  words: (email) => ({ ...email.aboutOrder, ...email.order }),
};

function orderRows(facts: OrderPlaced, words: ConfirmationWords): Row[] {
  const row = (text: string, amount: string | null, as: NonNullable<Row['as']> = 'sum'): Row[] =>
    amount === null ? [] : [{ text, amount, as }];
  return [
    ...facts.lines,
    ...row(words.subTotal, facts.subTotal),
    ...row(words.basketDiscount, facts.basketDiscount),
    ...row(words.coupon, facts.coupon),
    ...row(words.extras, facts.extras),
    ...(facts.shipping ? row(words.shipping({ method: facts.shipping.text }), facts.shipping.amount) : []),
    ...(facts.payment ? row(words.payment({ method: facts.payment.text }), facts.payment.amount) : []),
    ...row(words.grandTotal, facts.grandTotal, 'total'),
    ...row(words.totalTax, facts.totalTax, 'note'),
  ];
}

/** The order has no number yet: the statement that places the order and queues the email adds it. */
export type OrderConfirmationEmail = Omit<QueuedEmail<Omit<OrderPlaced, 'orderNumber'>>, 'shopId'>;

/** Tells a customer what was ordered, in the language of the cart. */
export function confirmation(
  { orderId, content, email: to }: { orderId: string; content: Content; email: string },
  { locale, settings }: Pick<RenderContext, 'locale' | 'settings'>,
): OrderConfirmationEmail {
  const money = (minor: number) => formatMoney(minor, content.currency, locale);
  const unlessZero = (minor: number) => (minor === 0 ? null : money(minor));
  const text = (texts: Parameters<typeof anyText>[0]) => anyText(texts, locale, settings.defaultLocale) ?? '';
  const extras = content.lines.reduce((sum, line) => sum + line.deposit + line.ecoParticipation, 0);
  const { shipping, payment, coupon } = content;
  return {
    to,
    locale,
    template: orderConfirmation.name,
    facts: {
      orderId,
      lines: content.lines.map(({ quantity, orderUnit, name, variation, amount }) => ({
        text: [
          `${Number(quantity)} ${unitSign(orderUnit.unit, locale, settings)}`,
          variation ? `${text(name)} (${text(variation)})` : text(name),
        ].join(' '),
        amount: money(amount),
      })),
      subTotal: money(content.subTotal),
      basketDiscount: unlessZero(content.basketDiscount),
      coupon: unlessZero(coupon?.amount ?? 0),
      extras: unlessZero(extras),
      shipping: shipping && { text: text(shipping.name), amount: money(shipping.price) },
      payment: payment && {
        text: payment.method ? text(payment.method.name) : (payment.name ?? ''),
        amount: money(payment.price),
      },
      grandTotal: money(content.grandTotal),
      totalTax: unlessZero(content.totalTax),
    },
  };
}
