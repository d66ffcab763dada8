import type { Problem } from './problem.ts';
import { zoneIdentity } from './diff.ts';
import {
  amountProblems,
  ascendingProblems,
  countryCodeProblems,
  duplicateProblems,
  nameProblems,
  repeatedProblems,
  risingProblems,
  textProblems,
  weightProblems,
  type Frame,
  type Path,
} from './rules.ts';
import type { SettingsFile } from './schema.ts';
import {
  isFieldOfMethod,
  PICKUP_FIELDS,
  PRICE_FIELDS,
  SHIPPING_PRICES,
  ZONE_PRICES,
} from './schema/shipping.ts';

/** Checks of shipping methods and delivery times that no schema can express. */

export function* shippingProblems({ shippingMethods = [] }: SettingsFile, frame: Frame): Generator<Problem> {
  yield* duplicateProblems('shippingMethods', 'key', shippingMethods);
  for (const [index, method] of shippingMethods.entries()) {
    const path = ['shippingMethods', index];
    yield* nameProblems([...path, 'name'], method.name, frame);
    if (method.description) yield* textProblems([...path, 'description'], method.description, frame);
    if (method.place) yield* textProblems([...path, 'place'], method.place, frame);
    if (method.hours) yield* textProblems([...path, 'hours'], method.hours, frame);
    yield* fieldProblems(path, method);
    yield* amountProblems([...path, 'price'], method.price, frame);
    yield* amountProblems([...path, 'pricePerKg'], method.pricePerKg, frame);
    yield* amountProblems([...path, 'freeFrom'], method.freeFrom, frame);
    yield* tierProblems([...path, 'tiers'], method.tiers ?? [], frame);
    yield* zonesProblems([...path, 'zones'], method.zones ?? [], frame);
  }
}

type Method = NonNullable<SettingsFile['shippingMethods']>[number];
type Zone = NonNullable<Method['zones']>[number];

/** The fields that a kind of delivery lacks, and those that belong to another. */
function* fieldProblems(path: Path, method: Method): Generator<Problem> {
  const { kind, zones = [] } = method;
  const { needs, takes } = SHIPPING_PRICES[kind];
  for (const field of [...PRICE_FIELDS, ...PICKUP_FIELDS, 'zones'] as const) {
    const isTaken = isFieldOfMethod(field, method);
    if (method[field] === undefined) {
      if (isTaken && needs.includes(field)) {
        yield {
          path,
          text: `${field} is missing: kind ${kind} needs it`,
          rule: { name: 'missing', field },
        };
      }
    } else if (!isTaken) {
      const isPrice = (PRICE_FIELDS as readonly string[]).includes(field);
      if (isPrice && takes.includes(field)) {
        yield {
          path: [...path, field],
          text: `does not belong to a method with zones, because each of its ${zones.length} zones has its own`,
          rule: { name: 'zonesPrice' },
        };
        continue;
      }
      const allowed = takes.length === 0 ? 'no prices' : takes.join(', ');
      yield {
        path: [...path, field],
        text: isPrice
          ? `does not belong to kind ${kind}, which has ${allowed}`
          : `does not belong to kind ${kind}`,
        rule: { name: isPrice ? 'otherKindsPrice' : 'otherKindsField' },
      };
    }
  }
}

function* tierProblems(path: Path, tiers: NonNullable<Zone['tiers']>, frame: Frame): Generator<Problem> {
  for (const [at, tier] of tiers.entries()) {
    yield* amountProblems([...path, at, 'from'], tier.from, frame);
    yield* amountProblems([...path, at, 'price'], tier.price, frame);
  }
  yield* ascendingProblems(path, tiers);
  const [first] = tiers;
  if (first && first.from !== 0) {
    yield {
      path: [...path, 0, 'from'],
      text: `is ${first.from}, expected 0: else small orders have no price`,
      rule: { name: 'firstStep' },
    };
  }
}

/** Zones may overlap, because the first that fits holds; one that equals another could never hold. */
function* zonesProblems(path: Path, zones: readonly Zone[], frame: Frame): Generator<Problem> {
  const places = new Map<string, number>();
  for (const [index, zone] of zones.entries()) {
    const at = [...path, index];
    const identity = zoneIdentity(zone);
    const first = places.get(identity);
    if (first === undefined) {
      places.set(identity, index);
    } else {
      yield {
        path: at,
        text: `${identity} is zones[${first}] already, which always holds before this one`,
        rule: { name: 'duplicate', value: identity },
      };
    }
    yield* zoneProblems(at, zone, frame);
  }
}

function* zoneProblems(path: Path, zone: Zone, frame: Frame): Generator<Problem> {
  const { countries, postcodes = [], tiers = [], weights = [], days, maxWeight } = zone;
  for (const [index, country] of countries.entries()) {
    yield* countryCodeProblems([...path, 'countries', index], country);
  }
  yield* repeatedProblems([...path, 'countries'], countries);
  for (const [index, text] of postcodes.entries())
    yield* postcodeProblems([...path, 'postcodes', index], text);
  const given = ZONE_PRICES.filter((field) =>
    field === 'price' ? zone.price !== undefined : (zone[field] ?? []).length > 0,
  );
  if (given.length !== 1) {
    yield {
      path,
      text:
        given.length === 0
          ? 'has no price, expected one of price, tiers, weights'
          : `has ${given.join(' and ')}, expected only one of them`,
      rule: { name: 'zonePrice' },
    };
  }
  yield* amountProblems([...path, 'price'], zone.price, frame);
  yield* amountProblems([...path, 'freeFrom'], zone.freeFrom, frame);
  yield* tierProblems([...path, 'tiers'], tiers, frame);
  for (const [at, { upTo, price }] of weights.entries()) {
    yield* weightProblems([...path, 'weights', at, 'upTo'], upTo);
    yield* amountProblems([...path, 'weights', at, 'price'], price, frame);
  }
  yield* risingProblems([...path, 'weights'], 'upTo', weights);
  if (maxWeight !== undefined) yield* weightProblems([...path, 'maxWeight'], maxWeight);
  if (days) yield* rangeProblems([...path, 'days'], days);
}

function* postcodeProblems(path: Path, text: string): Generator<Problem> {
  const [, first, last] = /^\s*(\d+)\s*-\s*(\d+)\s*$/.exec(text) ?? [];
  if (first === undefined || last === undefined) return;
  if (first.length !== last.length) {
    yield {
      path,
      text: `is ${text}, expected as many digits before as after the hyphen; one postcode is written without it: ${first}${last}`,
      rule: { name: 'postcodeRange', value: text },
    };
  } else if (first > last) {
    yield {
      path,
      text: `is ${text}, expected the lower postcode first: ${last}-${first}`,
      rule: { name: 'postcodeRange', value: text },
    };
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
    rule: { name: 'min', limit: from },
  };
}

function isTimeZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}
