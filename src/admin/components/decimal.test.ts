import { expect, test } from 'vitest';
import { parseLocalisedDecimal, decimalText } from './decimal.ts';

test.each([
  ['12.5', '12.5', '12.5'],
  ['12,5', '12.5', '12.5'],
  ['1.234,50', '1234.50', '1234.50'],
  ['1,234.50', '1234.50', '1234.50'],
  ['1 234,5', '1234.5', '1234.5'],
  ['1,234', '1234', '1.234'],
  ['1.234', '1.234', '1234'],
  ['1.234.567', '1234567', '1234567'],
  [',5', '0.5', '0.5'],
  ['-3', '-3', '-3'],
  ['', undefined, undefined],
  ['a lot', undefined, undefined],
  ['1-2', undefined, undefined],
])('%j is %s in English and %s in German', (typed, english, german) => {
  expect([parseLocalisedDecimal(typed, 'en'), parseLocalisedDecimal(typed, 'de')]).toEqual([english, german]);
});

test('numbers are shown as they are typed', () => {
  expect([decimalText(9.9, 'en', 2), decimalText(9.9, 'de', 2), decimalText(0.5, 'fr')]).toEqual([
    '9.90',
    '9,90',
    '0,5',
  ]);
});
