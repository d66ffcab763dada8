import { createHmac, timingSafeEqual } from 'node:crypto';

const DAY = 86_400;

/**
 * With this token the storefront takes over a cart that was made through the API. It is signed with the hash of the
 * cart token, which only the database has, and expires on the same day as the cart: `<64 hex>_<unix seconds>` in
 * base64.
 */
export function pickupToken(cart: { cartId: string; tokenHash: Buffer }, endsAt: Date): string {
  const seconds = Math.ceil(endsAt.getTime() / 1000 / DAY) * DAY;
  return Buffer.from(`${signatureOf(cart, seconds)}_${seconds}`).toString('base64');
}

/** Whether the token was issued for this cart and has not expired. */
export function isPickupToken(
  token: string,
  cart: { cartId: string; tokenHash: Buffer },
  now: Date,
): boolean {
  const match = /^([0-9a-f]{64})_(\d{1,11})$/.exec(Buffer.from(token, 'base64').toString('latin1'));
  if (!match || Number(match[2]) * 1000 <= now.getTime()) return false;
  return timingSafeEqual(Buffer.from(match[1]!), Buffer.from(signatureOf(cart, Number(match[2]))));
}

function signatureOf({ cartId, tokenHash }: { cartId: string; tokenHash: Buffer }, seconds: number): string {
  return createHmac('sha256', tokenHash).update(`pick up cart ${cartId} until ${seconds}`).digest('hex');
}
