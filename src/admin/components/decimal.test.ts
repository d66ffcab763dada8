import { expect, test } from 'vitest';
import { decimalText, localisedDecimal, parseLocalisedDecimal, typedDecimal } from './decimal.ts';

test.each([
  ['12.5', '12.5', '12.5'],
  ['12,5', '12.5', '12.5'],
  ['12.50', '12.50', '12.50'],
  ['1.234,50', '1234.50', '1234.50'],
  ['1,234.50', '1234.50', '1234.50'],
  ['1 234,5', '1234.5', '1234.5'],
  ['1\u202f234,5', '1234.5', '1234.5'],
  ["1'234.50", '1234.50', '1234.50'],
  ['-3,1', '-3.1', '-3.1'],
  ['1234,567', '1234.567', '1234.567'],
  ['1,234', '1234', '1.234'],
  ['1.234', '1.234', '1234'],
  ['1.234.567', '1234567', '1234567'],
  [',5', '0.5', '0.5'],
  ['-3', '-3', '-3'],
  ['', undefined, undefined],
  ['a lot', undefined, undefined],
  ['1-2', undefined, undefined],
])('%j is %s in English, and %s in German and French', (typed, english, other) => {
  const read = (['en', 'de', 'fr'] as const).map((language) => parseLocalisedDecimal(typed, language));
  expect(read).toEqual([english, other, other]);
  // Forms whose operation refuses wrong values read by the same rule.
  const sent = (['en', 'de', 'fr'] as const).map((language) => typedDecimal(typed, language));
  expect(sent).toEqual([english ?? typed, other ?? typed, other ?? typed]);
});

test.each([
  ['1.234', 'de', '1,234'],
  ['1.50', 'fr', '1,50'],
  ['1.50', 'en', '1.50'],
  ['ten.', 'de', 'ten.'],
] as const)('the decimal %j is shown in %s as %j, and read as the same', (decimal, language, shown) => {
  expect(localisedDecimal(decimal, language)).toBe(shown);
  expect(typedDecimal(shown, language)).toBe(decimal);
});

test('numbers are shown as they are typed', () => {
  expect([decimalText(9.9, 'en', 2), decimalText(9.9, 'de', 2), decimalText(0.5, 'fr')]).toEqual([
    '9.90',
    '9,90',
    '0,5',
  ]);
});
