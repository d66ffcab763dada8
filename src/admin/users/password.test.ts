import { expect, test } from 'vitest';
import { passwordProblem } from './password.ts';

const EMAIL = 'mira@shop.example';

test.each([
  // In the list itself.
  '1qaz2wsx3edc',
  'Basketball',
  'qwertyuiop',
  // Common words with what people add to them.
  'Manchester2026!',
  '!!dragon12345',
  'Passwort-2026',
  'motdepasse123',
  // Nothing but digits around nothing.
  '1234567890',
  'aaaaaaaaab',
])('%s is too common', async (password) => {
  expect(await passwordProblem(password, EMAIL)).toBe('common');
});

test.each(['correct horse battery', 'zwölf Boxkämpfer', 'dragon of the north sea', 'x7!kd-93hhs2'])(
  '%s is good',
  async (password) => {
    expect(await passwordProblem(password, EMAIL)).toBeUndefined();
  },
);

test('a short, a long and one with the address are told apart', async () => {
  expect(await passwordProblem('a'.repeat(9), EMAIL)).toBe('short');
  expect(await passwordProblem('ab cd ef gh '.repeat(20), EMAIL)).toBe('long');
  expect(await passwordProblem('Mira@Shop.example1', EMAIL)).toBe('email');
});
