import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openAdmin } from '../admin.ts';
import { browsing, look } from '../browser.ts';
import { changeSettings } from '../carts.ts';
import { startVatRegister, type VatRegisterServer } from '../vat-register.ts';
import { ADA, checkoutUrlOf, sums, typeAddress } from './checkout.ts';

let register: VatRegisterServer;
beforeAll(async () => {
  register = await startVatRegister();
});
const shop = browsing({ environment: () => ({ VIES_URL: register.url }) });
beforeAll(async () => {
  if (!shop.service) return;
  await changeSettings(
    { service: shop.service, shopId: 'DemoShop', token: 'demo-all', ids: {} },
    {
      countries: { default: 'DE', items: ['DE', 'FR', 'CH', 'ES'] },
      taxes: { model: 'gross', taxFreeOutsideEu: true, specialTerritories: true },
    },
  );
});
afterAll(() => register.close());
beforeEach(() => {
  register.behaviour = 'valid';
});

const PATIENCE = { timeout: 120_000 };
/** This shop exports at the prices that it shows. */
const EXPORT = {
  Subtotal: '€24.50',
  'Delivery: Standard delivery': '€7.14',
  Total: '€31.64',
  'No VAT: export': '€0.00',
};
const PARIS = { ...ADA, street: '4 quai du Port', zipCode: '75001', city: 'Paris' };

/** The address step of a cart with a knife; another country shows its form first. */
async function atAddress(page: Page, country: string): Promise<void> {
  await page.goto(await checkoutUrlOf(shop, { 'KN-110': 1 }));
  await page.locator('[name="billing.country"]').selectOption(country);
  await page.waitForLoadState();
  await page.getByText('The form now matches this country').waitFor();
}

async function toReview(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Delivery and payment' }).waitFor();
  await page.locator('[name="shippingMethod"]').first().check();
  await page.locator('[name="paymentMethod"]').first().check();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Review and order' }).waitFor();
}

async function fillBusiness(page: Page): Promise<void> {
  await typeAddress(page, { ...PARIS, company: 'Quai SAS' });
  await expect(page.getByLabel('VAT ID').isVisible()).resolves.toBe(false);
  await page.getByLabel('I am buying as a business').check();
  await page.getByLabel('VAT ID').fill('fr 40 303 265 045');
  await page.getByLabel('Your purchase order number').fill('PO-4711');
}

async function newestOrderId(): Promise<string> {
  const { body } = await shop.service.call('GET', '/DemoShop/orders?resultsPerPage=1', { token: 'demo-all' });
  return body.items[0].orderId;
}

test('a French company buys without tax from a German shop', PATIENCE, async () => {
  const page = await shop.open();
  await atAddress(page, 'FR');
  await fillBusiness(page);
  await look(page);
  await toReview(page);
  await look(page);
  // The prices of the shop less its own tax, and why there is none.
  expect(await sums(page)).toEqual({
    Subtotal: '€20.59',
    'Delivery: Standard delivery': '€6.00',
    Total: '€26.59',
    'No VAT: intra-Community supply': '€0.00',
  });
  await page.getByText('VAT ID: FR40303265045').waitFor();
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await page.getByRole('heading', { name: /Thank you/ }).waitFor();
});

test('with the register down it pays the tax, and the merchant takes it off later', PATIENCE, async () => {
  register.behaviour = 'away';
  const page = await shop.open({ screen: 'phone' });
  await atAddress(page, 'FR');
  await fillBusiness(page);
  await page.getByLabel('VAT ID').fill('FR83404833048');
  await toReview(page);
  await page.getByText('could not be checked').waitFor();
  await look(page);
  expect(await sums(page)).toEqual({
    Subtotal: '€24.50',
    'Delivery: Standard delivery': '€7.14',
    Total: '€31.64',
    'Includes 19% VAT': '€5.05',
  });
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await page.getByRole('heading', { name: /Thank you/ }).waitFor();

  register.behaviour = 'valid';
  const admin = await openAdmin(shop, `/orders/${await newestOrderId()}`);
  await admin.getByText('FR83404833048 (could not be checked)').waitFor();
  await admin.getByRole('button', { name: 'Check again' }).click();
  await admin.getByText('The tax authorities have confirmed the VAT ID.').waitFor();
  await look(admin);
  await admin.getByRole('button', { name: 'Remove VAT' }).click();
  await admin.getByText('VAT was removed from the order.').waitFor();
  await look(admin);
  expect((await admin.locator('dl.totals').innerText()).replaceAll(/\s+/g, ' ')).toBe(
    'Subtotal €20.59 Standard delivery €6.00 No VAT: intra-Community supply €0.00 Total €26.59 Outstanding €26.59',
  );
});

test('a delivery to Switzerland is an export', PATIENCE, async () => {
  const page = await shop.open();
  await atAddress(page, 'CH');
  await typeAddress(page, { ...ADA, zipCode: '8001', city: 'Zürich' });
  await toReview(page);
  expect(await sums(page)).toEqual(EXPORT);
});

test('the Canary Islands are outside of the tax area', PATIENCE, async () => {
  const page = await shop.open();
  await atAddress(page, 'ES');
  await typeAddress(page, { ...ADA, zipCode: '35001', city: 'Las Palmas', state: 'Las Palmas' });
  await toReview(page);
  expect(await sums(page)).toEqual(EXPORT);
});
