import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

/* HEAD is answered as GET is, without the body. One route serves both, so that a path is registered once. */

/** Requests for HEAD, until their route is found. */
const routed = new WeakSet<IncomingMessage>();

/** Before the route is looked for. */
export function routeAsGet(request: IncomingMessage): void {
  if (request.method !== 'HEAD') return;
  routed.add(request);
  request.method = 'GET';
}

/** First of all hooks, so that everything else sees what the client has asked for. */
export function showAsHead({ raw }: FastifyRequest): void {
  if (routed.delete(raw)) raw.method = 'HEAD';
}

/** Last of the hooks that change an answer. A stream is read to its end, because its source waits for that. */
export function withoutBody({ method }: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  if (method !== 'HEAD') return payload;
  if (payload instanceof Readable) {
    payload.on('error', (error) => reply.log.error({ err: error }, 'the body of a HEAD request failed'));
    payload.resume();
  } else {
    const bytes = (payload ?? '') as string | Buffer;
    reply.header('content-length', String(Buffer.byteLength(bytes)));
  }
  return null;
}
