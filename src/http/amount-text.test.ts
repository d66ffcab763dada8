import { expect, test } from 'vitest';
import { amountWithUnit } from './amount-text.ts';
import { moneyText } from './price-text.ts';

test.each([
  [1, 'piece(s)', 'en_GB', '1 piece'],
  [2, 'piece(s)', 'en_GB', '2 pieces'],
  [0.5, 'box(es)', 'en_GB', '0.5 boxes'],
  [1, 'foot / feet', 'en_GB', '1 foot'],
  [3, 'foot / feet', 'en_GB', '3 feet'],
  [1234.5, 'm', 'en_GB', '1,234.5 m'],
  [2, 'Stück', 'de_DE', '2 Stück'],
  [7.5, 'm', 'de_DE', '7,5 m'],
  // In French one and a half is still one.
  [1.5, 'pièce(s)', 'fr_FR', '1,5 pièce'],
  [2, 'pièce(s)', 'fr_FR', '2 pièces'],
])('%d of %s in %s', (amount, unit, locale, text) => {
  expect(amountWithUnit(amount, unit, locale).replaceAll('\u00a0', ' ')).toBe(text);
});

test.each([
  [1200, 'EUR', 'en_GB', '€12.00'],
  [-1409, 'EUR', 'en_GB', '-€14.09'],
  [123_456, 'USD', 'en_GB', '$1,234.56'],
  [123_456, 'EUR', 'de_DE', '1.234,56 €'],
  [-1409, 'EUR', 'de_DE', '-14,09 €'],
  [123_456, 'EUR', 'fr_FR', '1 234,56 €'],
  [1200, 'JPY', 'en_GB', '¥1,200'],
  [-0, 'EUR', 'en_GB', '€0.00'],
])('%d of %s in %s', (minor, currency, locale, text) => {
  expect(moneyText(minor, currency, locale)).toBe(text);
});
