import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pino from 'pino';
import { startWebhooks } from '../src/composition/background.ts';
import { generateProducts } from '../src/commands/demo/generate.ts';
import { readConfig } from '../src/config.ts';
import type { Database } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { readDemoAccess } from '../src/http/demo-access.ts';
import { newId, secretHash } from '../src/kernel/ids.ts';
import { recordEvents } from '../src/platform/events/log.ts';
import { installationKey, seal } from '../src/platform/sealing.ts';
import { deliveryIdOf, messageIdOf } from '../src/apps/webhooks/delivery-id.ts';
import { insertWebhook } from '../src/apps/webhooks/queries.ts';
import { newWebhookSecret } from '../src/apps/webhooks/signature.ts';
import type { Verdict } from './report.ts';
import { createBareShop } from './shop.ts';

/**
 * How soon receivers hear of events: ten shops with a receiver each, a thousand events a second in all. The events are
 * written and delivered by this process, and received by another one.
 */
export interface WebhookOptions {
  seconds: number;
  perSecond: number;
}

/** Events of one transaction. */
const BATCH = 5;
const PRODUCTS = 200;
/** Milliseconds that 95 of 100 events may take from their commit to their receipt. */
const MAX_P95 = 1_000;

interface Told {
  urls?: string[];
  received?: [id: string, at: number][];
}

export async function measureWebhooks(
  db: Database,
  folder: string,
  { seconds, perSecond }: WebhookOptions,
  say: (line: string) => void,
): Promise<Verdict[]> {
  const config = readConfig({ KONTOR_DATA: folder, LOG_LEVEL: 'warn' });
  const key = await installationKey(config);
  // As in the service, whose own address this is.
  db.caches.isCacheableOrigin = () => true;
  const receivers = fork(fileURLToPath(new URL('servers/receivers.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
  });
  try {
    const [{ urls }] = (await once(receivers, 'message', { signal: AbortSignal.timeout(30_000) })) as [Told];
    const shops: { shopId: string; webhookId: string; productIds: string[]; position: number }[] = [];
    for (const [index, callbackUrl] of (urls ?? []).entries()) {
      const shopId = `Hooks${index}`;
      const token = await createBareShop(db, shopId);
      await generateProducts(db, { shopId, products: PRODUCTS, seed: index }, () => {});
      const webhook = await db.transaction(async (tx) => {
        const app = await tx.one<{ appId: string }>(sql`
          select app_id as "appId" from token where shop_id = ${shopId} and token_hash = ${secretHash(token)}`);
        return insertWebhook(tx, shopId, {
          webhookId: newId(tx.now),
          appId: app!.appId,
          eventType: 'PRODUCT_UPDATE',
          callbackUrl,
          active: true,
          includesFields: false,
          secretSealed: seal(key, newWebhookSecret()),
        });
      });
      const products = await db.many<{ id: string }>(sql`
        select upper(product_id::text) as id from product where shop_id = ${shopId}`);
      const counter = await db.one<{ value: number }>(sql`
        select value from counter where shop_id = ${shopId} and name = 'event'`);
      shops.push({
        shopId,
        webhookId: webhook.webhookId,
        productIds: products.map(({ id }) => id),
        position: counter?.value ?? 0,
      });
    }
    await db.pool.query('vacuum analyze');

    const committedAt = new Map<string, number>();
    const delays: number[] = [];
    let repeated = 0;
    receivers.on('message', ({ received }: Told) => {
      for (const [id, at] of received ?? []) {
        const committed = committedAt.get(id);
        if (committed === undefined) repeated++;
        else delays.push(at - committed);
        committedAt.delete(id);
      }
    });
    const worker = startWebhooks({
      db,
      config,
      demoAccess: await readDemoAccess(db, config),
      log: pino({ level: 'warn' }),
      origin: 'http://localhost:8080',
    });
    const began = performance.now();
    const cpu = process.cpuUsage();
    const total = seconds * perSecond;
    let written = 0;
    const write = async (shop: (typeof shops)[number]) => {
      for (let own = 0; own < total / shops.length; own += BATCH) {
        // Each shop writes evenly over the time; who is late does not wait.
        const due = (own / (total / shops.length)) * seconds * 1000;
        await sleep(Math.max(0, due - (performance.now() - began)));
        const positions = Array.from({ length: BATCH }, () => (shop.position += 1));
        const ids = positions.map((one) => messageIdOf(deliveryIdOf(shop.shopId, shop.webhookId, one)));
        // Known before the commit, because a receipt may come before the answer to the commit.
        for (const id of ids) committedAt.set(id, Date.now());
        await db.transaction(async (tx) =>
          recordEvents(
            tx,
            shop.shopId,
            positions.map((one) => ({
              type: 'PRODUCT_UPDATE',
              resourceId: shop.productIds[one % shop.productIds.length]!,
              data: { changed: ['price'] },
            })),
          ),
        );
        for (const id of ids) if (committedAt.has(id)) committedAt.set(id, Date.now());
        written += BATCH;
      }
    };
    await Promise.all(shops.map(write));
    const wroteIn = (performance.now() - began) / 1000;
    for (let waited = 0; committedAt.size > 0 && waited < 600; waited++) await sleep(50);
    const deliveredIn = (performance.now() - began) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    await worker.stop();

    delays.sort((one, other) => one - other);
    const at = (share: number) =>
      delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? NaN;
    say(
      `${written} events written in ${wroteIn.toFixed(1)} s, ${delays.length} received in ${deliveredIn.toFixed(1)} s ` +
        `(${Math.round(delays.length / deliveredIn)} a second), ${committedAt.size} missing, ${repeated} twice; ` +
        `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms; ` +
        `${((user + system) / 1000 / written).toFixed(2)} ms of CPU an event`,
    );
    return [
      {
        name: `ms from commit to receipt, p95, ${perSecond} events/s to ${shops.length} receivers`,
        value: at(0.95),
        goal: MAX_P95,
        ok: at(0.95) < MAX_P95,
      },
      { name: 'events that were not received', value: committedAt.size, goal: 1, ok: committedAt.size === 0 },
    ];
  } finally {
    receivers.kill();
  }
}
