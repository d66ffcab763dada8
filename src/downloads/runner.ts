import { performance } from 'node:perf_hooks';
import type { FastifyBaseLogger } from 'fastify';
import { isTransient, type Database, type Queries } from '../db/database.ts';
import { isDatabaseAway } from '../db/failure.ts';
import { createLease, renewWhile } from '../db/lease.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../kernel/ids.ts';
import { readEvents } from '../platform/events/queries.ts';
import type { EventType } from '../platform/events/types.ts';
import { removeUnsold } from './deleted-product.ts';
import { findBeginning, findConcerned, findServable } from './delivery-queries.ts';
import { tellSomeBuyers } from './new-version-email.ts';
import { supplyOrder } from './supply.ts';

const lease = createLease(sql`download_run`);
const SHOPS_PER_SWEEP = 1_000;
const EVENTS_PER_READ = 200;
const ORDERS_AT_ONCE = 50;
/** A shop may lag by this many positions, while nothing happens to its orders, before its position is written. */
const MAX_BEHIND = 200;
/** Milliseconds after which a shop with much to do lets the others go on. */
const MAX_TURN = 10_000;

/** What may change what an order entitles to: every payment and return is an update as well. A refill, and the end of a product. */
const TYPES: readonly EventType[] = ['ORDER_CREATE', 'ORDER_UPDATE', 'KEYS_ADDED', 'PRODUCT_DELETE'];

export interface SupplyDeps {
  db: Database;
  log: FastifyBaseLogger;
}

/**
 * Supplies what was paid, and revokes what was refunded, in all shops that have something to do. It follows the log of
 * events, so nothing is forgotten when a process ends, and it does not matter who changed the order.
 */
export async function runDueSupplies(
  { db, log }: SupplyDeps,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined && !signal.aborted;) {
    const rows: { shopId: string; hasWork: boolean }[] = await sweepShops(db, after);
    after = rows.length === SHOPS_PER_SWEEP ? rows.at(-1)!.shopId : undefined;
    for (const { shopId, hasWork } of rows) {
      if (signal.aborted) return;
      if (!hasWork) continue;
      try {
        await runShop({ db: db.atClockOf(shopId), log }, shopId, signal);
      } catch (error) {
        // It is taken again after the lease has expired.
        log.warn({ err: error, shop: shopId }, 'the supply of downloads stopped');
      }
    }
  }
}

function sweepShops(db: Database, after: string) {
  return db.many<{ shopId: string; hasWork: boolean }>(sql`
    select run.shop_id as "shopId",
      coalesce(
        (run.leased_until is null or run.leased_until <= ${db.serviceNow})
        and shop.suspended_at is null and shop.deletion_at is null
        and (run.position + ${MAX_BEHIND}::bigint <= counter.value
          or exists (
            select from event
            where event.shop_id = run.shop_id and event.type = any (${TYPES}::text[])
              and event.position > run.position and event.position <= run.position + ${MAX_BEHIND}::bigint)
          or exists (
            select from download_delivery
            where download_delivery.shop_id = run.shop_id and download_delivery.begins_at <= ${db.now})
          or exists (
            select from download_file
            where download_file.shop_id = run.shop_id and download_file.told_until is not null)),
        false) as "hasWork"
    from download_run run
    join shop on shop.shop_id = run.shop_id
    left join counter on counter.shop_id = run.shop_id and counter.name = 'event'
    where run.shop_id > ${after}
    order by run.shop_id limit ${SHOPS_PER_SWEEP}`);
}

async function runShop(deps: SupplyDeps, shopId: string, signal: AbortSignal): Promise<void> {
  const { db } = deps;
  const holder = newId(db.serviceNow);
  const row = sql`shop_id = ${shopId}`;
  const [taken] = await lease.take<{ position: number }>(db, row, holder, sql`position`);
  if (!taken) return;
  const until = performance.now() + MAX_TURN;
  await renewWhile(
    () => lease.renew(db, row, holder),
    async (isHeld) => {
      const mayGoOn = () => isHeld() && !signal.aborted && performance.now() < until;
      await followEvents(deps, shopId, { position: taken.position, holder }, mayGoOn);
      await beginDue(deps, shopId, mayGoOn);
      while (mayGoOn() && (await tellSomeBuyers(db, shopId)));
    },
  );
  await lease.release(db, row, holder);
}

async function followEvents(
  deps: SupplyDeps,
  shopId: string,
  { position: from, holder }: { position: number; holder: string },
  mayGoOn: () => boolean,
): Promise<void> {
  const { db } = deps;
  for (let position = from, hasMore = true; hasMore && mayGoOn();) {
    const page = await readEvents(db, shopId, { after: position, types: TYPES, limit: EVENTS_PER_READ });
    // Events may have been cleaned up while the shop was suspended.
    const next = Math.max(page.next, Math.min(page.oldest - 1, page.last));
    const idsOf = (...types: EventType[]) => [
      ...new Set(
        page.events.flatMap(({ type, resourceId }) => (types.includes(type) ? (resourceId ?? []) : [])),
      ),
    ];
    for (const productId of idsOf('PRODUCT_DELETE')) {
      await db.transaction((tx) => removeUnsold(tx, shopId, productId));
    }
    const orderIds = idsOf('ORDER_CREATE', 'ORDER_UPDATE');
    await supplyAll(deps, shopId, await findConcerned(db, shopId, orderIds), mayGoOn);
    // A refill, or a cancelled purchase that has waited, lets the next ones be served.
    if (page.events.length > 0) await serveQueues(deps, shopId, mayGoOn);
    if (!mayGoOn()) return;
    if (next > position && !(await movePosition(db, shopId, next, holder))) return;
    hasMore = next < page.last;
    position = next;
  }
}

/** First come, first served, until no key is free or nobody waits. An order that fails does not hold up the rest. */
async function serveQueues(deps: SupplyDeps, shopId: string, mayGoOn: () => boolean): Promise<void> {
  const served = new Set<string>();
  while (mayGoOn()) {
    const orders = (await findServable(deps.db, shopId)).filter(({ orderId }) => !served.has(orderId));
    if (orders.length === 0) return;
    await supplyAll(deps, shopId, orders, mayGoOn);
    for (const { orderId } of orders) served.add(orderId);
  }
}

async function beginDue(deps: SupplyDeps, shopId: string, mayGoOn: () => boolean): Promise<void> {
  const orders = await findBeginning(deps.db, shopId, deps.db.now, ORDERS_AT_ONCE);
  await supplyAll(deps, shopId, orders, mayGoOn);
}

/** Each in a transaction of its own. */
async function supplyAll(
  { db, log }: SupplyDeps,
  shopId: string,
  orders: readonly { orderId: string }[],
  mayGoOn: () => boolean,
): Promise<void> {
  for (const { orderId } of orders) {
    if (!mayGoOn()) return;
    try {
      await db.transaction((tx) => supplyOrder(tx, shopId, orderId));
    } catch (error) {
      if (isDatabaseAway(error) || isTransient(error)) throw error;
      // The shop can supply it by hand; the next change of the order tries again.
      log.error({ err: error, shop: shopId, order: orderId }, 'an order was not supplied');
    }
  }
}

/** false: the lease was lost. */
async function movePosition(db: Queries, shopId: string, position: number, holder: string): Promise<boolean> {
  const moved = await db.run(sql`
    update download_run set position = ${position} where shop_id = ${shopId} and holder = ${holder}`);
  return moved > 0;
}
