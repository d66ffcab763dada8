import type { TSchema } from 'typebox';
import { nearest, suggestion } from '../../kernel/suggestion.ts';
import { violations, type SchemaPart, type Violation } from './schema-check.ts';

/** One problem at one place of a settings file. */
export interface Problem {
  path: readonly (string | number)[];
  /** In English, as the command line and the API say it. */
  text: string;
  /** The broken rule, for the admin, which shows it in the reader's language. */
  rule: SettingsRule;
  /** Its place in a file that was parsed. */
  line?: number | undefined;
}

/** A rule by its name, with the other values of its message. */
export type SettingsRule =
  | { name: PlainRule }
  | { [Name in keyof RuleValues]: { name: Name } & Readonly<RuleValues[Name]> }[keyof RuleValues];

type PlainRule =
  | 'accountNumber'
  | 'aliases'
  | 'defaultTaxClass'
  | 'defaultTaxClassDigital'
  | 'discountOrPercent'
  | 'discountTooHigh'
  | 'domainPort'
  | 'duplicateKey'
  | 'emptyFile'
  | 'endBeforeStart'
  | 'firstStep'
  | 'flag'
  | 'form'
  | 'indentation'
  | 'keyForm'
  | 'list'
  | 'needlessAmount'
  | 'needlessExchangeRate'
  | 'noEntries'
  | 'number'
  | 'otherKindsField'
  | 'otherKindsPrice'
  | 'releaseTwice'
  | 'appOfPayment'
  | 'secondDocument'
  | 'section'
  | 'shippingNotWaived'
  | 'syntax'
  | 'taxNumberNeeded'
  | 'text'
  | 'timeZone'
  | 'unknownGroup'
  | 'unknownMethod'
  | 'unknownPaymentMethod'
  | 'unstorable'
  | 'wholeNumber'
  | 'zonePrice'
  | 'zonesPrice';

interface RuleValues {
  /** `field` is the key of the missing field. */
  missing: { field: string };
  min: { limit: number };
  max: { limit: number };
  above: { limit: number };
  tooMany: { limit: number };
  tooLong: { limit: number };
  formLike: { example: string };
  aboveStep: { limit: number };
  amountDecimals: { limit: number; currency: string };
  choice: { allowed: readonly string[] };
  contrast: { contrast: number; limit: number };
  css: { line: number; text: string };
  countryWithoutRates: { country: string; names: string };
  /** `sections` are the names of the sections that must be given as well. */
  currencyWithoutAmounts: { currency: string; sections: readonly string[] };
  decimals: { limit: number };
  defaultNotListed: { value: string };
  domainAddress: { host: string };
  domainLocal: { host: string };
  domainOfOther: { host: string };
  domainOfService: { host: string };
  domainUsualPort: { port: number };
  duplicate: { value: string };
  postcodeRange: { value: string };
  foreignCurrency: { value: string };
  foreignPlaceholder: { placeholder: string; allowed: string };
  inUse: { names: string };
  keyLike: { example: string };
  missingExchangeRate: { currency: string; base: string };
  missingTaxRate: { country: string };
  missingText: { locale: string };
  secretPlaceholder: { placeholder: string };
  unknownCountry: { value: string };
  unknownCurrency: { value: string };
  unknownKey: { allowed: readonly string[] };
  unknownKeyNear: { near: string };
  unknownLocale: { value: string };
  unknownProduct: { value: string };
  vatId: { example: string };
  wholeAmount: { currency: string };
}

/** Names all problems of a settings file, one line each. */
export class SettingsProblem extends Error {
  override name = 'SettingsProblem';
  readonly problems: readonly string[];
  /** The same problems with their places, where known, for forms that show each beside its field. */
  readonly places: readonly Problem[];

  constructor(problems: readonly string[], places: readonly Problem[] = []) {
    super(problems.join('\n'));
    this.problems = problems;
    this.places = places;
  }
}

/** `taxClasses[1].rates.DE: is 190, expected 100 or less`; with the line where the file is known. */
export function problemLine({ path, text, line }: Problem): string {
  const place = pathText(path);
  const where = line === undefined ? place : `${place} (line ${line})`;
  return where === '' ? `The file ${text}` : `${where}: ${text}`;
}

export function pathText(path: readonly (string | number)[]): string {
  return path
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${quoted(step)}`,
    )
    .join('');
}

/** A value as a person would write it; long texts are cut. */
export function shown(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a section';
  if (typeof value !== 'string') return `${value as number | boolean}`;
  const text = quoted(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** As it is, or in quotes where blanks or control characters would obscure its end. */
function quoted(text: string): string {
  return /^[\p{L}\p{N}\p{P}\p{S}]+$/u.test(text) ? text : JSON.stringify(text);
}

/** The first mistakes of a file are enough to fix it. */
export const MAX_PROBLEMS = 100;

/** The first problems; further ones are not searched for. */
export function firstProblems(problems: Iterable<Problem>): Problem[] {
  const found: Problem[] = [];
  for (const problem of problems) {
    found.push(problem);
    if (found.length === MAX_PROBLEMS) break;
  }
  return found;
}

/** Finds what the schema refuses: keys, types, bounds. */
export function formProblems(value: unknown, schema: TSchema): Problem[] {
  const problems = firstProblems(malformedParts(schema, value));
  return problems.length > 0 ? problems : firstProblems(unstorableTexts(value, []));
}

function* malformedParts(schema: TSchema, value: unknown): Generator<Problem> {
  for (const violation of violations(schema, value)) yield problemOf(violation);
}

function problemOf(violation: Violation): Problem {
  const { path, value, schema } = violation;
  const is = `is ${shown(value)}, expected`;
  switch (violation.keyword) {
    case 'additionalProperties': {
      const { key } = violation;
      return { path: [...path, key], ...unknownKey(key, schema) };
    }
    case 'required': {
      const { key } = violation;
      const missing = schema.properties?.[key];
      const text = `${key} is missing${missing ? `: ${meaning(missing)}` : ''}`;
      return { path, text, rule: { name: 'missing', field: key } };
    }
    case 'type':
      return { path, text: `${is} ${typeNames(schema, value)}`, rule: { name: typeRule(schema) } };
    case 'enum': {
      const allowed = violation.allowed.map(String);
      const near = suggestion(String(value), allowed);
      const text = near ? `is ${shown(value)}${near}` : `${is} one of ${allowed.join(', ')}`;
      return { path, text, rule: { name: 'choice', allowed } };
    }
    case 'minimum': {
      const { limit } = violation;
      return { path, text: `${is} ${limit} or more`, rule: { name: 'min', limit } };
    }
    case 'maximum': {
      const { limit } = violation;
      return { path, text: `${is} ${limit} or less`, rule: { name: 'max', limit } };
    }
    case 'exclusiveMinimum': {
      const { limit } = violation;
      return { path, text: `${is} more than ${limit}`, rule: { name: 'above', limit } };
    }
    case 'minItems':
    case 'minProperties':
      return {
        path,
        text: `has no entries, expected at least one: ${meaning(schema)}`,
        rule: { name: 'noEntries' },
      };
    case 'maxItems': {
      const { limit } = violation;
      return { path, text: `has more than ${limit} entries`, rule: { name: 'tooMany', limit } };
    }
    case 'maxLength': {
      const { limit } = violation;
      return { path, text: `has more than ${limit} characters`, rule: { name: 'tooLong', limit } };
    }
    case 'pattern':
      return { path, text: wrongForm(value, schema), rule: formRule(schema) };
  }
}

/** `blue is no colour like #0a5c63`: the expected kind of value, with a valid example. */
function wrongForm(data: unknown, { pattern = '', examples }: SchemaPart): string {
  const example = shown(examples?.[0]);
  if (typeof data !== 'string' || data.trim() === '') return `is empty, expected a text like ${example}`;
  const [, form] = FORMS.find(([start]) => pattern.startsWith(start)) ?? [];
  return form === undefined
    ? `${shown(data)} does not fit, expected a text like ${example}`
    : `${shown(data)} is no ${form} like ${example}`;
}

/** The names of text kinds, by the start of their patterns. */
const FORMS: readonly (readonly [start: string, form: string])[] = [
  ['^#', 'colour'],
  ['^[a-z]{2}_[A-Z]{2}$', 'locale'],
  ['^[a-z]{2}$', 'language'],
  ['^[A-Z]{2}$', 'country code'],
  ['^[A-Z]{3}$', 'currency code'],
  ['^[A-Z]{2}[0-9]{2}', 'IBAN'],
  ['^[A-Z0-9]{4}[A-Z]{2}', 'BIC'],
  ['^[A-Z]{2}[A-Z0-9 +*.-]', 'VAT id'],
  ['^[^\\s@]{1,64}@', 'email address'],
  ['^https', 'address'],
  ['^(?:https', 'address'],
  ['^(?:[A-Za-z0-9](?:', 'host name'],
  ['^[A-Za-z0-9][A-Za-z0-9_-]', 'key'],
  ['^ *[^', 'single line'],
  ['^(?=[', 'plain text'],
];

/** A text may also be a section, with the text in several locales. */
const TYPE_RULES = [
  ['integer', 'wholeNumber'],
  ['number', 'number'],
  ['string', 'text'],
  ['boolean', 'flag'],
  ['array', 'list'],
] as const;

function typeRule({ type }: SchemaPart) {
  const types = [type ?? []].flat();
  return TYPE_RULES.find(([name]) => types.includes(name))?.[1] ?? 'section';
}

/** With an example, if there is one that can be typed. */
function formRule({ examples }: SchemaPart): SettingsRule {
  const example = examples?.[0];
  const canBeTyped = typeof example === 'string' || typeof example === 'number';
  return canBeTyped ? { name: 'formLike', example: String(example) } : { name: 'form' };
}

/** The description of a field and its example. */
function meaning({ description, examples }: SchemaPart): string {
  const example = examples?.[0];
  return [
    description ?? 'see the schema',
    ...(example === undefined
      ? []
      : [`Example: ${typeof example === 'object' ? JSON.stringify(example) : shown(example)}`]),
  ].join(' ');
}

const TYPES: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a section',
  null: 'null',
};

function typeNames(words: SchemaPart, data: unknown): string {
  const types = [words.type ?? []].flat();
  const names = types.map((type) => TYPES[type] ?? type).join(' or ');
  if (data === null) return `${names}, or leave the key out`;
  const scalar = typeof data === 'number' || typeof data === 'boolean';
  if (scalar && types.includes('string')) return `${names}: put it in quotes`;
  if (typeof data === 'string' && types.includes('number')) return `${names} without quotes, such as 7.00`;
  return names;
}

function unknownKey(key: string, words: SchemaPart): Pick<Problem, 'text' | 'rule'> {
  const known = Object.keys(words.properties ?? {});
  if (known.length > 0) {
    const allowed = known.filter((name) => name !== '$schema');
    const near = nearest(key, known);
    return near === undefined
      ? {
          text: `unknown key, expected one of ${allowed.join(', ')}`,
          rule: { name: 'unknownKey', allowed },
        }
      : { text: `unknown key, did you mean ${near}?`, rule: { name: 'unknownKeyNear', near } };
  }
  const form = KEYS[Object.keys(words.patternProperties ?? {})[0] ?? ''];
  return form
    ? { text: `is not ${form.name}`, rule: { name: 'keyLike', example: form.example } }
    : { text: 'is not a key that fits here', rule: { name: 'keyForm' } };
}

/** The meaning of the keys of the maps, by their pattern. */
const KEYS: Record<string, { name: string; example: string }> = {
  '^[a-z]{2}_[A-Z]{2}$': { name: 'a locale such as de_DE', example: 'de_DE' },
  '^[A-Z]{2}$': { name: 'a country code such as DE', example: 'DE' },
  '^[A-Z]{3}$': { name: 'a currency such as EUR', example: 'EUR' },
  '^[A-Za-z0-9_.-]{1,100}$': { name: 'a name of letters, digits, _ . and -', example: 'account-1' },
};

/** PostgreSQL keeps neither U+0000 nor half of a surrogate pair. */
function* unstorableTexts(value: unknown, path: readonly (string | number)[]): Generator<Problem> {
  if (typeof value === 'string') {
    if (!value.includes('\0') && value.isWellFormed()) return;
    yield {
      path,
      text: 'holds a character that is not text (U+0000 or half of a surrogate pair)',
      rule: { name: 'unstorable' },
    };
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* unstorableTexts(item, [...path, index]);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) yield* unstorableTexts(item, [...path, key]);
  }
}
