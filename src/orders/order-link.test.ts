import { expect, test } from 'vitest';
import { orderTokens } from './order-link.ts';

const ORDER = '0193A5B2-7C4D-7E8F-9A0B-1C2D3E4F5A6B';
const tokens = orderTokens(Buffer.alloc(32, 7));

test('a token opens its order in its shop, and nothing else', () => {
  const token = tokens.token('DemoShop', ORDER);
  expect(tokens.orderId('DemoShop', token)).toBe(ORDER);
  expect(tokens.orderId('OtherShop', token)).toBeUndefined();
  expect(orderTokens(Buffer.alloc(32, 8)).orderId('DemoShop', token)).toBeUndefined();
});

test.each([
  ['empty', () => ''],
  ['cut', (token: string) => token.slice(0, -1)],
  ['longer', (token: string) => `${token}A`],
  // The last character of 32 bytes has two bits that do not count: 'A' and 'B' would decode to the same bytes.
  ['another last character', (token: string) => token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A')],
  ['another order', (token: string) => (token.startsWith('A') ? 'B' : 'A') + token.slice(1)],
])('a token that is %s opens nothing', (_, damaged) => {
  expect(tokens.orderId('DemoShop', damaged(tokens.token('DemoShop', ORDER)))).toBeUndefined();
});
