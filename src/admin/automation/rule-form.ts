import { Type } from 'typebox';
import { html, type Markup } from '../../http/html.ts';
import type { FormRequest } from '../../http/page-kit.ts';
import { writableFields } from '../../fields/values.ts';
import { fullKey } from '../../fields/value.ts';
import type { EventType } from '../../platform/events/types.ts';
import { createRule } from '../../rules/routes.ts';
import { factTypes } from '../../rules/facts.ts';
import {
  Action,
  Condition,
  MAX_ACTIONS,
  MAX_CONDITIONS,
  Schedule,
  type NewRule,
} from '../../rules/schema.ts';
import {
  ACTION_KINDS,
  ACTIONS_OF,
  OPERATORS,
  PARTS_OF,
  RECIPIENTS,
  thingResource,
  type ActionKind,
  type Operator,
  type Recipient,
  type RuleResource,
} from '../../rules/things.ts';
import {
  declareForm,
  declareHidden,
  declareRows,
  readFields,
  showFields,
} from '../components/declared-form.ts';
import { refuseField } from '../components/validation.ts';
import type { AdminMessages } from '../messages.ts';
import type { Draft } from '../pages.ts';
import type { ShopVisit } from '../visit.ts';
import { factText } from './words.ts';

/*
 * The form of a rule: when, if, then. Each action shows the parts that it has. It needs no script.
 */

/** Rows without a condition, for more. */
const EMPTY_ROWS = 3;

const choicesOf = <Value extends string>(values: readonly Value[], texts: Readonly<Record<Value, string>>) =>
  values.map((value) => ({ value, text: texts[value] }));

export const RULE = declareForm(createRule, ({ automation: messages }) => ({
  name: { label: messages.name, isRequired: true },
  isActive: { kind: 'tick', label: messages.isActive, hint: messages.isActiveHint },
  needsAll: {
    kind: 'choice',
    label: messages.needsAll,
    choices: [
      { value: 'yes', text: messages.all },
      { value: 'no', text: messages.any },
    ],
  },
}));

const WEEKDAYS = ['1', '2', '3', '4', '5', '6', '7'] as const;

export const SCHEDULE = declareForm({ body: Schedule }, ({ automation: messages }) => ({
  every: {
    kind: 'choice',
    label: messages.every,
    choices: choicesOf<Schedule['every']>(['day', 'week', 'month'], messages.periods),
  },
  weekday: { kind: 'choice', label: messages.weekday, choices: choicesOf(WEEKDAYS, messages.weekdays) },
  day: { kind: 'integer', label: messages.day },
  hour: { kind: 'integer', label: messages.hour, hint: messages.hourHint, isRequired: true },
}));

/** A row is a condition. */
export const CONDITIONS = declareRows({ body: Condition }, ({ automation: messages }) => ({
  fact: { kind: 'choice', label: messages.fact, empty: messages.noFact, isCell: true },
  operator: {
    kind: 'choice',
    label: messages.operator,
    choices: choicesOf<Operator>(OPERATORS, messages.operators),
    isCell: true,
  },
  value: { label: messages.value, isCell: true },
}));

const ActionRow = Type.Object({ ...Action.properties, remove: Type.Boolean() });

/** A row is an action. */
export const ACTIONS = declareRows({ body: ActionRow }, ({ automation: messages }: AdminMessages) => ({
  kind: { kind: 'hidden', label: '', input: 'action' },
  to: { kind: 'choice', label: messages.to, choices: choicesOf<Recipient>(RECIPIENTS, messages.recipients) },
  subject: { label: messages.subject },
  text: { kind: 'long text', label: messages.text },
  address: { kind: 'url', label: messages.address, hint: messages.addressHint },
  field: { kind: 'choice', label: messages.customField },
  value: { label: messages.fieldValue, hint: messages.fieldValueHint, input: 'fieldValue' },
  remove: { kind: 'tick', label: messages.removeAction },
}));

/** The values that the form shows. */
export type RuleValues = Pick<NewRule, 'name' | 'isActive' | 'needsAll' | 'conditions' | 'actions'> & {
  event: EventType | null;
  schedule: Schedule | null;
};

export function isActionKind(text: string, resource: RuleResource): text is ActionKind {
  return (ACTIONS_OF[resource] as readonly string[]).includes(text);
}

/** The fields of the form; those of a refused one are the typed ones. */
export function ruleFields(visit: ShopVisit, rule: RuleValues, draft: Draft | undefined): Markup {
  const { messages, settings } = visit;
  const words = messages.automation;
  const resource = thingResource(rule);
  const values = { name: rule.name, isActive: rule.isActive, needsAll: rule.needsAll };
  const field = showFields(RULE, visit, { values, draft });
  const facts = Object.keys(factTypes(settings, resource));
  const factChoices = facts.map((name) => ({ value: name, text: factText(visit, name) }));
  const rows = Math.min(MAX_CONDITIONS, rule.conditions.length + EMPTY_ROWS);
  return html`${field('name')} ${field('isActive')}
    ${rule.schedule && scheduleFields(visit, rule.schedule, draft)}
    <fieldset>
      <legend>${words.if}</legend>
      <div class="stack">
        <p class="hint">${words.conditionsHint}</p>
        ${field('needsAll')}
        ${Array.from({ length: rows }, (_, index) => {
          const condition = showFields(CONDITIONS, visit, {
            values: rule.conditions[index] ?? {},
            draft,
            row: String(index),
          });
          return html`<div class="row">
            ${condition('fact', { choices: factChoices })} ${condition('operator')} ${condition('value')}
          </div>`;
        })}
      </div>
    </fieldset>
    ${rule.actions.map((action, index) => actionFields(visit, resource, action, index, facts, draft))}`;
}

function scheduleFields(visit: ShopVisit, schedule: Schedule, draft: Draft | undefined): Markup {
  const { every, hour, weekday = null, day = null } = schedule;
  const values = { every, hour, weekday: String(weekday ?? 1), day };
  const field = showFields(SCHEDULE, visit, { values, draft });
  return html`<div class="row">${field('every')} ${field('weekday')} ${field('day')} ${field('hour')}</div>`;
}

function actionFields(
  visit: ShopVisit,
  resource: RuleResource,
  action: Action,
  index: number,
  facts: readonly string[],
  draft: Draft | undefined,
): Markup {
  const messages = visit.messages.automation;
  const field = showFields(ACTIONS, visit, { values: action, draft, row: String(index) });
  const { kind } = action;
  const isTag = kind === 'tagOrder' || kind === 'tagCustomer';
  const fields = writableFields(visit.settings, resource, 'merchant').filter(
    ({ isList, isLocalised, type }) => !isList && !isLocalised && type !== 'json',
  );
  const named = facts.map((name) => `{${name}}`).join(' ');
  return html`<fieldset>
    <legend>${messages.then}: ${messages.actions[kind]}</legend>
    <div class="stack">
      ${field('kind')}
      ${PARTS_OF[kind].map((part) => {
        if (part === 'text' && isTag) return field('text', { label: messages.tag, rows: 1 });
        if (part === 'text') return field('text', { hint: messages.textHint({ facts: named }) });
        if (part === 'field') {
          const choices = fields.map((one) => ({ value: fullKey(one), text: fullKey(one) }));
          return field('field', { choices });
        }
        return field(part);
      })}
      ${field('remove')}
    </div>
  </fieldset>`;
}

/** The rule as it was typed; what it is about stays. */
export function readRule(
  visit: ShopVisit,
  form: FormRequest,
  { event, schedule }: Pick<RuleValues, 'event' | 'schedule'>,
): NewRule {
  const { name, isActive, needsAll } = readFields(RULE, form, visit);
  const resource = thingResource({ event, schedule });
  const conditions: Condition[] = [];
  for (let index = 0; index < MAX_CONDITIONS; index += 1) {
    const row = readFields(CONDITIONS, form, visit, { row: String(index) });
    if (row.fact) conditions.push(row);
  }
  const actions: Action[] = [];
  for (let index = 0; index < MAX_ACTIONS; index += 1) {
    const { remove, ...row } = readFields(ACTIONS, form, visit, { row: String(index) });
    const kind: string = row.kind ?? '';
    if (!remove && isActionKind(kind, resource)) actions.push(withOwnParts({ ...row, kind }));
  }
  if (actions.length === 0) throw refuseField('add', visit.messages.automation.nothingToDo);
  return {
    name,
    isActive,
    needsAll,
    conditions,
    actions,
    event,
    schedule: schedule && { ...readSchedule(visit, form), about: schedule.about ?? 'shop' },
  };
}

/** The parts that other actions have are not on the page. */
function withOwnParts(action: Action): Action {
  const parts = PARTS_OF[action.kind].map((part) => [part, action[part] ?? null] as const);
  return { kind: action.kind, ...(Object.fromEntries(parts) as Partial<Action>) };
}

function readSchedule(visit: ShopVisit, form: FormRequest): Schedule {
  const { every, hour, weekday, day } = readFields(SCHEDULE, form, visit);
  return {
    every,
    hour,
    weekday: every === 'week' ? Number(weekday) : null,
    day: every === 'month' ? day : null,
  };
}

/** The choice of an action that is added. */
export const NEW_ACTION = declareForm(
  { body: Type.Object({ add: Type.String() }) },
  ({ automation: messages }) => ({
    add: {
      kind: 'choice',
      label: messages.addAction,
      choices: choicesOf<ActionKind>(ACTION_KINDS, messages.actions),
    },
  }),
);

/** The button that was pressed: `save`, or `add` for one more action. */
export const PRESSED = declareHidden({ do: 10 });

export function actionChoices({ messages: { automation: messages } }: ShopVisit, resource: RuleResource) {
  return choicesOf<ActionKind>(ACTIONS_OF[resource], messages.actions);
}
