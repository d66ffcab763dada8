import type { Transaction } from '../db/database.ts';
import { notFound, Refusal } from '../http/errors.ts';
import { lockOrderWithActivity } from '../orders/change.ts';
import { countDownload } from './delivery-queries.ts';
import type { DownloadGrant } from './links.ts';
import { loadPurchase, type PurchasedFile, type PurchasedItem } from './purchase.ts';

/** The file of a purchase; undefined: the purchase has no such file. */
export function purchasedFile(
  items: readonly PurchasedItem[],
  { lineItemId, fileId }: Pick<DownloadGrant, 'lineItemId' | 'fileId'>,
): (PurchasedFile & { item: PurchasedItem }) | undefined {
  const item = items.find(({ line }) => line.lineItemId === lineItemId);
  const found = item?.files.find(({ file }) => file.fileId === fileId);
  return item && found && { ...found, item };
}

/** Counts a download of a purchase, and grants it. Refused when it has ended, or all downloads are used up. */
export async function takeDownload(
  tx: Transaction,
  shopId: string,
  { orderId, lineItemId, fileId }: Omit<DownloadGrant, 'version'>,
): Promise<DownloadGrant> {
  const locked = await lockOrderWithActivity(tx, shopId, orderId);
  if (!locked || locked.order.erasedAt) throw notFound();
  const items = await loadPurchase(tx, shopId, { ...locked, key: undefined });
  const found = purchasedFile(items, { lineItemId, fileId });
  if (!found) throw notFound();
  if (!found.item.areFilesOpen) throw new Refusal('DOWNLOAD_ENDED');
  if (!(await countDownload(tx, shopId, found.item.delivery, fileId))) throw new Refusal('DOWNLOADS_USED_UP');
  return { orderId, lineItemId, fileId, version: found.file.version };
}
