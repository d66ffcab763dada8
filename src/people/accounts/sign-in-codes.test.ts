import { expect, test } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { signInCodes } from './sign-in-codes.ts';

const codes = signInCodes(Buffer.alloc(32, 1));
const now = new Date('2026-11-16T12:00:00Z');

test('digits belong to their request, their shop and their installation', () => {
  const requestId = newId(now);
  const digits = codes.digits('DemoShop', requestId);
  expect(digits).toMatch(/^\d{6}$/);
  expect(codes.isDigits('DemoShop', requestId, digits)).toBe(true);
  expect(codes.isDigits('OtherShop', requestId, digits)).toBe(false);
  expect(codes.isDigits('DemoShop', newId(now), digits)).toBe(false);
  expect(codes.isDigits('DemoShop', requestId, '')).toBe(false);
  expect(codes.isDigits('DemoShop', requestId, `${digits}0`)).toBe(false);
  expect(signInCodes(Buffer.alloc(32, 2)).isDigits('DemoShop', requestId, digits)).toBe(false);
});

test('digits are spread over all numbers, those with zeros in front included', () => {
  const all = Array.from({ length: 2_000 }, () => codes.digits('DemoShop', newId(now)));
  expect(new Set(all).size).toBeGreaterThan(1_980);
  expect(all.filter((digits) => digits.startsWith('0')).length).toBeGreaterThan(100);
  expect(all.every((digits) => /^\d{6}$/.test(digits))).toBe(true);
});

test('the token of a link names its request, in its shop only', () => {
  const requestId = newId(now);
  const token = codes.token('DemoShop', requestId);
  expect(codes.requestId('DemoShop', token)).toBe(requestId);
  expect(codes.requestId('OtherShop', token)).toBeUndefined();
  expect(codes.requestId('DemoShop', token.replace(requestId, newId(now)))).toBeUndefined();
  expect(codes.requestId('DemoShop', `${token}x`)).toBeUndefined();
  expect(codes.requestId('DemoShop', '')).toBeUndefined();
  expect(signInCodes(Buffer.alloc(32, 2)).requestId('DemoShop', token)).toBeUndefined();
});
