import type { Response } from 'playwright-core';
import { expect, test } from 'vitest';
import { seriousProblems } from '../accessibility.ts';
import { browsing, shortenReference } from '../browser.ts';
import { isOfToday, ofTheDay, oneInTurn } from '../seed.ts';

const shop = browsing({ hasImages: true });

/** Every kind of page that needs no cart, with its status. */
const PAGES: [path: string, status: number][] = [
  ['', 200],
  ['/Categories', 200],
  ['/Categories/coffee', 200],
  ['/search?q=beacon', 200],
  ['/search?q=nothing-is-called-so', 200],
  ['/Products/AP-110', 200],
  ['/Products/LA-100', 200],
  ['/Products/LA-102', 200],
  ['/Products/TE-120', 200],
  ['/Products/GI-110', 200],
  ['/Products/no-such-product', 404],
  ['/cart', 200],
  ['/cart/drawer', 200],
  ['/wishlist', 200],
  ['/newsletter', 200],
  ['/consent', 200],
  ['/legal/privacy-policy', 200],
  ['/legal/contact-information', 200],
];

/** Each page is opened on one of them a day, and each of them opens pages every day. */
const SCREENS = ['wide', 'phone'] as const;

/** Where a phone shows other elements than a wide screen does, or shows them elsewhere. */
const OTHERWISE_ON_A_PHONE = ['', '/Categories/coffee', '/Products/AP-110', '/cart'];

test.each([
  ['wide', 'en_GB'],
  ['phone', 'de_DE'],
] as const)('no page has a serious problem for anybody: %s, %s', async (screen, locale) => {
  const page = await shop.open({ screen });
  for (const [index, [path, status]] of PAGES.entries()) {
    if (!oneInTurn(SCREENS, index).includes(screen)) continue;
    const address = new URL(`/shop/DemoShop${path}`, shop.origin);
    address.searchParams.set('locale', locale);
    const answer = await page.goto(address.href);
    expect([path, answer?.status()]).toEqual([path, status]);
    if (screen === 'wide' || OTHERWISE_ON_A_PHONE.includes(path)) {
      expect([path, await seriousProblems(page)]).toEqual([path, []]);
    }
    expect([path, await page.locator('h1').count()]).toEqual([path, 1]);
    const fits = await page.evaluate('document.documentElement.scrollWidth <= innerWidth');
    expect([path, fits]).toEqual([path, true]);
  }
});

test.each(ofTheDay(['', '/Categories/appliances', '/Products/AP-110', '/Products/CB-100'], 2))(
  'the first load of %s is light',
  async (path) => {
    const page = await shop.open();
    const answers: Response[] = [];
    page.on('response', (response) => answers.push(response));
    await page.goto(`/shop/DemoShop${path}`);
    const files = answers.filter((answer) => answer.request().resourceType() !== 'image');
    // As sent, compressed.
    const sizes = await Promise.all(
      files.map(async (answer) => (await answer.request().sizes()).responseBodySize),
    );
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(20_000);
  },
);

test(
  'the documentation is searched in the browser, reads well on a phone, and is a list without JavaScript',
  { timeout: 120_000 },
  async () => {
    const page = await shop.open();
    // All operations of the reference are shown once a week.
    if (!isOfToday(0, 7)) await shortenReference(shop, page);
    await page.goto('/docs');
    expect(await seriousProblems(page)).toEqual([]);
    // An example is copied with the address of this server, and none is cut off.
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator('.docs-code', { hasText: 'products?q=kettle' }).getByText('Copy').click();
    await page.locator('.docs-code button', { hasText: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `curl '${new URL(page.url()).origin}/rs/shops/DemoShop/products?q=kettle' -H 'Authorization: Bearer demo-all'`,
    );
    const cut =
      "[...document.querySelectorAll('pre')].filter((one) => one.scrollWidth > one.clientWidth).length";
    expect(await page.evaluate(cut)).toBe(0);
    await page.keyboard.press('/');
    await page.keyboard.type('restore a shop backup');
    const first = page.locator('.docs-results a').first();
    await first.waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    expect(await first.getAttribute('href')).toMatch(/^\/docs\/operations\/backup/);
    await page.locator('.docs-search input').fill('create line item');
    await page.locator('.docs-results a[href="/docs/reference#tag/carts/createLineItem"]').click();
    await page.locator('h3', { hasText: 'Create line item' }).first().waitFor({ timeout: 90_000 });
    expect(await page.locator('.docs-top').isVisible()).toBe(true);
    // The whole reference goes on rendering its hundreds of operations as long as it is open.
    await page.close();

    const phone = await shop.open({ screen: 'phone', runsScripts: false });
    for (const path of ['/docs', '/docs/configuration', '/docs/apps']) {
      await phone.goto(path);
      expect(await phone.locator('.docs-search').isVisible()).toBe(false);
      expect(await phone.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    }
    await phone.locator('.docs-to-contents a').click();
    await phone.locator('.docs-contents a', { hasText: 'Overview' }).click();
    await phone.locator('summary', { hasText: 'Carts and checkout' }).click();
    expect(await phone.locator('a[href="/docs/reference#tag/carts/createCart"]').isVisible()).toBe(true);
  },
);
