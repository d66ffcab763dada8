import type { Static } from 'typebox';
import { failureOf } from '../../apps/webhooks/failure.ts';
import { FIELD_PREFIX } from '../../rules/facts.ts';
import { refusalOfReason, type Reason } from '../../rules/reasons.ts';
import type { Rule } from '../../rules/schema.ts';
import type { FactName, RuleResource } from '../../rules/things.ts';
import { refusalText } from '../components/validation.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

export type ShownRule = Static<typeof Rule>;

/** What a person reads of a fact. */
export function factText({ messages: { automation: messages } }: ShopVisit, name: string): string {
  if (name.startsWith(FIELD_PREFIX)) return messages.field({ name: name.slice(FIELD_PREFIX.length) });
  return messages.facts[name as FactName] ?? name;
}

/** When a rule runs, in a few words. */
export function whenText({ messages: { automation: messages } }: ShopVisit, rule: ShownRule): string {
  if (rule.event !== null) return messages.events[rule.event as keyof typeof messages.events];
  const { about, every, hour, weekday, day } = rule.schedule!;
  const each = about === 'order' ? `, ${messages.eachOrder}` : '';
  const part =
    every === 'week'
      ? messages.weekdays[String(weekday) as keyof typeof messages.weekdays]
      : every === 'month'
        ? `${messages.periods.month}, ${day}.`
        : messages.periods.day;
  return `${messages.every} ${part}, ${String(hour).padStart(2, '0')}:00${each}`;
}

/** Why something has failed; where an earlier version has written it, in English. */
export function reasonText(visit: ShopVisit, reason: Reason | null, text: string | null): string {
  const refusal = reason && refusalOfReason(reason);
  if (refusal) return refusalText(visit, refusal);
  return reason ? visit.messages.automation.internalError : (text ?? '');
}

/** What came of the call of an address: its status, or why it was not reached. */
export function answerText({ messages: { webhooks } }: ShopVisit, note: string): string {
  if (/^\d+$/.test(note)) return note;
  const failure = failureOf(note);
  return failure === 'other' ? note : `${webhooks.notReached} ${webhooks.failures[failure]}`;
}

/** Why the service has switched a rule off; null: it has not. */
export function pauseText(visit: ShopVisit, { paused, pausedReason }: ShownRule): string | null {
  const messages = visit.messages.automation;
  if (paused === null) return null;
  // An earlier version has switched it off.
  if (!pausedReason) return `${paused}.`;
  const { code, count, reason, answer } = pausedReason;
  return code === 'CALLS_FAILED'
    ? messages.callsFailed({ count, answer: answer === null ? '' : answerText(visit, answer) })
    : messages.runsFailed({ count, reason: reasonText(visit, reason, null) });
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
