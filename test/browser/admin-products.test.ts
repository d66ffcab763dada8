import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { givenMerchant } from '../admin.ts';
import { browsing, seriousProblems, type Visitor } from '../browser.ts';

/** What a merchant does with products all day. */
const shop = browsing();

const PRODUCTS = '/admin/shops/DemoShop/products';

async function openAdmin(visitor: Visitor): Promise<Page> {
  const page = await shop.open(visitor);
  const [name, value] = (await givenMerchant(shop.service)).cookie.split('=') as [string, string];
  await page.context().addCookies([{ name, value, url: shop.origin }]);
  return page;
}

function picture(name: string, background: string) {
  const image = sharp({ create: { width: 300, height: 200, channels: 3, background } });
  return image
    .png()
    .toBuffer()
    .then((buffer) => ({ name, mimeType: 'image/png', buffer }));
}

test.each(['wide', 'phone'] as const)('a price is changed and changed back: %s', async (screen) => {
  const page = await openAdmin({ screen });
  await page.goto(PRODUCTS);
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByPlaceholder('Name, number, EAN').fill('kettle');
  await page.getByText('1–1 of 1').waitFor();
  await page.getByRole('link', { name: 'Beacon Kettle 1.7 l' }).click();
  expect(await seriousProblems(page)).toEqual([]);
  const price = page.locator('.product-form [name="price.EUR"]');
  await price.fill('45,50');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  expect(await price.inputValue()).toBe('45.50');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => price.inputValue()).toBe('49.90');
});

test.each(['wide', 'phone'] as const)(
  'a product with three pictures and six variations: %s',
  async (screen) => {
    const page = await openAdmin({ screen });
    const name = `Storm Jacket ${screen}`;
    await page.goto(`${PRODUCTS}/new`);
    expect(await seriousProblems(page)).toEqual([]);
    await page.getByLabel('Name').fill(name);
    await page.locator('[name=price]').fill('129,00');
    await page
      .locator('#new-pictures')
      .setInputFiles(
        await Promise.all([
          picture('front.png', '#336699'),
          picture('back.png', '#993366'),
          picture('detail.png', '#669933'),
        ]),
      );
    await page.locator('[name="attribute.0"]').fill('Size');
    await page.locator('[name="values.0"]').fill('S, M, L');
    await page.locator('[name="attribute.1"]').fill('Colour');
    await page.locator('[name="values.1"]').fill('blue, red');
    await page.getByRole('button', { name: 'Create product' }).click();
    await page.waitForURL('**/variations');
    const rows = page.locator('.grid tbody tr');
    await expect.poll(() => rows.count()).toBe(6);
    expect(await seriousProblems(page)).toEqual([]);

    // A block of a spreadsheet: two rows of prices and stocks; then down with the arrow.
    const cell = (row: number, column: string) =>
      rows.nth(row).locator(`input:not([type=hidden])[name^="${column}."]`);
    await cell(0, 'price').focus();
    await page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', '119,00\\t5\\n139,00\\t7\\n');
      document.activeElement.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
      );
    }`);
    await cell(1, 'stock').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.type('9');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('status').getByText('3 variations are changed.').waitFor();
    expect(await cell(1, 'price').inputValue()).toBe('139.00');

    const stored = await shop.service.db.many<{ price: number | null; stock: number | null }>(sql`
      select (prices ->> 'EUR')::int as price, stock::float8 as stock from product
      where shop_id = 'DemoShop' and master_id in (
        select product_id from product where shop_id = 'DemoShop' and facts -> 'name' ->> 'en_GB' = ${name})
      order by product_id`);
    expect(stored).toEqual([
      { price: 11900, stock: 5 },
      { price: 13900, stock: 7 },
      { price: null, stock: 9 },
      ...Array.from({ length: 3 }, () => ({ price: null, stock: null })),
    ]);

    // Pictures: their order by button, one more by file, one less.
    await page.getByRole('link', { name: 'Product', exact: true }).click();
    const names = () =>
      page
        .locator('.pictures li')
        .evaluateAll((items) => items.map((item) => item.getAttribute('data-name')));
    expect(await names()).toEqual(['front.png', 'back.png', 'detail.png']);
    await page.getByRole('button', { name: 'Move back.png forward' }).click();
    await expect.poll(names).toEqual(['back.png', 'front.png', 'detail.png']);
    await page.locator('#picture-files').setInputFiles(await picture('front.png', '#222222'));
    await expect.poll(names).toEqual(['back.png', 'front.png', 'detail.png', 'front-2.png']);
    page.once('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Delete front-2.png' }).click();
    await expect.poll(names).toEqual(['back.png', 'front.png', 'detail.png']);
    expect(await seriousProblems(page)).toEqual([]);
  },
);

test('stock is counted with a scanner, and taken back', async () => {
  const page = await openAdmin({ screen: 'phone' });
  await page.goto(`${PRODUCTS}/stock-take`);
  // The field has the focus by itself.
  await page.locator('#code:focus').waitFor();
  await page.keyboard.type('LA-110');
  await page.keyboard.press('Enter');
  await page.getByText('Counted (stock until now: 300)').waitFor();
  await page.locator('[name=count]:focus').waitFor();
  await page.keyboard.type('287,5');
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Dock Light LED Bulb: stock 287.5').waitFor();
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('status').getByText('Dock Light LED Bulb: stock 300').waitFor();
});

test('products are read, and a form is sent, without scripts', async () => {
  const page = await openAdmin({ runsScripts: false });
  await page.goto(`${PRODUCTS}?q=socks`);
  await page.getByRole('link', { name: 'Anchor Socks' }).click();
  const stock = page.locator('.product-form [name="stock"]');
  await stock.fill('58');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.locator('.notice').waitFor();
  expect(await stock.inputValue()).toBe('58');
});
