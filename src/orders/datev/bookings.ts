import { dayOf } from '../../http/dates.ts';
import type { Content } from '../../pricing/content.ts';
import { isInEu } from '../../shops/countries/countries.ts';
import type { Address } from '../../shops/countries/address.ts';
import { addresseeName } from '../documents/address-lines.ts';
import type { DocumentKind } from '../documents/facts.ts';
import { toTreated, vatCountry } from '../tax-reports/supplies.ts';
import type { Ledger } from './accounts.ts';
import type { Booking, Debtor } from './extf.ts';

/** The facts of an invoice or a credit note that are booked. */
export interface BookedDocument {
  documentId: string;
  kind: DocumentKind;
  number: number;
  issuedAt: Date;
  address: Address;
  customerNumber: string;
  orderNumber: string;
  deliveryCountry: string;
  sellerCountry: string;
  sellerVatId: string | null;
  /** The credited invoice. */
  invoiceNumber: number | null;
  /** A day. */
  dueOn: string | null;
  vatNumber: string | null;
  content: Pick<Content, 'currency' | 'taxType' | 'taxes'>;
}

export interface BookedPayment {
  paymentId: string;
  at: Date;
  kind: 'payment' | 'refund';
  amount: number;
  currency: string;
  /** It went through a payment provider. */
  isByProvider: boolean;
  /** It came from a gift card, or went to one. */
  isByGiftCard: boolean;
  orderNumber: string;
  customerNumber: string;
  billingAddress: Address;
  vatNumber: string | null;
  /** The first invoice of the order; null: it has none yet. */
  invoiceNumber: number | null;
}

/**
 * The bookings of a document: one for each rate, of the customer's debtor account against the revenue account. A credit note
 * is the reverse under the number of its invoice, so that it settles the open item; its own number is the second one.
 */
export function documentBookings(document: BookedDocument, ledger: Ledger): Booking[] {
  const { kind, number, content, deliveryCountry, sellerCountry, vatNumber } = document;
  const isInvoice = kind === 'Invoice';
  const sign = isInvoice ? 1 : -1;
  const account = ledger.debtor(document.customerNumber);
  return content.taxes.flatMap(({ rate, treatment = null, amount, tax }) => {
    const net = content.taxType === 'GROSS' ? amount - tax : amount;
    const supply = toTreated({
      currency: content.currency,
      country: deliveryCountry,
      sellerCountry,
      treatment,
      rate,
      isService: false,
      vatNumber,
      creditedQuarter: null,
      net,
      tax,
    });
    const revenue = ledger.revenue(supply);
    const isTaxedElsewhere =
      supply.treatment === 'oss' || (supply.treatment === 'local' && isInEu(deliveryCountry));
    const isTaxFreeInEu = supply.treatment === 'intraCommunity' || supply.treatment === 'reverseCharge';
    const facts = {
      account,
      date: dayOf(document.issuedAt),
      reference: String(document.invoiceNumber ?? number),
      secondReference: isInvoice ? document.dueOn && shortDate(document.dueOn) : `GS${number}`,
      text: `${isInvoice ? 'Rechnung' : 'Gutschrift'} ${number} ${addresseeName(document.address)}`,
      orderNumber: document.orderNumber,
      ...(isTaxedElsewhere && {
        euCountry: vatCountry(supply),
        euRate: rate,
        euOrigin: document.sellerVatId ?? vatCountry({ ...supply, country: sellerCountry }),
      }),
      ...(isTaxFreeInEu && { euCountry: vatNumber ?? vatCountry(supply) }),
    };
    const parts: { amount: number; contra: string; taxKey?: string | undefined }[] =
      revenue.tax === undefined
        ? [{ amount: net + tax, contra: revenue.account, taxKey: revenue.taxKey }]
        : [
            { amount: net, contra: revenue.account },
            { amount: tax, contra: revenue.tax },
          ];
    return parts.flatMap((part) => booking({ ...facts, ...part }, sign * part.amount));
  });
}

/**
 * Money that came in on the bank or clearing account, or that the shop no longer owes to the holder of a gift card, against
 * the debtor; a refund is the reverse.
 */
export function paymentBookings(payment: BookedPayment, ledger: Ledger): Booking[] {
  const { kind, at, orderNumber, billingAddress, invoiceNumber } = payment;
  const isRefund = kind === 'refund';
  const facts = {
    account: moneyAccount(payment, ledger),
    contra: ledger.debtor(payment.customerNumber),
    date: dayOf(at),
    // Without an invoice the order number shows what was paid.
    reference: invoiceNumber === null ? orderNumber : String(invoiceNumber),
    secondReference: null,
    text: `${isRefund ? 'Erstattung' : 'Zahlung'} ${orderNumber} ${addresseeName(billingAddress)}`,
    orderNumber,
  };
  return booking(facts, isRefund ? 0 - payment.amount : payment.amount);
}

function moneyAccount({ isByProvider, isByGiftCard }: BookedPayment, ledger: Ledger): string {
  if (isByGiftCard) return ledger.giftCards;
  return isByProvider ? ledger.clearing : ledger.bank;
}

type BookingFacts = Omit<Booking, 'amount' | 'side' | 'secondReference'> & {
  secondReference: string | null;
};

/** Amounts are positive, so a negative one is booked on the other side; nothing is booked for zero. */
function booking({ secondReference, ...facts }: BookingFacts, amount: number): Booking[] {
  if (amount === 0) return [];
  return [
    {
      ...facts,
      secondReference: secondReference ?? undefined,
      amount: Math.abs(amount),
      side: amount > 0 ? 'S' : 'H',
    },
  ];
}

/** `151126`: DATEV reads the second reference of an invoice as the day on which it is due. */
const shortDate = (day: string) => `${day.slice(8, 10)}${day.slice(5, 7)}${day.slice(2, 4)}`;

export function debtorOf(
  address: Address,
  {
    customerNumber,
    vatNumber,
    ledger,
  }: { customerNumber: string; vatNumber: string | null; ledger: Pick<Ledger, 'debtor'> },
): Debtor {
  return {
    account: ledger.debtor(customerNumber),
    company: address.company ?? '',
    firstName: address.firstName ?? '',
    lastName: address.lastName ?? addresseeName(address),
    vatNumber: vatNumber ?? '',
    street: address.street ?? '',
    zipCode: address.zipCode ?? '',
    city: address.city ?? '',
    country: address.country ?? '',
    email: address.emailAddress ?? '',
    phone: address.phoneNumber ?? '',
    customerNumber,
  };
}

/** The first day of the fiscal year that a day is in; `start` is month and day: `07-01`. */
export function fiscalYearOf(day: string, start = '01-01'): string {
  const year = Number(day.slice(0, 4));
  return `${day.slice(5) < start ? year - 1 : year}-${start}`;
}
