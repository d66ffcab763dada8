import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Frame, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { givenMerchant, openAdmin } from '../admin.ts';
import { browsing, look } from '../browser.ts';
import { givenInstalledApp, startFakeApp, type FakeApp } from '../fake-app.ts';
import { waitFor } from '../process.ts';

/** Pages of an app in the admin: what the bridge does, and what an app that means harm gets. */

const shop = browsing({ onLocalhost: true });
const PATIENCE = { timeout: 60_000 };

let app: FakeApp;
let evil: FakeApp;
let appId: string;
let orderId: string;
let library: string;
/** What a page of the app runs, by its path. */
let scripts: Record<string, string> = {};

beforeAll(async () => {
  app = await startFakeApp();
  evil = await startFakeApp();
  const bundle = await rolldown({
    input: path.join(import.meta.dirname, '../../packages/client/src/app.ts'),
  });
  library = (await bundle.generate({ format: 'es' })).output[0].code;
  appId = await givenInstalledApp(await givenMerchant(shop.service), app);
  const { items } = (await shop.service.call('GET', '/DemoShop/orders', { token: 'demo-all' })).body;
  orderId = items[0].orderId;
}, 60_000);
afterAll(async () => {
  await app.close();
  await evil.close();
});

beforeEach(() => {
  scripts = {};
  shop.otherSites.push(app.origin, evil.origin);
  evil.answer = () => false;
  app.asked.length = 0;
  app.answer = ({ url }, response) => {
    if (url === '/app.js') {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(library);
      return true;
    }
    if (!url!.startsWith('/pages/')) return false;
    const script = scripts[url!] ?? 'await connectToAdmin();';
    response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'own=1' }).end(
      `<!doctype html><html lang="en"><title>App</title><p id="said"></p><button>Go</button><script type="module">
        import { connectToAdmin } from '/app.js';
        const say = (value) => (document.getElementById('said').textContent = JSON.stringify(value));
        const onClick = (work) => document.querySelector('button').addEventListener('click', work);
        ${script}
      </script></html>`,
    );
    return true;
  };
});

const frameIn = async (page: Page): Promise<Frame> => {
  const element = await page.waitForSelector('iframe');
  return (await element.contentFrame())!;
};

/** What the test asks of the page counts as something that its reader does, so it waits for the app to say that it has tried. */
const triedWithoutClick = () => waitFor(() => app.asked.includes('/pages/tried'));

/** What the page of the app has found out. */
async function said(page: Page): Promise<unknown> {
  const frame = await frameIn(page);
  await frame.waitForFunction('document.getElementById("said")?.textContent');
  return JSON.parse((await frame.textContent('#said'))!);
}

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

test(
  'an app gets its context and a token through the bridge, and nothing in its address',
  PATIENCE,
  async () => {
    scripts['/pages/parcel'] = `
    // The browser has just been started, beside others.
    const frame = await connectToAdmin({ origins: ['${shop.serviceOrigin}'], timeout: 30_000 });
    await frame.resize(333);
    await frame.toast('<b>Printed</b>');
    say({ context: frame.context, token: await frame.token(), at: location.href });`;
    for (const screen of ['wide', 'phone'] as const) {
      const page = await openAdmin(shop, `/orders/${orderId}`, { screen });
      const { token, ...rest } = (await said(page)) as { token: string };
      expect(rest).toEqual({
        context: { kind: 'block', name: 'parcel', ids: [orderId], language: 'en' },
        at: `${app.origin}/pages/parcel`,
      });
      expect(claimsOf(token)).toMatchObject({ aud: appId, shop: 'DemoShop', page: 'parcel', ids: [orderId] });
      expect(await page.getAttribute('iframe', 'height')).toBe('333');
      expect(await page.textContent('#notices .notice')).toBe(`Labels (${app.host}): <b>Printed</b>`);
      expect(await page.getAttribute('iframe', 'sandbox')).toBe(
        'allow-scripts allow-forms allow-same-origin',
      );
      await look(page);
    }
  },
);

test('an app leads to pages of the admin after a click, and nowhere else', PATIENCE, async () => {
  scripts['/pages/labels'] = `
    const frame = await connectToAdmin();
    const refusals = [];
    const attempt = async (path) => {
      try { await frame.navigate(path); refusals.push(path + ' was allowed'); }
      catch ({ message }) { refusals.push(message); }
    };
    await attempt('/orders');
    await fetch('/pages/tried');
    onClick(async () => {
      for (const path of ['//evil.example', 'https://evil.example', 'javascript:alert(1)', '/../../account',
        '/..%2f..%2faccount/../../../sign-in', '/\\\\..\\\\..\\\\account', 'orders', 7, '/' + 'x'.repeat(600)]) await attempt(path);
      say(refusals);
      onClick(() => frame.navigate('/orders?q=1'));
    });`;
  const page = await openAdmin(shop, `/apps/${appId}/pages/labels`);
  await triedWithoutClick();
  const frame = await frameIn(page);
  await frame.click('button');
  const wrong = 'The admin has refused it: wrong';
  expect(await said(page)).toEqual([
    'The admin has refused it: noClick',
    ...Array.from({ length: 9 }, () => wrong),
  ]);
  await frame.click('button');
  await page.waitForURL('**/admin/shops/DemoShop/orders?q=1');
});

test('people choose products and orders in a dialog of the admin', PATIENCE, async () => {
  scripts['/pages/labels'] = `
    const frame = await connectToAdmin();
    onClick(async () => {
      const products = await frame.pickProducts();
      const orders = await frame.pickOrders({ several: true });
      say({ products, orders, none: await frame.pickProducts() });
    });`;
  const page = await openAdmin(shop, `/apps/${appId}/pages/labels`);
  await page.waitForTimeout(300);
  await (await frameIn(page)).click('button');
  const dialog = page.getByRole('dialog');
  expect(await dialog.getByRole('heading').innerText()).toBe(`Choose products for Labels (${app.host})`);
  await dialog.getByRole('searchbox').fill('BK-100');
  await look(page);
  await dialog.getByRole('button', { name: 'BK-100' }).click();
  await dialog.getByRole('searchbox').fill('10');
  const box = dialog.getByRole('checkbox').first();
  await box.check();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('dialog', { name: 'Choose products' }).getByRole('button', { name: 'Close' }).click();
  const found = (await said(page)) as Record<string, Record<string, string>[]>;
  expect(found['products']).toEqual([{ id: expect.any(String), name: expect.any(String), number: 'BK-100' }]);
  expect(found['orders']!.map((order) => Object.keys(order))).toEqual([['id', 'number']]);
  expect(found['none']).toEqual([]);
});

test('an app saves files and opens addresses after a click, of harmless kinds', PATIENCE, async () => {
  scripts['/pages/labels'] = `
    const frame = await connectToAdmin();
    const refusals = [];
    const attempt = async (work) => {
      try { await work(); refusals.push('allowed'); } catch ({ message }) { refusals.push(message); }
    };
    const file = (type, content = 'x') => new Blob([content], { type });
    await attempt(() => frame.save(file('application/pdf'), 'label'));
    await attempt(() => frame.open('https://carrier.example/1'));
    await fetch('/pages/tried');
    onClick(async () => {
      for (const type of ['text/html', 'image/svg+xml', 'application/x-msdownload', '__proto__', ''])
        await attempt(() => frame.save(file(type), 'label.pdf'));
      await attempt(() => frame.save('text', 'label'));
      await attempt(() => frame.save(file('text/plain'), 7));
      await attempt(() => frame.save(file('text/plain', 'x'.repeat(20_000_001)), 'large'));
      for (const address of ['javascript:alert(1)', 'http://carrier.example', '/orders', 7, 'https://x/' + 'x'.repeat(2000)])
        await attempt(() => frame.open(address));
      say(refusals);
      onClick(() => frame.save(file('application/pdf;v=1', '%PDF-1.7'), '../la\\u202ebel.exe'));
    });`;
  const page = await openAdmin(shop, `/apps/${appId}/pages/labels`);
  await triedWithoutClick();
  const frame = await frameIn(page);
  await frame.click('button');
  const wrong = 'The admin has refused it: wrong';
  const noClick = 'The admin has refused it: noClick';
  expect(await said(page)).toEqual([noClick, noClick, ...Array.from({ length: 13 }, () => wrong)]);
  const [download] = await Promise.all([page.waitForEvent('download'), frame.click('button')]);
  expect(download.suggestedFilename()).toBe('-la-bel.exe.pdf');
  expect(await readFile(await download.path(), 'utf8')).toBe('%PDF-1.7');
});

test('changes that are not saved are asked about', PATIENCE, async () => {
  scripts['/pages/labels'] = `
    const frame = await connectToAdmin();
    onClick(async () => { await frame.setUnsaved(true); say('unsaved'); });`;
  const page = await openAdmin(shop, `/apps/${appId}/pages/labels`);
  await page.waitForTimeout(300);
  await (await frameIn(page)).click('button');
  await said(page);
  const asked = page.waitForEvent('dialog');
  const leaving = page.getByRole('link', { name: 'Orders', exact: true }).click({ noWaitAfter: true });
  const dialog = await asked;
  expect(dialog.type()).toBe('beforeunload');
  await dialog.accept();
  await leaving;
});

test('an app that means harm reaches nothing of the page', PATIENCE, async () => {
  scripts['/pages/labels'] = `
    const found = {};
    const attempt = async (name, work) => {
      try { found[name] = (await work()) ?? 'nothing'; } catch { found[name] = 'refused'; }
    };
    const frame = await connectToAdmin();
    await attempt('cookie of the admin', () => parent.document.cookie);
    await attempt('page', () => parent.document.body.innerText);
    await attempt('storage', () => parent.localStorage.length);
    await attempt('frame element', () => window.frameElement === null ? 'nothing' : 'its sandbox');
    await attempt('top', () => { top.location = '${evil.origin}/pages/phish'; });
    await attempt('window', () => { if (window.open('${evil.origin}/x')) return 'opened'; throw new Error(); });
    await attempt('admin by fetch', async () =>
      (await fetch('${shop.serviceOrigin}/admin/shops/DemoShop/orders', { credentials: 'include' })).text());
    await attempt('token by fetch', async () =>
      (await fetch('${shop.serviceOrigin}/admin/shops/DemoShop/apps/${appId}/token', {
        method: 'POST', credentials: 'include', body: new URLSearchParams({ kind: 'page', name: 'labels' }) })).text());
    await attempt('huge', () => frame.resize(1e9));
    await attempt('no number', () => frame.resize(NaN));
    await attempt('no text', () => frame.toast({ toString: () => 'x' }));
    parent.postMessage({ kontor: 1, type: '__proto__', id: 1 }, '*');
    parent.postMessage({ kontor: 1, type: 'token', id: {} }, '*');
    parent.postMessage(null, '*');
    for (let sent = 0; sent < 500; sent++) parent.postMessage({ kontor: 1, type: 'toast', id: 9, text: 'again' }, '*');
    say(found);`;
  const page = await openAdmin(shop, `/apps/${appId}/pages/labels`);
  expect(await said(page)).toEqual({
    'cookie of the admin': 'refused',
    page: 'refused',
    storage: 'refused',
    'frame element': 'nothing',
    top: 'refused',
    window: 'refused',
    'admin by fetch': 'refused',
    'token by fetch': 'refused',
    huge: 'nothing',
    'no number': 'refused',
    'no text': 'refused',
  });
  expect(await page.getAttribute('iframe', 'height')).toBe('4000');
  expect(new URL(page.url()).pathname).toBe(`/admin/shops/DemoShop/apps/${appId}/pages/labels`);
  expect(await page.locator('#notices .notice').count()).toBe(1);
  // What the browser says of each refusal.
  expect(shop.problems.splice(0)).not.toEqual([]);
});

test(
  'a page of another origin inside the frame is not heard, and is not loaded in its place',
  PATIENCE,
  async () => {
    evil.answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><p id="said"></p><script>
      const heard = [];
      addEventListener('message', ({ data }) => { heard.push(data); });
      for (const target of [parent, top]) {
        target.postMessage({ kontor: 1, type: 'ready' }, '*');
        target.postMessage({ kontor: 1, type: 'token', id: 1 }, '*');
        target.postMessage({ kontor: 1, type: 'toast', id: 2, text: 'It is me' }, '*');
      }
      setTimeout(() => { document.getElementById('said').textContent = JSON.stringify(heard); }, 1000);
    </script>`);
      return true;
    };
    scripts['/pages/labels'] = `
    const inner = document.createElement('iframe');
    inner.src = '${evil.origin}/inner';
    document.body.append(inner);
    await connectToAdmin();
    say('there');`;
    const page = await openAdmin(shop, `/apps/${appId}/pages/labels`);
    expect(await said(page)).toBe('there');
    const inner = page.frames().find((frame) => frame.url().startsWith(evil.origin))!;
    await inner.waitForFunction('document.getElementById("said").textContent');
    expect(await inner.textContent('#said')).toBe('[]');
    expect(await page.locator('#notices .notice').count()).toBe(0);

    evil.asked.length = 0;
    scripts['/pages/labels'] = `location.replace('${evil.origin}/instead');`;
    await page.reload();
    await page.waitForTimeout(1_000);
    expect(evil.asked).toEqual([]);
    expect(shop.problems.splice(0).join('\n')).toContain('frame-src');
  },
);

test('an app that hangs or fails keeps nothing of the page waiting', PATIENCE, async () => {
  app.answer = () => true;
  const page = await openAdmin(shop, `/orders/${orderId}`);
  await page.waitForLoadState('load');
  await page.getByRole('heading', { name: 'Parcel' }).scrollIntoViewIfNeeded();
  expect(await page.getByRole('heading', { level: 1 }).isVisible()).toBe(true);
  await page.getByText(`Labels (${app.host}) has not answered yet.`).waitFor({ timeout: 15_000 });
  app.answer = (_request, response) => {
    response.writeHead(500, { 'content-type': 'text/html' }).end('<p>broken</p>');
    return true;
  };
  await page.goto(`/admin/shops/DemoShop/products`);
  await page.locator('tbody a').first().click();
  await page.waitForLoadState('load');
  expect(await page.getByRole('heading', { level: 1 }).isVisible()).toBe(true);
  shop.problems.length = 0;
});

test('who is signed out gets no token any more', PATIENCE, async () => {
  scripts['/pages/labels'] = `
    await connectToAdmin({ timeout: 1500 }).then(() => say('welcome'), ({ message }) => say(message));`;
  const page = await openAdmin(shop, `/apps/${appId}/pages/labels`);
  expect(await said(page)).toBe('welcome');
  await page.context().clearCookies();
  const frame = await frameIn(page);
  // The token that it has lasts for half a minute more.
  await page.clock.install({ time: Date.now() + 31_000 });
  await frame.evaluate('location.reload()');
  await page.getByText('You are signed out. Please load the page again.').waitFor();
  expect(await said(page)).toBe('The admin has not answered');
});
