import type { Config } from '../../config.ts';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { HttpError, Refusal } from '../../http/errors.ts';
import { limitOf, planLimitReached } from '../plans/limits.ts';
import { CLASSIFIERS, type ImageSizes } from './images.ts';

/**
 * The bytes of all images of a shop's products, of its categories and of its media library are a counter of the shop.
 * Code that inserts or deletes images changes it in the same transaction, so it is exact, and nothing is ever added up.
 */

const MEGABYTE = 1_048_576;

/** Bytes of all sizes of these images. */
export function bytesOf(images: readonly { sizes: ImageSizes }[]): number {
  const files = images.flatMap(({ sizes }) => CLASSIFIERS.map((classifier) => sizes[classifier]));
  return files.reduce((sum, file) => sum + (file?.bytes ?? 0), 0);
}

/** The bytes that the images of a shop may take: of the installation, or of its plan where that is less. */
async function quotaOf(db: Queries, config: Config, shopId: string) {
  const quota = config.MEDIA_QUOTA_MB === 0 ? Number.MAX_SAFE_INTEGER : config.MEDIA_QUOTA_MB * MEGABYTE;
  const found = await limitOf({ db, config }, shopId, 'mediaMegabytes');
  if (!found || found.limit * MEGABYTE >= quota) return { bytes: quota, refusal: () => fullMedia(config) };
  const { limit, plan } = found;
  return { bytes: limit * MEGABYTE, refusal: () => planLimitReached('mediaMegabytes', limit, plan) };
}

/** Checked before an image is scaled, which is the costly part; the transaction decides. */
export async function refuseFullMedia(db: Queries, config: Config, shopId: string): Promise<void> {
  if (config.MEDIA_QUOTA_MB === 0 && config.PLANS_FILE === undefined) return;
  const { bytes, refusal } = await quotaOf(db, config, shopId);
  const row = await db.one<{ value: number }>(sql`
    select value from counter where shop_id = ${shopId} and name = 'mediaBytes'`);
  if (row && row.value >= bytes) throw refusal();
}

/** Counts the bytes of a new image; refused when the shop has no space left for it. */
export async function takeMedia(
  tx: Transaction,
  config: Config,
  shopId: string,
  bytes: number,
): Promise<void> {
  const quota = await quotaOf(tx, config, shopId);
  const counted = await tx.run(sql`
    update counter set value = value + ${bytes}
    where shop_id = ${shopId} and name = 'mediaBytes' and value + ${bytes}::bigint <= ${quota.bytes}`);
  if (counted === 0) throw quota.refusal();
}

/** Counts images that were added without this check, such as those of the demo shop, or deleted (below 0). */
export async function addMedia(tx: Transaction, shopId: string, bytes: number): Promise<void> {
  if (bytes === 0) return;
  await tx.run(sql`
    update counter set value = value + ${bytes} where shop_id = ${shopId} and name = 'mediaBytes'`);
}

function fullMedia({ MEDIA_QUOTA_MB }: Config): HttpError {
  return new Refusal('IMAGE_QUOTA_REACHED', { limit: MEDIA_QUOTA_MB });
}
