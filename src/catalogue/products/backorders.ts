import type { BackorderTerms, ProductFacts } from './facts.ts';

/**
 * Backorders and pre-orders. The stock counts what is there and free; what is sold beyond it is promised, up to a limit.
 * Quantities are millionths of a unit, because they have up to six decimals.
 */

export const MAX_BACKORDER_LIMIT = 100_000;

/** Bundles have no limit of their own: that of their parts applies. */
export const BUNDLE_LIMIT = 1_000_000;

/** A product of which more than its stock can be ordered now. */
export interface OpenBackorder extends BackorderTerms {
  /** How much more than the stock. */
  left: number;
}

interface Promising {
  facts: Pick<ProductFacts, 'backorder'>;
  /** null: it is not counted, and there is always enough. */
  stock: number | null;
  /** How much beyond the stock orders wait for. */
  promised: number;
}

/**
 * How much more than its stock can be ordered of a product; undefined: nothing. A day that has passed promises nothing:
 * the merchant has to name another one. `facts` include those of the master.
 */
export function openBackorder(
  { facts, stock, promised }: Promising,
  today: string,
): OpenBackorder | undefined {
  const { backorder } = facts;
  if (!backorder || stock === null || !isDayOpen(backorder, today)) return undefined;
  const left = Number((backorder.limit - promised).toFixed(6));
  return left > 0 ? { ...backorder, left } : undefined;
}

export const isDayOpen = ({ expectedOn }: BackorderTerms, today: string) =>
  expectedOn === undefined || expectedOn >= today;

/** What can be ordered of a product: what is there, and what can be promised; null: there is always enough. */
export function orderableOf(product: Promising, today: string): number | null {
  if (product.stock === null) return null;
  const backorder = openBackorder(product, today);
  if (!backorder) return product.stock;
  return Number((Math.max(0, product.stock) + backorder.left).toFixed(6));
}

/** How much of a quantity would wait; 0: the stock is enough, or nothing is promised. */
export function waitingOf(product: Promising, quantity: number, today: string): number {
  if (!openBackorder(product, today)) return 0;
  return Math.max(0, Number((quantity - Math.max(0, product.stock!)).toFixed(6)));
}

/** What can still be promised of a locked product, in millionths; undefined: it is sold from its stock alone. */
export function promisableOf(
  { backorder, promised }: { backorder: BackorderTerms | null; promised: string },
  today: string,
): bigint | undefined {
  if (!backorder) return undefined;
  if (!isDayOpen(backorder, today)) return 0n;
  const left = fromDecimal(String(backorder.limit)) - fromDecimal(promised);
  return left > 0n ? left : 0n;
}

/** The parts of a quantity that are taken from the stock, and promised beyond it; undefined: both are not enough. */
export function splitQuantity(
  quantity: bigint,
  stock: bigint,
  left: bigint,
): { fromStock: bigint; promised: bigint } | undefined {
  const free = stock > 0n ? stock : 0n;
  const fromStock = quantity < free ? quantity : free;
  const promised = quantity - fromStock;
  return promised > 0n && promised > left ? undefined : { fromStock, promised };
}

export interface WaitingLine {
  orderId: string;
  lineItemId: string;
  waiting: bigint;
}

export interface Assignment<Line extends WaitingLine> {
  line: Line;
  quantity: bigint;
}

/** Assigns stock to lines that wait for it, in their order, until it is used up. */
export function assignedLines<Line extends WaitingLine>(
  lines: readonly Line[],
  stock: bigint,
): { assigned: Assignment<Line>[]; left: bigint } {
  const assigned: Assignment<Line>[] = [];
  let left = stock;
  for (const line of lines) {
    if (left <= 0n) break;
    const quantity = line.waiting < left ? line.waiting : left;
    if (quantity > 0n) assigned.push({ line, quantity });
    left -= quantity;
  }
  return { assigned, left };
}

/**
 * What each of these lines waits for, if so much of their products was promised. The last lines wait: whatever is there
 * completes the first.
 */
export function promisedLines(
  lines: readonly { lineItemId: string; productId: string; quantity: bigint }[],
  promised: ReadonlyMap<string, bigint>,
): { lineItemId: string; productId: string; quantity: bigint }[] {
  const left = new Map(promised);
  return lines.toReversed().flatMap(({ lineItemId, productId, quantity }) => {
    const rest = left.get(productId) ?? 0n;
    const part = quantity < rest ? quantity : rest;
    left.set(productId, rest - part);
    return part > 0n ? [{ lineItemId, productId, quantity: part }] : [];
  });
}

const days = new Map<string, Intl.DateTimeFormat>();
const MAX_TIME_ZONES = 500;

/** The day at a place, `2027-03-01`. */
export function dayAt(now: Date, timeZone: string): string {
  let format = days.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    if (days.size < MAX_TIME_ZONES) days.set(timeZone, format);
  }
  return format.format(now);
}

/** The last moment at which something that depends on this day is right: rendered products are valid until then. */
export function endOfDay(day: string, timeZone: string): Date {
  const midnight = Date.parse(`${day}T00:00:00Z`) + 86_400_000;
  const HOUR = 3_600_000;
  // No place is further than 14 hours from UTC.
  for (let moment = midnight - 14 * HOUR; moment < midnight + 14 * HOUR; moment += HOUR / 4) {
    if (dayAt(new Date(moment), timeZone) > day) return new Date(moment);
  }
  return new Date(midnight + 14 * HOUR);
}

const MILLION = 1_000_000n;

/** A decimal text of PostgreSQL in millionths; quantities have no further digits but zeros. */
export function fromDecimal(text: string): bigint {
  const isNegative = text.startsWith('-');
  const [whole = '0', decimals = ''] = (isNegative ? text.slice(1) : text).split('.');
  const units = BigInt(whole) * MILLION + BigInt(decimals.slice(0, 6).padEnd(6, '0'));
  return isNegative ? -units : units;
}

export function unitsText(units: bigint): string {
  const isNegative = units < 0n;
  const text = String(isNegative ? -units : units).padStart(7, '0');
  return `${isNegative ? '-' : ''}${text.slice(0, -6)}.${text.slice(-6)}`.replace(/\.?0+$/, '');
}

/** Whether there is such a day. */
export function isDay(text: string): boolean {
  const moment = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(moment) && new Date(moment).toISOString().startsWith(text);
}
