import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isDate, parseMoment, toMilliseconds, toSeconds } from './dates.ts';

test('answers print seconds, or milliseconds', () => {
  const moment = new Date(Date.UTC(2018, 11, 17, 21, 7, 29, 999));
  expect(toSeconds(moment)).toBe('2018-12-17T21:07:29Z');
  expect(toMilliseconds(moment)).toBe('2018-12-17T21:07:29.999Z');
  expect(toMilliseconds(new Date(Date.UTC(2024, 6, 4, 8, 42, 49)))).toBe('2024-07-04T08:42:49.000Z');
});

describe('parseMoment', () => {
  test.each([
    ['2016-02-26T10:53:49Z', '2016-02-26T10:53:49.000Z'],
    ['2016-02-26T10:53:49.125Z', '2016-02-26T10:53:49.125Z'],
    ['2016-02-26T10:53:49.123456789Z', '2016-02-26T10:53:49.123Z'],
    ['2016-02-26T10:53:49', '2016-02-26T10:53:49.000Z'],
    ['2016-02-26T10:53', '2016-02-26T10:53:00.000Z'],
    ['2016-02-26', '2016-02-26T00:00:00.000Z'],
    ['2016-02-29', '2016-02-29T00:00:00.000Z'],
    ['2016-02-26T10:53:49+00:00', '2016-02-26T10:53:49.000Z'],
    ['2016-02-26T10:53:49+02:00', '2016-02-26T08:53:49.000Z'],
    ['2016-02-26T10:53:49-05:30', '2016-02-26T16:23:49.000Z'],
    ['2016-02-26T10:53:49+0100', '2016-02-26T09:53:49.000Z'],
    ['2016-02-26T10:53+01:00', '2016-02-26T09:53:00.000Z'],
    // A plus in a query string arrives as a blank.
    ['2016-02-26T10:53:49 02:00', '2016-02-26T08:53:49.000Z'],
    ['2016-02-26T10:53:49 0200', '2016-02-26T08:53:49.000Z'],
  ])('%s is %s', (text, moment) => {
    expect(parseMoment(text, 'createdAfter').toISOString()).toBe(moment);
  });

  test.each([
    '',
    'yesterday',
    '2016',
    '2016-02',
    '2016-2-26',
    '26.02.2016',
    '02/26/2016',
    '2016-02-30',
    '2015-02-29',
    '2016-13-01',
    '2016-00-10',
    '2016-02-30T10:00:00Z',
    '2016-02-26T25:00:00Z',
    '2016-02-26T10:60:00Z',
    '2016-02-26T10:53:61Z',
    '2016-02-26T10',
    '2016-02-26 10:53:49',
    '2016-02-26T10:53:49 ',
    '2016-02-26T10:53:49 CET',
    '2016-02-26T10:53:49+99:00',
    '2016-02-26T10:53:49Z\n',
    '0016-02-26',
    '+002016-02-26',
    '1456484029',
  ])('%j is refused by name', (text) => {
    expect(() => parseMoment(text, 'createdAfter')).toThrow(
      'validation error WRONG_FORMAT on field createdAfter',
    );
  });

  test('reads what answers print', () => {
    const moments = fc.date({
      min: new Date('1000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(moments, (moment) => {
        expect(parseMoment(toMilliseconds(moment), 'x').getTime()).toBe(moment.getTime());
        expect(parseMoment(toSeconds(moment), 'x').getTime()).toBe(
          Math.floor(moment.getTime() / 1000) * 1000,
        );
      }),
    );
  });
});

test.each([
  ['2024-02-29', true],
  ['2000-02-29', true],
  ['1900-02-29', false],
  ['2023-02-29', false],
  ['2026-04-31', false],
  ['2026-12-31', true],
  ['2026-00-01', false],
  ['2026-01-00', false],
  ['0999-01-01', false],
  ['1000-01-01', true],
  ['2026-1-1', false],
  ['2026-01-01T00:00:00Z', false],
  ['2026-01-01\n', false],
  ['', false],
])('%j is a day: %s', (text, is) => {
  expect(isDate(text)).toBe(is);
});
