import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/** How a product is delivered. */
export interface DigitalProduct {
  productId: string;
  hasKeys: boolean;
  maxDownloads: number | null;
  days: number | null;
  fewKeys: number;
  isWarned: boolean;
  hasFiles: boolean;
}

const productColumns = (shopId: string) => sql`
  upper(product_id::text) as "productId", has_keys as "hasKeys", max_downloads as "maxDownloads", days,
  few_keys as "fewKeys", is_warned as "isWarned", exists (
    select from download_file
    where download_file.shop_id = ${shopId} and download_file.product_id = digital_product.product_id
  ) as "hasFiles"`;

export function findDigitalProducts(db: Queries, shopId: string, productIds: readonly string[]) {
  return db.many<DigitalProduct>(sql`
    select ${productColumns(shopId)} from digital_product
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])`);
}

export async function findDigitalProduct(
  db: Queries,
  shopId: string,
  productId: string,
): Promise<DigitalProduct | undefined> {
  return (await findDigitalProducts(db, shopId, [productId]))[0];
}

/** New files and keys of a product wait here for each other. */
export function lockDigitalProduct(tx: Transaction, shopId: string, productId: string) {
  return tx.one<DigitalProduct>(sql`
    select ${productColumns(shopId)} from digital_product
    where shop_id = ${shopId} and product_id = ${productId} for no key update`);
}

export function saveDigitalProduct(
  tx: Transaction,
  shopId: string,
  { productId, hasKeys, maxDownloads, days, fewKeys }: Omit<DigitalProduct, 'isWarned' | 'hasFiles'>,
) {
  return tx.run(sql`
    insert into digital_product (shop_id, product_id, has_keys, max_downloads, days, few_keys)
    values (${shopId}, ${productId}, ${hasKeys}, ${maxDownloads}, ${days}, ${fewKeys})
    on conflict (shop_id, product_id) do update set has_keys = excluded.has_keys,
      max_downloads = excluded.max_downloads, days = excluded.days, few_keys = excluded.few_keys`);
}

/** From now on each piece that is sold gets a key. */
export function switchToKeys(tx: Transaction, shopId: string, productId: string) {
  return tx.run(sql`
    update digital_product set has_keys = true
    where shop_id = ${shopId} and product_id = ${productId} and not has_keys`);
}

/** false: the other value is there already. */
export async function setWarned(
  tx: Transaction,
  shopId: string,
  productId: string,
  isWarned: boolean,
): Promise<boolean> {
  const changed = await tx.run(sql`
    update digital_product set is_warned = ${isWarned}
    where shop_id = ${shopId} and product_id = ${productId} and is_warned <> ${isWarned}`);
  return changed > 0;
}

export interface DownloadFile {
  fileId: string;
  productId: string;
  name: string;
  note: string | null;
  version: number;
  storageKey: string;
  bytes: number;
  sha256: string;
  createdAt: Date;
  changedAt: Date;
}

const fileColumns = sql`
  upper(file_id::text) as "fileId", upper(product_id::text) as "productId", name, note, version,
  upper(storage_key::text) as "storageKey", bytes, sha256, created_at as "createdAt", changed_at as "changedAt"`;

export function findDownloadFiles(db: Queries, shopId: string, productIds: readonly string[]) {
  return db.many<DownloadFile>(sql`
    select ${fileColumns} from download_file
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[]) order by product_id, file_id`);
}

export function findFile(db: Queries, shopId: string, fileId: string) {
  return db.one<DownloadFile>(sql`
    select ${fileColumns} from download_file where shop_id = ${shopId} and file_id = ${fileId}`);
}

export function lockFile(tx: Transaction, shopId: string, fileId: string) {
  return tx.one<DownloadFile>(sql`
    select ${fileColumns} from download_file where shop_id = ${shopId} and file_id = ${fileId} for no key update`);
}

export function insertFile(tx: Transaction, shopId: string, file: DownloadFile) {
  const { fileId, productId, name, note, version, storageKey, bytes, sha256, createdAt, changedAt } = file;
  return tx.run(sql`
    insert into download_file (shop_id, file_id, product_id, name, note, version, storage_key, bytes, sha256, created_at,
      changed_at)
    values (${shopId}, ${fileId}, ${productId}, ${name}, ${note}, ${version}, ${storageKey}, ${bytes}, ${sha256},
      ${createdAt}, ${changedAt})`);
}

export function updateFile(tx: Transaction, shopId: string, file: DownloadFile) {
  const { fileId, name, note, version, storageKey, bytes, sha256, changedAt } = file;
  return tx.run(sql`
    update download_file set name = ${name}, note = ${note}, version = ${version}, storage_key = ${storageKey},
      bytes = ${bytes}, sha256 = ${sha256}, changed_at = ${changedAt}
    where shop_id = ${shopId} and file_id = ${fileId}`);
}

const FIRST = '00000000-0000-0000-0000-000000000000';

/** Tells earlier buyers of the version, from the first one on. */
export const tellBuyers = (tx: Transaction, shopId: string, fileId: string) =>
  moveTold(tx, shopId, fileId, FIRST);

export function updateNote(tx: Transaction, shopId: string, fileId: string, note: string | null) {
  return tx.run(sql`
    update download_file set note = ${note} where shop_id = ${shopId} and file_id = ${fileId}`);
}

/** A file of which buyers are being told; another transaction that tells of it is waited for. */
export function lockToldFile(tx: Transaction, shopId: string) {
  return tx.one<DownloadFile & { toldUntil: string }>(sql`
    select ${fileColumns}, upper(told_until::text) as "toldUntil" from download_file
    where shop_id = ${shopId} and told_until is not null order by file_id limit 1 for no key update`);
}

/** null: all buyers are told. */
export function moveTold(tx: Transaction, shopId: string, fileId: string, toldUntil: string | null) {
  return tx.run(sql`
    update download_file set told_until = ${toldUntil} where shop_id = ${shopId} and file_id = ${fileId}`);
}

export function deleteFile(tx: Transaction, shopId: string, fileId: string) {
  return tx.run(sql`delete from download_file where shop_id = ${shopId} and file_id = ${fileId}`);
}

/** The first one of a shop: from now on its events are read. */
export function startDownloadRun(tx: Transaction, shopId: string) {
  return tx.run(sql`
    insert into download_run (shop_id, position)
    select shop.shop_id, coalesce((
        select value from counter where counter.shop_id = ${shopId} and counter.name = 'event'), 0)
    from shop where shop.shop_id = ${shopId}
    on conflict (shop_id) do nothing`);
}
