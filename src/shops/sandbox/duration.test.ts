import { expect, test } from 'vitest';
import { momentAfter, parseDuration } from './duration.ts';

const after = (from: string, text: string) => momentAfter(new Date(from), parseDuration(text)!).toISOString();

test.each([
  ['15d', '2026-11-30T08:30:00.000Z'],
  ['P15D', '2026-11-30T08:30:00.000Z'],
  ['2w', '2026-11-29T08:30:00.000Z'],
  ['PT1H', '2026-11-15T09:30:00.000Z'],
  ['90min', '2026-11-15T10:00:00.000Z'],
  ['1s', '2026-11-15T08:30:01.000Z'],
  ['P1M', '2026-12-15T08:30:00.000Z'],
  ['1y', '2027-11-15T08:30:00.000Z'],
  ['P1Y2M3W4DT5H6M7S', '2028-02-09T13:36:07.000Z'],
])('%s after the morning of 15 November 2026', (text, moment) => {
  expect(after('2026-11-15T08:30:00Z', text)).toBe(moment);
});

test('a month later is the last day of a month that is shorter', () => {
  expect(after('2027-01-31T10:00:00Z', '1mo')).toBe('2027-02-28T10:00:00.000Z');
  expect(after('2028-01-31T10:00:00Z', 'P1M')).toBe('2028-02-29T10:00:00.000Z');
  expect(after('2028-02-29T10:00:00Z', 'P1Y')).toBe('2029-02-28T10:00:00.000Z');
});

test.each([
  '',
  'P',
  'PT',
  'P1',
  '0d',
  'P0D',
  '-1d',
  'P-1D',
  '1.5d',
  'P1.5D',
  '15',
  'd',
  '1m',
  ' 15d',
  '15D',
  'P1H',
  'PT1D',
  'P1DT',
])('%j is no duration that goes forward', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});
