import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { seriousProblems } from '../accessibility.ts';
import { allowAll, browsing, script } from '../browser.ts';

const shop = browsing({ onOwnHost: true });

const CHAT = 'https://cdn.example/chat.js';
const WORKER = 'https://cdn.example/worker.js';

test('a script of the same host that is not listed is refused', async () => {
  const page = await shop.open({ consents: true });
  await page.route(
    CHAT,
    script(`
      document.addEventListener('securitypolicyviolation', ({ blockedURI }) => (window.refused = blockedURI));
      const other = document.createElement('script');
      other.src = 'https://cdn.example/other.js';
      document.head.append(other);`),
  );
  await page.goto('/');
  await page.waitForFunction('window.refused');
  expect(await page.evaluate('refused')).toBe('https://cdn.example/other.js');
  expect(shop.problems.splice(0)).toEqual([expect.stringContaining("'https://cdn.example/other.js'")]);
});

test('an inline script, an eval and an inline style are refused', async () => {
  const page = await shop.open({ consents: true });
  await page.route(
    CHAT,
    script(`
      window.refused = [];
      document.addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective));
      const inline = document.createElement('script');
      inline.textContent = 'window.isRun = true';
      document.head.append(inline);
      document.body.setAttribute('style', 'color: red');
      try { eval('window.isRun = true'); } catch {}`),
  );
  await page.goto('/');
  await page.waitForFunction('window.refused.length === 3');
  expect(await page.evaluate('refused')).toEqual(['script-src-elem', 'style-src-attr', 'script-src']);
  expect(await page.evaluate('window.isRun')).toBeUndefined();
  expect(shop.problems.splice(0)).not.toEqual([]);
});

test('the service worker of an app runs, and is gone when its tag is', async () => {
  const page = await shop.open();
  const context = page.context();
  await context.route(WORKER, script(`onmessage = ({ ports: [port] }) => port.postMessage('at work');`));
  await allowAll(page);
  expect(await answerOfWorker(page)).toEqual(['at work', `${shop.origin}/`]);

  const { items } = (await shop.service.call('GET', '/DemoShop/script-tags', { token: 'demo-widgets' })).body;
  const { scriptTagId } = items.find(({ scriptUrl }: { scriptUrl: string }) => scriptUrl === WORKER);
  const path = `/DemoShop/script-tags/${scriptTagId}`;
  expect((await shop.service.call('DELETE', path, { token: 'demo-widgets' })).status).toBe(204);
  await page.reload();
  await page.waitForFunction(
    'navigator.serviceWorker.getRegistrations().then((found) => found.length === 0)',
  );
});

test('a service worker that fails does not take those of other apps with it', async () => {
  const token = 'demo-widgets';
  const ids: string[] = [];
  for (const name of ['broken', 'working']) {
    const body = { scriptUrl: `https://cdn.example/${name}-worker.js` };
    ids.push((await shop.service.call('POST', '/DemoShop/script-tags', { token, body })).body.scriptTagId);
  }
  const page = await shop.open();
  await page.context().route('**/broken-worker.js', (route) => route.abort());
  await page
    .context()
    .route('**/working-worker.js', script(`onmessage = ({ ports: [port] }) => port.postMessage('at work');`));
  await allowAll(page);
  expect(await answerOfWorker(page)).toEqual(['at work', `${shop.origin}/`]);
  shop.problems.length = 0;
  for (const id of ids) await shop.service.call('DELETE', `/DemoShop/script-tags/${id}`, { token });
});

/** What the worker says, and its scope. */
const answerOfWorker = (page: Page) =>
  page.evaluate(`navigator.serviceWorker.ready.then(({ active, scope }) => new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve([data, scope]);
    active.postMessage('', [port2]);
  }))`);

test('no script and no worker of an app is loaded before it is allowed, and none after that is withdrawn', async () => {
  const page = await shop.open();
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().startsWith('https://cdn.example/')) asked.push(request.url());
  });
  const workers = 'navigator.serviceWorker.getRegistrations().then((found) => found.length)';
  await page.goto('/Products/AP-110');
  await page.getByRole('button', { name: 'Allow only what is necessary' }).click();
  await page.goto('/');
  expect(asked).toEqual([]);
  expect(await page.evaluate(workers)).toBe(0);
  await allowAll(page);
  await page.waitForFunction(`${workers}.then((count) => count === 1)`);
  expect(asked).toContain(CHAT);
  await page.locator('main button[value=necessary]').click();
  await page.waitForFunction(`${workers}.then((count) => count === 0)`);
  asked.length = 0;
  await page.goto('/Products/AP-110');
  expect(asked).toEqual([]);
});

test('consent is asked for until it is given or refused, and can be changed', async () => {
  for (const runsScripts of [true, false]) {
    const page = await shop.open({ runsScripts });
    await page.goto('/consent?locale=fr_FR');
    expect(await banners(page)).toBe(0);
    expect(await page.getByRole('button', { name: 'Tout accepter' }).count()).toBe(1);
    await page.goto('/');
    await page
      .getByRole('region', { name: 'Your privacy' })
      .getByText('Allow only what is necessary')
      .click();
    expect(await banners(page)).toBe(0);
    expect(new URL(page.url()).pathname).toBe('/');

    await page.goto('/consent?locale=de_DE');
    expect(await page.getByText('Sie haben nur Notwendiges erlaubt.').count()).toBe(1);
    if (runsScripts) expect(await seriousProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Alles erlauben' }).click();
    expect(await page.getByText('Sie haben alles erlaubt.').count()).toBe(1);
    expect(await page.locator('.notice').innerText()).toBe('Ihre Auswahl wurde gespeichert.');
    expect(await banners(page)).toBe(0);
  }
});

const banners = (page: Page) => page.locator('.consent').count();
