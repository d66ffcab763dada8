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
