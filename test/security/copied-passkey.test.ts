import type { CDPSession, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { browsing } from '../browser.ts';
import { queuedEmails } from '../carts.ts';
import { codesOf } from '../signed-in.ts';

/**
 * Somebody has copied the passkey out of a device, with its private key. The device counts its uses, and the copy does not
 * know of those that came later. In a real browser, with virtual authenticators.
 */

const shop = browsing({ onOwnHost: true });
const EMAIL = 'copied@mail.example';

async function addDevice(page: Page): Promise<{ client: CDPSession; authenticatorId: string }> {
  const client = await page.context().newCDPSession(page);
  await client.send('WebAuthn.enable');
  const { authenticatorId } = await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { client, authenticatorId };
}

async function signInWithPasskey(page: Page): Promise<void> {
  await page.goto('/account/sign-in');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
}

const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out', exact: true }).click();
const refusal = 'This passkey could not be used. Please sign in by email.';

test('a copy signs in neither with an old counter, nor from another account, nor without its owner', async () => {
  const page = await shop.open();
  const { client, authenticatorId } = await addDevice(page);
  await page.goto('/account/sign-in');
  await page.getByRole('textbox', { name: 'Email address' }).fill(EMAIL);
  await page.getByRole('button', { name: 'Send me the email' }).click();
  await page.waitForURL('**/account/code');
  const { facts } = (await queuedEmails(shop.service)).findLast(({ to }) => to === EMAIL)!;
  const digits = (await codesOf(shop.service)).digits('DemoShop', String(facts['requestId']));
  await page.getByRole('textbox', { name: 'Six digits' }).fill(digits);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL('**/account');
  await page.goto('/account/devices');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('The passkey is saved.').waitFor();
  const { credentials } = await client.send('WebAuthn.getCredentials', { authenticatorId });
  const [copied] = credentials;
  await signOut(page);
  for (let uses = 0; uses < 3; uses++) {
    await signInWithPasskey(page);
    await page.getByText(`Signed in as ${EMAIL}`).waitFor();
    await signOut(page);
  }
  const before = await shop.service.db.many(sql`select counter, used_at from account_passkey`);

  const thief = await shop.open();
  const device = await addDevice(thief);
  await device.client.send('WebAuthn.addCredential', {
    authenticatorId: device.authenticatorId,
    credential: copied!,
  });
  await signInWithPasskey(thief);
  await thief.getByText(refusal).waitFor();
  // The handle of another account inside of the copy changes nothing: the credential decides.
  await device.client.send('WebAuthn.clearCredentials', { authenticatorId: device.authenticatorId });
  await device.client.send('WebAuthn.addCredential', {
    authenticatorId: device.authenticatorId,
    credential: { ...copied!, userHandle: Buffer.alloc(16, 7).toString('base64') },
  });
  await signInWithPasskey(thief);
  await thief.getByText(refusal).waitFor();
  expect((await thief.context().cookies()).filter(({ name }) => name === 'account')).toEqual([]);
  expect(await shop.service.db.many(sql`select counter, used_at from account_passkey`)).toEqual(before);

  // The real device goes on.
  await signInWithPasskey(page);
  await page.getByText(`Signed in as ${EMAIL}`).waitFor();
});
