import type { Queries } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import { section, type Person, type PersonalData } from '../platform/personal-data.ts';

/**
 * What a customer has bought as files and keys. An erasure closes it: nobody has the link to the order any more. Which key
 * was given stays known, without a person, so that it is never given again.
 */
export const downloadPersonalData: PersonalData = {
  sections: {
    downloads: section(
      'Files and licence keys of orders, and when files were downloaded. Keys are on the order page.',
      findDownloads,
    ),
  },
  counts: {
    downloadsClosed: 'Lines of orders with files or licence keys that can no longer be used.',
  },
  erase: async (tx, shopId, person) => {
    await tx.run(sql`
      delete from download_use where shop_id = ${shopId} and order_id in (${ordersOf(shopId, person)})`);
    const downloadsClosed = await tx.run(sql`
      update download_delivery
      set revoked_at = coalesce(revoked_at, ${tx.now}), keys_waiting = 0, begins_at = null
      where shop_id = ${shopId} and order_id in (${ordersOf(shopId, person)})`);
    return { counts: { downloadsClosed } };
  },
};

const ordersOf = (shopId: string, { customerId }: Person): Sql =>
  sql`select order_id from customer_order where shop_id = ${shopId} and customer_id = ${customerId}`;

function findDownloads(db: Queries, shopId: string, person: Person) {
  return db.many<object>(sql`
    select upper(order_id::text) as "orderId", upper(line_item_id::text) as "lineItemId",
      upper(product_id::text) as "productId", delivered_at as "deliveredOn", revoked_at as "revokedOn", (
        select count(*) from licence_key
        where licence_key.shop_id = ${shopId} and licence_key.order_id = download_delivery.order_id
          and licence_key.line_item_id = download_delivery.line_item_id
      ) as "licenceKeys", (
        select coalesce(json_agg(json_build_object(
          'fileId', upper(file_id::text), 'downloads', downloads, 'lastOn', last_at) order by file_id), '[]')
        from download_use
        where download_use.shop_id = ${shopId} and download_use.order_id = download_delivery.order_id
          and download_use.line_item_id = download_delivery.line_item_id
      ) as files
    from download_delivery
    where shop_id = ${shopId} and order_id in (${ordersOf(shopId, person)}) order by order_id, line_item_id`);
}
