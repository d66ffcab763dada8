import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../db/database.ts';
import { catalogueSql } from '../db/sql.ts';
import { findTablesOfShops, quoted } from '../platform/backup/tables.ts';
import type { CleanupStep } from '../platform/cleanup.ts';
import type { MediaStorage } from '../platform/media/storage.ts';
import { deleteShop } from '../shops/shop/queries.ts';
import { recordHostEvent } from './log.ts';
import { findShopToDelete } from './queries.ts';

const MINUTE = 60_000;

/**
 * Deletes the shops whose time has come, one after the other, in short statements: rows of the last tables first, then
 * the files, then the shop itself with its few remaining rows. A process that ends in between leaves a closed shop
 * with fewer rows, and the next run goes on.
 */
export function shopDeletion(media: MediaStorage, log: FastifyBaseLogger): CleanupStep {
  return {
    name: 'shops to delete',
    every: MINUTE,
    run: async (db, limit) => {
      const shopId = await findShopToDelete(db);
      if (shopId === undefined) return 0;
      if ((await deleteRows(db, shopId, limit)) >= limit) return limit;
      await media.removeShop(shopId);
      const isDeleted = await db.transaction(async (tx) => {
        const deleted = await deleteShop(tx, shopId);
        if (deleted) await recordHostEvent(tx, shopId, 'SHOP_DELETED', null);
        return deleted;
      });
      if (isDeleted) log.info({ shop: shopId }, 'a shop is deleted, as was planned');
      // There may be another one.
      return limit;
    },
  };
}

/** Deletes about `limit` rows of the shop, and returns how many they were; fewer: only the shop's own row is left. */
async function deleteRows(db: Database, shopId: string, limit: number): Promise<number> {
  let deleted = 0;
  // Rows that refer to others come before these.
  for (const { name } of (await findTablesOfShops(db)).toReversed()) {
    // Other work in the background may still count; both go with the shop itself.
    if (name === 'shop' || name === 'counter') continue;
    const table = quoted(name);
    deleted += await db.run(
      catalogueSql(
        [
          `delete from ${table} where shop_id = `,
          ` and ctid = any (array(select ctid from ${table} where shop_id = `,
          ' limit ',
          '))',
        ],
        [shopId, shopId, limit - deleted],
      ),
    );
    if (deleted >= limit) return deleted;
  }
  return deleted;
}
