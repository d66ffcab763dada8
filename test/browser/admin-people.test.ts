import { expect, test } from 'vitest';
import { openAdmin } from '../admin.ts';
import { browsing, look } from '../browser.ts';
import { ofTheDay } from '../seed.ts';

const shop = browsing();
const SCREENS = ['wide', 'phone'] as const;

test('makes codes of a coupon by the thousand', async () => {
  const page = await openAdmin(shop, '/marketing', { screen: 'phone' });
  await page.getByRole('link', { name: 'Autumn' }).first().click();
  await page.getByText('Generate codes').first().click();
  await page.getByLabel('Number of codes').fill('1000');
  await page.getByRole('button', { name: 'Generate codes' }).click();
  await page.getByText('1000 codes were generated.').waitFor();
  expect(await page.locator('#codes tbody tr').count()).toBe(50);
  await look(page);
});

test.each(ofTheDay(SCREENS, 1))('finds a customer, and changes the address (%s)', async (screen) => {
  const page = await openAdmin(shop, '/customers', { screen });
  await look(page);
  await page.getByLabel('Name, phone, street …').fill('brenn');
  await expect.poll(() => page.locator('#list tbody tr').count()).toBe(1);
  await page.getByRole('link', { name: 'Ada Brennan' }).click();
  await page.getByText('Spending by month').first().waitFor();
  await look(page);
  await page.getByRole('link', { name: 'Edit address' }).click();
  await look(page);
  await page.getByLabel('City').fill(`Hamburg ${screen}`);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => page.locator('address').innerText()).not.toContain(screen);
  for (const path of [
    '/marketing/newsletters',
    '/marketing/carts',
    '/apps/scripts',
    '/apps/webhooks',
    '/apps/audit',
    '/reports?by=country',
    '/customers?country=DE',
    '/customers/segments',
    '/products/bulk-edit?all=yes&q=tea&kind=addStock&amount=5',
    '/orders/accounting',
    '/orders/bank',
    '/reports/taxes',
    '/settings/invoices',
    '/search?q=brenn',
  ]) {
    await page.goto(`/admin/shops/DemoShop${path}`);
    await look(page);
  }
});

test.each(ofTheDay([660, 768, 1000], 1))('lists are no wider than a tablet of %d pixels', async (width) => {
  const page = await openAdmin(shop, '/orders', { locale: 'de-DE' });
  await page.setViewportSize({ width, height: 900 });
  for (const path of ['/orders', '/products', '/customers', '/marketing/carts', '/apps/audit']) {
    await page.goto(`/admin/shops/DemoShop${path}`);
    expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, width]);
    await look(page);
  }
});
