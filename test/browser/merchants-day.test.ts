import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import type { Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { hashPassword } from '../../src/admin/users/password.ts';
import { findOrCreateUser, putRole, updatePassword } from '../../src/admin/users/queries.ts';
import { startWebhooks } from '../../src/composition/background.ts';
import { runDueImports } from '../../src/catalogue/products/import-runner.ts';
import { sql } from '../../src/db/sql.ts';
import { openMediaStorage } from '../../src/platform/media/open-storage.ts';
import { settingsFormat } from '../../src/composition/settings-format.ts';
import { PROOF_NEEDED } from '../../src/shops/settings/domains.ts';
import { changeSettings } from '../../src/shops/settings/history.ts';
import { selectSettings } from '../../src/shops/settings/settings.ts';
import { browsing, look } from '../browser.ts';
import { DAY } from '../carts.ts';
import { startReceiver } from '../receiver.ts';
import { ADA, typeAddress } from './checkout.ts';
import { ofTheDay } from '../seed.ts';

/** All that a merchant does in a day, from one page to the next as a person goes, with every click counted. */
const shop = browsing();
const token = 'demo-all';
const log = pino({ level: 'silent' });
const OWNER = 'ina@shop.example';
const PASSWORD = 'four quiet green boats';
const COLLEAGUE = 'jo@shop.example';

beforeAll(async () => {
  const { service } = shop;
  if (service === undefined) return;
  const passwordHash = await hashPassword(PASSWORD);
  await service.db.transaction(async (tx) => {
    const userId = await findOrCreateUser(tx, OWNER);
    await putRole(tx, 'DemoShop', userId, 'owner');
    await updatePassword(tx, userId, passwordHash);
  });
  service.setClock(new Date(Date.now() - DAY));
  await service.db.transaction((tx) =>
    changeSettings(tx, 'DemoShop', { lowStockLevel: 7 }, settingsFormat, COLLEAGUE, PROOF_NEEDED),
  );
  service.setClock(undefined);
});

/** The clicks of each step in the guide, which this test keeps right. */
function clicksInGuide(): Record<string, number> {
  const guide = readFileSync(new URL('../../docs/admin.md', import.meta.url), 'utf8');
  const rows = guide.matchAll(/^\| (?<step>[^|]+?) +\| +(?<clicks>\d+) \|/gm);
  return Object.fromEntries([...rows].map(({ groups }) => [groups!['step']!, Number(groups!['clicks'])]));
}

/** Somebody at a page. A click, a field that is filled in and a file dialog count as one each. */
interface Merchant {
  page: Page;
  click: (target: Locator) => Promise<void>;
  fill: (target: Locator, text: string) => Promise<void>;
  chooseFiles: (target: Locator, files: Parameters<Locator['setInputFiles']>[0]) => Promise<void>;
  /** Looks whether the page is in order. It takes no time of the step. */
  look: () => Promise<void>;
  step: (name: string, walk: () => Promise<void>) => Promise<void>;
  clicks: Record<string, number>;
  seconds: Record<string, number>;
}

function merchantAt(page: Page): Merchant {
  let clicks = 0;
  let lookedFor = 0;
  const counted = (act: Promise<void>) => {
    clicks += 1;
    return act;
  };
  const merchant: Merchant = {
    page,
    click: (target) => counted(target.click()),
    fill: (target, text) => counted(target.fill(text)),
    chooseFiles: (target, files) => counted(target.setInputFiles(files)),
    look: async () => {
      const startedAt = performance.now();
      await look(page);
      lookedFor += performance.now() - startedAt;
    },
    step: async (name, walk) => {
      clicks = 0;
      lookedFor = 0;
      const startedAt = performance.now();
      await walk();
      merchant.clicks[name] = clicks;
      merchant.seconds[name] = (performance.now() - startedAt - lookedFor) / 1000;
    },
    clicks: {},
    seconds: {},
  };
  return merchant;
}

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' });
const link = (page: Page, name: string | RegExp) =>
  page.getByRole('link', { name, exact: typeof name === 'string' });
const menu = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name });

/** A shopper orders two packets of tea. */
async function orderInShop(): Promise<{ orderId: string; orderNumber: string }> {
  const page = await shop.open();
  await page.goto('/shop/DemoShop/Products/TE-100');
  await page.getByRole('spinbutton', { name: 'Quantity' }).fill('2');
  await page.locator('.offer').getByRole('button', { name: 'Add to cart' }).click();
  await page.getByRole('dialog', { name: 'Your cart' }).waitFor();
  await page.goto('/shop/DemoShop/checkout');
  await typeAddress(page, ADA);
  await button(page, 'Continue').click();
  await page.waitForURL('**/checkout/delivery');
  await button(page, 'Continue').click();
  await page.waitForURL('**/checkout/review');
  await button(page, 'Order and pay').click();
  await page.waitForURL('**/confirmation');
  const { body } = await shop.service.call('GET', '/DemoShop/orders?resultsPerPage=1', { token });
  return body.items[0];
}

async function orders({ page, click, fill, look, step }: Merchant): Promise<void> {
  const { orderId, orderNumber } = await orderInShop();
  await step('Sign in', async () => {
    await page.goto('/admin/sign-in');
    await look();
    await fill(page.getByLabel('Email'), OWNER);
    await fill(page.getByRole('textbox', { name: 'Password' }), PASSWORD);
    await click(button(page, 'Sign in'));
    await page.waitForURL('**/admin/shops/DemoShop');
    await look();
  });
  await step('See the new order', async () => {
    await click(link(page, /^Waiting for payment/));
    await look();
    await click(link(page, orderNumber));
    await page.getByRole('heading', { name: `Order ${orderNumber}` }).waitFor();
    await look();
  });
  await step('Record its payment', async () => {
    await click(button(page, 'Record the payment'));
    await page.getByText('is recorded. The customer gets an email.').waitFor();
  });
  await step('Ship it, with a tracking code', async () => {
    await fill(page.getByLabel('Tracking number'), '00340434161094042557');
    await click(button(page, 'Mark as shipped'));
    await page.getByText('Marked as shipped.').waitFor();
    await look();
  });
  await step('Print the packing slip', async () => {
    await click(page.getByText('More', { exact: true }));
    await click(link(page, 'Packing slip'));
    await page.getByText('2 × ').waitFor();
    await look();
    await page.evaluate("window.print = () => document.body.classList.add('printed')");
    await click(button(page, 'Print'));
    await page.locator('body.printed').waitFor();
  });
  await step('Refund a part, as goodwill', async () => {
    await click(link(page, `Order ${orderNumber}`));
    await click(link(page, 'Refund'));
    await fill(page.getByLabel('Amount'), '2,50');
    await fill(page.getByLabel('Goodwill: reason'), 'arrived late');
    await look();
    await click(button(page, 'Refund'));
    await page.getByText('Refunded: €2.50.').waitFor();
  });
  const { body } = await shop.service.call('GET', `/manage/shops/DemoShop/orders/${orderId}`, { token });
  expect(body.dispatchedOn).not.toBeNull();
  expect(body.management).toMatchObject({
    refundedAmount: { amount: 2.5 },
    shipments: [{ carrier: 'DHL', trackingCode: '00340434161094042557' }],
  });
}

async function picture(name: string, background: string) {
  const image = sharp({ create: { width: 300, height: 200, channels: 3, background } });
  return { name, mimeType: 'image/png', buffer: await image.png().toBuffer() };
}

async function products({ page, click, fill, chooseFiles, look, step }: Merchant, screen: string) {
  const { db } = shop.service;
  const price = page.locator('.product-form [name="price.EUR"]');
  await step('Change a price', async () => {
    await fill(page.getByRole('searchbox', { name: 'Search' }), 'kettle');
    await click(page.locator('#found').getByRole('link', { name: 'Beacon Kettle 1.7 l' }));
    await page.waitForURL('**/products/*');
    await look();
    await fill(price, '45,50');
    await click(button(page, 'Save'));
    await button(page, 'Undo').waitFor();
  });
  expect(await price.inputValue()).toBe('45.50');
  await button(page, 'Undo').click();
  await expect.poll(() => price.inputValue()).toBe('49.90');

  const name = `Storm Jacket ${screen}`;
  await step('Add a product with three pictures and six variations', async () => {
    await click(menu(page, 'Products'));
    await look();
    await click(link(page, 'New product'));
    await look();
    await fill(page.getByLabel('Name'), name);
    await fill(page.locator('[name=price]'), '129,00');
    const files = [picture('front.png', '#369'), picture('back.png', '#936'), picture('detail.png', '#693')];
    await chooseFiles(page.locator('#new-pictures'), await Promise.all(files));
    await fill(page.locator('[name="attribute.0"]'), 'Size');
    await fill(page.locator('[name="values.0"]'), 'S, M, L');
    await fill(page.locator('[name="attribute.1"]'), 'Colour');
    await fill(page.locator('[name="values.1"]'), 'blue, red');
    await click(button(page, 'Create product'));
    await page.waitForURL('**/variations');
    await look();
  });
  expect(await page.locator('.grid tbody tr').count()).toBe(6);
  const pictures = await db.many<{ name: string }>(sql`
    select image.name from product_image as image join product using (shop_id, product_id)
    where shop_id = 'DemoShop' and facts -> 'name' ->> 'en_GB' = ${name} order by position`);
  expect(pictures.map((one) => one.name)).toEqual(['front.png', 'back.png', 'detail.png']);
}

const runImports = () => {
  const { db, config } = shop.service;
  return runDueImports({ db, config, media: openMediaStorage(config), log });
};

async function importRows({ page, click, fill, chooseFiles, look, step }: Merchant, screen: string) {
  const rows = Array.from({ length: 500 }, (_, n) => `${screen}-${n},Mug ${n},"${n},50",${n},blue`);
  rows[3] = `${screen}-3,Mug 3,cheap,3,blue`;
  rows[4] = `${screen}-4,Mug 4,"4,50",some,blue`;
  const text = `SKU,Title,Price,Quantity,Glaze\n${rows.join('\n')}\n`;
  const count = async () =>
    (await shop.service.db.one<{ count: number }>(sql`
      select count(*) as count from product where shop_id = 'DemoShop' and starts_with(product_number, ${screen})`))!
      .count;
  await step('Import 500 rows, two of them bad', async () => {
    await click(menu(page, 'Products'));
    await click(link(page, 'Import'));
    await look();
    await chooseFiles(page.getByLabel(/^File/), {
      name: 'mugs.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(text),
    });
    await click(button(page, 'Upload file'));
    await page.getByText('4 of 5 columns are used.').waitFor();
    await look();
    await click(button(page, 'Check the file'));
    // The page shows by itself that the check has ended.
    await page.getByText('The file is being checked.').waitFor();
    await runImports();
    await page.getByText('This is not a price.').waitFor();
    await look();
    expect(await count()).toBe(0);
    await click(button(page, 'Import 498 rows'));
    await page.getByRole('status').filter({ hasText: '0 of 500 rows' }).waitFor();
    await runImports();
    await page.getByText('The import is complete.').waitFor();
  });
  expect(await count()).toBe(498);
  await step('Mend the two rows', async () => {
    await fill(page.getByLabel('Row 5, Price (EUR)'), '3,50');
    await fill(page.getByLabel('Row 6, Stock'), '4');
    await click(button(page, 'Check the fixed rows'));
    await page.getByRole('heading', { name: 'mugs.csv, fixed' }).waitFor();
    await runImports();
    await click(button(page, 'Import 2 rows'));
    await runImports();
    await page.getByText('The import is complete.').waitFor();
  });
  expect(await count()).toBe(500);
}

async function coupon({ page, click, fill, look, step }: Merchant, screen: string): Promise<void> {
  await step('Make a coupon', async () => {
    await click(menu(page, 'Marketing'));
    await look();
    await click(link(page, 'New campaign'));
    await look();
    await fill(page.getByLabel('Name', { exact: true }), `Storm tide ${screen}`);
    await fill(page.getByLabel('Amount or percentage'), '12,5');
    await fill(page.getByLabel('Code', { exact: true }), `STORM-${screen}`);
    await click(button(page, 'Save'));
    await page.getByText('The campaign is created.').waitFor();
    await look();
  });
  expect(await page.getByText('12.5 %').count()).toBeGreaterThan(0);
}

async function settings({ page, click, fill, look, step }: Merchant): Promise<void> {
  const read = async () => (await selectSettings(shop.service.db, 'DemoShop'))!;
  const before = await read();
  await step('Change the theme', async () => {
    await click(menu(page, 'Settings'));
    await look();
    await click(link(page, /^Theme/));
    await look();
    await fill(page.getByLabel('Buttons and links').first(), '#803020');
    await click(button(page, 'Save'));
    await page.getByText('Saved: 1 change.').waitFor();
  });
  expect((await read()).theme.accent).toBe('#803020');
  await step('Restore yesterday’s settings', async () => {
    await click(menu(page, 'Settings'));
    await click(link(page, /^History/));
    await look();
    await click(page.locator('tbody tr', { hasText: COLLEAGUE }).getByRole('link'));
    await look();
    await click(button(page, 'Restore this state'));
    await page.getByText(/The settings of .* are restored\./).waitFor();
  });
  expect(await read()).toEqual({ ...before, version: expect.anything() });
}

/** An app as its maker runs it: it takes the code of the installation, gets its token and sends the merchant back. */
async function startApp() {
  const app = { url: '', clientId: '', clientSecret: '', token: '' };
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url!, 'http://app');
    const body = new URLSearchParams({
      code: searchParams.get('code')!,
      client_id: app.clientId,
      client_secret: app.clientSecret,
    });
    void fetch(searchParams.get('access_token_url')!, { method: 'POST', body })
      .then((answer) => answer.json() as Promise<{ access_token: string }>)
      .then(({ access_token }) => {
        app.token = access_token;
        response.writeHead(302, { location: searchParams.get('return_url')! }).end();
      });
  });
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  app.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/install`;
  return app;
}

async function apps({ page, click, fill, look, step }: Merchant, screen: string): Promise<void> {
  const { service, serviceOrigin } = shop;
  const app = await startApp();
  // The app is another site: the browser goes there and comes back.
  shop.otherSites.push(new URL(app.url).origin);
  await step('Register an app', async () => {
    await click(menu(page, 'Apps'));
    await look();
    await click(link(page, 'Register an app'));
    await look();
    await fill(page.getByLabel('Name'), `Stock sync ${screen}`);
    await fill(page.getByLabel('Callback URL'), app.url);
    await click(page.getByLabel('View customers with addresses and notes'));
    await click(button(page, 'Register an app'));
    await look();
  });
  app.clientId = await page.getByLabel('Client ID').inputValue();
  app.clientSecret = await page.getByLabel('Client secret').inputValue();
  await step('Install it by consent', async () => {
    await click(link(page, 'To the app'));
    await click(link(page, 'Install'));
    await page.getByText('View customers with addresses and notes').waitFor();
    await look();
    await click(button(page, 'Agree and install'));
    await page.waitForURL(`**/admin/shops/DemoShop/apps/${app.clientId}`);
    await page.getByText('Installed', { exact: true }).waitFor();
    await look();
  });

  const receiver = await startReceiver();
  const { db, config } = service;
  const { demoAccess } = service.app;
  const worker = startWebhooks({ db, config, demoAccess, log, origin: serviceOrigin, pause: 50 });
  onTestFinished(async () => {
    await worker.stop();
    await receiver.close();
  });
  receiver.answer = (_call, response) => response.writeHead(500).end('out of paper');
  await service.call('POST', '/DemoShop/webhooks', {
    token: app.token,
    body: { callbackUrl: receiver.url, eventType: 'CUSTOMER_CREATE' },
  });
  await service.call('POST', '/DemoShop/customers', { token, body: { billingAddress: {} } });
  await receiver.until(1);
  await step('See its webhook fail, and send it again', async () => {
    await click(menu(page, 'Apps'));
    await click(link(page, 'Webhooks'));
    await look();
    await click(
      page
        .locator('tr', { hasText: `Stock sync ${screen}` })
        .getByRole('link')
        .first(),
    );
    await seen(page, 'The receiver answered 500', 'td');
    await look();
    // The receiver is mended.
    receiver.answer = (_call, response) => response.end('ok');
    await click(button(page, 'Send again'));
    await page.getByText('The event is being sent again.').waitFor();
    await receiver.until(2);
    await seen(page, 'Delivered', 'td .chip');
  });
  await page.goto('/admin/shops/DemoShop/apps/audit');
  await look();
  expect(await page.getByText('Sent again').count()).toBeGreaterThan(0);
}

/** Loads the page again until it says this: deliveries happen beside it. */
async function seen(page: Page, text: string, place: string): Promise<void> {
  await expect
    .poll(
      async () => {
        await page.reload();
        return page.locator(place, { hasText: text }).count();
      },
      { timeout: 20_000, interval: 300 },
    )
    .toBeGreaterThan(0);
}

test.each(ofTheDay(['wide', 'phone'] as const, 1))(
  'a merchant’s day: %s',
  { timeout: 180_000 },
  async (screen) => {
    const merchant = merchantAt(await shop.open({ screen }));
    await orders(merchant);
    await products(merchant, screen);
    await importRows(merchant, screen);
    await coupon(merchant, screen);
    await settings(merchant);
    await apps(merchant, screen);
    if (process.env['SHOW_SECONDS'] !== undefined) console.table(merchant.seconds);
    expect(merchant.clicks).toEqual(clicksInGuide());
  },
);
