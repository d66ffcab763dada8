import { describe, expect, test } from 'vitest';
import { isId, isSecretOf, newId, newSecret, secretHash } from './ids.ts';

describe('newId', () => {
  test('is a version 7 UUID in upper case that begins with its time', () => {
    const id = newId(new Date(0x0193_a5f0_7c1e));
    expect(id).toMatch(/^0193A5F0-7C1E-7[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$/);
    expect(isId(id)).toBe(true);
  });

  test('sorts by time', () => {
    const times = [0, 1, 1_000, 1_700_000_000_000, 1_700_000_000_001, 4_000_000_000_000];
    const ids = times.map((time) => newId(new Date(time)));
    expect(ids.toSorted()).toEqual(ids);
  });

  test('differs within a millisecond', () => {
    const now = new Date();
    expect(new Set(Array.from({ length: 10_000 }, () => newId(now))).size).toBe(10_000);
  });

  test('sorts within a millisecond, until the sequence starts again', () => {
    const now = new Date();
    const ids = Array.from({ length: 100_000 }, () => newId(now));
    const backwards = ids.filter((id, index) => index > 0 && id < ids[index - 1]!);
    expect(backwards.length).toBeLessThanOrEqual(1);
  });
});

test.each([
  ['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E', true],
  ['0193a5f0-7c1e-7b3a-9d2e-4f6a8b0c1d2e', true],
  // Ids of other origin have no version digit.
  ['52F221E0-36F6-DC4E-384A-AC1504050C04', true],
  ['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2', false],
  ['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E0', false],
  ['0193A5F07C1E7B3A9D2E4F6A8B0C1D2E', false],
  ['{0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E}', false],
  ['G193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E', false],
  ['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E\n', false],
  ['', false],
])('%j is an id: %s', (text, is) => {
  expect(isId(text)).toBe(is);
});

describe('secrets', () => {
  test.each([24, 32] as const)('%i letters and digits, never the same', (length) => {
    const secrets = Array.from({ length: 1_000 }, () => newSecret(length));
    for (const secret of secrets) expect(secret).toMatch(new RegExp(`^[A-Za-z0-9]{${length}}$`));
    expect(new Set(secrets).size).toBe(1_000);
    // Every character of the alphabet is used.
    expect(new Set(secrets.join('')).size).toBe(62);
  });

  test('the hash is SHA-256 and fits its secret only', () => {
    const hash = secretHash('abc');
    expect(hash.toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(isSecretOf('abc', hash)).toBe(true);
    expect(isSecretOf('abd', hash)).toBe(false);
    expect(isSecretOf('', hash)).toBe(false);
  });
});
