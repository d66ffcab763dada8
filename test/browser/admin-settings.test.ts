import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { selectSettings } from '../../src/shops/settings/settings.ts';
import { browsing, seriousProblems } from '../browser.ts';

/** A merchant changes settings in a real browser. */
const shop = browsing();

const BASE = '/admin/shops/DemoShop/settings';

async function openSettings(screen: 'wide' | 'phone', path: string): Promise<Page> {
  const page = await shop.open({ screen });
  await page.goto('/admin/sign-in');
  await page.locator('form[action="/admin/sign-in/demo"] button').click();
  await page.waitForURL('**/admin/shops/**');
  await page.goto(BASE + path);
  return page;
}

const settingsOf = async () => (await selectSettings(shop.service.db, 'DemoShop'))!;

test.each(['wide', 'phone'] as const)(
  'the theme is changed with a preview, a wrong value stays with its error, and the former settings are restored: %s',
  async (screen) => {
    const before = await settingsOf();
    const page = await openSettings(screen, '/theme');
    expect(await seriousProblems(page)).toEqual([]);

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

    await page.getByLabel('Text').first().fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved: 1 change.').waitFor();
    expect((await settingsOf()).theme.accent).toBe('#803020');

    await page.goto(`${BASE}/history`);
    expect(await seriousProblems(page)).toEqual([]);
    await page.locator('tbody tr').nth(1).getByRole('link').click();
    await page.getByRole('button', { name: 'Restore this state' }).click();
    await page.getByText(/The settings of .* are restored\./).waitFor();
    expect((await settingsOf()).theme).toEqual(before.theme);
  },
);

test.each(['wide', 'phone'] as const)(
  'a shipping method is added, moved to the front and shows its price: %s',
  async (screen) => {
    const page = await openSettings(screen, '/shipping');
    expect(await seriousProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add a shipping method' }).click();
    const entry = page.locator('#field-shippingMethods > [data-entry]:has([name^="shippingMethods.added"])');
    await entry.getByLabel('British English').first().fill(`Rowing boat ${screen}`);
    await entry.getByLabel('How the price is made').selectOption('flat');
    expect(await entry.getByLabel('Price per kilogram').isVisible()).toBe(false);
    await entry.getByLabel('Price', { exact: true }).first().fill('3,90');
    const { length } = (await settingsOf()).shippingMethods;
    for (let steps = 0; steps < length; steps++) await entry.getByLabel('Move up').last().press('Enter');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved: 1 change.').waitFor();
    const [first] = (await settingsOf()).shippingMethods;
    expect(first).toMatchObject({ name: { en_GB: `Rowing boat ${screen}` }, amount: 390, kind: 'flat' });
    await page.getByLabel('Value of the goods').fill('80');
    await page.locator('#prices').getByText('3.90 €').first().waitFor();
  },
);

test('words of an email are edited with a preview', async () => {
  const page = await openSettings('wide', '/emails/shipped');
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByLabel('Text', { exact: true }).fill('Ahoy! {shopName} has sent {orderNumber}.');
  await page.frameLocator('iframe[name="preview"]').getByText('Ahoy! Harbour & Hearth has sent').waitFor();
  await page.getByLabel('Text', { exact: true }).fill('Ahoy {nobody}');
  await page.getByRole('button', { name: 'Save' }).click();
  await page
    .getByRole('alert')
    .getByText(/names \{nobody\}, expected one of/)
    .waitFor();
  expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe('Ahoy {nobody}');
});
