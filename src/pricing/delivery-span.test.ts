import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { halfOf, SEED } from '../../test/seed.ts';
import { deliverySpan, parseDays, spanExpiry } from './delivery-span.ts';

const RULES = { cutOffHour: 14, timeZone: 'Europe/Berlin' };
const NONE = { from: 0, to: 0 };
const span = (now: string, preparation = NONE, transit = { from: 1, to: 2 }, rules = RULES) =>
  Object.values(deliverySpan(new Date(now), rules, preparation, transit));

describe('the days of a delivery', () => {
  test.each([
    ['before the cut-off on a Monday', '2026-11-16T12:59:59Z', ['2026-11-17', '2026-11-18']],
    ['after it', '2026-11-16T13:00:00Z', ['2026-11-18', '2026-11-19']],
    ['over a weekend', '2026-11-19T08:00:00Z', ['2026-11-20', '2026-11-23']],
    ['after the cut-off on a Friday', '2026-11-20T20:00:00Z', ['2026-11-24', '2026-11-25']],
    ['on a Sunday', '2026-11-15T08:00:00Z', ['2026-11-17', '2026-11-18']],
    ['when it is Monday in Berlin already', '2026-11-15T23:30:00Z', ['2026-11-17', '2026-11-18']],
    ['in summer time', '2026-07-13T12:00:00Z', ['2026-07-15', '2026-07-16']],
    ['over the turn of a year', '2026-12-31T08:00:00Z', ['2027-01-01', '2027-01-04']],
  ])('%s', (_when, now, days) => {
    expect(span(now)).toEqual(days);
  });

  test('the preparation comes first', () => {
    expect(span('2026-11-16T08:00:00Z', { from: 3, to: 5 })).toEqual(['2026-11-20', '2026-11-25']);
  });

  const moments = fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true });
  const days = fc.tuple(fc.nat(30), fc.nat(30)).map(([from, more]) => ({ from, to: from + more }));
  const rules = fc.record({
    // No shop has its cut-off in the hours in which clocks are turned back.
    cutOffHour: fc.integer({ min: 4, max: 24 }),
    timeZone: fc.constantFrom(
      'Europe/Berlin',
      'UTC',
      'Asia/Kathmandu',
      'Pacific/Auckland',
      'America/New_York',
    ),
  });

  test('are working days in their order, from today on, and never earlier for a later order', () => {
    fc.assert(
      fc.property(moments, rules, days, days, fc.nat(86_400_000), (now, shop, first, second, later) => {
        const { from, to } = deliverySpan(now, shop, first, second);
        for (const day of [from, to]) expect([1, 2, 3, 4, 5]).toContain(new Date(day).getUTCDay());
        expect(from <= to).toBe(true);
        const today = new Intl.DateTimeFormat('sv', { timeZone: shop.timeZone }).format(now);
        expect(from >= today).toBe(true);
        const next = deliverySpan(new Date(now.getTime() + later), shop, first, second);
        expect(next.from >= from && next.to >= to).toBe(true);
        // Preparation and transit are days alike.
        expect(deliverySpan(now, shop, second, first)).toEqual({ from, to });
      }),
      { numRuns: halfOf(300), seed: SEED },
    );
  });

  test('are the same until the span expires', () => {
    fc.assert(
      fc.property(moments, rules, days, (now, shop, transit) => {
        const last = new Date(spanExpiry(now).getTime() - 1);
        expect(deliverySpan(last, shop, NONE, transit)).toEqual(deliverySpan(now, shop, NONE, transit));
        expect(spanExpiry(now).getTime()).toBeGreaterThan(now.getTime());
      }),
      { numRuns: halfOf(300), seed: SEED },
    );
  });
});

test.each([
  ['3', { from: 3, to: 3 }],
  [' 3 - 5 ', { from: 3, to: 5 }],
  ['3–5', { from: 3, to: 5 }],
  ['0', NONE],
  ['5-3', undefined],
  ['366', undefined],
  ['about a week', undefined],
  ['', undefined],
  ['-3', undefined],
])('a period of %j', (period, days) => {
  expect(parseDays(period)).toEqual(days);
});
