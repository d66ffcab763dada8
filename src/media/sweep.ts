import type { Dir, Dirent } from 'node:fs';
import { lstat, opendir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config.ts';
import type { Database, Queries } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { uploadFolder } from '../http/upload.ts';
import { findShop } from '../shop/queries.ts';
import { isImageFolder, isMissing, isShopFolder, mediaFolder, removeFolders } from './storage.ts';

const HOUR = 3_600_000;
const BATCH = 500;

/**
 * Removes what a process left behind that died between writing files and committing their row, or between
 * deleting a row and removing its files. An upload takes seconds: what is an hour old belongs to nobody.
 */
export async function sweepMedia(db: Database, config: Config, log: FastifyBaseLogger): Promise<void> {
  const before = db.now.getTime() - HOUR;
  let removed = 0;
  const uploads = uploadFolder(config);
  for await (const entry of entriesOf(uploads)) {
    if (!(await isOlder(path.join(uploads, entry.name), before))) continue;
    await rm(path.join(uploads, entry.name), { recursive: true, force: true });
    removed++;
  }
  for await (const { name: shopId } of entriesOf(mediaFolder(config))) {
    // A shop that is unknown here may be one of another database, whose images must not go.
    if (!isShopFolder(shopId) || !(await findShop(db, shopId))) continue;
    const folder = path.join(mediaFolder(config), shopId);
    let keys: string[] = [];
    const removeUnnamed = async () => {
      const named = await namedKeys(db, shopId, keys);
      const unnamed = keys.filter((key) => !named.has(key));
      await removeFolders(config, shopId, unnamed);
      removed += unnamed.length;
      keys = [];
    };
    for await (const { name } of entriesOf(folder)) {
      if (isImageFolder(name) && (await isOlder(path.join(folder, name), before))) keys.push(name);
      if (keys.length === BATCH) await removeUnnamed();
    }
    if (keys.length > 0) await removeUnnamed();
  }
  if (removed > 0) log.info({ removed }, 'removed files of images that nobody has');
}

/** Of these keys the ones that a row names. */
async function namedKeys(db: Queries, shopId: string, keys: readonly string[]): Promise<Set<string>> {
  const rows = await db.many<{ key: string }>(sql`
    select upper(image_key::text) as key from product_image
    where shop_id = ${shopId} and image_key = any (${keys}::uuid[])
    union all
    select upper(image_key::text) from category
    where shop_id = ${shopId} and image_key = any (${keys}::uuid[])`);
  return new Set(rows.map(({ key }) => key));
}

/** Read bit by bit, because a shop may have a million images. Nothing, where the folder does not exist. */
async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  let opened: Dir;
  try {
    opened = await opendir(folder);
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  yield* opened;
}

/** Another process may sweep the same folder. */
async function isOlder(place: string, before: number): Promise<boolean> {
  try {
    return (await lstat(place)).mtimeMs < before;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
