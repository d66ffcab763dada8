import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Codes of authenticator apps (RFC 6238): six digits that change every half minute. */

const STEP = 30_000;

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function base32(bytes: Buffer): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]).join('');
}

function fromBase32(text: string): Buffer {
  const bits = text.replaceAll(/./g, (letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0'));
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)));
}

/** 160 bits, as letters and digits that people can type. */
export function newTotpSecret(): string {
  return base32(randomBytes(20));
}

/** The content of the QR code. The issuer is what the app shows above the code. */
export function totpAddress(secret: string, email: string, issuer: string): string {
  const parameters = new URLSearchParams({ secret, issuer }).toString();
  return `otpauth://totp/${encodeURIComponent(`${issuer}:${email}`)}?${parameters.replaceAll('+', '%20')}`;
}

export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const offset = digest.at(-1)! & 0x0f;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

export const stepAt = (now: Date): number => Math.floor(now.getTime() / STEP);

/**
 * The step whose code was typed: the current one, the previous or the next one, because clocks differ. Never a used
 * one, nor an older one. undefined: the code is wrong.
 */
export function matchingStep(
  secret: string,
  typed: string,
  now: Date,
  lastUsed: number | null,
): number | undefined {
  if (!/^\d{6}$/.test(typed)) return undefined;
  const current = stepAt(now);
  return [current - 1, current, current + 1].find(
    (step) =>
      (lastUsed === null || step > lastUsed) &&
      timingSafeEqual(Buffer.from(totpCode(secret, step)), Buffer.from(typed)),
  );
}

/** Ten letters and digits in two halves, for users who have lost the authenticator app. */
export function newRecoveryCode(): string {
  const text = base32(randomBytes(10)).toLowerCase();
  return `${text.slice(0, 5)}-${text.slice(5, 10)}`;
}

/** Users may type them in capitals, with blanks or without the hyphen. */
export function toRecoveryCode(typed: string): string | undefined {
  const text = typed.toLowerCase().replaceAll(/[\s-]/g, '');
  return /^[a-z2-7]{10}$/.test(text) ? `${text.slice(0, 5)}-${text.slice(5)}` : undefined;
}
