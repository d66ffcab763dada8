import { isDate, parseMoment } from '../../http/dates.ts';
import { ValidationError } from '../../http/errors.ts';
import { shown, type Problem } from './problem.ts';
import {
  amountProblems,
  countryCodeProblems,
  duplicateProblems,
  nameProblems,
  percentProblems,
  repeatedProblems,
  type Frame,
  type Path,
} from './rules.ts';
import type { SettingsFile } from './schema.ts';
import { EFFECT_FIELDS } from './schema/promotions.ts';

type Entry = NonNullable<SettingsFile['promotions']>[number];

/** Checks of promotions that no schema can express. */
export function* promotionProblems({ promotions = [] }: SettingsFile, frame: Frame): Generator<Problem> {
  yield* duplicateProblems('promotions', 'key', promotions);
  yield* codeProblems(promotions);
  for (const [index, entry] of promotions.entries()) {
    const path = ['promotions', index];
    yield* nameProblems([...path, 'name'], entry.name, frame);
    yield* effectProblems(path, entry);
    for (const field of ['amount', 'minimumAmount'] as const)
      yield* amountProblems([...path, field], entry[field], frame);
    if (entry.percent !== undefined) yield* percentProblems([...path, 'percent'], entry.percent);
    yield* periodProblems(path, entry);
    for (const [at, country] of (entry.countries ?? []).entries())
      yield* countryCodeProblems([...path, 'countries', at], country);
    yield* groupProblems([...path, 'customerGroups'], entry.customerGroups ?? [], frame);
  }
}

/** A code belongs to one promotion. */
const codeProblems = (promotions: readonly Entry[]) =>
  repeatedProblems(
    ['promotions'],
    promotions.map(({ code, key }) => code?.trim().toUpperCase() ?? `without a code: ${key}`),
  );

function* effectProblems(path: Path, entry: Entry): Generator<Problem> {
  for (const field of EFFECT_FIELDS[entry.effect].needs) {
    if (entry[field] !== undefined) continue;
    yield {
      path,
      text: `${field} is missing: effect ${entry.effect} needs it`,
      rule: { name: 'missing', field },
    };
  }
}

export function* periodProblems(path: Path, { from, to }: Pick<Entry, 'from' | 'to'>): Generator<Problem> {
  const moments = { from: momentOf(from), to: momentOf(to) };
  for (const key of ['from', 'to'] as const) {
    const text = { from, to }[key];
    if (text === undefined || moments[key]) continue;
    yield {
      path: [...path, key],
      text: `is ${shown(text)}, expected a date and time such as 2026-06-01T00:00:00Z`,
      rule: { name: 'formLike', example: '2026-06-01T00:00:00Z' },
    };
  }
  if (moments.from && moments.to && moments.to < moments.from) {
    yield {
      path: [...path, 'to'],
      text: `is ${shown(to)}, before from`,
      rule: { name: 'endBeforeStart' },
    };
  }
}

function momentOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  try {
    const moment = parseMoment(text, '');
    // Years of four digits, as they are stored.
    return isDate(moment.toISOString().slice(0, 10)) ? moment : undefined;
  } catch (error) {
    if (error instanceof ValidationError) return undefined;
    throw error;
  }
}

export function* groupProblems(
  path: Path,
  groups: readonly string[],
  { customerGroups }: Frame,
): Generator<Problem> {
  for (const [index, group] of groups.entries()) {
    if (!customerGroups || customerGroups.includes(group)) continue;
    yield {
      path: [...path, index],
      text: `is ${group}, which is no customer group of the shop`,
      rule: { name: 'unknownGroup' },
    };
  }
}
