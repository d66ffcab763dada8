import { expect, test } from 'vitest';
import { intervalsOf } from './periods.ts';

test('the net amounts of days and months sum to the total as it is shown', () => {
  // Three times 33.4 cents are 100 cents, and three times 33 are 99.
  const sale = (day: string) => ({ day, orders: 1, gross: 40, net: '33.4' });
  const netOf = (from: string, to: string, days: string[]) =>
    intervalsOf({ from, to }, days.map(sale)).map(({ net }) => net);
  expect(netOf('2026-11-01', '2026-11-03', ['2026-11-01', '2026-11-02', '2026-11-03'])).toEqual([34, 33, 33]);
  expect(
    netOf('2025-01-01', '2026-12-31', ['2025-03-01', '2026-03-01', '2026-04-01']).filter((net) => net !== 0),
  ).toEqual([34, 33, 33]);
});
