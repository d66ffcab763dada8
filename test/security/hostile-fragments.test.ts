import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openAdmin } from '../admin.ts';
import { browsing } from '../browser.ts';

/**
 * The admin replaces parts of its pages with htmx, which acts on attributes: a text that became markup could send forms in
 * the name of the merchant without any script. Stored texts are hostile here, and so are whole fragments, as if somebody
 * had broken into a proxy. Nothing of it runs, and nothing is asked for.
 */

const shop = browsing();

/** Asks for /evil as soon as it is seen, in every way that htmx knows. */
const ATTRIBUTES =
  'hx-get="/evil" hx-trigger="load" data-hx-get="/evil" data-hx-trigger="load" hx-on:load="evil=1" hx-on::load="evil=1" ' +
  'hx-on="load: evil=1" data-hx-on:load="evil=1" hx-boost="true" hx-post="/evil" hx-vals="js:{a:evil=1}" ' +
  'hx-headers=\'js:{"a":evil=1}\' hx-ext="evil" hx-target="body" hx-select-oob="#main" hx-swap-oob="true" ' +
  'onload="evil=1" onerror="evil=1" onfocus="evil=1" autofocus tabindex="0" style="background:url(/evil)"';
const MARKUP =
  `"'><img src="/evil.png" ${ATTRIBUTES}><button ${ATTRIBUTES}>x</button><form action="/evil" ${ATTRIBUTES}>` +
  `<script>evil=1</script><iframe srcdoc="<script>parent.evil=1</script>"></iframe><svg ${ATTRIBUTES}><script>evil=1</script></svg>` +
  `<hx-partial hx-target="body"><script>evil=1</script></hx-partial><meta name="htmx-config" content='{"extensions":"evil"}'>` +
  `<base href="https://evil.example/"><link rel="stylesheet" href="/evil.css"><div hx-swap-oob="outerHTML:body">x</div>`;

/** Collects what the page asks for that no page of ours names. */
function watchEvil(page: Page): string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    const { hostname, pathname } = new URL(request.url());
    if (hostname.includes('evil') || pathname.includes('evil')) asked.push(request.url());
  });
  return asked;
}

/** Nothing has run, and no element carries an attribute of the payload. */
async function expectHarmless(page: Page, asked: readonly string[]): Promise<void> {
  await page.waitForTimeout(400);
  const found = await page.evaluate(`({
    evil: window.evil,
    elements: [...document.querySelectorAll('*')].flatMap((element) =>
      [...element.attributes]
        .filter(({ name, value }) => /^(data-)?hx-|^on/.test(name) && value.includes('evil'))
        .map(({ name }) => element.tagName + ' ' + name)),
  })`);
  expect(found).toEqual({ evil: undefined, elements: [] });
  expect(asked).toEqual([]);
}

const call = (method: string, path: string, body: unknown) =>
  shop.service.call(method, path, { token: 'demo-all', body });

test('texts that a merchant or a customer has stored are texts, in pages and in fragments', async () => {
  const products = await shop.service.call('GET', '/DemoShop/products?q=kettle', { token: 'demo-all' });
  const { productId } = products.body.items[0] as { productId: string };
  const changed = await call('PATCH', `/DemoShop/products/${productId}`, [
    { op: 'replace', path: '/name', value: `kettle ${MARKUP.slice(0, 150)}` },
    { op: 'replace', path: '/shortDescription', value: `kettle ${MARKUP}`.slice(0, 900) },
    { op: 'replace', path: '/description', value: `kettle ${MARKUP}` },
  ]);
  expect(changed.status).toBe(200);
  const orders = await shop.service.call('GET', '/DemoShop/orders', { token: 'demo-all' });
  const { orderId } = orders.body.items[0] as { orderId: string };
  await call('PATCH', `/DemoShop/orders/${orderId}`, [
    { op: 'add', path: '/internalNote', value: MARKUP.slice(0, 900) },
  ]);

  const page = await openAdmin(shop, '/products');
  const asked = watchEvil(page);
  // The list and the search are replaced by htmx.
  await page.locator('#search').fill('kettle');
  await page.locator('#found a').first().waitFor();
  await expectHarmless(page, asked);
  await page.locator('.filters input[type=search], form[hx-get] input[name=q]').first().fill('kettle');
  await expectHarmless(page, asked);
  for (const path of [
    `/products/${productId}`,
    `/products/${productId}/attributes`,
    `/products?q=${encodeURIComponent(MARKUP.slice(0, 90))}`,
    `/search?q=${encodeURIComponent(MARKUP.slice(0, 90))}`,
    `/orders/${orderId}`,
    `/orders?q=${encodeURIComponent(ATTRIBUTES.slice(0, 90))}`,
    '/apps/audit',
  ]) {
    await page.goto(`/admin/shops/DemoShop${path}`);
    await expectHarmless(page, asked);
  }

  // The description is markup in the shop, where htmx is not loaded: its attributes are gone all the same.
  const { text } = await shop.service.call('GET', `/DemoShop/products/${productId}`, { token: 'demo-all' });
  expect(text).toContain('kettle');
  const visitor = await shop.open();
  const askedInShop = watchEvil(visitor);
  const { body } = await shop.service.call('GET', `/DemoShop/products/${productId}`, { token: 'demo-all' });
  await visitor.goto(`/shop/DemoShop/Products/${encodeURIComponent(String(body.productNumber))}`);
  await visitor.waitForTimeout(300);
  const left = await visitor.evaluate(`({
    evil: window.evil,
    attributes: [...document.querySelectorAll('main *')].flatMap((element) =>
      [...element.attributes].filter(({ name }) => /^(data-)?hx-|^on|^style$/.test(name)).map(({ name }) => name)),
  })`);
  expect(left).toEqual({ evil: undefined, attributes: [] });
  expect(askedInShop.filter((url) => !url.endsWith('/evil.png'))).toEqual([]);
  shop.problems.length = 0;
});

test('a fragment that is hostile as a whole runs no script and styles nothing', async () => {
  const page = await openAdmin(shop, '/products');
  await page.route(/\/search\?/, (route) =>
    route.fulfill({
      contentType: 'text/html; charset=utf-8',
      headers: {
        'hx-trigger': '{"evil":1}',
        'hx-retarget': 'body',
        'hx-reswap': 'outerHTML',
      },
      body: `<div id="hits"><script>window.evil = 1</script><script src="https://evil.example/x.js"></script>
        <img src="x:" onerror="window.evil = 1"><button hx-on:htmx:load="window.evil = 1" hx-trigger="load" hx-get="https://evil.example/">x</button>
        <a href="javascript:window.evil=1" id="lure">x</a><iframe srcdoc="<script>parent.evil=1</script>"></iframe>
        <div hx-vals="js:{a: window.evil = 1}" hx-get="/admin" hx-trigger="load"></div></div>`,
    }),
  );
  const reached: string[] = [];
  page.on('requestfinished', (request) => {
    if (new URL(request.url()).hostname === 'evil.example') reached.push(request.url());
  });
  await page.locator('#search').fill('anything');
  await page.waitForTimeout(1_500);
  expect(await page.evaluate('window.evil')).toBeUndefined();
  expect(reached).toEqual([]);
  // What the policy has refused is told to the console, which these pages are watched for.
  expect(shop.problems.filter((line) => !/Content Security Policy|htmx:error/.test(line))).toEqual([]);
  shop.problems.length = 0;
});

test('no answer can be given headers that htmx obeys', async () => {
  const page = await openAdmin(shop, '/products');
  const answers = [];
  for (const path of [
    '/admin/shops/DemoShop/search?q=%0d%0aHX-Redirect:%20https://evil.example',
    '/admin/shops/DemoShop/products?q=x%0d%0aHX-Trigger:%20evil',
    '/admin/sign-in?to=/admin%0d%0aHX-Redirect:%20https://evil.example',
    '/admin/shops/DemoShop/orders?sort=%0aHX-Location:%20/evil',
  ]) {
    answers.push(await page.request.get(`${shop.origin}${path}`, { maxRedirects: 0 }));
  }
  for (const answer of answers) {
    expect(answer.status()).toBeLessThan(500);
    expect(Object.keys(answer.headers()).filter((name) => name.startsWith('hx-'))).toEqual([]);
  }
});
