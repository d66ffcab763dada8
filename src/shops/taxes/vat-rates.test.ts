import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isCountry, isInEu } from '../countries/countries.ts';
import { standardVat } from './vat-rates.ts';

const rates = JSON.parse(readFileSync(new URL('./vat-rates.json', import.meta.url), 'utf8')) as Record<
  string,
  number
>;

test.each(Object.entries(rates))('the standard rate of %s, %i basis points', (country, rate) => {
  expect(isCountry(country)).toBe(true);
  expect(Number.isInteger(rate)).toBe(true);
  // The law of the EU demands at least 15 %; the highest rate of Europe is the Hungarian one.
  expect(rate).toBeGreaterThanOrEqual(isInEu(country) ? 1500 : 0);
  expect(rate).toBeLessThanOrEqual(2700);
  expect(standardVat(country)).toBe(rate);
});

test('every country of the EU has a rate', () => {
  expect(Object.keys(rates).filter(isInEu)).toHaveLength(27);
});
