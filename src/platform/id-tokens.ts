import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/**
 * Tokens that open one thing to their holder. They are derived from the id of the thing and the key of the installation, so
 * the database holds nothing that opens it, and none can be guessed.
 */
export interface IdTokens {
  token(shopId: string, id: string): string;
  /** The id that the token is of; undefined: the token is not valid in this shop. */
  id(shopId: string, token: string): string | undefined;
}

/** 16 bytes of the id and 16 bytes of the signature. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Keys by the installation key that they are derived from and their purpose: every email needs one. */
const derivedKeys = new WeakMap<Buffer, Map<string, Buffer>>();

function keyFor(installationKey: Buffer, purpose: string): Buffer {
  const keys = derivedKeys.get(installationKey) ?? new Map<string, Buffer>();
  derivedKeys.set(installationKey, keys);
  let key = keys.get(purpose);
  if (!key) {
    key = Buffer.from(hkdfSync('sha256', installationKey, '', purpose, 32));
    keys.set(purpose, key);
  }
  return key;
}

/** A token for one purpose is not valid for another. */
export function idTokens(installationKey: Buffer, purpose: string): IdTokens {
  const key = keyFor(installationKey, purpose);
  const tokenOf = (shopId: string, id: Buffer) => {
    const signature = createHmac('sha256', key).update(shopId).update('\0').update(id).digest();
    return Buffer.concat([id, signature.subarray(0, 16)]).toString('base64url');
  };
  return {
    token: (shopId, id) => tokenOf(shopId, Buffer.from(id.replaceAll('-', ''), 'hex')),
    id: (shopId, token) => {
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
