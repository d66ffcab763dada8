import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' };

export interface Asset {
  path: string;
  type: string;
  content: Buffer;
}

/** A file of our own, minified. */
export function asset(name: string, extension: keyof typeof TYPES): Asset {
  const source = readFileSync(new URL(`../../../assets/${name}.${extension}`, import.meta.url), 'utf8');
  const short = withoutLayout(source);
  return toAsset(name, extension, Buffer.from(extension === 'css' ? withoutLineBreaks(short) : short));
}

/** The address contains a hash of the content: browsers cache the file forever, and a new version has a new name. */
export function toAsset(name: string, extension: keyof typeof TYPES, content: Buffer): Asset {
  const version = hash('sha256', content, 'base64url').slice(0, 12);
  return { path: `/assets/${name}.${version}.${extension}`, type: TYPES[extension], content };
}

/** Minifies: removes comment lines, indentation, and the space after a property name. */
function withoutLayout(source: string): string {
  return source
    .replaceAll(/^\s*(?:\/\/.*|\/\*.*\*\/)?\n/gm, '')
    .replaceAll(/^\s+/gm, '')
    .replaceAll(/^([a-z-]+): (?=[^{]*;$)/gm, '$1:');
}

/** Rules need no line breaks between their parts; one inside a value stays. */
function withoutLineBreaks(css: string): string {
  return css
    .replaceAll(/(?<=[;,}])\n/g, '')
    .replaceAll(/ ?\{\n/g, '{')
    .replaceAll(';}', '}');
}

export const STYLESHEET = asset('storefront', 'css');
export const SCRIPT = asset('storefront', 'js');
export const PASSKEY_SCRIPT = asset('passkeys', 'js');

export function assetRoutes(app: FastifyInstance, assets: readonly Asset[]): void {
  for (const { path, type, content } of assets) {
    app.get(path, { schema: { hide: true } }, async (_request, reply) =>
      reply.type(type).header('cache-control', 'public, max-age=31536000, immutable').send(content),
    );
  }
}
