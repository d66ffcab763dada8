import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import type { Frame, Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { KEYS, startFakeSendcloud, type FakeSendcloud } from '../../examples/parcels/fake-sendcloud.ts';
import { sql } from '../../src/db/sql.ts';
import { openAdmin } from '../admin.ts';
import { browsing, look } from '../browser.ts';
import { cleanUp, newFolder, waitFor } from '../process.ts';

/** The pages of the apps that come with the source, in the admin: as a merchant installs and uses them. */

const shop = browsing({ onLocalhost: true });
const PATIENCE = { timeout: 120_000 };
const ROOT = path.join(import.meta.dirname, '../..');

let sendcloud: FakeSendcloud;
let program: ChildProcess | undefined;

beforeEach(async () => {
  sendcloud = await startFakeSendcloud();
});
afterEach(async () => {
  program?.kill();
  await sendcloud.close();
});
afterAll(cleanUp);

/** Starts an app as its own process; returns its origin. */
async function startApp(file: string, port: string): Promise<string> {
  const { PATH = '', HOME = '' } = process.env;
  program = spawn(process.execPath, ['--import', 'tsx', file], {
    cwd: ROOT,
    env: {
      PATH,
      HOME,
      PORT: port,
      DATA: await newFolder(),
      KONTOR_URL: shop.serviceOrigin,
      SENDCLOUD_URL: sendcloud.baseUrl,
    },
  });
  let said = '';
  for (const stream of [program.stdout!, program.stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  }
  const origin = () => /http:\/\/(?:127\.0\.0\.1|localhost):[1-9]\d*/.exec(said)?.[0];
  await waitFor(() => origin() !== undefined, 30_000);
  shop.otherSites.push(origin()!);
  return origin()!;
}

/** Adds it by its address and agrees, as a merchant does: the browser takes the code to the app and comes back. */
async function install(origin: string): Promise<{ page: Page; appId: string }> {
  const page = await openAdmin(shop, '/apps/add');
  await page.locator('input[name="address"]').fill(origin);
  await page.locator('main form button.main').click();
  await page.locator('button[value="agree"]').click();
  const appPage = /\/admin\/shops\/DemoShop\/apps\/([0-9A-F-]{36})$/;
  await page.waitForURL(appPage, PATIENCE);
  return { page, appId: appPage.exec(page.url())![1]! };
}

const frameIn = async (page: Page): Promise<Frame> => {
  const element = await page.waitForSelector('iframe');
  return (await element.contentFrame())!;
};

const SETTINGS = {
  ...KEYS,
  options: 'postnl:standard, dhl:parcel/signature',
  returnOption: 'dpd:return/return',
  name: 'Tea Time',
  street: 'Kai',
  houseNumber: '7',
  zipCode: '20457',
  city: 'Hamburg',
  country: 'DE',
};

const PARCELS = sql`
  select shipment.tracking_code as code, shipment.tracking_url as url, array(
      select parcel.tracking_code from order_parcel parcel
      where parcel.shop_id = 'DemoShop' and parcel.shipment_id = shipment.shipment_id order by position
    ) as further
  from order_shipment shipment
  where shop_id = 'DemoShop' and tracking_code like '3SYZXG%' order by at, shipment_id`;

test('labels for many orders, and for several parcels of one', PATIENCE, async () => {
  const { page } = await install(await startApp('examples/parcels/app.ts', '0'));
  await page.goto(`${page.url()}/settings`);
  for (const [name, value] of Object.entries(SETTINGS)) {
    await page.locator(`[name="setting-${name}"]`).fill(value);
  }
  await page.locator('main form button.main').click();
  await page.waitForURL((url) => !url.pathname.endsWith('/settings'));

  for (const screen of ['phone', 'wide'] as const) {
    const list = await openAdmin(shop, '/orders?state=toShip', { screen });
    const boxes = list.locator('tbody input[type="checkbox"]');
    const count = 2;
    for (let index = 0; index < count; index++) await boxes.nth(index).check();
    await list.getByRole('button', { name: /Create labels/ }).click();
    const frame = await frameIn(list);
    await frame.waitForSelector('#orders tr');
    expect(await frame.locator('#orders tr').count()).toBe(count);
    await list.waitForTimeout(300);
    await look(list);
    if (screen === 'phone') continue;
    const before = sendcloud.shipments.size;
    await frame.getByRole('button', { name: `Create ${count} labels` }).click();
    await frame.getByText(`${count} of ${count} labels are made.`).waitFor();
    expect(sendcloud.shipments.size).toBe(before + count);
    expect(await frame.locator('#orders a').count()).toBe(count);
    expect(await frame.locator('#create').isDisabled()).toBe(true);
    await look(list);
    // Opened again, none is made a second time.
    await list.reload();
    const again = await frameIn(list);
    await again.getByRole('button', { name: 'Create 0 labels' }).waitFor();
    expect(await again.locator('#create').isDisabled()).toBe(true);
    expect(sendcloud.shipments.size).toBe(before + count);
    const stored = await shop.service.db.many<{ code: string; url: string }>(PARCELS);
    expect(stored).toHaveLength(count);
    expect(stored.every(({ code, url }) => url === `https://tracking.example/${code}`)).toBe(true);
  }

  const order = await shop.service.db.one<{ id: string }>(sql`
    select upper(order_id::text) as id from customer_order
    where shop_id = 'DemoShop' and dispatched_at is null and cancelled_at is null and payment_wait is null
      and rejected_at is null and not exists (
        select from order_shipment
        where order_shipment.shop_id = 'DemoShop' and order_shipment.order_id = customer_order.order_id)
    order by order_number limit 1`);
  const one = await openAdmin(shop, `/orders/${order!.id}`, { screen: 'phone' });
  const block = await frameIn(one);
  // A choice that is closed is not visible.
  await block.waitForSelector('#option option', { state: 'attached' });
  await block.fill('#parcels', '1200, 800');
  await block.getByRole('button', { name: 'Create label' }).click();
  await block.locator('#labels a').nth(1).waitFor();
  await look(one);
  const [download] = await Promise.all([
    one.waitForEvent('download'),
    block.getByRole('button', { name: 'Label (PDF)' }).first().click(),
  ]);
  expect(download.suggestedFilename()).toBe('shipment-1-1.pdf');
  const last = (await shop.service.db.many<{ further: string[] }>(PARCELS)).at(-1)!;
  expect(last.further).toHaveLength(1);
  await one.reload();
  for (const code of last.further) await one.getByRole('link', { name: code }).first().waitFor();
});

test('the page of the app that `npm create kontor-app` makes', PATIENCE, async () => {
  const port = String(20_000 + Math.floor(Math.random() * 20_000));
  const { appId } = await install(await startApp('packages/create-kontor-app/template/src/main.ts', port));
  for (const screen of ['wide', 'phone'] as const) {
    const page = await openAdmin(shop, `/apps/${appId}/pages/orders`, { screen });
    const frame = await frameIn(page);
    await frame.getByRole('heading', { name: 'Newest orders' }).waitFor();
    expect(await frame.getByText('No orders yet.').isVisible()).toBe(true);
    await look(page);
  }
});
