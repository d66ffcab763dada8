import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import type { Page } from 'playwright-core';
import { afterEach, expect, test } from 'vitest';
import { startWebhooks } from '../../src/background.ts';
import { browsing, seriousProblems } from '../browser.ts';
import { givenToken } from '../builders.ts';
import { startReceiver } from '../receiver.ts';

const shop = browsing();
const SCREENS = ['wide', 'phone'] as const;

/** An app as its maker runs it: it takes the code of the installation, gets its token and sends the merchant back. */
let app: Server | undefined;
afterEach(() => {
  app?.close();
  app = undefined;
});

async function startApp(): Promise<{
  url: string;
  setClient: (id: string, secret: string) => void;
  token: () => string;
}> {
  let client = { id: '', secret: '' };
  let token = '';
  app = createServer((request, response) => {
    const { searchParams } = new URL(request.url!, 'http://app');
    const form = new URLSearchParams({
      code: searchParams.get('code')!,
      client_id: client.id,
      client_secret: client.secret,
    });
    void fetch(searchParams.get('access_token_url')!, { method: 'POST', body: form })
      .then((answer) => answer.json() as Promise<{ access_token: string }>)
      .then(({ access_token }) => {
        token = access_token;
        response.writeHead(302, { location: searchParams.get('return_url')! }).end();
      });
  });
  app.listen(0, '127.0.0.1');
  await once(app, 'listening');
  const { port } = app.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/install`,
    setClient: (id, secret) => {
      client = { id, secret };
    },
    token: () => token,
  };
}

/** Signs in as the owner of the demo shop. */
async function signIn(page: Page): Promise<void> {
  await page.goto('/admin/sign-in');
  await page.getByRole('button', { name: 'Sign in as the demo owner' }).click();
  await page.waitForURL('**/admin/shops/DemoShop');
}

/** No page is wider than its screen, and none hinders anybody. */
async function check(page: Page): Promise<void> {
  expect([page.url(), await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([
    page.url(),
    true,
  ]);
  expect([page.url(), await seriousProblems(page)]).toEqual([page.url(), []]);
}

/** Loads the page again until it says this: deliveries happen beside it. */
async function seen(page: Page, text: string, place = 'td'): Promise<void> {
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

test.each(SCREENS)('makes a coupon, and codes by the thousand (%s)', async (screen) => {
  const page = await shop.open({ screen });
  await signIn(page);
  await page.goto('/admin/shops/DemoShop/marketing');
  await check(page);
  await page.getByRole('link', { name: 'New campaign' }).click();
  await check(page);
  await page.getByLabel('Name', { exact: true }).fill(`Storm tide ${screen}`);
  await page.getByLabel('Amount or percent').fill('12,5');
  await page.getByLabel('Code', { exact: true }).fill(`STORM-${screen}`);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The campaign is ready.').waitFor();
  await page.getByText('12.5 %').first().waitFor();
  await page.getByText('Make codes').first().click();
  await page.getByLabel('How many').fill('1000');
  await page.getByRole('button', { name: 'Make codes' }).click();
  await page.getByText('1000 codes were made.').waitFor();
  expect(await page.locator('#codes tbody tr').count()).toBe(50);
  await check(page);
});

test.each(SCREENS)(
  'installs an app by consent, sees its webhook fail, and sends again (%s)',
  async (screen) => {
    const page = await shop.open({ screen });
    const own = await startApp();
    // The app is another site: the browser goes there and comes back.
    await page.context().route(`${new URL(own.url).origin}/**`, (route) => route.continue());
    await signIn(page);
    await page.goto('/admin/shops/DemoShop/apps');
    await check(page);
    await page.getByRole('link', { name: 'Register an app' }).click();
    await page.getByLabel('Name').fill(`Stock sync ${screen}`);
    await page.getByLabel('Callback address').fill(own.url);
    await page.getByLabel('See customers with their addresses and notes').check();
    await page.getByRole('button', { name: 'Register an app' }).click();
    await check(page);
    const clientId = await page.getByLabel('Client ID').inputValue();
    own.setClient(clientId, await page.getByLabel('Client secret').inputValue());
    await page.getByRole('link', { name: 'To the app' }).click();
    await page.getByRole('link', { name: 'Install', exact: true }).click();
    await page.getByText('See customers with their addresses and notes').waitFor();
    await check(page);
    await page.getByRole('button', { name: 'Agree and install' }).click();
    await page.waitForURL(`**/admin/shops/DemoShop/apps/${clientId}`);
    await page.getByText('Installed', { exact: true }).waitFor();
    await check(page);

    const { service } = shop;
    const receiver = await startReceiver();
    const { db, config } = service;
    const worker = startWebhooks({
      db,
      config,
      log: pino({ level: 'silent' }),
      origin: shop.serviceOrigin,
      pause: 50,
    });
    try {
      receiver.answer = (_call, response) => response.writeHead(500).end('out of paper');
      const made = await service.call('POST', '/DemoShop/webhooks', {
        token: own.token(),
        body: { callbackUrl: receiver.url, eventType: 'CUSTOMER_CREATE' },
      });
      const token = await givenToken(service, 'DemoShop', ['customers_write']);
      await service.call('POST', '/DemoShop/customers', { token, body: { billingAddress: {} } });
      await receiver.until(1);
      await page.goto(`/admin/shops/DemoShop/apps/webhooks/${made.body.webhookId}`);
      await seen(page, 'The receiver answered 500');
      await check(page);

      // The receiver is mended.
      receiver.answer = (_call, response) => response.end('ok');
      await page.getByRole('button', { name: 'Send again', exact: true }).click();
      await page.getByText('It is being sent again.').waitFor();
      await receiver.until(2);
      await seen(page, 'Delivered', 'td .chip');
    } finally {
      await worker.stop();
      await receiver.close();
    }
    await page.goto('/admin/shops/DemoShop/apps/audit');
    await check(page);
    expect(await page.getByText('Webhook › redeliver').count()).toBeGreaterThan(0);
  },
);

test.each(SCREENS)('finds a customer, and changes the address (%s)', async (screen) => {
  const page = await shop.open({ screen });
  await signIn(page);
  await page.goto('/admin/shops/DemoShop/customers');
  await check(page);
  await page.getByLabel('Name, email or number').fill('brenn');
  await expect.poll(() => page.locator('#list tbody tr').count()).toBe(1);
  await page.getByRole('link', { name: 'Ada Brennan' }).click();
  await page.getByText('Value by month').first().waitFor();
  await check(page);
  await page.getByRole('link', { name: 'Edit address' }).click();
  await check(page);
  await page.getByLabel('City').fill(`Hamburg ${screen}`);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => page.locator('address').innerText()).not.toContain(screen);
  for (const path of ['/marketing/newsletters', '/marketing/carts', '/apps/scripts', '/apps/webhooks']) {
    await page.goto(`/admin/shops/DemoShop${path}`);
    await check(page);
  }
});
