import { randomInt } from 'node:crypto';

/** Without letters and digits that are mistaken for each other. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
/** 32 to the power of 8: nobody finds one of ten thousand by guessing while tries are limited. */
const LENGTH = 8;

/** A code that nobody can guess. */
export function newCode(prefix: string): string {
  return prefix + Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}
