import type { Static } from 'typebox';
import { FIELD_PREFIX } from '../../rules/facts.ts';
import type { Rule } from '../../rules/schema.ts';
import type { FactName, RuleResource } from '../../rules/things.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

export type ShownRule = Static<typeof Rule>;

/** What a person reads of a fact. */
export function factText({ messages: { automation: words } }: ShopVisit, name: string): string {
  if (name.startsWith(FIELD_PREFIX)) return words.field({ name: name.slice(FIELD_PREFIX.length) });
  return words.facts[name as FactName] ?? name;
}

/** When a rule runs, in a few words. */
export function whenText({ messages: { automation: words } }: ShopVisit, rule: ShownRule): string {
  if (rule.event !== null) return words.events[rule.event as keyof typeof words.events];
  const { every, hour, weekday, day } = rule.schedule!;
  const part =
    every === 'week'
      ? words.weekdays[String(weekday) as keyof typeof words.weekdays]
      : every === 'month'
        ? `${words.periods.month}, ${day}.`
        : words.periods.day;
  return `${words.every} ${part}, ${String(hour).padStart(2, '0')}:00`;
}

const PATHS: Readonly<Record<Exclude<RuleResource, 'shop'>, string>> = {
  order: '/orders/',
  product: '/products/',
  customer: '/customers/',
};

/** The page of a thing; undefined: it is the shop. */
export function pathOfThing(
  visit: ShopVisit,
  resource: RuleResource,
  resourceId: string | null,
): string | undefined {
  return resource === 'shop' || resourceId === null
    ? undefined
    : adminPath(visit, PATHS[resource] + resourceId);
}

/** The names of the parameters by which the log names things. */
export const ID_OF = { order: 'orderId', product: 'productId', customer: 'customerId' } as const;
