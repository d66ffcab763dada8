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

test('texts are edited one language at a time, and copied into what is empty', async () => {
  const product = await shop.service.db.one<{ productId: string }>(sql`
    select product_id as "productId" from product where shop_id = 'DemoShop' and product_number = 'AP-110'`);
  const page = await openAdmin(shop, `/products/${product!.productId}`);
  const tabs = page.getByRole('group', { name: 'Language' });
  const name = (language: string) => page.getByLabel(`Name · ${language}`);
  await tabs.getByRole('button', { name: 'German' }).click();
  expect([await name('German').isVisible(), await name('English').isVisible()]).toEqual([true, false]);

  await name('German').fill('');
  await tabs.getByRole('button', { name: 'German 1 empty' }).waitFor();
  await tabs.getByRole('combobox').selectOption('en_GB');
  await tabs.getByRole('button', { name: 'Copy into empty fields' }).click();
  expect(await name('German').inputValue()).toBe(await name('English').inputValue());
  expect(await seriousProblems(page)).toEqual([]);

  // The next page shows the same language, and the same folds are open.
  await page.getByText('Base price', { exact: true }).first().click();
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('Saved').first().waitFor();
  expect([await name('German').isVisible(), await name('English').isVisible()]).toEqual([true, false]);
  await tabs.getByRole('button', { name: 'All languages' }).click();
  expect([await name('German').isVisible(), await name('English').isVisible()]).toEqual([true, true]);
});

async function describedProduct(description: string): Promise<string> {
  const product = await shop.service.db.one<{ productId: string }>(sql`
    update product set facts = jsonb_set(facts, '{description,en_GB}', to_jsonb(${description}::text)),
      version = version + 1
    where shop_id = 'DemoShop' and product_number = 'AP-100'
    returning upper(product_id::text) as "productId"`);
  return `/products/${product!.productId}`;
}

const storedDescription = async () => {
  const product = await shop.service.db.one<{ description: string | null }>(sql`
    select facts -> 'description' ->> 'en_GB' as description from product
    where shop_id = 'DemoShop' and product_number = 'AP-100'`);
  return product?.description;
};

test('a description is written in an editor, by keyboard and toolbar', async () => {
  const address = await describedProduct('Beans.');
  const page = await openAdmin(shop, address);
  const field = page.locator('.rich-text', { has: page.locator('[name="description.en_GB"]') });
  const editor = field.getByRole('textbox');
  expect(await editor.getAttribute('aria-multiline')).toBe('true');
  await expect.poll(() => field.locator('textarea').isHidden()).toBe(true);
  await editor.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('Roasted ');
  await page.keyboard.press('Control+b');
  await page.keyboard.type('slowly');
  await page.keyboard.press('Control+b');
  await page.keyboard.press('Enter');
  // Into the toolbar and to its second group by keyboard.
  await page.keyboard.press('Shift+Tab');
  expect(await page.evaluate('document.activeElement.dataset.command')).toBe('bold');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.keyboard.type('Origin');
  await page.keyboard.press('Enter');
  await field.getByRole('button', { name: 'Bulleted list' }).click();
  await page.keyboard.type('Peru');
  await page.keyboard.press('Enter');
  await page.keyboard.type('Brazil');
  expect(await field.getByRole('button', { name: 'Bulleted list' }).getAttribute('aria-pressed')).toBe(
    'true',
  );
  await page.keyboard.press('Shift+Control+ArrowLeft');
  await page.keyboard.press('Control+k');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('javascript:alert(1)');
  await page.keyboard.press('Enter');
  await dialog.getByText('This is not an address that a link can have.').waitFor();
  await dialog.getByRole('textbox').fill('farm.example');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('status').getByText('Saved.').waitFor();
  expect(await storedDescription()).toBe(
    '<p>Beans.</p>\n<p>Roasted <b>slowly</b></p>\n<h2>Origin</h2>\n' +
      '<ul><li>Peru</li>\n<li><a href="https://farm.example">Brazil</a></li>\n</ul>',
  );
});

test('what is pasted into the editor has no more than what the storefront shows', async () => {
  const page = await openAdmin(shop, await describedProduct(''));
  const field = page.locator('.rich-text', { has: page.locator('[name="description.en_GB"]') });
  await field.getByRole('textbox').click();
  await page.evaluate(`{
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/html', '<p class="x" style="color: red" onclick="alert(1)">One <strong>two</strong></p>' +
      '<img src="x" onerror="alert(1)"><script>alert(1)</' + 'script><a href="javascript:alert(1)">three</a>');
    document.activeElement.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
    );
  }`);
  await expect
    .poll(() => field.locator('textarea').inputValue())
    .toBe('<p>One <b>two</b></p>\n<p><a>three</a></p>');
  // Chromium reports what the policy of the page forbids in a document that shows nothing, too.
  expect(shop.problems.splice(0)).toSatisfy((problems: string[]) =>
    problems.every((problem) => problem.includes('Content Security Policy')),
  );
});

test('what the editor cannot express stays as it is', async () => {
  // Nothing is edited: the text is sent as it was, with its odd spaces and unclosed elements.
  const odd = '<p>One<p>Two <STRONG>bold</STRONG>  &euro;\n\n<ul><li>a<li>b</ul>';
  const page = await openAdmin(shop, await describedProduct(odd));
  const field = page.locator('.rich-text', { has: page.locator('[name="description.en_GB"]') });
  await expect.poll(() => field.locator('textarea').isHidden()).toBe(true);
  await page.locator('[name="name.en_GB"]').fill('Other beans');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('status').getByText('Saved.').waitFor();
  expect(await storedDescription()).toBe(odd);

  // A table begins in the source view, which says why, and the editor is a click away.
  const table = '<table><tr><td colspan="2">250 g</td></tr></table>';
  await page.goto(`/admin/shops/DemoShop${await describedProduct(table)}`);
  await field.getByText('HTML that the editor would lose (table').waitFor();
  expect(await field.locator('textarea').inputValue()).toBe(table);
  expect(await seriousProblems(page)).toEqual([]);
  await field.getByRole('button', { name: 'HTML' }).click();
  await field.getByRole('textbox').getByText('250 g').waitFor();
  await field.getByRole('button', { name: 'HTML' }).click();
  expect(await field.locator('textarea').inputValue()).toBe(table);
});
