import { expect, test } from 'vitest';
import { seriousProblems } from '../accessibility.ts';
import { openAdmin } from '../admin.ts';
import { browsing } from '../browser.ts';

const shop = browsing();

const WIDTHS = [390, 1280];

/** How far the page is wider than the window. */
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

test('a mailing is written, previewed and scheduled, on a phone and on a wide screen', async () => {
  const admin = await openAdmin(shop, '/marketing/mailings/new');
  await admin.getByLabel('Tide letter').check();
  await admin.getByLabel('Subject').fill('New at the harbour');
  await admin.getByRole('button', { name: 'Create draft' }).click();
  for (const [index, [kind, field, text]] of (
    [
      ['hero', 'title', 'Autumn at the harbour'],
      ['products', 'numbers', 'KN-110\nAP-100\nTE-100'],
      ['newsletter', 'title', 'Subscribe'],
    ] as const
  ).entries()) {
    await admin.getByLabel('Add a block').selectOption(kind);
    await admin.getByRole('button', { name: 'Add', exact: true }).click();
    await admin.locator(`[name="blocks.${index}.${field}"]`).fill(text);
  }
  await admin.getByText('Email programs cannot show this block').waitFor();
  await admin.getByRole('button', { name: 'Save' }).click();
  const preview = admin.frameLocator('#preview iframe.phone');
  await preview.getByRole('heading', { name: 'Autumn at the harbour' }).waitFor();
  for (const width of WIDTHS) {
    await admin.setViewportSize({ width, height: 900 });
    expect(await seriousProblems(admin)).toEqual([]);
    expect(await admin.evaluate(OVERFLOW)).toBe(0);
  }
  const source = await admin.locator('#preview iframe.phone').getAttribute('src');
  const email = await openAdmin(shop, '');
  for (const width of WIDTHS) {
    await email.setViewportSize({ width, height: 900 });
    await email.goto(source!);
    expect(await email.evaluate(OVERFLOW)).toBe(0);
  }
  admin.on('dialog', (dialog) => void dialog.accept());
  await admin.getByLabel('Send at (UTC)').fill(new Date(Date.now() + 86_400_000).toISOString().slice(0, 16));
  await admin.getByRole('button', { name: 'Send', exact: true }).click();
  await admin.getByRole('button', { name: 'Back to draft' }).waitFor();
  for (const width of WIDTHS) {
    await admin.setViewportSize({ width, height: 900 });
    expect(await seriousProblems(admin)).toEqual([]);
    expect(await admin.evaluate(OVERFLOW)).toBe(0);
  }
});
