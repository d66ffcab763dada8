/** The account that a browser is signed in to, with what the header shows of it. */
export interface SignedInAccount {
  accountId: string;
  email: string;
  sessionId: string;
  seenAt: Date;
  /** When the email or the passkey was shown that opened the session. */
  signedInAt: Date;
  cartId: string | null;
  cartCount: number;
  wishlistCount: number;
}
