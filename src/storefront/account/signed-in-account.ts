/** The account that a browser is signed in to, with what the header shows of it. */
export interface SignedInAccount {
  accountId: string;
  email: string;
  sessionId: string;
  seenAt: Date;
  cartId: string | null;
  cartCount: number;
  wishlistCount: number;
}
