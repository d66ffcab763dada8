import type { Queries, Transaction } from '../db/database.ts';
import { deleteOld } from '../db/delete-old.ts';
import { createLease, leaseEnd } from '../db/lease.ts';
import { sql, type Sql } from '../db/sql.ts';
import type { CleanupStep } from '../platform/cleanup.ts';
import type { EventRow } from '../platform/events/queries.ts';
import type { EventType } from '../platform/events/types.ts';
import type { Action, ActionResult, Condition, Schedule } from './schema.ts';
import type { PausedReason, Reason } from './reasons.ts';
import type { RuleResource } from './things.ts';

const lease = createLease(sql`rule`);
/** A rule may lag by this many positions, while nothing of its type happens, before its position is written. */
const MAX_BEHIND = 200;

export interface RuleRow {
  ruleId: string;
  name: string;
  isActive: boolean;
  event: EventType | null;
  schedule: Schedule | null;
  needsAll: boolean;
  conditions: Condition[];
  actions: Action[];
  createdAt: Date;
  /** By the clock of the service. */
  dueAt: Date | null;
  paused: string | null;
  pausedReason: PausedReason | null;
}

const columns = sql`
  upper(rule_id::text) as "ruleId", name, is_active as "isActive", event_type as event, schedule,
  needs_all as "needsAll", conditions, actions, created_at as "createdAt", due_at as "dueAt", paused,
  paused_reason as "pausedReason"`;

export function findRules(db: Queries, shopId: string) {
  return db.many<RuleRow>(sql`
    select ${columns} from rule where shop_id = ${shopId} order by lower(name), rule_id`);
}

export function findRule(db: Queries, shopId: string, ruleId: string) {
  return db.one<RuleRow>(sql`select ${columns} from rule where shop_id = ${shopId} and rule_id = ${ruleId}`);
}

export function lockRule(tx: Transaction, shopId: string, ruleId: string) {
  return tx.one<RuleRow>(sql`
    select ${columns} from rule where shop_id = ${shopId} and rule_id = ${ruleId} for no key update`);
}

/** Locks the shop, so that two requests do not both add the last rule. */
export async function lockRuleCount(tx: Transaction, shopId: string): Promise<number> {
  await tx.run(sql`select from shop where shop_id = ${shopId} for no key update`);
  const row = await tx.one<{ count: number }>(
    sql`select count(*) as count from rule where shop_id = ${shopId}`,
  );
  return row!.count;
}

export type SavedRule = Omit<RuleRow, 'createdAt' | 'paused' | 'pausedReason'>;

const toJson = (value: object | null) => (value === null ? null : JSON.stringify(value));

/** It begins after the last event. */
export function insertRule(tx: Transaction, shopId: string, rule: SavedRule) {
  const { ruleId, name, isActive, event, schedule, needsAll, conditions, actions, dueAt } = rule;
  return tx.run(sql`
    insert into rule (shop_id, rule_id, name, is_active, event_type, schedule, needs_all, conditions, actions,
      created_at, changed_at, position, due_at)
    select shop.shop_id, ${ruleId}::uuid, ${name}, ${isActive}, ${event}, ${toJson(schedule)}::jsonb, ${needsAll},
      ${toJson(conditions)}::jsonb, ${toJson(actions)}::jsonb, ${tx.now}, ${tx.now}, coalesce(counter.value, 0),
      ${dueAt}::timestamptz
    from shop left join counter on counter.shop_id = ${shopId} and counter.name = 'event'
    where shop.shop_id = ${shopId}`);
}

/** `restarts`: it begins after the last event; otherwise it goes on where it was. */
export function updateRule(
  tx: Transaction,
  shopId: string,
  rule: SavedRule,
  { restarts }: { restarts: boolean },
) {
  const { ruleId, name, isActive, event, schedule, needsAll, conditions, actions, dueAt } = rule;
  return tx.run(sql`
    update rule
    set name = ${name}, is_active = ${isActive}, event_type = ${event}, schedule = ${toJson(schedule)}::jsonb,
      needs_all = ${needsAll}, conditions = ${toJson(conditions)}::jsonb, actions = ${toJson(actions)}::jsonb,
      changed_at = ${tx.now}, due_at = ${dueAt}::timestamptz, paused = null, paused_reason = null,
      walk_after = null, walk_until = null, failures = 0, call_failures = 0,
      position = case when ${restarts}
        then coalesce((select value from counter where shop_id = ${shopId} and name = 'event'), 0) else position end
    where shop_id = ${shopId} and rule_id = ${ruleId}`);
}

export function deleteRuleRow(tx: Transaction, shopId: string, ruleId: string) {
  return tx.run(sql`delete from rule where shop_id = ${shopId} and rule_id = ${ruleId}`);
}

/** Takes the runs of a sandbox earlier whose clock was advanced. */
export function bringRulesForward(tx: Transaction, shopId: string, milliseconds: number) {
  return tx.run(sql`
    update rule set due_at = due_at - ${milliseconds}::bigint * interval '1 millisecond'
    where shop_id = ${shopId} and due_at is not null`);
}

export interface RuleKey {
  shopId: string;
  ruleId: string;
}

export const FIRST_RULE: RuleKey = { shopId: '', ruleId: '00000000-0000-0000-0000-000000000000' };

/** Checks some active rules of all shops, in key order, and returns which of them have something to do. */
export function sweepRules(db: Queries, after: RuleKey, limit: number) {
  return db.many<RuleKey & { hasWork: boolean }>(sql`
    select rule.shop_id as "shopId", upper(rule.rule_id::text) as "ruleId",
      coalesce(
        (rule.leased_until is null or rule.leased_until <= ${db.serviceNow})
        and (rule.due_at is null or rule.due_at <= ${db.serviceNow})
        and shop.suspended_at is null and shop.deletion_at is null
        and (rule.schedule is not null or rule.position + ${MAX_BEHIND}::bigint <= counter.value
          or exists (
            select from event
            where event.shop_id = rule.shop_id and event.type = rule.event_type
              and event.position > rule.position and event.position <= rule.position + ${MAX_BEHIND}::bigint)),
        false) as "hasWork"
    from rule
    join shop on shop.shop_id = rule.shop_id
    left join counter on counter.shop_id = rule.shop_id and counter.name = 'event'
    where rule.is_active and (rule.shop_id, rule.rule_id) > (${after.shopId}, ${after.ruleId}::uuid)
    order by rule.shop_id, rule.rule_id limit ${limit}`);
}

/** A rule that this process runs until it gives the lease back. */
export interface TakenRule extends RuleRow {
  holder: string;
  position: number;
  /** Of a schedule about orders: the last one that it has met, and the end of its walk; null: none is under way. */
  walkAfter: string | null;
  walkUntil: string | null;
}

/** undefined: another process runs it, or it is no longer active. */
export async function takeRule(
  db: Queries,
  shopId: string,
  ruleId: string,
  holder: string,
): Promise<TakenRule | undefined> {
  const [rule] = await lease.take<TakenRule>(
    db,
    sql`shop_id = ${shopId} and rule_id = ${ruleId} and is_active`,
    holder,
    sql`${columns}, holder, position, upper(walk_after::text) as "walkAfter", upper(walk_until::text) as "walkUntil"`,
  );
  return rule;
}

const rowOf = (shopId: string, ruleId: string): Sql => sql`shop_id = ${shopId} and rule_id = ${ruleId}`;

/** false: the lease was lost. */
export const renewRule = (db: Queries, shopId: string, { ruleId, holder }: TakenRule) =>
  lease.renew(db, rowOf(shopId, ruleId), holder);

export const releaseRule = (db: Queries, shopId: string, { ruleId, holder }: TakenRule) =>
  lease.release(db, rowOf(shopId, ruleId), holder);

/** Notes that nothing is left to do up to a position; false: the rule was taken over, changed or switched off. */
export async function moveRule(
  db: Queries,
  shopId: string,
  { ruleId, holder }: TakenRule,
  position: number,
): Promise<boolean> {
  const moved = await db.run(sql`
    update rule set position = ${position}::bigint, leased_until = ${leaseEnd(db.serviceNow)}
    where shop_id = ${shopId} and rule_id = ${ruleId} and holder = ${holder} and is_active
      and position <= ${position}::bigint`);
  return moved > 0;
}

/** Begins the walk of a schedule over orders, or goes on with it; false: the rule was taken over, changed or switched off. */
export async function moveWalk(
  db: Queries,
  shopId: string,
  { ruleId, holder }: TakenRule,
  { after, until }: { after: string; until: string },
): Promise<boolean> {
  const moved = await db.run(sql`
    update rule
    set walk_after = ${after}, walk_until = ${until}, leased_until = ${leaseEnd(db.serviceNow)}
    where shop_id = ${shopId} and rule_id = ${ruleId} and holder = ${holder} and is_active`);
  return moved > 0;
}

/** Ends it: the rule waits for its next hour. */
export function endWalk(db: Queries, shopId: string, { ruleId, holder }: TakenRule, dueAt: Date) {
  return db.run(sql`
    update rule set walk_after = null, walk_until = null, due_at = ${dueAt}
    where shop_id = ${shopId} and rule_id = ${ruleId} and holder = ${holder}`);
}

/** Orders between two ids, the oldest first. */
export async function findOrderIds(
  db: Queries,
  shopId: string,
  { after, until }: { after: string; until: string },
  limit: number,
): Promise<string[]> {
  const rows = await db.many<{ orderId: string }>(sql`
    select upper(order_id::text) as "orderId" from customer_order
    where shop_id = ${shopId} and order_id > ${after} and order_id <= ${until}
    order by order_id limit ${limit}`);
  return rows.map(({ orderId }) => orderId);
}

/** The newest orders, for a preview. */
export async function findNewestOrderIds(db: Queries, shopId: string, limit: number): Promise<string[]> {
  const rows = await db.many<{ orderId: string }>(sql`
    select upper(order_id::text) as "orderId" from customer_order where shop_id = ${shopId}
    order by order_id desc limit ${limit}`);
  return rows.map(({ orderId }) => orderId);
}

/** Lets a rule wait until a moment of the clock of the service. */
export function postponeRule(db: Queries, shopId: string, { ruleId, holder }: TakenRule, until: Date) {
  return db.run(sql`
    update rule set due_at = ${until} where shop_id = ${shopId} and rule_id = ${ruleId} and holder = ${holder}`);
}

const HOUR = 3_600_000;

/**
 * Takes the event for a run: locks the rule, moves its position and counts the run in its hour. false: another process
 * has done it, or the rule was changed or switched off.
 */
export async function startRuleRun(
  tx: Transaction,
  shopId: string,
  { ruleId, holder }: TakenRule,
  { position, dueAt, walkAfter }: { position: number | null; dueAt: Date | null; walkAfter: string | null },
): Promise<boolean> {
  const isNewHour = sql`(hour_began_at is null or hour_began_at <= ${new Date(tx.serviceNow.getTime() - HOUR)})`;
  const started = await tx.run(sql`
    update rule
    set position = coalesce(${position}::bigint, position), due_at = ${dueAt}::timestamptz,
      walk_after = coalesce(${walkAfter}::uuid, walk_after),
      hour_runs = case when ${isNewHour} then 1 else hour_runs + 1 end,
      hour_began_at = case when ${isNewHour} then ${tx.serviceNow}::timestamptz else hour_began_at end,
      leased_until = ${leaseEnd(tx.serviceNow)}
    where shop_id = ${shopId} and rule_id = ${ruleId} and holder = ${holder} and is_active
      and (${position}::bigint is null or position < ${position}::bigint)
      and (${walkAfter}::uuid is null or walk_after < ${walkAfter}::uuid)`);
  return started > 0;
}

/** The runs of a rule, and of all rules of its shop, in their hours, and when the first of these hours ends. */
export async function findRunsOfHour(db: Queries, shopId: string, ruleId: string) {
  const row = await db.one<{
    ofRule: number;
    ofShop: number;
    ruleBegan: Date | null;
    shopBegan: Date | null;
  }>(sql`
    select coalesce(sum(hour_runs) filter (where rule_id = ${ruleId}), 0)::bigint as "ofRule",
      coalesce(sum(hour_runs), 0)::bigint as "ofShop",
      min(hour_began_at) filter (where rule_id = ${ruleId}) as "ruleBegan", min(hour_began_at) as "shopBegan"
    from rule
    where shop_id = ${shopId} and hour_began_at > ${new Date(db.serviceNow.getTime() - HOUR)}`);
  const { ofRule, ofShop, ruleBegan, shopBegan } = row!;
  const endOf = (began: Date | null) => new Date((began ?? db.serviceNow).getTime() + HOUR);
  return { ofRule, ofShop, ruleEnds: endOf(ruleBegan), shopEnds: endOf(shopBegan) };
}

/** Counts a failed run, or forgets those before one that was done. Returns the failures in a row. */
export async function countFailure(
  tx: Transaction,
  shopId: string,
  ruleId: string,
  hasFailed: boolean,
): Promise<number> {
  const row = await tx.one<{ failures: number }>(sql`
    update rule set failures = case when ${hasFailed} then failures + 1 else 0 end
    where shop_id = ${shopId} and rule_id = ${ruleId} returning failures`);
  return row?.failures ?? 0;
}

/** The same of the calls of addresses. */
export async function countCallFailure(
  tx: Transaction,
  shopId: string,
  ruleId: string,
  hasFailed: boolean,
): Promise<number> {
  const row = await tx.one<{ failures: number }>(sql`
    update rule set call_failures = case when ${hasFailed} then call_failures + 1 else 0 end
    where shop_id = ${shopId} and rule_id = ${ruleId} returning call_failures as failures`);
  return row?.failures ?? 0;
}

/** Switches a rule off and says why. */
export function pauseRule(
  tx: Transaction,
  shopId: string,
  ruleId: string,
  text: string,
  reason: PausedReason,
) {
  return tx.run(sql`
    update rule set is_active = false, paused = ${text.slice(0, 500)}, paused_reason = ${JSON.stringify(reason)}::jsonb
    where shop_id = ${shopId} and rule_id = ${ruleId} and is_active`);
}

export interface RunRow {
  runId: string;
  ruleId: string;
  at: Date;
  position: number | null;
  resource: RuleResource;
  resourceId: string | null;
  outcome: 'done' | 'failed';
  actions: ActionResult[];
  error: string | null;
  reason: Reason | null;
}

/** Limits of the runs that are kept of each rule, and of their days. */
export const MAX_RUNS_KEPT = 500;
export const RUNS_KEPT_DAYS = 30;

/** Keeps the last ones only. */
export async function insertRun(tx: Transaction, shopId: string, run: RunRow): Promise<void> {
  const { runId, ruleId, at, position, resource, resourceId, outcome, actions, error } = run;
  await tx.run(sql`
    insert into rule_run (shop_id, run_id, rule_id, at, position, resource, resource_id, outcome, actions, error,
      reason)
    values (${shopId}, ${runId}, ${ruleId}, ${at}, ${position}, ${resource}, ${resourceId}, ${outcome},
      ${JSON.stringify(actions)}, ${error?.slice(0, 500) ?? null}, ${toJson(run.reason)}::jsonb)`);
  await tx.run(sql`
    delete from rule_run
    where shop_id = ${shopId} and rule_id = ${ruleId} and run_id < (
      select run_id from rule_run where shop_id = ${shopId} and rule_id = ${ruleId}
      order by run_id desc offset ${MAX_RUNS_KEPT - 1} limit 1)`);
}

/** Says what came of the call of an address. */
export function updateActionResult(
  tx: Transaction,
  shopId: string,
  { runId, index }: { runId: string; index: number },
  result: ActionResult,
) {
  return tx.run(sql`
    update rule_run set actions = jsonb_set(actions, array[${String(index)}]::text[], ${JSON.stringify(result)}::jsonb)
    where shop_id = ${shopId} and run_id = ${runId}`);
}

const LAST_ID = 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF';

const runColumns = sql`
  upper(run_id::text) as "runId", upper(rule_id::text) as "ruleId", at, position, resource,
  upper(resource_id::text) as "resourceId", outcome, actions, error, reason`;

export function findRun(db: Queries, shopId: string, runId: string) {
  return db.one<RunRow & { shopId: string }>(sql`
    select shop_id as "shopId", ${runColumns} from rule_run where shop_id = ${shopId} and run_id = ${runId}`);
}

/** The newest before one; the moment of a run is in its id. */
export function findRuns(db: Queries, shopId: string, ruleId: string, before: string | null, limit: number) {
  return db.many<RunRow>(sql`
    select ${runColumns} from rule_run
    where shop_id = ${shopId} and rule_id = ${ruleId} and run_id < ${before ?? LAST_ID}::uuid
    order by run_id desc limit ${limit}`);
}

/** The last run by schedule. */
export async function findLastRun(db: Queries, shopId: string, ruleId: string): Promise<Date | null> {
  const row = await db.one<{ at: Date }>(sql`
    select at from rule_run where shop_id = ${shopId} and rule_id = ${ruleId} order by run_id desc limit 1`);
  return row?.at ?? null;
}

/** The last events of a type, the newest first. */
export function findLastEvents(db: Queries, shopId: string, type: EventType, limit: number) {
  return db.many<EventRow>(sql`
    select position, at, type, upper(resource_id::text) as "resourceId", upper(app_id::text) as "appId", data
    from event where shop_id = ${shopId} and type = ${type} order by position desc limit ${limit}`);
}

const MAX_COUNTED = 10_000;

export async function countNewOrders(db: Queries, shopId: string, since: Date): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from (
      select from customer_order where shop_id = ${shopId} and created_at > ${since} limit ${MAX_COUNTED}) as placed`);
  return row!.count;
}

const DAY = 86_400_000;
const deleteRuns = deleteOld('rule_run', 'at', { run_id: 'uuid' });

export const ruleRunCleanup: CleanupStep = {
  name: 'runs of rules',
  run: (db, limit) => deleteRuns(db, new Date(db.now.getTime() - RUNS_KEPT_DAYS * DAY), limit),
};
