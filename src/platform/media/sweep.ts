import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../config.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { uploadFolder } from '../../http/upload.ts';
import type { CleanupStep } from '../cleanup.ts';
import { entriesOf, isOlder } from './folder-storage.ts';
import type { ImageFolder, MediaStorage } from './storage.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/**
 * Removes files left over by a process that died between writing files and committing their row, or between deleting a
 * row and removing its files. An upload takes seconds, so files an hour old are orphans. Only a walk through all
 * folders finds these files, so it runs once a day, and asks the database about many folders at once, of any shops.
 */
export function mediaCleanup(
  media: MediaStorage,
  { config, log }: { config: Config; log: FastifyBaseLogger },
): CleanupStep {
  /** The position of the walk: the steps of one clean-up follow each other. */
  let walk: AsyncGenerator<ImageFolder> | undefined;
  return {
    name: 'media',
    every: DAY,
    run: async (db, limit) => {
      const before = new Date(db.now.getTime() - HOUR);
      if (!walk) {
        const removed = await removeUploads(config, before);
        if (removed > 0) log.info({ removed }, 'removed uploads that were not finished');
        walk = media.foldersBefore(before);
      }
      try {
        const folders = await takeFrom(walk, limit);
        const unnamed = await findUnnamed(db, folders);
        for (const shopId of new Set(unnamed.map((folder) => folder.shopId))) {
          const keys = unnamed.filter((folder) => folder.shopId === shopId).map(({ imageKey }) => imageKey);
          await media.removeFolders(shopId, keys);
        }
        if (unnamed.length > 0)
          log.info({ removed: unnamed.length }, 'removed files of images that nobody has');
        if (folders.length < limit) walk = undefined;
        return folders.length;
      } catch (error) {
        walk = undefined;
        throw error;
      }
    },
  };
}

async function removeUploads(config: Config, before: Date): Promise<number> {
  const uploads = uploadFolder(config);
  let removed = 0;
  for await (const { name } of entriesOf(uploads)) {
    if (!(await isOlder(path.join(uploads, name), before))) continue;
    await rm(path.join(uploads, name), { recursive: true, force: true });
    removed++;
  }
  return removed;
}

async function takeFrom<Item>(items: AsyncGenerator<Item>, limit: number): Promise<Item[]> {
  const taken: Item[] = [];
  while (taken.length < limit) {
    const { done, value } = await items.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
}

/**
 * Those of these folders that no row names. The folder of an unknown shop may belong to another database, whose images
 * must stay.
 */
async function findUnnamed(db: Queries, folders: readonly ImageFolder[]): Promise<ImageFolder[]> {
  const keys = new Map<string, string[]>();
  for (const { shopId, imageKey } of folders) keys.set(shopId, [...(keys.get(shopId) ?? []), imageKey]);
  const unnamed: ImageFolder[] = [];
  for (const [shopId, imageKeys] of keys) unnamed.push(...(await findUnnamedOf(db, shopId, imageKeys)));
  return unnamed;
}

/**
 * A logo and the picture of the front page are named by the settings, and by each of their earlier states, which can be
 * restored, the pictures of pages by the versions of them, those of mailings by their texts, and the parts of downloads
 * by their files. Subqueries that count are answered from an index, folder
 * by folder; joins could read whole tables.
 */
function findUnnamedOf(db: Queries, shopId: string, imageKeys: readonly string[]) {
  return db.many<ImageFolder>(sql`
    select shop.shop_id as "shopId", upper(folder.image_key::text) as "imageKey"
    from shop cross join unnest(${imageKeys}::uuid[]) as folder (image_key)
    where shop.shop_id = ${shopId}
      and (
        select count(*) from product_image image
        where image.shop_id = ${shopId} and image.image_key = folder.image_key) = 0
      and (
        select count(*) from category
        where category.shop_id = ${shopId} and category.image_key = folder.image_key) = 0
      and (
        select count(*) from library_image library
        where library.shop_id = ${shopId} and library.image_key = folder.image_key) = 0
      and strpos(
        concat(shop.settings ->> 'logoUrl', ' ', shop.settings #>> '{home,picture}'), upper(folder.image_key::text)) = 0
      and (
        select count(*) from settings_version
        where settings_version.shop_id = ${shopId}
          and strpos(
            concat(settings_version.file ->> 'logoUrl', ' ', settings_version.file #>> '{home,picture}'),
            upper(folder.image_key::text)) > 0) = 0
      and (
        select count(*) from page_version
        where page_version.shop_id = ${shopId} and page_version.image_keys @> array[folder.image_key]) = 0
      and (
        select count(*) from mailing_text
        where mailing_text.shop_id = ${shopId} and mailing_text.image_keys @> array[folder.image_key]) = 0
      and (
        select count(*) from download_file
        where download_file.shop_id = ${shopId} and download_file.storage_key = folder.image_key) = 0`);
}
