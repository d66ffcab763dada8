import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { PageCookie } from '../http/page-kit.ts';

/** The content of a visitor's cookie, signed, so that only this service can have written it. */
export interface Session {
  /** A secret that identifies the visitor's wish list; the database stores its hash only. */
  visitor?: string;
  /** How many products are on the wish list, so that the header need not count them. */
  wishlistCount?: number;
  /**
   * The cart the visitor may see and change; `count` is what the header shows without a statement; `copyOf` is the cart
   * that it was copied from when the visitor opened a link, and `shown` the total that an assistant has shown, in minor
   * units.
   */
  cart?: { id: string; count: number; copyOf?: string; shown?: number };
  /** The last order of the visitor, which the confirmation page shows. */
  order?: string;
  /** The language that the visitor has chosen, or has seen last. */
  locale?: string;
  currency?: string;
  /**
   * The cart, the wish list and the order belong to an account: they are dropped when the browser is no longer signed
   * in, wherever it was signed out.
   */
  isSignedIn?: true;
  /** A sign-in email was requested in this browser, so its digits can be typed here and nowhere else. */
  signIn?: { requestId: string; email: string; target?: SignInTarget };
  /** The challenge that a passkey has to sign, and when a page requested it, in milliseconds since 1970. */
  passkey?: { challenge: string; at: number };
  /** The visitor buys as a business, and so sees prices without tax. */
  isBusiness?: true;
  /** The visitor's consent; absent: not answered yet. */
  consent?: 'all' | 'necessary';
  /** The token of the preview link by which the visitor came to a shop that is not open yet. */
  preview?: string;
  /** A message that the next page shows once. */
  notice?: string;
  /** The visitor's actions since the last page, which the next page reports to the scripts of apps. */
  visitorEvents?: VisitorEvent[];
}

/** The page to which a visitor continues after signing in on the way. */
export type SignInTarget = '/checkout';

export type VisitorEvent =
  | { event: 'cart:add'; lineItemId: string; quantity: number }
  | { event: 'cart:setQuantity'; lineItemId: string; quantity: number; quantityDelta: number }
  | { event: 'cart:update' }
  | { event: 'wishlist:add'; productId: string }
  | { event: 'shippingMethod:select' }
  | { event: 'paymentMethod:select' }
  | { event: 'order:completed' };

/** A client that never opens a page must not fill the cookie, which is limited to some 4,000 bytes. */
const MAX_VISITOR_EVENTS = 8;

export function addVisitorEvents({ visitorEvents = [] }: Session, ...events: VisitorEvent[]): VisitorEvent[] {
  return [...visitorEvents, ...events].slice(-MAX_VISITOR_EVENTS);
}

/**
 * Under https browsers accept a name with this prefix only from the host itself, for all of its paths and without a
 * domain, so no other host can plant it. On the host that shops share, the name contains the shop. Under http there is
 * no such protection.
 */
export function shopCookie(
  name: 'visit' | 'account' | 'device',
  { shopId, base, pageOrigin }: { shopId: string; base: string; pageOrigin: string },
): PageCookie {
  if (!pageOrigin.startsWith('https:')) return { name, path: base || '/', secure: false };
  return { name: base === '' ? `__Host-${name}` : `__Host-${name}-${shopId}`, path: '/', secure: true };
}

/** A session lasts as long as a cart. */
export const SESSION_SECONDS = 30 * 86_400;

const SIGNATURE_LENGTH = 43;

export interface Sessions {
  /** Returns an empty session when the cookie is missing, expired, or not ours for this shop. */
  read(shopId: string, cookie: string | undefined, now: Date): Session;
  /** The session ends a month after it was last written, whatever the browser does with the cookie. */
  write(shopId: string, session: Session, now: Date): string;
}

/** Derives a key for this purpose alone from the installation key. */
export function createSessions(installationKey: Buffer): Sessions {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'kontor storefront sessions', 32));
  const signatureOf = (shopId: string, text: string) =>
    createHmac('sha256', key).update(`${shopId} ${text}`).digest('base64url');
  return {
    read(shopId, cookie, now) {
      if (cookie === undefined) return {};
      const text = cookie.slice(0, -SIGNATURE_LENGTH - 1);
      const signature = Buffer.from(cookie.slice(-SIGNATURE_LENGTH));
      const expected = Buffer.from(signatureOf(shopId, text));
      if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return {};
      const [content, end] = text.split('.') as [string, string | undefined];
      if (!(Number(end) * 1000 > now.getTime())) return {};
      return JSON.parse(Buffer.from(content, 'base64url').toString()) as Session;
    },
    write(shopId, session, now) {
      const content = Buffer.from(JSON.stringify(session)).toString('base64url');
      const text = `${content}.${Math.floor(now.getTime() / 1000) + SESSION_SECONDS}`;
      return `${text}.${signatureOf(shopId, text)}`;
    },
  };
}
