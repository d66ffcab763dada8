import { readFile } from 'node:fs/promises';
import pino from 'pino';
import { expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { runDueSupplies } from '../../src/downloads/runner.ts';
import { orderTokens } from '../../src/orders/order-link.ts';
import { installationKey } from '../../src/platform/sealing.ts';
import { browsing, look } from '../browser.ts';
import { formOf } from '../upload.ts';
import { givenOrder } from './checkout.ts';

const shop = browsing({ onOwnHost: true });
const PATIENCE = { timeout: 120_000 };
const MANAGE = '/manage/shops/DemoShop';
const KEY = '7QXM-2KTR-9DWA-HP4S';

const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
  const answer = await shop.service.call(method, MANAGE + path, { token: 'demo-all', body, headers });
  expect(answer.status).toBeLessThan(300);
  return answer.body;
};

test(
  'a customer agrees, sees the key, downloads the file, and can do neither after the refund',
  PATIENCE,
  async () => {
    const { service } = shop;
    const product = await service.db.one<{ id: string }>(sql`
      select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = 'KN-110'`);
    const { body, headers } = formOf({ name: 'file', filename: 'knives.pdf', content: '%PDF-1.7 knives' });
    await call('POST', `/products/${product!.id}/downloads/files`, body, headers);
    await call('POST', `/products/${product!.id}/keys`, { keys: [KEY] });
    const { orderId } = await givenOrder(service);
    const order = await call('GET', `/orders/${orderId}`);
    const { amount } = order.lineItemContainer.grandTotal;
    await call('POST', `/orders/${orderId}/payments`, { amount });
    await runDueSupplies({ db: service.db, log: pino({ level: 'silent' }) });

    const page = await shop.open();
    const token = orderTokens(await installationKey(service.config)).token('DemoShop', orderId);
    await page.goto(`/order/${token}`);
    await look(page);
    await page.getByRole('link', { name: 'To your downloads and keys' }).click();
    await page.getByRole('heading', { name: 'Your consent' }).waitFor();
    await look(page);
    await page.getByLabel('I expressly agree').check();
    await page.getByRole('button', { name: 'Agree and get it now' }).click();
    await page.getByText('We have sent you an email that confirms your consent.').waitFor();
    await look(page);
    expect(await page.locator('main code').allInnerTexts()).toEqual([KEY]);

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download knives.pdf' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('knives.pdf');
    expect(await readFile(await download.path(), 'utf8')).toBe('%PDF-1.7 knives');
    await page.reload();
    await page.getByText('1 of 10 downloads used').waitFor();

    await call('POST', `/orders/${orderId}/refunds`, { amount });
    await page.reload();
    await page.getByText('can no longer be used').waitFor();
    await look(page);
    expect(await page.locator('main code').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Download knives.pdf' }).count()).toBe(0);
    expect((await page.goto(download.url()))?.status()).toBe(404);
  },
);
