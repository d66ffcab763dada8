import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { browsing, seriousProblems, type Visitor } from '../browser.ts';
import { ADA, givenCart } from '../carts.ts';

const admin = browsing();
const token = 'demo-all';
const PATIENCE = { timeout: 120_000 };

async function givenOrder(): Promise<{ orderId: string; orderNumber: string }> {
  const { service } = admin;
  const ids: Record<string, string> = {};
  for (const number of ['KN-110', 'TE-100']) {
    const { body } = await service.call('GET', `/DemoShop/products?q=${number}`);
    ids[number] = body.items[0].productId;
  }
  const cart = await givenCart({ service, shopId: 'DemoShop', token, ids }, { 'KN-110': 1, 'TE-100': 2 });
  const headers = { 'x-epages-cart-token': cart.token };
  const at = `/DemoShop/carts/${cart.id}`;
  await service.call('PUT', `${at}/billing-address`, { token, headers, body: ADA });
  return (await service.call('POST', `${at}/order`, { token, headers })).body;
}

/** No page is wider than the screen, and nothing hinders people who use it in another way. */
async function look(page: Page, isScripted: boolean): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  if (isScripted) expect(await seriousProblems(page)).toEqual([]);
}

async function signIn(page: Page): Promise<void> {
  await page.goto('/admin/sign-in');
  await page.getByRole('button', { name: 'Sign in as the demo owner' }).click();
  await page.waitForURL('**/admin/shops/**');
}

const WIDE: [string, Visitor] = ['on a wide screen', {}];
const PHONE: [string, Visitor] = ['on a small screen', { screen: 'phone' }];
const WITHOUT_SCRIPTS: [string, Visitor] = [
  'on a small screen without JavaScript',
  { screen: 'phone', runsScripts: false },
];

test.each([WIDE, PHONE, WITHOUT_SCRIPTS])('a merchant handles an order %s', PATIENCE, async (_, visitor) => {
  const { orderId, orderNumber } = await givenOrder();
  const page = await admin.open(visitor);
  const isScripted = visitor.runsScripts ?? true;
  const managed = async () =>
    (await admin.service.call('GET', `/manage/shops/DemoShop/orders/${orderId}`, { token })).body;
  await signIn(page);
  await page.goto('/admin/shops/DemoShop/orders');
  await look(page, isScripted);
  await page.getByRole('link', { name: orderNumber }).click();
  await page.getByRole('heading', { name: `Order ${orderNumber}` }).waitFor();
  await look(page, isScripted);

  // It is to be paid in advance, so that is the form that is open.
  await page.getByLabel('Reference').fill('KB 4711');
  await page.getByRole('button', { name: 'Record the payment' }).click();
  await page.getByText('is recorded. The customer gets an email.').waitFor();

  await page.getByLabel(/TE-100/).fill('1');
  await page.getByLabel('Carrier').fill('DHL');
  await page.getByLabel('Tracking code').fill('00340434161094042557');
  await page.getByRole('button', { name: 'Mark as shipped' }).click();
  await page.getByText('Marked as shipped.').waitFor();
  await look(page, isScripted);
  await page.getByRole('link', { name: '00340434161094042557' }).waitFor();

  await page.getByRole('link', { name: 'Refund', exact: true }).click();
  await page.getByLabel('Amount').fill('2,50');
  await look(page, isScripted);
  await page.getByRole('button', { name: 'Refund' }).click();
  await page.getByText('Refunded: €2.50.').waitFor();

  await page.getByRole('link', { name: 'Invoice', exact: true }).click();
  await page.getByRole('button', { name: 'Create the invoice' }).click();
  await page.getByText(/Invoice \d+ is created/).waitFor();
  await page.locator('iframe.paper').waitFor();
  const path = await page.locator('iframe.paper').getAttribute('src');
  const file = await page.request.get(path!);
  expect([file.headers()['content-type'], (await file.body()).subarray(0, 5).toString()]).toEqual([
    'application/pdf',
    '%PDF-',
  ]);

  const { management, partiallyDispatchedOn } = await managed();
  expect(partiallyDispatchedOn).not.toBeNull();
  expect(management.refundedAmount.amount).toBe(2.5);
  expect(management.shipments).toMatchObject([{ carrier: 'DHL', trackingCode: '00340434161094042557' }]);
});

test.each([PHONE, WITHOUT_SCRIPTS])(
  'a merchant takes an order by telephone %s',
  PATIENCE,
  async (_, visitor) => {
    const page = await admin.open(visitor);
    const isScripted = visitor.runsScripts ?? true;
    await signIn(page);
    await page.goto('/admin/shops/DemoShop/orders/new');
    await page.getByLabel('Add a product').fill('AP-100');
    await page.getByRole('button', { name: 'Find' }).first().click();
    await page.getByRole('button', { name: 'Add: Beacon Kettle' }).click();
    await page.getByLabel('Quantity: Beacon Kettle').fill('2');
    await page.getByLabel('Name, email or customer number').fill('ada@');
    await page.getByRole('button', { name: 'Find' }).last().click();
    await page.getByRole('button', { name: /^Choose: Ada/ }).click();
    await look(page, isScripted);
    expect(await page.getByLabel('Quantity: Beacon Kettle').inputValue()).toBe('2');
    await page.getByRole('button', { name: 'Place the order' }).click();
    await page.getByText('is placed. The customer gets the confirmation').waitFor();
    await page
      .getByRole('link', { name: 'More' })
      .or(page.getByText('More', { exact: true }))
      .click();
    await page.getByRole('link', { name: 'Packing slip' }).click();
    await page.getByText('2 × Beacon Kettle').waitFor();
    await look(page, isScripted);
  },
);
