import sharp from 'sharp';
import { expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { openAdmin } from '../admin.ts';
import { seriousProblems } from '../accessibility.ts';
import { browsing } from '../browser.ts';

/** What a merchant does with products all day. */
const shop = browsing();

function picture(name: string, background: string) {
  const image = sharp({ create: { width: 300, height: 200, channels: 3, background } });
  return image
    .png()
    .toBuffer()
    .then((buffer) => ({ name, mimeType: 'image/png', buffer }));
}

test('prices are pasted into the grid of variations, and pictures are put in order', async () => {
  const page = await openAdmin(shop, '/products/new');
  const name = 'Storm Jacket';
  await page.getByLabel('Name').fill(name);
  await page.locator('[name=price]').fill('129,00');
  await page
    .locator('#new-pictures')
    .setInputFiles(await Promise.all([picture('front.png', '#336699'), picture('back.png', '#993366')]));
  await page.locator('[name="attribute.0"]').fill('Size');
  await page.locator('[name="values.0"]').fill('S, M, L');
  await page.getByRole('button', { name: 'Create product' }).click();
  await page.waitForURL('**/variations');

  // A block of a spreadsheet: two rows of prices and stocks; then down with the arrow.
  const rows = page.locator('.grid tbody tr');
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
  ]);

  // Pictures: their order by button, one more by file, one less.
  await page.getByRole('link', { name: 'Product', exact: true }).click();
  const names = () =>
    page.locator('.pictures li').evaluateAll((items) => items.map((item) => item.getAttribute('data-name')));
  expect(await names()).toEqual(['front.png', 'back.png']);
  await page.getByRole('button', { name: 'Move back.png forward' }).click();
  await expect.poll(names).toEqual(['back.png', 'front.png']);
  await page.locator('#picture-files').setInputFiles(await picture('front.png', '#222222'));
  await expect.poll(names).toEqual(['back.png', 'front.png', 'front-2.png']);
  page.once('dialog', (dialog) => void dialog.accept());
  await page.getByRole('button', { name: 'Delete front-2.png' }).click();
  await expect.poll(names).toEqual(['back.png', 'front.png']);
  expect(await seriousProblems(page)).toEqual([]);
});

test('stock is counted with a scanner, and taken back', async () => {
  const page = await openAdmin(shop, '/products/stock-take', { screen: 'phone' });
  // The field has the focus by itself.
  await page.locator('#code:focus').waitFor();
  await page.keyboard.type('LA-110');
  await page.keyboard.press('Enter');
  await page.getByText('Counted quantity (current stock: 300)').waitFor();
  await page.locator('[name=count]:focus').waitFor();
  await page.keyboard.type('287,5');
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Dock Light LED Bulb: stock 287.5').waitFor();
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('status').getByText('Dock Light LED Bulb: stock 300').waitFor();
});

test('products are exported', async () => {
  const page = await openAdmin(shop, '/products/export');
  expect(await seriousProblems(page)).toEqual([]);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download the file' }).click();
  expect((await download).suggestedFilename()).toBe('products.csv');
});

test('a category is moved by the keyboard', async () => {
  const page = await openAdmin(shop, '/categories');
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
