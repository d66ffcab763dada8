import type { Static } from 'typebox';
import type { Queries } from '../db/database.ts';
import { toMilliseconds } from '../http/dates.ts';
import { RULE_MARK } from '../platform/events/log.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { areConditionsMet, filledText } from './decide.ts';
import { loadShopThing, loadThings, type RuleThing } from './facts.ts';
import { findLastEvents, findLastRun, findNewestOrderIds, type RuleRow } from './queries.ts';
import { conditionsOf, withChanges } from './runner.ts';
import { MAX_RULE_TEXT_LENGTH, Preview, PREVIEWED, type Action } from './schema.ts';
import { thingResource } from './things.ts';

type PreviewedEvent = Static<typeof Preview>['items'][number];

/** Shows how a rule would have handled the last events, or would run now. Changes nothing. */
export async function previewOf(db: Queries, settings: Settings, rule: RuleRow): Promise<PreviewedEvent[]> {
  const { shopId } = settings;
  const resource = thingResource(rule);
  if (rule.schedule?.about === 'order') {
    const orderIds = await findNewestOrderIds(db, shopId, PREVIEWED);
    const orders = await loadThings(db, settings, 'order', orderIds);
    return orderIds.flatMap((orderId) => {
      const order = orders.get(orderId);
      return order ? [previewed(rule, order, settings, { position: null, at: db.now })] : [];
    });
  }
  if (rule.event === null || resource === 'shop') {
    const since = (await findLastRun(db, shopId, rule.ruleId)) ?? rule.createdAt;
    const thing = await loadShopThing(db, settings, since);
    return [previewed(rule, thing, settings, { position: null, at: db.now })];
  }
  const last = await findLastEvents(db, shopId, rule.event, PREVIEWED);
  const events = last.filter(({ data }) => !Object.hasOwn(data, RULE_MARK));
  const ids = [...new Set(events.flatMap(({ resourceId }) => resourceId ?? []))];
  const things = await loadThings(db, settings, resource, ids);
  return events.flatMap((event) => {
    const thing = things.get(event.resourceId ?? '');
    return thing ? [previewed(rule, withChanges(thing, event), settings, event)] : [];
  });
}

function previewed(
  rule: RuleRow,
  thing: RuleThing,
  settings: Settings,
  { position, at }: { position: number | null; at: Date },
): PreviewedEvent {
  const conditions = conditionsOf(rule, thing, settings);
  const { resourceId, name, facts } = thing;
  return {
    position,
    date: toMilliseconds(at),
    resourceId,
    name,
    conditions,
    runs: areConditionsMet(conditions, rule.needsAll),
    actions: rule.actions.map((action) => {
      const text = textOf(action);
      return { kind: action.kind, text: text && filledText(text, facts, MAX_RULE_TEXT_LENGTH) };
    }),
  };
}

function textOf({ kind, subject, text, address, field, value }: Action): string | null {
  if (kind === 'email') return `${subject}\n\n${text}`;
  if (kind === 'call') return address ?? null;
  if (kind === 'setField') return `${field} = ${value ?? ''}`;
  return text ?? null;
}
