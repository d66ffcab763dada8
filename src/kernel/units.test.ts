import { expect, test } from 'vitest';
import { UNITS } from './units.ts';

test.each(Object.entries(UNITS))('the unit %s', (key, { code, ...names }) => {
  expect(key).toMatch(/^[a-z]+$/);
  // UN/ECE recommendation 20, or 21 behind an X.
  expect(code).toMatch(/^[A-Z\d]{2,3}$/);
  expect(Object.keys(names).every((name) => ['long', 'short', 'orderShort'].includes(name))).toBe(true);
  expect(Object.values(names).every((name) => name !== '' && name === name.trim())).toBe(true);
  expect(names.long).toBeDefined();
});
