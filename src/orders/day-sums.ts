import { dayOf } from '../http/dates.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../db/database.ts';
import { insertInto } from '../db/insert.ts';
import { sql } from '../db/sql.ts';
import type { Content, ContentLine } from '../pricing/content.ts';
import { divideRounded } from '../kernel/money.ts';

/**
 * Lists and sales are counted from the sums of each day (`order_day`) and the lines (`order_line`). All code that
 * writes an order writes them in the same transaction.
 */

const insertLines = insertInto('order_line', {
  order_id: 'uuid',
  line_item_id: 'uuid',
  product_id: 'uuid',
  created_at: 'timestamptz',
  currency: 'text',
  quantity: 'numeric',
  gross: 'numeric',
  net: 'numeric',
});

/** The counted values of an order that is written. */
interface WrittenOrder {
  orderId: string;
  createdAt: Date;
  content: Content;
}

/** Inserts the lines of these orders. */
export async function insertOrderLines(
  tx: Transaction,
  shopId: string,
  orders: readonly WrittenOrder[],
): Promise<void> {
  const lines = orders.flatMap(({ orderId, createdAt, content }) =>
    linesSold(content).map((line) => ({
      ...line,
      order_id: orderId,
      created_at: createdAt,
      currency: content.currency,
    })),
  );
  await tx.run(insertLines(shopId, lines));
}

/** A row of `order_day`, or an addition to it. */
interface DaySum {
  /** `2026-11-16` in UTC. */
  day: string;
  currency: string;
  states: number;
  orders: number;
  gross: number;
  /** An exact decimal as text. */
  net: string;
}

/** A new order has no state yet. */
const NEW = 0;

/** Adds new orders to the sums of their days: one statement for each day and currency. */
export async function addPlacedOrders(
  tx: Transaction,
  shopId: string,
  orders: readonly WrittenOrder[],
): Promise<void> {
  const groups = new Map<string, { day: string; currency: string; contents: Content[] }>();
  for (const { createdAt, content } of orders) {
    const { currency } = content;
    const day = dayOf(createdAt);
    const group = groups.get(`${day} ${currency}`);
    if (group) group.contents.push(content);
    else groups.set(`${day} ${currency}`, { day, currency, contents: [content] });
  }
  const sums = [...groups.values()].map(({ day, currency, contents }) => ({
    day,
    currency,
    states: NEW,
    orders: contents.length,
    gross: contents.reduce((sum, { grandTotal }) => sum + grandTotal, 0),
    net: netRevenue(...contents),
  }));
  await addToDaySums(tx, shopId, sums);
}

/** The values of an order in the sums of a day. */
export interface CountedOrder {
  createdAt: Date;
  currency: string;
  states: number;
  gross: number;
  /** An exact decimal as text. */
  net: string;
}

/**
 * Moves an order that counted as `before` to `after`: a sum without orders is deleted. The transaction must have taken
 * the time of its commit: placing orders locks the counter of events before the sums, and so must all others, or two
 * transactions could deadlock. Most changes of an order change nothing that is counted.
 */
export async function moveDaySum(
  tx: Transaction,
  shopId: string,
  before: CountedOrder,
  after: CountedOrder,
): Promise<void> {
  if (isDeepStrictEqual(before, after)) return;
  const left = { ...sumOf(before), orders: -1, gross: -before.gross, net: negated(before.net) };
  const changed = await tx.many<Pick<DaySum, 'states' | 'orders'>>(sql`
    insert into order_day (shop_id, day, currency, states, orders, gross, net)
    select shop.shop_id, change.day, change.currency, change.states, sum(change.orders), sum(change.gross),
      sum(change.net)
    from shop
    cross join jsonb_to_recordset(${JSON.stringify([left, sumOf(after)])}) as change (day date, currency text,
      states integer, orders bigint, gross bigint, net numeric)
    where shop.shop_id = ${shopId}
    group by shop.shop_id, change.day, change.currency, change.states
    ${addedToExisting}
    returning states, orders`);
  const isEmpty = changed.some(({ states, orders }) => states === left.states && orders === 0);
  if (isEmpty) await deleteEmptyDaySum(tx, shopId, left);
}

function sumOf({ createdAt, ...counted }: CountedOrder): DaySum {
  return { ...counted, day: dayOf(createdAt), orders: 1 };
}

const negated = (decimal: string) => (decimal.startsWith('-') ? decimal.slice(1) : `-${decimal}`);

/** Adds to a sum that is there. */
const addedToExisting = sql`
  on conflict (shop_id, day, currency, states) do update set orders = order_day.orders + excluded.orders,
    gross = order_day.gross + excluded.gross, net = order_day.net + excluded.net`;

/** Adds to the sums of days. Every transaction changes them in the same order, so two of them cannot deadlock. */
async function addToDaySums(tx: Transaction, shopId: string, changes: readonly DaySum[]): Promise<void> {
  const key = ({ day, currency, states }: DaySum) => `${day} ${currency} ${String(states).padStart(5, '0')}`;
  const sorted = changes.toSorted((left, right) => (key(left) < key(right) ? -1 : 1));
  await Promise.all(
    sorted.map(({ day, currency, states, orders, gross, net }) =>
      tx.run(sql`
        insert into order_day (shop_id, day, currency, states, orders, gross, net)
        values (${shopId}, ${day}, ${currency}, ${states}, ${orders}, ${gross}, ${net}) ${addedToExisting}`),
    ),
  );
}

/**
 * Deletes a sum without orders, after the last order has changed its state. The transaction has locked the row by
 * changing it, so it does not wait.
 */
async function deleteEmptyDaySum(
  tx: Transaction,
  shopId: string,
  { day, currency, states }: DaySum,
): Promise<void> {
  await tx.run(sql`
    delete from order_day
    where shop_id = ${shopId} and day = ${day}::date and currency = ${currency} and states = ${states}
      and orders = 0`);
}

/** The amounts that sales are summed from. They have 12 decimals after the minor unit, because sales do not round. */

const DIGITS = 12;
const PARTS = 10n ** BigInt(DIGITS);

/**
 * The value of orders without tax, in minor units; the tax is taken off rate by rate. Gift cards are no part of it: their
 * revenue is what is bought with them.
 */
export function netRevenue(...contents: readonly Pick<Content, 'taxType' | 'taxes'>[]): string {
  const parts = contents.flatMap(({ taxType, taxes }) =>
    taxes
      .filter(({ treatment }) => treatment !== 'voucher')
      .map(({ rate, amount }) => netParts(amount, rate, taxType)),
  );
  return asDecimal(parts.reduce((sum, part) => sum + part, 0n));
}

/** The rows of `order_line`: quantities and amounts of an order's lines after their shares of the discounts. */
export function linesSold({ taxType, lines }: Pick<Content, 'taxType' | 'lines'>) {
  return lines.map((line) => {
    const amount = line.amount - line.discountShare - line.couponShare;
    return {
      line_item_id: line.lineItemId,
      product_id: line.productId,
      quantity: line.quantity,
      gross: asDecimal(grossParts(amount, line, taxType)),
      net: asDecimal(netParts(amount, line.taxClass.rate, taxType)),
    };
  });
}

function netParts(amount: number, rate: number, taxType: Content['taxType']): bigint {
  if (taxType !== 'GROSS') return BigInt(amount) * PARTS;
  return divideRounded(BigInt(amount) * PARTS * 10_000n, 10_000n + BigInt(rate));
}

function grossParts(amount: number, { taxClass }: ContentLine, taxType: Content['taxType']): bigint {
  if (taxType !== 'NET') return BigInt(amount) * PARTS;
  return divideRounded(BigInt(amount) * PARTS * (10_000n + BigInt(taxClass.rate)), 10_000n);
}

function asDecimal(parts: bigint): string {
  const sign = parts < 0n ? '-' : '';
  const digits = (parts < 0n ? -parts : parts).toString().padStart(DIGITS + 1, '0');
  return `${sign}${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`;
}
