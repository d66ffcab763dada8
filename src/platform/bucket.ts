import { pipeline, Transform, type Readable } from 'node:stream';
import type { S3, S3ServiceException } from '@aws-sdk/client-s3';

const MAX_ATTEMPTS = 3;
const CONNECT_WITHIN = 2_000;
/** Also ends a download whose reader has stopped reading: it would hold one of the connections. */
const SILENT_FOR = 30_000;
const MAX_CONNECTIONS = 200;
const AT_ONCE = 10;
/** A page of a list has a thousand names of at most 1,024 characters. */
const MAX_ANSWER_BYTES = 8 * 1_048_576;

export interface BucketOptions {
  /** How long a call may take, with all attempts, in milliseconds. */
  patience: number;
  /** How long one attempt may take. */
  answerWithin: number;
  /** Every failure of the store as the error of the caller. */
  unavailable: (reason: unknown) => Error;
}

export interface Bucket {
  bucket: string;
  /** Empty, or with a slash at its end. */
  prefix: string;
  call: <Result>(
    work: (client: S3, options: { abortSignal: AbortSignal }) => Promise<Result>,
  ) => Promise<Result>;
  /** The objects below the prefix whose keys go on with `begin`, in key order, page by page. */
  pages: (begin: string) => AsyncGenerator<{ key: string; modifiedAt: Date }[]>;
  removeAll: (begin: string) => Promise<void>;
}

/**
 * A bucket of an S3-compatible store: s3://bucket/prefix?endpoint=https://host&region=name. Credentials are found by the
 * AWS client itself: in the environment, in a profile, or from the machine it runs on.
 */
export function openBucket(address: string, { patience, answerWithin, unavailable }: BucketOptions): Bucket {
  const { bucket, prefix, region, endpoint } = parseAddress(address);
  const connecting = createClient({ region, endpoint, answerWithin });

  const call: Bucket['call'] = async (work) => {
    const client = await connecting;
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(), patience);
    try {
      return await work(client, { abortSignal: ending.signal });
    } catch (error) {
      throw unavailable(reasonOf(error));
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

  return { bucket, prefix, call, pages, removeAll };
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
  answerWithin,
}: {
  region: string | undefined;
  endpoint: string | undefined;
  answerWithin: number;
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
      requestTimeout: answerWithin,
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

/** A file in the store is shorter or longer than it was. */
export class LengthProblem extends Error {
  override name = 'LengthProblem';
}

/**
 * The bytes of a file, which fail unless there are exactly this many. The length was promised to the client already:
 * with more, the rest would appear where the client expects the answer to its next request.
 */
export function ofLength(body: Readable, length: number): Readable {
  let missing = length;
  const counted = new Transform({
    transform(piece: Buffer, _encoding, done) {
      missing -= piece.length;
      if (missing < 0) done(new LengthProblem('The store sends more bytes than the file has'));
      else done(null, piece);
    },
    flush: (done) =>
      done(missing > 0 ? new LengthProblem('The store sends fewer bytes than the file has') : null),
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
export async function forEach<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE) {
    await Promise.all(items.slice(at, at + AT_ONCE).map(work));
  }
}

/** undefined: the store says that there is no such file. */
export async function orMissing<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    const { name } = error as S3ServiceException;
    if (name === 'NoSuchKey' || name === 'NotFound') return undefined;
    throw error;
  }
}
