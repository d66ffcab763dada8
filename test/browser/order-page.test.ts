import { expect, test } from 'vitest';
import { orderTokens } from '../../src/orders/order-link.ts';
import { installationKey } from '../../src/platform/sealing.ts';
import { browsing, look, type Visitor } from '../browser.ts';
import { ofTheDay } from '../seed.ts';
import { ADA, givenOrder } from './checkout.ts';

const shop = browsing({ onOwnHost: true });
const token = 'demo-all';
const PATIENCE = { timeout: 120_000 };

/** An order, and the path of its page. */
async function givenOrderPage(): Promise<{ path: string; orderId: string; orderNumber: string }> {
  const order = await givenOrder(shop.service);
  const key = await installationKey(shop.service.config);
  return { ...order, path: `/order/${orderTokens(key).token('DemoShop', order.orderId)}` };
}

const manage = async (orderId: string, part: string, body: object) => {
  const path = `/manage/shops/DemoShop/orders/${orderId}/${part}`;
  expect((await shop.service.call('POST', path, { token, body })).status).toBe(201);
};

/** Each of the tests below has one of them a day, and every day both have their turn. */
const VISITORS: [string, Visitor][] = [
  ['on a wide screen', {}],
  ['on a phone without JavaScript', { screen: 'phone', runsScripts: false }],
];

test.each(ofTheDay(VISITORS, 1))('a customer withdraws from a contract %s', PATIENCE, async (_, visitor) => {
  const { path, orderId, orderNumber } = await givenOrderPage();
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

test.each(ofTheDay(VISITORS.toReversed(), 1))(
  'a customer asks for a return, and orders again %s',
  PATIENCE,
  async (_, visitor) => {
    const { path, orderId } = await givenOrderPage();
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
    await page.getByRole('button', { name: 'Order again' }).click();
    await page.waitForURL('**/cart');
    expect(await page.locator('.lines > li').count()).toBe(2);
  },
);

test('a customer cancels in German on a phone', PATIENCE, async () => {
  const { path, orderId } = await givenOrderPage();
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
  const { path, orderNumber } = await givenOrderPage();
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
