import { expect, test } from 'vitest';
import { comparePeriods } from './periods.ts';

const NOW = new Date('2026-11-16T00:30:00Z');

test('a period is the last days with today, beside as many days before', () => {
  const { today, current, before, days } = comparePeriods(
    [
      { day: '2026-11-02', orders: 9, gross: 900 },
      { day: '2026-11-03', orders: 1, gross: 100 },
      { day: '2026-11-09', orders: 2, gross: 250 },
      { day: '2026-11-10', orders: 3, gross: 300 },
      { day: '2026-11-16', orders: 1, gross: 50 },
    ],
    7,
    NOW,
  );
  expect(today).toEqual({ orders: 1, gross: 50 });
  expect(current).toEqual({ orders: 4, gross: 350 });
  expect(before).toEqual({ orders: 3, gross: 350 });
  expect(days.map(({ day, gross, grossBefore }) => [day, gross, grossBefore])).toEqual([
    ['2026-11-10', 300, 100],
    ['2026-11-11', 0, 0],
    ['2026-11-12', 0, 0],
    ['2026-11-13', 0, 0],
    ['2026-11-14', 0, 0],
    ['2026-11-15', 0, 0],
    ['2026-11-16', 50, 250],
  ]);
});

test('a shop without orders has a period of zeros', () => {
  const { current, days } = comparePeriods([], 90, NOW);
  expect([current, days.length]).toEqual([{ orders: 0, gross: 0 }, 90]);
});
