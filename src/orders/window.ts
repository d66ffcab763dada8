import { parseMoment } from '../http/dates.ts';
import { Refusal } from '../http/errors.ts';

/** The time between two moments, without the moments themselves; null: it is open at this end. */
export interface Window {
  createdAfter: Date | null;
  createdBefore: Date | null;
}

/** Reads the window of a request, which may be at most a year long. */
export function windowOf(query: { createdAfter?: string; createdBefore?: string }): Window {
  const createdAfter = momentOf(query, 'createdAfter');
  const createdBefore = momentOf(query, 'createdBefore');
  if (createdAfter && createdBefore && createdBefore > yearAfter(createdAfter)) {
    throw new Refusal('PERIOD_TOO_LONG', { limit: 'a year' });
  }
  return { createdAfter, createdBefore };
}

export function momentOf<Name extends string>(query: { [Key in Name]?: string }, name: Name): Date | null {
  const text = query[name];
  return text === undefined ? null : parseMoment(text, name);
}

function yearAfter(moment: Date): Date {
  const end = new Date(moment);
  end.setUTCFullYear(end.getUTCFullYear() + 1);
  return end;
}
