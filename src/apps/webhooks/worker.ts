import type { FastifyBaseLogger } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import type { DemoAccess } from '../../http/demo-access.ts';
import { newId } from '../../kernel/ids.ts';
import { repeat, type Background } from '../../platform/background.ts';
import { NEW_EVENTS } from '../../platform/events/log.ts';
import { installationKey } from '../../platform/sealing.ts';
import { deliver, type DeliveryDeps } from './deliver.ts';
import {
  endLease,
  findWebhooksWithWork,
  hasActiveWebhooks,
  leaseWebhook,
  sweepWebhooks,
  type WebhookKey,
} from './delivery-queries.ts';
import { receiverPolicy, type Resolve } from './receiver-address.ts';
import type { DeliveryOptionReader, WebhookEntities } from './render.ts';
import { createSender } from './sending.ts';
import { createSlots } from './slots.ts';

/** The message to process-wide database listeners: webhooks of a shop were created, activated or sent back. */
export const WEBHOOKS_CHANGED = 'webhooks';

/** Webhooks that this process delivers concurrently, in all and of one shop. */
const MAX_WEBHOOKS = 200;
const MAX_OF_SHOP = 20;
/** Concurrent calls. */
const CALLS = { inAll: 100, perShop: 32, perHost: 8 };
/** Milliseconds between two checks of the webhooks of one shop. */
const LOOK_EVERY = 200;
/** Milliseconds for which a shop is known to have no webhooks; the sweep finds those created by another process. */
const NONE_FOR = 3_000;
const MAX_SHOPS_WITHOUT = 10_000;
/** Webhooks checked by one sweep. */
const SWEPT = 1_000;
/** Milliseconds granted to calls in progress when the service stops. */
const LAST_CALLS = 5_000;

const FIRST: WebhookKey = { shopId: '', webhookId: '00000000-0000-0000-0000-000000000000' };

export interface WebhookWorkerOptions {
  db: Database;
  config: Config;
  demoAccess: DemoAccess;
  log: FastifyBaseLogger;
  /** Scheme and host of the links in the payload. */
  origin: string;
  entities: WebhookEntities;
  readDeliveryOption: DeliveryOptionReader;
  /** Milliseconds between two sweeps. */
  pause?: number | undefined;
  /** Timeout of a receiver in milliseconds. */
  timeout?: number | undefined;
  resolve?: Resolve | undefined;
}

/** A shop whose webhooks this process checks or delivers. */
interface BusyShop {
  /** Counts the reasons for a check. */
  news: number;
  isLooking: boolean;
  delivering: Set<string>;
}

/**
 * Delivers the events of all shops to their webhooks until it is stopped. It is notified of this process's commits at
 * once; a sweep finds the work left by other processes and the retries.
 */
export function startWebhookWorker(options: WebhookWorkerOptions): Background {
  const { db, config, demoAccess, log, origin, pause = 2_000, timeout, resolve } = options;
  const { entities, readDeliveryOption } = options;
  const policy = receiverPolicy(config, demoAccess, resolve);
  const sender = createSender(policy, { ...(timeout !== undefined && { timeout }) });
  const inSlot = createSlots(CALLS);
  const shops = new Map<string, BusyShop>();
  const shopsWithout = new LRUCache<string, true>({ max: MAX_SHOPS_WITHOUT, ttl: NONE_FOR });
  /** Shops that had more to deliver than the limits allowed, in the order of their turns. */
  const crowded = new Set<string>();
  const running = new Set<Promise<void>>();
  /** Shops being checked: `stop` waits for them too, because the database is closed afterwards. */
  const looking = new Set<Promise<void>>();
  const stopping = new AbortController();
  let key: Buffer | undefined;

  const deps: Omit<DeliveryDeps, 'db' | 'key'> = {
    sender,
    inSlot,
    entities,
    readDeliveryOption,
    origin,
    log,
    signal: stopping.signal,
  };

  const deliverOne = async (shopId: string, shop: BusyShop, webhookId: string): Promise<void> => {
    const shopDb = db.ofShop(shopId);
    const webhook = await leaseWebhook(shopDb, shopId, webhookId, newId(db.serviceNow));
    if (!webhook) return;
    let seen = shop.news;
    let hasMore = false;
    try {
      key ??= await installationKey(config);
      hasMore = await deliver({ ...deps, db: shopDb, key }, shopId, webhook, () => {
        seen = shop.news;
      });
    } finally {
      await endLease(shopDb, shopId, webhook);
    }
    // Events committed after the last read were not found by others, because this process had the lease.
    if (hasMore || seen !== shop.news) wake(shopId);
  };

  const start = (shopId: string, shop: BusyShop, webhookId: string) => {
    shop.delivering.add(webhookId);
    const run = deliverOne(shopId, shop, webhookId)
      // The lease expires, and the sweep finds the webhook again.
      .catch((error: unknown) =>
        log.warn({ shop: shopId, webhook: webhookId, err: error }, 'a webhook stopped'),
      )
      .finally(() => {
        running.delete(run);
        shop.delivering.delete(webhookId);
        forgetIfIdle(shopId, shop);
        const [next] = crowded;
        if (next === undefined) return;
        crowded.delete(next);
        wake(next);
      });
    running.add(run);
  };

  const forgetIfIdle = (shopId: string, shop: BusyShop) => {
    if (!shop.isLooking && shop.delivering.size === 0) shops.delete(shopId);
  };

  const lookOnce = async (shopId: string, shop: BusyShop): Promise<void> => {
    const found = await findWebhooksWithWork(db.ofShop(shopId), shopId, MAX_OF_SHOP);
    if (found.length === 0 && shop.delivering.size === 0 && !(await hasActiveWebhooks(db, shopId))) {
      shopsWithout.set(shopId, true);
    }
    for (const webhookId of found) {
      if (stopping.signal.aborted) return;
      if (shop.delivering.has(webhookId)) continue;
      if (running.size >= MAX_WEBHOOKS || shop.delivering.size >= MAX_OF_SHOP) {
        crowded.add(shopId);
        return;
      }
      start(shopId, shop, webhookId);
    }
    if (found.length === MAX_OF_SHOP) crowded.add(shopId);
  };

  const lookAt = async (shopId: string, shop: BusyShop): Promise<void> => {
    shop.isLooking = true;
    try {
      for (let seen = 0; seen !== shop.news && !stopping.signal.aborted;) {
        seen = shop.news;
        await lookOnce(shopId, shop);
        await sleep(LOOK_EVERY, stopping.signal);
      }
    } catch (error) {
      log.warn({ shop: shopId, err: error }, 'the webhooks of a shop could not be read');
    } finally {
      shop.isLooking = false;
      forgetIfIdle(shopId, shop);
    }
  };

  const wake = (shopId: string): void => {
    if (stopping.signal.aborted) return;
    const shop = shops.get(shopId) ?? { news: 0, isLooking: false, delivering: new Set() };
    shops.set(shopId, shop);
    shop.news++;
    if (shop.isLooking) return;
    const look = lookAt(shopId, shop).finally(() => looking.delete(look));
    looking.add(look);
  };

  const onEvents = (shopId: string) => {
    if (!shopsWithout.has(shopId)) wake(shopId);
  };
  const onChange = (shopId: string) => {
    shopsWithout.delete(shopId);
    wake(shopId);
  };
  db.notices.on(NEW_EVENTS, onEvents);
  db.notices.on(WEBHOOKS_CHANGED, onChange);

  let last = FIRST;
  const sweep = repeat('the sweep of webhooks', pause, log, async () => {
    const rows = await sweepWebhooks(db, last, SWEPT);
    last = rows.length === SWEPT ? rows.at(-1)! : FIRST;
    for (const shopId of new Set(rows.filter((row) => row.hasWork).map((row) => row.shopId))) wake(shopId);
  });

  return {
    stop: async () => {
      db.notices.off(NEW_EVENTS, onEvents);
      db.notices.off(WEBHOOKS_CHANGED, onChange);
      stopping.abort();
      await sweep.stop();
      await Promise.all(looking);
      const timer = setTimeout(() => sender.close(), LAST_CALLS);
      await Promise.all(running);
      clearTimeout(timer);
      sender.close();
    },
  };
}

/** Milliseconds, or until the signal. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
