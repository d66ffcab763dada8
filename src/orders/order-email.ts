import { adminUrl } from '../http/links.ts';
import { moneyText } from '../http/price-text.ts';
import { SHOP_PLACEHOLDERS, type EmailContext } from '../platform/email/kind.ts';
import { orderUrl } from './order-link.ts';
import type { ManagedOrder } from './queries.ts';

/** Shared by the kinds of email about an order. */
export const ORDER_EMAIL = {
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    orderNumber: {
      meaning: 'Number of the order.',
      value: ({ orderNumber }: { orderNumber: string }) => orderNumber,
    },
  },
  /** Emails queued by the version before 2026-11-16 do not name the order: they link to the shop. */
  link: ({ orderId }: { orderId?: string }, context: EmailContext) =>
    orderId === undefined ? context.storefront : orderUrl(context, orderId),
};

/** The order in the admin: the order page is for the customer. An email that does not name it leads to the orders. */
export const orderInAdmin = ({ orderId }: { orderId?: string }, context: EmailContext) =>
  adminUrl(context, orderId === undefined ? '/orders' : `/orders/${orderId}`);

/** For samples. */
export const SAMPLE_ORDER = {
  orderId: '019A8C1E-0000-7000-8000-000000001001',
  orderNumber: 'ORD261115/1001',
};

/** An amount in a sample, in cents. */
export const sampleMoney = (cents: number, locale: string) => moneyText(cents, 'EUR', locale);

/** When a sample was ordered. */
export const SAMPLE_TIME = new Date('2026-11-15T08:30:00Z');

/** The payer's; undefined when the customer was erased. */
export function emailAddressOf({
  billingAddress,
  erasedAt,
}: Pick<ManagedOrder, 'billingAddress' | 'erasedAt'>): string | undefined {
  if (erasedAt) return undefined;
  return billingAddress.emailAddress ?? undefined;
}

/** Keeps an amount and its currency on one line. */
export const unbroken = (amount: string) => amount.replaceAll(' ', '\u00a0');
