import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { linkTokens } from '../../src/admin/users/links.ts';
import { invitationEmail } from '../../src/admin/users/invitation-email.ts';
import { findOrCreateUser, putRole, updateHost } from '../../src/admin/users/queries.ts';
import { sql } from '../../src/db/sql.ts';
import { installationKey } from '../../src/platform/sealing.ts';
import { createEmailShopLoader } from '../../src/shops/email/shop.ts';
import { givenBrowser, givenMerchant, type Merchant } from '../admin.ts';
import { queuedEmails } from '../carts.ts';
import { fingerprint, givenOtherShop, startDemo } from '../demo.ts';
import type { Service } from '../service.ts';

/**
 * One person has one account for all shops. The owner of one shop must not get hold of the link that chooses its password,
 * and a link of one shop must not open another one in which the same person is still expected.
 */

const VICTIM = 'victim@shop.example';
const ORIGIN = 'http://localhost:8080';
const PASSWORD = 'seven brass lanterns';

let service: Service;
let key: Buffer;
/** The owner of DemoShop. */
let owner: Merchant;
/** The owner of OtherShop, who is after DemoShop. */
let attacker: Merchant;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0' });
  await givenOtherShop(service);
  key = await installationKey(service.config);
});
afterAll(() => service.close());
beforeEach(async () => {
  await service.db.run(sql`delete from admin_user`);
  await service.db.run(sql`delete from shop_user`);
  await service.db.run(sql`delete from job`);
  await service.db.run(sql`delete from audit_entry`);
  owner = await givenMerchant(service, 'owner');
  attacker = await givenMerchant(service, 'owner', 'OtherShop');
});

/** The invitations as they are sent. */
async function invitationsOf(shopId: string): Promise<{ text: string; html: string; link: string }[]> {
  const load = createEmailShopLoader({ db: service.db, config: service.config, origin: ORIGIN });
  const shop = (await load(shopId))!;
  const queued = await queuedEmails(service, shopId);
  return queued.map((email) => {
    const { text, html } = shop.render(invitationEmail, email);
    return { text, html, link: linkTokens(key).urlOf('', String(email.facts['linkId'])) };
  });
}

async function invite(by: Merchant, role = 'owner'): Promise<void> {
  expect((await by.post('/users', { email: VICTIM, role })).status).toBe(303);
}

const choosePassword = async (link: string, newPassword = PASSWORD) => {
  const browser = givenBrowser(service);
  const answer = await browser.post(link, { newPassword });
  return { browser, answer };
};

const signedIn = async (password = PASSWORD) => {
  const browser = givenBrowser(service);
  const answer = await browser.post('/admin/sign-in', { email: VICTIM, password });
  expect(answer.location).toBe('/admin');
  return browser;
};

describe('words of a shop', () => {
  const WRAPPED = 'https://evil.example/collect?u={passwordUrl}';

  test('can’t name the link of an invitation', async () => {
    const page = await attacker.get('/settings/emails/invitation');
    const version = /name="version" value="([^"]*)"/.exec(page.text)![1]!;
    const before = await fingerprint(service);
    const saved = await attacker.post('/settings/emails/invitation', { version, subject: '', text: WRAPPED });
    expect(saved.status).toBe(422);
    expect(saved.text).toContain('{passwordUrl} can’t be part of the text: the link carries a secret');
    expect(await fingerprint(service)).toEqual(before);
  });

  test('that were saved before are sent without it, and something else can be saved', async () => {
    await service.db.run(sql`
      update shop set settings = jsonb_set(settings, '{mailTexts}', ${JSON.stringify({
        invitation: { en_GB: { text: WRAPPED } },
      })}::jsonb), settings_version = settings_version + 1
      where shop_id = 'OtherShop'`);
    await invite(attacker);
    const [email] = await invitationsOf('OtherShop');
    expect(email!.text.split('\n\n').slice(0, 2)).toEqual([
      'https://evil.example/collect?u=',
      `Accept the invitation: ${ORIGIN}${email!.link}`,
    ]);
    const addresses = [...`${email!.text} ${email!.html}`.matchAll(/https?:\/\/[^\s"<]+/g)].map(
      ([url]) => url,
    );
    expect(new Set(addresses.filter((url) => url.includes('token')))).toEqual(
      new Set([`${ORIGIN}${email!.link}`]),
    );
    const page = await attacker.get('/settings/emails/order');
    const version = /name="version" value="([^"]*)"/.exec(page.text)![1]!;
    const text = 'Thank you!\n\n{lines}';
    const saved = await attacker.post('/settings/emails/order', { version, subject: '', text });
    expect(saved.status).toBe(303);
  });
});

describe('the invitation of one shop', () => {
  test('does not open another shop that expects the same person', async () => {
    await invite(owner);
    await invite(attacker);
    const [[own], [captured]] = [await invitationsOf('DemoShop'), await invitationsOf('OtherShop')];
    const { browser, answer } = await choosePassword(captured!.link, 'the attacker chooses');
    expect(answer.location).toBe('/admin');
    expect((await browser.get('/admin/shops/OtherShop/users')).status).toBe(200);
    for (const path of ['users', 'orders', 'settings']) {
      expect((await browser.get(`/admin/shops/DemoShop/${path}`)).status).toBe(404);
    }
    expect((await browser.get('/admin')).location).toBe('/admin/shops/OtherShop');
    expect((await owner.get('/users')).text).toContain('Invitation pending');

    // The victim has the link of the other shop, and can't be led past the password that somebody else has chosen.
    const before = await fingerprint(service);
    const refused = await choosePassword(own!.link, 'the victim would choose');
    expect([refused.answer.status, refused.answer.text.includes(`Please sign in as ${VICTIM}`)]).toEqual([
      403,
      true,
    ]);
    expect(await fingerprint(service)).toEqual(before);
    expect((await givenBrowser(service).get(own!.link)).text).toContain(`Please sign in as ${VICTIM}`);
    expect((await owner.post(own!.link)).status).toBe(403);
  });

  test('is accepted by somebody who is signed in and has its link', async () => {
    await invite(attacker, 'orders');
    const [first] = await invitationsOf('OtherShop');
    await choosePassword(first!.link);
    await invite(owner, 'manager');
    const [second] = await invitationsOf('DemoShop');
    const browser = await signedIn();
    expect((await browser.get('/admin/shops/DemoShop/orders')).status).toBe(404);
    expect((await browser.get(second!.link)).text).toContain(`as ${VICTIM}`);
    expect((await browser.get('/admin/shops/DemoShop/orders')).status).toBe(404);
    expect((await browser.post(second!.link)).location).toBe('/admin/shops/DemoShop');
    expect((await browser.get('/admin/shops/DemoShop/orders')).status).toBe(200);
    expect((await browser.get('/admin/shops/DemoShop/users')).status).toBe(403);
    expect((await browser.get(second!.link)).status).toBe(410);
    expect((await owner.get('/users')).text).not.toContain('has not accepted yet');
    const entry = await service.db.one(sql`
      select app_name as name, route from audit_entry where shop_id = 'DemoShop' order by entry_id desc limit 1`);
    expect(entry).toEqual({ name: VICTIM, route: '/admin/link' });
  });

  test('lets a shop wait whose role was given without an invitation', async () => {
    await service.db.transaction(async (tx) => {
      await putRole(tx, 'DemoShop', await findOrCreateUser(tx, VICTIM), 'owner');
    });
    await invite(attacker);
    const [captured] = await invitationsOf('OtherShop');
    const { browser } = await choosePassword(captured!.link);
    expect((await browser.get('/admin/shops/OtherShop/users')).status).toBe(200);
    expect((await browser.get('/admin/shops/DemoShop/users')).status).toBe(404);
  });

  test('chooses no password of somebody who runs the installation', async () => {
    await service.db.transaction(async (tx) => updateHost(tx, await findOrCreateUser(tx, VICTIM), true));
    await invite(attacker);
    const [captured] = await invitationsOf('OtherShop');
    const before = await fingerprint(service);
    expect((await choosePassword(captured!.link)).answer.status).toBe(403);
    expect(await fingerprint(service)).toEqual(before);
  });

  test('does not end the link of another shop, however often it is sent', async () => {
    await invite(owner);
    await invite(attacker);
    const userId = await service.db.one<{ id: string }>(sql`
      select upper(user_id::text) as id from admin_user where email = ${VICTIM}`);
    for (let sent = 0; sent < 12; sent++) await attacker.post(`/users/${userId!.id}/invite`);
    const [own] = await invitationsOf('DemoShop');
    expect((await choosePassword(own!.link)).answer.location).toBe('/admin');
  });

  test('is worth nothing after it was taken back', async () => {
    await invite(owner);
    await invite(attacker);
    const [own] = await invitationsOf('DemoShop');
    const member = await service.db.one<{ id: string }>(sql`
      select upper(user_id::text) as id from admin_user where email = ${VICTIM}`);
    await owner.post(`/users/${member!.id}/remove`);
    const before = await fingerprint(service);
    expect((await choosePassword(own!.link)).answer.status).toBe(410);
    expect(await fingerprint(service)).toEqual(before);
  });
});

test('an invitation that is sent again is in the audit log', async () => {
  await invite(owner, 'orders');
  const member = await service.db.one<{ id: string }>(sql`
    select upper(user_id::text) as id from admin_user where email = ${VICTIM}`);
  await owner.post(`/users/${member!.id}/invite`);
  const entries = await service.db.many(sql`
    select app_name as name, route, object from audit_entry where shop_id = 'DemoShop' order by entry_id`);
  expect(entries).toEqual([
    {
      name: owner.email,
      route: '/admin/shops/:shopId/users',
      object: { userId: member!.id, role: 'orders' },
    },
    {
      name: owner.email,
      route: '/admin/shops/:shopId/users/:userId/invite',
      object: { userId: member!.id },
    },
  ]);
});
