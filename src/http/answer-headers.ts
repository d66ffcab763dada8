import type { FastifyReply, FastifyRequest } from 'fastify';
import { PreconditionFailed } from './errors.ts';
import { etagOfBytes } from './raw-json.ts';

/** Set on every answer outside of the API. The pages for people set their own Content-Security-Policy. */
export const COMMON_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  // A shop page on the same host can't reach the window of this page, nor the reverse: input typed into the API
  // reference stays there. Pages of shops set another value.
  'cross-origin-opener-policy': 'same-origin',
};

/** Set on every answer of the API: data, which no browser may render, frame or interpret as another type. */
export const API_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'private, no-cache',
  vary: 'Accept-Encoding,User-Agent',
  'access-control-allow-origin': '*',
  'cross-origin-opener-policy': 'same-origin',
};

/** For scripts on other origins; sent as its own header only where one asks. */
export const EXPOSED_HEADERS =
  'X-ePages-Cart-Token, X-epages-Media-Type, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, X-Request-Id, X-Error-Code, X-Error-Field, X-Warning, Link';

const MEDIA_TYPES = { json: 'application/vnd.epages.v1+json', csv: 'application/vnd.epages.v1+csv' };

/**
 * Completes an answer of the API: the plain media type of the contract, the version that was served, and an ETag on
 * reads, so a client that already has the content gets 304.
 */
export function finishAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: Error | null, payload?: unknown) => void,
): void {
  const { statusCode } = reply;
  if (statusCode >= 200 && statusCode < 300) {
    const kind = String(reply.getHeader('content-type')).startsWith('text/csv') ? 'csv' : 'json';
    reply.header('x-epages-media-type', MEDIA_TYPES[kind]);
  }
  // Encoded once: the hash, the length and the socket all need the bytes.
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
  if (!Buffer.isBuffer(bytes)) {
    done(null, payload);
    return;
  }
  if (String(reply.getHeader('content-type')).startsWith('application/json')) {
    reply.header('content-type', 'application/json');
  }
  if (statusCode === 200 && (request.method === 'GET' || request.method === 'HEAD')) {
    done(null, unlessKnown(request, reply, bytes));
    return;
  }
  done(null, bytes);
}

/** The answer with its ETag, or only 304 when the client has it already. */
export function unlessKnown(request: FastifyRequest, reply: FastifyReply, bytes: Buffer): Buffer | '' {
  const etag = (reply.getHeader('etag') as string | undefined) ?? `"${etagOfBytes(bytes)}"`;
  reply.header('etag', etag);
  if (!matchesEtag(request.headers['if-none-match'], etag)) return bytes;
  reply.code(304).removeHeader('content-type');
  return '';
}

/** Whether the header If-None-Match of a request names this ETag. Weak tags match too (RFC 9110, 13.1.2). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag || header.trim() === '*') return true;
  return header.split(',').some((candidate) => plainEtag(candidate.trim().replace(/^W\//, '')) === etag);
}

const ENTITY_TAGS = /(?:W\/)?"[^"]*"/g;

/**
 * Throws unless the header If-Match of a request is absent, a star, or names this ETag. A weak tag never matches,
 * because it does not promise identical content (RFC 9110, 13.1.1).
 */
export function requireMatch(header: string | undefined, etag: () => string): void {
  if (header === undefined || header.trim() === '*') return;
  const tags = header.match(ENTITY_TAGS) ?? [];
  const current = etag();
  if (!tags.some((tag) => plainEtag(tag) === current)) throw new PreconditionFailed();
}

/** A strong ETag for an answer in this encoding: different bytes need a different tag. */
export function encodedEtag(etag: string, encoding: string): string {
  return etag.replace(/"$/, `-${encoding}"`);
}

/** The ETag of the answer before it was encoded. The hash in a tag is Base64, which has no hyphen. */
function plainEtag(etag: string): string {
  return etag.replace(/-(?:br|gzip)"$/, '"');
}
