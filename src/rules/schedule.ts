import type { Schedule } from './schema.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** No schedule pauses for longer. */
const MAX_DAYS = 40;

/** The next time after a moment, in the time zone of the shop. Pure. */
export function nextRun(schedule: Schedule, timeZone: string, after: Date): Date {
  const { hour } = schedule;
  const today = localDay(after, timeZone);
  for (let days = 0; days < MAX_DAYS; days++) {
    const day = today + days * DAY;
    if (!isDayOf(schedule, new Date(day))) continue;
    const moment = momentOf(day + hour * HOUR, timeZone);
    if (moment > after) return moment;
  }
  throw new Error('A schedule without a day');
}

/** `day` is midnight UTC of the day of the shop. */
function isDayOf({ every, weekday, day: dayOfMonth }: Schedule, day: Date): boolean {
  if (every === 'week') return day.getUTCDay() === (weekday ?? 1) % 7;
  return every === 'day' || day.getUTCDate() === (dayOfMonth ?? 1);
}

/** 1 is Monday, 7 is Sunday. */
export function weekdayOf(moment: Date, timeZone: string): string {
  const weekday = new Date(localDay(moment, timeZone)).getUTCDay();
  return String(weekday === 0 ? 7 : weekday);
}

function localDay(moment: Date, timeZone: string): number {
  return Math.floor(localTime(moment, timeZone) / DAY) * DAY;
}

/**
 * The moment at which the clock of the shop shows this time, given as if it were UTC. An hour that the clock skips in
 * spring is the hour after it.
 */
function momentOf(local: number, timeZone: string): Date {
  const guess = local - offsetAt(local, timeZone);
  return new Date(local - offsetAt(guess, timeZone));
}

const offsetAt = (moment: number, timeZone: string) => localTime(new Date(moment), timeZone) - moment;

/** The wall clock of a time zone, in milliseconds as if it were UTC. */
function localTime(moment: Date, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(moment);
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((one) => one.type === type)!.value);
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
}
