import { SHOP_PLACEHOLDERS, type EmailContext } from '../platform/email/kind.ts';
import type { ManagedOrder } from './queries.ts';

/** What the kinds of email about an order have in common. */
export const ORDER_EMAIL = {
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    orderNumber: {
      meaning: 'Number of the order.',
      value: ({ orderNumber }: { orderNumber: string }) => orderNumber,
    },
  },
  link: (_: object, { storefront }: EmailContext) => storefront,
};

/** Keeps an amount and its currency on one line. */
export const unbroken = (amount: string) => amount.replaceAll(' ', '\u00a0');

/** Of who pays; undefined when the customer was erased. */
export function emailAddressOf({ billingAddress, erasedAt }: ManagedOrder): string | undefined {
  if (erasedAt) return undefined;
  return billingAddress.emailAddress ?? undefined;
}
