import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isCountry, isInEu } from '../countries/countries.ts';
import { reducedVat, standardVat, VAT_YEAR } from './vat-rates.ts';

const { year, rates } = JSON.parse(readFileSync(new URL('./vat-rates.json', import.meta.url), 'utf8')) as {
  year: number;
  rates: Record<string, number[]>;
};

test.each(Object.entries(rates))('the rates of %s, %j basis points', (country, [standard, ...reduced]) => {
  expect(isCountry(country)).toBe(true);
  expect([standard!, ...reduced].every(Number.isInteger)).toBe(true);
  // The law of the EU demands at least 15 %; the highest rate of Europe is the Hungarian one.
  expect(standard).toBeGreaterThanOrEqual(isInEu(country) ? 1500 : 0);
  expect(standard).toBeLessThanOrEqual(2700);
  expect(reduced).toEqual([...new Set(reduced)].toSorted((left, right) => right - left));
  expect(reduced.every((rate) => rate >= 0 && rate < standard!)).toBe(true);
  expect(standardVat(country)).toBe(standard);
  expect(reducedVat(country)).toEqual(reduced);
});

test('the year of the rates is said, and a country without rates has none', () => {
  expect(VAT_YEAR).toBe(year);
  expect([standardVat('US'), reducedVat('US')]).toEqual([undefined, []]);
});

test('every country of the EU has a rate', () => {
  expect(Object.keys(rates).filter(isInEu)).toHaveLength(27);
});
