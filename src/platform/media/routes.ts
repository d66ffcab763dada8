import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { send } from '@fastify/send';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config.ts';
import { isMissing, mediaPath } from './storage.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.ico': 'image/x-icon',
  '.pdf': 'application/pdf',
};

const YEAR = 365 * 24 * 3_600_000;

/** Anybody may show an image on a page, and no browser may take it for anything else. */
const HEADERS = {
  'access-control-allow-origin': '*',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
};

const REFUSALS: Readonly<Record<number, string>> = {
  412: 'The condition does not hold',
  416: 'The image has no such bytes',
};

/** The files of images. A file never changes, so browsers and proxies may keep it as long as they like. */
export function mediaRoutes(app: FastifyInstance, { config }: { config: Config }): void {
  app.get<{ Params: { shopId: string; imageKey: string; file: string } }>(
    '/media/:shopId/:imageKey/:file',
    { schema: { hide: true } },
    async (request, reply) => {
      reply.headers(HEADERS);
      const { shopId, imageKey, file } = request.params;
      const found = mediaPath(config, shopId, imageKey, file);
      if (found === undefined || !(await isPlainFile(found))) {
        return reply.code(404).type('text/plain').header('cache-control', 'no-cache').send('No such image');
      }
      const result = await send(request.raw, file, {
        root: path.dirname(found),
        contentType: false,
        maxAge: YEAR,
        immutable: true,
      });
      reply.code(result.statusCode);
      // A browser does not open a document in a sandbox: it may keep it.
      if (file.endsWith('.pdf')) reply.header('content-disposition', 'attachment');
      if (result.type === 'file') {
        return reply.headers(result.headers).type(TYPES[path.extname(file)]!).send(result.stream);
      }
      const refusal = REFUSALS[result.statusCode];
      if (refusal === undefined) throw new Error(`The image could not be sent: ${found}`);
      const { 'Content-Range': range } = result.headers;
      if (range !== undefined) reply.header('content-range', range);
      return reply.type('text/plain').send(refusal);
    },
  );
}

/** What somebody linked into the folder is not served. */
async function isPlainFile(place: string): Promise<boolean> {
  try {
    return (await lstat(place)).isFile();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
