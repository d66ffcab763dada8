import type { Queries, Transaction } from '../../db/database.ts';
import { insertInto } from '../../db/insert.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { queueJobs } from '../../platform/jobs/queue.ts';
import { assignedLines, unitsText, fromDecimal, type Assignment, type WaitingLine } from './backorders.ts';

/**
 * The queue of orders that wait for products. Its rows are written only while the row of their product is locked, so
 * that stock has one lock order, and no piece is promised or assigned twice.
 */

/** Jobs that tell customers of new dates, and that their goods are there. */
export const BACKORDER_QUEUE = 'backorder';

export interface BackorderJob {
  shopId: string;
  productId: string;
}

export interface NewWaitingLine {
  orderId: string;
  lineItemId: string;
  productId: string;
  orderedAt: Date;
  /** Millionths of a unit. */
  quantity: bigint;
  expectedOn: string | null;
}

const insertLines = insertInto('backorder_line', {
  order_id: 'uuid',
  line_item_id: 'uuid',
  product_id: 'uuid',
  ordered_at: 'timestamptz',
  quantity: 'numeric',
  waiting: 'numeric',
  expected_on: 'date',
});

export async function insertWaitingLines(
  tx: Transaction,
  shopId: string,
  lines: readonly NewWaitingLine[],
): Promise<void> {
  if (lines.length === 0) return;
  await tx.run(insertLines(shopId, lines.map(rowOf)));
}

/** All of a new line waits. */
const rowOf = (line: NewWaitingLine) => ({
  order_id: line.orderId,
  line_item_id: line.lineItemId,
  product_id: line.productId,
  ordered_at: line.orderedAt,
  quantity: unitsText(line.quantity),
  waiting: unitsText(line.quantity),
  expected_on: line.expectedOn,
});

/** Lines that are read at once when stock arrives. */
const READ_AT_ONCE = 500;

interface QueuedLine extends WaitingLine {
  productId: string;
}

/**
 * Assigns the stock of locked products to the orders that wait for it, first come, first served; the rest is free.
 * Returns the free stock of the products of which something was assigned. A stock that is no longer counted is enough
 * for all.
 */
export async function assignStock(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
): Promise<Map<string, number | null>> {
  const left = new Map<string, number | null>();
  if (productIds.length === 0) return left;
  const products = await findAwaited(tx, shopId, productIds);
  for (const { productId, stock } of products) {
    let free = stock === null ? null : fromDecimal(stock);
    let lines: QueuedLine[];
    do {
      lines = await findQueue(tx, shopId, productId, READ_AT_ONCE);
      const ever = lines.reduce((sum, { waiting }) => sum + waiting, 0n);
      const { assigned, left: rest } = assignedLines(lines, free ?? ever);
      await saveAssignments(tx, shopId, productId, assigned, free !== null);
      if (free !== null) free = rest;
    } while (lines.length === READ_AT_ONCE && (free === null || free > 0n));
    left.set(productId, free === null ? null : Number(unitsText(free)));
  }
  await queueNotices(
    tx,
    shopId,
    products.map(({ productId }) => productId),
  );
  return left;
}

/** Those of these products that have stock, or count none, while orders wait for them. */
function findAwaited(tx: Transaction, shopId: string, productIds: readonly string[]) {
  return tx.many<{ productId: string; stock: string | null }>(sql`
    select upper(product_id::text) as "productId", stock from product
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[]) and promised > 0
      and (stock is null or stock > 0)
    order by product_id`);
}

async function findQueue(tx: Transaction, shopId: string, productId: string, limit: number) {
  const rows = await tx.many<{ orderId: string; lineItemId: string; waiting: string }>(sql`
    select upper(order_id::text) as "orderId", upper(line_item_id::text) as "lineItemId", waiting
    from backorder_line
    where shop_id = ${shopId} and product_id = ${productId} and waiting > 0
    order by ordered_at, order_id, line_item_id limit ${limit}`);
  return rows.map((row): QueuedLine => ({ ...row, productId, waiting: fromDecimal(row.waiting) }));
}

/** `isTaken`: what is assigned leaves the stock. */
async function saveAssignments(
  tx: Transaction,
  shopId: string,
  productId: string,
  assigned: readonly Assignment<QueuedLine>[],
  isTaken: boolean,
): Promise<void> {
  if (assigned.length === 0) return;
  await lowerWaiting(
    tx,
    shopId,
    assigned.map(({ line, quantity }) => ({ ...line, quantity })),
    { isAssigned: true },
  );
  const sum = unitsText(assigned.reduce((total, { quantity }) => total + quantity, 0n));
  await tx.run(sql`
    update product
    set promised = promised - ${sum}::numeric, version = version + 1,
      stock = case when ${isTaken} then stock - ${sum}::numeric else stock end
    where shop_id = ${shopId} and product_id = ${productId}`);
}

/** The parts of waiting lines that are assigned, or given back. */
export interface WaitingPart {
  orderId: string;
  lineItemId: string;
  /** Millionths of a unit. */
  quantity: bigint;
}

/** `isAssigned`: customers are told when the last of a line is there; parts that are given back were never there. */
async function lowerWaiting(
  tx: Transaction,
  shopId: string,
  parts: readonly WaitingPart[],
  { isAssigned }: { isAssigned: boolean },
): Promise<void> {
  const changes = parts.map(({ orderId, lineItemId, quantity }) => ({
    order_id: orderId,
    line_item_id: lineItemId,
    quantity: unitsText(quantity),
  }));
  await tx.run(sql`
    update backorder_line
    set waiting = waiting - change.quantity,
      ready_at = case when waiting = change.quantity then ${tx.now}::timestamptz else ready_at end,
      is_untold = is_untold or ${isAssigned} and waiting = change.quantity
    from jsonb_to_recordset(${JSON.stringify(changes)}) as change (order_id uuid, line_item_id uuid, quantity numeric)
    where backorder_line.shop_id = ${shopId} and backorder_line.order_id = change.order_id
      and backorder_line.line_item_id = change.line_item_id`);
}

/** What a line of an order has waited for, or waits for. */
export interface BackorderLine {
  lineItemId: string;
  productId: string;
  /** Exact decimals as texts. */
  quantity: string;
  waiting: string;
  expectedOn: string | null;
  readyAt: string | null;
}

/** What lines of an order wait for, in millionths, while their products are locked. */
export async function findWaiting(
  tx: Queries,
  shopId: string,
  orderId: string,
): Promise<Map<string, { productId: string; waiting: bigint }>> {
  const rows = await tx.many<{ lineItemId: string; productId: string; waiting: string }>(sql`
    select upper(line_item_id::text) as "lineItemId", upper(product_id::text) as "productId", waiting
    from backorder_line
    where shop_id = ${shopId} and order_id = ${orderId} and waiting > 0`);
  return new Map(
    rows.map(({ lineItemId, productId, waiting }) => [
      lineItemId,
      { productId, waiting: fromDecimal(waiting) },
    ]),
  );
}

/** Takes promises of an order back; the products of these lines are locked. */
export async function giveBackPromises(
  tx: Transaction,
  shopId: string,
  parts: readonly (WaitingPart & { productId: string })[],
): Promise<void> {
  if (parts.length === 0) return;
  await lowerWaiting(tx, shopId, parts, { isAssigned: false });
  await movePromised(
    tx,
    shopId,
    parts.map((part) => ({ ...part, quantity: -part.quantity })),
  );
}

/** Counts what is promised more of locked products. */
export const raisePromised = (
  tx: Transaction,
  shopId: string,
  lines: readonly Pick<NewWaitingLine, 'productId' | 'quantity'>[],
) => movePromised(tx, shopId, lines);

async function movePromised(
  tx: Transaction,
  shopId: string,
  parts: readonly { productId: string; quantity: bigint }[],
): Promise<void> {
  if (parts.length === 0) return;
  const changes = parts.map(({ productId, quantity }) => ({
    product_id: productId,
    quantity: unitsText(quantity),
  }));
  // The ids show PostgreSQL how few products these are.
  const productIds = [...new Set(parts.map(({ productId }) => productId))];
  await tx.run(sql`
    update product set promised = promised + change.quantity, version = version + 1
    from (
      select product_id, sum(quantity) as quantity
      from jsonb_to_recordset(${JSON.stringify(changes)}) as part (product_id uuid, quantity numeric)
      group by product_id
    ) change
    where product.shop_id = ${shopId} and product.product_id = any (${productIds}::uuid[])
      and product.product_id = change.product_id`);
}

/** Promises more to lines of an order that a merchant edits; the products are locked. A line keeps its place in the queue. */
export async function addPromises(
  tx: Transaction,
  shopId: string,
  lines: readonly NewWaitingLine[],
): Promise<void> {
  if (lines.length === 0) return;
  await tx.run(sql`
    insert into backorder_line (shop_id, order_id, line_item_id, product_id, ordered_at, quantity, waiting, expected_on)
    select shop.shop_id, order_id, line_item_id, product_id, ordered_at, quantity, quantity, expected_on
    from shop cross join jsonb_to_recordset(${JSON.stringify(lines.map(rowOf))}) as line (order_id uuid, line_item_id uuid,
      product_id uuid, ordered_at timestamptz, quantity numeric, expected_on date)
    where shop.shop_id = ${shopId}
    on conflict (shop_id, order_id, line_item_id) do update
    set quantity = backorder_line.quantity + excluded.quantity, waiting = backorder_line.waiting + excluded.waiting,
      expected_on = excluded.expected_on, ready_at = null, is_untold = false`);
}

/** Nothing will come of a product that is deleted, with its variations: the merchant decides about its orders. */
export function endWaiting(tx: Transaction, shopId: string, productId: string) {
  return tx.run(sql`
    update backorder_line set waiting = 0, ready_at = ${tx.now}
    where shop_id = ${shopId} and waiting > 0 and product_id in (
      select product_id from product
      where shop_id = ${shopId} and (product_id = ${productId} or master_id = ${productId}))`);
}

/** Tells those who wait for these products, or their variations, what has changed. */
export function queueNotices(tx: Transaction, shopId: string, productIds: readonly string[]): Promise<void> {
  return queueJobs(
    tx,
    shopId,
    BACKORDER_QUEUE,
    productIds.map((productId) => ({
      id: newId(tx.now),
      content: { shopId, productId } satisfies BackorderJob,
    })),
  );
}

/** In a shop without orders nothing is promised. */
export function forgetPromises(tx: Transaction, shopId: string) {
  return tx.run(sql`update product set promised = 0 where shop_id = ${shopId} and promised > 0`);
}

interface ToldLine {
  orderId: string;
  lineItemId: string;
  /** The day that the customer is told; null: it is not known. */
  date: string | null;
}

/** Customers are told of these days. */
export async function saveToldDates(
  tx: Transaction,
  shopId: string,
  lines: readonly ToldLine[],
): Promise<void> {
  if (lines.length === 0) return;
  const told = lines.map(({ orderId, lineItemId, date }) => ({
    order_id: orderId,
    line_item_id: lineItemId,
    expected_on: date,
  }));
  await tx.run(sql`
    update backorder_line set expected_on = told.expected_on
    from jsonb_to_recordset(${JSON.stringify(told)}) as told (order_id uuid, line_item_id uuid, expected_on date)
    where backorder_line.shop_id = ${shopId} and backorder_line.order_id = told.order_id
      and backorder_line.line_item_id = told.line_item_id`);
}

/** Customers are told that these lines are ready. */
export async function saveToldReady(
  tx: Transaction,
  shopId: string,
  lines: readonly Pick<ToldLine, 'orderId' | 'lineItemId'>[],
): Promise<void> {
  if (lines.length === 0) return;
  const told = lines.map(({ orderId, lineItemId }) => ({ order_id: orderId, line_item_id: lineItemId }));
  await tx.run(sql`
    update backorder_line set is_untold = false
    from jsonb_to_recordset(${JSON.stringify(told)}) as told (order_id uuid, line_item_id uuid)
    where backorder_line.shop_id = ${shopId} and backorder_line.order_id = told.order_id
      and backorder_line.line_item_id = told.line_item_id`);
}
