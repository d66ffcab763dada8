/** The first and the last day of something, as `2026-11-18`. */
export interface DaySpan {
  from: string;
  to: string;
}

/** A number of working days, at least and at most. */
export interface WorkingDays {
  from: number;
  to: number;
}

const DAY = 86_400_000;

/** More days than any customer would wait; a longer period is no promise. */
const MAX_DAYS = 365;

/** `3`, or `3-5`: days until the goods are dispatched; undefined: any other text, which is ignored. */
export function parseDays(period: string): WorkingDays | undefined {
  const [, first, last = first] = /^\s*(\d{1,3})\s*(?:[-–]\s*(\d{1,3})\s*)?$/.exec(period) ?? [];
  if (first === undefined) return undefined;
  const days = { from: Number(first), to: Number(last) };
  return days.from <= days.to && days.to <= MAX_DAYS ? days : undefined;
}

/**
 * The arrival days of goods that are ordered now. An order after the cut-off hour, or on a non-working day, counts
 * from the next working day. Working days are Monday to Friday; public holidays differ from town to town and are not
 * known here.
 */
export function deliverySpan(
  now: Date,
  { cutOffHour, timeZone }: { cutOffHour: number; timeZone: string },
  preparation: WorkingDays,
  transit: WorkingDays,
): DaySpan {
  const { day, hour } = localTime(now, timeZone);
  const start = workingDayFrom(hour >= cutOffHour ? day + DAY : day);
  return {
    from: dayText(afterWorkingDays(start, preparation.from + transit.from)),
    to: dayText(afterWorkingDays(start, preparation.to + transit.to)),
  };
}

/** The day in this time zone as midnight UTC, so that days can be counted, and the hour. */
function localTime(now: Date, timeZone: string): { day: number; hour: number } {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
  }).formatToParts(now);
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((one) => one.type === type)!.value);
  return { day: Date.UTC(part('year'), part('month') - 1, part('day')), hour: part('hour') };
}

const isWorkingDay = (day: number) => ![0, 6].includes(new Date(day).getUTCDay());

function workingDayFrom(day: number): number {
  return isWorkingDay(day) ? day : workingDayFrom(day + DAY);
}

function afterWorkingDays(day: number, count: number): number {
  let last = day;
  for (let left = count; left > 0; left--) last = workingDayFrom(last + DAY);
  return last;
}

const dayText = (day: number) => new Date(day).toISOString().slice(0, 10);

/** When a span that was computed now may change: time zones differ by quarters of an hour. */
export function spanExpiry(now: Date): Date {
  const QUARTER = 15 * 60_000;
  return new Date((Math.floor(now.getTime() / QUARTER) + 1) * QUARTER);
}
