import { expect, test } from 'vitest';
import {
  matchingStep,
  newRecoveryCode,
  newTotpSecret,
  stepAt,
  toRecoveryCode,
  totpAddress,
  totpCode,
} from './totp-code.ts';

/** "12345678901234567890", the secret of the examples in RFC 6238. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('the code of second %i is %s, as RFC 6238 says', (second, code) => {
  expect(totpCode(SECRET, stepAt(new Date(second * 1000)))).toBe(code);
});

test('a code is right half a minute before and after, and never again', () => {
  const now = new Date('2026-11-16T10:00:10Z');
  const step = stepAt(now);
  for (const [offset, expected] of [
    [-2, undefined],
    [-1, step - 1],
    [0, step],
    [1, step + 1],
    [2, undefined],
  ] as const) {
    expect(matchingStep(SECRET, totpCode(SECRET, step + offset), now, null)).toBe(expected);
  }
  expect(matchingStep(SECRET, totpCode(SECRET, step), now, step)).toBe(undefined);
  expect(matchingStep(SECRET, totpCode(SECRET, step - 1), now, step)).toBe(undefined);
  expect(matchingStep(SECRET, totpCode(SECRET, step + 1), now, step)).toBe(step + 1);
  for (const typed of ['', '12345', '1234567', 'abcdef', '１２３４５６']) {
    expect(matchingStep(SECRET, typed, now, null)).toBe(undefined);
  }
});

test('a secret has 160 bits, and the address of the QR code names it', () => {
  const secret = newTotpSecret();
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(newTotpSecret()).not.toBe(secret);
  const address = new URL(totpAddress(secret, 'ada+1@shop.example', 'Kontor shop.example'));
  expect(decodeURIComponent(address.pathname)).toBe('/Kontor shop.example:ada+1@shop.example');
  expect(address.searchParams.get('secret')).toBe(secret);
  expect(address.searchParams.get('issuer')).toBe('Kontor shop.example');
});

test('a recovery code is read however it is typed', () => {
  const code = newRecoveryCode();
  expect(code).toMatch(/^[a-z2-7]{5}-[a-z2-7]{5}$/);
  expect(toRecoveryCode(` ${code.toUpperCase().replace('-', ' ')} `)).toBe(code);
  expect(toRecoveryCode('123456')).toBe(undefined);
});
