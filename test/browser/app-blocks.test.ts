import type { Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { deleteApp } from '../../src/apps/apps.ts';
import { givenMerchant, type Merchant } from '../admin.ts';
import { browsing, look } from '../browser.ts';
import { givenInstalledApp, LABELS, startFakeApp, type FakeApp } from '../fake-app.ts';

/** Blocks of an app in the storefront: what visitors see, and what an app that means harm gets. */

const shop = browsing({ onLocalhost: true });
const PATIENCE = { timeout: 60_000 };
const BASE = '/shop/DemoShop';

let app: FakeApp;
let evil: FakeApp;
let merchant: Merchant;
let appId: string;
let script = '';

beforeAll(async () => {
  app = await startFakeApp();
  evil = await startFakeApp();
  app.manifest = {
    ...LABELS,
    storefrontBlocks: [
      {
        name: 'advisor',
        place: 'page',
        title: { en: 'Size advisor', de: 'Größenberater' },
        url: '/shown/advisor',
      },
      { name: 'reviews', place: 'product', title: { en: 'Reviews' }, url: '/shown/reviews', height: 321 },
    ],
  };
  merchant = await givenMerchant(shop.service);
  appId = await givenInstalledApp(merchant, app);
}, 60_000);
afterAll(async () => {
  await app.close();
  await evil.close();
});

beforeEach(() => {
  script = '';
  shop.otherSites.push(app.origin, evil.origin);
  app.answer = ({ url }, response) => {
    if (!url!.startsWith('/shown/')) return false;
    response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'own=1' }).end(
      `<!doctype html><html lang="en"><title>App</title><h1>Shown</h1><p id="said"></p><script type="module">
        const say = (value) => (document.getElementById('said').textContent = JSON.stringify(value));
        ${script}
      </script></html>`,
    );
    return true;
  };
  app.asked.length = 0;
});

/** The page of a product, with the block of the app opened. */
async function openReviews(screen: 'wide' | 'phone' = 'wide'): Promise<{ page: Page; frame: Frame }> {
  const page = await shop.open({ screen });
  await page.goto(`${BASE}/Products/AP-100`);
  await page.locator('a[data-app-block]', { hasText: 'Reviews' }).click();
  const element = await page.waitForSelector('.app-block iframe');
  return { page, frame: (await element.contentFrame())! };
}

async function said(frame: Frame): Promise<unknown> {
  await frame.waitForFunction('document.getElementById("said")?.textContent');
  return JSON.parse((await frame.textContent('#said'))!);
}

test(
  'a visitor loads a block on the page of a product with a click, labelled with the app',
  PATIENCE,
  async () => {
    script = `parent.postMessage({ kontor: 1, type: 'size', height: 456.4 }, '*'); say(location.search);`;
    for (const screen of ['wide', 'phone'] as const) {
      const { page, frame } = await openReviews(screen);
      const query = new URLSearchParams((await said(frame)) as string);
      expect(Object.fromEntries(query)).toEqual({
        shop: 'DemoShop',
        locale: 'en_GB',
        productId: expect.stringMatching(/^[0-9A-F-]{36}$/),
      });
      const block = page.locator('.app-block');
      expect(await block.innerText()).toContain(`From Labels (${app.host}).`);
      expect(await page.getAttribute('iframe', 'title')).toBe(`Reviews: Labels (${app.host})`);
      await page.waitForFunction(`document.querySelector('iframe').height === '456'`);
      await look(page);
    }
  },
);

test('a merchant puts a block on a page, and without its app it is gone', PATIENCE, async () => {
  script = `say(location.pathname);`;
  const given = async (title: string, block: string): Promise<string> => {
    const { status, body } = await shop.service.call('POST', '/manage/shops/DemoShop/pages', {
      token: 'demo-all',
      body: {
        kind: 'page',
        published: true,
        texts: [{ locale: 'en_GB', title, blocks: [{ type: 'app', block }] }],
      },
    });
    expect([status, body.message]).toEqual([201, undefined]);
    return body.pageId;
  };
  const pageId = await given('Sizes', `${app.host}/advisor`);
  const editor = (await merchant.get(`/pages/${pageId}`)).text.replaceAll(/\s+/g, ' ');
  expect(editor).toMatch(new RegExp(`<option value="${app.host}/advisor" selected ?>Size advisor: Labels`));
  expect(editor).not.toContain(`${app.host}/reviews`);

  const framesOf = async (path: string) => {
    const { headers } = await shop.service.app.inject({ url: BASE + path });
    return /frame-src ([^;]*)/.exec(String(headers['content-security-policy']))![1];
  };
  expect(await framesOf('/pages/sizes')).toBe(app.origin);
  expect(await framesOf('/Products/AP-100')).toBe(app.origin);
  expect(await framesOf('')).toBe("'none'");
  // What only products have, and what no app has.
  for (const [title, block] of [
    ['Reviews', `${app.host}/reviews`],
    ['Unknown', 'unknown.example/advisor'],
  ] as const) {
    await given(title, block);
    expect(await framesOf(`/pages/${title.toLowerCase()}`)).toBe("'none'");
  }
  const page = await shop.open();
  await page.goto(`${BASE}/pages/sizes`);
  await page.locator('a[data-app-block]', { hasText: 'Size advisor' }).click();
  const element = await page.waitForSelector('.app-block iframe');
  expect(await said((await element.contentFrame())!)).toBe('/shown/advisor');
  await look(page);
});

test(
  'nothing of the app is loaded before the click, and a slow app keeps nothing waiting',
  PATIENCE,
  async () => {
    const page = await shop.open();
    await page.goto(`${BASE}/Products/AP-100`);
    await page.waitForLoadState('load');
    expect(app.asked).toEqual([]);
    app.answer = () => true;
    await page.locator('a[data-app-block]', { hasText: 'Reviews' }).click();
    await page.getByRole('button', { name: 'Add to cart' }).first().click();
    await page.getByText('Beacon Kettle 1.7 l').first().waitFor();
    expect(app.asked).toEqual([expect.stringMatching(/^\/shown\/reviews\?/)]);
  },
);

test('an app that means harm reaches nothing of the page', PATIENCE, async () => {
  script = `
    const found = { origin: self.origin };
    const attempt = async (name, work) => {
      try { found[name] = (await work()) ?? 'nothing'; } catch { found[name] = 'refused'; }
    };
    await attempt('cookie of the shop', () => parent.document.cookie);
    await attempt('own cookie', () => { document.cookie = 'a=1'; return document.cookie; });
    await attempt('own storage', () => localStorage.length);
    await attempt('page', () => parent.document.body.innerText);
    await attempt('storage', () => parent.localStorage.length);
    await attempt('frame element', () => window.frameElement === null ? 'nothing' : 'its sandbox');
    await attempt('top', () => { top.location = '${evil.origin}/phish'; });
    await attempt('window', () => { if (window.open('${evil.origin}/x')) return 'opened'; throw new Error(); });
    await attempt('shop by fetch', async () =>
      (await fetch('${shop.serviceOrigin}${BASE}/cart', { credentials: 'include' })).text());
    for (const height of [NaN, '9', null, {}, -1, 1e9]) parent.postMessage({ kontor: 1, type: 'size', height }, '*');
    parent.postMessage(null, '*');
    parent.postMessage({ kontor: 1, type: 'navigate', path: '/cart' }, '*');
    say(found);`;
  const { page, frame } = await openReviews();
  expect(await said(frame)).toEqual({
    origin: 'null',
    'cookie of the shop': 'refused',
    'own cookie': 'refused',
    'own storage': 'refused',
    page: 'refused',
    storage: 'refused',
    'frame element': 'nothing',
    top: 'refused',
    window: 'refused',
    'shop by fetch': 'refused',
  });
  await page.waitForFunction(`document.querySelector('iframe').height === '4000'`);
  expect(new URL(page.url()).pathname).toBe(`${BASE}/Products/AP-100`);

  // The policy of the page lets the frame go nowhere else.
  script = `location.replace('${evil.origin}/instead');`;
  await openReviews();
  await page.waitForTimeout(1_000);
  expect(evil.asked).toEqual([]);
  expect(shop.problems.splice(0)).not.toEqual([]);
});

test('an app that is uninstalled shows nothing any more', PATIENCE, async () => {
  await shop.service.db.transaction((tx) => deleteApp(tx, 'DemoShop', appId));
  const { headers, body } = await shop.service.app.inject({ url: `${BASE}/Products/AP-100` });
  expect(String(headers['content-security-policy'])).toContain("frame-src 'none'");
  expect(body).not.toContain('app-block');
});
