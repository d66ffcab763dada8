import path from 'node:path';
import { expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { browsing, look } from '../browser.ts';

const shop = browsing();
const PATIENCE = { timeout: 240_000 };
/** Where pictures of the pages are wanted: a folder. */
const PICTURES = process.env['KONTOR_TEST_PICTURES'];

test('a pre-order says when it is available, on its page and in the cart', PATIENCE, async () => {
  const found = await shop.service.db.one<{ id: string }>(sql`
    select upper(product_id::text) as id from product
    where shop_id = 'DemoShop' and product_number = 'TE-120'`);
  const made = await shop.service.call('PATCH', `/manage/shops/DemoShop/products/${found!.id}`, {
    token: 'demo-all',
    body: { backorder: { kind: 'preorder', limit: 5, expectedOn: '2027-03-01' } },
  });
  expect([made.status, made.body.message]).toEqual([200, undefined]);
  for (const screen of ['wide', 'phone'] as const) {
    const page = await shop.open({ screen });
    const picture = async (name: string) => {
      if (PICTURES)
        await page.screenshot({ path: path.join(PICTURES, `${name}-${screen}.png`), fullPage: true });
    };
    await page.goto('/shop/DemoShop/Products/TE-120');
    expect((await page.locator('.availability').first().innerText()).trim()).toBe(
      'Pre-order: available from 1 March 2027',
    );
    const data = await page.locator('script[type="application/ld+json"]').allTextContents();
    expect(data.join()).toContain(
      '"availability":"https://schema.org/PreOrder","availabilityStarts":"2027-03-01"',
    );
    await look(page, true);
    await picture('product');
    await page.locator('button.button:visible', { hasText: 'Add to cart' }).first().click();
    await page.getByRole('dialog').waitFor();
    await page.goto('/shop/DemoShop/cart');
    expect((await page.locator('main .availability').first().innerText()).trim()).toBe(
      '1 not in stock yet, expected around 1 March 2027',
    );
    await look(page, true);
    await picture('cart');
  }
});
