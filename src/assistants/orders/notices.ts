import type { FastifyBaseLogger } from 'fastify';
import type { Sender } from '../../apps/webhooks/sending.ts';
import type { Database } from '../../db/database.ts';
import { newId } from '../../kernel/ids.ts';
import { ASSISTANT_ORDER_QUEUE, type AssistantNotice } from '../../orders/assistant-notices.ts';
import { findOrderWithActivity } from '../../orders/manage-queries.ts';
import type { Background } from '../../platform/background.ts';
import { Postponed, startWorker, type Job } from '../../platform/jobs/worker.ts';
import { ownOrigin, type ShopHosts } from '../../shops/shop/hosts.ts';
import { findSettings } from '../../shops/settings/settings.ts';
import { profileAddress } from '../fetch-profile.ts';
import { signingKey } from '../keys.ts';
import { requestSignature } from '../message-signature.ts';
import { success } from '../outcome.ts';
import type { PlatformProfiles } from '../profiles.ts';
import { findAssistantOf, findSession, leaseSessionOf, releaseSession } from '../queries.ts';
import { assistantTokens } from '../tokens.ts';
import { shownOrder } from './order-view.ts';
import { ORDER } from './orders.ts';

/*
 * Tells assistants of the orders that their buyers have placed: the whole order as it is now, to the address in the profile of
 * the assistant. After a crash between sending and its record a notice is sent again, with the same id.
 */

const AT_ONCE = 10;
const TYPE = 'application/json';

export interface NoticeDeps {
  db: Database;
  log: FastifyBaseLogger;
  sender: Sender;
  profiles: PlatformProfiles;
  hosts: Pick<ShopHosts, 'localHostOf'>;
  loadKey: () => Promise<Buffer>;
  /** Scheme and host of the service. */
  origin: string;
  /** Milliseconds between two reads of an empty queue. */
  pause?: number | undefined;
}

export function startOrderNotices(deps: NoticeDeps): Background {
  const { db, log, sender, pause } = deps;
  const worker = startWorker<AssistantNotice>(db, ASSISTANT_ORDER_QUEUE, {
    log,
    run: (job) => sendInTurn(deps, job),
    giveUp: () => sender.close(),
    atOnce: AT_ONCE,
    ...(pause !== undefined && { pause }),
  });
  return { stop: () => worker.stop() };
}

/** Milliseconds after which a notice looks again whether another one of its order is under way. */
const WAIT = 500;

/**
 * One notice of an order after the other, in all processes: each says the order as it is when its turn has come, so an
 * earlier state does not arrive after a later one.
 */
async function sendInTurn(deps: NoticeDeps, job: Job<AssistantNotice>): Promise<void> {
  const { shopId, orderId } = job.content;
  const db = deps.db.ofShop(shopId);
  const holder = newId(db.serviceNow);
  const leased = await leaseSessionOf(db, shopId, orderId, holder);
  if (leased !== undefined) {
    try {
      await send(deps, job);
    } finally {
      await releaseSession(db, shopId, leased, holder);
    }
  } else if ((await findAssistantOf(db, shopId, orderId)) !== undefined) {
    const until = new Date(db.serviceNow.getTime() + WAIT);
    throw new Postponed('Another notice of the order is under way', until);
  }
}

async function send(deps: NoticeDeps, { id, content }: Job<AssistantNotice>): Promise<void> {
  const { db, sender, loadKey } = deps;
  const { shopId, at } = content;
  const found = await findNotice(deps, content);
  if (!found) return;
  const { webhookUrl, home, order } = found;
  const body = Buffer.from(JSON.stringify(order));
  const headers = requestSignature(await signingKey(db, shopId, loadKey), {
    url: new URL(webhookUrl),
    type: TYPE,
    body,
    headers: {
      'ucp-agent': `profile="${home}/.well-known/ucp"`,
      'webhook-id': id,
      'webhook-timestamp': String(at),
    },
    now: db.serviceNow,
  });
  const attempt = await sender.send(webhookUrl, headers, body);
  // The service stops: the notice is sent again.
  if (!attempt) throw new Error('The service stops');
  if (!attempt.isDelivered) throw new Error(attempt.error ?? 'The assistant has not taken the order');
}

/** undefined: there is nothing to tell any more, or nobody who wants to hear it. */
async function findNotice(
  { db, profiles, hosts, loadKey, origin }: NoticeDeps,
  { shopId, orderId }: AssistantNotice,
): Promise<{ webhookUrl: string; home: string; order: object } | undefined> {
  const shopDb = db.atClockOf(shopId);
  const [settings, order] = await Promise.all([
    findSettings(shopDb, shopId),
    findOrderWithActivity(shopDb, shopId, orderId),
  ]);
  if (!settings || !order?.assistantSessionId || order.erasedAt) return undefined;
  const { assistants, isSuspended } = settings;
  const home = ownOrigin(origin, settings, hosts);
  if (!assistants.open || !assistants.orders || isSuspended || home === undefined) return undefined;
  const session = await findSession(shopDb, shopId, order.assistantSessionId);
  if (!session) return undefined;
  const { webhookUrl } = await profiles.find(profileAddress(session.profile), async () => {});
  if (webhookUrl === undefined) return undefined;
  const tokens = assistantTokens(await loadKey());
  const reader = { shopId, settings, locale: order.locale, home, tokens };
  return { webhookUrl, home, order: success([ORDER], shownOrder(order, session.sessionId, reader)) };
}
