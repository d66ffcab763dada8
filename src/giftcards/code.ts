import { randomInt } from 'node:crypto';
import { secretHash } from '../kernel/ids.ts';

/** Without letters and digits that are easily confused. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
/** 32 to the power of 16: no limit on tries is needed for a code to stay unknown. */
const LENGTH = 16;
/** More than a code with blanks between all of its characters. */
export const MAX_GIFT_CARD_CODE_LENGTH = 50;

/** `7QXM-2KTR-9DWA-HP4S`. Anyone who knows it can spend it, so only its hash is stored. */
export function newGiftCardCode(): string {
  const code = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return code.match(/.{4}/g)!.join('-');
}

/** Typed in any case, with blanks and hyphens anywhere. */
export function giftCardCodeHash(code: string): Buffer {
  return secretHash(code.replaceAll(/[\s-]/g, '').toUpperCase());
}
