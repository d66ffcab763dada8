import type { Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { browsing, look, type Visitor } from '../browser.ts';
import { givenToken } from '../builders.ts';

/** A shopper filters by a custom field of the shop. */
const shop = browsing({ hasImages: true });

let filled: Promise<void> | undefined;

// Where the tests are skipped, there is no service to fill.
beforeEach(() => (filled ??= fill()));

async function fill(): Promise<void> {
  const token = await givenToken(shop.service, 'DemoShop');
  const call = async (method: string, path: string, body: object) => {
    const { status } = await shop.service.call(method, `/manage/shops/DemoShop${path}`, { token, body });
    expect([200, 201]).toContain(status);
  };
  const mood = (key: string, en: string, de: string) => ({ key, label: { en_GB: en, de_DE: de } });
  await call('POST', '/custom-fields', {
    resource: 'product',
    namespace: 'light',
    key: 'mood',
    type: 'choice',
    isList: true,
    name: { en_GB: 'Mood', de_DE: 'Stimmung' },
    choices: [mood('cosy', 'Cosy', 'Gemütlich'), mood('bright', 'Bright', 'Hell')],
    readableBy: 'public',
    writableBy: 'merchant',
    isFacet: true,
  });
  const products = await shop.service.db.many<{ id: string; number: string }>(sql`
    select product_id as id, product_number as number from product
    where shop_id = 'DemoShop' and product_number = any (array['LA-100', 'LA-110'])
    order by product_number`);
  for (const [index, { id }] of products.entries()) {
    await call('PATCH', `/products/${id}/custom-fields`, {
      fields: { 'light.mood': index === 0 ? ['cosy'] : ['bright'] },
    });
  }
}

const namesOn = (page: Page) => page.locator('main h2 a').allInnerTexts();

test.each<[string, Visitor]>([
  ['wide', { screen: 'wide' }],
  ['on a phone without scripts', { screen: 'phone', runsScripts: false }],
  ['on a phone', { screen: 'phone' }],
])('%s: a value is chosen, another one is added, and both are removed', async (_name, visitor) => {
  const page = await shop.open(visitor);
  await page.goto('/shop/DemoShop/Categories/lamps');
  const all = await namesOn(page);
  const filters = page.getByRole('complementary', { name: 'Filter' });
  if (visitor.screen === 'phone') await filters.locator('summary').first().click();
  const choose = async (name: string) => {
    await filters.getByRole('link', { name }).click();
    await look(page, visitor.runsScripts);
  };
  await filters.getByRole('heading', { name: 'Mood' }).waitFor();
  await choose('Cosy (1)');
  const cosy = await namesOn(page);
  expect(cosy).toHaveLength(1);
  await choose('Bright (1)');
  const both = await namesOn(page);
  expect(both).toHaveLength(2);
  expect(both).toContain(cosy[0]);
  await choose('Remove filter: Cosy');
  expect(await namesOn(page)).toEqual(both.filter((name) => name !== cosy[0]));
  await choose('Remove all filters');
  expect(await namesOn(page)).toEqual(all);
});

test('the filter is in the language of the page', async () => {
  const page = await shop.open();
  await page.goto('/shop/DemoShop/Categories/lamps?locale=de_DE');
  const filters = page.getByRole('complementary', { name: 'Filter' });
  await filters.getByRole('heading', { name: 'Stimmung' }).waitFor();
  await filters.getByRole('link', { name: 'Gemütlich (1)' }).click();
  expect(new URL(page.url()).searchParams.getAll('f')).toEqual(['f:light.mood:cosy']);
  expect(await namesOn(page)).toHaveLength(1);
});
