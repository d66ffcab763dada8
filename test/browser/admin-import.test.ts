import pino from 'pino';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { runDueImports } from '../../src/catalogue/products/import-runner.ts';
import { sql } from '../../src/db/sql.ts';
import { openMediaStorage } from '../../src/platform/media/open-storage.ts';
import { givenMerchant } from '../admin.ts';
import { browsing, seriousProblems, type Visitor } from '../browser.ts';

/** A merchant brings the products of an old shop. */
const shop = browsing();

const PRODUCTS = '/admin/shops/DemoShop/products';

async function openAdmin(visitor: Visitor): Promise<Page> {
  const page = await shop.open(visitor);
  const [name, value] = (await givenMerchant(shop.service)).cookie.split('=') as [string, string];
  await page.context().addCookies([{ name, value, url: shop.origin }]);
  return page;
}

const runImports = () => {
  const { db, config } = shop.service;
  return runDueImports({ db, config, media: openMediaStorage(config), log: pino({ level: 'silent' }) });
};

const count = async (start: string) =>
  (await shop.service.db.one<{ count: number }>(sql`
    select count(*) as count from product where shop_id = 'DemoShop' and starts_with(product_number, ${start})`))!
    .count;

test.each(['wide', 'phone'] as const)(
  '500 rows with two bad ones are imported and mended: %s',
  async (screen) => {
    const page = await openAdmin({ screen });
    await page.goto(PRODUCTS);
    await page.getByRole('link', { name: 'Import', exact: true }).click();
    await page.getByRole('heading', { name: 'Import products' }).waitFor();
    expect(await seriousProblems(page)).toEqual([]);

    const rows = Array.from({ length: 500 }, (_, n) => `${screen}-${n},Mug ${n},"${n},50",${n},blue`);
    rows[3] = `${screen}-3,Mug 3,cheap,3,blue`;
    rows[4] = `${screen}-4,Mug 4,"4,50",some,blue`;
    const text = `SKU,Title,Price,Quantity,Glaze\n${rows.join('\n')}\n`;
    await page
      .getByLabel('File (CSV or text, up to 10 MB)')
      .setInputFiles({ name: 'mugs.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    await page.getByRole('button', { name: 'Send the file' }).click();
    await page.getByText('4 of 5 columns are used.').waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    expect(await page.getByLabel('Price', { exact: true }).inputValue()).toBe('ListPrices/EUR/gross');
    await page.getByRole('button', { name: 'Check the file' }).click();
    await page.getByText('The file is being checked.').waitFor();
    expect(await seriousProblems(page)).toEqual([]);

    // The page shows by itself that the check has ended.
    await runImports();
    await page.getByText('This is not a price.').waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    expect(await count(`${screen}-`)).toBe(0);
    await page.getByRole('button', { name: 'Import 498 rows' }).click();
    await page.getByRole('status').filter({ hasText: '0 of 500 rows' }).waitFor();
    await runImports();
    await page.getByText('The import is done.').waitFor();
    expect(await count(`${screen}-`)).toBe(498);

    await page.getByLabel('Row 5, Price (EUR)').fill('3,50');
    await page.getByLabel('Row 6, Stock').fill('4');
    await page.getByRole('button', { name: 'Check the mended rows' }).click();
    await page.getByRole('heading', { name: 'mugs.csv, mended' }).waitFor();
    await runImports();
    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await runImports();
    await page.getByText('The import is done.').waitFor();
    expect(await count(`${screen}-`)).toBe(500);

    await page.goto(`${PRODUCTS}/export`);
    expect(await seriousProblems(page)).toEqual([]);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download the file' }).click();
    expect((await download).suggestedFilename()).toBe('products.csv');
  },
);

test('a category is moved by the keyboard', async () => {
  const page = await openAdmin({});
  await page.goto('/admin/shops/DemoShop/categories');
  expect(await seriousProblems(page)).toEqual([]);
  const names = () => page.locator('.category > a').allTextContents();
  const before = await names();
  const press = async (label: string) => {
    await page.getByRole('button', { name: label, exact: true }).focus();
    await page.keyboard.press('Enter');
  };
  await press('Move Coffee down');
  await page.waitForURL('**/categories?moved=*');
  expect(await names()).not.toEqual(before);
  await press('Move Coffee up');
  await expect.poll(names).toEqual(before);
});
