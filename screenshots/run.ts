import { mkdir, writeFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { openBrowser } from '../test/chromium.ts';
import { cleanUp, newFolder, startKontor } from '../test/process.ts';

/**
 * `npm run screenshots`: buys something in a demo shop of its own, looks at it in the admin, and takes the pictures of
 * docs/screenshots/.
 */

const PICTURES = new URL('../docs/screenshots/', import.meta.url);
const MAX_SIZE = 250_000;

const SCREENS = {
  wide: { viewport: { width: 1280, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
};

/** A visitor who has answered the question about cookies, and loads nothing from other places. */
async function visitor(browser: Browser, address: string, screen: keyof typeof SCREENS): Promise<Page> {
  const context = await browser.newContext({ baseURL: address, locale: 'en-GB', ...SCREENS[screen] });
  await context.route(
    (url) => url.origin !== address,
    (route) => route.abort(),
  );
  const page = await context.newPage();
  await page.goto('/shop/DemoShop/consent');
  await page.locator('button[value=necessary]').first().click();
  return page;
}

async function takePicture(page: Page, name: string): Promise<void> {
  await page.waitForLoadState('networkidle');
  const picture = await sharp(await page.screenshot())
    .png({ palette: true, quality: 90, effort: 10, compressionLevel: 9 })
    .toBuffer();
  if (picture.length > MAX_SIZE) throw new Error(`${name}.png has ${picture.length} bytes`);
  await writeFile(new URL(`${name}.png`, PICTURES), picture);
  console.log(`docs/screenshots/${name}.png  ${Math.ceil(picture.length / 1000)} kB`);
}

async function fillCart(page: Page): Promise<void> {
  for (const productNumber of ['CB-102', 'AP-100', 'RO-100']) {
    await page.goto(`/shop/DemoShop/Products/${productNumber}`);
    // On a phone the button is in the bar below.
    await page.locator(':is(form.buy, .buy-bar) button:visible').click();
    await page.locator('dialog').waitFor();
  }
  await page.goto('/shop/DemoShop/cart');
}

async function takeWide(page: Page): Promise<void> {
  await page.goto('/shop/DemoShop');
  await takePicture(page, 'home');
  await page.goto('/shop/DemoShop/Categories/appliances');
  await takePicture(page, 'category');
  await page.goto('/shop/DemoShop/Products/CB-101');
  await takePicture(page, 'product');
  await fillCart(page);
  await page.getByLabel('Coupon code').fill('AUTUMN15');
  await page.getByRole('button', { name: 'Redeem' }).click();
  await takePicture(page, 'cart');

  await page.goto('/shop/DemoShop/checkout');
  const address = {
    emailAddress: 'rika@mail.example',
    firstName: 'Rika',
    lastName: 'Sandvoss',
    street: 'Am Kai 7',
    zipCode: '20457',
    city: 'Hamburg',
  };
  for (const [field, text] of Object.entries(address))
    await page.locator(`[name="billing.${field}"]`).fill(text);
  const onward = page.locator('main form button.button');
  await onward.click();
  await takePicture(page, 'checkout');
  await onward.click();
  await onward.click();
  await takePicture(page, 'confirmation');
}

async function takeNarrow(page: Page): Promise<void> {
  await page.goto('/shop/DemoShop');
  await takePicture(page, 'home-phone');
  await page.goto('/shop/DemoShop/Products/CB-101');
  await takePicture(page, 'product-phone');
  await fillCart(page);
  await takePicture(page, 'cart-phone');
}

/** The admin, as the owner of the demo shop sees it. */
async function takeAdmin(browser: Browser, address: string): Promise<void> {
  const context = await browser.newContext({ baseURL: address, locale: 'en-GB', ...SCREENS.wide });
  const page = await context.newPage();
  await page.goto('/admin/sign-in');
  await page.getByRole('button', { name: 'Sign in as the demo owner' }).click();
  await page.waitForURL('**/admin/shops/DemoShop');
  await takePicture(page, 'admin-home');
  await page.goto('/admin/shops/DemoShop/orders');
  await takePicture(page, 'admin-orders');
  await page.locator('td a').first().click();
  await takePicture(page, 'admin-order');
  await page.goto('/admin/shops/DemoShop/products?q=CB-100');
  await page.locator('td a').first().click();
  await takePicture(page, 'admin-product');
  await page.goto('/admin/shops/DemoShop/categories');
  await takePicture(page, 'admin-categories');
  await page.goto('/admin/shops/DemoShop/settings/theme');
  await takePicture(page, 'admin-theme');
}

const [shop, browser] = await Promise.all([startKontor({ KONTOR_DATA: await newFolder() }), openBrowser()]);
try {
  await mkdir(PICTURES, { recursive: true });
  await takeWide(await visitor(browser, shop.address, 'wide'));
  await takeNarrow(await visitor(browser, shop.address, 'phone'));
  await takeAdmin(browser, shop.address);
} finally {
  await browser.close();
  await shop.stop();
  await cleanUp();
}
