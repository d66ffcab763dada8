import { describe, expect, test } from 'vitest';
import { HttpError } from './errors.ts';
import { offeredLocale, readingCurrency, readingLocale, textIn } from './locale.ts';

const shop = {
  locales: ['en_GB', 'de_DE', 'fi_FI'],
  defaultLocale: 'de_DE',
  currencies: ['EUR', 'GBP'],
  defaultCurrency: 'EUR',
};

describe('offeredLocale', () => {
  test.each([
    ['en_GB', 'en_GB'],
    ['fi_fi', 'fi_FI'],
    ['DE_de', 'de_DE'],
    ['en_US', undefined],
    ['fr_FR', undefined],
  ])('%s is %s', (asked, offered) => {
    expect(offeredLocale(asked, shop.locales)).toBe(offered);
  });

  test.each(['en', '', 'en-GB', 'eng_GB', 'en_GBR', 'en_GB ', 'en_GB\n', '__', 'english'])(
    '%j is refused in the words of the contract',
    (asked) => {
      let thrown: unknown;
      try {
        offeredLocale(asked, shop.locales);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(HttpError);
      expect(thrown).toMatchObject({ status: 400, message: 'expected full locale for example en_US' });
    },
  );
});

test.each([
  [undefined, 'de_DE'],
  ['en_GB', 'en_GB'],
  ['en_gb', 'en_GB'],
  ['fr_FR', 'de_DE'],
])('reading in %s is reading in %s', (asked, read) => {
  expect(readingLocale(asked, shop)).toBe(read);
});

test('reading in two letters is refused, also when the shop has the language', () => {
  expect(() => readingLocale('en', shop)).toThrow('expected full locale for example en_US');
});

test.each([
  [undefined, 'EUR'],
  ['GBP', 'GBP'],
  ['gbp', 'GBP'],
  ['USD', 'EUR'],
  ['', 'EUR'],
  ['pounds', 'EUR'],
])('the currency %s is %s', (asked, read) => {
  expect(readingCurrency(asked, shop)).toBe(read);
});

test.each([
  [{ en_GB: 'Tea', de_DE: 'Tee' }, 'Tea'],
  [{ de_DE: 'Tee' }, 'Tee'],
  [{ en_GB: '', de_DE: 'Tee' }, ''],
  [{ fi_FI: 'Tee' }, null],
  [{}, null],
])('of %j English readers see %j', (texts, text) => {
  expect(textIn(texts, 'en_GB', 'de_DE')).toBe(text);
});
