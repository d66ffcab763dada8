import { hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { DemoAccess } from '../../http/demo-access.ts';
import type { DemoToken } from '../../http/demo-tokens.ts';
import { html, safe } from '../../http/html.ts';
import { head, docsHeader } from './layout.ts';

/** Scalar's settings; everything that would contact another host is off, and the policy below enforces it. */
const settings = {
  url: '/openapi.json',
  // A typed token is lost with the page: in the browser's storage a script of a shop on this host could read it.
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

// Not `#api-reference`: Scalar fills an element of that name automatically, with fonts and telemetry on. It sends
// `Authorization: Bearer ` while the token field is empty; without a token a call is anonymous.
const startScript = (token: string) => `Scalar.createApiReference('#reference', {
  ...${JSON.stringify({ ...settings, authentication: authenticationWith(token) })},
  servers: [{ url: location.origin, description: 'This server' }],
  generateOperationSlug: ({ operationId }) => operationId,
  onBeforeRequest: ({ request }) => {
    if (request.headers.get('authorization')?.trim() === 'Bearer') request.headers.delete('authorization');
  },
});`;

// Scalar inserts its style sheet from the script, hence 'unsafe-inline' for styles (only); blob: is how it
// shows answers that are images or PDF.
const policyFor = (start: string) =>
  [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash('sha256', start, 'base64')}'`,
    "style-src 'self' 'unsafe-inline'",
    "connect-src 'self'",
    "font-src 'self' data:",
    "img-src 'self' data: blob:",
    'object-src blob:',
    'frame-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

function authenticationWith(token: string) {
  return { preferredSecurityScheme: 'token', securitySchemes: { token: { token } } };
}

/** The API reference for people: `/openapi.json` shown by Scalar, entirely from this server. */
export async function referenceRoutes(app: FastifyInstance, demoAccess: DemoAccess): Promise<void> {
  // The package exports only its Fastify plugin, which would load an OpenAPI parser we do not need.
  const dist = dirname(createRequire(import.meta.url).resolve('@scalar/fastify-api-reference'));
  const bundle = join(dist, 'js/standalone.js');
  const manifest: unknown = JSON.parse(await readFile(join(dist, '../package.json'), 'utf8'));
  const { version } = manifest as { version: string };
  const pageWith = (token: string) => {
    const start = startScript(token);
    return { policy: policyFor(start), page: renderPage(version, start) };
  };
  // Only where no other machine can call, the demo shop has a well-known token.
  const open = pageWith('demo-all' satisfies DemoToken);
  const closed = pageWith('');
  // 1 MB instead of 3.6; created on the first request, and the only copy in memory.
  let gzipped: Buffer | undefined;

  app.get('/docs/reference', { schema: { hide: true } }, (_request, reply) => {
    const { policy, page } = demoAccess.isOpen() ? open : closed;
    return reply
      .type('text/html; charset=utf-8')
      .headers({ 'content-security-policy': policy, 'cache-control': 'no-cache' })
      .send(page);
  });

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

function renderPage(version: string, start: string): string {
  return html`<!doctype html>
    <html lang="en" class="docs-reference">
      <head>
        ${head('Kontor API reference')}
      </head>
      <body>
        ${docsHeader('reference')}
        <noscript>
          <p>
            This page needs JavaScript. <a href="/docs#operations-of-the-api">The overview</a> lists all
            operations, and <a href="/openapi.json">/openapi.json</a> is the same reference as a file.
          </p>
        </noscript>
        <div id="reference"></div>
        <script src="/docs/scalar.js?v=${version}"></script>
        ${safe(`<script>${start}</script>`)}
      </body>
    </html> `.text;
}
