import path from 'node:path';
import type { Config } from '../../config.ts';
import { openFolderStorage } from './folder-storage.ts';
import { openS3Storage } from './s3-storage.ts';
import type { MediaStorage } from './storage.ts';

/** The storage that the configuration names. What only an S3 store needs is loaded only for one. */
export function openMediaStorage({ MEDIA_URL, KONTOR_DATA }: Config): MediaStorage {
  return MEDIA_URL === undefined
    ? openFolderStorage(path.resolve(KONTOR_DATA, 'media'))
    : openS3Storage(MEDIA_URL);
}
