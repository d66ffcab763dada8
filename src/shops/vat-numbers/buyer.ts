import { hasWrongVatNumber } from './vat-numbers.ts';

/** What a business says of itself beside its addresses. An order keeps it as it was when it was placed. */
export interface Buyer {
  vatCheck?: VatCheck;
  /** BT-10 of EN 16931: what the buyer wants on the invoice; for German authorities, their Leitweg-ID. */
  buyerReference?: string;
  /** BT-13: the number of the buyer's own order. */
  purchaseOrderNumber?: string;
}

/** Whether a VAT number exists, as the tax authorities said at a time. */
export interface VatCheck {
  /** With its prefix, in capitals and without blanks: `EL123456789`. */
  vatNumber: string;
  /** unavailable: the service did not answer in time, so tax is charged. */
  result: 'valid' | 'invalid' | 'unavailable';
  /** ISO 8601, UTC. */
  checkedAt: string;
  /** The proof that the shop has asked; missing: the service gave none. */
  consultationNumber?: string;
}

/** Characters of a reference or of an order number. A Leitweg-ID has up to 46. */
export const MAX_REFERENCE_LENGTH = 100;

/** One line of text, because both are printed and stand in electronic invoices. */
export const REFERENCE_PATTERN = '^[^\\u0000-\\u001f\\u007f\\u2028\\u2029\\ufffe\\uffff]*$';

/** What a business enters; an empty text is none. */
export type References = Record<'buyerReference' | 'purchaseOrderNumber', string>;

/** The buyer with other references; null: nothing is left. */
export function withReferences(
  buyer: Buyer | null,
  { buyerReference, purchaseOrderNumber }: References,
): Buyer | null {
  const vatCheck = buyer?.vatCheck;
  const [reference, orderNumber] = [buyerReference.trim(), purchaseOrderNumber.trim()];
  return emptyToNull({
    ...(vatCheck && { vatCheck }),
    ...(reference !== '' && { buyerReference: reference }),
    ...(orderNumber !== '' && { purchaseOrderNumber: orderNumber }),
  });
}

/** A buyer who says nothing is stored as null. */
export function emptyToNull(buyer: Buyer): Buyer | null {
  return Object.keys(buyer).length === 0 ? null : buyer;
}

/**
 * Whether a buyer is known as a business: it has given a VAT number, a reference or an order number of its own. A company
 * alone proves nothing, because consumers have parcels sent to work.
 */
export function isBusinessBuyer(
  { vatId, country }: { vatId: string | null; country: string | null },
  buyer: Buyer | null,
): boolean {
  if (buyer?.buyerReference !== undefined || buyer?.purchaseOrderNumber !== undefined) return true;
  const isNumber = vatId !== null && vatId !== '' && !hasWrongVatNumber({ vatId, country: country ?? '' });
  return isNumber && buyer?.vatCheck?.result !== 'invalid';
}
