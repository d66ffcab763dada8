import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { addMedia } from '../platform/media/quota.ts';

/**
 * Removes what nobody has bought of a product that was deleted: its free keys, and its files where it was never sold. What
 * was bought stays. The bytes of the files are removed with others that no row names.
 */
export async function removeUnsold(tx: Transaction, shopId: string, productId: string): Promise<void> {
  await tx.run(sql`
    delete from licence_key where shop_id = ${shopId} and product_id = ${productId} and order_id is null`);
  const removed = await tx.many<{ bytes: number }>(sql`
    delete from download_file
    where shop_id = ${shopId} and product_id = ${productId} and not exists (
      select from download_delivery
      where download_delivery.shop_id = ${shopId} and download_delivery.product_id = ${productId})
    returning bytes`);
  await addMedia(tx, shopId, -removed.reduce((sum, { bytes }) => sum + bytes, 0));
}
