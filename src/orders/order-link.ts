import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { EmailContext } from '../platform/email/kind.ts';

/**
 * The token of `/order/{token}` shows an order to its holder: the customer, guests included, who gets it with every
 * email about the order. It is derived from the id of the order and the key of the installation, so the database holds
 * nothing that opens an order, and a number can't be guessed.
 */
export interface OrderTokens {
  token(shopId: string, orderId: string): string;
  /** The order that the token opens; undefined: the token is not valid in this shop. */
  orderId(shopId: string, token: string): string | undefined;
}

/** 16 bytes of the order's id and 16 bytes of the signature. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Keys for this purpose alone, by the installation key that they are derived from: every email needs one. */
const linkKeys = new WeakMap<Buffer, Buffer>();

function linkKey(installationKey: Buffer): Buffer {
  let key = linkKeys.get(installationKey);
  if (!key) {
    key = Buffer.from(hkdfSync('sha256', installationKey, '', 'kontor order links', 32));
    linkKeys.set(installationKey, key);
  }
  return key;
}

export function orderTokens(installationKey: Buffer): OrderTokens {
  const key = linkKey(installationKey);
  const tokenOf = (shopId: string, id: Buffer) => {
    const signature = createHmac('sha256', key).update(shopId).update('\0').update(id).digest();
    return Buffer.concat([id, signature.subarray(0, 16)]).toString('base64url');
  };
  return {
    token: (shopId, orderId) => tokenOf(shopId, Buffer.from(orderId.replaceAll('-', ''), 'hex')),
    orderId: (shopId, token) => {
      if (!TOKEN.test(token)) return undefined;
      const id = Buffer.from(token, 'base64url').subarray(0, 16);
      if (!timingSafeEqual(Buffer.from(token), Buffer.from(tokenOf(shopId, id)))) return undefined;
      const hex = id.toString('hex').toUpperCase();
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
        '-',
      );
    },
  };
}

/** The address of the order's page, or of one below it, for emails. */
export function orderUrl(
  { installationKey, shopId, storefront, locale }: EmailContext,
  orderId: string,
  path: '' | '/withdraw' = '',
): string {
  const language = locale === undefined ? '' : `?locale=${locale}`;
  return `${storefront}/order/${orderTokens(installationKey).token(shopId, orderId)}${path}${language}`;
}
