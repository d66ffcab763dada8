import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newCartToken, requireCartToken } from './cart-token.ts';

const refusal = expect.objectContaining({ name: 'HttpError', status: 403 });

describe('the cart token', () => {
  test('has 24 characters, is never the same, and is kept as a hash', () => {
    const first = newCartToken();
    const second = newCartToken();
    expect(first.token).toMatch(/^[A-Za-z0-9]{24}$/);
    expect(second.token).not.toBe(first.token);
    expect(first.hash).toEqual(createHash('sha256').update(first.token).digest());
  });

  test('opens its own cart', () => {
    const { token, hash } = newCartToken();
    expect(() => requireCartToken(token, hash)).not.toThrow();
  });

  test('anything else is refused with 403', () => {
    const { token, hash } = newCartToken();
    const wrong = [undefined, '', newCartToken().token, token.slice(1), `${token} `, token.toLowerCase()];
    for (const sent of wrong) expect(() => requireCartToken(sent, hash)).toThrow(refusal);
  });
});
