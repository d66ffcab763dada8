import { BUSY, createBatcher } from '../db/batcher.ts';
import type { Database, Transaction } from '../db/database.ts';
import { isLockTimeout } from '../db/failure.ts';
import type { OrderRequest, Placement } from './placement.ts';
import { placeOrders, rowsToLock } from './place-orders.ts';
import { lockBundlesOf } from '../catalogue/products/bundles.ts';
import { findCountedProducts, lockStock } from '../catalogue/products/stock-queries.ts';
import { lockCampaignsByCode, lockCoupons } from '../coupons/redemption-queries.ts';
import { lockCarts } from '../carts/queries.ts';
import { SKIP_LOCKED } from '../db/locks.ts';

/**
 * The orders of a shop wait for each other anyway, because they use the same counter and the same day. Concurrent
 * orders are placed in one transaction, so they wait for one commit and not for one each.
 */
export function createOrderBatcher(db: Database) {
  return createBatcher<OrderRequest, Placement>(
    db,
    { runMany: placeBatch, runOne: placeAlone },
    { size: 20, running: 1 },
  );
}

/** Places one order in its own transaction. */
export async function placeAlone(db: Database, shopId: string, request: OrderRequest): Promise<Placement> {
  const [placement] = await db.transaction((tx) => placeOrders(tx, shopId, [request]));
  return placement!;
}

/** A row that stays locked holds up the orders that need it, not the others of the batch. */
async function placeBatch(
  db: Database,
  shopId: string,
  requests: readonly OrderRequest[],
): Promise<(Placement | typeof BUSY)[]> {
  try {
    return await db.transaction((tx) => placeOrders(tx, shopId, requests, { waits: 'briefly' }));
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
  }
  if (requests.length === 1) return [BUSY];
  return db.transaction(async (tx) => {
    const free = await lockFree(tx, shopId, requests);
    const placings = await placeOrders(tx, shopId, free);
    return requests.map((request) => placings[free.indexOf(request)] ?? BUSY);
  });
}

/**
 * Those of these orders whose rows can be locked without waiting; the transaction holds them from then on. An order
 * whose cart is gone is not among them: it gets that answer when it is retried by itself.
 */
async function lockFree(
  tx: Transaction,
  shopId: string,
  requests: readonly OrderRequest[],
): Promise<OrderRequest[]> {
  const { cartIds, productIds, codeKeys } = rowsToLock(requests);
  const [carts, products, , coupons, campaigns, counted] = await Promise.all([
    lockCarts(tx, shopId, cartIds, SKIP_LOCKED),
    lockStock(tx, shopId, productIds, SKIP_LOCKED),
    lockBundlesOf(tx, shopId, productIds),
    lockCoupons(tx, shopId, codeKeys, SKIP_LOCKED),
    lockCampaignsByCode(tx, shopId, codeKeys, SKIP_LOCKED),
    findCountedProducts(tx, shopId, productIds),
  ]);
  const freeCarts = new Set(carts.map(({ cartId }) => cartId));
  const freeProducts = new Set(products.map(({ productId }) => productId));
  const lockedProducts = new Set(
    counted.map(({ productId }) => productId).filter((id) => !freeProducts.has(id)),
  );
  const freeCampaigns = new Set(campaigns.map(({ campaignId }) => campaignId));
  const freeCoupons = new Set(
    coupons.filter(({ campaignId }) => freeCampaigns.has(campaignId)).map(({ codeKey }) => codeKey),
  );
  return requests.filter(
    ({ order: { cartId, couponCodeKey, content } }) =>
      freeCarts.has(cartId) &&
      (couponCodeKey === null || freeCoupons.has(couponCodeKey)) &&
      !content.lines.some(({ productId }) => lockedProducts.has(productId)),
  );
}
