import type { Mail, OrderPlaced } from '../platform/email/templates.ts';
import { formatMoney } from '../kernel/money.ts';
import type { Content } from '../pricing/content.ts';
import { anyText } from '../catalogue/products/render.ts';
import { unitSign } from '../catalogue/products/units.ts';
import type { RenderContext } from './line-item-view.ts';

/** Its order has no number yet: that is given by the statement which places the order and queues the mail. */
export type OrderMail = Omit<Extract<Mail, { template: 'order' }>, 'facts'> & {
  facts: Omit<OrderPlaced, 'orderNumber'>;
};

/** The mail that says to a customer what was ordered, in the language of the cart. */
export function confirmation(
  { orderId, content, email: to }: { orderId: string; content: Content; email: string },
  { locale, settings }: Pick<RenderContext, 'locale' | 'settings'>,
): OrderMail {
  const money = (minor: number) => formatMoney(minor, content.currency, locale);
  const unlessZero = (minor: number) => (minor === 0 ? null : money(minor));
  const text = (texts: Parameters<typeof anyText>[0]) => anyText(texts, locale, settings.defaultLocale) ?? '';
  const extras = content.lines.reduce((sum, line) => sum + line.deposit + line.ecoParticipation, 0);
  const { shipping, payment, coupon } = content;
  return {
    to,
    locale,
    template: 'order',
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
