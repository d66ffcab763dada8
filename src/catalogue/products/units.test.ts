import { expect, test } from 'vitest';
import { findUnit, unitNames, unitSign } from './units.ts';

const NO_NAMES = { units: {} };
const OWN_NAMES = { units: { piece: { de_DE: { long: 'Stk.' } } } };

test.each([
  ['en_GB', 'piece(s)'],
  ['de_DE', 'Stück'],
  ['de_AT', 'Stück'],
  ['fr_FR', 'pièce(s)'],
  ['nl_NL', 'piece(s)'],
])('in %s a piece is %s, where the shop says nothing', (locale, name) => {
  expect(unitSign('piece', locale, NO_NAMES)).toBe(name);
});

test('the names of the shop come first, in their locale', () => {
  expect(unitNames('piece', 'de_DE', OWN_NAMES).long).toBe('Stk.');
  expect(unitNames('piece', 'de_AT', OWN_NAMES).long).toBe('Stück');
});

test.each([
  ['piece', 'piece'],
  ['piece(s)', 'piece'],
  ['Stück', 'piece'],
  ['PIÈCE(S)', 'piece'],
  ['stk.', 'piece'],
  ['Kilogramm', 'kilogram'],
  ['o', 'byte'],
  ['Elle', undefined],
])('%s is understood as %s', (text, unit) => {
  expect(findUnit(text, OWN_NAMES)).toBe(unit);
});
