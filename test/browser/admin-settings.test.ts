import sharp from 'sharp';
import { expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { selectSettings } from '../../src/shops/settings/settings.ts';
import { openAdmin } from '../admin.ts';
import { seriousProblems } from '../accessibility.ts';
import { browsing } from '../browser.ts';
import { ofTheDay } from '../seed.ts';

/** A merchant changes settings in a real browser. */
const shop = browsing();

const settingsOf = async () => (await selectSettings(shop.service.db, 'DemoShop'))!;

test('the theme is previewed while it is typed, and a wrong value stays with its error', async () => {
  const before = await settingsOf();
  const page = await openAdmin(shop, '/settings/theme');
  const accent = page.getByLabel('Buttons and links').first();
  await accent.fill('#803020');
  const colour = "getComputedStyle(document.querySelector('a.button')).backgroundColor";
  await expect.poll(() => page.frame('preview')!.evaluate<string>(colour)).toBe('rgb(128, 48, 32)');
  expect((await settingsOf()).theme).toEqual(before.theme);

  await page.getByLabel('Text').first().fill('rather dark');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').waitFor();
  expect(await accent.inputValue()).toBe('#803020');
  expect(await page.getByLabel('Text').first().inputValue()).toBe('rather dark');
  expect(await page.getByLabel('Text').first().getAttribute('aria-invalid')).toBe('true');
  expect(await seriousProblems(page)).toEqual([]);
  expect((await settingsOf()).theme).toEqual(before.theme);
});

test.each(ofTheDay(['wide', 'phone'] as const, 1))(
  'a shipping method is added, moved to the front and shows its price: %s',
  async (screen) => {
    const page = await openAdmin(shop, '/settings/shipping', { screen });
    expect(await seriousProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add a shipping method' }).click();
    const entry = page.locator('#field-shippingMethods > [data-entry]:has([name^="shippingMethods.added"])');
    await entry.getByLabel('English').first().fill(`Rowing boat ${screen}`);
    await entry.getByLabel('Price calculation').selectOption('flat');
    expect(await entry.getByLabel('Price per kilogram').isVisible()).toBe(false);
    await entry.getByLabel('Price', { exact: true }).first().fill('3,90');
    const { length } = (await settingsOf()).shippingMethods;
    for (let steps = 0; steps < length; steps++) await entry.getByLabel('Move up').last().press('Enter');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved: 1 change.').waitFor();
    const [first] = (await settingsOf()).shippingMethods;
    expect(first).toMatchObject({ name: { en_GB: `Rowing boat ${screen}` }, amount: 390, kind: 'flat' });
    await page.getByLabel('Order value', { exact: true }).fill('80');
    await page.locator('#prices').getByText('€3.90').first().waitFor();
  },
);

test.each(ofTheDay(['wide', 'phone'] as const, 1))(
  'zones are added to a shipping method, read as a table and tried with an address: %s',
  async (screen) => {
    const page = await openAdmin(shop, '/settings/shipping', { screen });
    await page.getByRole('button', { name: 'Add a shipping method' }).click();
    const entry = page.locator('#field-shippingMethods > [data-entry]:has([name^="shippingMethods.added"])');
    await entry.getByLabel('English').first().fill(`Island boat ${screen}`);
    await entry.getByLabel('Price calculation').selectOption('flat');
    for (const [countries, postcodes, price] of [
      [['Germany'], '', '4,90'],
      [['Germany'], '25846-25849\n27498', '9,90'],
    ] as const) {
      await entry.getByRole('button', { name: 'Add a zone' }).click();
      const zone = entry.locator('[data-entry][open]:has([name$=".postcodes"])').last();
      for (const name of countries) await zone.getByLabel(name, { exact: true }).check();
      await zone.getByLabel('Postcodes').fill(postcodes);
      await zone.getByLabel('Price', { exact: true }).first().fill(price);
    }
    // The prices of a method with zones are in its zones.
    expect(await entry.locator('[name$=".price"]').first().isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved: 1 change.').waitFor();
    const stored = (await settingsOf()).shippingMethods.find(
      ({ name }) => name['en_GB'] === `Island boat ${screen}`,
    )!;
    expect(stored.zones).toMatchObject([
      { countries: ['DE'], postcodes: [], amount: 490 },
      { countries: ['DE'], postcodes: ['25846-25849', '27498'], amount: 990 },
    ]);
    const saved = page.locator('#field-shippingMethods > [data-entry]', { hasText: `Island boat ${screen}` });
    await saved.locator('summary').first().click();
    await saved.getByText('25846-25849, 27498').first().waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    const result = page.locator('#prices');
    await page.getByLabel('Postcode', { exact: true }).fill('27498');
    await result.getByText('€9.90').waitFor();
    await page.getByLabel('Country', { exact: true }).first().selectOption('AT');
    await result.getByText('Not offered').waitFor();
  },
);

test('words of an email are edited with a preview', async () => {
  const page = await openAdmin(shop, '/settings/emails/shipped');
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByLabel('Text', { exact: true }).fill('Ahoy! {shopName} has sent {orderNumber}.');
  await page.frameLocator('iframe[name="preview"]').getByText('Ahoy! Harbour & Hearth has sent').waitFor();
  await page.getByLabel('Text', { exact: true }).fill('Ahoy {nobody}');
  await page.getByRole('button', { name: 'Save' }).click();
  await page
    .getByRole('alert')
    .getByText(/\{nobody\} can’t be used here\. You can use: \{/)
    .waitFor();
  expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe('Ahoy {nobody}');
});

test('countries are selected by a preset and by the filter', async () => {
  const page = await openAdmin(shop, '/settings/shipping');
  const countries = page.getByRole('group', { name: 'Countries', exact: true });
  await countries.getByRole('button', { name: 'Select: DACH' }).click();
  await countries.getByRole('searchbox').fill('norw');
  expect(await countries.getByRole('checkbox').filter({ visible: true }).count()).toBe(1);
  await countries.getByRole('checkbox', { name: 'Norway' }).check();
  expect(await seriousProblems(page)).toEqual([]);
  const before = (await settingsOf()).countries;
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/Saved/).waitFor();
  expect((await settingsOf()).countries.toSorted()).toEqual(
    [...new Set([...before, 'AT', 'CH', 'DE', 'NO'])].toSorted(),
  );
});

test('a logo is uploaded to the library, and chosen from it', async () => {
  const page = await openAdmin(shop, '/media');
  const buffer = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#336699' } })
    .png()
    .toBuffer();
  await page
    .getByLabel('Upload a picture')
    .setInputFiles({ name: 'anchor.png', mimeType: 'image/png', buffer });
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await page.getByText('The picture is in the library.').waitFor();
  expect(await seriousProblems(page)).toEqual([]);
  await page.goto('/admin/shops/DemoShop/settings/theme');
  await page.getByRole('link', { name: 'Choose a logo' }).click();
  const dialog = page.getByRole('dialog', { name: 'Choose a logo' });
  await dialog.getByLabel('Search by file name').fill('nothing-like-it');
  await page.keyboard.press('Enter');
  await dialog.getByText('No picture’s file name begins with “nothing-like-it”.').waitFor();
  await page.keyboard.press('Escape');
  expect(await dialog.count()).toBe(0);
  await page.getByRole('link', { name: 'Choose a logo' }).click();
  await dialog.getByLabel('Search by file name').fill('anch');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Choose anchor.png' }).waitFor();
  await expect.poll(() => dialog.getByRole('button', { name: /^Choose/ }).count()).toBe(1);
  expect(await seriousProblems(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  await dialog.getByRole('button', { name: 'Choose anchor.png' }).click();
  await page.getByText('Saved: 1 change.').waitFor();
  expect((await settingsOf()).logoUrl).toMatch(/\/anchor_m\.png$/);
});

test('pictures are chosen and uploaded in a dialog, and what was typed on the page stays', async () => {
  const product = (await shop.service.db.one<{ id: string }>(sql`
    select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = 'KN-100'`))!;
  const page = await openAdmin(shop, `/products/${product.id}`);
  const pictures = page.locator('#pictures > .pictures > li');
  const { length } = await pictures.all();
  const name = page.getByLabel('Name · English');
  await name.fill('A typed name');

  const open = () => page.getByRole('link', { name: 'Choose from the media library' }).click();
  const library = page.getByRole('dialog', { name: 'Choose from the media library' });
  const send = async (file: string, buffer: Buffer) => {
    await library.getByLabel('Upload a picture').setInputFiles({ name: file, mimeType: 'image/png', buffer });
    await library.getByRole('button', { name: 'Upload', exact: true }).click();
  };
  await open();
  // A refusal stays in the dialog.
  await send('broken.png', Buffer.from('no picture'));
  await library.getByRole('alert').waitFor();
  expect(shop.problems.splice(0)).toEqual([expect.stringMatching(/^400 .*\/media\/new/)]);
  const blue = { create: { width: 300, height: 200, channels: 3, background: '#336699' } } as const;
  await send('blue.png', await sharp(blue).png().toBuffer());
  await expect.poll(() => pictures.count()).toBe(length + 1);
  expect(await library.count()).toBe(0);

  await open();
  await library.getByRole('button', { name: 'Choose blue.png' }).click();
  await expect.poll(() => pictures.count()).toBe(length + 2);
  await page.getByText('The picture is added.').waitFor();
  expect(await pictures.last().getAttribute('data-name')).toBe('blue-2.png');
  expect(await name.inputValue()).toBe('A typed name');

  const field = page.locator('.rich-text', { has: page.locator('[name="description.en_GB"]') });
  const description = field.getByRole('textbox');
  await description.click();
  await page.keyboard.press('Control+End');
  await field.getByRole('button', { name: 'Insert a picture' }).click();
  const forText = page.getByRole('dialog', { name: 'Insert a picture' });
  await forText.getByRole('button', { name: 'Choose blue.png' }).first().click();
  expect(await description.locator('img').getAttribute('src')).toMatch(/\/blue_ml\.png$/);
  expect(await name.inputValue()).toBe('A typed name');
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('Saved').first().waitFor();
  const stored = await shop.service.db.one<{ text: string }>(sql`
    select facts -> 'description' ->> 'en_GB' as text from product
    where shop_id = 'DemoShop' and product_id = ${product.id}`);
  expect(stored!.text).toMatch(/<img src="\/media\/DemoShop\/[0-9A-F-]{36}\/blue_ml\.png"/);
});
