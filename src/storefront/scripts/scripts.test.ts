import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDemo } from '../../../test/demo.ts';
import { cookieOfConsent, loadAppScripts } from '../../../test/storefront.ts';
import type { Service } from '../../../test/service.ts';
import { applySettings } from '../../shops/settings/file.ts';
import { SCRIPT } from '../layout/assets.ts';

let service: Service;
/** Of a visitor who has allowed everything. */
let consent: string;

beforeAll(async () => {
  service = await startDemo();
  consent = await cookieOfConsent(service, 'DemoShop');
});

test('the demo shop loads nothing from the host of its apps, which does not exist', async () => {
  const { scripts, policy } = await open('');
  expect(scripts).toEqual([SCRIPT.path]);
  expect(policy['connect-src']).toEqual(["'self'"]);
  await loadAppScripts(service);
});

afterAll(() => service.close());

/** On the shop's own host: on the one that shops share, no scripts are loaded. */
const visit = (url: string, host = 'demoshop.localhost', cookie = consent) =>
  service.app.inject({ url, headers: { host, cookie } });

const open = async (path: string, cookie = consent) => {
  const { statusCode, headers, body } = await visit(path || '/', 'demoshop.localhost', cookie);
  const policy = String(headers['content-security-policy']);
  const directives = policy.split('; ').map((directive) => directive.split(' '));
  const scripts = [...body.matchAll(/<script src="([^"]*)" defer><\/script>/g)].map(([, url]) => url!);
  return {
    status: statusCode,
    headers,
    body,
    policy: Object.fromEntries(directives.map(([name, ...values]) => [name, values])),
    scripts,
  };
};

/** A tag for the time of a test. */
async function withTags(
  urls: readonly string[],
  work: () => Promise<void>,
  fields: { necessary?: boolean } = {},
): Promise<void> {
  const token = 'demo-all';
  const made: string[] = [];
  for (const scriptUrl of urls) {
    const { body } = await service.call('POST', '/DemoShop/script-tags', {
      token,
      body: { scriptUrl, ...fields },
    });
    expect(body.necessary).toBe(fields.necessary);
    made.push(body.scriptTagId);
  }
  try {
    await work();
  } finally {
    for (const id of made) await service.call('DELETE', `/DemoShop/script-tags/${id}`, { token });
  }
}

/** Of the demo shop, made at the same time: their order is not known. */
const TAGS = ['https://cdn.example/badge.js', 'https://cdn.example/chat.js'];

test('every page loads our script and then those of the apps, and allows exactly them', async () => {
  for (const [path, status] of [
    ['', 200],
    ['/consent', 200],
    ['/Products/no-such-product', 404],
    ['/no-such-page', 404],
  ] as const) {
    const page = await open(path);
    expect(page.status).toBe(status);
    expect(page.scripts[0]).toBe(SCRIPT.path);
    expect(page.scripts.slice(1).toSorted()).toEqual(TAGS);
    expect(page.policy['script-src']!.toSorted()).toEqual([
      `http://demoshop.localhost${SCRIPT.path}`,
      ...TAGS,
    ]);
    expect(page.policy).toMatchObject({
      'default-src': ["'none'"],
      'connect-src': ["'self'", 'https://cdn.example'],
      'frame-src': ['https://cdn.example'],
      'worker-src': ['http://demoshop.localhost/worker.js'],
    });
    expect(page.body).toContain('<meta name="worker" content="/worker.js" />');
  }
});

test('a visitor who has not allowed them is spared the scripts and workers of apps', async () => {
  for (const cookie of ['', await cookieOfConsent(service, 'DemoShop', 'necessary')]) {
    const { scripts, policy, body } = await open('/Products/AP-100', cookie);
    expect(scripts).toEqual([SCRIPT.path]);
    expect(body).not.toContain('cdn.example');
    expect(body).not.toContain('page.events');
    expect(body).not.toContain('name="worker"');
    expect(policy).toMatchObject({
      'script-src': [`http://demoshop.localhost${SCRIPT.path}`],
      'connect-src': ["'self'"],
      'frame-src': ["'none'"],
      'worker-src': ["'none'"],
    });
    // One that was registered before is ended.
    const worker = await visit('/worker.js', 'demoshop.localhost', cookie);
    expect(worker.statusCode).toBe(200);
    expect(worker.body).toContain('self.registration.unregister()');
    expect(worker.body).not.toContain('importScripts');
  }
});

test('but for those that app and merchant call necessary', async () => {
  const tool = 'https://apps.example/consent.js';
  const agree = (necessary: string[]) =>
    service.db.transaction((tx) => applySettings(tx, 'DemoShop', { appScripts: { load: true, necessary } }));
  const scriptsFor = async (cookie: string) => (await open('', cookie)).scripts.slice(1);
  await withTags(
    [tool],
    async () => {
      expect(await scriptsFor('')).toEqual([]);
      await agree([tool]);
      expect(await scriptsFor('')).toEqual([tool]);
      expect((await open('', '')).policy['script-src']).toContain(tool);
      expect((await scriptsFor(consent)).toSorted()).toEqual([tool, ...TAGS]);
    },
    { necessary: true },
  );
  // The merchant alone does not make a script necessary.
  await withTags([tool], async () => expect(await scriptsFor('')).toEqual([]));
  await agree([]);
});

test('a new script is there at once, and one that was deleted is gone at once', async () => {
  await withTags(['https://apps.example:8443/a,b;c.js?shop=1&x=y'], async () => {
    const { policy, scripts } = await open('');
    expect(scripts).toContain('https://apps.example:8443/a,b;c.js?shop=1&amp;x=y');
    expect(policy['script-src']).toContain('https://apps.example:8443/a%2Cb%3Bc.js');
    expect(policy['connect-src']).toEqual(["'self'", 'https://cdn.example', 'https://apps.example:8443']);
  });
  const { policy, scripts } = await open('');
  expect(scripts).toHaveLength(3);
  expect(policy['connect-src']).toEqual(["'self'", 'https://cdn.example']);
});

test('a host that would mean something else in a policy is left out of pages and policy', async () => {
  const before = await open('');
  await withTags(
    [
      'https://*.example/all.js',
      "https://x;script-src-elem'/a.js",
      'https://a,b/c.js',
      'https://x;y/worker.js',
    ],
    async () => {
      const { policy, scripts } = await open('');
      expect(policy).toEqual(before.policy);
      expect(scripts).toEqual(before.scripts);
    },
  );
});

test('one service worker loads those of all apps', async () => {
  await withTags(['https://push.example/load?shop=1&name=worker.js'], async () => {
    const { status, headers, body, policy } = await open('/worker.js');
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'private, no-cache',
    });
    expect(body.trim().split('\n')).toEqual([
      'try { importScripts("https://cdn.example/worker.js"); } catch (error) { reportError(error); }',
      'try { importScripts("https://push.example/load?shop=1&name=worker.js"); } catch (error) { reportError(error); }',
    ]);
    expect(policy).toEqual({
      'default-src': ["'none'"],
      'script-src': ['https://cdn.example/worker.js', 'https://push.example/load'],
      'connect-src': ["'self'", 'https:'],
    });
  });
});

test('a shop without scripts allows none, and has no service worker', async () => {
  const page = await visit('/', 'emptyshop.localhost');
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toContain(`script-src http://emptyshop.localhost${SCRIPT.path}; `);
  expect(policy).toContain("frame-src 'none'; worker-src 'none'");
  expect(page.body).not.toContain('name="worker"');
  expect((await visit('/worker.js', 'emptyshop.localhost')).statusCode).toBe(404);
});
