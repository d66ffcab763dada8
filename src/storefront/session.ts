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

/**
 * Under https browsers take a name with this prefix only from the host itself, for all of its paths and without a
 * domain: no other host can plant it. On the host that shops share, its name says the shop. Under http there is no such
 * promise.
 */
export function sessionCookie({
  shopId,
  base,
  pageOrigin,
}: {
  shopId: string;
  base: string;
  pageOrigin: string;
}): {
  name: string;
  path: string;
  secure: boolean;
} {
  if (!pageOrigin.startsWith('https:')) return { name: 'visit', path: base || '/', secure: false };
  return { name: base === '' ? '__Host-visit' : `__Host-visit-${shopId}`, path: '/', secure: true };
}

/** As long as a cart lives. */
export const SESSION_SECONDS = 30 * 86_400;

const SIGNATURE_LENGTH = 43;

export interface Sessions {
  /** An empty session when there is no cookie, or not one of ours for this shop, or when its time is over. */
  read(shopId: string, cookie: string | undefined, now: Date): Session;
  /** It ends a month after it was written last, whatever the browser does with the cookie. */
  write(shopId: string, session: Session, now: Date): string;
}

/** A key of its own per purpose, made of the key of the installation. */
export function sessionsOf(installationKey: Buffer): Sessions {
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
      // Cookies of an older version say no end.
      if (end === undefined || Number(end) * 1000 <= now.getTime()) return {};
      return JSON.parse(Buffer.from(content, 'base64url').toString()) as Session;
    },
    write(shopId, session, now) {
      const content = Buffer.from(JSON.stringify(session)).toString('base64url');
      const text = `${content}.${Math.floor(now.getTime() / 1000) + SESSION_SECONDS}`;
      return `${text}.${signatureOf(shopId, text)}`;
    },
  };
}
