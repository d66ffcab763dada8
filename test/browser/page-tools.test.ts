import { gzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { browsing } from '../browser.ts';
import { sql } from '../../src/db/sql.ts';

const shop = browsing();
const BASE = '/shop/DemoShop';

async function switchTools(is: boolean): Promise<void> {
  await shop.service.db.run(sql`
    update shop set settings = jsonb_set(settings, '{assistants,pageTools}', ${JSON.stringify(is)}::jsonb),
      settings_version = settings_version + 1
    where shop_id = 'DemoShop'`);
}

async function countOrders(): Promise<number> {
  const found = await shop.service.db.one<{ count: number }>(sql`
    select count(*)::int as count from customer_order where shop_id = 'DemoShop'`);
  return found!.count;
}

interface Result {
  content: { text: string }[];
  isError?: boolean;
}

interface Tool {
  name: string;
  inputSchema: unknown;
}

/**
 * The tools of a page by the browser's own interface: that of this Chromium for tests, or the one that playwright uses in
 * later ones.
 */
function toolsOf(page: Page) {
  const hasOwn = () => page.evaluate<boolean>(`'modelContextTesting' in navigator`);
  return {
    list: async (): Promise<Tool[]> => {
      if (!(await hasOwn())) return (await page.webmcp.tools()) as Tool[];
      const tools = await page.evaluate<{ name: string; inputSchema: string }[]>(
        `navigator.modelContextTesting.listTools().map(({ name, inputSchema }) => ({ name, inputSchema }))`,
      );
      return tools.map(({ name, inputSchema }) => ({ name, inputSchema: JSON.parse(inputSchema) }));
    },
    call: async (name: string, input: object = {}): Promise<Result> => {
      if (!(await hasOwn())) return page.webmcp.callTool(name, input) as Promise<Result>;
      const given = JSON.stringify(JSON.stringify(input));
      const result = await page.evaluate<string>(
        `navigator.modelContextTesting.executeTool(${JSON.stringify(name)}, ${given})`,
      );
      return JSON.parse(result) as Result;
    },
  };
}

test('the assistant in the browser searches, fills the cart and opens the checkout, and orders nothing', async () => {
  await switchTools(true);
  const before = await countOrders();
  const page = await shop.open();
  await page.goto(`${BASE}/Products/TE-100`);
  const { list, call } = toolsOf(page);
  const tools = await list();
  expect(tools.map(({ name }) => name).toSorted()).toEqual([
    'add_to_cart',
    'go_to_checkout',
    'search_products',
  ]);
  expect(tools.find(({ name }) => name === 'search_products')).toMatchObject({
    inputSchema: { type: 'object', required: ['query'] },
  });

  const found = JSON.parse((await call('search_products', { query: 'espresso machine' })).content[0]!.text);
  expect(found.products[0]).toEqual({
    name: 'Beacon Espresso Machine',
    price: '€389.00',
    address: `${BASE}/Products/AP-110`,
  });
  const added = await call('add_to_cart', { address: found.products[0].address, quantity: 2 });
  expect(added.isError).toBeUndefined();
  expect(added.content[0]!.text).toContain('€778.00');
  // The visitor sees it.
  expect(await page.locator('dialog.drawer').innerText()).toContain('€778.00');
  for (const address of [
    'https://evil.example/shop/DemoShop/Products/AP-110',
    `${BASE}/cart`,
    'nothing',
    '',
  ]) {
    expect((await call('add_to_cart', { address })).isError).toBe(true);
  }
  expect((await call('add_to_cart', { address: `${BASE}/Products/ZZ-110` })).isError).toBe(true);
  expect((await call('search_products', { query: 'x' })).isError).toBe(true);

  expect((await call('go_to_checkout')).content[0]!.text).toContain('The visitor places the order.');
  await page.waitForURL(/\/checkout/);
  expect(await toolsOf(page).list()).toEqual([]);
  expect(await countOrders()).toBe(before);
});

test('without the setting no page has tools, nor the script', async () => {
  await switchTools(false);
  const page = await shop.open();
  await page.goto(`${BASE}/Products/TE-100`);
  expect(await toolsOf(page).list()).toEqual([]);
  expect(await page.locator('script[src*="page-tools"]').count()).toBe(0);
});

test('the script is small', () => {
  expect(gzipSync(readFileSync('assets/page-tools.js')).length).toBeLessThan(2_500);
});
