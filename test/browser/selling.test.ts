import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { giftCardDelivery } from '../../src/orders/sold-cards/send.ts';
import { installationKey } from '../../src/platform/sealing.ts';
import { reviewTokens } from '../../src/reviews/links.ts';
import { seriousProblems } from '../accessibility.ts';
import { browsing } from '../browser.ts';
import { changeSettings, queuedEmails, type Shop } from '../carts.ts';
import { ADA, givenOrder, sums, typeAddress } from './checkout.ts';

/** Gift cards, promotions and reviews, from the page to the order. */

const shop = browsing();
const PATIENCE = { timeout: 240_000 };
const PATH = '/shop/DemoShop';

const demoShop = (): Shop => ({ service: shop.service, shopId: 'DemoShop', token: 'demo-all', ids: {} });
const manage = (method: string, path: string, body?: unknown) =>
  shop.service.call(method, `/manage/shops/DemoShop${path}`, { token: 'demo-all', body });
const productId = async (number: string): Promise<string> =>
  (await shop.service.call('GET', `/DemoShop/products?q=${number}`)).body.items[0].productId;

async function open(path: string): Promise<Page> {
  const page = await shop.open();
  await page.goto(shop.origin + PATH + path);
  const consent = page.getByRole('button', { name: 'Allow only what is necessary' });
  if ((await consent.count()) > 0) await consent.click();
  return page;
}

async function toReview(page: Page): Promise<void> {
  await page.goto(`${shop.origin}${PATH}/checkout`);
  await typeAddress(page, ADA);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL('**/checkout/delivery');
  await page.getByRole('radio', { name: /Payment in advance/ }).check();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL('**/checkout/review');
}

async function order(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await page.waitForURL('**/confirmation');
  const { body } = await shop.service.call('GET', '/DemoShop/orders?resultsPerPage=1', { token: 'demo-all' });
  return body.items[0].orderId;
}

test('a gift card is bought, paid, sent, looked at and redeemed', PATIENCE, async () => {
  const giftCard = { minimum: 10, maximum: 500 };
  const made = await manage('PATCH', `/products/${await productId('KN-120')}`, { giftCard });
  expect(made.status).toBe(200);
  const page = await open('/Products/KN-120');
  await page.getByLabel(/^Value/).fill('120');
  await page.getByLabel(/Email address of the recipient/).fill('anna@mail.example');
  await page.getByLabel(/Name on the card/).fill('Anna');
  await page.getByLabel(/Your message/).fill('Happy birthday!');
  expect(await seriousProblems(page)).toEqual([]);
  await page.locator('#buy').getByRole('button', { name: 'Add to cart' }).click();
  await page.getByText('For Anna (anna@mail.example)').first().waitFor();
  await toReview(page);
  expect(await sums(page)).toMatchObject({ Subtotal: '€120.00', Total: '€120.00' });
  expect(await page.getByText('For Anna (anna@mail.example)').count()).toBe(1);
  const orderId = await order(page);
  expect((await manage('POST', `/orders/${orderId}/payments`, { amount: 120 })).status).toBe(201);
  await giftCardDelivery.run(shop.service.db, 100);
  const email = (await queuedEmails(shop.service, 'DemoShop')).find(
    ({ template }) => template === 'giftCard',
  )!;
  expect(email.to).toBe('anna@mail.example');
  const code = email.facts['code'] as string;

  const recipient = await open('/gift-card');
  await recipient.getByLabel('Gift card code').fill(code.toLowerCase());
  await recipient.getByRole('button', { name: 'Show balance' }).click();
  await recipient.locator('main').getByText('€120.00').waitFor();
  expect(await seriousProblems(recipient)).toEqual([]);
  await recipient.goto(`${shop.origin}${PATH}/Products/KN-110`);
  await recipient.locator('#buy').getByRole('button', { name: 'Add to cart' }).click();
  await recipient.getByRole('dialog', { name: 'Your cart' }).waitFor();
  await toReview(recipient);
  await recipient.getByLabel('Gift card code').fill(code);
  await recipient.getByRole('button', { name: 'Use gift card' }).click();
  await recipient
    .getByText(`•••• ${code.slice(-4)}`)
    .first()
    .waitFor();
  expect((await sums(recipient))['Left to pay']).toBe('€0.00');
  const paid = await manage('GET', `/orders/${await order(recipient)}`);
  expect(paid.body.paidOn).not.toBeNull();
});

test('a cart with promotions becomes an order with the same sums', PATIENCE, async () => {
  await changeSettings(demoShop(), {
    promotions: [
      {
        key: 'two',
        name: 'Second one half',
        effect: 'buyGet',
        buy: 1,
        get: 1,
        percent: 50,
        products: ['KN-110'],
      },
      { key: 'free', name: 'Free delivery', effect: 'percent', percent: 100, on: 'delivery' },
    ],
  });
  const page = await open('/Products/KN-110');
  await page.locator('#buy').getByRole('button', { name: 'Add to cart' }).click();
  await page.getByRole('dialog', { name: 'Your cart' }).waitFor();
  await page.goto(`${shop.origin}${PATH}/cart`);
  expect(await page.getByText(/Second one half/).count()).toBe(1);
  await page.getByRole('spinbutton').first().fill('2');
  await page.getByRole('spinbutton').first().press('Tab');
  await page.locator('.summary').getByText('Second one half').waitFor();
  expect(await seriousProblems(page)).toEqual([]);
  await toReview(page);
  const expected = await sums(page);
  expect(Object.keys(expected)).toContain('Second one half');
  await order(page);
  expect(await sums(page)).toEqual(expected);
});

test('a review is written, published and shown', PATIENCE, async () => {
  await changeSettings(demoShop(), { reviews: { open: true } });
  const { orderId } = await givenOrder(shop.service);
  expect((await manage('POST', `/orders/${orderId}/shipments`, {})).status).toBe(201);
  const token = reviewTokens(await installationKey(shop.service.config)).token('DemoShop', orderId);
  const page = await open(`/reviews/${token}`);
  await page
    .getByRole('link', { name: /Write a review/ })
    .first()
    .click();
  await page.getByRole('radio', { name: '5 stars' }).check();
  await page.getByLabel(/^Headline/).fill('Sharp');
  await page.getByLabel(/^Name/).fill('Ada L.');
  expect(await seriousProblems(page)).toEqual([]);
  await page.locator('main form').getByRole('button').first().click();
  await page.getByText('Waiting to be published').waitFor();
  const { items } = (await manage('GET', '/reviews')).body;
  await manage('PUT', `/reviews/${items[0].reviewId}/state`, { state: 'published' });
  const visitor = await open(`/Products/${items[0].productNumber}/reviews`);
  await visitor.getByRole('heading', { name: 'Sharp' }).waitFor();
  expect(await seriousProblems(visitor)).toEqual([]);
});
