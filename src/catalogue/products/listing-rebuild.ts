import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Queries, Transaction } from '../../db/database.ts';
import { isTimeout } from '../../db/failure.ts';
import { createLease, leaseEnd } from '../../db/lease.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { BEFORE_ALL_PRODUCTS } from '../../shops/settings/writes.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { refreshListing } from './listing.ts';

/*
 * Lists and search have a row per product and locale, with the price in the default currency. A change of locales,
 * currencies or exchange rates makes all of them stale. They are rebuilt after the settings are committed, in steps of
 * few products, so that orders wait for at most one step. Until then, lists are sorted and filtered by the old prices;
 * prices and texts on pages are computed from the product and the new settings. A new locale gets its products step by
 * step.
 */

const STEP = 100;

const lease = createLease(sql`listing_rebuild`);

/** Milliseconds between two checks of a rebuild by another process, or of a product that stays locked. */
const POLL = 250;

/** false: another process does it, or there is nothing to do. */
export async function claimRebuild(db: Queries, shopId: string, holder: string): Promise<boolean> {
  const claimed = await lease.take(db, sql`shop_id = ${shopId}`, holder, sql`shop_id`);
  return claimed.length === 1;
}

/**
 * `lost`: another process has the lease, or nothing is left to rebuild. `superseded`: the settings have changed again,
 * so the next step is the first one.
 */
export type StepResult = 'advanced' | 'superseded' | 'done' | 'lost';

/**
 * Rebuilds the next few products in a transaction of its own, for the process that holds the lease. It locks the
 * products in the order of their ids, as orders do, before it reads the settings: a concurrent change of one of them
 * is written before or after it, and both use the newest settings committed by then. It fails when one of the products
 * stays locked, because orders wait for the others meanwhile.
 */
export async function rebuildStep(
  db: Database,
  shopId: string,
  holder: string,
  limit = STEP,
): Promise<{ result: StepResult; products: number }> {
  return db.transaction(async (tx) => {
    await tx.run(sql`set local lock_timeout = '200ms'`);
    const rebuild = await tx.one<{ rebuildId: string; last: string }>(sql`
      select rebuild_id as "rebuildId", last_product_id as last from listing_rebuild
      where shop_id = ${shopId} and holder = ${holder}`);
    if (!rebuild) return { result: 'lost', products: 0 };
    const rows = await tx.many<{ productId: string }>(sql`
      select product_id as "productId" from product
      where shop_id = ${shopId} and kind <> 'variation' and product_id > ${rebuild.last}
      order by product_id limit ${limit}`);
    const products = rows.length;
    if (products === 0) return { result: await endRebuild(tx, shopId, rebuild.rebuildId), products };
    await refreshListing(
      tx,
      shopId,
      rows.map(({ productId }) => productId),
    );
    const moved = await tx.run(sql`
      update listing_rebuild
      set last_product_id = ${rows.at(-1)!.productId}, products = products + ${products},
        leased_until = ${leaseEnd(tx.serviceNow)}
      where shop_id = ${shopId} and rebuild_id = ${rebuild.rebuildId} and holder = ${holder}`);
    return { result: moved === 1 ? 'advanced' : 'superseded', products };
  });
}

/**
 * Cached pages with facets and the order of a list are keyed by the version of the settings, so it is incremented once
 * more. The shop's row is locked first, as in changes of settings, to avoid a deadlock.
 */
async function endRebuild(tx: Transaction, shopId: string, rebuildId: string): Promise<StepResult> {
  await moveSettingsVersion(tx, shopId);
  const ended = await tx.run(
    sql`delete from listing_rebuild where shop_id = ${shopId} and rebuild_id = ${rebuildId}`,
  );
  if (ended === 0) return 'superseded';
  await tx.run(sql`delete from listing_upgrade where shop_id = ${shopId} and rebuild_id = ${rebuildId}`);
  return 'done';
}

/** Runs the steps of one shop until none is left, another process has the lease, or `signal` is aborted. */
async function runRebuild(
  db: Database,
  shopId: string,
  holder: string,
  options: { signal?: AbortSignal; onStep?: (products: number) => void } = {},
): Promise<void> {
  let limit = STEP;
  while (!options.signal?.aborted) {
    try {
      const { result, products } = await rebuildStep(db, shopId, holder, limit);
      if (result === 'done' || result === 'lost') return;
      options.onStep?.(products);
      limit = Math.min(STEP, 2 * limit);
    } catch (error) {
      if (!isTimeout(error)) throw error;
      // Another transaction holds one of the products. Alone it is waited for without holding others.
      limit = 1;
      if (!(await lease.renew(db, sql`shop_id = ${shopId}`, holder))) return;
      await sleep(POLL);
    }
  }
  await lease.release(db, sql`shop_id = ${shopId}`, holder);
}

/** Runs the due rebuilds of all shops, one shop after the other. Returns the number of shops processed. */
export async function runDueRebuilds(db: Database, signal?: AbortSignal): Promise<number> {
  const holder = newId(db.now);
  let shops = 0;
  for (;;) {
    if (signal?.aborted) break;
    const due = await db.one<{ shopId: string }>(sql`
      select shop_id as "shopId" from listing_rebuild
      where leased_until <= ${db.now} order by requested_at, shop_id limit 1`);
    const shopId = due?.shopId ?? (await claimUpgrade(db, holder));
    if (shopId === undefined) break;
    // Another process may have been faster.
    if (due && !(await claimRebuild(db, shopId, holder))) continue;
    await runRebuild(db, shopId, holder, signal && { signal });
    shops++;
  }
  return shops;
}

/**
 * Starts to rebuild the lists of a shop that an older version has written. This process has the lease from the start,
 * because a process of the older version would write them in the old form again.
 */
async function claimUpgrade(db: Database, holder: string): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    const next = await tx.one<{ shopId: string }>(sql`
      select shop_id as "shopId" from listing_upgrade where not exists (
        select from listing_rebuild where listing_rebuild.shop_id = listing_upgrade.shop_id)
      order by shop_id limit 1`);
    if (!next) return undefined;
    const { shopId } = next;
    const rebuildId = newId(tx.now);
    const claimed = await tx.run(sql`
      insert into listing_rebuild (shop_id, rebuild_id, requested_at, last_product_id, products, holder, leased_until)
      values (${shopId}, ${rebuildId}, ${tx.now}, ${BEFORE_ALL_PRODUCTS}, 0, ${holder}, ${leaseEnd(tx.serviceNow)})
      on conflict (shop_id) do nothing`);
    if (claimed === 0) return undefined;
    await tx.run(sql`update listing_upgrade set rebuild_id = ${rebuildId} where shop_id = ${shopId}`);
    return shopId;
  });
}

/** Returns when the lists of the shop are rebuilt, by this process or by another one that has started it. */
export async function finishRebuild(
  db: Database,
  shopId: string,
  onStep: (products: number) => void,
): Promise<void> {
  const holder = newId(db.now);
  let seen = 0;
  const advance = (products: number) => {
    seen += products;
    onStep(products);
  };
  for (;;) {
    if (await claimRebuild(db, shopId, holder)) await runRebuild(db, shopId, holder, { onStep: advance });
    const row = await db.one<{ products: number }>(
      sql`select products from listing_rebuild where shop_id = ${shopId}`,
    );
    if (!row) return;
    if (row.products > seen) advance(row.products - seen);
    await sleep(POLL);
  }
}
