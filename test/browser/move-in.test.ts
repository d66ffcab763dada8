import pino from 'pino';
import { beforeAll, expect, test } from 'vitest';
import { receiverPolicy } from '../../src/apps/webhooks/receiver-address.ts';
import { runDueMoves } from '../../src/imports/moves/runner.ts';
import { openMediaStorage } from '../../src/platform/media/open-storage.ts';
import { installationKey } from '../../src/platform/sealing.ts';
import { seriousProblems } from '../accessibility.ts';
import { openAdmin } from '../admin.ts';
import { browsing } from '../browser.ts';
import { givenShop, givenToken } from '../builders.ts';
import { oneInTurn } from '../seed.ts';
import type { Page } from 'playwright-core';

const shop = browsing();
const BASE = '/shop/DemoShop';

const LAMP = '0a1b2c3d'.repeat(4);

/** A product of each system, with the address that it had there. */
const EXPORTS = [
  {
    system: 'Shopify',
    file: 'products_export.csv',
    lines: [
      'Handle,Title,Vendor,Option1 Name,Option1 Value,Variant SKU,Variant Price,Status',
      'sea-mug,Sea mug,Pier,Title,Default Title,SEA-MUG,9.50,active',
    ],
    old: '/products/sea-mug',
    name: 'Sea mug',
  },
  {
    system: 'WooCommerce',
    file: 'wc-product-export.csv',
    lines: [
      'ID,Type,SKU,Name,Published,Visibility in catalog,Tax status,In stock?,Regular price,Slug',
      '7,simple,DECK,Deck chair,1,visible,taxable,1,79,deck-chair',
    ],
    old: '/product/deck-chair/',
    name: 'Deck chair',
  },
  {
    system: 'Shopware 6',
    file: 'products.csv',
    lines: [
      'id;parent_id;product_number;active;stock;name;description;price_net;price_gross;tax_rate;ean;manufacturer_name;categories;optionIds;propertyIds;cover_media_url;weight',
      `${LAMP};;SW-LAMP;1;4;Harbour lamp;;25;29.75;19;;Pier;;;;;0.3`,
    ],
    old: `/detail/${LAMP}`,
    name: 'Harbour lamp',
  },
];

beforeAll(async () => {
  if (!shop.service) return;
  await givenShop(shop.service, 'Old');
});

/** What the service does in the background. */
async function runMoves(): Promise<void> {
  const { db, config, app } = shop.service;
  await runDueMoves({
    db,
    config,
    media: openMediaStorage(config),
    log: pino({ level: 'silent' }),
    policy: receiverPolicy(config, app.demoAccess),
    loadKey: () => installationKey(config),
    pause: 0,
  });
}

async function checkAndImport(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await page.getByText('The shop is being checked.').waitFor();
  await runMoves();
  await page.getByText('Nothing has been written yet.').waitFor();
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByText('The shop is being imported.').waitFor();
  await runMoves();
  await page.getByText('The import has ended.').waitFor();
  expect(await seriousProblems(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
}

test.each(EXPORTS.map((one, index) => ({ ...one, index })))(
  'a shop moves in from the files of $system, and its old address leads to the product',
  async ({ system, file, lines, old, name, index }) => {
    const [screen] = oneInTurn(['wide', 'phone'] as const, index);
    const page = await openAdmin(shop, '/move-in', { screen: screen! });
    await page.getByRole('link', { name: system }).first().click();
    await page.getByLabel('File').setInputFiles({
      name: file,
      mimeType: 'text/csv',
      buffer: Buffer.from(`${lines.join('\n')}\n`),
    });
    await page.getByRole('button', { name: 'Send file' }).click();
    await page.getByRole('heading', { name: 'What to import' }).waitFor();
    await checkAndImport(page);
    const visitor = await shop.open({ screen: screen! });
    await visitor.goto(BASE + old);
    expect(await visitor.locator('h1').textContent()).toBe(name);
  },
);

test('a shop moves in by the API of ePages', async () => {
  const token = await givenToken(shop.service, 'Old');
  const created = await shop.service.call('POST', '/Old/products', {
    token,
    body: { productNumber: 'OLD-ROPE', name: 'Old rope', price: 12.5, visible: true },
  });
  expect(created.status).toBe(201);
  const page = await openAdmin(shop, '/move-in');
  await page.getByRole('link', { name: 'ePages' }).first().click();
  await page.getByLabel('Address of the API').fill(`${shop.serviceOrigin}/rs/shops/Old`);
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Continue' }).click();
  await checkAndImport(page);
  const visitor = await shop.open();
  await visitor.goto(`${BASE}/Products/OLD-ROPE`);
  expect(await visitor.locator('h1').textContent()).toBe('Old rope');
});
