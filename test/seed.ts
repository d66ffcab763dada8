/**
 * What generated tests begin with: another number every day, so that they go on finding what a fixed one never would.
 * Their names say it, and `KONTOR_TEST_SEED` repeats a run of another day.
 */
export const SEED = Number(
  process.env['KONTOR_TEST_SEED'] ?? new Date().toISOString().slice(0, 10).replaceAll('-', ''),
);

/**
 * So many of these, others every day: for cases that differ little and cost much. `KONTOR_TEST_ALL=1` takes all of them.
 */
export function ofTheDay<Case>(cases: readonly Case[], count: number): Case[] {
  if (process.env['KONTOR_TEST_ALL'] !== undefined) return [...cases];
  return Array.from({ length: count }, (_, index) => cases[(SEED * count + index) % cases.length]!);
}

/**
 * One of these for the case with this index, another one every day. All of them are tried every day, each with other
 * cases: for what differs neither much by itself nor from case to case.
 */
export function oneInTurn<Case>(cases: readonly Case[], index: number): Case[] {
  if (process.env['KONTOR_TEST_ALL'] !== undefined) return [...cases];
  return [cases[(SEED + index) % cases.length]!];
}

/**
 * So many of these for the case with this index, the next ones tomorrow: each case meets all of them within a few days.
 */
export function someInTurn<Case>(cases: readonly Case[], index: number, count: number): Case[] {
  if (process.env['KONTOR_TEST_ALL'] !== undefined || cases.length <= count) return [...cases];
  return Array.from({ length: count }, (_, step) => cases[((SEED + index) * count + step) % cases.length]!);
}

/**
 * Whether the case with this index is one of today: each comes once in so many days, others every day. Where such a case
 * takes variants in turn as well, the numbers of days and of variants have no common divisor, or it meets only some.
 */
export function isOfToday(index: number, days: number): boolean {
  return process.env['KONTOR_TEST_ALL'] !== undefined || (SEED + index) % days === 0;
}

/** How many of so many generated cases: half of them a day, because every day has others. */
export function halfOf(cases: number): number {
  return process.env['KONTOR_TEST_ALL'] === undefined ? Math.ceil(cases / 2) : cases;
}

/** For what is the same code in all of these cases. */
export function aQuarter<Case>(cases: readonly Case[]): Case[] {
  return ofTheDay(cases, Math.ceil(cases.length / 4));
}
