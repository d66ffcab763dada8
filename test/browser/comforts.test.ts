import { expect, test } from 'vitest';
import { seriousProblems } from '../accessibility.ts';
import { browsing } from '../browser.ts';
import { ofTheDay } from '../seed.ts';

/** What the pages do better with JavaScript. */
const shop = browsing({ hasImages: true });

test('suggestions while typing, by keyboard', async () => {
  const page = await shop.open();
  await page.goto('/shop/DemoShop');
  const field = page.getByRole('combobox');
  await field.pressSequentially('harb');
  const options = page.getByRole('search').getByRole('option');
  await options.nth(3).waitFor();
  expect((await options.allInnerTexts()).map((text) => text.split(/\s*\n\s*/))).toEqual([
    ['Harbour Cider 0.5 l', '€2.95'],
    ['The Quiet Harbour Cookbook', '€28.00'],
    // Of Harbour Press.
    ['Knots Audio Course', '€14.90'],
    ['Tides and Tables (eBook)', '€9.99'],
  ]);
  expect(await page.getByRole('search').getByRole('status').innerText()).toBe('4 suggestions');
  expect(await field.getAttribute('aria-expanded')).toBe('true');
  expect(await seriousProblems(page)).toEqual([]);

  for (let option = 4; option > 0; option--) await field.press('ArrowUp');
  const active = page.locator(`[id="${await field.getAttribute('aria-activedescendant')}"]`);
  expect(await active.getAttribute('aria-selected')).toBe('true');
  expect(await active.innerText()).toContain('Harbour Cider');
  await field.press('Escape');
  expect(await options.count()).toBe(0);
  expect(await field.inputValue()).toBe('harb');
  expect(await field.getAttribute('aria-expanded')).toBe('false');

  await field.pressSequentially('o');
  await options.first().waitFor();
  await field.press('ArrowDown');
  await field.press('Enter');
  await page.waitForURL('**/Products/DR-120');
});

test('suggestions by mouse, in the language of the page, and none for what nobody sells', async () => {
  const page = await shop.open();
  await page.goto('/shop/DemoShop?locale=de_DE');
  await page.getByRole('combobox').fill('hafen');
  await page.getByRole('search').getByRole('option').filter({ hasText: 'Das stille Hafenkochbuch' }).click();
  await page.waitForURL('**/Products/BK-110?locale=de_DE');

  await page.getByRole('combobox').fill('xyzzyq');
  await page.getByText('0 Vorschläge').waitFor({ state: 'attached' });
  expect(await page.getByRole('listbox').count()).toBe(0);
  await page.getByRole('combobox').press('Enter');
  await page.waitForURL('**/search?**q=xyzzyq');
});

test('only the newest question is answered', async () => {
  const page = await shop.open();
  let answerFirst = (): void => {};
  await page.route('**/suggest?*q=cof', async (route) => {
    await new Promise<void>((resolve) => (answerFirst = resolve));
    await route.fulfill({
      json: { count: '1', products: [{ name: 'too late', href: '/', image: null, price: null }] },
    });
  });
  await page.goto('/shop/DemoShop');
  const asked = page.waitForRequest('**/suggest?*q=cof');
  await page.getByRole('combobox').fill('cof');
  await asked;
  await page.getByRole('combobox').fill('beacon');
  await page.getByRole('search').getByRole('option').first().waitFor();
  answerFirst();
  expect(await page.getByRole('search').getByRole('option').allInnerTexts()).toEqual([
    expect.stringContaining('Beacon'),
    expect.stringContaining('Beacon'),
    expect.stringContaining('Beacon'),
  ]);
});

test('thumbnails show their pictures in place', async () => {
  const page = await shop.open();
  await page.goto('/shop/DemoShop/Products/AP-110');
  const large = page.locator('[data-slideshow] img').first();
  const thumbs = page.locator('.thumbnails a');
  expect(await thumbs.count()).toBe(4);
  await thumbs.nth(2).click();
  expect(await large.getAttribute('alt')).toBe('Beacon Espresso Machine, picture 3');
  expect(await large.getAttribute('src')).toBe(shop.origin + (await thumbs.nth(2).getAttribute('href')));
  await thumbs.nth(2).press('ArrowRight');
  await thumbs.nth(3).press('ArrowRight');
  expect(await large.getAttribute('alt')).toBe('Beacon Espresso Machine, picture 1');
  expect(await page.evaluate('document.activeElement.getAttribute("aria-current")')).toBe('true');
  expect(new URL(page.url()).pathname).toBe('/shop/DemoShop/Products/AP-110');
});

test('another version is one click away, and the page stays where it was', async () => {
  for (const screen of ofTheDay(['wide', 'phone'] as const, 1)) {
    const page = await shop.open({ screen });
    await page.goto('/shop/DemoShop/Products/LA-100');
    expect(await page.locator('.offer .price').first().innerText()).toBe('€79.00');
    await page.mouse.wheel(0, 200);
    await page.waitForFunction('scrollY > 100');
    await page.getByRole('group', { name: 'Size' }).getByRole('link', { name: 'Large' }).click();
    await page.waitForURL('**/Products/LA-102');
    expect(await page.locator('.offer .price').first().innerText()).toBe('€99.00');
    expect(await page.locator('.options [aria-current]').allInnerTexts()).toEqual(['Brass', 'Large']);
    expect(await page.evaluate('scrollY')).toBeGreaterThan(100);
  }
});

test('language and currency are switched where one is, and stay', async () => {
  for (const runsScripts of [true, false]) {
    const page = await shop.open({ runsScripts });
    await page.goto('/shop/DemoShop/Products/KN-110');
    await page.locator('details.switch summary').click();
    await page.locator('details.switch').getByRole('button', { name: 'Deutsch' }).click();
    await page.waitForURL('**/Products/KN-110?locale=de_DE');
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Reefline Schälmesser');
    await page.locator('details.switch summary').click();
    const currencies = page.locator('details.switch select');
    await currencies.selectOption('GBP');
    if (!runsScripts) await page.locator('details.switch button.quiet').click();
    await page.locator('.offer .price').filter({ hasText: '£' }).first().waitFor();
    await page.goto('/shop/DemoShop/Products/TE-100');
    expect(await page.locator('html').getAttribute('lang')).toBe('de-DE');
    expect(await page.locator('.offer .price').first().innerText()).toContain('£');
  }
});

test('Escape closes the menus that are open', async () => {
  const page = await shop.open();
  await page.goto('/shop/DemoShop');
  const choices = page.locator('details.switch');
  await choices.locator('summary').click();
  await choices.getByRole('button').first().focus();
  await page.keyboard.press('Escape');
  expect(await choices.getAttribute('open')).toBeNull();
  expect(await page.evaluate('document.activeElement.localName')).toBe('summary');
  await choices.locator('summary').click();
  await page.locator('h1').click();
  expect(await choices.getAttribute('open')).toBeNull();
});

test('Escape closes a list of subcategories, and leaving it lets it open again', async () => {
  const page = await shop.open();
  await page.goto('/shop/DemoShop');
  const entry = page
    .locator('.menu li')
    .filter({ has: page.locator('ul') })
    .first();
  const list = entry.locator('ul');
  await entry.hover();
  await list.waitFor();
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'hidden' });
  expect(await entry.getAttribute('data-closed')).toBe('');
  await page.locator('h1').hover();
  await entry.hover();
  await list.waitFor();
  expect(await entry.getAttribute('data-closed')).toBeNull();
});

test('the filters of a long list come after it, and without JavaScript by a link', async () => {
  const { service } = shop;
  const token = 'demo-all';
  const { body: roots } = await service.call('GET', '/DemoShop/categories', { token });
  await service.call('POST', '/DemoShop/products', {
    token,
    body: { name: 'One more', price: 1, visible: true },
  });
  const { body: all } = await service.call('GET', '/DemoShop/products?resultsPerPage=100', { token });
  const gifts = roots[0].subCategories.find(({ title }: { title: string }) => title === 'Gifts');
  const assigned = await service.call('POST', '/DemoShop/product-category-assignments', {
    token,
    body: {
      productId: all.items.map(({ productId }: { productId: string }) => productId),
      categoryId: [gifts.href.split('/').at(-1)],
    },
  });
  expect(assigned.status).toBe(204);

  const page = await shop.open();
  await page.goto('/shop/DemoShop/Categories/gifts');
  await page.getByRole('heading', { name: 'Manufacturer' }).waitFor();
  await page
    .getByRole('complementary')
    .getByRole('link', { name: /^Beacon/ })
    .click();
  await page.waitForURL('**/Categories/gifts?**f=m%3ABeacon**');
  expect(await seriousProblems(page)).toEqual([]);

  const quiet = await shop.open({ runsScripts: false });
  await quiet.goto('/shop/DemoShop/Categories/gifts');
  await quiet.getByRole('link', { name: 'Show filters' }).click();
  await quiet.getByRole('heading', { name: 'Manufacturer' }).waitFor();
});
