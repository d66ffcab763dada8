import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { seriousProblems } from '../accessibility.ts';
import { allowAll, browsing } from '../browser.ts';
import { ofTheDay } from '../seed.ts';
import { checkoutUrlOf, sums, typeAddress, ADA } from './checkout.ts';

const shop = browsing({ hasImages: true });
const BASE = '/shop/DemoShop';

const SCREENS = ['wide', 'phone'] as const;
const CHECKOUTS = [
  ['wide', true],
  ['phone', true],
  ['phone', false],
] as const;

async function isInView(place: Locator): Promise<boolean> {
  const { y, height } = (await place.boundingBox())!;
  return y >= 0 && y + height <= place.page().viewportSize()!.height + 1;
}

const badge = (page: Page, name: 'Cart' | 'Wish list') =>
  page.locator('.own').getByRole('link', { name }).locator('.badge');

test('a picture opens in full size, and without JavaScript its link leads to the file', async () => {
  const page = await shop.open();
  await page.goto(`${BASE}/Products/AP-110`);
  const link = page.locator('.pictures > a');
  const href = await link.getAttribute('href');
  await link.click();
  const dialog = page.getByRole('dialog', { name: 'Beacon Espresso Machine' });
  expect(await dialog.locator('img').getAttribute('src')).toBe(shop.origin + href);
  expect(await seriousProblems(page)).toEqual([]);
  await dialog.locator('img').click();
  expect(await dialog.evaluate((element) => element.scrollWidth > element.clientWidth)).toBe(true);
  await page.keyboard.press('Escape');
  expect(await dialog.count()).toBe(0);
  expect(new URL(page.url()).pathname).toBe(`${BASE}/Products/AP-110`);

  const quiet = await shop.open({ runsScripts: false });
  await quiet.goto(`${BASE}/Products/AP-110`);
  expect(await quiet.locator('.pictures > a').getAttribute('href')).toBe(href);
  expect((await quiet.request.get(href!)).headers()['content-type']).toBe('image/png');
});

test('the button to buy stays in view, beside the text and at the foot of a phone', async () => {
  for (const screen of SCREENS) {
    const page = await shop.open({ screen, consents: true });
    await page.goto(`${BASE}/Products/LA-100`);
    const buttons = page.getByRole('button', { name: 'Add to cart', exact: true });
    expect(await buttons.count()).toBe(1);
    for (const top of [0, 400]) {
      await page.evaluate(`scrollTo(0, ${top})`);
      expect(await isInView(buttons)).toBe(true);
    }
  }
});

test('what is sold out is crossed out and leads to the form that notifies people', async () => {
  for (const runsScripts of [true, false]) {
    const page = await shop.open({ runsScripts, screen: 'phone' });
    await page.goto(`${BASE}/Products/CB-101`);
    const dark = page.getByRole('link', { name: 'Dark (sold out)' });
    const line = await page.evaluate("getComputedStyle(document.querySelector('.gone')).textDecorationLine");
    expect(line).toBe('line-through');
    await dark.click();
    await page.waitForURL('**/Products/CB-104');
    expect(await page.getByRole('button', { name: 'Add to cart', exact: true }).count()).toBe(0);
    await page.locator('.buy-bar').getByRole('link', { name: 'Notify me' }).click();
    expect(await isInView(page.getByLabel('Email address'))).toBe(true);
  }
});

test('a card puts its product into the cart and on the wish list, and the visitor stays', async () => {
  for (const screen of ofTheDay(SCREENS, 1)) {
    const page = await shop.open({ screen });
    await page.goto(`${BASE}/Categories/lamps`);
    const card = page.locator('.card').filter({ hasText: 'Dock Light LED Bulb' });
    const heart = card.getByRole('button', { name: /wish list/ });
    await heart.click();
    await badge(page, 'Wish list').waitFor();
    expect(await heart.getAttribute('aria-pressed')).toBe('true');

    await card.getByRole('button', { name: 'Add to cart' }).click();
    const drawer = page.getByRole('dialog', { name: 'Your cart' });
    expect(await drawer.getByRole('status').innerText()).toBe('Dock Light LED Bulb is in your cart.');
    expect(await drawer.locator('.summary dd').innerText()).toBe('€6.90');
    expect(await seriousProblems(page)).toEqual([]);
    await drawer.getByRole('button', { name: 'Close' }).click();
    expect(await drawer.count()).toBe(0);
    expect(await badge(page, 'Cart').innerText()).toBe('1');
    expect(new URL(page.url()).pathname).toBe(`${BASE}/Categories/lamps`);

    // The heart is still full on the next visit, and empty after another click.
    await page.reload();
    await page.locator('.heart[aria-pressed=true]').waitFor();
    await heart.click();
    await page.locator('.heart[aria-pressed=false]').waitFor();
    expect(await badge(page, 'Wish list').count()).toBe(0);

    await page.locator('.card').getByRole('link', { name: 'Choose options' }).click();
    await page.waitForURL('**/Products/LA-100');
  }
});

test('the drawer says why nothing was added', async () => {
  const page = await shop.open();
  await page.goto(`${BASE}/Products/GI-120`);
  await page.evaluate(
    `document.querySelector('form.buy [name=productId]').value = '00000000-0000-0000-0000-000000000000'`,
  );
  await page.locator('.offer').getByRole('button', { name: 'Add to cart' }).click();
  const drawer = page.getByRole('dialog', { name: 'Your cart' });
  expect(await drawer.getByRole('status').innerText()).toBe('This product cannot be ordered at the moment.');
  expect(await drawer.getByText('Your cart is empty.').count()).toBe(1);
});

test('without JavaScript a card leads to the cart page, and a heart says what it did', async () => {
  const page = await shop.open({ runsScripts: false, screen: 'phone' });
  await page.goto(`${BASE}/Categories/lamps`);
  const card = page.locator('.card').filter({ hasText: 'Dock Light LED Bulb' });
  await card.getByRole('button', { name: /wish list/ }).click();
  expect(await page.locator('.notice').innerText()).toBe('The product is on your wish list.');
  expect(new URL(page.url()).pathname).toBe(`${BASE}/Categories/lamps`);
  await card.getByRole('button', { name: 'Add to cart' }).click();
  expect(new URL(page.url()).pathname).toBe(`${BASE}/cart`);
  await page.goto(`${BASE}/Products/LA-110`);
  await page.getByRole('button', { name: 'Remove from wish list' }).click();
  expect(await page.locator('.offer').getByRole('button', { name: 'Add to wish list' }).count()).toBe(1);
});

test(
  'the checkout shows the cart beside every step and leads nowhere else',
  { timeout: 60_000 },
  async () => {
    for (const [screen, runsScripts] of ofTheDay(CHECKOUTS, 2)) {
      const page = await shop.open({ screen, runsScripts });
      await page.goto(await checkoutUrlOf(shop, { 'KN-110': 2 }));
      for (const step of ['Address', 'Delivery and payment']) {
        expect(await page.locator('[aria-current=step]').innerText()).toBe(step);
        const order = page.getByRole('complementary', { name: 'Summary' });
        if (screen === 'phone') await order.locator('summary').click();
        expect(await order.locator('.lines').textContent()).toContain('Reefline Paring Knife');
        expect((await sums(page))['Subtotal']).toBe('€49.00');
        expect(await page.locator('.menu, .find, .own').count()).toBe(0);
        const button = page.getByRole('button', { name: 'Continue' });
        const { width } = (await button.boundingBox())!;
        if (screen === 'phone') expect(width).toBeGreaterThan(340);
        if (runsScripts) expect(await seriousProblems(page)).toEqual([]);
        if (step === 'Address') await typeAddress(page, ADA);
        await button.click();
      }
      await page.waitForURL('**/checkout/review');
      expect((await sums(page))['Subtotal']).toBe('€49.00');
      const button = page.getByRole('button', { name: 'Order and pay' });
      if (screen === 'wide') expect(await isInView(button)).toBe(true);
      else expect((await button.boundingBox())!.width).toBeGreaterThan(340);
      await page.getByRole('link', { name: 'Back to the cart' }).click();
      await page.waitForURL('**/cart');
    }
  },
);

test('the rows of the front page are whole on every screen', async () => {
  const page = await shop.open({ consents: true });
  for (const [width, columns] of [
    [1280, 4],
    [800, 3],
    [390, 2],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(BASE);
    const cards = page.locator('.full > li').locator('visible=true');
    expect((await cards.count()) % columns).toBe(0);
    expect(await cards.count()).toBeGreaterThan(0);
    const edges = await page
      .locator('.tiles li')
      .evaluateAll((tiles) => tiles.map((tile) => Math.round(tile.getBoundingClientRect().right)));
    expect(edges.at(-1)).toBe(Math.max(...edges));
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  }
  await page.getByRole('link', { name: 'Discover our coffee' }).click();
  await page.waitForURL('**/Categories/coffee');
});

test('the browser remembers what was viewed, if the visitor allows it', async () => {
  const page = await shop.open();
  for (const number of ['AP-100', 'KN-110']) await page.goto(`${BASE}/Products/${number}`);
  expect(await page.evaluate('localStorage.length')).toBe(0);
  await allowAll(page, BASE);
  for (const number of ['AP-100', 'ZZ-110', 'KN-110', 'AP-100'])
    await page.goto(`${BASE}/Products/${number}`);
  await page.goto(`${BASE}?locale=de_DE`);
  const section = page
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: 'Zuletzt angesehen' }) });
  // The script asks for it when the page is there.
  await section.waitFor();
  expect(await section.locator('h3').allInnerTexts()).toEqual([
    'Beacon Wasserkocher 1,7 l',
    'Reefline Schälmesser',
    'Musterlöffel',
  ]);
  expect(await seriousProblems(page)).toEqual([]);
});

test('an empty shop looks meant, and tells its owner what to do', async () => {
  for (const screen of ofTheDay(SCREENS, 1)) {
    const page = await shop.open({ screen });
    await page.goto('/shop/EmptyShop');
    expect(await page.getByRole('heading', { name: 'Wir packen noch aus' }).count()).toBe(1);
    expect(await page.getByRole('link', { name: 'Ersten Artikel anlegen' }).getAttribute('href')).toBe(
      `${shop.origin}/admin/shops/EmptyShop/products/new`,
    );
    expect(await seriousProblems(page)).toEqual([]);
  }
});
