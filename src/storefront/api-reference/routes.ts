/// <reference types="@fastify/swagger" />
import { hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

/** Scalar's settings; everything that would speak to another host is off, and the policy below enforces it. */
const settings = {
  url: '/openapi.json',
  servers: [{ url: '/', description: 'This server' }],
  authentication: { preferredSecurityScheme: 'token' },
  // A typed token is gone with the page: in the browser's storage a script of a shop on this host could read it.
  persistAuth: false,
  metaData: { title: 'Kontor API reference' },
  operationTitleSource: 'summary',
  orderSchemaPropertiesBy: 'preserve',
  documentDownloadType: 'direct',
  hideClientButton: true,
  showDeveloperTools: 'never',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
};

// Not `#api-reference`: Scalar fills an element of that name by itself, with fonts and telemetry on.
// It sends `Authorization: Bearer ` while the token field is empty; without a token a call is anonymous.
const start = `Scalar.createApiReference('#reference', {
  ...${JSON.stringify(settings)},
  onBeforeRequest: ({ request }) => {
    if (request.headers.get('authorization')?.trim() === 'Bearer') request.headers.delete('authorization');
  },
});`;

// Scalar inserts its style sheet from the script, hence 'unsafe-inline' for styles (only); blob: is how it
// shows answers that are images or PDF.
const policy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${hash('sha256', start, 'base64')}'`,
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  "font-src 'self' data:",
  "img-src 'self' data: blob:",
  'object-src blob:',
  'frame-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The API reference for people: `/openapi.json` shown by Scalar, wholly from this server. */
export async function docsRoutes(app: FastifyInstance): Promise<void> {
  // The package exports only its Fastify plugin, which would load an OpenAPI parser we do not need.
  const dist = dirname(createRequire(import.meta.url).resolve('@scalar/fastify-api-reference'));
  const bundle = join(dist, 'js/standalone.js');
  const manifest: unknown = JSON.parse(await readFile(join(dist, '../package.json'), 'utf8'));
  const { version } = manifest as { version: string };
  const page = renderPage(version);
  // 1 MB instead of 3.6; made when the first browser asks, and the only copy that stays in memory.
  let gzipped: Buffer | undefined;

  app.get('/docs', { schema: { hide: true } }, (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .headers({
        'content-security-policy': policy,
        'cache-control': 'no-cache',
      })
      .send(page),
  );

  app.get<{ Querystring: { v?: string } }>(
    '/docs/scalar.js',
    { schema: { hide: true } },
    async (request, reply) => {
      const compressed = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
      const etag = `"${version}${compressed ? '-gzip' : ''}"`;
      reply.type('text/javascript; charset=utf-8').headers({
        etag,
        vary: 'accept-encoding',
        'cache-control': request.query.v === version ? 'public, max-age=31536000, immutable' : 'no-cache',
      });
      if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
      if (!compressed) return reply.send(createReadStream(bundle));
      gzipped ??= await promisify(gzip)(await readFile(bundle));
      return reply.header('content-encoding', 'gzip').send(gzipped);
    },
  );
}

function renderPage(version: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Kontor API reference</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <noscript>This page needs JavaScript; the same reference as a file is <a href="/openapi.json">/openapi.json</a>.</noscript>
    <div id="reference"></div>
    <script src="/docs/scalar.js?v=${version}"></script>
    <script>${start}</script>
  </body>
</html>
`;
}
