import { readdirSync, readFileSync } from 'node:fs';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { longestBlock, MAX_BLOCK, slowdown } from '../../../test/event-loop.ts';
import { startService, type Service } from '../../../test/service.ts';
import { buildApp } from '../../composition/app.ts';
import { PROBLEM_CODES } from '../../http/errors.ts';
import { REFUSALS } from '../../http/refusals.ts';
import { openapiText } from '../../openapi/document.ts';
import type { SearchEntry } from './search.ts';

const FOLDER = new URL('../../../docs/', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, FOLDER), 'utf8');
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.md'),
);

/** Milliseconds for which one request may hold the event loop. */

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await service.app.inject({ url, headers: { host: 'localhost:8080', ...headers } });
  return { status: response.statusCode, headers: response.headers, text: response.body };
}

const linksOf = (text: string) => [...text.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, link]) => link!);

/** The longest block of each first request to an app that has just started. */
async function firstBlocks(): Promise<[url: string, ms: number][]> {
  const { db, config } = service;
  const app = await buildApp({ config, db, log: pino({ level: 'silent' }) });
  const headers = { host: 'localhost:8080' };
  expect((await app.inject({ url: '/', headers })).statusCode).toBe(200);
  const blocks: [string, number][] = [];
  for (const url of FIRST_PAGES) {
    const before = slowdown();
    const block = await longestBlock(async () => {
      expect((await app.inject({ url, headers })).statusCode).toBe(200);
    });
    blocks.push([url, block / Math.min(before, slowdown())]);
  }
  await app.close();
  return blocks;
}

const FIRST_PAGES = [
  '/docs',
  '/docs/apps',
  '/docs/search.json',
  '/docs/reference',
  '/openapi.json',
  '/llms.txt',
];

test('the first requests after a start do not keep others waiting', async () => {
  let tooLong: [string, number][] = [];
  // Tried again with another app, because what a busy machine did is not what the program does.
  for (let tries = 0; tries < 5; tries++) {
    tooLong = (await firstBlocks()).filter(([, ms]) => ms >= MAX_BLOCK);
    if (tooLong.length === 0) return;
  }
  expect(tooLong).toEqual([]);
});

test('every guide is a page, and every link of every page leads somewhere', async () => {
  const pages = new Map<string, string>();
  const open = async (url: string): Promise<string> => {
    const known = pages.get(url);
    if (known !== undefined) return known;
    const { status, text } = await get(url);
    expect([url, status]).toEqual([url, 200]);
    pages.set(url, text);
    return text;
  };
  const links = linksOf(await open('/docs')).map((link): [string, string] => ['/docs', link]);
  for (let link = links.pop(); link; link = links.pop()) {
    const [from, target] = link;
    if (/^(?:https?|data):/.test(target)) continue;
    const [path = '', anchor] = target.split('#');
    const url = path === '' ? from : path;
    const isNew = !pages.has(url);
    const text = await open(url);
    if (anchor !== undefined && url !== '/docs/reference') {
      expect(text.includes(` id="${anchor}"`), `${from} links ${target}`).toBe(true);
    }
    const isPage = text.startsWith('<!doctype html>') && url.startsWith('/docs') && url !== '/docs/reference';
    if (isNew && isPage) links.push(...linksOf(text).map((inner): [string, string] => [url, inner]));
  }
  const shown = files.map((file) => `/docs/${file}`.replace(/(?:\/README)?\.md$/, ''));
  expect(shown.filter((url) => !pages.has(url))).toEqual([]);
});

test('a guide comes as it was written, too, and as 304 to who has it', async () => {
  const { headers, text } = await get('/docs/operations/backup.md');
  expect(text).toBe(read('operations/backup.md'));
  expect(headers['content-type']).toBe('text/markdown; charset=utf-8');
  const again = await get('/docs/operations/backup.md', { 'if-none-match': String(headers['etag']) });
  expect([again.status, again.text]).toEqual([304, '']);
});

test('a guide shows the address that it is served on, and nothing of a Host that is no host', async () => {
  const { text, headers } = await get('/docs/getting-started', { host: 'kontor.example:8443' });
  expect(text).toContain('curl &#39;http://kontor.example:8443/rs/shops/DemoShop/products?q=kettle&#39;');
  expect(text).not.toContain('localhost:8080');
  const local = await get('/docs/first-shop', { host: 'localhost:18200' });
  expect(local.text).toContain('http://myshop.localhost:18200');
  // The ETag belongs to the address as well.
  const other = await get('/docs/getting-started', { 'if-none-match': String(headers['etag']) });
  expect(other.status).toBe(200);
  for (const host of ['a"><script>', 'x y', '']) {
    const odd = await get('/docs', { host });
    expect([host, odd.status, odd.text.includes('<script>')]).toEqual([host, host === '' ? 200 : 400, false]);
  }
  const found = (await get('/docs/search.json', { host: 'kontor.example:8443' })).text;
  expect(found).toContain('http://kontor.example:8443/rs/shops');
  expect(JSON.parse(found)).not.toHaveLength(0);
});

test('every code of a refusal has its place on the page of errors', async () => {
  const { text } = await get('/docs/errors');
  for (const code of [...Object.keys(REFUSALS), ...Object.keys(PROBLEM_CODES)]) {
    expect(text).toContain(`<h3 id="${code.toLowerCase()}">`);
  }
});

test('a page holds the text, its place in the contents and no script or style of its own', async () => {
  const { headers, text } = await get('/docs/operations/backup');
  expect(text).toContain('<title>Backup and restore - Kontor</title>');
  expect(text).toContain('<a href="/docs/operations/backup" aria-current="page">Backup and restore</a>');
  expect(text).toContain('<h2 id="one-shop"><a href="#one-shop">One shop</a></h2>');
  expect(text).toContain('npx kontor shop backup DemoShop demo.backup');
  // CONTRIBUTING.md is not served.
  expect((await get('/docs/architecture')).text).not.toContain('CONTRIBUTING.md"');
  expect(headers['content-security-policy']).toContain("script-src 'self'; style-src 'self'");
  expect(text).not.toMatch(/\sstyle=|\son\w+=|<script>|<style/);
});

test.each([
  '/docs/nothing',
  '/docs/../package.json',
  '/docs/%2e%2e/package.json',
  '/docs/..%2fpackage.json',
  '/docs/decisions',
  '/docs/screenshots/../../LICENSE',
  '/docs/README',
])('%s is a page that does not exist', async (url) => {
  const { status, text } = await get(url);
  expect(status).toBe(404);
  expect(text).not.toContain('"dependencies"');
});

describe('the search', () => {
  test('knows every section of every guide and every operation, each with an address that exists', async () => {
    const entries = JSON.parse((await get('/docs/search.json')).text) as SearchEntry[];
    expect(entries).toContainEqual({
      url: '/docs/operations/upgrade',
      title: 'Upgrade',
      place: 'Guide',
      text: expect.stringContaining(' '),
    });
    expect(entries).toContainEqual({
      url: '/docs/reference#tag/carts/createCart',
      title: 'Create cart',
      place: 'POST /rs/shops/{shopId}/carts',
      text: expect.stringMatching(/^createCart carts /),
    });
    const headings = files.flatMap((file) => [
      ...read(file)
        .replaceAll(/```.*?```/gs, '')
        .matchAll(/^#+ /gm),
    ]);
    const { paths } = JSON.parse(await openapiText(service.app)) as { paths: Record<string, object> };
    const operations = Object.values(paths).flatMap((item) => Object.keys(item));
    expect(entries).toHaveLength(headings.length + operations.length);
  });

  test('can be done without: the overview lists every operation', async () => {
    const { text } = await get('/docs');
    const { paths } = JSON.parse(await openapiText(service.app)) as { paths: Record<string, object> };
    for (const [path, item] of Object.entries(paths)) {
      for (const method of Object.keys(item))
        expect(text).toContain(`${method.toUpperCase()} ${path}</code>`);
    }
  });
});

test('/llms.txt says what this is and links what programs read, under the address that was asked', async () => {
  const { headers, text } = await get('/llms.txt', { host: 'kontor.example' });
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(text).toMatch(/^# Kontor\n\n> An open-source shop back end\./);
  expect(text).toContain('](http://kontor.example/openapi.json)');
  const links = [...text.matchAll(/\]\(http:\/\/kontor\.example([^)]+)\)/g)].map(([, path]) => path!);
  expect(links).toContain('/docs/getting-started.md');
  for (const link of links) expect([link, (await get(link)).status]).toEqual([link, 200]);
});

test('the reference is served from here alone, and links the guides', async () => {
  const { headers, text } = await get('/docs/reference');
  expect(text).toContain('<title>Kontor API reference</title>');
  expect(text).toContain('<a href="/docs" >Guides</a>');
  expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self' 'sha256-");
  expect(headers['content-security-policy']).toContain("connect-src 'self'");
  const { headers: script } = await get('/docs/scalar.js', { 'accept-encoding': 'gzip' });
  expect(script).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'content-encoding': 'gzip',
  });
});
