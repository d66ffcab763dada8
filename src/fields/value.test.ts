import { describe, expect, test } from 'vitest';
import { ValidationError } from '../http/errors.ts';
import type { CustomField, FieldType } from '../shops/settings/settings.ts';
import { seeded } from '../../test/fuzz/random.ts';
import { isJsonSchema, matchesSchema } from './json-schema.ts';
import { filterText, givenValue, shownFields, storedValues } from './value.ts';

const CONTEXT = { locales: ['en_GB', 'de_DE'], currencies: ['EUR', 'JPY'] };
const ID = '0193a5f0-7c1e-7b3a-9d2e-4f6a8b0c1d2e';

const fieldOf = (type: FieldType, facts: Partial<CustomField> = {}): CustomField => ({
  fieldId: 'F',
  resource: 'product',
  namespace: 'care',
  key: 'washing',
  appId: null,
  type,
  name: { en_GB: 'Care', de_DE: 'Pflege' },
  description: null,
  isList: false,
  isLocalised: false,
  readableBy: 'public',
  writableBy: 'merchant',
  isFilter: false,
  isFacet: false,
  feedAttribute: null,
  choices: type === 'choice' ? [{ key: 'cold', label: { en_GB: 'Cold', de_DE: 'Kalt' } }] : null,
  jsonSchema: null,
  ...facts,
});

/** Whole numbers from one to another, which are the same in every run. */
function integersOf(seed: number) {
  const random = seeded(seed);
  return (from: number, to: number) => from + random.below(to - from + 1);
}

const stored = (type: FieldType, given: unknown, facts?: Partial<CustomField>) =>
  storedValues(fieldOf(type, facts), given, CONTEXT).map(({ locale, value, filterKey }) => [
    locale,
    value,
    filterKey,
  ]);

/** The problems of a refused value. */
function problemsOf(type: FieldType, given: unknown, facts?: Partial<CustomField>): string[] {
  try {
    stored(type, given, facts);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.problems.map(({ code, field }) => `${code} ${field}`);
  }
  return [];
}

describe('one value', () => {
  test.each<[FieldType, unknown, unknown, string | null]>([
    ['text', 'Cold Wash', 'Cold Wash', 'cold wash'],
    ['richText', '<p>Cold</p>', '<p>Cold</p>', null],
    ['number', 1.5, '1.5', '1.5'],
    ['number', ' 001.50 ', '1.5', '1.5'],
    ['number', '-0.10', '-0.1', '-0.1'],
    ['number', '-0', '0', '0'],
    ['number', '123456789012345.0123456789', '123456789012345.0123456789', '123456789012345.0123456789'],
    ['money', { amount: '12.90', currency: 'EUR' }, { amount: 1290, currency: 'EUR' }, null],
    ['money', { amount: 12, currency: 'JPY' }, { amount: 12, currency: 'JPY' }, null],
    ['boolean', false, false, 'false'],
    ['date', '2028-02-29', '2028-02-29', '2028-02-29'],
    ['choice', 'cold', 'cold', 'cold'],
    ['json', { a: [1, null] }, { a: [1, null] }, null],
    ['product', ID, ID.toUpperCase(), ID],
  ])('of the type %s: %j', (type, given, value, filterKey) => {
    expect(stored(type, given)).toEqual([['', value, filterKey]]);
  });

  test.each<[FieldType, unknown, string]>([
    ['text', 12, 'WRONG_TYPE care.washing'],
    ['text', ' \n', 'STRING_EMPTY care.washing'],
    ['text', 'x'.repeat(5_001), 'TOO_LONG care.washing'],
    ['richText', 'x'.repeat(20_001), 'TOO_LONG care.washing'],
    ['number', '1e3', 'WRONG_FORMAT care.washing'],
    ['number', '1234567890123456', 'WRONG_FORMAT care.washing'],
    ['number', true, 'WRONG_TYPE care.washing'],
    ['money', 12, 'WRONG_TYPE care.washing'],
    ['money', { amount: 12, currency: 'USD' }, 'UNKNOWN_VALUE care.washing.currency'],
    ['money', { amount: '999999999999', currency: 'EUR' }, 'OUT_OF_RANGE care.washing.amount'],
    ['boolean', 'true', 'WRONG_TYPE care.washing'],
    ['date', '2027-02-29', 'WRONG_FORMAT care.washing'],
    ['choice', 'hot', 'UNKNOWN_VALUE care.washing'],
    ['json', 'x'.repeat(20_000), 'TOO_LONG care.washing'],
    ['json', [[[[[[[[[[[1]]]]]]]]]]], 'TOO_LONG care.washing'],
    ['product', 'TE-100', 'UNKNOWN_VALUE care.washing'],
  ])('of the type %s is refused where it is wrong (%#)', (type, given, problem) => {
    expect(problemsOf(type, given)).toEqual([problem]);
  });
});

test('lists keep their order and are bounded', () => {
  expect(stored('number', [2, 1], { isList: true }).map(([, value]) => value)).toEqual(['2', '1']);
  expect(stored('number', [], { isList: true })).toEqual([]);
  expect(problemsOf('number', 1, { isList: true })).toEqual(['WRONG_TYPE care.washing']);
  expect(problemsOf('number', Array(51).fill(1), { isList: true })).toEqual(['TOO_LONG care.washing']);
  expect(problemsOf('number', [1, 'x'], { isList: true })).toEqual(['WRONG_FORMAT care.washing[1]']);
  expect(problemsOf('json', [null], { isList: true })).toEqual(['WRONG_TYPE care.washing[0]']);
});

test('a field with languages has a value in each of them, and shows that of the language or of the default one', () => {
  const field = fieldOf('text', { isLocalised: true });
  const rows = storedValues(field, { en_GB: 'Cold', de_DE: 'Kalt' }, CONTEXT);
  expect(givenValue(field, rows)).toEqual({ en_GB: 'Cold', de_DE: 'Kalt' });
  const shown = (locale: string, of = rows) =>
    shownFields([field], of, { locale, defaultLocale: 'en_GB' }).map(({ name, value }) => [name, value]);
  expect(shown('de_DE')).toEqual([['Pflege', 'Kalt']]);
  expect(
    shown(
      'de_DE',
      rows.filter(({ locale }) => locale === 'en_GB'),
    ),
  ).toEqual([['Pflege', 'Cold']]);
  expect(shown('de_DE', [])).toEqual([]);
  expect(problemsOf('text', { fr_FR: 'Froid' }, { isLocalised: true })).toEqual([
    'UNKNOWN_VALUE care.washing.fr_FR',
  ]);
  expect(problemsOf('text', 'Cold', { isLocalised: true })).toEqual(['WRONG_TYPE care.washing']);
});

test('a choice shows its label', () => {
  const field = fieldOf('choice');
  const rows = storedValues(field, 'cold', CONTEXT);
  expect(shownFields([field], rows, { locale: 'de_DE', defaultLocale: 'en_GB' })).toEqual([
    { namespace: 'care', key: 'washing', name: 'Pflege', type: 'choice', value: 'cold', label: 'Kalt' },
  ]);
});

describe('properties', () => {
  test('numbers keep their value exactly, and equal numbers have equal texts', () => {
    const integer = integersOf(20261119);
    for (let round = 0; round < 500; round++) {
      const scale = integer(0, 10);
      const units = BigInt(integer(-999_999_999, 999_999_999));
      const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
      const text = `${units < 0n ? '-' : ''}${digits.slice(0, digits.length - scale)}${
        scale > 0 ? `.${digits.slice(-scale)}` : ''
      }`;
      const [[, value]] = stored('number', text) as [[string, string]];
      const [whole, fraction = ''] = value.split('.');
      const back = BigInt(whole!.replace('-', '') + fraction.padEnd(scale, '0').slice(0, scale));
      expect(value.startsWith('-') ? -back : back).toBe(units);
      // Its own text and one with more zeros are the same.
      expect(stored('number', value)).toEqual(stored('number', text));
      expect(value).toMatch(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
    }
  });

  test('whatever is accepted can be written again as it is answered', () => {
    const integer = integersOf(20261120);
    const samples: [FieldType, () => unknown][] = [
      ['text', () => `a${integer(0, 999)}`],
      ['number', () => integer(-1e6, 1e6) / 100],
      ['money', () => ({ amount: integer(0, 1e6) / 100, currency: 'EUR' })],
      ['boolean', () => integer(0, 1) === 1],
      ['json', () => ({ list: [integer(0, 9), { deep: 'text' }] })],
    ];
    for (let round = 0; round < 300; round++) {
      const [type, make] = samples[round % samples.length]!;
      const isLocalised = type === 'text' && round % 2 === 0;
      const field = fieldOf(type, { isList: true, isLocalised });
      const list = Array.from({ length: integer(1, 5) }, make);
      const rows = storedValues(field, isLocalised ? { de_DE: list } : list, CONTEXT);
      expect(storedValues(field, givenValue(field, rows), CONTEXT)).toEqual(rows);
    }
  });
});

test('the text of a filter is cut between characters', () => {
  expect(filterText(` a${'😀'.repeat(201)}`)).toBe(`a${'😀'.repeat(99)}`);
});

describe('schemas of JSON', () => {
  const schema = {
    type: 'object',
    properties: {
      width: { type: 'number', minimum: 1, maximum: 10 },
      tags: { type: 'array', items: { type: 'string', maxLength: 3 }, maxItems: 2 },
      kind: { enum: ['a', null] },
    },
    required: ['width'],
    additionalProperties: false,
  };

  test.each<[unknown, boolean]>([
    [{ width: 1 }, true],
    [{ width: 0 }, false],
    [{ width: '1' }, false],
    [{}, false],
    [[], false],
    [{ width: 2, tags: ['abc', 'd'] }, true],
    [{ width: 2, tags: ['abcd'] }, false],
    [{ width: 2, tags: ['a', 'b', 'c'] }, false],
    [{ width: 2, kind: null }, true],
    [{ width: 2, kind: 'b' }, false],
    [{ width: 2, other: 1 }, false],
    [{ width: 2, toString: 1 }, false],
  ])('%j: %s', (value, expected) => {
    expect(isJsonSchema(schema)).toBe(true);
    expect(matchesSchema(value, schema)).toBe(expected);
  });

  test.each<[unknown]>([
    [{ pattern: '(a+)+$' }],
    [{ $ref: '#' }],
    [{ type: 'text' }],
    [{ anyOf: [{}] }],
    [{ properties: { a: { format: 'email' } } }],
    [{ constructor: 1 }],
    [{ items: { items: { items: { items: { items: { items: { items: { items: { items: {} } } } } } } } } }],
    [true],
  ])('are refused: %j', (value) => {
    expect(isJsonSchema(value)).toBe(false);
  });
});
