import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** What a visitor's cookie says: signed, so that nobody but this service can have written it. */
export interface Session {
  /** A secret that finds the visitor's wishes; the database has its hash only. */
  visitor?: string;
  /** How many products are on the list of wishes, so that a page need not count them. */
  wishes?: number;
  /**
   * The cart the visitor may see and change; `count` is what the header shows, without asking the database; `copyOf` is
   * the cart that it was copied from when the visitor opened a link.
   */
  cart?: { id: string; count: number; copyOf?: string };
  /** The order the visitor placed last and may look at. */
  order?: string;
  currency?: string;
  /** What the visitor allowed; absent: not asked yet. */
  consent?: 'all' | 'necessary';
  /** Said once, on the next page. */
  notice?: string;
  /** What the visitor just did: the next page tells the scripts of apps. */
  happened?: Happening[];
}

export type Happening =
  | { event: 'cart:add'; lineItemId: string; quantity: number }
  | { event: 'cart:setQuantity'; lineItemId: string; quantity: number; quantityDelta: number }
  | { event: 'cart:update' }
  | { event: 'wishlist:add'; productId: string }
  | { event: 'shippingMethod:select' }
  | { event: 'paymentMethod:select' }
  | { event: 'order:completed' };

/** Whoever never looks at a page must not fill the cookie, which has some 4,000 bytes. */
const MOST_TOLD = 8;

export function happenedWith({ happened = [] }: Session, ...more: Happening[]): Happening[] {
  return [...happened, ...more].slice(-MOST_TOLD);
}

export const SESSION_COOKIE = 'visit';

/** As long as a cart lives. */
export const SESSION_SECONDS = 30 * 86_400;

const SIGNATURE_LENGTH = 43;

export interface Sessions {
  /** An empty session when there is no cookie, or not one of ours for this shop. */
  read(shopId: string, cookie: string | undefined): Session;
  write(shopId: string, session: Session): string;
}

/** A key of its own per purpose, made of the key of the installation. */
export function sessionsOf(installationKey: Buffer): Sessions {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'kontor storefront sessions', 32));
  const signatureOf = (shopId: string, text: string) =>
    createHmac('sha256', key).update(`${shopId} ${text}`).digest('base64url');
  return {
    read(shopId, cookie) {
      if (cookie === undefined) return {};
      const text = cookie.slice(0, -SIGNATURE_LENGTH - 1);
      const signature = Buffer.from(cookie.slice(-SIGNATURE_LENGTH));
      const expected = Buffer.from(signatureOf(shopId, text));
      if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return {};
      return JSON.parse(Buffer.from(text, 'base64url').toString()) as Session;
    },
    write(shopId, session) {
      const text = Buffer.from(JSON.stringify(session)).toString('base64url');
      return `${text}.${signatureOf(shopId, text)}`;
    },
  };
}
