import { Type, type Static } from 'typebox';
import { Id, Nullable, Timestamp } from '../http/schemas.ts';
import type { EventType } from '../platform/events/types.ts';
import {
  ACTION_KINDS,
  OPERATORS,
  RECIPIENTS,
  RULE_EVENTS,
  RULE_RESOURCES,
  WALKS,
  type ActionKind,
  type Operator,
  type Recipient,
  type RuleResource,
  type Walk,
} from './things.ts';
import { PausedReason, Reason, SKIPPED, type SkipCode } from './reasons.ts';

/** Rules of a shop. */
export const MAX_RULES = 50;
export const MAX_CONDITIONS = 20;
export const MAX_ACTIONS = 10;
export const MAX_RULE_NAME_LENGTH = 100;
export const MAX_VALUE_LENGTH = 200;
export const MAX_FACT_LENGTH = 100;
export const MAX_SUBJECT_LENGTH = 150;
export const MAX_RULE_TEXT_LENGTH = 3_000;
export const MAX_CALLED_ADDRESS_LENGTH = 2_000;
/** Events of a preview. */
export const PREVIEWED = 50;

/** How far a schedule about orders goes back. */
export const WALK_DAYS = 400;

const choice = <Value extends string>(values: readonly Value[], description: string, example: Value) =>
  Type.Unsafe<Value>({ type: 'string', enum: [...values], description, examples: [example] });

const nullableChoice = <Value extends string>(
  values: readonly Value[],
  description: string,
  example: Value,
) =>
  Type.Unsafe<Value | null>({
    type: ['string', 'null'],
    enum: [...values, null],
    description,
    examples: [example],
  });

export const Schedule = Type.Object(
  {
    about: Type.Optional(
      nullableChoice<Walk>(
        WALKS,
        `order: it runs for each order of the last ${WALK_DAYS} days, once each time; absent: once for the shop.`,
        'order',
      ),
    ),
    every: choice(['day', 'week', 'month'], 'How often.', 'week'),
    hour: Type.Integer({
      minimum: 0,
      maximum: 23,
      description: 'The hour in the time zone of the shop.',
      examples: [7],
    }),
    weekday: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 1,
          maximum: 7,
          description: 'Of every week: 1 is Monday, 7 is Sunday.',
          examples: [1],
        }),
      ),
    ),
    day: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 1,
          maximum: 28,
          description: 'Of every month: its day.',
          examples: [1],
        }),
      ),
    ),
  },
  { title: 'rule schedule', description: 'When it runs; null: it has an event.' },
);
export type Schedule = Static<typeof Schedule>;

export const Condition = Type.Object(
  {
    fact: Type.String({
      minLength: 1,
      maxLength: MAX_FACT_LENGTH,
      description: 'What is asked, such as total, or field.care.washing for a custom field.',
      examples: ['total'],
    }),
    operator: choice<Operator>(OPERATORS, 'How it is compared.', 'atLeast'),
    value: Type.Optional(
      Nullable(
        Type.String({
          maxLength: MAX_VALUE_LENGTH,
          description:
            'With what. Numbers are exact decimals; an amount is in the currency of the shop, or names another one: 100 CHF.',
          examples: ['100'],
        }),
      ),
    ),
  },
  { title: 'rule condition' },
);
export type Condition = Static<typeof Condition>;

export const Action = Type.Object(
  {
    kind: choice<ActionKind>(ACTION_KINDS, 'What is done.', 'tagOrder'),
    to: Type.Optional(nullableChoice<Recipient>(RECIPIENTS, 'Who gets the email.', 'shop')),
    subject: Type.Optional(
      Nullable(
        Type.String({
          maxLength: MAX_SUBJECT_LENGTH,
          description: 'The subject of the email, with facts in braces.',
          examples: ['Order {number}'],
        }),
      ),
    ),
    text: Type.Optional(
      Nullable(
        Type.String({
          maxLength: MAX_RULE_TEXT_LENGTH,
          description: 'The tag, the note, the task or the email, with facts in braces.',
          examples: ['large'],
        }),
      ),
    ),
    address: Type.Optional(
      Nullable(
        Type.String({
          maxLength: MAX_CALLED_ADDRESS_LENGTH,
          description: 'The address that is called.',
          examples: ['https://app.example/rules'],
        }),
      ),
    ),
    field: Type.Optional(
      Nullable(
        Type.String({
          maxLength: MAX_FACT_LENGTH,
          description: 'The custom field: namespace.key.',
          examples: ['care.washing'],
        }),
      ),
    ),
    value: Type.Optional(
      Nullable(
        Type.String({
          maxLength: MAX_VALUE_LENGTH,
          description: 'The value of the custom field as a text; empty removes it.',
          examples: ['cold'],
        }),
      ),
    ),
  },
  { title: 'rule action' },
);
export type Action = Static<typeof Action>;

const eventType = nullableChoice<EventType>(
  RULE_EVENTS,
  'The event that starts it; null: a schedule.',
  'ORDER_CREATE',
);

const changeable = {
  name: Type.String({
    minLength: 1,
    maxLength: MAX_RULE_NAME_LENGTH,
    pattern: '\\S',
    description: 'For people of the shop.',
    examples: ['Large orders'],
  }),
  isActive: Type.Boolean({
    description: 'It runs. It begins with what happens from then on.',
    examples: [true],
  }),
  needsAll: Type.Boolean({
    description: 'All conditions must hold; false: one of them. Without conditions it always runs.',
    examples: [true],
  }),
  conditions: Type.Array(Condition, { maxItems: MAX_CONDITIONS, description: 'When it runs.' }),
  actions: Type.Array(Action, {
    minItems: 1,
    maxItems: MAX_ACTIONS,
    description: 'What it does, in this order: all of it or nothing.',
  }),
};

export const NewRule = Type.Object(
  {
    ...changeable,
    event: Type.Optional(eventType),
    schedule: Type.Optional(Nullable(Schedule)),
  },
  { title: 'rule (request)', description: 'It has an event or a schedule.' },
);
export type NewRule = Static<typeof NewRule>;

const resource = choice<RuleResource>(RULE_RESOURCES, 'What it is about.', 'order');

export const Rule = Type.Object(
  {
    ruleId: Id,
    ...changeable,
    event: eventType,
    schedule: Nullable(Schedule),
    resource,
    nextRunOn: Nullable({ ...Timestamp, description: 'Of a schedule: its next run.' }),
    paused: Nullable(
      Type.String({
        description: 'Why the service has switched it off, in English; null: it has not.',
        examples: ['It has failed 5 times in a row: There is no such thing'],
      }),
    ),
    pausedReason: Nullable(PausedReason),
  },
  { title: 'rule' },
);

export const RuleList = Type.Object(
  { items: Type.Array(Rule, { description: 'By name.' }) },
  { title: 'rule list' },
);

export const OUTCOMES = ['done', 'waiting', 'skipped', 'failed'] as const;
export type RunOutcome = (typeof OUTCOMES)[number];

const ActionResult = Type.Object(
  {
    kind: choice<ActionKind>(ACTION_KINDS, 'What was to be done.', 'tagOrder'),
    outcome: choice<RunOutcome>(
      OUTCOMES,
      'done; waiting: an address is still to be called; skipped: there was nothing to do; failed.',
      'done',
    ),
    code: Type.Optional(
      nullableChoice<SkipCode>(
        Object.keys(SKIPPED) as SkipCode[],
        'Why there was nothing to do.',
        'ORDER_HAS_TAG',
      ),
    ),
    note: Nullable(Type.String({ description: 'More about it, in English.', examples: ['204'] })),
  },
  { title: 'rule action result' },
);
export type ActionResult = Static<typeof ActionResult>;

export const RuleRun = Type.Object(
  {
    runId: Id,
    ruleId: Id,
    date: Timestamp,
    position: Nullable(
      Type.Integer({ description: 'Of its event in the event log; null: a schedule.', examples: [1042] }),
    ),
    resource,
    resourceId: Nullable(Id),
    outcome: choice(['done', 'failed'] as const, 'failed: nothing of it was done.', 'done'),
    actions: Type.Array(ActionResult, { description: 'What came of each action.' }),
    error: Nullable(Type.String({ description: 'Why it has failed, in English.', examples: ['Not found'] })),
    reason: Nullable(Reason),
  },
  { title: 'rule run' },
);

const PlannedAction = Type.Object(
  {
    kind: choice<ActionKind>(ACTION_KINDS, 'What would be done.', 'tagOrder'),
    text: Nullable(Type.String({ description: 'With the facts filled in.', examples: ['large'] })),
  },
  { title: 'planned rule action' },
);

export const Preview = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          position: Nullable(Type.Integer({ description: 'In the event log.', examples: [1042] })),
          date: Timestamp,
          resourceId: Nullable(Id),
          name: Type.String({ description: 'The number of the thing.', examples: ['1042'] }),
          conditions: Type.Array(
            Type.Boolean({ description: 'Whether the condition holds.', examples: [true] }),
            { description: 'One for each condition.' },
          ),
          runs: Type.Boolean({ description: 'Whether the rule would run.', examples: [true] }),
          actions: Type.Array(PlannedAction, { description: 'What it would do.' }),
        },
        { title: 'previewed event' },
      ),
      { description: 'Newest first. What is gone is left out.' },
    ),
  },
  { title: 'rule preview' },
);

export const MAX_TASK_LENGTH = 500;
export const TASK_STATES = ['open', 'done'] as const;

export const NewTask = Type.Object(
  {
    text: Type.String({
      minLength: 1,
      maxLength: MAX_TASK_LENGTH,
      pattern: '\\S',
      description: 'What has to be done.',
      examples: ['Call the customer'],
    }),
  },
  { title: 'task (request)' },
);

export const Task = Type.Object(
  {
    taskId: Id,
    createdOn: Timestamp,
    text: NewTask.properties.text,
    resource,
    resourceId: Nullable(Id),
    ruleId: Nullable({ ...Id, description: 'The rule that has made it; null: a person, or an app.' }),
    doneOn: Nullable(Timestamp),
    doneBy: Nullable(Type.String({ description: 'Who has done it.', examples: ['ada@shop.example'] })),
  },
  { title: 'task' },
);

export const TaskChange = Type.Object(
  { isDone: Type.Boolean({ description: 'It is done.', examples: [true] }) },
  { title: 'task (change request)' },
);
