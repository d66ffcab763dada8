/** A duration by which a clock is advanced. */
export interface Duration {
  months: number;
  milliseconds: number;
}

const SECOND = 1_000;
const DAY = 86_400 * SECOND;

/** `P1M15DT6H` of ISO 8601: whole numbers, and at least one of them. */
const ISO =
  /^P(?=\d|T\d)(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,9})S)?)?$/;

/** `15d`, `2w`, `1mo`. */
const SHORT = /^(\d{1,9})(s|min|h|d|w|mo|y)$/;

const UNITS: Readonly<Record<string, Partial<Duration>>> = {
  s: { milliseconds: SECOND },
  min: { milliseconds: 60 * SECOND },
  h: { milliseconds: 3_600 * SECOND },
  d: { milliseconds: DAY },
  w: { milliseconds: 7 * DAY },
  mo: { months: 1 },
  y: { months: 12 },
};

/** undefined: the text is no duration, or none that goes forward. */
export function parseDuration(text: string): Duration | undefined {
  const duration = fromShort(text) ?? fromIso(text);
  return duration && duration.months + duration.milliseconds > 0 ? duration : undefined;
}

function fromShort(text: string): Duration | undefined {
  const [, count, unit] = SHORT.exec(text) ?? [];
  if (unit === undefined) return undefined;
  const { months = 0, milliseconds = 0 } = UNITS[unit]!;
  return { months: Number(count) * months, milliseconds: Number(count) * milliseconds };
}

function fromIso(text: string): Duration | undefined {
  const parts = ISO.exec(text);
  if (!parts) return undefined;
  const [years, months, weeks, days, hours, minutes, seconds] = parts
    .slice(1)
    .map((part: string | undefined) => Number(part ?? '0'));
  return {
    months: 12 * years! + months!,
    milliseconds: (7 * weeks! + days!) * DAY + ((hours! * 60 + minutes!) * 60 + seconds!) * SECOND,
  };
}

/** The moment after a duration. A month later than 31 January is the last day of February. */
export function momentAfter(from: Date, { months, milliseconds }: Duration): Date {
  const moment = new Date(from);
  const day = moment.getUTCDate();
  moment.setUTCMonth(moment.getUTCMonth() + months, 1);
  const lastDay = new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 0)).getUTCDate();
  moment.setUTCDate(Math.min(day, lastDay));
  return new Date(moment.getTime() + milliseconds);
}
