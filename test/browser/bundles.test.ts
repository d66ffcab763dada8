import path from 'node:path';
import { expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { browsing, look } from '../browser.ts';

const shop = browsing();
const PATIENCE = { timeout: 240_000 };
/** Where pictures of the pages are wanted: a folder. */
const PICTURES = process.env['KONTOR_TEST_PICTURES'];

test(
  'a bundle is chosen on its page, and its parts are read in the cart and the checkout',
  PATIENCE,
  async () => {
    const idOf = async (number: string) =>
      (await shop.service.db.one<{ id: string }>(sql`
      select upper(product_id::text) as id from product
      where shop_id = 'DemoShop' and product_number = ${number}`))!.id;
    const [bundle, coffee, cup] = await Promise.all(['GI-100', 'CB-100', 'KN-101'].map(idOf));
    const made = await shop.service.call('PATCH', `/manage/shops/DemoShop/products/${bundle}`, {
      token: 'demo-all',
      body: {
        parts: [
          { productId: coffee, quantity: 1 },
          { productId: cup, quantity: 2 },
        ],
        partsDiscount: 10,
      },
    });
    expect([made.status, made.body.message]).toEqual([200, undefined]);
    for (const screen of ['wide', 'phone'] as const) {
      const page = await shop.open({ screen });
      const picture = async (name: string) => {
        if (PICTURES)
          await page.screenshot({ path: path.join(PICTURES, `${name}-${screen}.png`), fullPage: true });
      };
      await page.goto('/shop/DemoShop/Products/GI-100');
      const choice = page.locator('select[name="choice.0"]');
      await look(page, true);
      await picture('product');
      const [, second] = await choice.locator('option').allInnerTexts();
      await choice.selectOption({ index: 1 });
      await page.locator('button.button:visible', { hasText: 'Add to cart' }).first().click();
      await page.getByRole('dialog').waitFor();
      await page.goto('/shop/DemoShop/cart');
      const parts = page.locator('ul.parts li');
      expect(await parts.count()).toBe(2);
      expect((await parts.first().innerText()).replaceAll(/\w+: /g, '')).toContain(second!.split(', ')[0]);
      await look(page, true);
      await picture('cart');
    }
  },
);
