import { describe, expect, it } from 'vitest';
import { isInEu } from '../countries/countries.ts';
import { isInVies, parseVatNumber, VAT_NUMBER_KINDS, vatPrefixOf } from './vat-numbers.ts';

/** Numbers that companies and authorities have published. */
const PUBLISHED = [
  'ATU13585627',
  'BE0428759497',
  'BE0403170701',
  'BG175074752',
  'BG7523169263',
  'CHE107787577IVA',
  'CY10259033P',
  'CZ25123891',
  'CZ7103192745',
  'DE136695976',
  'DE143454214',
  'DE811907980',
  'DK13585628',
  'EE100931558',
  'EL094259216',
  'ES54362315K',
  'ESB58378431',
  'ESJ99216582',
  'ESX2482300W',
  'FI20774740',
  'FR03552081317',
  'FR40303265045',
  'FR83404833048',
  'GB434031494',
  'GB980780684',
  'HR33392005961',
  'HU12892312',
  'IE6433435F',
  'IE6433435OA',
  'IE8D79739I',
  'IT00743110157',
  'LT100001919017',
  'LT119511515',
  'LU15027442',
  'LV40003521600',
  'MT11679112',
  'NL002455799B11',
  'NL004495445B01',
  'PL8567346215',
  'PT501964843',
  'RO18547290',
  'SE556188840401',
  'SI50223054',
  'SK2022749619',
];
const EXAMPLES = [...VAT_NUMBER_KINDS].map(([prefix, { example }]) => prefix + example);

const withoutSuffix = (number: string) => number.replace(/(?:MWST|IVA)$/, '');
const prefixOf = (number: string) => (number.startsWith('CHE') ? 'CHE' : number.slice(0, 2));

describe('VAT numbers', () => {
  it('has all member states, Northern Ireland, Great Britain and Switzerland', () => {
    const prefixes = [...VAT_NUMBER_KINDS.keys()];
    expect(prefixes.filter((prefix) => isInEu(prefix === 'EL' ? 'GR' : prefix))).toHaveLength(27);
    expect(prefixes.filter((prefix) => !isInEu(prefix))).toEqual(['CHE', 'EL', 'GB', 'XI']);
    expect(prefixes.filter((prefix) => !isInVies(prefix))).toEqual(['CHE', 'GB']);
    expect(new Set(PUBLISHED.map(prefixOf)).size).toBe(29);
  });

  it.each([...PUBLISHED, ...EXAMPLES, 'XI980780684', 'GBGD001', 'GBHA500', 'SE123456789701'])(
    'takes %s',
    (number) => {
      expect(parseVatNumber(number, null)).toEqual({
        prefix: prefixOf(number),
        number: withoutSuffix(number),
      });
    },
  );

  it('refuses numbers with one wrong digit', () => {
    for (const given of [...PUBLISHED, ...EXAMPLES]) {
      const number = withoutSuffix(given);
      // The last digits of Dutch and Swedish numbers count the businesses of one owner.
      const checked = number.slice(0, /^(?:NL|SE)/.test(number) ? -2 : undefined);
      const damaged = Array.from(checked).flatMap((sign, index) =>
        /\d/.test(sign)
          ? [1, 5, 8].map(
              (by) => `${number.slice(0, index)}${(Number(sign) + by) % 10}${number.slice(index + 1)}`,
            )
          : [],
      );
      const unseen = damaged.filter((one) => typeof parseVatNumber(one, null) === 'object');
      // Bulgaria has three rules for ten digits, the Netherlands two; in others a remainder of 10 counts as 0.
      const share = given === 'BG7523169263' ? 0.4 : given.startsWith('NL') ? 0.15 : 0.1;
      expect(unseen.length / damaged.length, `${given}: ${unseen.join()}`).toBeLessThanOrEqual(share);
    }
  });

  it.each([
    ['DE136695977', 'DE136695976'],
    ['FR40303265046', 'FR40303265045'],
    ['NL004495444B01', 'NL004495445B01'],
    ['ATU13585628', 'ATU13585627'],
    ['CHE107787578', 'CHE107787577'],
    ['IE6433435FA', 'IE6433435F'],
    ['ESB58378432', 'ESB58378431'],
    ['CY10259033Q', 'CY10259033P'],
  ])('refuses %s for its check digits, not %s', (wrong, right) => {
    expect(parseVatNumber(wrong, null)).toBe('checkDigits');
    expect(parseVatNumber(right, null)).toMatchObject({ number: right });
  });

  it.each([
    [' de 136 695 976 ', null, 'DE136695976'],
    ['136695976', 'DE', 'DE136695976'],
    ['40 303 265 045', 'FR', 'FR40303265045'],
    ['U13585627', 'AT', 'ATU13585627'],
    ['B58378431', 'ES', 'ESB58378431'],
    ['GR094259216', 'GR', 'EL094259216'],
    ['094259216', 'GR', 'EL094259216'],
    ['CHE-107.787.577 MWST', 'CH', 'CHE107787577'],
    ['CHE-107.787.577 TVA', null, 'CHE107787577'],
    ['BE 0428.759.497', 'FR', 'BE0428759497'],
  ])('reads %s of %s as %s', (text, country, number) => {
    expect(parseVatNumber(text, country)).toMatchObject({ number });
  });

  it.each([
    ['', 'DE'],
    ['DE', null],
    ['136695976', null],
    ['136695976', 'US'],
    ['US136695976', 'DE'],
    ['DE13669597', null],
    ['DE1366959760', null],
    ['<script>', 'FR'],
    ['DE'.padEnd(100, '1'), null],
    ['DE１３６６９５９７６', null],
    ['__proto__', 'constructor'],
  ])('refuses %s of %s for its form', (text, country) => {
    expect(parseVatNumber(text, country)).toBe('form');
  });

  it('takes numbers without public check digits by their form', () => {
    for (const number of ['CZ395601439', 'FRAB123456789', 'LV32012345678']) {
      expect(parseVatNumber(number, null)).toMatchObject({ number });
    }
  });

  it('knows the prefix of a country', () => {
    expect(['DE', 'GR', 'CH', 'MC', 'US', 'EL'].map(vatPrefixOf)).toEqual([
      'DE',
      'EL',
      'CHE',
      'FR',
      undefined,
      'EL',
    ]);
  });
});
