import { randomUUID } from 'node:crypto';
import { constants, type Dir, type Dirent } from 'node:fs';
import { access, lstat, mkdir, open, opendir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  isImageFolder,
  isMediaName,
  isShopFolder,
  mediaNames,
  type MediaName,
  type MediaStorage,
} from './storage.ts';

/** Files in a folder of this machine, or in one that several machines share. */
export function openFolderStorage(root: string): MediaStorage {
  const placeOf = ({ shopId, folder, file }: MediaName) => path.join(root, shopId, folder, file);

  return {
    async problem() {
      try {
        await mkdir(root, { recursive: true });
        await access(root, constants.R_OK | constants.W_OK);
        return undefined;
      } catch (error) {
        return `the folder ${root} can't be written: ${(error as Error).message}`;
      }
    },

    async find(name) {
      const found = await orMissing(lstat(placeOf(name)));
      // Links in the folder are not served.
      return found?.isFile() ? { size: found.size, modifiedAt: found.mtime } : undefined;
    },

    async read(name, range = { start: 0, end: Infinity }) {
      const file = await orMissing(open(placeOf(name), constants.O_RDONLY | constants.O_NOFOLLOW));
      return file?.createReadStream(range);
    },

    async write(shopId, folder, files) {
      const names = mediaNames(shopId, folder, files);
      await mkdir(path.join(root, shopId, folder), { recursive: true });
      await Promise.all(
        names.map(async (name, index) => {
          // Served files never begin with a dot, so an incomplete file is never visible.
          const draft = path.join(root, shopId, folder, `.${randomUUID()}`);
          await writeFile(draft, files[index]!.bytes, { flag: 'wx', flush: true });
          await rename(draft, placeOf(name));
        }),
      );
    },

    async removeFolders(shopId, folders) {
      await Promise.all(
        folders.map((folder) =>
          rm(path.join(root, shopId, folder.toUpperCase()), { recursive: true, force: true }),
        ),
      );
    },

    removeShop: (shopId) => rm(path.join(root, shopId), { recursive: true, force: true }),

    async *files(shopId) {
      for await (const { name: folder } of entriesOf(path.join(root, shopId))) {
        for await (const { name: file } of entriesOf(path.join(root, shopId, folder))) {
          const name = { shopId, folder, file };
          if (isMediaName(name)) yield name;
        }
      }
    },

    async *foldersBefore(time) {
      for await (const { name: shopId } of entriesOf(root)) {
        if (!isShopFolder(shopId)) continue;
        for await (const { name: imageKey } of entriesOf(path.join(root, shopId))) {
          if (isImageFolder(imageKey) && (await isOlder(path.join(root, shopId, imageKey), time))) {
            yield { shopId, imageKey };
          }
        }
      }
    },
  };
}

/** Read entry by entry, because a shop may have a million images. Empty if the folder does not exist. */
export async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  const opened: Dir | undefined = await orMissing(opendir(folder));
  if (opened) yield* opened;
}

/** Another process may remove it meanwhile. */
export async function isOlder(place: string, time: Date): Promise<boolean> {
  const found = await orMissing(lstat(place));
  return found !== undefined && found.mtimeMs < time.getTime();
}

/** undefined: another process removed it, or it never existed. */
async function orMissing<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined;
    throw error;
  }
}
