import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Fetched for many ids at once: each call costs as much as a hundred ids. */
let randomness = Buffer.alloc(0);

function randomPart(length: number): Buffer {
  if (randomness.length < length) randomness = randomBytes(4_096);
  const part = randomness.subarray(0, length);
  randomness = randomness.subarray(length);
  return part;
}

/** How many ids this process counts before the sequence starts again: the eighteen bits that follow the time. */
const SEQUENCE_LENGTH = 2 ** 18;

let sequence = randomBytes(4).readUInt32BE() % SEQUENCE_LENGTH;

/**
 * A version 7 UUID in upper case: sorts by time, so index pages fill from one side. Ids that one process creates in
 * the same millisecond sort in the order of creation, unless the sequence starts again between them.
 */
export function newId(now: Date): string {
  const bytes = randomPart(16);
  sequence = (sequence + 1) % SEQUENCE_LENGTH;
  bytes.writeUIntBE(now.getTime(), 0, 6);
  bytes.writeUInt16BE(0x7000 | (sequence >> 6), 6);
  bytes[8] = 0x80 | (sequence & 0x3f);
  const hex = bytes.toString('hex').toUpperCase();
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Before all ids that are made from this moment on. */
export function firstIdOf(moment: Date): string {
  const hex = moment.getTime().toString(16).padStart(12, '0').toUpperCase();
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** When `newId` made this id. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
}

export function isId(text: string): boolean {
  return UUID.test(text);
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Random text of [A-Za-z0-9]: 32 characters for tokens, codes and secrets, 24 for cart tokens. */
export function newSecret(length: 24 | 32): string {
  let secret = '';
  while (secret.length < length) {
    // Six bits choose one of 64; values beyond the alphabet are discarded, so all characters are equally likely.
    for (const byte of randomPart(length)) secret += ALPHABET[byte & 63] ?? '';
  }
  return secret.slice(0, length);
}

/**
 * The stored form of a secret. One round of SHA-256 is enough, because the secrets are random and long: there is no
 * dictionary to try.
 */
export function secretHash(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

export function isSecretOf(secret: string, expected: Buffer): boolean {
  return timingSafeEqual(secretHash(secret), expected);
}
