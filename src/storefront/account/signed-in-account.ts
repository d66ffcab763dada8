/** The account that a browser is signed in to, with the data that the header shows. */
export interface SignedInAccount {
  accountId: string;
  email: string;
  /** The language that was chosen on any device; null: none. */
  locale: string | null;
  sessionId: string;
  seenAt: Date;
  /** When the session was opened by email or passkey. */
  signedInAt: Date;
  cartId: string | null;
  cartCount: number;
  wishlistCount: number;
  /** The customer with this address; null: none. */
  customer: {
    customerId: string;
    customerGroupId: string | null;
    /** The tax authorities know the customer's VAT number. */
    isBusiness: boolean;
  } | null;
}
