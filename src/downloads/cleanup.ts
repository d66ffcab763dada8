import { sql } from '../db/sql.ts';
import type { CleanupStep } from '../platform/cleanup.ts';
import { addMedia } from '../platform/media/quota.ts';

interface Orphan {
  shopId: string;
  fileId: string;
  bytes: number;
}

/**
 * Removes files of products that no longer exist and that nobody has bought, and the free keys of such products. What was
 * bought stays. The bytes are removed with the other files that no row names.
 */
export const downloadCleanup: CleanupStep = {
  name: 'downloads',
  every: 24 * 3_600_000,
  run: async (db, limit) => {
    const files = await db.many<Orphan>(sql`
      select file.shop_id as "shopId", upper(file.file_id::text) as "fileId", file.bytes
      from download_file file
      where not exists (
          select from product where product.shop_id = file.shop_id and product.product_id = file.product_id)
        and not exists (
          select from download_delivery bought
          where bought.shop_id = file.shop_id and bought.product_id = file.product_id)
      limit ${limit}`);
    for (const { shopId, fileId, bytes } of files) {
      await db.transaction(async (tx) => {
        const deleted = await tx.run(
          sql`delete from download_file where shop_id = ${shopId} and file_id = ${fileId}`,
        );
        if (deleted > 0) await addMedia(tx, shopId, -bytes);
      });
    }
    const keys = await db.many<{ shopId: string; keyId: string }>(sql`
      select free.shop_id as "shopId", upper(free.key_id::text) as "keyId"
      from licence_key free
      where free.order_id is null and not exists (
        select from product where product.shop_id = free.shop_id and product.product_id = free.product_id)
      limit ${limit}`);
    if (keys.length > 0) {
      await db.run(sql`
        delete from licence_key
        using unnest(${keys.map(({ shopId }) => shopId)}::text[], ${keys.map(({ keyId }) => keyId)}::uuid[])
          as old (shop_id, key_id)
        where licence_key.shop_id = old.shop_id and licence_key.key_id = old.key_id
          and licence_key.order_id is null`);
    }
    return Math.max(files.length, keys.length);
  },
};
