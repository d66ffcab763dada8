import { parseMoment } from '../http/dates.ts';
import { ValidationError } from '../http/errors.ts';
import { isCurrency } from '../kernel/money.ts';
import { suggestion } from '../kernel/suggestion.ts';
import { shown, type Problem } from '../shops/settings/problem.ts';
import {
  amountProblems,
  percentProblems,
  duplicateProblems,
  textProblems,
  type Frame,
  type Path,
} from '../shops/settings/rules.ts';
import { couponKey, LAST_MOMENT } from './campaign.ts';
import type { CampaignEntry } from './settings-schema.ts';

const SECTION = 'couponCampaigns';

/** Checks of campaigns in a settings file that no schema can express, without the database. */
export function* campaignProblems(entries: readonly CampaignEntry[], frame: Frame): Generator<Problem> {
  yield* duplicateProblems(
    SECTION,
    'identifier',
    entries.map(({ identifier }) => ({ identifier: identifier.trim() })),
  );
  for (const [index, entry] of entries.entries()) {
    const path = [SECTION, index];
    // Not nameProblems: a campaign that an app made has its name in the locale of the app.
    yield* textProblems([...path, 'name'], entry.name, frame);
    yield* valueProblems(path, entry, frame);
    yield* periodProblems(path, entry);
    for (const section of ['shippingMethods', 'paymentMethods'] as const) {
      yield* methodProblems([...path, section], entry[section] ?? [], frame[section], section);
    }
  }
  yield* codeProblems(entries);
}

function* valueProblems(path: Path, entry: CampaignEntry, frame: Frame): Generator<Problem> {
  const { type, amount, minimumOrderValue } = entry;
  const currency = entry.currency ?? frame.currency;
  if (currency !== undefined && !isCurrency(currency)) {
    yield {
      path: [...path, 'currency'],
      text: `${currency} is not a known currency, expected an ISO 4217 code such as EUR`,
      rule: { name: 'unknownCurrency', value: currency },
    };
    return;
  }
  yield* amountProblems([...path, 'minimumOrderValue'], minimumOrderValue, { currency });
  if (type === 'shipping') {
    if (amount !== undefined) {
      yield {
        path: [...path, 'amount'],
        text: 'does not belong to type shipping, which has no amount',
        rule: { name: 'needlessAmount' },
      };
    }
    if (entry.waiveShippingCosts === false) {
      yield {
        path: [...path, 'waiveShippingCosts'],
        text: 'is false, but that is what type shipping does',
        rule: { name: 'shippingNotWaived' },
      };
    }
  } else if (amount === undefined) {
    yield {
      path,
      text: `amount is missing: type ${type} needs it`,
      rule: { name: 'missing', field: 'amount' },
    };
  } else if (type === 'fix') {
    yield* amountProblems([...path, 'amount'], amount, { currency });
  } else {
    yield* percentProblems([...path, 'amount'], amount);
    if (amount > 100) {
      yield {
        path: [...path, 'amount'],
        text: `is ${amount}, expected 100 percent or less`,
        rule: { name: 'max', limit: 100 },
      };
    }
  }
}

function* periodProblems(path: Path, { validFrom, validTo }: CampaignEntry): Generator<Problem> {
  const moments = Object.entries({ validFrom, validTo }).flatMap(([key, text]) =>
    text === undefined ? [] : [{ key, text, moment: momentOf(text) }],
  );
  for (const { key, text, moment } of moments) {
    if (!moment) {
      yield {
        path: [...path, key],
        text: `is ${shown(text)}, expected date and time such as 2026-06-01T00:00:00Z`,
        rule: { name: 'formLike', example: '2026-06-01T00:00:00Z' },
      };
    }
  }
  const [from, to] = moments.map(({ moment }) => moment);
  if (from && to && to < from) {
    yield {
      path: [...path, 'validTo'],
      text: `is ${shown(validTo)}, before validFrom`,
      rule: { name: 'endBeforeStart' },
    };
  }
}

function momentOf(text: string): Date | undefined {
  try {
    const moment = parseMoment(text, '');
    return moment > LAST_MOMENT ? undefined : moment;
  } catch (error) {
    if (error instanceof ValidationError) return undefined;
    throw error;
  }
}

function* methodProblems(
  path: Path,
  keys: readonly string[],
  known: readonly string[] | undefined,
  section: 'shippingMethods' | 'paymentMethods',
): Generator<Problem> {
  if (!known) return;
  for (const [index, key] of keys.entries()) {
    if (!known.includes(key)) {
      yield {
        path: [...path, index],
        text: `${key} is not in ${section}${suggestion(key, known)}`,
        rule: { name: section === 'paymentMethods' ? 'unknownPaymentMethod' : 'unknownMethod' },
      };
    }
  }
}

/** A code belongs to one campaign, so a file names it once. */
function* codeProblems(entries: readonly CampaignEntry[]): Generator<Problem> {
  const places = new Map<string, string>();
  for (const [index, entry] of entries.entries()) {
    for (const list of ['codes', 'withdrawn'] as const) {
      for (const [at, code] of (entry[list] ?? []).entries()) {
        const first = places.get(couponKey(code));
        const place = `${SECTION}[${index}].${list}[${at}]`;
        if (first === undefined) places.set(couponKey(code), place);
        else {
          yield {
            path: [SECTION, index, list, at],
            text: `${shown(code)} is ${first} already`,
            rule: { name: 'duplicate', value: shown(code) },
          };
        }
      }
    }
  }
}
