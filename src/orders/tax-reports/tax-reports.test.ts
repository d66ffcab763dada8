import { expect, test } from 'vitest';
import { ecSalesList, ossReport, vatSummary } from './summaries.ts';
import { treatmentOf, vatCountry, type SupplySum } from './supplies.ts';

const supply = (given: Partial<SupplySum>): SupplySum => ({
  currency: 'EUR',
  country: 'DE',
  sellerCountry: 'DE',
  treatment: null,
  rate: 1900,
  isService: false,
  vatNumber: null,
  creditedQuarter: null,
  net: 10_000,
  tax: 1_900,
  ...given,
});

test.each([
  ['what is stored counts', { treatment: 'reverseCharge', country: 'DE' }, 'reverseCharge'],
  ['within the country', { country: 'DE', rate: 700 }, 'domestic'],
  ['within the country without tax', { country: 'DE', rate: 0 }, 'domestic'],
  ['out of the Union without tax', { country: 'CH', rate: 0 }, 'export'],
  ['out of the Union with tax', { country: 'CH', rate: 1900 }, 'domestic'],
  ['to a member state at its rate', { country: 'AT', rate: 2000 }, 'oss'],
  ['to a member state at the rate of the seller', { country: 'AT', rate: 1900 }, 'domestic'],
  ['to a member state with the same rate', { country: 'RO', rate: 1900 }, 'domestic'],
  ['to a business', { country: 'AT', rate: 0, vatNumber: 'ATU12345678' }, 'intraCommunity'],
  ['to a member state without tax and number', { country: 'AT', rate: 0 }, 'domestic'],
  ['from outside of the Union', { country: 'DE', sellerCountry: 'CH', rate: 0 }, 'export'],
])('the treatment of an older order: %s', (_case, given, treatment) => {
  expect(treatmentOf(supply(given))).toBe(treatment);
});

test('Greece and Northern Ireland have the codes of VAT returns', () => {
  expect(vatCountry({ country: 'GR', treatment: 'oss' })).toBe('EL');
  expect(vatCountry({ country: 'GB', treatment: 'oss' })).toBe('XI');
  expect(vatCountry({ country: 'GB', treatment: 'export' })).toBe('GB');
  expect(vatCountry({ country: 'MC', treatment: 'oss' })).toBe('FR');
});

const sold = [
  supply({ net: 10_000, tax: 1_900 }),
  supply({ rate: 700, net: 2_000, tax: 140 }),
  supply({ net: -1_000, tax: -190, creditedQuarter: '2026-Q1' }),
  supply({ country: 'AT', treatment: 'oss', rate: 2000, net: 5_000, tax: 1_000 }),
  supply({ country: 'AT', treatment: 'oss', rate: 2000, net: 500, tax: 100, isService: true }),
  supply({
    country: 'AT',
    treatment: 'oss',
    rate: 2000,
    net: -1_000,
    tax: -200,
    creditedQuarter: '2026-Q2',
  }),
  supply({ country: 'AT', treatment: 'oss', rate: 2000, net: -300, tax: -60, creditedQuarter: '2026-Q1' }),
  supply({ country: 'GR', treatment: 'oss', rate: 2400, net: 100, tax: 24 }),
  supply({
    country: 'FR',
    treatment: 'intraCommunity',
    rate: 0,
    net: 7_000,
    tax: 0,
    vatNumber: 'FR 12345678901',
  }),
  supply({
    country: 'FR',
    treatment: 'intraCommunity',
    rate: 0,
    net: -500,
    tax: 0,
    vatNumber: 'FR12345678901',
    creditedQuarter: '2026-Q2',
  }),
  supply({
    country: 'FR',
    treatment: 'reverseCharge',
    rate: 0,
    net: 900,
    tax: 0,
    vatNumber: 'FR12345678901',
  }),
  supply({ currency: 'CHF', country: 'CH', treatment: 'export', rate: 0, net: 4_000, tax: 0 }),
];

test('the VAT summary sums by currency, treatment, country and rate', () => {
  const { rows, totals } = vatSummary(sold);
  expect(rows.map(({ treatment, country, rate, net, tax }) => [treatment, country, rate, net, tax])).toEqual([
    ['export', 'CH', 0, 4_000, 0],
    ['domestic', 'DE', 1900, 9_000, 1_710],
    ['domestic', 'DE', 700, 2_000, 140],
    ['oss', 'AT', 2000, 4_200, 840],
    ['oss', 'GR', 2400, 100, 24],
    ['intraCommunity', 'FR', 0, 6_500, 0],
    ['reverseCharge', 'FR', 0, 900, 0],
  ]);
  expect(totals).toEqual([
    { currency: 'CHF', net: 4_000, tax: 0, gross: 4_000 },
    { currency: 'EUR', net: 22_700, tax: 2_714, gross: 25_414 },
  ]);
});

test('the OSS report has corrections of earlier quarters apart', () => {
  expect(ossReport(sold, '2026-Q2')).toEqual({
    rows: [
      { currency: 'EUR', country: 'AT', isService: false, rate: 2000, net: 4_000, tax: 800 },
      { currency: 'EUR', country: 'AT', isService: true, rate: 2000, net: 500, tax: 100 },
      { currency: 'EUR', country: 'EL', isService: false, rate: 2400, net: 100, tax: 24 },
    ],
    corrections: [{ currency: 'EUR', country: 'AT', quarter: '2026-Q1', net: -300, tax: -60 }],
  });
});

test('the EC sales list sums by VAT number, goods and services', () => {
  expect(ecSalesList(sold)).toEqual([
    { currency: 'EUR', vatNumber: 'FR12345678901', kind: 'L', net: 6_500 },
    { currency: 'EUR', vatNumber: 'FR12345678901', kind: 'S', net: 900 },
  ]);
});
