import { describe, expect, test } from 'vitest';
import { FormLimitError, formReader, MAX_FIELD_LENGTH, type FormLimits } from './form-fields.ts';

const read = (body: object, limits?: FormLimits) => formReader(limits)(body);

function refusalOf(body: object, limits?: FormLimits) {
  try {
    read(body, limits);
    return undefined;
  } catch (error) {
    if (!(error instanceof FormLimitError)) throw error;
    return { status: error.status, unit: error.unit, limit: error.limit, field: error.field };
  }
}

test('reads the first value trimmed, all values, and the names', () => {
  const { field, fieldList, fieldNames } = read({ name: '  Ada ', id: ['1', '2'] });
  expect([field('name'), field('id'), field('missing')]).toEqual(['Ada', '1', '']);
  expect([fieldList('id'), fieldList('missing')]).toEqual([['1', '2'], []]);
  expect(fieldNames).toEqual(['name', 'id']);
});

test('names of prototypes are fields like others', () => {
  expect(read({}).field('constructor')).toBe('');
  expect(read(null as never).fieldNames).toEqual([]);
});

describe('characters', () => {
  test('a field takes as many as usual where its form says nothing', () => {
    expect(refusalOf({ name: 'x'.repeat(MAX_FIELD_LENGTH) })).toBeUndefined();
    expect(refusalOf({ name: 'x'.repeat(MAX_FIELD_LENGTH + 1) })).toEqual({
      status: 413,
      unit: 'characters',
      limit: MAX_FIELD_LENGTH,
      field: 'name',
    });
  });

  test('a declared field takes what was declared, fewer or more', () => {
    const limits = { texts: { code: 3, text: 2_000 } };
    expect(refusalOf({ code: 'abc', text: 'x'.repeat(2_000) }, limits)).toBeUndefined();
    expect(refusalOf({ code: 'abcd' }, limits)).toMatchObject({ field: 'code', limit: 3 });
    expect(refusalOf({ text: 'x'.repeat(2_001) }, limits)).toMatchObject({ field: 'text', limit: 2_000 });
  });

  test('every value of a field counts', () => {
    expect(refusalOf({ id: ['a', 'abcd'] }, { texts: { id: 3 } })).toMatchObject({ field: 'id' });
  });

  test('a star is one step of a name', () => {
    const limits = { texts: { 'text.*': 2_000, 'list.*.name.*': 3 } };
    expect(refusalOf({ 'text.en_GB': 'x'.repeat(2_000) }, limits)).toBeUndefined();
    expect(refusalOf({ 'list.17.name.en_GB': 'abcd' }, limits)).toMatchObject({ limit: 3 });
    // A name that is longer or shorter than the pattern is another one.
    expect(refusalOf({ 'text.en_GB.more': 'x'.repeat(1_001) }, limits)).toMatchObject({ limit: 1_000 });
    expect(refusalOf({ text: 'x'.repeat(1_001) }, limits)).toMatchObject({ limit: 1_000 });
  });

  test('a line break is one character, as browsers count it', () => {
    const text = 'ab\r\n'.repeat(10);
    expect(refusalOf({ text }, { texts: { text: 30 } })).toBeUndefined();
    expect(refusalOf({ text }, { texts: { text: 29 } })).toMatchObject({ limit: 29 });
  });

  test('a name is short', () => {
    expect(refusalOf({ ['n'.repeat(201)]: '' })).toMatchObject({ unit: 'characters', limit: 200 });
  });
});

test('lines are entries where the form says so', () => {
  const limits = { texts: { codes: { characters: 100, lines: 3 } } };
  expect(refusalOf({ codes: 'a\nb\nc' }, limits)).toBeUndefined();
  expect(refusalOf({ codes: 'a\nb\nc\n' }, limits)).toMatchObject({
    unit: 'lines',
    limit: 3,
    field: 'codes',
  });
});

test('values are counted over all fields', () => {
  const ids = (count: number) => ({ id: Array.from({ length: count - 1 }, String), name: 'x' });
  expect(refusalOf(ids(1_000))).toBeUndefined();
  expect(refusalOf(ids(1_001))).toMatchObject({ unit: 'values', limit: 1_000, field: undefined });
  expect(refusalOf(ids(1_001), { values: 3_000 })).toBeUndefined();
});
