import path from 'node:path';
import type { Readable } from 'node:stream';

/**
 * Storage of image files: a folder of this machine or an S3-compatible store, as configured (`openMediaStorage`). Both
 * hold the same names: <shop>/<folder>/<file>. No part of a name is chosen by a client: the shop exists, the folder is
 * the key of an image, the name of the file is made safe.
 */
export interface MediaStorage {
  /** Why files can't be stored, in words for the operator, such as a wrong bucket name; undefined: they can. */
  problem(): Promise<string | undefined>;
  /** undefined: there is no such file. */
  find(name: MediaName): Promise<StoredFile | undefined>;
  /** The whole file, or a complete part of it; undefined: it has been removed meanwhile. */
  read(name: MediaName, range?: ByteRange): Promise<Readable | undefined>;
  /** Every file is complete or absent, and survives a power cut once this returns. */
  write(shopId: string, folder: string, files: readonly NewFile[]): Promise<void>;
  /** Folders that no longer exist do not matter. */
  removeFolders(shopId: string, folders: readonly string[]): Promise<void>;
  removeShop(shopId: string): Promise<void>;
  /** All files of a shop, read page by page. */
  files(shopId: string): AsyncGenerator<MediaName>;
  /** The folders of images without a write since then, read page by page. */
  foldersBefore(time: Date): AsyncGenerator<ImageFolder>;
}

export interface MediaName {
  shopId: string;
  folder: string;
  file: string;
}

export interface StoredFile {
  size: number;
  modifiedAt: Date;
}

/** The first and the last byte. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface NewFile {
  file: string;
  bytes: Uint8Array;
}

export interface ImageFolder {
  shopId: string;
  imageKey: string;
}

const SHOP = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;
const KEY = /^[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}$/;
const FILE = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}\.(?:png|jpg|jpeg|gif|ico|pdf|part)$/;
const PRIVATE = '.part';

/** In place of a key: files that are not pictures of a product or a category, such as a logo. It is not swept. */
export const OTHER_FILES = 'files';

export const isShopFolder = (name: string) => SHOP.test(name);
export const isImageFolder = (name: string) => KEY.test(name);

/** Whether it is a name that we could have written. */
export function isMediaName({ shopId, folder, file }: MediaName): boolean {
  return SHOP.test(shopId) && (KEY.test(folder) || folder === OTHER_FILES) && FILE.test(file);
}

/** A part of a file that is not public. */
export const privatePart = (index: number) => `${String(index).padStart(5, '0')}${PRIVATE}`;

/** What `/media` serves to everybody. */
export const isPublicName = (name: MediaName) => isMediaName(name) && !name.file.endsWith(PRIVATE);

/** The names of new files; throws at the first invalid one. */
export function mediaNames(shopId: string, folder: string, files: readonly NewFile[]): MediaName[] {
  return files.map(({ file }) => {
    const name = { shopId, folder, file };
    if (!isMediaName(name)) throw new Error('An image has a place that is not one of ours');
    return name;
  });
}

const TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.ico': 'image/x-icon',
  '.pdf': 'application/pdf',
  [PRIVATE]: 'application/octet-stream',
};

/** The media type of a file with such a name. */
export function mediaType(file: string): string {
  return TYPES[path.extname(file)]!;
}

/** A file never changes, so browsers and proxies may keep it as long as they like, unless it is private. */
export const CACHE_CONTROL = 'public, max-age=31536000, immutable';
