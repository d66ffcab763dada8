import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/**
 * The codes of a sign-in email: a link, and six digits to type. Both are derived from the id of the request and the
 * key of the installation when the email is sent. Neither the table of requests nor the queue of emails holds anything
 * that signs in, and the six digits can't be brute-forced against a copy of the database.
 */
export interface SignInCodes {
  digits(shopId: string, requestId: string): string;
  isDigits(shopId: string, requestId: string, typed: string): boolean;
  /** The token of the link. */
  token(shopId: string, requestId: string): string;
  /** The request that the token belongs to; undefined: the token is not valid in this shop. */
  requestId(shopId: string, token: string): string | undefined;
}

/** The id of the request, and a signature. */
const TOKEN = /^([0-9A-F-]{36})\.[A-Za-z0-9_-]{43}$/;

/** Its key serves this purpose alone, derived from the key of the installation. */
export function signInCodes(installationKey: Buffer): SignInCodes {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'kontor sign-in codes', 32));
  const signatureOf = (...texts: string[]) =>
    createHmac('sha256', key).update(JSON.stringify(texts)).digest();
  // From 48 bits, so that no digits are noticeably more frequent than others.
  const digits = (shopId: string, requestId: string) =>
    String(signatureOf('digits', shopId, requestId).readUIntBE(0, 6) % 1_000_000).padStart(6, '0');
  const token = (shopId: string, requestId: string) =>
    `${requestId}.${signatureOf('link', shopId, requestId).toString('base64url')}`;
  return {
    digits,
    isDigits: (shopId, requestId, typed) => isSame(typed, digits(shopId, requestId)),
    token,
    requestId: (shopId, given) => {
      const requestId = TOKEN.exec(given)?.[1];
      return requestId !== undefined && isSame(given, token(shopId, requestId)) ? requestId : undefined;
    },
  };
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
