import { createHash } from 'node:crypto';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MINUTES = 1_440;

/** The minute of the day (UTC) of a shop: all of them spread over the day, and each has always the same. */
export function minuteOf(shopId: string): number {
  return createHash('sha256').update(shopId).digest().readUInt32BE(0) % MINUTES;
}

/** The next time of a shop after this moment. */
export function nextTurn(shopId: string, now: Date): Date {
  const today = Math.floor(now.getTime() / DAY) * DAY + minuteOf(shopId) * MINUTE;
  return new Date(today > now.getTime() ? today : today + DAY);
}

/** When a backup that has failed so often in a row is tried again: after 5 minutes, then later, at most 6 hours. */
export function nextAttempt(failures: number, now: Date): Date {
  return new Date(now.getTime() + Math.min(6 * HOUR, 5 * MINUTE * 2 ** Math.min(failures - 1, 10)));
}

/** For how many days, weeks and months the last backup of each is kept. */
export interface Keep {
  days: number;
  weeks: number;
  months: number;
}

/** `7/4/12` */
export function parseKeep(text: string): Keep {
  const [days, weeks, months] = text.split('/').map(Number) as [number, number, number];
  return { days, weeks, months };
}

interface Kept {
  backupId: string;
  createdAt: Date;
}

/**
 * The backups that are too old, of whole ones in any order: all but the last one of each day, week and month within
 * the times. The last one of all is never among them.
 */
export function outdated<Backup extends Kept>(
  backups: readonly Backup[],
  { days, weeks, months }: Keep,
  now: Date,
): Backup[] {
  const newestFirst = backups.toSorted((one, other) => other.createdAt.getTime() - one.createdAt.getTime());
  const kept = new Set(newestFirst.slice(0, 1));
  for (const [numberOf, count] of [
    [dayNumber, days],
    [weekNumber, weeks],
    [monthNumber, months],
  ] as const) {
    const seen = new Set<number>();
    for (const backup of newestFirst) {
      const number = numberOf(backup.createdAt);
      if (numberOf(now) - number >= count || seen.has(number)) continue;
      seen.add(number);
      kept.add(backup);
    }
  }
  return newestFirst.filter((backup) => !kept.has(backup));
}

const dayNumber = (time: Date) => Math.floor(time.getTime() / DAY);
/** The first of January 1970 was a Thursday; weeks begin on Monday. */
const weekNumber = (time: Date) => Math.floor((dayNumber(time) + 3) / 7);
const monthNumber = (time: Date) => time.getUTCFullYear() * 12 + time.getUTCMonth();
