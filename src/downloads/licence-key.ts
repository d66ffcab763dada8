import { createHmac, hkdfSync } from 'node:crypto';
import { seal, unsealIfPossible } from '../platform/sealing.ts';

/** The sealing key of licence keys is derived from that of the installation. */
const KEYS = 'kontor licence keys';
const HASHES = 'kontor licence key hashes';

export const MAX_KEY_LENGTH = 2_000;
/** Of a shorter key, its end would be too much of it. */
const MIN_SHOWN_LENGTH = 10;
const SHOWN = 4;

export const sealKey = (installationKey: Buffer, key: string) => seal(installationKey, key, KEYS);

/** undefined: it was sealed by another installation. */
export const unsealKey = (installationKey: Buffer, sealed: Buffer) =>
  unsealIfPossible(installationKey, sealed, KEYS);

/** Equal for equal keys of a shop, and worth nothing without the key of the installation. */
export function licenceKeyHash(installationKey: Buffer, shopId: string, key: string): Buffer {
  const secret = Buffer.from(hkdfSync('sha256', installationKey, '', HASHES, 32));
  return createHmac('sha256', secret).update(shopId).update('\0').update(key).digest();
}

/** The end of a key, by which people tell it from others; '': it is too short for that. */
export const lastCharactersOf = (key: string) => (key.length < MIN_SHOWN_LENGTH ? '' : key.slice(-SHOWN));

/** As the shop sees a key that it has stored: `••••7F3A`. */
export const maskedKey = (lastCharacters: string) => `••••${lastCharacters}`;
