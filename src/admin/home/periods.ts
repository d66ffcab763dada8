import { dayOf } from '../../http/dates.ts';
import type { DaySales } from './queries.ts';

/** The number of days covered by the figures of the home page. */
export const PERIODS = [7, 30, 90] as const;
export type HomePeriod = (typeof PERIODS)[number];

export interface HomeTotals {
  orders: number;
  gross: number;
}

export interface ComparedDay extends DaySales {
  /** The value of the day one period earlier. */
  grossBefore: number;
}

export interface Comparison {
  today: HomeTotals;
  current: HomeTotals;
  before: HomeTotals;
  /** Every day of the period, including days without orders, oldest first. */
  days: readonly ComparedDay[];
}

const DAY = 86_400_000;

/** The last `period` days including today, compared with as many days before them. */
export function comparePeriods(sales: readonly DaySales[], period: HomePeriod, now: Date): Comparison {
  const ofDay = new Map(sales.map((day) => [day.day, day]));
  const dayAt = (daysAgo: number): DaySales => {
    const day = dayOf(now.getTime() - daysAgo * DAY);
    return ofDay.get(day) ?? { day, orders: 0, gross: 0 };
  };
  const lastDays = (skipped: number) =>
    Array.from({ length: period }, (_, index) => dayAt(skipped + period - 1 - index));
  const current = lastDays(0);
  const before = lastDays(period);
  return {
    today: totalsOf([dayAt(0)]),
    current: totalsOf(current),
    before: totalsOf(before),
    days: current.map((day, index) => ({ ...day, grossBefore: before[index]!.gross })),
  };
}

function totalsOf(days: readonly DaySales[]): HomeTotals {
  return days.reduce(
    (sum, { orders, gross }) => ({ orders: sum.orders + orders, gross: sum.gross + gross }),
    {
      orders: 0,
      gross: 0,
    },
  );
}
