import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { orderTokens } from '../../src/orders/order-link.ts';
import { installationKey } from '../../src/shops/apps/sealing.ts';
import { browsing, seriousProblems, type Visitor } from '../browser.ts';
import { ADA, givenCart } from '../carts.ts';

const shop = browsing({ onOwnHost: true });
const token = 'demo-all';
const PATIENCE = { timeout: 120_000 };

/** An order of two products of the demo shop, and the path of its page. */
async function givenOrder(): Promise<{ path: string; orderId: string; orderNumber: string }> {
  const { service } = shop;
  const ids: Record<string, string> = {};
  for (const number of ['KN-110', 'TE-100']) {
    const { body } = await service.call('GET', `/DemoShop/products?q=${number}`);
    ids[number] = body.items[0].productId;
  }
  const cart = await givenCart({ service, shopId: 'DemoShop', token, ids }, { 'KN-110': 1, 'TE-100': 2 });
  const headers = { 'x-epages-cart-token': cart.token };
  const at = `/DemoShop/carts/${cart.id}`;
  await service.call('PUT', `${at}/billing-address`, { token, headers, body: ADA });
  const { body } = await service.call('POST', `${at}/order`, { token, headers });
  const key = await installationKey(service.config);
  const { orderId, orderNumber } = body;
  return { path: `/order/${orderTokens(key).token('DemoShop', orderId)}`, orderId, orderNumber };
}

const manage = async (orderId: string, part: string, body: object) => {
  const path = `/manage/shops/DemoShop/orders/${orderId}/${part}`;
  expect((await shop.service.call('POST', path, { token, body })).status).toBe(201);
};

/** No page is wider than the screen, and nothing hinders people who use it in another way. */
async function look(page: Page, isScripted = true): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  if (isScripted) expect(await seriousProblems(page)).toEqual([]);
}

const VISITORS: [string, Visitor][] = [
  ['on a wide screen', {}],
  ['on a phone without JavaScript', { screen: 'phone', runsScripts: false }],
];

test.each(VISITORS)('a customer withdraws from a contract %s', PATIENCE, async (_, visitor) => {
  const { path, orderId, orderNumber } = await givenOrder();
  await manage(orderId, 'payments', { amount: 10 });
  await manage(orderId, 'invoices', {});
  await manage(orderId, 'shipments', { carrier: 'DHL', trackingCode: '00340434161094042557' });
  const page = await shop.open(visitor);
  const isScripted = visitor.runsScripts ?? true;
  await page.goto(path);
  await page.getByRole('heading', { name: `Your order ${orderNumber}` }).waitFor();
  await look(page, isScripted);
  await page.locator('main').getByRole('link', { name: 'Withdraw from contract here' }).click();
  await look(page, isScripted);
  await page.getByLabel(/Reefline/).fill('0');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Confirm withdrawal' }).waitFor();
  await look(page, isScripted);
  await page.getByRole('button', { name: 'Confirm withdrawal' }).click();
  await page.getByText('You have withdrawn from the contract').waitFor();
  await look(page, isScripted);
  expect(await page.locator('.notice').innerText()).toContain(ADA.emailAddress);
  const { body } = await shop.service.call('GET', `/manage/shops/DemoShop/orders/${orderId}`, { token });
  expect(body.management.returns).toMatchObject([{ state: 'withdrawn', lines: [{ quantity: 2 }] }]);
});

test.each(VISITORS)('a customer asks for a return, and orders again %s', PATIENCE, async (_, visitor) => {
  const { path, orderId } = await givenOrder();
  await manage(orderId, 'shipments', {});
  const page = await shop.open(visitor);
  const isScripted = visitor.runsScripts ?? true;
  await page.goto(path);
  await page.getByRole('link', { name: 'Return items' }).click();
  await look(page, isScripted);
  await page.getByRole('button', { name: 'Request the return' }).click();
  await page.getByText('Please enter a quantity for at least one item').waitFor();
  await page.getByLabel(/Reefline/).fill('1');
  await page.getByLabel('Why would you like to return them?').fill('Too sharp');
  await page.getByRole('button', { name: 'Request the return' }).click();
  await page.getByText('Return requested').waitFor();
  await look(page, isScripted);
  await page.getByRole('button', { name: 'Order the same again' }).click();
  await page.waitForURL('**/cart');
  expect(await page.locator('.lines > li').count()).toBe(2);
});

test('a customer cancels in German on a phone', PATIENCE, async () => {
  const { path, orderId } = await givenOrder();
  const page = await shop.open({ screen: 'phone', locale: 'de-DE' });
  await page.goto(`${path}?locale=de_DE`);
  await look(page);
  await page.getByRole('link', { name: 'Bestellung stornieren' }).click();
  await look(page);
  await page.getByRole('button', { name: 'Ja, Bestellung stornieren' }).click();
  await page.getByText('Diese Bestellung ist storniert.').waitFor();
  const { body } = await shop.service.call('GET', `/manage/shops/DemoShop/orders/${orderId}`, { token });
  expect(body.management.cancelledOn).not.toBeNull();
});

test('a guest gets to the withdrawal by the footer', PATIENCE, async () => {
  const { path, orderNumber } = await givenOrder();
  const page = await shop.open({ screen: 'phone' });
  await page.goto('/');
  await page.locator('footer').getByRole('link', { name: 'Withdraw from contract here' }).click();
  await look(page);
  await page.getByLabel('Order number').fill(orderNumber);
  await page.getByLabel('Email address').fill(ADA.emailAddress);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Please check your inbox' }).waitFor();
  await look(page);
  // The address of the page leaves it with no link.
  await page.goto(path);
  await page.getByRole('link', { name: 'Withdraw from contract here' }).first().click();
  expect(await page.evaluate('document.referrer')).toBe('');
});
