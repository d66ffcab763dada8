import { parseMoment } from '../http/dates.ts';
import { badRequest } from '../http/errors.ts';

/** Between these moments, which are not part of it. null: open. */
export interface Window {
  createdAfter: Date | null;
  createdBefore: Date | null;
}

/** Of a request that names at most a year. */
export function windowOf(query: { createdAfter?: string; createdBefore?: string }): Window {
  const createdAfter = momentOf(query, 'createdAfter');
  const createdBefore = momentOf(query, 'createdBefore');
  if (createdAfter && createdBefore && createdBefore > yearAfter(createdAfter)) {
    throw badRequest('createdAfter and createdBefore must not be more than a year apart');
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
