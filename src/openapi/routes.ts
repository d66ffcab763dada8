import { readFile } from 'node:fs/promises';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { etagOf } from '../http/raw-json.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The routes of all operations, for the document. */
    operationRoutes: RouteOptions[];
  }
}

/** `npm run generate` writes it; at the root, where the compiled program finds it as well. */
const FILE = new URL('../../openapi.json', import.meta.url);

/** Serves the OpenAPI document. Must be registered before the modules, whose operations it collects. */
export function registerOpenapi(app: FastifyInstance): void {
  const operationRoutes: RouteOptions[] = [];
  app.decorate('operationRoutes', operationRoutes);
  app.addHook('onRoute', (route) => {
    if (route.config?.operation) operationRoutes.push(route);
  });

  let etag: string | undefined;
  app.get('/openapi.json', { schema: { hide: true } }, async (request, reply) => {
    const bytes = await readFile(FILE);
    etag ??= `"${etagOf(bytes)}"`;
    // Tools in browsers (editors, generators) may load it from anywhere: it holds nothing of a shop.
    reply.headers({ etag, 'cache-control': 'no-cache', 'access-control-allow-origin': '*' });
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(bytes);
  });
}
