import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

const TYPES = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
};

export interface Asset {
  path: string;
  type: string;
  content: Buffer;
  /** The content security policy of a file that is not our own. */
  policy?: string;
}

/** A file of our own. It is sent as it was written: compressed, comments and indentation cost next to nothing. */
export function asset(name: string, extension: keyof typeof TYPES): Asset {
  return toAsset(
    name,
    extension,
    readFileSync(new URL(`../../assets/${name}.${extension}`, import.meta.url)),
  );
}

/** The address contains a hash of the content: browsers cache the file forever, and a new version has a new name. */
export function toAsset(name: string, extension: keyof typeof TYPES, content: Buffer): Asset {
  const version = hash('sha256', content, 'base64url').slice(0, 12);
  return { path: `/assets/${name}.${version}.${extension}`, type: TYPES[extension], content };
}

export function assetRoutes(app: FastifyInstance, assets: readonly Asset[]): void {
  for (const { path, type, content, policy } of assets) {
    app.get(path, { schema: { hide: true } }, async (_request, reply) =>
      reply
        .type(type)
        .headers({
          'cache-control': 'public, max-age=31536000, immutable',
          ...(policy !== undefined && { 'content-security-policy': policy }),
        })
        .send(content),
    );
  }
}
