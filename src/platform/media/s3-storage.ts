import type { Readable } from 'node:stream';
import { mediaUnavailable } from '../../http/errors.ts';
import { forEach, ofLength, openBucket, orMissing } from '../bucket.ts';
import {
  CACHE_CONTROL,
  isImageFolder,
  isMediaName,
  isPublicName,
  isShopFolder,
  mediaType,
  mediaNames,
  type ImageFolder,
  type MediaName,
  type MediaStorage,
} from './storage.ts';

/** How long the store may take to answer, with all attempts: no client waits longer for an image to begin. */
const MAX_MILLISECONDS = 10_000;
const ANSWER_WITHIN = 4_000;
/** No file of ours is larger: uploads have at most 10 MB, and pictures are made smaller. */
const MAX_FILE_BYTES = 100 * 1_048_576;
/**
 * Files in an S3-compatible store: s3://bucket/prefix?endpoint=https://host&region=name. Credentials are found by the
 * AWS client itself: in the environment, in a profile, or from the machine it runs on.
 */
export function openS3Storage(address: string, patience = MAX_MILLISECONDS): MediaStorage {
  const { bucket, prefix, call, pages, removeAll } = openBucket(address, {
    patience,
    answerWithin: ANSWER_WITHIN,
    unavailable: mediaUnavailable,
  });
  const keyOf = ({ shopId, folder, file }: MediaName) => `${prefix}${shopId}/${folder}/${file}`;

  return {
    async problem() {
      try {
        await call((client, options) =>
          client.listObjectsV2({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 }, options),
        );
        return undefined;
      } catch (error) {
        const { message } = (error as Error).cause as Error;
        return `the bucket ${bucket} can't be used: ${message}`;
      }
    },

    find: (name) =>
      call(async (client, options) => {
        const found = await orMissing(client.headObject({ Bucket: bucket, Key: keyOf(name) }, options));
        if (!found) return undefined;
        const { ContentLength: size, LastModified: modifiedAt } = found;
        if (size === undefined || size > MAX_FILE_BYTES || modifiedAt === undefined)
          throw new Error('The store does not say how large and how old the file is');
        return { size, modifiedAt };
      }),

    read: (name, range) =>
      call(async (client, options) => {
        const Range = range && `bytes=${range.start}-${range.end}`;
        const found = await orMissing(client.getObject({ Bucket: bucket, Key: keyOf(name), Range }, options));
        if (!found) return undefined;
        const length = range ? range.end - range.start + 1 : (found.ContentLength ?? MAX_FILE_BYTES + 1);
        if (length > MAX_FILE_BYTES) throw new Error('The file is larger than any of ours');
        return ofLength(found.Body as Readable, length);
      }),

    async write(shopId, folder, files) {
      // All of them end before the caller removes the written files: a late one would stay.
      const written = await Promise.allSettled(
        mediaNames(shopId, folder, files).map((name, index) =>
          call((client, options) =>
            client.putObject(
              {
                Bucket: bucket,
                Key: keyOf(name),
                Body: files[index]!.bytes,
                ContentType: mediaType(name.file),
                ...(isPublicName(name) && { CacheControl: CACHE_CONTROL }),
              },
              options,
            ),
          ),
        ),
      );
      const failed = written.find((each) => each.status === 'rejected');
      if (failed) throw failed.reason;
    },

    removeFolders: (shopId, folders) =>
      forEach(folders, (folder) => removeAll(`${shopId}/${folder.toUpperCase()}/`)),

    removeShop: (shopId) => removeAll(`${shopId}/`),

    async *files(shopId) {
      for await (const objects of pages(`${shopId}/`)) {
        for (const { key } of objects) {
          const [, folder = '', file = '', ...deeper] = key.slice(prefix.length).split('/');
          const name = { shopId, folder, file };
          if (deeper.length === 0 && isMediaName(name)) yield name;
        }
      }
    },

    async *foldersBefore(time) {
      for await (const { modifiedAt, ...folder } of folders()) if (modifiedAt < time) yield folder;
    },
  };

  /** The folders of images, and the time of the last write to each. */
  async function* folders(): AsyncGenerator<ImageFolder & { modifiedAt: Date }> {
    let folder: (ImageFolder & { modifiedAt: Date }) | undefined;
    for await (const objects of pages('')) {
      for (const { key, modifiedAt } of objects) {
        const [shopId = '', imageKey = '', file] = key.slice(prefix.length).split('/');
        if (file === undefined || !isShopFolder(shopId) || !isImageFolder(imageKey)) continue;
        if (folder?.shopId === shopId && folder.imageKey === imageKey) {
          if (modifiedAt > folder.modifiedAt) folder.modifiedAt = modifiedAt;
        } else {
          if (folder) yield folder;
          folder = { shopId, imageKey, modifiedAt };
        }
      }
    }
    if (folder) yield folder;
  }
}
