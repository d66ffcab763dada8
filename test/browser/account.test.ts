import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { seriousProblems } from '../accessibility.ts';
import { browsing, type Visitor } from '../browser.ts';
import { queuedEmails } from '../carts.ts';
import { ofTheDay } from '../seed.ts';
import { codesOf } from '../signed-in.ts';
import { ADA, typeAddress } from './checkout.ts';

const shop = browsing();

const BROWSERS: Visitor[] = [
  { screen: 'wide', runsScripts: true, locale: 'en-GB' },
  { screen: 'phone', runsScripts: false },
  { screen: 'phone', runsScripts: true },
  { screen: 'wide', runsScripts: false },
];

/** No page is wider than its screen, and none hinders anybody. */
async function check(page: Page, { runsScripts }: Visitor): Promise<void> {
  if (!runsScripts) return;
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect(await seriousProblems(page)).toEqual([]);
}

/** With scripts a drawer shows the cart, without them its page does. */
async function addToCart(page: Page, { runsScripts }: Visitor): Promise<void> {
  await page.getByRole('button', { name: 'Add to cart' }).first().click();
  await (runsScripts
    ? page.getByRole('dialog', { name: 'Your cart' }).waitFor()
    : page.waitForURL('**/cart'));
}

/** Asks for the email, and returns the id of the request that it is made of. */
async function ask(page: Page, email: string): Promise<string> {
  await page.getByRole('textbox', { name: 'Email address' }).fill(email);
  await page.getByRole('button', { name: 'Send me the email' }).click();
  await page.waitForURL('**/account/code');
  const sent = (await queuedEmails(shop.service)).filter(({ to }) => to === email);
  return String(sent.at(-1)!.facts['requestId']);
}

test('signs in with the digits, and finds the cart, orders and addresses on every device', async () => {
  const codes = await codesOf(shop.service);
  for (const [index, browser] of ofTheDay(BROWSERS, 2).entries()) {
    const email = `shopper-${index}@mail.example`;
    const page = await shop.open(browser);
    await page.goto('/shop/DemoShop/Products/KN-101');
    await addToCart(page, browser);
    await page.goto('/shop/DemoShop/checkout');
    await check(page, browser);
    await page.getByRole('link', { name: 'Sign in to fill in your address.' }).click();
    await check(page, browser);
    const requestId = await ask(page, email);
    await check(page, browser);
    await page.getByRole('textbox', { name: 'Six digits' }).fill('000');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('You have 4 more attempts.').waitFor();
    await check(page, browser);
    await page.getByRole('textbox', { name: 'Six digits' }).fill(codes.digits('DemoShop', requestId));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL('**/checkout');
    expect(await page.getByLabel('Email address').inputValue()).toBe(email);

    await typeAddress(page, { ...ADA, emailAddress: email });
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL('**/checkout/delivery');
    await page.getByRole('radio', { name: /Standard/ }).check();
    await page.getByRole('radio', { name: /Invoice/ }).check();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Order and pay' }).click();
    await page.waitForURL('**/confirmation');

    // Another device: signed in by the link of the email, whose page does nothing before its button is pressed.
    const other = await shop.open(browser);
    await other.goto('/shop/DemoShop/account');
    await other.waitForURL('**/account/sign-in');
    const token = codes.token('DemoShop', await ask(other, email));
    const third = await shop.open(browser);
    await third.goto(`/shop/DemoShop/account/link?token=${token}`);
    await check(third, browser);
    await third.getByRole('button', { name: 'Sign in', exact: true }).click();
    await third.waitForURL('**/account');
    expect(await third.locator('main .lines li').count()).toBe(1);
    await check(third, browser);

    await third.getByRole('link', { name: 'Addresses' }).click();
    await check(third, browser);
    await third.getByRole('link', { name: 'Add an address' }).click();
    await check(third, browser);
    const { emailAddress: _, ...postal } = ADA;
    await typeAddress(third, postal);
    await third.getByRole('button', { name: 'Save' }).click();
    await third.getByText('The address is saved.').waitFor();
    await check(third, browser);

    await third.getByRole('link', { name: 'Newsletters' }).click();
    await third.getByRole('checkbox', { name: /Tide letter/ }).check();
    await third.getByRole('button', { name: 'Save' }).click();
    await third.getByText('Your choice is saved.').waitFor();
    await check(third, browser);

    // A repeated order takes two pages.
    await third.goto('/shop/DemoShop/Products/KN-101');
    await addToCart(third, browser);
    await third.goto('/shop/DemoShop/checkout');
    await check(third, browser);
    await third.getByRole('button', { name: 'Review and order' }).click();
    await third.waitForURL('**/checkout/review');
    await page.goto('/shop/DemoShop/cart');
    expect(await page.locator('.lines > li').count()).toBe(1);

    await third.goto('/shop/DemoShop/account/devices');
    expect(await third.locator('main .lines li').count()).toBe(2);
    await check(third, browser);
    await third.getByRole('button', { name: /^Sign out: / }).click();
    await third.getByText('That browser is signed out.').waitFor();
    await page.goto('/shop/DemoShop/cart');
    expect(await page.locator('.lines > li').count()).toBe(0);

    await third.goto('/shop/DemoShop/account/data');
    await check(third, browser);
    const download = third.waitForEvent('download');
    await third.getByRole('button', { name: 'Download my data' }).click();
    expect((await download).suggestedFilename()).toBe('DemoShop-data.json');
    await third.getByRole('link', { name: 'Delete my account' }).click();
    await check(third, browser);
    await third.getByRole('button', { name: 'Yes, delete everything' }).click();
    await third.getByText('One of your orders is not finished yet').waitFor();
    await check(third, browser);
    await third.getByRole('button', { name: 'Sign out' }).click();
    await third.getByText('You are signed out.').waitFor();
  }
}, 120_000);

test.each(ofTheDay(['de_DE', 'fr_FR'], 1))('speaks %s', async (locale) => {
  const page = await shop.open({ screen: 'phone' });
  await page.goto(`/shop/DemoShop/account/sign-in?locale=${locale}`);
  await check(page, { runsScripts: true });
  const email = `reader.${locale.toLowerCase()}@mail.example`;
  await page.locator('input[type=email]').fill(email);
  await page.locator('main button.button').click();
  await page.waitForURL('**/account/code?*');
  const sent = (await queuedEmails(shop.service)).find(({ to }) => to === email)!;
  const codes = await codesOf(shop.service);
  await page.locator('#digits').fill(codes.digits('DemoShop', String(sent.facts['requestId'])));
  await page.locator('main button').click();
  await page.waitForURL('**/account?*');
  for (const path of ['', '/addresses', '/newsletters', '/devices', '/data']) {
    await page.goto(`/shop/DemoShop/account${path}?locale=${locale}`);
    await check(page, { runsScripts: true });
    expect(await page.locator('main').innerText()).not.toMatch(/\b(the|your|sign)\b/i);
  }
});
