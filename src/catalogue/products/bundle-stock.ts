import type { Transaction } from '../../db/database.ts';
import { queueAvailabilityNotifications } from './availability-notifications.ts';
import { refreshBundleStock } from './bundles.ts';
import { isBackInStock } from './orderable.ts';
import { stampChangedProducts } from './product-events.ts';

/** Brings the stock of locked bundles up to date, with all that follows: emails to those who wait, lists of changed products. */
export async function refreshStockOfBundles(
  tx: Transaction,
  shopId: string,
  bundleIds: readonly string[],
): Promise<void> {
  const changed = await refreshBundleStock(tx, shopId, bundleIds, tx.now);
  const ids = changed.map(({ productId }) => productId);
  stampChangedProducts(tx, shopId, ids, 'stock');
  const back = changed.filter(({ before, after }) => isBackInStock(before, after));
  const backIds = back.map(({ productId }) => productId);
  if (backIds.length > 0) await queueAvailabilityNotifications(tx, shopId, backIds);
}
