import { describe, expect, test } from 'vitest';
import {
  areConditionsMet,
  compareDecimals,
  filledText,
  heldConditions,
  namedFacts,
  parseAmount,
  type Facts,
} from './decide.ts';
import { nextRun, weekdayOf } from './schedule.ts';
import type { Schedule } from './schema.ts';
import { FACTS, type FactType, type Operator } from './things.ts';

const types: Record<string, FactType> = {
  ...FACTS.order,
  'field.care.until': { kind: 'date' },
  'field.care.deposit': { kind: 'money' },
  'field.care.checked': { kind: 'boolean' },
};

const facts: Facts = {
  number: 'A-1042',
  total: { amount: '100.1', currency: 'EUR' },
  items: '0.3',
  state: 'readyToShip',
  tags: ['Gift', 'large'],
  comment: null,
  country: 'DE',
  'field.care.until': '2026-11-30',
  'field.care.checked': false,
};

const held = (fact: string, operator: Operator, value?: string) =>
  heldConditions([{ fact, operator, ...(value !== undefined && { value }) }], facts, {
    types,
    currency: 'EUR',
  })[0];

describe('a condition', () => {
  test.each<[string, Operator, string | undefined, boolean]>([
    ['number', 'is', 'a-1042', true],
    ['number', 'contains', '104', true],
    ['number', 'containsNot', '104', false],
    ['number', 'isNot', 'A-1', true],
    ['total', 'is', '100.10', true],
    ['total', 'atLeast', '100.1', true],
    ['total', 'moreThan', '100.1', false],
    ['total', 'moreThan', '100.0999999999', true],
    ['total', 'lessThan', '100.1000000001', true],
    ['total', 'is', '100.1 CHF', false],
    ['total', 'isNot', '100.1 CHF', true],
    ['total', 'atLeast', '1 CHF', false],
    // As floats, 0.1 + 0.2 would be more.
    ['items', 'is', '0.30', true],
    ['items', 'atMost', '0.3', true],
    ['state', 'is', 'readyToShip', true],
    ['tags', 'contains', 'gift', true],
    ['tags', 'contains', 'gif', false],
    ['tags', 'containsNot', 'gif', true],
    ['tags', 'isSet', undefined, true],
    ['comment', 'isSet', undefined, false],
    ['comment', 'isNotSet', undefined, true],
    ['comment', 'contains', 'x', false],
    ['comment', 'containsNot', 'x', true],
    ['field.care.until', 'before', '2026-12-01', true],
    ['field.care.until', 'after', '2026-11-30', false],
    ['field.care.checked', 'is', 'false', true],
    ['field.care.deposit', 'atMost', '5', false],
    ['field.care.deposit', 'isNotSet', undefined, true],
    ['field.care.gone', 'isNotSet', undefined, false],
    ['constructor', 'isSet', undefined, false],
  ])('%s %s %s: %s', (fact, operator, value, expected) => {
    expect(held(fact, operator, value)).toBe(expected);
  });

  test('all of them, one of them, or none at all', () => {
    expect([
      areConditionsMet([true, false], true),
      areConditionsMet([true, false], false),
      areConditionsMet([], true),
      areConditionsMet([], false),
    ]).toEqual([false, true, true, true]);
  });
});

test('decimals of any size are compared exactly', () => {
  expect(compareDecimals('999999999999999.9999999999', '999999999999999.9999999998')).toBe(1);
  expect(compareDecimals('-0.0', '0')).toBe(0);
  expect(compareDecimals('1', 'much')).toBeUndefined();
  expect(parseAmount('12.5CHF', 'EUR')).toEqual({ amount: '12.5', currency: 'CHF' });
  expect(parseAmount('12,5', 'EUR')).toBeUndefined();
});

test('texts are filled in once', () => {
  const text = 'Order {number} of {customer}: {total}, {tags}{comment}';
  expect(namedFacts(text)).toEqual(['number', 'customer', 'total', 'tags', 'comment']);
  expect(filledText(text, { ...facts, customer: '{number}' }, 100)).toBe(
    'Order A-1042 of {number}: 100.1 EUR, Gift, large',
  );
  expect(filledText('{number}{number}', { number: '😀😀' }, 5)).toBe('😀😀');
});

describe('a schedule', () => {
  const next = (schedule: Schedule, after: string, zone = 'Europe/Berlin') =>
    nextRun(schedule, zone, new Date(after)).toISOString();

  test.each<[string, Schedule, string, string]>([
    ['later today', { every: 'day', hour: 7 }, '2026-11-15T05:59:59Z', '2026-11-15T06:00:00.000Z'],
    ['not at once', { every: 'day', hour: 7 }, '2026-11-15T06:00:00Z', '2026-11-16T06:00:00.000Z'],
    ['summer', { every: 'day', hour: 7 }, '2026-07-01T06:00:00Z', '2026-07-02T05:00:00.000Z'],
    [
      'the hour that is skipped',
      { every: 'day', hour: 2 },
      '2026-03-28T12:00:00Z',
      '2026-03-29T01:00:00.000Z',
    ],
    [
      'the hour that comes twice',
      { every: 'day', hour: 2 },
      '2026-10-24T12:00:00Z',
      '2026-10-25T01:00:00.000Z',
    ],
    ['a Sunday', { every: 'week', weekday: 7, hour: 0 }, '2026-11-15T00:00:00Z', '2026-11-21T23:00:00.000Z'],
    ['a Monday', { every: 'week', weekday: 1, hour: 9 }, '2026-11-15T00:00:00Z', '2026-11-16T08:00:00.000Z'],
    ['a month', { every: 'month', day: 1, hour: 0 }, '2026-12-31T22:59:00Z', '2026-12-31T23:00:00.000Z'],
    [
      'the next month',
      { every: 'month', day: 28, hour: 5 },
      '2027-01-28T05:00:00Z',
      '2027-02-28T04:00:00.000Z',
    ],
  ])('%s', (_, schedule, after, expected) => {
    expect(next(schedule, after)).toBe(expected);
  });

  test('days are those of the shop', () => {
    expect(weekdayOf(new Date('2026-11-15T23:30:00Z'), 'Europe/Berlin')).toBe('1');
    expect(weekdayOf(new Date('2026-11-15T23:30:00Z'), 'UTC')).toBe('7');
    expect(next({ every: 'day', hour: 7 }, '2026-11-15T21:00:00Z', 'Asia/Kathmandu')).toBe(
      '2026-11-16T01:15:00.000Z',
    );
  });
});
