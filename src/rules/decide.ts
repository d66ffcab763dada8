import { parseDecimal } from '../kernel/money.ts';
import type { Condition } from './schema.ts';
import type { FactType, Operator } from './things.ts';

/*
 * Decides whether a rule runs for a thing, and fills in its texts. Pure. Numbers stay exact decimal texts, because floats
 * would round a price.
 */

export interface MoneyFact {
  /** A decimal text. */
  amount: string;
  currency: string;
}

/** null: the thing has none. Numbers are decimal texts, days are YYYY-MM-DD. */
export type Fact = string | boolean | readonly string[] | MoneyFact | null;

export type Facts = Readonly<Record<string, Fact>>;

export interface DecisionContext {
  types: Readonly<Record<string, FactType>>;
  /** The currency of an amount without one. */
  currency: string;
}

/** Tells for each condition whether it holds. */
export function heldConditions(
  conditions: readonly Condition[],
  facts: Facts,
  context: DecisionContext,
): boolean[] {
  return conditions.map((condition) => holds(condition, facts, context));
}

/** Whether the conditions of a rule let it run. A rule without conditions always runs. */
export function areConditionsMet(held: readonly boolean[], needsAll: boolean): boolean {
  return held.length === 0 || (needsAll ? held.every(Boolean) : held.some(Boolean));
}

function holds({ fact: name, operator, value }: Condition, facts: Facts, context: DecisionContext): boolean {
  // The custom field may be gone.
  if (!Object.hasOwn(context.types, name)) return false;
  const type = context.types[name]!;
  const fact = Object.hasOwn(facts, name) ? facts[name]! : null;
  const isSet = Array.isArray(fact) ? fact.length > 0 : fact !== null && fact !== '';
  if (operator === 'isSet') return isSet;
  if (operator === 'isNotSet') return !isSet;
  if (!isSet) return operator === 'isNot' || operator === 'containsNot';
  const given = (value ?? '').trim();
  switch (type.kind) {
    case 'text':
    case 'choice':
      return holdsText(fact as string, operator, given);
    case 'texts':
      return holdsTexts(fact as readonly string[], operator, given);
    case 'boolean':
      return (fact === true ? 'true' : 'false') === given;
    case 'number':
      return holdsNumber(fact as string, operator, given);
    case 'money':
      return holdsMoney(fact as MoneyFact, operator, given, context.currency);
    case 'date':
      return holdsDate(fact as string, operator, given);
  }
}

const sameCase = (text: string) => text.toLowerCase();

function holdsText(fact: string, operator: Operator, given: string): boolean {
  const [text, other] = [sameCase(fact), sameCase(given)];
  if (operator === 'is') return text === other;
  if (operator === 'isNot') return text !== other;
  return text.includes(other) === (operator === 'contains');
}

function holdsTexts(fact: readonly string[], operator: Operator, given: string): boolean {
  const isIn = fact.some((text) => sameCase(text) === sameCase(given));
  return isIn === (operator === 'contains');
}

/** Days of this form are in the order of their texts. */
function holdsDate(fact: string, operator: Operator, given: string): boolean {
  if (operator === 'is') return fact === given;
  if (operator === 'isNot') return fact !== given;
  return operator === 'before' ? fact < given : fact > given;
}

/** For each operator the orders of the two numbers in which it holds. */
const HELD_ORDERS: Partial<Record<Operator, readonly (-1 | 0 | 1 | undefined)[]>> = {
  is: [0],
  isNot: [-1, 1, undefined],
  moreThan: [1],
  atLeast: [0, 1],
  lessThan: [-1],
  atMost: [-1, 0],
};

function holdsNumber(fact: string, operator: Operator, given: string): boolean {
  return HELD_ORDERS[operator]?.includes(compareDecimals(fact, given)) ?? false;
}

/** An amount in another currency is neither more nor less. */
function holdsMoney(fact: MoneyFact, operator: Operator, given: string, currency: string): boolean {
  const amount = parseAmount(given, currency);
  if (!amount || amount.currency !== fact.currency) return operator === 'isNot';
  return holdsNumber(fact.amount, operator, amount.amount);
}

/** `100`, or `100 CHF`; undefined: it is no amount. */
export function parseAmount(text: string, currency: string): MoneyFact | undefined {
  const [, amount, named] = /^(-?\d{1,15}(?:\.\d{1,10})?)(?: ?([A-Z]{3}))?$/.exec(text.trim()) ?? [];
  return amount === undefined ? undefined : { amount, currency: named ?? currency };
}

/** -1, 0 or 1; undefined: one of them is no decimal. */
export function compareDecimals(left: string, right: string): -1 | 0 | 1 | undefined {
  const [one, other] = [parseDecimal(left), parseDecimal(right)];
  if (!one || !other) return undefined;
  const scale = Math.max(one.scale, other.scale);
  const inUnits = ({ units, scale: own }: NonNullable<typeof one>) => units * 10n ** BigInt(scale - own);
  const difference = inUnits(one) - inUnits(other);
  return difference === 0n ? 0 : difference > 0n ? 1 : -1;
}

const PLACEHOLDER = /\{([^{}\r\n]{1,100})\}/g;

/** The names of the facts in a text. */
export function namedFacts(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name]) => name!);
}

/** The text with its facts filled in, once: a fact can't name another one. */
export function filledText(text: string, facts: Facts, maxLength: number): string {
  const filled = text.replaceAll(PLACEHOLDER, (whole, name: string) =>
    Object.hasOwn(facts, name) ? textOfFact(facts[name]!) : whole,
  );
  // Half of a character can't be stored.
  return filled.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '');
}

export function textOfFact(fact: Fact): string {
  if (fact === null) return '';
  if (typeof fact === 'string') return fact;
  if (typeof fact === 'boolean') return String(fact);
  if (isMoney(fact)) return `${fact.amount} ${fact.currency}`;
  return fact.join(', ');
}

const isMoney = (fact: readonly string[] | MoneyFact): fact is MoneyFact => !Array.isArray(fact);
