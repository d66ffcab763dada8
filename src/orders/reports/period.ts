import { dayOf } from '../../http/dates.ts';

/** Days in UTC, such as `2026-11-16`; both are included. */
export interface ReportPeriod {
  from: string;
  to: string;
}

const DAY = 86_400_000;

/** The days of a period, in order. */
export function daysOf({ from, to }: ReportPeriod): string[] {
  const days = [];
  for (let day = Date.parse(from); day <= Date.parse(to); day += DAY) days.push(dayOf(day));
  return days;
}

export const firstDayOf = (day: string) => `${day.slice(0, 7)}-01`;

/** The last day of the month of this one. */
export function lastDayOf(day: string): string {
  const [year, month] = day.split('-').map(Number) as [number, number];
  return dayOf(Date.UTC(year, month, 0));
}

/** The months of which a period has all days, as their first days, in order. */
export function wholeMonthsOf(period: ReportPeriod): string[] {
  const months = [...new Set(daysOf(period).map(firstDayOf))];
  return months.filter((month) => month >= period.from && lastDayOf(month) <= period.to);
}
