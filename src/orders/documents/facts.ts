import type { Content } from '../../pricing/content.ts';
import { isInEu } from '../../shops/countries/countries.ts';
import type { Address } from '../../shops/countries/address.ts';
import type { ElectronicFormat } from '../../shops/settings/schema/invoicing.ts';
import type { TransportName } from '../transport/provider.ts';
import type { Invoicing } from '../../shops/settings/settings.ts';

export const DOCUMENT_KINDS = ['Invoice', 'CreditNote'] as const;
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

/**
 * The complete content of a document, frozen when it was finalised: the same facts give the same file, even if the
 * order, the customer or the settings of the shop change.
 */
export interface DocumentFacts {
  documentId: string;
  orderId: string;
  kind: DocumentKind;
  number: number;
  issuedAt: Date;
  createdAt: Date;
  /** The payer. */
  address: Address;
  terms: DocumentTerms;
  /** Positive in a credit note as well. */
  content: Content;
}

/** Facts outside the address and the content. Days are `2026-11-15`. */
export interface DocumentTerms {
  orderNumber: string;
  orderedOn: string;
  customerNumber: string;
  /** The language of the checkout, and the fallback for missing texts. */
  locale: string;
  defaultLocale: string;
  seller: Seller;
  /** The delivery address, if it is not the invoice address. */
  delivery: Address | null;
  /** The country whose taxes apply. */
  deliveryCountry: string;
  /** null: nothing was shipped yet, so there is no date. */
  suppliedOn: string | null;
  /** The whole order was paid before, or gift cards have paid all of this document. */
  isPaid: boolean;
  /** The part of an invoice that gift cards have paid, in minor units: BT-113. Missing: none. */
  giftCards?: number;
  /** null: nothing was agreed. */
  dueOn: string | null;
  /** The shop's text below all documents, and on those without tax. */
  notes: string | null;
  noTaxesMessage: string | null;
  /** The note for this document alone. */
  note: string | null;
  /** The credited invoice. */
  invoice: { number: number; issuedOn: string } | null;
  /** The invoice that was credited as a whole, and that this one replaces. Missing: it replaces none. */
  corrects?: { number: number; issuedOn: string };
  /** The business buyer's own data. Missing: there are none, or the document is older than this field. */
  buyer?: DocumentBuyer;
  /** It includes the cost of delivery and payment. */
  hasServices: boolean;
  /** The signs of the units of its lines. */
  units: Readonly<Record<string, string>>;
  /** There is the same as XML (EN 16931). */
  electronic: boolean;
  /** Its format. Missing: zugferd, which is inside of the PDF. */
  format?: ElectronicFormat;
  /** It was made in a sandbox, and says so on each page. Missing: it was not. */
  sandbox?: true;
  /** The provider that brings it to the customer, who gets only a copy by email. Missing: the email has all of it. */
  transport?: TransportName;
}

/** The references of the buyer, as they were when the order was placed. */
export interface DocumentBuyer {
  /** Of the check at checkout; missing: it was not checked, and the one of the address counts. */
  vatNumber?: string;
  /** BT-10 */
  buyerReference?: string;
  /** BT-13 */
  purchaseOrderNumber?: string;
}

/** The seller, as it was when the document was finalised. */
export interface Seller extends Omit<
  Invoicing,
  'company' | 'paymentDays' | 'notes' | 'electronic' | 'electronicFormat'
> {
  name: string;
  country: string;
  email: string;
}

/** Whether goods leave the European Union. */
export function isExport({ seller, deliveryCountry }: DocumentTerms): boolean {
  return deliveryCountry !== seller.country && !isInEu(deliveryCountry);
}
