import { randomInt } from 'node:crypto';

/** Without letters and digits that are easily confused. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
/** 32 to the power of 8: with limited tries, one of ten thousand codes cannot be found by guessing. */
const LENGTH = 8;

/** A code that cannot be guessed. */
export function newCode(prefix: string): string {
  return prefix + Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}
