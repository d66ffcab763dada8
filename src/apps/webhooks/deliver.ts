import { performance } from 'node:perf_hooks';
import type { FastifyBaseLogger } from 'fastify';
import type { ShopDatabase, Transaction } from '../../db/database.ts';
import { renewWhile } from '../../db/lease.ts';
import { queueEmails } from '../../platform/email/queue.ts';
import { readEvents, type EventRow } from '../../platform/events/queries.ts';
import { findAppById, type AppRow } from '../queries.ts';
import { unseal } from '../../platform/sealing.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { outcomeOf, planBatch, type DeliveryRecord, type BatchOutcome, type DeliveryTask } from './batch.ts';
import { deactivationEmail } from './deactivation-email.ts';
import { deliveryIdOf, messageIdOf } from './delivery-id.ts';
import {
  findEventsAt,
  findWaitingDeliveries,
  moveLeased,
  pauseApp,
  renewLease,
  saveDeliveries,
  type LeasedWebhook,
} from './delivery-queries.ts';
import { deleteWebhookRow, updateNextTry } from './queries.ts';
import { EVENT_TYPES } from '../../platform/events/types.ts';
import { findEntityFields } from './entity-fields.ts';
import {
  callbackBody,
  createEntityLoader,
  type DeliveryOptionReader,
  type Entity,
  type WebhookEntities,
} from './render.ts';
import type { DeliveryAttempt, Sender } from './sending.ts';
import { signatureHeaders, type SigningSecrets } from './signature.ts';
import type { createSlots } from './slots.ts';

/** New events of one batch. */
const BATCH = 100;
/** Deliveries of one webhook that may wait; at this number, no new events are read. */
const MAX_WAITING = 1_000;
/** Concurrent calls of one webhook. */
const LANES = 8;
/** Milliseconds after which another webhook gets a turn. */
const TURN = 15_000;

export interface DeliveryDeps {
  db: ShopDatabase;
  /** Opens the secrets. */
  key: Buffer;
  sender: Sender;
  inSlot: ReturnType<typeof createSlots>;
  entities: WebhookEntities;
  readDeliveryOption: DeliveryOptionReader;
  origin: string;
  log: FastifyBaseLogger;
  /** Stops further sending. */
  signal: AbortSignal;
}

interface Turn {
  shopId: string;
  webhook: LeasedWebhook;
  app: AppRow | undefined;
  secrets: SigningSecrets;
  mayGoOn: () => boolean;
}

/**
 * Delivers the pending events of a webhook: reads a batch, sends it, and records the results together with the new
 * position. A crash between sending and recording sends the batch again. `onRead` is called before each read of the
 * log. Returns whether more could be delivered at once.
 */
export async function deliver(
  deps: DeliveryDeps,
  shopId: string,
  webhook: LeasedWebhook,
  onRead: () => void,
): Promise<boolean> {
  const { db, key, signal } = deps;
  const app = webhook.appId === null ? undefined : await findAppById(db, shopId, webhook.appId);
  const secrets = openSecrets(key, webhook, app, db.serviceNow);
  const until = performance.now() + TURN;
  return renewWhile(
    () => renewLease(db, shopId, webhook),
    async (isHeld) => {
      const mayGoOn = () => isHeld() && !signal.aborted && performance.now() < until;
      const turn: Turn = { shopId, webhook, app, secrets, mayGoOn };
      let hasMore = true;
      while (hasMore && mayGoOn()) {
        onRead();
        hasMore = await deliverBatch(deps, turn);
      }
      return hasMore;
    },
  );
}

/** Whether there may be more to deliver now. */
async function deliverBatch(deps: DeliveryDeps, turn: Turn): Promise<boolean> {
  const { db } = deps;
  const { shopId, webhook } = turn;
  const { position } = webhook;
  const waiting =
    webhook.nextTryAt === null ? [] : await findWaitingDeliveries(db, shopId, webhook.webhookId, MAX_WAITING);
  const page =
    waiting.length < MAX_WAITING
      ? await readEvents(db, shopId, { after: position, types: [webhook.eventType], limit: BATCH })
      : undefined;
  // The uninstallation of another app does not concern this one.
  const ownAppId = webhook.appId ?? webhook.uninstalledAppId;
  const events = (page?.events ?? []).filter(
    ({ type, resourceId }) => type !== 'APP_UNINSTALL' || resourceId === ownAppId,
  );
  const next = page?.next ?? position;
  const plan = planBatch(waiting, events, db.serviceNow);
  const tasks = plan.lanes.flat();
  if (tasks.length === 0 && plan.blocked.length === 0 && next === position) return false;

  const retried = tasks.filter((task) => task.position <= position).map((task) => task.position);
  const earlier = retried.length > 0 ? await findEventsAt(db, shopId, retried) : [];
  const eventAt = new Map([...earlier, ...events].map((event) => [event.position, event]));
  const { entities, origin } = deps;
  const sent = tasks.flatMap((task) => eventAt.get(task.position) ?? []);
  const loadEntity = createEntityLoader(db, entities, {
    shopId,
    events: sent,
    recipient: { origin, appId: webhook.appId },
  });
  const { results, problem } = await sendLanes(turn, plan.lanes, async (at, mayGoOn) => {
    const event = eventAt.get(at);
    // The clean-up may already have deleted the event.
    return event && sendOne(deps, turn, event, { loadEntity, mayGoOn });
  });
  const outcome = outcomeOf(plan, events, results, { position, next, now: db.serviceNow });
  const recorded = await db.transaction((tx) =>
    record(tx, turn, outcome, (at) => eventAt.get(at)?.at ?? tx.now, waiting.length > 0),
  );
  if (problem) throw problem;
  webhook.position = outcome.position;
  webhook.nextTryAt = recorded.nextTryAt;
  return recorded.mayGoOn && (retried.length > 0 || (page !== undefined && page.next < page.last));
}

/**
 * Sends the events of each lane one after the other, some lanes concurrently. The first failure ends all of them.
 * `problem` is our own, such as an unreachable database: it is not a failure of the receiver.
 */
async function sendLanes(
  turn: Turn,
  lanes: readonly DeliveryTask[][],
  send: (position: number, mayGoOn: () => boolean) => Promise<DeliveryAttempt | undefined>,
): Promise<{ results: Map<number, DeliveryAttempt>; problem: Error | undefined }> {
  const results = new Map<number, DeliveryAttempt>();
  const left = lanes.values();
  let hasFailed = false;
  let problem: Error | undefined;
  const mayGoOn = () => !hasFailed && !problem && turn.mayGoOn();
  const sendLane = async (lane: readonly DeliveryTask[]) => {
    for (const { position } of lane) {
      if (!mayGoOn()) return;
      const attempt = await send(position, mayGoOn);
      if (!attempt) return;
      results.set(position, attempt);
      if (!attempt.isDelivered) {
        hasFailed = true;
        return;
      }
    }
  };
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      // The iterator is shared: each lane is sent once.
      for (const lane of left) {
        await sendLane(lane).catch((error: Error) => (problem = error));
        if (!mayGoOn()) return;
      }
    }),
  );
  return { results, problem };
}

/** undefined: it was not sent. */
async function sendOne(
  { db, sender, inSlot, origin, readDeliveryOption }: DeliveryDeps,
  { shopId, webhook, secrets }: Turn,
  event: EventRow,
  {
    loadEntity,
    mayGoOn,
  }: { loadEntity: (event: EventRow) => Promise<Entity | undefined>; mayGoOn: () => boolean },
): Promise<DeliveryAttempt | undefined> {
  const { webhookId, appId, callbackUrl, includesFields } = webhook;
  return inSlot(shopId, new URL(callbackUrl).host, async () => {
    if (!mayGoOn()) return undefined;
    const entity = await loadEntity(event);
    const found =
      includesFields && entity && appId !== null ? await findEntityFields(db, shopId, event, appId) : [];
    const fields = includesFields ? found : undefined;
    const isOfOrder = EVENT_TYPES[event.type].resource === 'order' && event.resourceId !== null;
    const deliveryOption =
      includesFields && entity && isOfOrder
        ? await readDeliveryOption(db, shopId, event.resourceId!, origin)
        : undefined;
    const body = callbackBody(event, { shopId, webhookId, origin, entity, fields, deliveryOption });
    const messageId = messageIdOf(deliveryIdOf(shopId, webhookId, event.position));
    const headers = signatureHeaders(secrets, { messageId, at: db.serviceNow, body });
    return sender.send(callbackUrl, headers, body);
  });
}

/** Records the results of a batch, if the lease still holds. */
async function record(
  tx: Transaction,
  { shopId, webhook, app }: Turn,
  { records, position, hasFailed, isLast }: BatchOutcome,
  atOf: (position: number) => Date,
  hadWaiting: boolean,
): Promise<{ mayGoOn: boolean; nextTryAt: Date | null }> {
  const moved = await moveLeased(tx, shopId, webhook, { position, active: !isLast });
  if (!moved) return { mayGoOn: false, nextTryAt: null };
  const { webhookId } = webhook;
  const isDone = isLast || records.some(({ status }) => status === 'delivered');
  if (webhook.uninstalledAppId !== null && isDone) {
    await deleteWebhookRow(tx, shopId, webhookId);
    return { mayGoOn: false, nextTryAt: null };
  }
  if (records.length > 0) await saveDeliveries(tx, shopId, webhookId, records, atOf);
  const waits = hadWaiting || records.some(({ status }) => status === 'waiting');
  if (waits) await updateNextTry(tx, shopId, webhookId);
  if (app && isLast) await reportDeactivation(tx, shopId, webhook, app, records);
  const isPaused = app !== undefined && (await pauseApp(tx, shopId, app.appId, { begins: hasFailed }));
  return {
    mayGoOn: moved.active && !hasFailed && !isPaused,
    // The next batch reads the times of waiting deliveries themselves.
    nextTryAt: waits ? tx.serviceNow : moved.nextTryAt,
  };
}

async function reportDeactivation(
  tx: Transaction,
  shopId: string,
  { eventType, callbackUrl, webhookId }: LeasedWebhook,
  { name: appName }: AppRow,
  records: readonly DeliveryRecord[],
): Promise<void> {
  const { email, defaultLocale } = await shopSettings(tx, shopId);
  const reason = records.find(({ status }) => status === 'failed')!.attempt!.error!;
  await queueEmails(tx, shopId, deactivationEmail, [
    { to: email, locale: defaultLocale, facts: { appName, eventType, callbackUrl, webhookId, reason } },
  ]);
}

/** An app that was uninstalled has left a copy of its secret. */
export function openSecrets(
  key: Buffer,
  webhook: Pick<LeasedWebhook, 'secretSealed' | 'formerSecretSealed' | 'formerSecretUntil'> & {
    clientSecretSealed?: Buffer | null;
  },
  app: AppRow | undefined,
  now: Date,
): SigningSecrets {
  const { secretSealed, formerSecretSealed, formerSecretUntil } = webhook;
  if (!secretSealed) throw new Error('A webhook without a secret cannot sign what it sends');
  const hasFormer = formerSecretSealed !== null && formerSecretUntil !== null && formerSecretUntil > now;
  const client = app?.secretSealed ?? webhook.clientSecretSealed;
  return {
    own: [unseal(key, secretSealed), ...(hasFormer ? [unseal(key, formerSecretSealed)] : [])],
    client: client ? unseal(key, client) : undefined,
  };
}
