import type { Content } from '../pricing/content.ts';
import { isInEu } from '../../shops/countries/countries.ts';
import type { Address } from '../../shops/countries/address.ts';
import type { Invoicing } from '../../shops/settings/settings.ts';

export const DOCUMENT_KINDS = ['Invoice', 'CreditNote'] as const;
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

/**
 * Everything that a document says, frozen when it was finalised: the same facts give the same file, whatever becomes
 * of the order, the customer and the settings of the shop.
 */
export interface DocumentFacts {
  documentId: string;
  orderId: string;
  kind: DocumentKind;
  number: number;
  issuedAt: Date;
  createdAt: Date;
  /** Who pays. */
  address: Address;
  terms: DocumentTerms;
  /** Those of a credit note are positive as well. */
  content: Content;
}

/** What is neither in the address nor in the content. Days are `2026-11-15`. */
export interface DocumentTerms {
  orderNumber: string;
  orderedOn: string;
  customerNumber: string;
  /** The language of the checkout, and where texts are taken from that it lacks. */
  locale: string;
  defaultLocale: string;
  seller: Seller;
  /** Where the goods went, when that is not where the invoice goes. */
  delivery: Address | null;
  /** Whose taxes count. */
  deliveryCountry: string;
  /** null: nothing was shipped yet, so that no day can be named. */
  suppliedOn: string | null;
  /** The whole order was paid before. */
  isPaid: boolean;
  /** null: nothing was agreed. */
  dueOn: string | null;
  /** What the shop prints below all documents, and on those without tax. */
  notes: string | null;
  noTaxesMessage: string | null;
  /** What was said for this document alone. */
  note: string | null;
  /** The invoice that is credited. */
  invoice: { number: number; issuedOn: string } | null;
  /** It carries the cost of delivery and payment. */
  hasServices: boolean;
  /** The signs of the units of its lines. */
  units: Readonly<Record<string, string>>;
  /** The file carries the same as XML (EN 16931). */
  electronic: boolean;
}

/** Who sells, as it was when the document was finalised. */
export interface Seller extends Omit<Invoicing, 'company' | 'paymentDays' | 'notes' | 'electronic'> {
  name: string;
  country: string;
  email: string;
}

/** `2026-11-15`, as documents count days: in UTC. */
export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Goods that leave the European Union. */
export function isExport({ seller, deliveryCountry }: DocumentTerms): boolean {
  return deliveryCountry !== seller.country && !isInEu(deliveryCountry);
}
