import path from 'node:path';
import type { Config } from '../../config.ts';
import { openFolderStorage } from './folder-storage.ts';
import { openS3Storage } from './s3-storage.ts';
import type { MediaStorage } from './storage.ts';

/** The configured storage. The modules for an S3 store are loaded only for one. */
export function openMediaStorage({ MEDIA_URL, KONTOR_DATA }: Config): MediaStorage {
  return MEDIA_URL === undefined
    ? openFolderStorage(path.resolve(KONTOR_DATA, 'media'))
    : openS3Storage(MEDIA_URL);
}
