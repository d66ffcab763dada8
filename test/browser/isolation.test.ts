import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { allowAll, browsing, script, shortenReference } from '../browser.ts';
import { givenOtherShop } from '../demo.ts';
import { loadAppScripts } from '../storefront.ts';
import { ADA, checkoutUrlOf, typeAddress } from './checkout.ts';

/**
 * Two shops, each on its own host, and an app of the other shop whose script tries to get at the visitor of the
 * first one. It once read the name and address on the confirmation page and filled the cart.
 */
const shop = browsing({ onOwnHost: true });
const SPY = 'https://spy.example/spy.js';
let otherOrigin: string;

/** Many pages, on machines that do other things too. */
const PATIENCE = { timeout: 120_000 };

beforeAll(async () => {
  const { token } = await givenOtherShop(shop.service);
  await loadAppScripts(shop.service, 'OtherShop');
  otherOrigin = shop.origin.replace('demoshop', 'othershop');
  await shop.service.call('POST', '/OtherShop/script-tags', {
    token,
    body: { scriptUrl: SPY },
  });
}, 60_000);

/** Lets the browser load from both shops and from the service, and the script of the app. */
async function allowShops(page: Page, body: string): Promise<void> {
  const { serviceOrigin } = shop;
  shop.otherSites.push(otherOrigin, serviceOrigin, serviceOrigin.replace('127.0.0.1', 'localhost'));
  shop.otherSites.push(new URL(SPY).origin);
  await page.context().route(SPY, script(''));
  await allowAll(page, otherOrigin);
  await page.context().route(SPY, script(body));
}

/** What the script finds out, in `window.found`: for each try what it got, or `refused`. */
const spying = (tries: Record<string, string>) => `
  const tries = { ${Object.entries(tries)
    .map(([name, code]) => `${JSON.stringify(name)}: async () => { ${code} }`)
    .join(', ')} };
  (async () => {
    const found = {};
    for (const [name, attempt] of Object.entries(tries)) {
      try { found[name] = (await attempt()) ?? 'nothing'; } catch (error) { found[name] = 'refused'; }
    }
    window.found = found;
  })();`;

async function buySomething(page: Page): Promise<void> {
  await page.goto(await checkoutUrlOf(shop, { 'BK-100': 1 }));
  await page.waitForURL('**/checkout');
  await typeAddress(page, ADA);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL('**/checkout/delivery');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL('**/checkout/review');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await page.waitForURL('**/confirmation');
  expect(await page.getByText('Lindqvist').count()).toBeGreaterThan(0);
}

/** As a function: the policy of the pages refuses to evaluate text. */
const waitForGlobal = (page: Page, name: string) =>
  page.waitForFunction((key) => (globalThis as Record<string, unknown>)[key] !== undefined, name);

const cartCount = async (page: Page) => {
  await page.goto(`${shop.origin}/cart`);
  return page.locator('.lines li, .lines tr').count();
};

test('a script of one shop reaches nothing of a visitor of another', PATIENCE, async () => {
  const page = await shop.open();
  const { body } = await shop.service.call('GET', '/DemoShop/products?q=TE-100');
  await allowShops(
    page,
    spying({
      confirmation: `return (await fetch('${shop.origin}/confirmation', { credentials: 'include' })).text()`,
      cart: `return (await fetch('${shop.origin}/cart', { credentials: 'include' })).text()`,
      'old address': `return (await fetch('/shop/DemoShop/cart', { credentials: 'include' })).text()
        .then((text) => text.includes('does not exist') ? 'no such page' : text)`,
      'shared host': `return (await fetch('${shop.serviceOrigin}/shop/DemoShop/cart', { credentials: 'include' })).text()`,
      'fill the cart': `
        const form = new URLSearchParams({ productId: '${body.items[0].productId}', quantity: '3' });
        return (await fetch('${shop.origin}/cart/add', { method: 'POST', body: form, credentials: 'include', mode: 'no-cors' })).type`,
      cookies: 'return document.cookie || undefined',
      frame: `
        const frame = document.createElement('iframe');
        frame.src = '${shop.origin}/cart';
        const loaded = new Promise((resolve) => { frame.onload = resolve; setTimeout(resolve, 2000); });
        document.body.append(frame);
        await loaded;
        return frame.contentDocument.body.innerText || undefined`,
    }),
  );
  await buySomething(page);
  const before = await cartCount(page);

  // The visitor goes on to the other shop, whose script runs there.
  await page.goto(otherOrigin);
  await waitForGlobal(page, 'found');
  expect(await page.evaluate('found')).toEqual({
    confirmation: 'refused',
    cart: 'refused',
    'old address': 'no such page',
    'shared host': 'refused',
    'fill the cart': 'refused',
    cookies: 'nothing',
    frame: 'refused',
  });
  expect(await cartCount(page)).toBe(before);
  // What the browser says of each refusal.
  expect(shop.problems.splice(0)).not.toEqual([]);
});

test('a form that a script sends to another shop puts nothing into its cart', PATIENCE, async () => {
  const page = await shop.open();
  const { body } = await shop.service.call('GET', '/DemoShop/products?q=TE-100');
  // A page of the other shop may send forms to its own host only; a page elsewhere may send them anywhere.
  await allowShops(page, '');
  shop.otherSites.push('https://evil.example');
  await page.context().route('https://evil.example/', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<form method="post" action="${shop.origin}/cart/add">
        <input name="productId" value="${body.items[0].productId}"><input name="quantity" value="3">
        <button>Win</button></form>`,
    }),
  );
  for (const from of ['https://evil.example/', otherOrigin]) {
    await page.goto(from);
    if (from === otherOrigin) {
      await page.evaluate(`
        document.body.insertAdjacentHTML('beforeend', '<form id="evil" method="post" action="${shop.origin}/cart/add"><input name="productId" value="${body.items[0].productId}"><input name="quantity" value="3"></form>');
        document.addEventListener('securitypolicyviolation', (event) => (window.refused = event.effectiveDirective));
        document.querySelector('#evil').submit();`);
      // The policy of the page keeps it from being sent at all.
      await waitForGlobal(page, 'refused');
      expect(await page.evaluate('refused')).toBe('form-action');
    } else {
      await page.getByRole('button', { name: 'Win' }).click();
      await page.getByRole('heading', { name: 'That did not work' }).waitFor();
    }
    expect(await cartCount(page)).toBe(0);
  }
  shop.problems.length = 0;
});

test('on the host that the shops share, no script of an app is loaded', async () => {
  const page = await shop.open();
  await allowShops(page, 'window.isSpied = true;');
  await page.goto(`${shop.serviceOrigin}/shop/OtherShop`);
  await page.waitForLoadState('networkidle');
  expect(await page.evaluate('window.isSpied')).toBeUndefined();
  expect(await page.locator('script[src^="https:"]').count()).toBe(0);
  await page.goto(otherOrigin);
  await waitForGlobal(page, 'isSpied');
});

test('a page of a shop and the API reference can not reach each other', PATIENCE, async () => {
  const docs = `${shop.serviceOrigin}/docs/reference`;
  const shared = `${shop.serviceOrigin}/shop/DemoShop`;
  const page = await shop.open();
  await shortenReference(shop, page);
  await allowShops(page, '');

  // The shop's page is opened from the reference: it has no way back.
  // Its headers are enough here: rendering it takes seconds, during which it opens nothing.
  await page.route('**/docs/scalar.js?*', script('window.Scalar = { createApiReference() {} };'));
  await page.goto(docs);
  const [opened] = await Promise.all([
    page.context().waitForEvent('page'),
    page.evaluate(`{ open('${shared}'); }`),
  ]);
  await opened.waitForLoadState();
  expect(await opened.evaluate('window.opener')).toBeNull();
  await opened.close();

  // The reference is opened from the shop's page, which holds a window that it can not look into.
  await page.goto(shared);
  const [reference] = await Promise.all([
    page.context().waitForEvent('page'),
    page.evaluate(`{ window.reference = open('${docs}'); }`),
  ]);
  await reference.waitForLoadState();
  await page.waitForFunction(() => (globalThis as { reference?: { closed: boolean } }).reference?.closed);
  expect(await reference.evaluate('window.opener')).toBeNull();

  // What is typed there is in no storage of the browser that a page of the same host could read.
  const token = 'secret-token-0815';
  const field = reference.locator('input[type=password], input[placeholder*="oken" i]').first();
  // The reference shows its fields by timers too: a clock that stands still any sooner would hide them for good.
  await field.waitFor();
  await reference.clock.install();
  await field.fill(token);
  // It is written with a delay, if at all.
  await reference.clock.runFor(60_000);
  const stored = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
  expect(stored).not.toContain(token);
});
