import type { Settings } from '../shops/settings/settings.ts';
import { grouped } from './documents/iban.ts';

/** Identifies the order that a payment is for: it is the same on pages, in emails and on invoices. */
export function paymentReference({ orderNumber }: { orderNumber: string }): string {
  return orderNumber;
}

/** Every new shop has this key for a bank transfer in advance. */
const IN_ADVANCE = 'advance';

/** The account that the customer pays into. */
export interface BankTransfer {
  holder: string | undefined;
  bank: string | undefined;
  iban: string;
  bic: string | undefined;
  reference: string;
}

/** undefined: the order is not paid by a transfer in advance, or the shop has not set its account. */
export function bankTransfer(
  order: { orderNumber: string; paymentMethodId: string | undefined },
  { paymentMethods, invoicing: { bank, company } }: Pick<Settings, 'paymentMethods' | 'invoicing'>,
): BankTransfer | undefined {
  const method = paymentMethods.find(({ paymentMethodId }) => paymentMethodId === order.paymentMethodId);
  if (method?.key !== IN_ADVANCE || !bank) return undefined;
  return {
    holder: company,
    bank: bank.name,
    iban: grouped(bank.iban),
    bic: bank.bic,
    reference: paymentReference(order),
  };
}
