import type { Problem } from './problem.ts';
import {
  amountProblems,
  ascendingProblems,
  duplicateProblems,
  nameProblems,
  textProblems,
  type Frame,
} from './rules.ts';
import { PRICE_FIELDS, SHIPPING_PRICES, type SettingsFile } from './schema.ts';

/** Checks of shipping methods and delivery times that no schema can express. */

export function* shippingProblems({ shippingMethods = [] }: SettingsFile, frame: Frame): Generator<Problem> {
  yield* duplicateProblems('shippingMethods', 'key', shippingMethods);
  for (const [index, method] of shippingMethods.entries()) {
    const path = ['shippingMethods', index];
    yield* nameProblems([...path, 'name'], method.name, frame);
    if (method.description) yield* textProblems([...path, 'description'], method.description, frame);
    const { needs, takes } = SHIPPING_PRICES[method.kind];
    for (const field of PRICE_FIELDS) {
      if (method[field] === undefined) {
        if (needs.includes(field)) {
          yield {
            path,
            text: `${field} is missing: kind ${method.kind} needs it`,
            rule: { name: 'missing', field },
          };
        }
      } else if (!takes.includes(field)) {
        const allowed = takes.length === 0 ? 'no prices' : takes.join(', ');
        yield {
          path: [...path, field],
          text: `does not belong to kind ${method.kind}, which has ${allowed}`,
          rule: { name: 'otherKindsPrice' },
        };
      }
    }
    yield* amountProblems([...path, 'price'], method.price, frame);
    yield* amountProblems([...path, 'pricePerKg'], method.pricePerKg, frame);
    yield* amountProblems([...path, 'freeFrom'], method.freeFrom, frame);
    for (const [at, tier] of (method.tiers ?? []).entries()) {
      yield* amountProblems([...path, 'tiers', at, 'from'], tier.from, frame);
      yield* amountProblems([...path, 'tiers', at, 'price'], tier.price, frame);
    }
    yield* ascendingProblems([...path, 'tiers'], method.tiers ?? []);
    const first = method.tiers?.[0];
    if (first && first.from !== 0) {
      yield {
        path: [...path, 'tiers', 0, 'from'],
        text: `is ${first.from}, expected 0: else small orders have no price`,
        rule: { name: 'firstStep' },
      };
    }
  }
}

export function* deliveryTimeProblems(
  { deliveryTimes = {} }: SettingsFile,
  frame: Frame,
): Generator<Problem> {
  const { timeZone, handling, methods = {} } = deliveryTimes;
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    yield {
      path: ['deliveryTimes', 'timeZone'],
      text: `is ${timeZone}, expected the name of a time zone, such as Europe/Berlin`,
      rule: { name: 'timeZone' },
    };
  }
  if (handling) yield* rangeProblems(['deliveryTimes', 'handling'], handling);
  for (const [key, days] of Object.entries(methods)) {
    const path = ['deliveryTimes', 'methods', key];
    if (frame.shippingMethods && !frame.shippingMethods.includes(key)) {
      yield {
        path,
        text: `is no shipping method of the shop, expected one of ${frame.shippingMethods.join(', ')}`,
        rule: { name: 'unknownMethod' },
      };
    }
    yield* rangeProblems(path, days);
  }
}

function* rangeProblems(
  path: Problem['path'],
  { from, to }: { from: number; to: number },
): Generator<Problem> {
  if (from <= to) return;
  yield {
    path: [...path, 'to'],
    text: `is ${to}, expected ${from} or more`,
    rule: { name: 'least', limit: from },
  };
}

function isTimeZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}
