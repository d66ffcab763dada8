import type { TaxPeriod } from '../../orders/tax-reports/queries.ts';

/** A calendar month, quarter or year, in UTC, as documents count days. */
export interface NamedPeriod extends TaxPeriod {
  /** `2026-09`, `2026-Q3` or `2026`. */
  name: string;
  kind: 'month' | 'quarter' | 'year';
}

const NAME = /^(20\d\d)(?:-(?:Q([1-4])|(0[1-9]|1[0-2])))?$/;

const start = (year: number, month: number) => new Date(Date.UTC(year, month, 1));

/** undefined: the text names no period. */
export function periodNamed(name: string): NamedPeriod | undefined {
  const match = NAME.exec(name);
  if (!match) return undefined;
  const year = Number(match[1]);
  if (match[2] !== undefined) {
    const month = 3 * (Number(match[2]) - 1);
    return { name, kind: 'quarter', from: start(year, month), end: start(year, month + 3) };
  }
  if (match[3] !== undefined) {
    const month = Number(match[3]) - 1;
    return { name, kind: 'month', from: start(year, month), end: start(year, month + 1) };
  }
  return { name, kind: 'year', from: start(year, 0), end: start(year + 1, 0) };
}

const quarterName = (year: number, quarter: number) => `${year}-Q${quarter + 1}`;

/** The quarter before the one of this moment, which is the one to declare. */
export function lastQuarter(now: Date): NamedPeriod {
  const before = start(now.getUTCFullYear(), now.getUTCMonth() - 3);
  return periodNamed(quarterName(before.getUTCFullYear(), Math.floor(before.getUTCMonth() / 3)))!;
}

const QUARTERS = 8;
const MONTHS = 18;
const YEARS = 3;

/** The periods to choose from, newest first. */
export function recentPeriods(now: Date): Record<NamedPeriod['kind'], string[]> {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const back = (count: number) => Array.from({ length: count }, (_, index) => index);
  return {
    quarter: back(QUARTERS).map((index) => {
      const date = start(year, 3 * (Math.floor(month / 3) - index));
      return quarterName(date.getUTCFullYear(), Math.floor(date.getUTCMonth() / 3));
    }),
    month: back(MONTHS).map((index) =>
      start(year, month - index)
        .toISOString()
        .slice(0, 7),
    ),
    year: back(YEARS).map((index) => String(year - index)),
  };
}
