import { atServiceClock } from '../db/shop-clocks.ts';
import { performance } from 'node:perf_hooks';
import type { FastifyBaseLogger } from 'fastify';
import { isDatabaseAway } from '../db/failure.ts';
import { isTransient, type Database, type Transaction } from '../db/database.ts';
import { renewWhile } from '../db/lease.ts';
import { isRefusal } from '../http/errors.ts';
import { firstIdOf, newId } from '../kernel/ids.ts';
import { markEvents, RULE_MARK } from '../platform/events/log.ts';
import { readEvents, type EventRow } from '../platform/events/queries.ts';
import { shopSettings, type Settings } from '../shops/settings/settings.ts';
import { act } from './act.ts';
import { areConditionsMet, heldConditions } from './decide.ts';
import { factTypes, loadShopThing, loadThings, type RuleThing } from './facts.ts';
import {
  countFailure,
  endWalk,
  findOrderIds,
  findLastRun,
  findRunsOfHour,
  FIRST_RULE,
  insertRun,
  moveRule,
  moveWalk,
  pauseRule,
  postponeRule,
  releaseRule,
  renewRule,
  startRuleRun,
  sweepRules,
  takeRule,
  type RuleKey,
  type RuleRow,
  type RunRow,
  type TakenRule,
} from './queries.ts';
import { reasonOf, errorLogText, type Reason } from './reasons.ts';
import { nextRun } from './schedule.ts';
import { WALK_DAYS, type ActionResult } from './schema.ts';
import { thingResource, type RuleResource } from './things.ts';

/** Rules that one statement checks for work. */
const RULES_PER_SWEEP = 1_000;
const EVENTS_PER_READ = 50;
/** Milliseconds after which a rule with much to do lets the others run. */
const MAX_TURN = 10_000;
/** Runs of a rule in an hour. Its further events wait for the next hour, so that a mistake does not send thousands of emails. */
export const MAX_RUNS_OF_RULE = 500;
const MAX_RUNS_OF_SHOP = 2_000;
const DAY = 86_400_000;
/** Failures in a row after which a rule is paused. */
const MAX_FAILURES = 5;

export interface RuleDeps {
  db: Database;
  log: FastifyBaseLogger;
}

/** Runs the rules of all shops that have something to do, one after the other. */
export async function runDueRules(
  { db, log }: RuleDeps,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  for (let after: RuleKey | undefined = FIRST_RULE; after && !signal.aborted;) {
    const rows: (RuleKey & { hasWork: boolean })[] = await sweepRules(db, after, RULES_PER_SWEEP);
    after = rows.length === RULES_PER_SWEEP ? rows.at(-1) : undefined;
    for (const { shopId, ruleId, hasWork } of rows) {
      if (signal.aborted) return;
      if (!hasWork) continue;
      try {
        await runRule({ db: db.atClockOf(shopId), log }, shopId, ruleId, signal);
      } catch (error) {
        // It is taken again after the lease has expired.
        log.warn({ err: error, shop: shopId, rule: ruleId }, 'a rule stopped');
      }
    }
  }
}

async function runRule(deps: RuleDeps, shopId: string, ruleId: string, signal: AbortSignal): Promise<void> {
  const { db } = deps;
  const rule = await takeRule(db, shopId, ruleId, newId(db.serviceNow));
  if (!rule) return;
  const until = performance.now() + MAX_TURN;
  await renewWhile(
    () => renewRule(db, shopId, rule),
    async (isHeld) => {
      const mayGoOn = () => isHeld() && !signal.aborted && performance.now() < until;
      if (rule.schedule?.about === 'order') await walkOverOrders(deps, shopId, rule, mayGoOn);
      else if (rule.schedule) await runBySchedule(deps, shopId, rule);
      else await runByEvents(deps, shopId, rule, mayGoOn);
    },
  );
  await releaseRule(db, shopId, rule);
}

async function runBySchedule(deps: RuleDeps, shopId: string, rule: TakenRule): Promise<void> {
  const { db } = deps;
  const settings = await shopSettings(db, shopId);
  const since = (await findLastRun(db, shopId, rule.ruleId)) ?? rule.createdAt;
  const thing = await loadShopThing(db, settings, since);
  // Not from when it was due: a service that was off for a week does not run it seven times.
  const next = nextRun(rule.schedule!, settings.deliveryTimes.timeZone, db.now);
  const dueAt = atServiceClock(db, next);
  if (isMet(rule, thing, settings)) {
    await run(deps, { shopId, rule, settings, thing, event: undefined, dueAt });
  } else await postponeRule(db, shopId, rule, dueAt);
}

/**
 * Runs a rule for the orders that are there when its hour comes, in the order of their ids. How far it has come is written
 * with each run, so each order runs it once, and a walk that is stopped or has to wait goes on where it was.
 */
async function walkOverOrders(
  deps: RuleDeps,
  shopId: string,
  rule: TakenRule,
  mayGoOn: () => boolean,
): Promise<void> {
  const { db } = deps;
  const settings = await shopSettings(db, shopId);
  const { walkAfter, walkUntil } = rule;
  const first = firstIdOf(new Date(db.now.getTime() - WALK_DAYS * DAY));
  const until = walkUntil ?? newId(db.now);
  for (let after = walkAfter ?? first; mayGoOn();) {
    if (!(await moveWalk(db, shopId, rule, { after, until }))) return;
    const ids = await findOrderIds(db, shopId, { after, until }, EVENTS_PER_READ);
    const things = await loadThings(db, settings, 'order', ids);
    for (const orderId of ids) {
      if (!mayGoOn()) return;
      const thing = things.get(orderId);
      if (!thing || !isMet(rule, thing, settings)) continue;
      const waitsUntil = await endOfFullHour(deps, shopId, rule);
      if (waitsUntil) return void (await postponeRule(db, shopId, rule, waitsUntil));
      const { dueAt } = rule;
      if (!(await run(deps, { shopId, rule, settings, thing, event: undefined, dueAt, walkAfter: orderId })))
        return;
    }
    if (ids.length < EVENTS_PER_READ) {
      const next = nextRun(rule.schedule!, settings.deliveryTimes.timeZone, db.now);
      return void (await endWalk(db, shopId, rule, atServiceClock(db, next)));
    }
    after = ids.at(-1)!;
  }
}

async function runByEvents(
  deps: RuleDeps,
  shopId: string,
  rule: TakenRule,
  mayGoOn: () => boolean,
): Promise<void> {
  const { db } = deps;
  const resource = thingResource(rule);
  if (resource === 'shop') throw new Error('A rule about the shop has a schedule');
  for (let position = rule.position, hasMore = true; hasMore && mayGoOn();) {
    const page = await readEvents(db, shopId, {
      after: position,
      types: [rule.event!],
      limit: EVENTS_PER_READ,
    });
    // Events may have been cleaned up before the rule, which was off or had to wait, could read them.
    const next = Math.max(page.next, Math.min(page.oldest - 1, page.last));
    // Events that a rule caused start no other rule, so rules can't run in a circle.
    const events = page.events.filter(({ data }) => !Object.hasOwn(data, RULE_MARK));
    const settings = await shopSettings(db, shopId);
    const ids = [...new Set(events.flatMap(({ resourceId }) => resourceId ?? []))];
    const things = await loadThings(db, settings, resource, ids);
    for (const [index, event] of events.entries()) {
      if (!mayGoOn()) return;
      const found = things.get(event.resourceId ?? '');
      const thing = found && withChanges(found, event);
      if (!thing || !isMet(rule, thing, settings)) continue;
      const waitsUntil = await endOfFullHour(deps, shopId, rule);
      if (waitsUntil) {
        await moveRule(db, shopId, rule, event.position - 1);
        await postponeRule(db, shopId, rule, waitsUntil);
        return;
      }
      const isMine = await run(deps, { shopId, rule, settings, thing, event, dueAt: null });
      if (!isMine) return;
      const isNamedAgain = events.slice(index + 1).some(({ resourceId }) => resourceId === thing.resourceId);
      // The run may have changed it.
      if (isNamedAgain) await reload(db, settings, resource, thing.resourceId!, things);
    }
    hasMore = next < page.last;
    if (next > position && !(await moveRule(db, shopId, rule, next))) return;
    position = next;
  }
}

async function reload(
  db: Database,
  settings: Settings,
  resource: Exclude<RuleResource, 'shop'>,
  resourceId: string,
  things: Map<string, RuleThing>,
): Promise<void> {
  const again = (await loadThings(db, settings, resource, [resourceId])).get(resourceId);
  if (again) things.set(resourceId, again);
  else things.delete(resourceId);
}

/** Adds the changed fields that the event names to the facts of the thing. */
export function withChanges(thing: RuleThing, { data }: Pick<EventRow, 'data'>): RuleThing {
  const { changed } = data;
  const names = Array.isArray(changed) ? changed.filter((name) => typeof name === 'string') : [];
  return thing.resource === 'customer' ? thing : { ...thing, facts: { ...thing.facts, changed: names } };
}

export function conditionsOf(rule: RuleRow, thing: RuleThing, settings: Settings): boolean[] {
  return heldConditions(rule.conditions, thing.facts, {
    types: factTypes(settings, thing.resource),
    currency: settings.defaultCurrency,
  });
}

const isMet = (rule: RuleRow, thing: RuleThing, settings: Settings) =>
  areConditionsMet(conditionsOf(rule, thing, settings), rule.needsAll);

/** undefined: the rule and its shop may run more often in this hour. */
async function endOfFullHour({ db }: RuleDeps, shopId: string, rule: TakenRule): Promise<Date | undefined> {
  const { ofRule, ofShop, ruleEnds, shopEnds } = await findRunsOfHour(db, shopId, rule.ruleId);
  if (ofRule >= MAX_RUNS_OF_RULE) return ruleEnds;
  return ofShop >= MAX_RUNS_OF_SHOP ? shopEnds : undefined;
}

interface Run {
  shopId: string;
  rule: TakenRule;
  settings: Settings;
  thing: RuleThing;
  /** undefined: it runs by schedule. */
  event: EventRow | undefined;
  dueAt: Date | null;
  /** The order of a walk. */
  walkAfter?: string | null;
}

/**
 * A run is one transaction: its event is taken, everything is done, and the log says so; or nothing of it is done, and
 * the log says why. So an event runs a rule once, whenever the process ends. false: the rule was taken over, changed or
 * switched off.
 */
async function run(deps: RuleDeps, given: Run): Promise<boolean> {
  const { db, log } = deps;
  const { shopId, rule } = given;
  try {
    return await db.transaction((tx) => runAll(tx, given));
  } catch (error) {
    // The next process that takes the rule tries again.
    if (isDatabaseAway(error) || isTransient(error)) throw error;
    if (!isRefusal(error)) log.error({ err: error, shop: shopId, rule: rule.ruleId }, 'a rule failed');
    const failure = { text: errorLogText(error), reason: reasonOf(error) };
    return db.transaction((tx) => recordFailure(tx, given, failure));
  }
}

async function runAll(
  tx: Transaction,
  { shopId, rule, settings, thing, event, dueAt, walkAfter = null }: Run,
) {
  const position = event?.position ?? null;
  if (!(await startRuleRun(tx, shopId, rule, { position, dueAt, walkAfter }))) return false;
  const { ruleId, name: ruleName } = rule;
  const runId = newId(tx.now);
  markEvents(tx, shopId, ruleId);
  const actions: ActionResult[] = [];
  for (const [index, action] of rule.actions.entries()) {
    actions.push(await act({ tx, settings, ruleId, ruleName, runId, position, thing }, action, index));
  }
  await insertRun(tx, shopId, { ...rowOf(tx, { ruleId, runId, position, thing }), outcome: 'done', actions });
  await countFailure(tx, shopId, ruleId, false);
  return true;
}

async function recordFailure(
  tx: Transaction,
  { shopId, rule, thing, event, dueAt, walkAfter = null }: Run,
  { text, reason }: { text: string; reason: Reason },
): Promise<boolean> {
  const position = event?.position ?? null;
  if (!(await startRuleRun(tx, shopId, rule, { position, dueAt, walkAfter }))) return false;
  const { ruleId } = rule;
  const runId = newId(tx.now);
  await insertRun(tx, shopId, {
    ...rowOf(tx, { ruleId, runId, position, thing }),
    outcome: 'failed',
    actions: [],
    error: text,
    reason,
  });
  const failures = await countFailure(tx, shopId, ruleId, true);
  if (failures < MAX_FAILURES) return true;
  const paused = `It has failed ${failures} times in a row: ${text}`;
  await pauseRule(tx, shopId, ruleId, paused, { code: 'RUNS_FAILED', count: failures, reason, answer: null });
  return false;
}

const rowOf = (
  tx: Transaction,
  {
    ruleId,
    runId,
    position,
    thing: { resource, resourceId },
  }: { ruleId: string; runId: string; position: number | null; thing: RuleThing },
): Omit<RunRow, 'outcome' | 'actions'> => ({
  runId,
  ruleId,
  at: tx.now,
  position,
  resource,
  resourceId,
  error: null,
  reason: null,
});

/** When a rule runs next by its schedule, by the clock of the service; null: it has none, or is off. */
export function dueAtOf(
  tx: Transaction,
  { isActive, schedule }: Pick<RuleRow, 'isActive' | 'schedule'>,
  settings: Settings,
): Date | null {
  if (!isActive || !schedule) return null;
  return atServiceClock(tx, nextRun(schedule, settings.deliveryTimes.timeZone, tx.now));
}
