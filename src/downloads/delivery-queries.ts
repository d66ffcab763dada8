import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/** What a line of an order has got, or waits for. */
export interface DownloadDelivery {
  orderId: string;
  lineItemId: string;
  productId: string;
  createdAt: Date;
  /** null: it has begun. */
  beginsAt: Date | null;
  deliveredAt: Date | null;
  hasKeys: boolean;
  keysWaiting: number;
  maxDownloads: number | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
}

const columns = sql`
  upper(order_id::text) as "orderId", upper(line_item_id::text) as "lineItemId",
  upper(product_id::text) as "productId", created_at as "createdAt", begins_at as "beginsAt",
  delivered_at as "deliveredAt", has_keys as "hasKeys", keys_waiting as "keysWaiting",
  max_downloads as "maxDownloads", expires_at as "expiresAt", revoked_at as "revokedAt"`;

export function findDownloadDeliveries(db: Queries, shopId: string, orderIds: readonly string[]) {
  return db.many<DownloadDelivery>(sql`
    select ${columns} from download_delivery
    where shop_id = ${shopId} and order_id = any (${orderIds}::uuid[]) order by order_id, line_item_id`);
}

export function saveDelivery(tx: Transaction, shopId: string, delivery: DownloadDelivery) {
  const { orderId, lineItemId, productId, createdAt, beginsAt, deliveredAt, hasKeys, keysWaiting } = delivery;
  const { maxDownloads, expiresAt, revokedAt } = delivery;
  return tx.run(sql`
    insert into download_delivery (shop_id, order_id, line_item_id, product_id, created_at, begins_at, delivered_at,
      has_keys, keys_waiting, max_downloads, expires_at, revoked_at)
    values (${shopId}, ${orderId}, ${lineItemId}, ${productId}, ${createdAt}, ${beginsAt}, ${deliveredAt}, ${hasKeys},
      ${keysWaiting}, ${maxDownloads}, ${expiresAt}, ${revokedAt})
    on conflict (shop_id, order_id, line_item_id) do update set begins_at = excluded.begins_at,
      delivered_at = excluded.delivered_at, keys_waiting = excluded.keys_waiting,
      max_downloads = excluded.max_downloads, expires_at = excluded.expires_at, revoked_at = excluded.revoked_at`);
}

/** Whether an earlier purchase waits for a key of this product: it is served first. */
export async function isQueueBefore(
  db: Queries,
  shopId: string,
  { productId, createdAt, orderId }: Pick<DownloadDelivery, 'productId' | 'createdAt' | 'orderId'>,
): Promise<boolean> {
  const row = await db.one<{ found: boolean }>(sql`
    select exists (
      select from download_delivery
      where shop_id = ${shopId} and product_id = ${productId} and keys_waiting > 0
        and (created_at, order_id) < (${createdAt}::timestamptz, ${orderId}::uuid)) as found`);
  return row!.found;
}

/** The purchase of each product that waits the longest, where keys of it are free. */
export function findServable(db: Queries, shopId: string) {
  return db.many<{ orderId: string }>(sql`
    select distinct on (waiting.product_id) upper(waiting.order_id::text) as "orderId"
    from download_delivery waiting
    where waiting.shop_id = ${shopId} and waiting.keys_waiting > 0
      and exists (
        select from licence_key
        where licence_key.shop_id = ${shopId} and licence_key.product_id = waiting.product_id
          and licence_key.order_id is null)
    order by waiting.product_id, waiting.created_at, waiting.order_id`);
}

/** Of these orders, those that have something to do with downloads. */
export function findConcerned(db: Queries, shopId: string, orderIds: readonly string[]) {
  return db.many<{ orderId: string }>(sql`
    select upper(customer_order.order_id::text) as "orderId" from customer_order
    where customer_order.shop_id = ${shopId} and customer_order.order_id = any (${orderIds}::uuid[])
      and (
        exists (
          select from order_line
          join digital_product on digital_product.shop_id = order_line.shop_id
            and digital_product.product_id = order_line.product_id
          where order_line.shop_id = ${shopId} and order_line.order_id = customer_order.order_id)
        or exists (
          select from download_delivery
          where download_delivery.shop_id = ${shopId} and download_delivery.order_id = customer_order.order_id))
    order by customer_order.created_at, customer_order.order_id`);
}

/** Purchases whose supply waited for the end of the withdrawal period. */
export function findBeginning(db: Queries, shopId: string, now: Date, limit: number) {
  return db.many<{ orderId: string }>(sql`
    select distinct upper(order_id::text) as "orderId" from download_delivery
    where shop_id = ${shopId} and begins_at <= ${now} limit ${limit}`);
}

export interface DownloadUse {
  orderId: string;
  lineItemId: string;
  fileId: string;
  downloads: number;
  lastAt: Date;
}

export function findUses(db: Queries, shopId: string, orderIds: readonly string[]) {
  return db.many<DownloadUse>(sql`
    select upper(order_id::text) as "orderId", upper(line_item_id::text) as "lineItemId",
      upper(file_id::text) as "fileId", downloads, last_at as "lastAt"
    from download_use where shop_id = ${shopId} and order_id = any (${orderIds}::uuid[])`);
}

/** Counts a download; false: the purchase has used all of them. One statement, so two at once do not pass the limit. */
export async function countDownload(
  tx: Transaction,
  shopId: string,
  { orderId, lineItemId, maxDownloads }: Pick<DownloadDelivery, 'orderId' | 'lineItemId' | 'maxDownloads'>,
  fileId: string,
): Promise<boolean> {
  const counted = await tx.run(sql`
    insert into download_use (shop_id, order_id, line_item_id, file_id, downloads, last_at)
    values (${shopId}, ${orderId}, ${lineItemId}, ${fileId}, 1, ${tx.now})
    on conflict (shop_id, order_id, line_item_id, file_id)
    do update set downloads = download_use.downloads + 1, last_at = excluded.last_at
      where download_use.downloads < ${maxDownloads ?? 2_000_000_000}::integer`);
  return counted > 0;
}

export interface ProductBuyer {
  orderId: string;
  orderNumber: string;
  locale: string;
  email: string | null;
}

/** The last purchase of each customer of a product, in the order of the ids: they are told of a new version. */
export function findProductBuyers(
  db: Queries,
  shopId: string,
  productId: string,
  { after, limit }: { after: string; limit: number },
) {
  return db.many<ProductBuyer>(sql`
    select upper(bought.order_id::text) as "orderId", bought.order_number as "orderNumber", bought.locale,
      bought.billing_address ->> 'emailAddress' as email
    from customer_order bought
    where bought.shop_id = ${shopId} and bought.order_id > ${after}::uuid
      and bought.cancelled_at is null and bought.erased_at is null
      and exists (
        select from download_delivery
        where download_delivery.shop_id = ${shopId} and download_delivery.product_id = ${productId}
          and download_delivery.order_id = bought.order_id and download_delivery.delivered_at is not null
          and download_delivery.revoked_at is null)
      and not exists (
        select from download_delivery
        join customer_order later on later.shop_id = download_delivery.shop_id
          and later.order_id = download_delivery.order_id
        where download_delivery.shop_id = ${shopId} and download_delivery.product_id = ${productId}
          and later.customer_id = bought.customer_id and later.order_id > bought.order_id)
    order by bought.order_id limit ${limit}`);
}
