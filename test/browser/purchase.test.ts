import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { seriousProblems } from '../accessibility.ts';
import { browsing, script } from '../browser.ts';
import { ADA, checkoutUrlOf, sums, typeAddress } from './checkout.ts';

const shop = browsing({ onOwnHost: true });

/** The newest order, as the API shows it. */
async function newestOrder() {
  const token = 'demo-all';
  const { body } = await shop.service.call('GET', '/DemoShop/orders?resultsPerPage=1', { token });
  return (await shop.service.call('GET', `/DemoShop/orders/${body.items[0].orderId}`, { token })).body;
}

/** What a script of an app hears from page to page. */
async function listenTo(
  page: Page,
): Promise<() => Promise<[name: string, detail: Record<string, unknown>][]>> {
  await page.route(
    'https://cdn.example/chat.js',
    script(`
      for (const name of ${JSON.stringify(EVENTS)}) {
        eComEventTarget.addEventListener(name, ({ type, detail }) => {
          const heard = JSON.parse(sessionStorage.getItem('heard') ?? '[]');
          sessionStorage.setItem('heard', JSON.stringify([...heard, [type, detail]]));
        });
      }`),
  );
  return async () => {
    await page.waitForLoadState();
    const heard = await page.evaluate<string | null>("sessionStorage.getItem('heard')");
    await page.evaluate("sessionStorage.removeItem('heard')");
    return JSON.parse(heard ?? '[]') as [string, Record<string, unknown>][];
  };
}

const EVENTS = [
  'page:view',
  'product:view',
  'product:click',
  'wishlist:add',
  'category:view',
  'searchResults:view',
  'cart:view',
  'cart:add',
  'cart:setQuantity',
  'cart:update',
  'order:completed',
  'shippingMethod:select',
  'paymentMethod:select',
];

const names = (heard: [string, unknown][]) => heard.map(([name]) => name);

/** Many pages, on machines that do other things too. */
const PATIENCE = { timeout: 120_000 };

test(
  'a purchase in English on a wide screen, and what the scripts of apps hear of it',
  PATIENCE,
  async () => {
    const page = await shop.open();
    const heard = await listenTo(page);
    await page.goto('/');
    await page.getByRole('button', { name: 'Allow all' }).click();
    await page.locator('.menu').getByRole('link', { name: 'Kitchen' }).first().click();
    await page.waitForURL('**/Categories/kitchen');
    await heard();
    await page.locator('main').getByRole('link', { name: 'Knives' }).first().click();
    await page.waitForURL('**/Categories/knives');
    const listed = await heard();
    expect(names(listed)).toEqual(['page:view', 'category:view']);
    expect(listed[0]![1]).toEqual({ url: `${shop.origin}/Categories/knives` });
    expect(listed[1]![1]).toMatchObject({ category: { alias: 'knives' }, products: expect.any(Array) });
    await page.locator('.card h2').getByRole('link', { name: 'Reefline Chef Knife' }).click();
    await page.waitForURL('**/Products/KN-100');
    const clicked = await heard();
    expect(names(clicked)).toEqual(['product:click', 'page:view', 'product:view']);
    expect(clicked[0]![1]).toMatchObject({
      type: 'click',
      detail: 1,
      product: { productNumber: 'KN-100' },
      productIndex: expect.any(Number),
    });

    await page.getByRole('group', { name: 'Blade' }).getByRole('link', { name: '16 cm' }).click();
    await page.waitForURL('**/Products/KN-101');
    await heard();
    await page.locator('.offer').getByRole('button', { name: 'Add to cart' }).click();
    const drawer = page.getByRole('dialog', { name: 'Your cart' });
    expect(await drawer.getByRole('status').innerText()).toBe('Reefline Chef Knife is in your cart.');
    const added = await heard();
    expect(names(added)).toEqual(['cart:add']);
    expect(Object.keys(added[0]![1])).toEqual(['cart', 'product', 'quantity']);
    expect(added[0]![1]).toMatchObject({ product: { productNumber: 'KN-101' }, quantity: 1 });
    expect(await seriousProblems(page)).toEqual([]);
    await drawer.getByRole('link', { name: 'Continue shopping' }).click();
    await drawer.waitFor({ state: 'detached' });

    await page.getByRole('combobox').fill('sharpening stone');
    await page.getByRole('search').getByRole('option').click();
    await page.waitForURL('**/Products/KN-120');
    await page.locator('.offer').getByRole('button', { name: 'Add to wish list' }).click();
    await page.locator('.notice').waitFor();
    expect(await page.locator('.offer').getByRole('button', { name: 'Remove from wish list' }).count()).toBe(
      1,
    );
    expect((await heard()).at(-1)).toEqual([
      'wishlist:add',
      { locale: 'en_GB', product: { productId: expect.any(String), quantity: 1 } },
    ]);
    await page.getByRole('spinbutton', { name: 'Quantity' }).fill('2');
    await page.locator('.offer').getByRole('button', { name: 'Add to cart' }).click();
    await drawer.getByRole('link', { name: 'View cart' }).click();
    await page.waitForURL('**/cart');
    expect(names(await heard())).toEqual(['cart:add', 'page:view', 'cart:view']);
    const stone = page.getByRole('spinbutton', { name: /Saltbox Sharpening Stone/ });
    await stone.fill('1');
    await stone.press('Tab');
    await page.locator('.summary').getByText('€93.90').waitFor();
    const changed = (await heard()).find(([name]) => name === 'cart:setQuantity');
    expect(changed?.[1]).toMatchObject({ lineItem: { sku: 'KN-120' }, quantity: 1, quantityDelta: -1 });

    await page.getByLabel('Coupon code').fill('AUTUMN15');
    await page.getByRole('button', { name: 'Redeem' }).click();
    await page.locator('.summary').getByText('-€14.09').waitFor();
    expect(names(await heard())).toContain('cart:update');
    expect(await seriousProblems(page)).toEqual([]);

    await page.getByRole('link', { name: 'Go to checkout' }).click();
    await page.waitForURL('**/checkout');
    expect(await seriousProblems(page)).toEqual([]);
    await typeAddress(page, { ...ADA, zipCode: 'nonsense' });
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.locator('[id="billing.zipCode"][aria-invalid=true]').waitFor();
    expect(await page.locator('[id="billing.street"]').inputValue()).toBe('Kai 7');
    expect(await seriousProblems(page)).toEqual([]);
    await page.locator('[id="billing.zipCode"]').fill('20457');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL('**/checkout/delivery');
    expect(await seriousProblems(page)).toEqual([]);
    await heard();
    await page.getByRole('radio', { name: /Invoice/ }).check();
    expect(await heard()).toEqual([
      [
        'paymentMethod:select',
        {
          paymentMethod: {
            _id: expect.any(String),
            name: 'Invoice',
            lineItemPrice: { amount: 1.5, currency: 'EUR', formatted: '1.50 €', taxType: 'GROSS' },
          },
        },
      ],
    ]);
    await page.getByRole('radio', { name: /Payment in advance/ }).check();
    await heard();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL('**/checkout/review');
    // The payment was told when it was chosen.
    expect(names(await heard())).toEqual(['page:view', 'shippingMethod:select']);
    expect(await seriousProblems(page)).toEqual([]);
    const expected = {
      Subtotal: '€93.90',
      'Coupon AUTUMN15': '-€14.09',
      'Delivery: Standard delivery': '€8.13',
      Total: '€87.94',
      'Includes 19% VAT': '€14.04',
    };
    expect(await sums(page)).toEqual(expected);

    await page.getByRole('button', { name: 'Order and pay' }).dblclick();
    await page.waitForURL('**/confirmation');
    expect(await sums(page)).toEqual(expected);
    expect(await seriousProblems(page)).toEqual([]);
    const order = await newestOrder();
    expect(order).toMatchObject({ grandTotal: '87.94', totalTax: '14.04', locale: 'en_GB' });
    expect(await page.getByText(order.orderNumber).count()).toBeGreaterThan(0);
    const completed = await heard();
    expect(names(completed)).toEqual(['page:view', 'order:completed']);
    expect(completed[1]![1]).toMatchObject({
      orderId: order.orderId,
      orderNumber: order.orderNumber,
      currencyId: 'EUR',
      grandTotal: '87.94',
      totalTax: '14.04',
      billingAddress: { lastName: 'Lindqvist' },
      couponCampaign: { campaignId: expect.any(String) },
    });

    await page.reload();
    expect(names(await heard())).toEqual(['page:view']);
    await page.goto('/cart');
    expect(await page.locator('.lines').count()).toBe(0);
  },
);

test('a purchase in German on a phone without JavaScript', PATIENCE, async () => {
  const page = await shop.open({ screen: 'phone', runsScripts: false, locale: 'de-DE' });
  await page.goto('/?locale=de_DE');
  await page.getByRole('button', { name: 'Nur Notwendiges erlauben' }).click();
  await page.locator('details.menu summary').click();
  await page.locator('details.menu').getByRole('link', { name: 'Bohnen' }).click();
  await page.waitForURL('**/Categories/beans?locale=de_DE');
  await page.locator('.card h2').getByRole('link', { name: 'Tidewater Espressobohnen' }).click();
  await page.waitForURL('**/Products/CB-100?locale=de_DE');
  await page.getByRole('link', { name: '500 g' }).click();
  await page.waitForURL('**/Products/CB-102?locale=de_DE');
  await page.getByRole('link', { name: '250 g' }).click();
  await page.waitForURL('**/Products/CB-101?locale=de_DE');
  await page.getByLabel('Menge').fill('4');
  await page.locator('.buy-bar').getByRole('button', { name: 'In den Warenkorb' }).click();
  await page.waitForURL('**/cart?locale=de_DE');
  await page.getByRole('searchbox').fill('filterkaffee');
  await page.getByRole('searchbox').press('Enter');
  await page.waitForURL('**/search?**');
  await page.locator('.card').getByRole('link').first().click();
  await page.waitForURL('**/Products/CB-200?locale=de_DE');
  await page.getByLabel('Menge').fill('5');
  await page.locator('.buy-bar').getByRole('button', { name: 'In den Warenkorb' }).click();
  await page.waitForURL('**/cart?locale=de_DE');

  await page.getByRole('textbox', { name: 'Gutscheincode' }).fill('WRONG');
  await page.getByRole('button', { name: 'Einlösen' }).click();
  expect(await page.locator('#code').getAttribute('aria-invalid')).toBe('true');
  expect(await page.locator('#code').inputValue()).toBe('WRONG');
  await page.locator('#code').fill('SUMMER20');
  await page.getByRole('button', { name: 'Einlösen' }).click();
  await page.getByRole('link', { name: 'Zur Kasse' }).click();
  await typeAddress(page, ADA);
  await page.getByRole('button', { name: 'Weiter' }).click();
  await page.waitForURL('**/checkout/delivery?locale=de_DE');
  await page.getByRole('button', { name: 'Weiter' }).click();
  await page.waitForURL('**/checkout/review?locale=de_DE');
  const expected = {
    Warenwert: '99,10 €',
    'Gutschein SUMMER20': expect.stringMatching(/^[-−]20,00 €$/),
    'Versand: Standardversand': '11,30 €',
    Gesamtsumme: '90,40 €',
    'Enthaltene MwSt. 7 %': '5,17 €',
    'Enthaltene MwSt. 19 %': '1,80 €',
  };
  expect(await sums(page)).toEqual(expected);
  await page.getByRole('button', { name: 'Zahlungspflichtig bestellen' }).click();
  await page.waitForURL('**/confirmation?locale=de_DE');
  expect(await sums(page)).toEqual(expected);
  expect(await newestOrder()).toMatchObject({ grandTotal: '90.4', totalTax: '6.97', locale: 'de_DE' });
});

test('a search is told with what was found', async () => {
  const page = await shop.open({ consents: true });
  const heard = await listenTo(page);
  await page.goto('/search?q=beacon');
  const [, [name, detail]] = (await heard()) as [unknown, [string, { products: object[]; query: object }]];
  expect(name).toBe('searchResults:view');
  expect(detail.query).toEqual({ q: 'beacon', token: 'beacon' });
  expect(detail.products).toHaveLength(3);
});

test('without consent the confirmation is not told to any script', async () => {
  const page = await shop.open();
  const heard = await listenTo(page);
  await page.goto(await checkoutUrlOf(shop, { 'BK-100': 1 }));
  await page.waitForURL('**/checkout');
  await typeAddress(page, ADA);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL('**/checkout/delivery');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL('**/checkout/review');
  await page.getByRole('button', { name: 'Order and pay' }).click();
  await page.waitForURL('**/confirmation');
  expect((await sums(page))['Total']).toBe('€9.99');
  expect(await heard()).toEqual([]);
  expect(await page.locator('[id="page.events"]').count()).toBe(0);
});
