import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** How long a link to a draft works. */
const LIFETIME = 60 * 60 * 1000;

export const previewPath = (pageId: string, token: string) => `/page-preview/${pageId}/${token}`;

export interface PagePreviews {
  /** The secret end of the address of a draft. */
  token: (shopId: string, pageId: string, now: Date) => string;
  isValid: (shopId: string, pageId: string, token: string, now: Date) => boolean;
}

/**
 * People of the shop see drafts by a link that the admin makes for them: it is for one page, and works for an hour. The
 * storefront may be on another host, where nobody is signed in to the admin.
 */
export function pagePreviews(installationKey: Buffer): PagePreviews {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'kontor page previews', 32));
  const sign = (shopId: string, pageId: string, until: string) =>
    createHmac('sha256', key).update(`${shopId} ${pageId.toUpperCase()} ${until}`).digest('base64url');
  return {
    token(shopId, pageId, now) {
      const until = String(now.getTime() + LIFETIME);
      return `${until}.${sign(shopId, pageId, until)}`;
    },
    isValid(shopId, pageId, token, now) {
      const [until = '', signature = ''] = token.split('.', 2);
      if (!/^\d{13}$/.test(until) || Number(until) < now.getTime()) return false;
      const expected = Buffer.from(sign(shopId, pageId, until));
      const given = Buffer.from(signature);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}
