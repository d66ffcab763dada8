import type { Queries, Transaction } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import type { ProductKind } from './facts.ts';

export function findKind(db: Queries, shopId: string, productId: string) {
  return db.one<{ kind: ProductKind }>(
    sql`select kind from product where shop_id = ${shopId} and product_id = ${productId}`,
  );
}

/** The table `watcher` holds one request per product and address; the locale is that of the last request. */
export function insertNotificationRequest(
  tx: Transaction,
  shopId: string,
  request: { productId: string; email: string; locale: string },
) {
  return tx.run(sql`
    insert into watcher (shop_id, product_id, email, locale, created_at)
    values (${shopId}, ${request.productId}, lower(${request.email}), ${request.locale}, ${tx.now})
    on conflict (shop_id, product_id, email) do update set locale = excluded.locale`);
}

/** The name of a product in a locale. A variation without a name has its master's; without any, the number is used. */
const nameIn = (locale: Sql, defaultLocale: Sql) => sql`
  coalesce(product.facts -> 'name' ->> ${locale}, product.facts -> 'name' ->> ${defaultLocale},
    master.facts -> 'name' ->> ${locale}, master.facts -> 'name' ->> ${defaultLocale}, product.product_number)`;

export interface NotificationRequest {
  email: string;
  locale: string;
  productName: string;
  productNumber: string;
}

/**
 * Deletes and returns the requests for those of the products that can be bought now, so that two transactions that
 * both see a product come back never notify a person twice.
 */
export async function takeNotificationRequests(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
): Promise<NotificationRequest[]> {
  const taken = await tx.many<{ productId: string; email: string; locale: string }>(sql`
    delete from watcher using product
    where watcher.shop_id = ${shopId} and watcher.product_id = any (${productIds}::uuid[])
      and product.shop_id = ${shopId} and product.product_id = watcher.product_id
      and (product.stock is null or product.stock > 0)
    returning watcher.product_id as "productId", watcher.email, watcher.locale`);
  if (taken.length === 0) return [];
  return tx.many<NotificationRequest>(sql`
    select taken.email, taken.locale, product.product_number as "productNumber",
      ${nameIn(sql`taken.locale`, sql`shop.default_locale`)} as "productName"
    from jsonb_to_recordset(${JSON.stringify(taken)}) as taken ("productId" uuid, email text, locale text)
    join shop on shop.shop_id = ${shopId}
    join product on product.shop_id = ${shopId} and product.product_id = taken."productId"
    left join product master on master.shop_id = ${shopId} and master.product_id = product.master_id
    order by taken."productId", taken.email`);
}

export async function countWatchedProducts(db: Queries, shopId: string): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count
    from (select distinct product_id from watcher where shop_id = ${shopId}) as watched
    join product on product.shop_id = ${shopId} and product.product_id = watched.product_id
    where product.kind <> 'master' and product.stock <= 0`);
  return row!.count;
}

export interface WatchedProductRow {
  productId: string;
  name: string;
  productNumber: string;
  watchers: number;
}

/** The products with the most requests first. */
export function findWatchedProducts(
  db: Queries,
  shopId: string,
  locale: string,
  defaultLocale: string,
  limit: number,
  offset: number,
) {
  return db.many<WatchedProductRow>(sql`
    select upper(product.product_id::text) as "productId",
      ${nameIn(sql`${locale}`, sql`${defaultLocale}`)} collate "und-x-icu" as name,
      product.product_number as "productNumber", watched.watchers
    from (
      select product_id, count(*) as watchers from watcher where shop_id = ${shopId} group by product_id
    ) as watched
    join product on product.shop_id = ${shopId} and product.product_id = watched.product_id
    left join product master on master.shop_id = ${shopId} and master.product_id = product.master_id
    where product.kind <> 'master' and product.stock <= 0
    order by watched.watchers desc, name, product.product_id limit ${limit} offset ${offset}`);
}
