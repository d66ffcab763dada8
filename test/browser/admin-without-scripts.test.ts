import { expect, test } from 'vitest';
import { openAdmin } from '../admin.ts';
import { browsing, look } from '../browser.ts';
import { ofTheDay } from '../seed.ts';
import { givenOrder } from './checkout.ts';

/** A merchant whose browser runs no JavaScript reads everything and sends simple forms. */
const shop = browsing();
const token = 'demo-all';
const open = (path: string) => openAdmin(shop, path, { screen: 'phone', runsScripts: false });

const MENU = ['Home', 'Orders', 'Products', 'Categories', 'Customers', 'Marketing', 'Settings', 'Apps'];

test('all pages of the menu are read, and a product is found and saved', async () => {
  const page = await open('');
  for (const name of MENU) {
    await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await look(page, false);
    // What only a script can do is not offered.
    expect([name, await page.locator('.with-script:visible').count()]).toEqual([name, 0]);
  }
  await page.getByRole('searchbox', { name: 'Search' }).fill('socks');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Anchor Socks' }).first().click();
  const stock = page.locator('.product-form [name="stock"]');
  await stock.fill('58');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.locator('.notice').waitFor();
  expect(await stock.inputValue()).toBe('58');
});

test('an order is paid, shipped in part, refunded in part and invoiced', async () => {
  const { orderId, orderNumber } = await givenOrder(shop.service);
  const page = await open('/orders');
  await page.getByRole('link', { name: orderNumber }).click();
  await look(page, false);

  // It is to be paid in advance, so that is the form that is open.
  await page.getByLabel('Reference').fill('KB 4711');
  await page.getByRole('button', { name: 'Record the payment' }).click();
  await page.getByText('is recorded. The customer gets an email.').waitFor();

  await page.getByLabel(/TE-100/).fill('1');
  await page.getByLabel('Carrier').selectOption('DHL');
  await page.getByLabel('Tracking number').fill('00340434161094042557');
  await page.getByRole('button', { name: 'Mark as shipped' }).click();
  await page.getByRole('link', { name: '00340434161094042557' }).waitFor();

  await page.getByRole('link', { name: 'Refund', exact: true }).click();
  await page.getByLabel('Amount').fill('2,50');
  await page.getByLabel('Goodwill: reason').fill('arrived late');
  await page.getByRole('button', { name: 'Refund' }).click();
  await page.getByText('Refunded: €2.50.').waitFor();

  await page.getByRole('link', { name: 'Invoice', exact: true }).click();
  await page.getByRole('button', { name: 'Create the invoice' }).click();
  await page.getByText(/Invoice \d+ is created/).waitFor();
  await look(page, false);
  const path = await page.locator('iframe.paper').getAttribute('src');
  const file = await page.request.get(path!);
  expect([file.headers()['content-type'], (await file.body()).subarray(0, 5).toString()]).toEqual([
    'application/pdf',
    '%PDF-',
  ]);

  const { body } = await shop.service.call('GET', `/manage/shops/DemoShop/orders/${orderId}`, { token });
  expect(body.partiallyDispatchedOn).not.toBeNull();
  expect(body.management).toMatchObject({
    refundedAmount: { amount: 2.5 },
    shipments: [{ carrier: 'DHL', trackingCode: '00340434161094042557' }],
  });
});

test.each(ofTheDay([true, false], 1))(
  'an order is taken by telephone: with scripts %s',
  async (runsScripts) => {
    const page = await openAdmin(shop, '/orders/new', { screen: 'phone', runsScripts });
    await page.getByLabel('Add a product').fill('AP-100');
    await page.getByRole('button', { name: 'Find' }).first().click();
    await page.getByRole('button', { name: 'Add: Beacon Kettle' }).click();
    await page.getByLabel('Quantity: Beacon Kettle').fill('2');
    await page.getByLabel('Name, email or customer number').fill('ada@');
    await page.getByRole('button', { name: 'Find' }).last().click();
    await page.getByRole('button', { name: /^Select: Ada/ }).click();
    await look(page, runsScripts);
    expect(await page.getByLabel('Quantity: Beacon Kettle').inputValue()).toBe('2');
    await page.getByRole('button', { name: 'Place the order' }).click();
    await page.getByText('is placed. The customer gets the confirmation').waitFor();
  },
);
