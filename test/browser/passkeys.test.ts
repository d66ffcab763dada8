import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { seriousProblems } from '../accessibility.ts';
import { addPasskeyDevice, browsing } from '../browser.ts';
import { queuedEmails } from '../carts.ts';
import { codesOf } from '../signed-in.ts';

// A passkey belongs to a host name, and 127.0.0.1 is none.
const shop = browsing({ onOwnHost: true });

const EMAIL = 'passkey@mail.example';

async function signInByEmail(page: Page): Promise<void> {
  await page.goto('/account/sign-in');
  await page.getByRole('textbox', { name: 'Email address' }).fill(EMAIL);
  await page.getByRole('button', { name: 'Send me the email' }).click();
  await page.waitForURL('**/account/code');
  const { facts } = (await queuedEmails(shop.service)).findLast(({ to }) => to === EMAIL)!;
  const digits = (await codesOf(shop.service)).digits('DemoShop', String(facts['requestId']));
  await page.getByRole('textbox', { name: 'Six digits' }).fill(digits);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL('**/account');
}

test('a passkey is added, signs in without an email, and is worth nothing when it is deleted', async () => {
  const page = await shop.open({ screen: 'phone' });
  await addPasskeyDevice(page);
  await signInByEmail(page);
  await page.goto('/account/devices');
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('The passkey is saved.').waitFor();
  expect(await seriousProblems(page)).toEqual([]);
  // The same device is not added twice.
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('That did not work. Please try again.').waitFor();

  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByText('You are signed out.').waitFor();
  const emails = (await queuedEmails(shop.service)).length;
  await page.goto('/account/sign-in');
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.waitForURL('**/account');
  await page.getByText(`Signed in as ${EMAIL}`).waitFor();
  expect(await queuedEmails(shop.service)).toHaveLength(emails);

  await page.goto('/account/devices');
  await page.getByRole('button', { name: /^Delete the passkey: Chrome on/ }).click();
  await page.getByText('The passkey is deleted.').waitFor();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.goto('/account/sign-in');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByText('This passkey could not be used. Please sign in by email.').waitFor();
});

test('without scripts nothing offers a passkey', async () => {
  const page = await shop.open({ runsScripts: false });
  await page.goto('/account/sign-in');
  expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).isVisible()).toBe(false);
  await signInByEmail(page);
  await page.goto('/account/devices');
  expect(await page.getByRole('button', { name: 'Add a passkey' }).isVisible()).toBe(false);
});

test('a device that did not recognise its owner signs nobody in', async () => {
  const page = await shop.open();
  await addPasskeyDevice(page, false);
  await signInByEmail(page);
  await page.goto('/account/devices');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('That did not work. Please try again.').waitFor();
  const saved = await shop.service.db.many(sql`select from account_passkey`);
  expect(saved).toEqual([]);
});
