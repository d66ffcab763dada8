import { isDate } from '../http/dates.ts';
import { invalid, Refusal } from '../http/errors.ts';
import { parseDecimal } from '../kernel/money.ts';
import { writableFields } from '../fields/values.ts';
import { fullKey, storedValues } from '../fields/value.ts';
import type { ReceiverPolicy } from '../apps/webhooks/receiver-address.ts';
import { MAX_TAG_LENGTH } from '../people/customers/tags.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { namedFacts, parseAmount } from './decide.ts';
import { factTypes } from './facts.ts';
import { toFieldValue } from './field-value.ts';
import { MAX_TASK_LENGTH, type Action, type Condition, type NewRule } from './schema.ts';
import {
  ACTION_PARTS,
  ACTIONS_OF,
  needsValue,
  OPERATORS_OF,
  PARTS_OF,
  thingResource,
  type FactType,
  type RuleResource,
} from './things.ts';

/*
 * Checks beyond the schema of a rule. Refuses a rule that would never run, or whose actions could not be done.
 */

const contradiction = (problem: string) => new Refusal('RULE_CONTRADICTORY', { problem });

/** The form that tags have everywhere. */
const TAG = /^[^,\s]([^,\p{Cc}]*[^,\s])?$/u;

export function checkRule(rule: NewRule, settings: Settings, policy: ReceiverPolicy): void {
  const { event = null, schedule = null, conditions, actions } = rule;
  if ((event === null) === (schedule === null)) {
    throw contradiction('a rule has either an event or a schedule');
  }
  if (schedule) {
    const { every, weekday = null, day = null } = schedule;
    if ((every === 'week') !== (weekday !== null) || (every === 'month') !== (day !== null)) {
      throw contradiction('every week has a weekday, every month has a day, and every day has neither');
    }
  }
  const resource = thingResource({ event, schedule });
  const types = factTypes(settings, resource);
  conditions.forEach((condition, index) =>
    checkCondition(condition, `conditions[${index}]`, types, settings.defaultCurrency),
  );
  actions.forEach((action, index) =>
    checkAction(action, `actions[${index}]`, { resource, types, settings, policy }),
  );
}

function checkCondition(
  { fact, operator, value = null }: Condition,
  place: string,
  types: Readonly<Record<string, FactType>>,
  currency: string,
): void {
  const type = Object.hasOwn(types, fact) ? types[fact] : undefined;
  if (!type) throw invalid('UNKNOWN_VALUE', `${place}.fact`);
  if (!OPERATORS_OF[type.kind].includes(operator)) throw invalid('UNKNOWN_VALUE', `${place}.operator`);
  const text = (value ?? '').trim();
  if (!needsValue(operator)) {
    if (text !== '') throw contradiction(`${operator} has no value`);
    return;
  }
  if (text === '') throw invalid('MISSING', `${place}.value`);
  if (!isValueOf(type, text, currency)) throw invalid('WRONG_FORMAT', `${place}.value`);
}

function isValueOf({ kind, choices }: FactType, text: string, currency: string): boolean {
  switch (kind) {
    case 'number':
      return parseDecimal(text) !== undefined;
    case 'money':
      return parseAmount(text, currency) !== undefined;
    case 'boolean':
      return text === 'true' || text === 'false';
    case 'date':
      return isDate(text);
    case 'choice':
      return choices!.includes(text);
    case 'text':
    case 'texts':
      return true;
  }
}

interface ActionContext {
  resource: RuleResource;
  types: Readonly<Record<string, FactType>>;
  settings: Settings;
  policy: ReceiverPolicy;
}

function checkAction(action: Action, place: string, context: ActionContext): void {
  const { resource, types, settings, policy } = context;
  const { kind } = action;
  if (!ACTIONS_OF[resource].includes(kind)) throw invalid('UNKNOWN_VALUE', `${place}.kind`);
  const parts = PARTS_OF[kind];
  for (const part of ACTION_PARTS) {
    const text = (action[part] ?? '').trim();
    if (!parts.includes(part)) {
      if (text !== '') throw contradiction(`${kind} has no ${part}`);
      continue;
    }
    // An empty value removes the field.
    if (text === '' && part !== 'value') throw invalid('MISSING', `${place}.${part}`);
    const isFilled = part === 'subject' || part === 'text';
    const unknown = isFilled ? namedFacts(text).find((name) => !Object.hasOwn(types, name)) : undefined;
    if (unknown !== undefined) throw contradiction(`there is no fact {${unknown}}`);
  }
  const text = action.text?.trim() ?? '';
  switch (kind) {
    case 'tagOrder':
    case 'tagCustomer':
      if (text.length > MAX_TAG_LENGTH) throw invalid('TOO_LONG', `${place}.text`);
      if (!TAG.test(text)) throw invalid('WRONG_FORMAT', `${place}.text`);
      return;
    case 'task':
      if (text.length > MAX_TASK_LENGTH) throw invalid('TOO_LONG', `${place}.text`);
      return;
    case 'email':
      if (action.to === 'customer' && resource !== 'order' && resource !== 'customer') {
        throw contradiction('only orders and customers have a customer who gets an email');
      }
      return;
    case 'call':
      checkAddress(action.address!, `${place}.address`, policy);
      return;
    case 'setField':
      checkField(action, place, resource, settings);
      return;
    case 'hideProduct':
    case 'showProduct':
    case 'note':
  }
}

function checkAddress(address: string, place: string, policy: ReceiverPolicy): void {
  if (!URL.canParse(address)) throw invalid('WRONG_FORMAT', place);
  const problem = policy.problemOf(new URL(address));
  if (problem !== undefined) throw contradiction(`the address ${problem}`);
}

/** Values are texts here, so a field with several values, or one for each language, can't be set. */
function checkField(
  { field: name, value }: Action,
  place: string,
  resource: RuleResource,
  settings: Settings,
): void {
  const field = writableFields(settings, resource, 'merchant').find((one) => fullKey(one) === name);
  if (!field) throw invalid('UNKNOWN_VALUE', `${place}.field`);
  if (field.isList || field.isLocalised || field.type === 'json') {
    throw contradiction('a rule sets fields with one value, the same in all languages');
  }
  storedValues(field, toFieldValue(field, value ?? '', settings), settings);
}
