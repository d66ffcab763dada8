import { productVersions } from '../pricing/cart-product-cache.ts';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/**
 * The current versions of the settings and of these products; a deleted shop has none. It locks the row of the shop as
 * an insert does, because that row must not be locked after the counter of events.
 */
export async function lockVersions(tx: Transaction, shopId: string, productIds: readonly string[]) {
  const row = await tx.one<{ settingsVersion: number; productVersions: string[] }>(sql`
    select settings_version as "settingsVersion", ${productVersions(shopId, productIds)} as "productVersions"
    from shop where shop_id = ${shopId} for key share`);
  return row ?? { settingsVersion: 0, productVersions: [] };
}
