import { opendir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.ts';
import { isMissing, mediaFolder, mediaPath, writeFiles } from '../../platform/media/storage.ts';

/** A media file of a shop: `folder` is the key of an image, or the folder of logos and the like. */
export interface MediaName {
  folder: string;
  file: string;
}

/** The media files of a shop, read bit by bit, because there may be a million. */
export async function* listMediaFiles(config: Config, shopId: string): AsyncGenerator<MediaName> {
  for await (const folder of namesIn(path.join(mediaFolder(config), shopId))) {
    for await (const file of namesIn(path.join(mediaFolder(config), shopId, folder))) {
      if (mediaPath(config, shopId, folder, file) !== undefined) yield { folder, file };
    }
  }
}

/** undefined: it has been removed meanwhile. An image is small enough to be held as a whole. */
export async function readMediaFile(
  config: Config,
  shopId: string,
  { folder, file }: MediaName,
): Promise<Buffer | undefined> {
  return readFile(mediaPath(config, shopId, folder, file)!).catch(ignoreMissing);
}

/** On disk when this returns. Throws where such a file is already. */
export function writeMediaFile(
  config: Config,
  shopId: string,
  { folder, file }: MediaName,
  bytes: Uint8Array,
): Promise<void> {
  return writeFiles(config, shopId, folder, [{ file, bytes }]);
}

export async function hasMediaFiles(config: Config, shopId: string): Promise<boolean> {
  for await (const _ of listMediaFiles(config, shopId)) return true;
  return false;
}

/** Nothing, where the folder does not exist. */
async function* namesIn(folder: string): AsyncGenerator<string> {
  const opened = await opendir(folder).catch(ignoreMissing);
  if (!opened) return;
  for await (const { name } of opened) yield name;
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
