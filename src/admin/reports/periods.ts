import { dayOf } from '../../http/dates.ts';
import type { ReportPeriod } from '../../orders/reports/period.ts';
import type { DayTotal } from '../../orders/reports/queries.ts';

const DAY = 86_400_000;
/** More days than these are shown by month. */
const MAX_SHOWN_DAYS = 92;

export const COMPARISONS = ['before', 'year', 'none'] as const;
export type ComparisonKind = (typeof COMPARISONS)[number];

export function lengthOf({ from, to }: ReportPeriod): number {
  return (Date.parse(to) - Date.parse(from)) / DAY + 1;
}

/** The period that another one is compared with: as many days before it, or the same days of the year before. */
export function comparedWith(period: ReportPeriod, kind: ComparisonKind): ReportPeriod | undefined {
  if (kind === 'none') return undefined;
  if (kind === 'year') return { from: yearBefore(period.from), to: yearBefore(period.to) };
  const length = lengthOf(period) * DAY;
  return { from: dayOf(Date.parse(period.from) - length), to: dayOf(Date.parse(period.to) - length) };
}

/** The 29th of February is compared with the 28th. */
function yearBefore(day: string): string {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  const last = new Date(Date.UTC(year - 1, month, 0)).getUTCDate();
  return dayOf(Date.UTC(year - 1, month - 1, Math.min(date, last)));
}

export interface ReportTotals {
  orders: number;
  /** Minor units. */
  gross: number;
  net: number;
}

export interface Interval extends ReportTotals {
  /** The first day of it within the period. */
  from: string;
  before: ReportTotals;
}

export const NOTHING: ReportTotals = { orders: 0, gross: 0, net: 0 };

export function totalOf(totals: readonly ReportTotals[]): ReportTotals {
  return totals.reduce(
    (sum, { orders, gross, net }) => ({
      orders: sum.orders + orders,
      gross: sum.gross + gross,
      net: sum.net + net,
    }),
    NOTHING,
  );
}

export const isByMonth = (period: ReportPeriod) => lengthOf(period) > MAX_SHOWN_DAYS;

/**
 * The days or months of a period, those without orders included, oldest first. Each is compared with the one at the same
 * place of the other period. Net amounts of orders are not rounded; those of the intervals are, and sum to the total as it is
 * shown.
 */
export function intervalsOf(
  period: ReportPeriod,
  days: readonly DayTotal[],
  other?: ReportPeriod,
  otherDays: readonly DayTotal[] = [],
): Interval[] {
  const byMonth = isByMonth(period);
  const before = other ? totalsOf(other, otherDays, byMonth) : [];
  const intervals = totalsOf(period, days, byMonth);
  const nets = intervals.map(({ net }) => net);
  const net = closedAmounts(nets, Math.round(nets.reduce((sum, one) => sum + one, 0)));
  return intervals.map((interval, index) => ({
    ...interval,
    net: net[index]!,
    before: before[index] ?? NOTHING,
  }));
}

function totalsOf(period: ReportPeriod, days: readonly DayTotal[], byMonth: boolean) {
  const intervals = new Map<string, ReportTotals & { from: string }>();
  for (let day = Date.parse(period.from); day <= Date.parse(period.to); day += DAY) {
    const from = dayOf(day);
    const key = byMonth ? from.slice(0, 7) : from;
    if (!intervals.has(key)) intervals.set(key, { from, ...NOTHING });
  }
  for (const { day, orders, gross, net } of days) {
    const interval = intervals.get(byMonth ? day.slice(0, 7) : day);
    if (!interval) continue;
    interval.orders += orders;
    interval.gross += gross;
    interval.net += Number(net);
  }
  return [...intervals.values()];
}

/**
 * Amounts of parts in whole minor units that sum to the whole: what rounding leaves goes to the largest part, where it
 * is seen least.
 */
export function closedAmounts(amounts: readonly number[], whole: number): number[] {
  const rounded = amounts.map((amount) => Math.round(amount));
  if (rounded.length === 0) return rounded;
  const largest = rounded.indexOf(Math.max(...rounded));
  rounded[largest]! += whole - rounded.reduce((sum, amount) => sum + amount, 0);
  return rounded;
}
