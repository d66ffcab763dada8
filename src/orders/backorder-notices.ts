import type { FastifyBaseLogger } from 'fastify';
import { expectedDayText } from '../catalogue/products/availability-text.ts';
import {
  BACKORDER_QUEUE,
  queueNotices,
  saveToldDates,
  saveToldReady,
  type BackorderJob,
} from '../catalogue/products/backorder-queue.ts';
import { lockStock } from '../catalogue/products/stock-queries.ts';
import type { Database, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { Background } from '../platform/background.ts';
import { queueEmails } from '../platform/email/queue.ts';
import { startWorker } from '../platform/jobs/worker.ts';
import type { Address } from '../shops/countries/address.ts';
import { findSettings, type Settings } from '../shops/settings/settings.ts';
import type { ContentLine } from '../pricing/content.ts';
import { backorderMovedEmail, backorderReadyEmail } from './backorder-emails.ts';
import { lineText } from './line-text.ts';

/** Lines whose customers are told at once: a product may be waited for by thousands. */
const TOLD_AT_ONCE = 100;

/** Starts to tell customers of new dates, and of what they have waited for. */
export function startBackorderNotices(db: Database, log: FastifyBaseLogger): Background {
  return startWorker<BackorderJob>(db, BACKORDER_QUEUE, {
    log,
    run: ({ content }) => tellWaiting(db, content),
    giveUp: () => {},
  });
}

/** Each line is told of a change once, because what was told is stored with the emails. */
export async function tellWaiting(service: Database, { shopId, productId }: BackorderJob): Promise<void> {
  const db = service.atClockOf(shopId);
  const settings = await findSettings(db, shopId);
  if (!settings) return;
  await db.transaction(async (tx) => {
    const productIds = await findAwaitedIds(tx, shopId, productId);
    // Lines are written under the lock of their product alone.
    await lockStock(tx, shopId, productIds);
    const moved = await findMoved(tx, shopId, productIds);
    const ready = await findReady(tx, shopId, productIds);
    await saveToldDates(tx, shopId, moved);
    await saveToldReady(tx, shopId, ready);
    await queueEmails(
      tx,
      shopId,
      backorderMovedEmail,
      emailsOf(moved, settings).map(({ facts, locale, date, ...email }) => ({
        ...email,
        locale,
        facts: { ...facts, date: date && expectedDayText(date, locale) },
      })),
    );
    if (settings.backorderReadyEmails) {
      const emails = emailsOf(ready, settings).map(({ date: _date, ...email }) => email);
      await queueEmails(tx, shopId, backorderReadyEmail, emails);
    }
    if (Math.max(moved.length, ready.length) === TOLD_AT_ONCE) await queueNotices(tx, shopId, [productId]);
  });
}

interface NoticedLine {
  orderId: string;
  lineItemId: string;
  /** What waits, or has waited. */
  quantity: string;
  /** The day that the product names now. */
  date: string | null;
  orderNumber: string;
  locale: string;
  billingAddress: Address;
  erasedAt: Date | null;
  cancelledAt: Date | null;
  line: ContentLine | null;
}

/** A product and its variations, as far as orders wait, or have yet to be told. */
async function findAwaitedIds(tx: Transaction, shopId: string, productId: string): Promise<string[]> {
  const rows = await tx.many<{ productId: string }>(sql`
    select upper(product_id::text) as "productId" from product
    where shop_id = ${shopId} and (product_id = ${productId} or master_id = ${productId})
    order by product_id`);
  return rows.map((row) => row.productId);
}

const lineOfOrder = sql`(
  select line from jsonb_array_elements(customer_order.content -> 'lines') as line
  where upper(line ->> 'lineItemId') = upper(backorder_line.line_item_id::text) limit 1
)`;

const orderColumns = sql`
  upper(backorder_line.order_id::text) as "orderId", upper(backorder_line.line_item_id::text) as "lineItemId",
  customer_order.order_number as "orderNumber", customer_order.locale,
  customer_order.billing_address as "billingAddress", customer_order.erased_at as "erasedAt",
  customer_order.cancelled_at as "cancelledAt", ${lineOfOrder} as line`;

/** Waiting lines whose customers know another day than the product names. */
function findMoved(tx: Transaction, shopId: string, productIds: readonly string[]) {
  const named = sql`coalesce(product.facts -> 'backorder', master.facts -> 'backorder') ->> 'expectedOn'`;
  return tx.many<NoticedLine>(sql`
    select ${orderColumns}, backorder_line.waiting as quantity, ${named} as date
    from backorder_line
    join customer_order on customer_order.shop_id = ${shopId} and customer_order.order_id = backorder_line.order_id
    join product on product.shop_id = ${shopId} and product.product_id = backorder_line.product_id
    left join product master on master.shop_id = ${shopId} and master.product_id = product.master_id
    where backorder_line.shop_id = ${shopId} and backorder_line.product_id = any (${productIds}::uuid[])
      and backorder_line.waiting > 0 and backorder_line.expected_on is distinct from (${named})::date
    order by backorder_line.ordered_at, backorder_line.order_id, backorder_line.line_item_id limit ${TOLD_AT_ONCE}`);
}

/** Lines that are complete, of which their customers have yet to hear. */
function findReady(tx: Transaction, shopId: string, productIds: readonly string[]) {
  return tx.many<NoticedLine>(sql`
    select ${orderColumns}, backorder_line.quantity, null::text as date
    from backorder_line
    join customer_order on customer_order.shop_id = ${shopId} and customer_order.order_id = backorder_line.order_id
    where backorder_line.shop_id = ${shopId} and backorder_line.product_id = any (${productIds}::uuid[])
      and backorder_line.is_untold
    order by backorder_line.order_id, backorder_line.line_item_id limit ${TOLD_AT_ONCE}`);
}

/** One email to each order, with its lines of the same day; none about an order that was cancelled, or whose customer was erased. */
function emailsOf(lines: readonly NoticedLine[], settings: Settings) {
  const open = lines.filter(({ erasedAt, cancelledAt }) => !erasedAt && !cancelledAt);
  const byOrder = new Map<string, NoticedLine[]>();
  for (const line of open) {
    const key = `${line.orderId} ${line.date}`;
    byOrder.set(key, [...(byOrder.get(key) ?? []), line]);
  }
  return [...byOrder.values()].flatMap((own) => {
    const { orderId, orderNumber, locale, billingAddress, date } = own[0]!;
    const goods = own.flatMap(({ line, quantity }) =>
      line ? [lineText(line, quantity, locale, settings)] : [],
    );
    const to = billingAddress.emailAddress;
    return to && goods.length > 0 ? [{ to, locale, date, facts: { orderId, orderNumber, goods } }] : [];
  });
}
