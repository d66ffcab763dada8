import { expect, test } from 'vitest';
import { UNIT_KEYS, UNIT_NAMES, UNITS, type UnitKey } from './units.ts';

test.each(Object.entries(UNITS))('the unit %s', (key, { code, ...names }) => {
  expect(key).toMatch(/^[a-z]+$/);
  // UN/ECE recommendation 20, or 21 behind an X.
  expect(code).toMatch(/^[A-Z\d]{2,3}$/);
  expect(Object.keys(names).every((name) => ['long', 'short', 'orderShort'].includes(name))).toBe(true);
  expect(Object.values(names).every((name) => name !== '' && name === name.trim())).toBe(true);
  expect(names.long).toBeDefined();
});

test.each(Object.entries(UNIT_NAMES))(
  'the units have names in %s, and a sign where they have one',
  (_, names) => {
    expect(Object.keys(names)).toEqual(UNIT_KEYS);
    for (const [key, { short, orderShort }] of Object.entries(names)) {
      const english = UNITS[key as UnitKey];
      expect([key, short === undefined, orderShort === undefined]).toEqual([
        key,
        english.short === undefined,
        english.orderShort === undefined,
      ]);
    }
  },
);
