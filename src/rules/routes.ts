import { atShopClock } from '../db/shop-clocks.ts';
import { Type, type Static } from 'typebox';
import { hasScope, requireScopes, type Caller } from '../http/callers.ts';
import { toMilliseconds } from '../http/dates.ts';
import { notFound, Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id, Nullable } from '../http/schemas.ts';
import { newId } from '../kernel/ids.ts';
import type { Scope } from '../http/scopes.ts';
import type { ReceiverPolicy } from '../apps/webhooks/receiver-address.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { checkRule } from './check.ts';
import { previewOf } from './preview.ts';
import {
  deleteRuleRow,
  findRule,
  findRules,
  findRuns,
  insertRule,
  lockRule,
  lockRuleCount,
  updateRule,
  type RuleRow,
  type RunRow,
  type SavedRule,
} from './queries.ts';
import { dueAtOf } from './runner.ts';
import { MAX_RULES, NewRule, Preview, PREVIEWED, Rule, RuleList, RuleRun } from './schema.ts';
import { thingResource, SCOPES_OF_THING } from './things.ts';

const shared = {
  under: 'manage',
  tag: 'rules',
  labels: [],
  access: 'any token',
  keepsKeyOrder: true,
} as const;
const params = Type.Object({ ruleId: Id });
const MAX_RUNS_AT_ONCE = 100;

export const listRules = operation({
  ...shared,
  method: 'GET',
  path: '/rules',
  name: 'listRules',
  summary: 'List rules',
  description: 'Those about things that the caller may read.',
  answer: RuleList,
});

export const getRule = operation({
  ...shared,
  method: 'GET',
  path: '/rules/:ruleId',
  name: 'getRule',
  summary: 'Get rule',
  params,
  answer: Rule,
});

export const createRule = operation({
  ...shared,
  method: 'POST',
  path: '/rules',
  name: 'createRule',
  summary: 'Create rule',
  description: `When something happens, or at an hour, and if conditions hold, do something. It needs the scopes to read and to write the thing; one that tags customers, also those of customers. A shop has at most ${MAX_RULES} rules.`,
  body: NewRule,
  status: 201,
  answer: Rule,
});

export const replaceRule = operation({
  ...shared,
  method: 'PUT',
  path: '/rules/:ruleId',
  name: 'replaceRule',
  summary: 'Replace rule',
  description:
    'A rule that was off, or gets another event, begins with what happens from then on. A paused one runs again.',
  params,
  body: NewRule,
  answer: Rule,
});

export const deleteRule = operation({
  ...shared,
  method: 'DELETE',
  path: '/rules/:ruleId',
  name: 'deleteRule',
  summary: 'Delete rule',
  description: 'With its log. Tasks that it has made stay.',
  params,
  status: 204,
});

export const previewRule = operation({
  ...shared,
  method: 'GET',
  path: '/rules/:ruleId/preview',
  name: 'previewRule',
  summary: 'Preview rule',
  description: `What it would have done with the last ${PREVIEWED} events, as things are now; one with a schedule, what it would do now. Nothing is changed.`,
  params,
  answer: Preview,
});

export const listRuleRuns = operation({
  ...shared,
  method: 'GET',
  path: '/rules/:ruleId/runs',
  name: 'listRuleRuns',
  summary: 'List rule runs',
  description:
    'Newest first: the last 500 of 30 days. What comes in the meantime moves nothing: `before` is the last one that was read.',
  params,
  query: Type.Object({
    before: Type.Optional({ ...Id, description: 'Only runs before this one.' }),
    limit: Type.Integer({
      minimum: 1,
      default: 10,
      description: `How many; more than ${MAX_RUNS_AT_ONCE} is taken as ${MAX_RUNS_AT_ONCE}.`,
      examples: [10],
    }),
  }),
  answer: Type.Object(
    {
      items: Type.Array(RuleRun, { description: 'Newest first.' }),
      next: Nullable({ ...Id, description: 'The `before` of the next call; null: there are no more.' }),
    },
    { title: 'rule run list' },
  ),
});

export function rules(api: Operations, policy: ReceiverPolicy): void {
  api.read(listRules, async ({ db, shopId, caller }) => {
    const rows = await findRules(db, shopId);
    return { items: rows.filter((rule) => mayRead(rule, caller)).map((rule) => toRule(rule, db)) };
  });

  api.read(getRule, async ({ db, shopId, params: { ruleId }, caller }) =>
    toRule(visibleRule(await findRule(db, shopId, ruleId), caller), db),
  );

  api.write(createRule, async ({ tx, shopId, body, caller, created }) => {
    requireScopes(caller.app!, scopesOf(body));
    const settings = await shopSettings(tx, shopId);
    checkRule(body, settings, policy);
    if ((await lockRuleCount(tx, shopId)) >= MAX_RULES)
      throw new Refusal('TOO_MANY_RULES', { limit: MAX_RULES });
    const ruleId = newId(tx.now);
    const rule = savedRule(ruleId, body, dueAtOf(tx, { schedule: null, ...body }, settings));
    await insertRule(tx, shopId, rule);
    created({ ruleId });
    return toRule({ ...rule, createdAt: tx.now, paused: null, pausedReason: null }, tx);
  });

  api.write(replaceRule, async ({ tx, shopId, params: { ruleId }, body, caller }) => {
    const before = await lockRule(tx, shopId, ruleId);
    const { createdAt, isActive, event } = visibleRule(before, caller);
    requireScopes(caller.app!, [...scopesOf(before!), ...scopesOf(body)]);
    const settings = await shopSettings(tx, shopId);
    checkRule(body, settings, policy);
    const rule = savedRule(ruleId, body, dueAtOf(tx, { schedule: null, ...body }, settings));
    await updateRule(tx, shopId, rule, { restarts: !isActive || event !== rule.event });
    return toRule({ ...rule, createdAt, paused: null, pausedReason: null }, tx);
  });

  api.write(deleteRule, async ({ tx, shopId, params: { ruleId }, caller }) => {
    const rule = visibleRule(await lockRule(tx, shopId, ruleId), caller);
    requireScopes(caller.app!, scopesOf(rule));
    await deleteRuleRow(tx, shopId, ruleId);
  });

  api.read(previewRule, async ({ db, shopId, params: { ruleId }, caller }) => {
    const rule = visibleRule(await findRule(db, shopId, ruleId), caller);
    return { items: await previewOf(db, await shopSettings(db, shopId), rule) };
  });

  api.read(listRuleRuns, async ({ db, shopId, params: { ruleId }, query, caller }) => {
    visibleRule(await findRule(db, shopId, ruleId), caller);
    const limit = Math.min(query.limit, MAX_RUNS_AT_ONCE);
    const runs = await findRuns(db, shopId, ruleId, query.before ?? null, limit + 1);
    const items = runs.slice(0, limit).map(toRun);
    return { items, next: runs.length > limit ? items.at(-1)!.runId : null };
  });
}

type RuleScopes = Pick<NewRule, 'event' | 'schedule' | 'actions'>;

/** A rule does only what its author may do by hand, so the author needs these scopes. */
function scopesOf({ actions, ...rule }: RuleScopes): Scope[] {
  const { read, write } = SCOPES_OF_THING[thingResource(rule)];
  const tagsCustomers = actions.some(({ kind }) => kind === 'tagCustomer');
  return [
    read,
    write,
    ...(tagsCustomers ? [SCOPES_OF_THING.customer.read, SCOPES_OF_THING.customer.write] : []),
  ];
}

const mayRead = (rule: Pick<RuleRow, 'event' | 'schedule'>, caller: Caller) =>
  hasScope(caller, SCOPES_OF_THING[thingResource(rule)].read);

/** A rule about things that the caller may read. */
function visibleRule(rule: RuleRow | undefined, caller: Caller): RuleRow {
  if (!rule) throw notFound();
  requireScopes(caller.app!, [SCOPES_OF_THING[thingResource(rule)].read]);
  return rule;
}

function savedRule(ruleId: string, body: NewRule, dueAt: Date | null): SavedRule {
  const { name, isActive, needsAll, conditions, actions, event = null, schedule = null } = body;
  return { ruleId, name: name.trim(), isActive, needsAll, conditions, actions, event, schedule, dueAt };
}

function toRule(rule: RuleRow, db: { now: Date; serviceNow: Date }): Static<typeof Rule> {
  const { ruleId, name, isActive, event, schedule, needsAll, conditions, actions, dueAt } = rule;
  const { paused, pausedReason } = rule;
  return {
    ruleId,
    name,
    isActive,
    event,
    schedule: schedule && {
      about: schedule.about ?? 'shop',
      every: schedule.every,
      hour: schedule.hour,
      weekday: schedule.weekday ?? null,
      day: schedule.day ?? null,
    },
    resource: thingResource(rule),
    needsAll,
    conditions: conditions.map(({ fact, operator, value = null }) => ({ fact, operator, value })),
    actions: actions.map(({ kind, to, subject, text, address, field, value }) => ({
      kind,
      to: to ?? null,
      subject: subject ?? null,
      text: text ?? null,
      address: address ?? null,
      field: field ?? null,
      value: value ?? null,
    })),
    nextRunOn: schedule && dueAt && toMilliseconds(atShopClock(db, dueAt)),
    paused,
    pausedReason,
  };
}

function toRun({ at, ...run }: RunRow): Static<typeof RuleRun> {
  const { runId, ruleId, position, resource, resourceId, outcome, error, reason } = run;
  // JSON of the database has an order of its own.
  const actions = run.actions.map(({ kind, outcome: result, code = null, note }) => ({
    kind,
    outcome: result,
    code,
    note,
  }));
  return {
    runId,
    ruleId,
    date: toMilliseconds(at),
    position,
    resource,
    resourceId,
    outcome,
    actions,
    error,
    reason,
  };
}
