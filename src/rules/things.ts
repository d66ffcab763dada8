import { EVENT_TYPE_NAMES, EVENT_TYPES, type EventType } from '../platform/events/types.ts';
import { ORDER_STATES } from '../orders/order-state.ts';
import type { Scope } from '../http/scopes.ts';

/*
 * The vocabulary of rules: things, the events that start a rule, the facts that conditions compare, and the actions.
 * Pure.
 */

export const RULE_RESOURCES = ['order', 'product', 'customer', 'shop'] as const;
export type RuleResource = (typeof RULE_RESOURCES)[number];

/** These start no rule: its conditions could not ask about a thing that is gone. */
const GONE: readonly EventType[] = ['ORDER_DELETE', 'PRODUCT_DELETE', 'CUSTOMER_ERASE'];

const WITH_EVENTS: readonly string[] = ['order', 'product', 'customer'];

/** The events that start a rule. */
export const RULE_EVENTS: readonly EventType[] = EVENT_TYPE_NAMES.filter(
  (type) => WITH_EVENTS.includes(EVENT_TYPES[type].resource) && !GONE.includes(type),
);

/** What a schedule is about: the shop itself, or each of its orders. */
export const WALKS = ['shop', 'order'] as const;
export type Walk = (typeof WALKS)[number];

/** What a rule is about. */
export function thingResource({
  event,
  schedule,
}: {
  event?: EventType | null | undefined;
  schedule?: { about?: Walk | null } | null | undefined;
}): RuleResource {
  return event ? (EVENT_TYPES[event].resource as RuleResource) : (schedule?.about ?? 'shop');
}

/** The scopes that rules and tasks about a thing require. */
export const SCOPES_OF_THING: Readonly<Record<RuleResource, { read: Scope; write: Scope }>> = {
  order: { read: 'orders_read', write: 'orders_write' },
  product: { read: 'products_read', write: 'products_write' },
  customer: { read: 'customers_read', write: 'customers_write' },
  shop: { read: 'orders_read', write: 'orders_write' },
};

export type FactKind = 'text' | 'texts' | 'number' | 'money' | 'boolean' | 'date' | 'choice';

export interface FactType {
  kind: FactKind;
  /** Of a fact of the kind `choice`. */
  choices?: readonly string[];
}

export const WEEKDAYS = ['1', '2', '3', '4', '5', '6', '7'] as const;

const TEXT = { kind: 'text' } as const;
const TEXTS = { kind: 'texts' } as const;
const NUMBER = { kind: 'number' } as const;
const MONEY = { kind: 'money' } as const;
const BOOLEAN = { kind: 'boolean' } as const;

/** The facts of each thing. Its custom fields are facts too, named `field.namespace.key`. */
export const FACTS = {
  order: {
    number: TEXT,
    total: MONEY,
    unpaid: MONEY,
    age: NUMBER,
    state: { kind: 'choice', choices: ORDER_STATES },
    items: NUMBER,
    products: TEXTS,
    country: TEXT,
    payment: TEXT,
    shipping: TEXT,
    language: TEXT,
    customer: TEXT,
    email: TEXT,
    comment: TEXT,
    tags: TEXTS,
    customerTags: TEXTS,
    customerOrders: NUMBER,
    changed: TEXTS,
  },
  product: {
    number: TEXT,
    name: TEXT,
    price: MONEY,
    stock: NUMBER,
    visible: BOOLEAN,
    manufacturer: TEXT,
    variation: BOOLEAN,
    changed: TEXTS,
  },
  customer: {
    number: TEXT,
    customer: TEXT,
    email: TEXT,
    company: TEXT,
    country: TEXT,
    tags: TEXTS,
    orders: NUMBER,
  },
  shop: {
    weekday: { kind: 'choice', choices: WEEKDAYS },
    newOrders: NUMBER,
    openTasks: NUMBER,
  },
} as const satisfies Record<RuleResource, Record<string, FactType>>;

type FactsOf<Resource extends RuleResource> = keyof (typeof FACTS)[Resource] & string;
export type FactName = FactsOf<'order'> | FactsOf<'product'> | FactsOf<'customer'> | FactsOf<'shop'>;

/** The names of all facts, each once. */
export const FACT_NAMES = [
  ...new Set(RULE_RESOURCES.flatMap((resource) => Object.keys(FACTS[resource]))),
] as FactName[];

export const OPERATORS = [
  'is',
  'isNot',
  'contains',
  'containsNot',
  'moreThan',
  'atLeast',
  'lessThan',
  'atMost',
  'before',
  'after',
  'isSet',
  'isNotSet',
] as const;
export type Operator = (typeof OPERATORS)[number];

const COMPARED: readonly Operator[] = ['is', 'isNot', 'moreThan', 'atLeast', 'lessThan', 'atMost'];
const PRESENT: readonly Operator[] = ['isSet', 'isNotSet'];

export const OPERATORS_OF: Readonly<Record<FactKind, readonly Operator[]>> = {
  text: ['is', 'isNot', 'contains', 'containsNot', ...PRESENT],
  texts: ['contains', 'containsNot', ...PRESENT],
  number: [...COMPARED, ...PRESENT],
  money: [...COMPARED, ...PRESENT],
  boolean: ['is', ...PRESENT],
  date: ['is', 'isNot', 'before', 'after', ...PRESENT],
  choice: ['is', 'isNot', ...PRESENT],
};

export const needsValue = (operator: Operator) => !PRESENT.includes(operator);

export const ACTION_KINDS = [
  'tagOrder',
  'tagCustomer',
  'email',
  'call',
  'setField',
  'hideProduct',
  'showProduct',
  'note',
  'task',
] as const;
export type ActionKind = (typeof ACTION_KINDS)[number];

/** The actions that a rule about a thing may have. */
export const ACTIONS_OF: Readonly<Record<RuleResource, readonly ActionKind[]>> = {
  order: ['tagOrder', 'tagCustomer', 'email', 'call', 'setField', 'note', 'task'],
  product: ['email', 'call', 'setField', 'hideProduct', 'showProduct', 'task'],
  customer: ['tagCustomer', 'email', 'call', 'setField', 'task'],
  shop: ['email', 'call', 'setField', 'task'],
};

/** The parts that an action has; all others must be left out. */
export const PARTS_OF: Readonly<Record<ActionKind, readonly ActionPart[]>> = {
  tagOrder: ['text'],
  tagCustomer: ['text'],
  email: ['to', 'subject', 'text'],
  call: ['address'],
  setField: ['field', 'value'],
  hideProduct: [],
  showProduct: [],
  note: ['text'],
  task: ['text'],
};

export const ACTION_PARTS = ['to', 'subject', 'text', 'address', 'field', 'value'] as const;
export type ActionPart = (typeof ACTION_PARTS)[number];

export const RECIPIENTS = ['shop', 'customer'] as const;
export type Recipient = (typeof RECIPIENTS)[number];
