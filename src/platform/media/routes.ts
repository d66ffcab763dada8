import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { decide, fileEtag } from './conditions.ts';
import { CACHE_CONTROL, isPublicName, mediaType, type MediaStorage } from './storage.ts';

/** Any page may show an image, and no browser may interpret it as another type. */
const HEADERS = {
  'access-control-allow-origin': '*',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
};

/** The files of images. A file never changes, so browsers and proxies may keep it as long as they like. */
export function mediaRoutes(app: FastifyInstance, { media }: { media: MediaStorage }): void {
  app.get<{ Params: { shopId: string; imageKey: string; file: string } }>(
    '/media/:shopId/:imageKey/:file',
    { schema: { hide: true } },
    async (request, reply) => {
      reply.headers(HEADERS);
      const { shopId, imageKey, file } = request.params;
      const name = { shopId, folder: imageKey, file };
      const found = isPublicName(name) ? await media.find(name) : undefined;
      if (!found) return sendMissing(reply);
      // A browser does not open a sandboxed document: it may save it.
      if (file.endsWith('.pdf')) reply.header('content-disposition', 'attachment');

      const decision = decide(request.headers, found);
      reply.code(decision.status);
      if (decision.status === 412) return reply.type('text/plain').send('The condition does not hold');
      if (decision.status === 416) {
        reply.header('content-range', `bytes */${found.size}`);
        return reply.type('text/plain').send('The image has no such bytes');
      }
      const range = decision.status === 206 ? decision.range : undefined;
      const isEmpty = request.method === 'HEAD' || decision.status === 304;
      const whole = { start: 0, end: found.size - 1 };
      // Fastify would send the length 0 for an undefined body.
      const body = isEmpty || found.size === 0 ? Readable.from([]) : await media.read(name, range ?? whole);
      if (!body) return sendMissing(reply);

      reply.headers({
        'accept-ranges': 'bytes',
        'cache-control': CACHE_CONTROL,
        etag: fileEtag(found),
        'last-modified': found.modifiedAt.toUTCString(),
      });
      if (decision.status !== 304) {
        reply.header('content-length', range ? range.end - range.start + 1 : found.size);
      }
      if (range) reply.header('content-range', `bytes ${range.start}-${range.end}/${found.size}`);
      return reply.type(mediaType(file)).send(body);
    },
  );
}

function sendMissing(reply: FastifyReply) {
  return reply.code(404).type('text/plain').header('cache-control', 'no-cache').send('No such image');
}
