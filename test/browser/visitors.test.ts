import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import pino from 'pino';
import { expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { startEmails } from '../../src/composition/emails.ts';
import { seriousProblems } from '../accessibility.ts';
import { browsing } from '../browser.ts';
import { queuedEmails } from '../carts.ts';
import { waitFor } from '../process.ts';
import { checkoutUrlOf, sums } from './checkout.ts';

const shop = browsing();

test('a cart of the API is taken over by its link, and by nobody who does not have it', async () => {
  for (const runsScripts of [true, false]) {
    const link = await checkoutUrlOf(shop, { 'KN-110': 2 });
    const page = await shop.open({ runsScripts, screen: 'phone' });
    const forged = new URL(link);
    forged.searchParams.set('PickupToken', `${forged.searchParams.get('PickupToken')!.slice(0, -4)}AAAA`);
    expect((await page.goto(forged.href))?.status()).toBe(403);
    if (runsScripts) expect(await seriousProblems(page)).toEqual([]);
    await page.goto('/shop/DemoShop/cart');
    expect(await page.locator('.lines').count()).toBe(0);

    await page.goto(link);
    expect(page.url()).toBe(`${shop.origin}/shop/DemoShop/checkout`);
    if (runsScripts) expect(await seriousProblems(page)).toEqual([]);
    await page.goto('/shop/DemoShop/cart');
    expect((await sums(page))['Subtotal']).toBe('€49.00');
    if (runsScripts) expect(await seriousProblems(page)).toEqual([]);
  }
});

test('what is sold out can not be bought, but one is told when it is back', async () => {
  for (const runsScripts of [true, false]) {
    const page = await shop.open({ runsScripts });
    await page.goto('/shop/DemoShop/Products/TE-120');
    expect(await page.getByRole('button', { name: 'Add to cart' }).count()).toBe(0);
    await page.locator('form.notify input[name=email]').fill(`wait-${runsScripts}@mail.example`);
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.locator('.notice').waitFor();
    expect(new URL(page.url()).pathname).toBe('/shop/DemoShop/Products/TE-120');
  }
  const { body } = await shop.service.call('GET', '/DemoShop/watched-products', { token: 'demo-all' });
  expect(JSON.stringify(body)).toContain('TE-120');
});

test('a newsletter is subscribed to by the button that the mail leads to', async () => {
  for (const runsScripts of [true, false]) {
    const email = `reader-${runsScripts}@mail.example`;
    const page = await shop.open({ runsScripts });
    await page.goto('/shop/DemoShop/newsletter');
    await page.getByRole('textbox', { name: 'Mail address' }).fill(email);
    await page.getByRole('button', { name: 'Subscribe' }).click();
    await page.waitForURL('**/newsletter/sent');
    expect(await isSubscribed(email)).toBe(false);

    await page.goto(await linkInMailTo(email));
    expect(await isSubscribed(email)).toBe(false);
    if (runsScripts) expect(await seriousProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Confirm subscription' }).click();
    await page.waitForURL('**/newsletter/confirmed?*');
    expect(await isSubscribed(email)).toBe(true);
  }
});

async function isSubscribed(email: string): Promise<boolean> {
  const row = await shop.service.db.one(sql`
    select from newsletter_subscriber where shop_id = 'DemoShop' and email = ${email} and subscribed`);
  return row !== undefined;
}

/** Lets the mails go out, and reads the one to this address. */
async function linkInMailTo(email: string): Promise<string> {
  const { db, config } = shop.service;
  const worker = startEmails({ db, config, log: pino({ level: 'silent' }), origin: shop.origin, pause: 10 });
  await waitFor(async () => (await queuedEmails(shop.service)).every(({ to }) => to !== email));
  await worker.stop();
  const folder = path.join(config.KONTOR_DATA, 'mails');
  for (const name of await readdir(folder)) {
    // Its lines are cut by quoted-printable.
    const mail = (await readFile(path.join(folder, name), 'utf8'))
      .replaceAll('=\r\n', '')
      .replaceAll('=3D', '=');
    if (mail.includes(`To: ${email}`)) return /http\S+\/newsletter\/confirm\?\S+?(?=["\s<])/.exec(mail)![0];
  }
  throw new Error(`There is no mail to ${email}`);
}

test('the wish list keeps what was put on it', async () => {
  for (const runsScripts of [true, false]) {
    const page = await shop.open({ runsScripts });
    await page.goto('/shop/DemoShop/Products/LA-102');
    await page.getByRole('button', { name: 'Add to wish list' }).click();
    await page.locator('.notice').waitFor();
    await page.goto('/shop/DemoShop/wishlist');
    expect(await page.locator('.card h2').allInnerTexts()).toEqual(['Lantern Point Lamp']);
    if (runsScripts) expect(await seriousProblems(page)).toEqual([]);
    await page.getByRole('button', { name: /^Remove/ }).click();
    await page.locator('.notice').waitFor();
    expect(await page.locator('.card').count()).toBe(0);
  }
});
