import { Readable } from 'node:stream';
import type { S3, S3ServiceException } from '@aws-sdk/client-s3';
import { mediaUnavailable } from '../../http/errors.ts';
import {
  CACHE_CONTROL,
  isImageFolder,
  isMediaName,
  isShopFolder,
  mediaType,
  namesOf,
  type ImageFolder,
  type MediaName,
  type MediaStorage,
} from './storage.ts';

/** How long the store may take to answer, with all attempts: nobody waits longer for an image to begin. */
const MOST_MILLISECONDS = 10_000;
const MOST_ATTEMPTS = 3;
const CONNECT_WITHIN = 2_000;
const ANSWER_WITHIN = 4_000;
/** Also ends a download whose reader has stopped reading: it would hold one of the connections. */
const SILENT_FOR = 30_000;
const MOST_CONNECTIONS = 200;
const AT_ONCE = 10;

/**
 * Files in an S3-compatible store: s3://bucket/prefix?endpoint=https://host&region=name. Credentials are found by the
 * AWS client itself: in the environment, in a profile, or from the machine it runs on.
 */
export function openS3Storage(address: string, patience = MOST_MILLISECONDS): MediaStorage {
  const { bucket, prefix, region, endpoint } = parseAddress(address);
  const keyOf = ({ shopId, folder, file }: MediaName) => `${prefix}${shopId}/${folder}/${file}`;

  const connecting = createClient({ region, endpoint });

  /** Every failure of the store is a 503, whoever asked. */
  const call = async <Result>(
    work: (client: S3, options: { abortSignal: AbortSignal }) => Promise<Result>,
  ): Promise<Result> => {
    const client = await connecting;
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(), patience);
    try {
      return await work(client, { abortSignal: ending.signal });
    } catch (error) {
      throw mediaUnavailable(reasonOf(error));
    } finally {
      // The signal would also end a download that has begun.
      clearTimeout(timer);
    }
  };

  /** All objects whose keys begin so, in the order of their keys, a page of at most a thousand at a time. */
  async function* pages(begin: string) {
    for (let token: string | undefined; ;) {
      const page = await call((client, options) =>
        client.listObjectsV2({ Bucket: bucket, Prefix: prefix + begin, ContinuationToken: token }, options),
      );
      yield (page.Contents ?? []).map(({ Key, LastModified }) => ({ key: Key!, modifiedAt: LastModified! }));
      if (!page.IsTruncated) return;
      token = page.NextContinuationToken;
    }
  }

  /** One by one: the request that deletes many needs a checksum, about which stores do not agree. */
  async function removeAll(begin: string): Promise<void> {
    for await (const objects of pages(begin)) {
      await forEach(objects, ({ key }) =>
        call((client, options) => client.deleteObject({ Bucket: bucket, Key: key }, options)),
      );
    }
  }

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
        return found && { size: found.ContentLength!, modifiedAt: found.LastModified! };
      }),

    read: (name, range) =>
      call(async (client, options) => {
        const Range = range && `bytes=${range.start}-${range.end}`;
        const found = await orMissing(client.getObject({ Bucket: bucket, Key: keyOf(name), Range }, options));
        return found?.Body as Readable | undefined;
      }),

    async write(shopId, folder, files) {
      // All of them have ended before the caller removes what was written: a late one would stay.
      const written = await Promise.allSettled(
        namesOf(shopId, folder, files).map((name, index) =>
          call((client, options) =>
            client.putObject(
              {
                Bucket: bucket,
                Key: keyOf(name),
                Body: files[index]!.bytes,
                ContentType: mediaType(name.file),
                CacheControl: CACHE_CONTROL,
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

  /** The folders of images, and when something was written to each for the last time. */
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

function parseAddress(address: string) {
  const { hostname: bucket, pathname, searchParams } = new URL(address);
  const folder = pathname.replaceAll(/^\/+|\/+$/g, '');
  const endpoint = searchParams.get('endpoint') ?? undefined;
  return {
    bucket,
    prefix: folder === '' ? '' : `${folder}/`,
    endpoint,
    // Stores that are not Amazon's mostly have no regions, but the signature must name one.
    region: searchParams.get('region') ?? (endpoint === undefined ? undefined : 'us-east-1'),
  };
}

async function createClient({
  region,
  endpoint,
}: {
  region: string | undefined;
  endpoint: string | undefined;
}): Promise<S3> {
  // Loaded only where it is used: it takes 0.3 s and 24 MB.
  const s3 = await import('@aws-sdk/client-s3');
  return new s3.S3({
    ...(region !== undefined && { region }),
    // The bucket is part of the path: a store of one's own rarely has a host name for every bucket.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    maxAttempts: MOST_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_WITHIN,
      requestTimeout: ANSWER_WITHIN,
      throwOnRequestTimeout: true,
      socketTimeout: SILENT_FOR,
      httpAgent: { keepAlive: true, maxSockets: MOST_CONNECTIONS },
      httpsAgent: { keepAlive: true, maxSockets: MOST_CONNECTIONS },
    },
    // The checksums that Amazon's store adds are unknown to many others.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

/** For the log: what answers HEAD has no text, so the status has to say it. */
function reasonOf(error: unknown): unknown {
  const { name, message, $metadata } = error as Partial<S3ServiceException>;
  const status = $metadata?.httpStatusCode;
  return status === undefined ? error : new Error(`${status} ${name}: ${message}`, { cause: error });
}

/** A few at once: a product may have thousands of variations with images of their own. */
async function forEach<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE) {
    await Promise.all(items.slice(at, at + AT_ONCE).map(work));
  }
}

/** undefined: the store says that there is no such file. */
async function orMissing<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    const { name } = error as S3ServiceException;
    if (name === 'NoSuchKey' || name === 'NotFound') return undefined;
    throw error;
  }
}
