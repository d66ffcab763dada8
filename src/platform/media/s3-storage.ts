import { pipeline, Transform, type Readable } from 'node:stream';
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

/** How long the store may take to answer, with all attempts: no client waits longer for an image to begin. */
const MAX_MILLISECONDS = 10_000;
const MAX_ATTEMPTS = 3;
const CONNECT_WITHIN = 2_000;
const ANSWER_WITHIN = 4_000;
/** Also ends a download whose reader has stopped reading: it would hold one of the connections. */
const SILENT_FOR = 30_000;
const MAX_CONNECTIONS = 200;
const AT_ONCE = 10;
/** No file of ours is larger: uploads have at most 10 MB, and pictures are made smaller. */
const MAX_FILE_BYTES = 100 * 1_048_576;
/** A page of a list has a thousand names of at most 1,024 characters. */
const MAX_ANSWER_BYTES = 8 * 1_048_576;

/**
 * Files in an S3-compatible store: s3://bucket/prefix?endpoint=https://host&region=name. Credentials are found by the
 * AWS client itself: in the environment, in a profile, or from the machine it runs on.
 */
export function openS3Storage(address: string, patience = MAX_MILLISECONDS): MediaStorage {
  const { bucket, prefix, region, endpoint } = parseAddress(address);
  const keyOf = ({ shopId, folder, file }: MediaName) => `${prefix}${shopId}/${folder}/${file}`;

  const connecting = createClient({ region, endpoint });

  /** Every failure of the store is a 503, for any caller. */
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

  /**
   * All objects with this key prefix, in key order, a page of at most a thousand at a time. A list that does not go
   * forward would never end, and one that names other objects would have them deleted: both are refused.
   */
  async function* pages(begin: string) {
    let last = '';
    for (let token: string | undefined; ;) {
      const page = await call(async (client, options) => {
        const answer = await client.listObjectsV2(
          { Bucket: bucket, Prefix: prefix + begin, ContinuationToken: token },
          options,
        );
        const objects = (answer.Contents ?? []).map(({ Key, LastModified }) => {
          if (
            Key === undefined ||
            LastModified === undefined ||
            !Key.startsWith(prefix + begin) ||
            Key <= last
          )
            throw new Error('The list of the store is wrong');
          last = Key;
          return { key: Key, modifiedAt: LastModified };
        });
        const isLast = answer.IsTruncated !== true;
        if (!isLast && (objects.length === 0 || answer.NextContinuationToken === undefined))
          throw new Error('The list of the store has no end');
        return { objects, token: isLast ? undefined : answer.NextContinuationToken };
      });
      yield page.objects;
      if (page.token === undefined) return;
      token = page.token;
    }
  }

  /** One by one: deleting many in one request needs a checksum, on which stores do not agree. */
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

function parseAddress(address: string) {
  const { hostname: bucket, pathname, searchParams } = new URL(address);
  const folder = pathname.replaceAll(/^\/+|\/+$/g, '');
  const endpoint = searchParams.get('endpoint') ?? undefined;
  return {
    bucket,
    prefix: folder === '' ? '' : `${folder}/`,
    endpoint,
    // Stores other than Amazon's mostly have no regions, but the signature must name one.
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
  // Loaded only on use: it takes 0.3 s and 24 MB.
  const s3 = await import('@aws-sdk/client-s3');
  const client = new s3.S3({
    ...(region !== undefined && { region }),
    // The bucket is part of the path: a store of one's own rarely has a host name for every bucket.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_WITHIN,
      requestTimeout: ANSWER_WITHIN,
      throwOnRequestTimeout: true,
      socketTimeout: SILENT_FOR,
      httpAgent: { keepAlive: true, maxSockets: MAX_CONNECTIONS },
      httpsAgent: { keepAlive: true, maxSockets: MAX_CONNECTIONS },
    },
    // The checksums that Amazon's store adds are unknown to many others.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  boundAnswers(client);
  return client;
}

/**
 * The bytes of a file, which fail unless there are exactly this many. The length was promised to the client already:
 * with more, the rest would appear where the client expects the answer to its next request.
 */
function ofLength(body: Readable, length: number): Readable {
  let missing = length;
  const counted = new Transform({
    transform(piece: Buffer, _encoding, done) {
      missing -= piece.length;
      if (missing < 0) done(new Error('The store sends more bytes than the file has'));
      else done(null, piece);
    },
    flush: (done) => done(missing > 0 ? new Error('The store sends fewer bytes than the file has') : null),
  });
  // The reader of the stream gets the failure.
  pipeline(body, counted, () => {});
  return counted;
}

/** Any answer other than a file is read into memory as a whole. */
function boundAnswers(client: S3): void {
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (given) => {
        const result = await next(given);
        const response = result.response as { statusCode: number; body: Readable };
        const isFile = commandName === 'GetObjectCommand' && response.statusCode < 300;
        if (!isFile) response.body = atMost(response.body, MAX_ANSWER_BYTES);
        return result;
      },
    // The innermost one: it sees the answer before it is read.
    { step: 'deserialize', priority: 'low', name: 'boundAnswers' },
  );
}

function atMost(body: Readable, length: number): Readable {
  let left = length;
  const bounded = new Transform({
    transform(piece: Buffer, _encoding, done) {
      left -= piece.length;
      if (left < 0) done(new Error('The answer of the store is too long'));
      else done(null, piece);
    },
  });
  pipeline(body, bounded, () => {});
  return bounded;
}

/** For the log: an answer to HEAD has no text, so the status has to say it. */
function reasonOf(error: unknown): unknown {
  const { name, message, $metadata } = error as Partial<S3ServiceException>;
  const status = $metadata?.httpStatusCode;
  return status === undefined ? error : new Error(`${status} ${name}: ${message}`, { cause: error });
}

/** A few at once: a product may have thousands of variations with their own images. */
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
