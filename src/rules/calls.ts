import { createHash } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../db/database.ts';
import { currentSigningKey, signToken } from '../apps/manifest/signing-keys.ts';
import type { Sender } from '../apps/webhooks/sending.ts';
import { findEventsAt } from '../apps/webhooks/delivery-queries.ts';
import { toMilliseconds } from '../http/dates.ts';
import { startWorker, type Job } from '../platform/jobs/worker.ts';
import type { Background } from '../platform/background.ts';
import { findSettings } from '../shops/settings/settings.ts';
import { loadShopThing, loadThings, type RuleThing } from './facts.ts';
import {
  countCallFailure,
  findRule,
  findRun,
  pauseRule,
  updateActionResult,
  type RunRow,
} from './queries.ts';
import { SKIPPED, type SkipCode } from './reasons.ts';
import type { RunOutcome } from './schema.ts';

/*
 * The addresses that rules call. A call waits in the queue with ids alone; what it says of the thing is read when it is
 * sent. After a crash between a call and its record it is made again, with the same id.
 */

export const CALL_QUEUE = 'rule call';

export interface QueuedCall {
  shopId: string;
  ruleId: string;
  runId: string;
  /** Of the action in its rule. */
  index: number;
  position: number | null;
}

/** Failed calls in a row, after which the rule is switched off. */
const MAX_FAILURES = 12;
const AT_ONCE = 10;
/** Seconds for which a signature is good. */
const SIGNED_FOR = 300;

export interface CallDeps {
  db: Database;
  log: FastifyBaseLogger;
  sender: Sender;
  loadKey: () => Promise<Buffer>;
  /** Scheme and host of the service. */
  origin: string;
  /** Milliseconds between two reads of an empty queue. */
  pause?: number | undefined;
}

export function startRuleCalls(deps: CallDeps): Background {
  const { db, log, sender, pause } = deps;
  const worker = startWorker<QueuedCall>(db, CALL_QUEUE, {
    log,
    run: (job) => call(deps, job),
    giveUp: () => sender.close(),
    atOnce: AT_ONCE,
    ...(pause !== undefined && { pause }),
  });
  return { stop: () => worker.stop() };
}

async function call(deps: CallDeps, { id, content }: Job<QueuedCall>): Promise<void> {
  const { db, sender, loadKey, origin } = deps;
  const { shopId, ruleId, runId, index } = content;
  const shopDb = db.atClockOf(shopId);
  const [rule, run, settings] = await Promise.all([
    findRule(shopDb, shopId, ruleId),
    findRun(shopDb, shopId, runId),
    findSettings(shopDb, shopId),
  ]);
  const action = rule?.actions[index];
  // The rule, or its shop, is gone, or it does something else by now.
  if (!rule || !run || !settings || action?.kind !== 'call') return;
  if (!rule.isActive) return record(deps, content, 'skipped', null, 'RULE_OFF');
  const thing = await loadThing(deps, run);
  if (!thing) return record(deps, content, 'skipped', null, 'THING_GONE');
  const body = Buffer.from(JSON.stringify(await bodyOf(deps, run, rule.name, thing)));
  const key = await currentSigningKey(db, await loadKey());
  const now = Math.floor(db.serviceNow.getTime() / 1000);
  const token = signToken(key, {
    iss: origin,
    aud: new URL(action.address!).origin,
    sub: ruleId,
    shop: shopId,
    jti: id,
    iat: now,
    exp: now + SIGNED_FOR,
    bodySha256: createHash('sha256').update(body).digest('base64url'),
  });
  const headers = { authorization: `Bearer ${token}`, 'webhook-id': id };
  const attempt = await sender.send(action.address!, headers, body);
  // The service stops: the call is made again.
  if (!attempt) throw new Error('The service stops');
  const note = attempt.error ?? String(attempt.statusCode);
  await record(deps, content, attempt.isDelivered ? 'done' : 'failed', note);
  if (!attempt.isDelivered) throw new Error(note);
}

async function loadThing({ db }: CallDeps, run: RunRow & { shopId: string }): Promise<RuleThing | undefined> {
  const shopDb = db.atClockOf(run.shopId);
  const settings = await findSettings(shopDb, run.shopId);
  if (!settings) return undefined;
  if (run.resource === 'shop') return loadShopThing(shopDb, settings, run.at);
  const things = await loadThings(shopDb, settings, run.resource, [run.resourceId!]);
  return things.get(run.resourceId!);
}

async function bodyOf({ db }: CallDeps, run: RunRow & { shopId: string }, rule: string, thing: RuleThing) {
  const { shopId, ruleId, runId, position, resource, resourceId, at } = run;
  const [event] = position === null ? [] : await findEventsAt(db, shopId, [position]);
  return {
    shopId,
    ruleId,
    rule,
    runId,
    date: toMilliseconds(at),
    event: event ? { position, eventType: event.type, createdOn: toMilliseconds(event.at) } : null,
    resource,
    resourceId,
    facts: thing.facts,
  };
}

/** Writes what came of the call; a rule whose calls fail one after the other is switched off. */
async function record(
  { db, log }: CallDeps,
  { shopId, ruleId, runId, index }: QueuedCall,
  outcome: RunOutcome,
  note: string | null,
  code: SkipCode | null = null,
): Promise<void> {
  await db.transaction(async (tx) => {
    await updateActionResult(
      tx,
      shopId,
      { runId, index },
      {
        kind: 'call',
        outcome,
        code,
        note: code ? SKIPPED[code] : note,
      },
    );
    if (outcome === 'skipped') return;
    const failures = await countCallFailure(tx, shopId, ruleId, outcome === 'failed');
    if (failures < MAX_FAILURES) return;
    const text = `Its address has failed ${failures} times in a row: ${note}`;
    await pauseRule(tx, shopId, ruleId, text, {
      code: 'CALLS_FAILED',
      count: failures,
      reason: null,
      answer: note,
    });
    log.warn({ shop: shopId, rule: ruleId }, 'a rule was switched off because its address fails');
  });
}
