import type { ErrorObject, ValidateFunction } from 'ajv';
import { suggestion } from '../../kernel/suggestion.ts';

/** What is wrong at one place of a settings file. */
export interface Problem {
  path: readonly (string | number)[];
  /** In English, as the command line and the API say it. */
  text: string;
  /** The rule that is broken, for forms, which say it in the language of the reader. Absent: only a file can break it. */
  rule?: Rule;
}

/** A rule by its name, with what its message names beside it. */
export type Rule =
  | { name: PlainRule }
  | { [Name in keyof RuleValues]: { name: Name } & Readonly<RuleValues[Name]> }[keyof RuleValues];

type PlainRule =
  | 'accountNumber'
  | 'choice'
  | 'defaultTaxClass'
  | 'defaultTaxClassDigital'
  | 'discountOrPercent'
  | 'discountTooHigh'
  | 'domainPort'
  | 'firstStep'
  | 'form'
  | 'needlessExchangeRate'
  | 'noEntries'
  | 'number'
  | 'otherKindsPrice'
  | 'releaseTwice'
  | 'taxNumberNeeded'
  | 'text'
  | 'timeZone'
  | 'unknownMethod'
  | 'unstorable'
  | 'wholeNumber';

interface RuleValues {
  /** `field` is the key of the missing field. */
  missing: { field: string };
  least: { limit: number };
  most: { limit: number };
  above: { limit: number };
  tooMany: { limit: number };
  tooLong: { limit: number };
  formLike: { example: string };
  aboveStep: { limit: number };
  amountDecimals: { limit: number; currency: string };
  contrast: { contrast: number; limit: number };
  countryWithoutRates: { country: string; names: string };
  /** `sections` are the names of the sections that must be given as well. */
  currencyWithoutAmounts: { currency: string; sections: readonly string[] };
  decimals: { limit: number };
  defaultNotListed: { value: string };
  domainAddress: { host: string };
  domainLocal: { host: string };
  domainOfOther: { host: string };
  domainUsualPort: { port: number };
  duplicate: { value: string };
  foreignPlaceholder: { placeholder: string; allowed: string };
  inUse: { names: string };
  missingExchangeRate: { currency: string; base: string };
  missingTaxRate: { country: string };
  missingText: { locale: string };
  unknownCountry: { value: string };
  unknownCurrency: { value: string };
  unknownLocale: { value: string };
  vatId: { example: string };
  wholeAmount: { currency: string };
}

/** Names everything that is wrong with a settings file, one line each. */
export class SettingsProblem extends Error {
  override name = 'SettingsProblem';
  readonly problems: readonly string[];
  /** The same with their places, as far as they have one, for forms that show each beside its field. */
  readonly places: readonly Problem[];

  constructor(problems: readonly string[], places: readonly Problem[] = []) {
    super(problems.join('\n'));
    this.problems = problems;
    this.places = places;
  }
}

/** `taxClasses[1].rates.DE: is 190, expected 100 or less`; with the line where the file is known. */
export function problemLine({ path, text }: Problem, line?: number): string {
  const place = pathText(path);
  const where = line === undefined ? place : `${place} (line ${line})`;
  return where === '' ? `The file ${text}` : `${where}: ${text}`;
}

function pathText(path: readonly (string | number)[]): string {
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

/** As it is, or in quotes where blanks or control characters would blur where it ends. */
function quoted(text: string): string {
  return /^[\p{L}\p{N}\p{P}\p{S}]+$/u.test(text) ? text : JSON.stringify(text);
}

/** Finds what the schema refuses: keys, types, bounds. */
export function formProblems(value: unknown, validate: ValidateFunction): Problem[] {
  if (validate(value)) return unstorableTexts(value, []);
  const errors = validate.errors!;
  // A value of the wrong type is named once, not again for each bound that it misses as well.
  const wrongType = new Set(
    errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath),
  );
  return errors
    .filter(({ keyword, instancePath }) => keyword === 'type' || !wrongType.has(instancePath))
    .map((error) => problemOf(error, value));
}

function problemOf(error: ErrorObject, document: unknown): Problem {
  const path = stepsOf(error.instancePath, document);
  const { data, params } = error;
  const words = error.parentSchema as Described;
  const is = `is ${shown(data)}, expected`;
  const limit = Number(params['limit']);
  switch (error.keyword) {
    case 'additionalProperties': {
      const key = String(params['additionalProperty']);
      return { path: [...path, key], text: unknownKey(key, words) };
    }
    case 'required': {
      const key = String(params['missingProperty']);
      const missing = words.properties?.[key];
      const text = `${key} is missing${missing ? `: ${meaning(missing)}` : ''}`;
      return { path, text, rule: { name: 'missing', field: key } };
    }
    case 'type':
      return { path, text: `${is} ${typeNames(words, data)}`, rule: { name: typeRule(words) } };
    case 'enum': {
      const allowed = (params['allowedValues'] as unknown[]).map(String);
      const near = suggestion(String(data), allowed);
      const text = near ? `is ${shown(data)}${near}` : `${is} one of ${allowed.join(', ')}`;
      return { path, text, rule: { name: 'choice' } };
    }
    case 'minimum':
      return { path, text: `${is} ${limit} or more`, rule: { name: 'least', limit } };
    case 'maximum':
      return { path, text: `${is} ${limit} or less`, rule: { name: 'most', limit } };
    case 'exclusiveMinimum':
      return { path, text: `${is} more than ${limit}`, rule: { name: 'above', limit } };
    case 'minItems':
    case 'minProperties':
      return {
        path,
        text: `has no entries, expected at least one: ${meaning(words)}`,
        rule: { name: 'noEntries' },
      };
    case 'maxItems':
      return { path, text: `has more than ${limit} entries`, rule: { name: 'tooMany', limit } };
    case 'maxLength':
      return { path, text: `has more than ${limit} characters`, rule: { name: 'tooLong', limit } };
    default:
      // The only other keyword of the schema is pattern.
      return { path, text: wrongForm(data, words), rule: formRule(words) };
  }
}

/** `blue is no colour like #0a5c63`: what it is not, and one that is right. */
function wrongForm(data: unknown, { pattern = '', examples }: Described): string {
  const example = shown(examples?.[0]);
  if (typeof data !== 'string' || data.trim() === '') return `is empty, expected a text like ${example}`;
  const [, form] = FORMS.find(([start]) => pattern.startsWith(start)) ?? [];
  return form === undefined
    ? `${shown(data)} does not fit, expected a text like ${example}`
    : `${shown(data)} is no ${form} like ${example}`;
}

/** What texts are called, by how their patterns begin. */
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

interface Described {
  pattern?: string;
  type?: string | string[];
  description?: string;
  examples?: unknown[];
  properties?: Record<string, Described>;
  patternProperties?: Record<string, Described>;
}

function typeRule({ type }: Described): 'wholeNumber' | 'number' | 'text' {
  const types = [type ?? []].flat();
  if (types.includes('integer')) return 'wholeNumber';
  return types.includes('number') ? 'number' : 'text';
}

/** With an example, where there is one that can be typed. */
function formRule({ examples }: Described): Rule {
  const example = examples?.[0];
  const canBeTyped = typeof example === 'string' || typeof example === 'number';
  return canBeTyped ? { name: 'formLike', example: String(example) } : { name: 'form' };
}

/** The description of a field and its example. */
function meaning({ description, examples }: Described): string {
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

function typeNames(words: Described, data: unknown): string {
  const types = [words.type ?? []].flat();
  const names = types.map((type) => TYPES[type] ?? type).join(' or ');
  if (data === null) return `${names}, or leave the key out`;
  const scalar = typeof data === 'number' || typeof data === 'boolean';
  if (scalar && types.includes('string')) return `${names}: put it in quotes`;
  if (typeof data === 'string' && types.includes('number')) return `${names} without quotes, such as 7.00`;
  return names;
}

function unknownKey(key: string, words: Described): string {
  const known = Object.keys(words.properties ?? {});
  if (known.length > 0) {
    const hint = suggestion(key, known);
    return `unknown key${hint || `, expected one of ${known.filter((name) => name !== '$schema').join(', ')}`}`;
  }
  const pattern = Object.keys(words.patternProperties ?? {})[0];
  return `is not ${KEYS[pattern ?? ''] ?? 'a key that fits here'}`;
}

/** What the keys of the maps are, by their pattern. */
const KEYS: Record<string, string> = {
  '^[a-z]{2}_[A-Z]{2}$': 'a locale such as de_DE',
  '^[A-Z]{2}$': 'a country code such as DE',
  '^[A-Z]{3}$': 'a currency such as EUR',
  '^[A-Za-z0-9_.-]{1,100}$': 'a name of letters, digits, _ . and -',
};

/** The steps of a JSON pointer; those into a list are numbers. */
function stepsOf(pointer: string, document: unknown): (string | number)[] {
  let value = document;
  return pointer
    .split('/')
    .slice(1)
    .map((escaped) => {
      const step = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
      const inList = Array.isArray(value);
      value = (value as Record<string, unknown>)[step];
      return inList ? Number(step) : step;
    });
}

/** PostgreSQL keeps neither U+0000 nor half of a surrogate pair. */
function unstorableTexts(value: unknown, path: readonly (string | number)[]): Problem[] {
  if (typeof value === 'string') {
    return value.includes('\0') || !value.isWellFormed()
      ? [
          {
            path,
            text: 'holds a character that is not text (U+0000 or half of a surrogate pair)',
            rule: { name: 'unstorable' },
          },
        ]
      : [];
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => unstorableTexts(item, [...path, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => unstorableTexts(item, [...path, key]));
}
