import type { Transaction } from '../../db/database.ts';
import { WAIT } from '../../db/locks.ts';
import { sql } from '../../db/sql.ts';
import { assignStock } from './backorder-queue.ts';
import { lockBundlesOf } from './bundles.ts';
import { refreshStockOfBundles } from './bundle-stock.ts';
import type { BackorderTerms } from './facts.ts';
import { stockStamp } from './queries.ts';
import { stampChangedProducts } from './product-events.ts';

export interface LockedStock {
  productId: string;
  /** Decimal texts. */
  stock: string;
  minStock: string | null;
  /** How much beyond the stock orders wait for. */
  promised: string;
  backorder: BackorderTerms | null;
}

/** Locks the products with counted stock, in id order, so two transactions cannot deadlock. */
export function lockStock(tx: Transaction, shopId: string, productIds: readonly string[], ifLocked = WAIT) {
  return tx.many<LockedStock>(sql`
    select upper(product_id::text) as "productId", stock, min_stock as "minStock", promised,
      coalesce(facts -> 'backorder', (
        select master.facts -> 'backorder' from product master
        where master.shop_id = ${shopId} and master.product_id = product.master_id
      )) as backorder
    from product
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[]) and stock is not null
    order by product_id for no key update ${ifLocked}`);
}

/** The products with counted stock, locked or not. */
export function findCountedProducts(tx: Transaction, shopId: string, productIds: readonly string[]) {
  return tx.many<{ productId: string }>(sql`
    select upper(product_id::text) as "productId" from product
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[]) and stock is not null`);
}

/** What orders take of a product, in millionths of a unit. */
export interface Taken {
  fromStock: bigint;
  /** Beyond the stock. */
  promised: bigint;
  /** Nothing more can be promised after it. */
  isUsedUp: boolean;
}

/**
 * Takes from the stock of locked products, and promises what it lacks; returns the remaining stock of each. Rendered
 * products show whether more can be promised, so the version moves with the last of it.
 */
export async function takeStock(
  tx: Transaction,
  shopId: string,
  taken: ReadonlyMap<string, Taken>,
  at: Date,
) {
  if (taken.size === 0) return [];
  const productIds = [...taken.keys()];
  const quantities = [...taken.values()].map(({ fromStock }) => String(fromStock));
  const promises = [...taken.values()].map(({ promised }) => String(promised));
  const usedUpIds = productIds.filter((productId) => taken.get(productId)!.isUsedUp);
  return tx.many<{ productId: string; stockStamp: string }>(sql`
    update product
    set stock = stock - (${quantities}::numeric[])[array_position(${productIds}::uuid[], product_id)] / 1000000,
      promised = promised + (${promises}::numeric[])[array_position(${productIds}::uuid[], product_id)] / 1000000,
      version = version + (product_id = any (${usedUpIds}::uuid[]))::int, stock_changed_at = ${at}
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])
    returning upper(product_id::text) as "productId", ${stockStamp} as "stockStamp"`);
}

export interface ChangedStock {
  productId: string;
  minStock: number | null;
  before: number;
  after: number;
}

export interface StockMove {
  productId: string;
  /** Below zero: taken from stock. At most six decimals. */
  quantity: number;
}

/**
 * Adds to the stock of products with counted stock; what orders wait for is assigned to them at once. Returns the old and
 * the new stock of each. Products do not count
 * as changed by that, nor by orders, or the log of events would say everything twice: STOCK_LOW and STOCK_OUT report a
 * stock that falls to a limit, and lists of products with a changed stock show all of them.
 */
export async function changeStock(tx: Transaction, shopId: string, moves: readonly StockMove[]) {
  // The ids show PostgreSQL how few products these are; in an unknown list it expects many.
  const productIds = moves.map(({ productId }) => productId);
  const changes = moves.map(({ productId, quantity }) => ({ product_id: productId, quantity }));
  await lockStock(tx, shopId, productIds);
  const changed = await tx.many<ChangedStock>(sql`
    update product set stock = product.stock + change.quantity
    from (
      select product_id, sum(quantity) as quantity
      from jsonb_to_recordset(${JSON.stringify(changes)}) as move (product_id uuid, quantity numeric)
      group by product_id
    ) change
    where product.shop_id = ${shopId} and product.product_id = any (${productIds}::uuid[])
      and product.product_id = change.product_id and product.stock is not null
    returning upper(product.product_id::text) as "productId", product.min_stock::float8 as "minStock",
      (product.stock - change.quantity)::float8 as before, product.stock::float8 as after`);
  const left = await assignStock(
    tx,
    shopId,
    changed.flatMap(({ productId, after }) => (after > 0 ? [productId] : [])),
  );
  await refreshStockOfBundles(tx, shopId, await lockBundlesOf(tx, shopId, productIds));
  stampChangedProducts(
    tx,
    shopId,
    changed.map(({ productId }) => productId),
    'stock',
  );
  return changed.map((one) => ({ ...one, after: left.get(one.productId) ?? one.after }));
}
