import { textIn } from '../http/locale.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { grouped } from './documents/iban.ts';
import { IN_ADVANCE } from './payments/payment-data.ts';

/** Identifies the order that a payment is for: it is the same on pages, in emails and on invoices. */
export function paymentReference({ orderNumber }: { orderNumber: string }): string {
  return orderNumber;
}

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
  settings: Pick<Settings, 'paymentMethods' | 'invoicing' | 'name' | 'defaultLocale'>,
): BankTransfer | undefined {
  const { paymentMethods, name, defaultLocale } = settings;
  const { bank, company } = settings.invoicing;
  const method = paymentMethods.find(({ paymentMethodId }) => paymentMethodId === order.paymentMethodId);
  if (method?.key !== IN_ADVANCE || !bank) return undefined;
  return {
    // As on invoices, the shop's name stands for a seller without another name.
    holder: company ?? textIn(name, defaultLocale, defaultLocale) ?? undefined,
    bank: bank.name,
    iban: grouped(bank.iban),
    bic: bank.bic,
    reference: paymentReference(order),
  };
}
