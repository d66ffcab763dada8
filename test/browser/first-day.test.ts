import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openMediaStorage } from '../../src/platform/media/open-storage.ts';
import { PAGES } from '../../src/shops/legal/schema.ts';
import { createShop } from '../../src/shops/shop/create-shop.ts';
import { givenMerchant } from '../admin.ts';
import { browsing, look } from '../browser.ts';
import { givenToken } from '../builders.ts';
import { ADA, sums, typeAddress } from './checkout.ts';

/** The first day of a German shop, from its creation to its first refund. Every guard is met once. */
const shop = browsing();
const SHOP = 'Teekontor';
const ADMIN = `/admin/shops/${SHOP}`;

async function openOwner(): Promise<Page> {
  const { service, origin } = shop;
  const page = await shop.open({ locale: 'de-DE' });
  const { cookie, email } = await givenMerchant(service, 'owner', SHOP);
  await service.db.pool.query("update admin_user set language = 'de' where email = $1", [email]);
  const [name, value] = cookie.split('=') as [string, string];
  await page.context().addCookies([{ name, value, url: origin }]);
  return page;
}

/** Fills fields by the names that they have in the form. */
async function fillIn(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(fields))
    await page.locator(`[name="${name}"]`).first().fill(text);
}

test('a German shop opens, sells, ships, and takes a part back', { timeout: 180_000 }, async () => {
  const { service } = shop;
  await service.db.transaction((tx) =>
    createShop(tx, openMediaStorage(service.config), {
      shopId: SHOP,
      name: 'Teekontor',
      email: 'tee@mail.example',
      country: 'DE',
      locale: 'de_DE',
      currency: 'EUR',
    }),
  );
  await service.app.shopHosts.refresh();
  const token = await givenToken(service, SHOP);
  const page = await openOwner();
  const press = (name: string) => page.getByRole('button', { name, exact: true }).first().click();

  // Nobody can buy yet, and the home page says what is missing.
  const visitor = await shop.open({ screen: 'phone', locale: 'de-DE' });
  await visitor.goto(`/shop/${SHOP}`);
  await visitor.getByRole('heading', { name: 'Wir eröffnen bald' }).waitFor();
  await page.goto(ADMIN);
  const step = (key: string) => page.locator(`#step-${key}`);
  await step('address').getByText('Pflicht').waitFor();
  await look(page);

  await step('address').getByRole('link').first().click();
  await fillIn(page, {
    'invoicing.company': 'Teekontor GmbH',
    'invoicing.street': 'Kai 1',
    'invoicing.zipCode': '20457',
    'invoicing.city': 'Hamburg',
    'invoicing.vatId': 'DE123456789',
    'invoicing.bank.iban': 'DE02120300000000202051',
  });
  await press('Speichern');
  await page.getByText(/^Gespeichert/).waitFor();
  await page.goto(`${ADMIN}/products/new`);
  await fillIn(page, { name: 'Assam', productNumber: 'T-1', price: '9,90', stock: '4' });
  await press('Produkt anlegen');
  for (const { page: text } of PAGES) {
    const body = { name: text, description: `<p>Fertiger Text: ${text}</p>` };
    await service.call('PUT', `/${SHOP}/legal/${text}?locale=de_DE`, { token, body });
  }
  await page.goto(ADMIN);
  await press('Shop eröffnen');
  await look(page);

  // A visitor buys two of the four, and pays in advance to the account that the shop has named.
  await visitor.goto(`/shop/${SHOP}/Products/T-1`);
  await visitor.getByLabel('Menge').fill('2');
  await visitor.locator('.buy-bar').getByRole('button', { name: 'In den Warenkorb' }).click();
  await visitor.getByText('Assam liegt in Ihrem Warenkorb.').waitFor();
  await visitor.goto(`/shop/${SHOP}/cart`);
  await visitor.getByRole('link', { name: 'Zur Kasse' }).click();
  await typeAddress(visitor, ADA);
  await visitor.getByRole('button', { name: 'Weiter' }).click();
  await visitor.waitForURL('**/checkout/delivery');
  await visitor.getByRole('button', { name: 'Weiter' }).click();
  await visitor.waitForURL('**/checkout/review');
  const SUMS = {
    Warenwert: '19,80 €',
    'Versand: Paket': '4,90 €',
    Gesamtsumme: '24,70 €',
    'Enthaltene MwSt. 19 %': '3,94 €',
  };
  expect(await sums(visitor)).toEqual(SUMS);
  await visitor.getByRole('button', { name: 'Zahlungspflichtig bestellen' }).click();
  await visitor.getByText('DE02 1203 0000 0000 2020 51').first().waitFor();

  // The order waits for its payment, and does not leave by mistake.
  const { body: orders } = await service.call('GET', `/${SHOP}/orders`, { token });
  const { orderId, orderNumber } = orders.items[0];
  await page.goto(`${ADMIN}/orders?state=toShip`);
  expect(await page.getByText(orderNumber).count()).toBe(0);
  await page.goto(`${ADMIN}/orders/${orderId}/ship`);
  await fillIn(page, { trackingCode: '00340434161094042557' });
  await press('Als versandt markieren');
  await page.getByText('Diese Bestellung ist unbezahlt.').waitFor();
  await page.goto(`${ADMIN}/orders/${orderId}/pay`);
  await press('Zahlung erfassen');
  await page.getByText('ist erfasst. Der Kunde bekommt eine E-Mail.').waitFor();

  // Shipped by mistake, undone, and shipped again: the carrier is known by the number.
  for (const isMistake of [true, false]) {
    await page.goto(`${ADMIN}/orders/${orderId}/ship`);
    await fillIn(page, { trackingCode: '00340434161094042557' });
    await press('Als versandt markieren');
    await page.getByRole('link', { name: '00340434161094042557' }).waitFor();
    if (!isMistake) break;
    await press('Versand rückgängig machen');
    await page.getByText('Der Versand ist rückgängig gemacht.').waitFor();
  }
  await look(page);

  // One of the two comes back: its price is refunded, once, and nothing more without a reason.
  await page.goto(`${ADMIN}/orders/${orderId}/return`);
  await page.getByLabel(/Assam/).fill('1');
  await press('Retoure erfassen');
  await page.getByText('Die Retoure ist erfasst.').waitFor();
  expect(await page.locator('[name="refund"]').inputValue()).toBe('9,90');
  await press('Erstatten');
  await page.getByText('Teilweise zurückgegeben').first().waitFor();
  expect(await page.locator('[name="refund"]').count()).toBe(0);
  await look(page);
  await page.goto(`${ADMIN}/orders/${orderId}/refund`);
  await fillIn(page, { amount: '9,90' });
  await press('Erstatten');
  await page.getByText('Um mehr zu erstatten, geben Sie einen Grund für die Kulanz an.').waitFor();

  const { body } = await service.call('GET', `/manage/shops/${SHOP}/orders/${orderId}`, { token });
  expect(body).toMatchObject({ grandTotal: '24.7', totalTax: '3.94' });
  expect(body.management).toMatchObject({
    paidAmount: { amount: 24.7 },
    refundedAmount: { amount: 9.9 },
    refundableAmount: { amount: 0 },
    shipments: [{ carrier: 'DHL', trackingCode: '00340434161094042557' }],
  });
});
