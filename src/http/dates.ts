import { invalid } from './errors.ts';
import { languageTag } from './locale.ts';

/** `2018-12-17T21:07:29Z`, as most answers print it. */
export function toSeconds(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** `2024-07-04T08:42:49.000Z`, as orders, documents and sales print it. */
export function toMilliseconds(date: Date): string {
  return date.toISOString();
}

/** `2026-11-15` in UTC, as sums and documents count days. */
export function dayOf(moment: Date | number): string {
  return new Date(moment).toISOString().slice(0, 10);
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?<zone>Z|[+-]\d{2}:?\d{2})?)?$/;

/** A moment as clients send it: with `Z`, an offset, no zone (UTC), or a bare date. */
export function parseMoment(text: string, field: string): Date {
  // In a query string a plus decodes to a blank: `...T10:53:49 00:00` was `+00:00`.
  const match = MOMENT.exec(text.replace(/ (?=\d{2}:?\d{2}$)/, '+'));
  const moment = match
    ? new Date(text.length === 10 || match.groups!['zone'] ? match[0] : `${match[0]}Z`)
    : undefined;
  if (!moment || Number.isNaN(moment.getTime()) || !isDate(text.slice(0, 10))) {
    throw invalid('WRONG_FORMAT', field);
  }
  return moment;
}

/** A day that exists: 2026-02-30 does not. */
export function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year >= 1000;
}

/** `15 November 2026`, for people. */
export function dateText(date: Date, locale: string): string {
  return date.toLocaleDateString(languageTag(locale), { dateStyle: 'long', timeZone: 'UTC' });
}

/** `15 November 2026 at 08:30 UTC`, for people. */
export function dateTimeText(date: Date, locale: string): string {
  const options = { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' } as const;
  return `${date.toLocaleString(languageTag(locale), options)} UTC`;
}
