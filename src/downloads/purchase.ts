import type { Queries } from '../db/database.ts';
import type { ContentLine } from '../pricing/content.ts';
import type { OrderActivity } from '../orders/manage-queries.ts';
import type { ManagedOrder } from '../orders/queries.ts';
import { findDownloadDeliveries, findUses, type DownloadDelivery } from './delivery-queries.ts';
import { entitledPieces } from './entitlement.ts';
import { findGivenKeys } from './key-queries.ts';
import { unsealKey } from './licence-key.ts';
import { areFilesOpen, isUsable } from './plan.ts';
import { findDownloadFiles, type DownloadFile } from './queries.ts';

/** A line of an order with its files and keys, as they are now. */
export interface PurchasedItem {
  line: ContentLine;
  delivery: DownloadDelivery;
  /** The customer can use it. */
  isOpen: boolean;
  /** Its files can be downloaded. */
  areFilesOpen: boolean;
  files: PurchasedFile[];
  keys: PurchasedKey[];
}

export interface PurchasedFile {
  file: DownloadFile;
  downloads: number;
  lastAt: Date | null;
}

export interface PurchasedKey {
  keyId: string;
  /** The end of it, by which people tell it from others; empty for a short one. */
  lastCharacters: string;
  /** undefined: nobody but the customer may read it, it is revoked, or another installation has sealed it. */
  text: string | undefined;
  isRevoked: boolean;
}

/**
 * What an order has brought, decided from the order as it is at this moment: a refund closes files and keys at once,
 * before anything else is written. `key`: the key of the installation, to read licence keys; undefined: they stay sealed.
 */
export async function loadPurchase(
  db: Queries,
  shopId: string,
  { order, activity, key }: { order: ManagedOrder; activity: OrderActivity; key: Buffer | undefined },
): Promise<PurchasedItem[]> {
  const { orderId } = order;
  const deliveries = await findDownloadDeliveries(db, shopId, [orderId]);
  if (deliveries.length === 0) return [];
  const [files, keys, uses] = await Promise.all([
    findDownloadFiles(
      db,
      shopId,
      deliveries.map(({ productId }) => productId),
    ),
    findGivenKeys(db, shopId, [orderId]),
    findUses(db, shopId, [orderId]),
  ]);
  const pieces = entitledPieces({ order, activity });
  return order.content.lines.flatMap((line): PurchasedItem[] => {
    const delivery = deliveries.find(({ lineItemId }) => lineItemId === line.lineItemId);
    if (!delivery) return [];
    const entitled = pieces.get(line.lineItemId) ?? 0;
    const open = isUsable(delivery, entitled);
    const given = keys.filter(({ lineItemId }) => lineItemId === line.lineItemId);
    const valid = given.filter(({ revokedAt }) => revokedAt === null).slice(0, open ? entitled : 0);
    return [
      {
        line,
        delivery,
        isOpen: open,
        areFilesOpen: areFilesOpen(delivery, entitled, db.now),
        files: files
          .filter(({ productId }) => productId === delivery.productId)
          .map((file) => {
            const use = uses.find((one) => one.lineItemId === line.lineItemId && one.fileId === file.fileId);
            return { file, downloads: use?.downloads ?? 0, lastAt: use?.lastAt ?? null };
          }),
        keys: given.map((one) => ({
          keyId: one.keyId,
          lastCharacters: one.lastCharacters,
          text: key && valid.includes(one) ? unsealKey(key, one.sealed) : undefined,
          isRevoked: !valid.includes(one),
        })),
      },
    ];
  });
}
