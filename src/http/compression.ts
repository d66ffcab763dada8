import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CacheKind, Caches } from '../db/cache.ts';
import { encodedEtag } from './answer-headers.ts';
import { etagOfBytes } from './raw-json.ts';

/** Smaller answers fit into the first packets of a connection anyway. */
const MIN_SIZE = 2_048;

const COMPRESSIBLE = /^(?:text\/|application\/(?:json|xml|openapi\+json|rss\+xml)|image\/svg)/;

/** The best level that costs no more than a millisecond or two for a page; both run beside the event loop. */
const ENCODINGS = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 6 }),
};
type Encoding = keyof typeof ENCODINGS;

/** Compressed answers by the hash of their source, so an answer for many clients is compressed once. */
const compressedAnswers: CacheKind<Buffer> = { name: 'compressed answers', limit: { megabytes: 16 } };

/** The encoding for an answer; undefined: it is not compressed. Caches must know that it depends on the client. */
export function negotiateEncoding(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Encoding | undefined {
  if (!isCompressible(reply, payload)) return undefined;
  reply.header('vary', withEncoding(reply.getHeader('vary')));
  const accepted = headers['accept-encoding'];
  return accepted === undefined ? undefined : chosenEncoding(accepted);
}

/** Compresses an answer for a client that asks for it. */
export async function compressAnswer(
  caches: Caches,
  request: FastifyRequest,
  reply: FastifyReply,
  bytes: Buffer,
  encoding: Encoding,
): Promise<Buffer> {
  // Not the ETag of the answer: a route may set its own, which says nothing about other routes.
  const key = `${encoding} ${etagOfBytes(bytes)}`;
  const cache = caches.of(compressedAnswers);
  let compressed = cache.get(key);
  if (!compressed) {
    compressed = await ENCODINGS[encoding](bytes);
    cache.set(key, compressed, compressed.length);
  }
  reply.header('content-encoding', encoding).header('content-length', compressed.length);
  const etag = reply.getHeader('etag');
  if (typeof etag === 'string' && !etag.startsWith('W/')) {
    // The same content in other bytes: a client that sends the tag back still gets 304. A weak tag can't be sent as
    // If-Match, so an answer whose tag may be used for an order keeps a strong one.
    const isStrong = request.routeOptions.config.operation?.etag !== undefined;
    reply.header('etag', isStrong ? encodedEtag(etag, encoding) : `W/${etag}`);
  }
  return compressed;
}

/**
 * Answers that must not be stored or transformed stay as they are: they hold personal data, and the length of a
 * compressed page can reveal its content to an attacker who makes a browser open it with chosen words. Streams are
 * sent as they come.
 */
function isCompressible(reply: FastifyReply, payload: unknown): payload is Buffer | string {
  return (
    (Buffer.isBuffer(payload) || typeof payload === 'string') &&
    payload.length >= MIN_SIZE &&
    reply.getHeader('content-encoding') === undefined &&
    !/no-store|no-transform/.test(String(reply.getHeader('cache-control'))) &&
    COMPRESSIBLE.test(String(reply.getHeader('content-type')))
  );
}

/** The better encoding that the client accepts. `q=0` means that it does not. */
export function chosenEncoding(accepted: string): Encoding | undefined {
  const names = accepted
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';').map((piece) => piece.trim()))
    .filter(([, weight]) => weight === undefined || !/^q=0(?:\.0*)?$/.test(weight))
    .map(([name]) => name);
  return (['br', 'gzip'] as const).find((name) => names.includes(name));
}

function withEncoding(vary: unknown): string {
  if (typeof vary !== 'string') return 'Accept-Encoding';
  return /accept-encoding/i.test(vary) ? vary : `${vary}, Accept-Encoding`;
}
