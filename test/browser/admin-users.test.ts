import type { Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { stepAt, totpCode } from '../../src/admin/account/totp-code.ts';
import { insertLink, LINK_LIFETIME, linkTokens } from '../../src/admin/users/links.ts';
import { sql } from '../../src/db/sql.ts';
import { insertHostLink } from '../../src/host/links.ts';
import { findGrant, putGrant } from '../../src/host/support.ts';
import { installationKey } from '../../src/platform/sealing.ts';
import { givenMerchant } from '../admin.ts';
import { seriousProblems } from '../accessibility.ts';
import { addPasskeyDevice, browsing } from '../browser.ts';
import { queuedEmails } from '../carts.ts';
import { ofTheDay } from '../seed.ts';

const admin = browsing({ onLocalhost: true });

const OWNER = 'ina@shop.example';
const PASSWORD = 'four quiet green boats';

beforeEach(async () => {
  await admin.service.db.run(sql`delete from admin_user`);
  await admin.service.db.run(sql`delete from shop_user`);
});

async function linkOf(linkId: string): Promise<string> {
  return linkTokens(await installationKey(admin.service.config)).urlOf('', linkId);
}

/** The first user, with the link that the first start prints. */
async function becomeOwner(page: Page): Promise<void> {
  const linkId = await admin.service.db.transaction((tx) => insertLink(tx, null, LINK_LIFETIME.reset));
  await page.goto(await linkOf(linkId));
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByLabel('Email').fill(OWNER);
  const password = page.getByRole('textbox', { name: 'Password' });
  await password.fill(PASSWORD);
  await page.getByRole('button', { name: 'Show' }).click();
  expect(await password.getAttribute('type')).toBe('text');
  await page.getByRole('button', { name: 'Hide' }).click();
  expect(await password.getAttribute('type')).toBe('password');
  await page.getByRole('button', { name: 'Save and sign in' }).click();
  await page.getByText('Welcome! You are signed in.').waitFor();
}

async function signOut(page: Page): Promise<void> {
  await page.goto('/admin/account');
  await page.getByRole('main').getByRole('button', { name: 'Sign out', exact: true }).first().click();
  await page.getByText('You are signed out.').waitFor();
}

async function typePassword(page: Page): Promise<void> {
  await page.getByLabel('Email').fill(OWNER);
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

test('an owner sets up an authenticator app, and signs in with its code and with a recovery code', async () => {
  const page = await admin.open({ screen: 'phone' });
  await becomeOwner(page);
  await page.goto('/admin/account');
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByRole('link', { name: 'Set up' }).click();
  await page.getByText("I can't scan it").click();
  expect(await seriousProblems(page)).toEqual([]);
  const secret = (await page.locator('details code').innerText()).replaceAll(' ', '');
  await page.getByLabel('Code', { exact: true }).fill(totpCode(secret, stepAt(new Date()) - 1));
  await page.getByRole('button', { name: 'Switch on' }).click();
  await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
  expect(await seriousProblems(page)).toEqual([]);
  const codes = await page.locator('.codes code').allInnerTexts();
  expect(codes).toHaveLength(10);
  await page.getByRole('link', { name: 'I have saved them' }).click();
  await page.getByText('10 recovery codes are left.').waitFor();

  await signOut(page);
  expect(await seriousProblems(page)).toEqual([]);
  await typePassword(page);
  await page.getByRole('heading', { name: 'One more step' }).waitFor();
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByLabel('Code', { exact: true }).fill('000000');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('This code is incorrect').waitFor();
  await page.getByLabel('Code', { exact: true }).fill(totpCode(secret, stepAt(new Date())));
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Your shops' }).waitFor();

  await signOut(page);
  await typePassword(page);
  await page.getByLabel('Code', { exact: true }).fill(codes[0]!);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Your shops' }).waitFor();
});

test('a passkey signs in, and shows again who it is', async () => {
  const page = await admin.open();
  await addPasskeyDevice(page);
  await becomeOwner(page);
  await page.goto('/admin/account');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('The passkey is saved.').waitFor();
  expect(await seriousProblems(page)).toEqual([]);

  await signOut(page);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('heading', { name: 'Your shops' }).waitFor();

  // After a while, what is dangerous asks again.
  await admin.service.db.run(sql`update admin_session set confirmed_at = confirmed_at - interval '1 hour'`);
  await page.goto('/admin/shops/DemoShop/users');
  await page.getByRole('heading', { name: 'Confirm your identity' }).waitFor();
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('heading', { level: 1, name: 'Staff' }).waitFor();

  page.on('dialog', (dialog) => void dialog.accept());
  await page.goto('/admin/account');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The passkey is deleted.').waitFor();
  await signOut(page);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByText('This passkey could not be used. Please use your password.').waitFor();
});

test('somebody is invited, gets another role, and is removed', async () => {
  const page = await admin.open();
  await becomeOwner(page);
  await page.goto('/admin/shops/DemoShop/users');
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByLabel('Email').fill('jo@shop.example');
  await page.getByLabel('Role', { exact: true }).selectOption('orders');
  await page.getByRole('button', { name: 'Send invitation' }).click();
  await page.getByText('An invitation is on its way to jo@shop.example.').waitFor();

  const email = (await queuedEmails(admin.service)).findLast(({ to }) => to === 'jo@shop.example')!;
  const other = await admin.open({ screen: 'phone' });
  await other.goto(await linkOf(String(email.facts['linkId'])));
  await other.getByRole('textbox', { name: 'Password' }).fill('seven brass lanterns');
  await other.getByRole('button', { name: 'Save and sign in' }).click();
  await other.waitForURL('**/admin/shops/DemoShop');

  await page.reload();
  await page.getByLabel('Role of jo@shop.example').selectOption('catalogue');
  await page
    .getByRole('listitem')
    .filter({ hasText: 'jo@shop.example' })
    .getByRole('button', { name: 'Change' })
    .click();
  await page.getByText('jo@shop.example now has the role Catalogue.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('jo@shop.example now has the role Orders.').waitFor();
  expect((await other.goto('/admin/shops/DemoShop/customers'))!.status()).toBe(200);
  page.on('dialog', (dialog) => void dialog.accept());
  await page
    .getByRole('listitem')
    .filter({ hasText: 'jo@shop.example' })
    .getByRole('button', { name: 'Remove' })
    .click();
  await page.getByText('jo@shop.example no longer works in this shop.').waitFor();
  // It was the only shop, so the account has gone with it.
  await other.goto('/admin/shops/DemoShop/customers');
  expect(new URL(other.url()).pathname).toBe('/admin/sign-in');
});

test.each(ofTheDay(['wide', 'phone'] as const, 1))(
  'the host makes a shop, suspends it and opens it again: %s',
  async (screen) => {
    const page = await admin.open({ screen });
    await becomeOwner(page);
    await page.getByRole('link', { name: 'Installation' }).click();
    expect(await seriousProblems(page)).toEqual([]);
    await page.getByRole('link', { name: 'New shop' }).click();
    expect(await seriousProblems(page)).toEqual([]);
    const shopId = `Tea-${screen}`;
    await page.getByLabel('Name of the shop').fill('Tea House');
    await page.getByLabel('Shop ID').fill(shopId);
    await page.getByRole('button', { name: 'Create shop' }).click();
    await page.getByText('Tea House is created.').waitFor();
    await page.goto(`/admin/host?q=${shopId}`);
    page.on('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByText(`${shopId} is suspended.`).waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText(`${shopId} is open again.`).waitFor();
    for (const tab of ['Emails', 'System status']) {
      const tabs = page.getByRole('navigation', { name: 'Installation' });
      await tabs.getByRole('link', { name: tab }).click();
      await page.getByRole('heading', { name: 'Installation' }).waitFor();
      expect(await seriousProblems(page)).toEqual([]);
    }
  },
);

test('everything but passkeys works without scripts', async () => {
  const page = await admin.open({ runsScripts: false });
  const linkId = await admin.service.db.transaction((tx) => insertLink(tx, null, LINK_LIFETIME.reset));
  await page.goto(await linkOf(linkId));
  await page.getByLabel('Email').fill(OWNER);
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Save and sign in' }).click();
  await page.getByText('Welcome! You are signed in.').waitFor();
  await page.goto('/admin/account');
  expect(await page.getByRole('button', { name: 'Add a passkey' }).isVisible()).toBe(false);
  await page.getByLabel('Language of the admin').selectOption('de');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Ihr Konto' }).waitFor();
});

test('a person of the host opens a link of support access, and leaves by the banner', async () => {
  const { service } = admin;
  const url = await service.db.transaction(async (tx) => {
    const endsAt = new Date(tx.serviceNow.getTime() + 3_600_000);
    await putGrant(tx, 'DemoShop', { role: 'accountant', grantedBy: OWNER, endsAt });
    const { grantId } = (await findGrant(tx, 'DemoShop'))!;
    const person = { name: 'Anna Weber', email: 'anna@host.example', reason: 'Ticket 4711' };
    const from = { origin: '', madeBy: 'panel' };
    return (await insertHostLink(tx, 'DemoShop', from, { grantId, person })).url;
  });
  const page = await admin.open({ screen: 'phone' });
  await page.goto(url);
  await page.getByText('by support access, as Anna Weber').waitFor();
  // The secret is not in the history of the browser.
  expect(new URL(page.url()).hash).toBe('');
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('You are in by support access').waitFor();
  expect(await seriousProblems(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  await page.getByRole('main').getByRole('button', { name: 'End support access' }).click();
  await page.getByText('You have left the shop.').waitFor();
  await page.goto('/admin/shops/DemoShop/orders');
  await page.getByLabel('Email').waitFor();
});

test('an owner opens support access on a phone, and ends it', async () => {
  const page = await admin.open({ screen: 'phone' });
  const [name, value] = (await givenMerchant(admin.service)).cookie.split('=') as [string, string];
  await page.context().addCookies([{ name, value, url: admin.origin }]);
  await page.goto('/admin/shops/DemoShop/users');
  await page.getByRole('link', { name: 'Support access' }).click();
  await page
    .getByRole('link', { name: /access/ })
    .last()
    .click();
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByLabel('For how long').selectOption('1 hour');
  await page.getByRole('button', { name: 'Grant access' }).click();
  await page.getByText('Support access is open until').waitFor();
  expect(await seriousProblems(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  await page.getByRole('button', { name: 'End access now' }).click();
  await page.getByText('Support access has ended.').waitFor();
});
