import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.ts';

/**
 * Where the files of images lie: KONTOR_DATA/media/<shop>/<image key>/<file>. A path is made of these three alone,
 * and none of them is text that a client chose: the shop exists, the key is ours, the file's name is made safe.
 */

const SHOP = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;
const KEY = /^[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}$/;
const FILE = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}\.(?:png|jpg|jpeg|gif|ico|pdf)$/;

/** In the place of a key: what is no picture of a product or a category, such as a logo. It is not swept. */
export const OTHER_FILES = 'files';

export const isShopFolder = (name: string) => SHOP.test(name);
export const isImageFolder = (name: string) => KEY.test(name);

export function mediaFolder({ KONTOR_DATA }: Config): string {
  return path.resolve(KONTOR_DATA, 'media');
}

/** undefined: nothing that we could have written. */
export function mediaPath(
  config: Config,
  shopId: string,
  imageKey: string,
  file: string,
): string | undefined {
  const isFolder = KEY.test(imageKey) || imageKey === OTHER_FILES;
  if (!SHOP.test(shopId) || !isFolder || !FILE.test(file)) return undefined;
  return path.join(mediaFolder(config), shopId, imageKey, file);
}

/** On disk before it is in the database: what was answered with 201 survives a power cut. */
export async function writeFiles(
  config: Config,
  shopId: string,
  imageKey: string,
  files: readonly { file: string; bytes: Uint8Array }[],
): Promise<void> {
  const targets = files.map(({ file, bytes }) => ({
    target: mediaPath(config, shopId, imageKey, file),
    bytes,
  }));
  await mkdir(path.join(mediaFolder(config), shopId, imageKey), { recursive: true });
  await Promise.all(
    targets.map(({ target, bytes }) => {
      if (target === undefined) throw new Error('An image has a place that is not one of ours');
      return writeFile(target, bytes, { flag: 'wx', flush: true });
    }),
  );
}

/** The folders of images that no row names any more. Those that are gone already do not matter. */
export async function removeFolders(
  config: Config,
  shopId: string,
  imageKeys: readonly string[],
): Promise<void> {
  await Promise.all(
    imageKeys.map((key) =>
      rm(path.join(mediaFolder(config), shopId, key.toUpperCase()), { recursive: true, force: true }),
    ),
  );
}

/** After a shop was deleted. */
export async function removeShopFolder(config: Config, shopId: string): Promise<void> {
  await rm(path.join(mediaFolder(config), shopId), { recursive: true, force: true });
}

/** Somebody else removed it, or it never was. */
export function isMissing(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'ENOENT';
}
