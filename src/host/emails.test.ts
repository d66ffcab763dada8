import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { givenMerchant } from '../../test/admin.ts';
import { givenShop, givenToken } from '../../test/builders.ts';
import { changesNothing } from '../../test/carts.ts';
import { waitFor } from '../../test/process.ts';
import { startService, type CallOptions, type Service } from '../../test/service.ts';
import { startSmtp, type SmtpServer } from '../../test/smtp.ts';
import { invitationEmail } from '../admin/users/invitation-email.ts';
import { availabilityEmail } from '../catalogue/products/availability-email.ts';
import { startEmails } from '../composition/emails.ts';
import { readConfig } from '../config.ts';
import { runDueMailings } from '../content/mailings/runner.ts';
import { sql } from '../db/sql.ts';
import { HOST_SCOPES } from '../http/scopes.ts';
import { queueEmails } from '../platform/email/queue.ts';
import { JOB_STATE } from '../platform/jobs/queries.ts';
import { applySettings } from '../shops/settings/file.ts';
import { createHostToken } from './tokens.ts';

const DAY = 86_400_000;
const REASON = 'Newsletters to bought addresses <1>';

let service: Service;
let token: string;
let smtp: SmtpServer;
let worker: { stop: () => Promise<void> } | undefined;

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ANONYMOUS: '0' });
  token = await service.db.transaction((tx) => createHostToken(tx, { name: 'abuse', scopes: HOST_SCOPES }));
});
afterAll(() => service.close());
beforeEach(async () => {
  smtp = await startSmtp();
  await service.db.run(sql`delete from shop`);
  await service.db.run(sql`delete from host_event`);
  for (const shopId of ['Tea', 'Coffee']) {
    await givenShop(service, shopId, { name: shopId, email: `hello@${shopId.toLowerCase()}.example` });
  }
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await smtp.close();
});

const host = (method: string, path: string, options: CallOptions = {}) =>
  service.call(method, `/host/shops/Tea${path}`, { token, ...options });
const freeze = (reason: unknown = REASON) => host('POST', '/freeze-emails', { body: { reason } });
const thaw = () => host('POST', '/thaw-emails');

function start(): void {
  worker = startEmails({
    db: service.db,
    config: {
      ...readConfig({ SMTP_URL: `smtp://${smtp.host}` }),
      KONTOR_DATA: service.config.KONTOR_DATA,
    },
    log: pino({ level: 'silent' }),
    origin: 'https://shop.example',
    pause: 10,
  });
}

const queue = (shopId: string, ...to: string[]) =>
  service.db.transaction((tx) =>
    queueEmails(
      tx,
      shopId,
      availabilityEmail,
      to.map((address) => ({
        to: address,
        locale: 'en_GB',
        facts: { productName: 'Tea', productNumber: '1' },
      })),
    ),
  );
const jobs = () =>
  service.db.many<{ to: string; state: string; held: boolean; error: string | null }>(sql`
    select content ->> 'to' as "to", ${JOB_STATE} as state, held_at is not null as held, error from job
    order by content ->> 'to'`);
const sent = () => smtp.taken.flatMap(({ to }) => to).toSorted();

test('a frozen shop sends nothing but invitations, and the others go on', async () => {
  const { status, body } = await freeze();
  expect([status, body]).toEqual([200, { frozenAt: expect.any(String), reason: REASON, waiting: 0 }]);
  await queue('Tea', 'ada@mail.example', 'ben@mail.example');
  await queue('Coffee', 'cleo@mail.example');
  await service.db.transaction((tx) =>
    queueEmails(tx, 'Tea', invitationEmail, [
      { to: 'dora@mail.example', locale: 'en_GB', facts: { by: 'owner@tea.example', linkId: null } },
    ]),
  );
  start();
  await waitFor(async () => (await jobs()).every(({ held }) => held));
  expect(sent()).toEqual(['cleo@mail.example', 'dora@mail.example']);
  expect(await jobs()).toEqual(
    ['ada', 'ben'].map((name) => ({ to: `${name}@mail.example`, state: 'created', held: true, error: null })),
  );
  expect((await host('GET', '/emails')).body).toMatchObject({ reason: REASON, waiting: 2 });

  expect((await thaw()).body).toEqual({ frozenAt: null, reason: null, waiting: 2 });
  await waitFor(async () => (await jobs()).length === 0);
  expect(sent()).toEqual(['ada', 'ben', 'cleo', 'dora'].map((name) => `${name}@mail.example`));
});

test('after thawing, emails of the last three days are sent, and older ones are marked as not sent', async () => {
  await freeze();
  await queue('Tea', 'ada@mail.example', 'ben@mail.example');
  start();
  await waitFor(async () => (await jobs()).every(({ held }) => held));
  const before = (days: number) => new Date(service.db.now.getTime() - days * DAY);
  await service.db.run(sql`
    update job set held_at = case content ->> 'to' when 'ada@mail.example' then ${before(3.1)}::timestamptz
      else ${before(2.9)}::timestamptz end`);
  await thaw();
  await waitFor(async () => (await jobs()).length === 1);
  expect(sent()).toEqual(['ben@mail.example']);
  expect(await jobs()).toEqual([
    {
      to: 'ada@mail.example',
      state: 'failed',
      held: true,
      error: 'The emails of the shop were frozen for more than three days',
    },
  ]);
});

test('its mailings pause, and can not be sent or resumed', async () => {
  const shopToken = await givenToken(service, 'Tea');
  await service.db.transaction((tx) =>
    applySettings(tx, 'Tea', { newsletters: [{ identifier: 'Tide', language: 'en', name: 'Tide' }] }),
  );
  const row = await service.db.one<{ id: string }>(sql`
    select upper(campaign_id::text) as id from newsletter_campaign where shop_id = 'Tea'`);
  const body = {
    newsletters: [row!.id],
    texts: [{ locale: 'en_GB', subject: 'Tea', blocks: [{ type: 'richText', html: '<p>x</p>' }] }],
  };
  const mailings = '/manage/shops/Tea/mailings';
  const call = (method: string, path: string, more: CallOptions = {}) =>
    service.call(method, mailings + path, { token: shopToken, ...more });
  const { mailingId } = (await call('POST', '', { body })).body;
  const setState = (state: string) => call('PUT', `/${mailingId}/state`, { body: { state } });
  expect((await setState('scheduled')).status).toBe(200);
  await freeze();
  const { db, config } = service;
  await runDueMailings({ db, config, log: pino({ level: 'silent' }) });
  expect((await call('GET', `/${mailingId}`)).body).toMatchObject({
    state: 'paused',
    problem: 'emailsFrozen',
  });
  await changesNothing(service, async () => {
    const refused = await setState('sending');
    expect([refused.status, refused.headers['x-error-code']]).toEqual([409, 'EMAILS_FROZEN']);
  });
  await thaw();
  expect((await setState('sending')).status).toBe(200);
});

test('its people can not send by their own mail server either', async () => {
  const owner = await givenMerchant(service, 'owner', 'Tea');
  const [hostName, port] = smtp.host.split(':') as [string, string];
  const sender = 'shop@tea.example';
  await owner.post('/settings/emails/server', {
    host: hostName,
    port,
    tls: 'none',
    user: '',
    password: '',
    sender,
  });
  await freeze();
  const { status, text } = await owner.post('/settings/emails/server/test');
  expect(status).toBe(409);
  expect(text).toContain('The operator of the service has stopped the emails of this shop.');
  await queue('Tea', 'ada@mail.example');
  start();
  await waitFor(async () => (await jobs()).every(({ held }) => held));
  expect(sent()).toEqual([]);
  await thaw();
  await waitFor(async () => (await jobs()).length === 0);
  expect(smtp.taken.map(({ from, to }) => [from, to])).toEqual([[sender, ['ada@mail.example']]]);
});

test('the admin says so, and both logs', async () => {
  const owner = await givenMerchant(service, 'owner', 'Tea');
  expect((await owner.get('')).text).not.toContain('has stopped the emails');
  await freeze();
  await freeze();
  expect((await owner.get('/settings/emails')).text).toContain(
    'The operator of the service has stopped the emails of this shop: Newsletters to bought addresses &lt;1&gt;',
  );
  await freeze('Another reason');
  await thaw();
  await thaw();
  expect((await owner.get('')).text).not.toContain('has stopped the emails');
  const { body } = await service.call('GET', '/host/log?shopId=Tea', { token });
  expect(body.items.map(({ type, by, data }: Record<string, unknown>) => [type, by, data])).toEqual([
    ['SHOP_EMAILS_FROZEN', 'abuse', { reason: REASON }],
    ['SHOP_EMAILS_FROZEN', 'abuse', { reason: 'Another reason' }],
    ['SHOP_EMAILS_THAWED', 'abuse', {}],
  ]);
  const audit = await service.db.many(sql`
    select route from audit_entry where shop_id = 'Tea' and route like '/host/%' order by entry_id`);
  expect(audit).toEqual([
    { route: '/host/shops/:shopId/freeze-emails' },
    { route: '/host/shops/:shopId/freeze-emails' },
    { route: '/host/shops/:shopId/thaw-emails' },
  ]);
});

test('needs a reason, a shop and the scope', async () => {
  const reader = await service.db.transaction((tx) =>
    createHostToken(tx, { name: 'reader', scopes: ['host_shops_read'] }),
  );
  await changesNothing(service, async () => {
    for (const reason of ['', ' ', 'x'.repeat(501), 5, null]) expect((await freeze(reason)).status).toBe(400);
    for (const [method, path] of [
      ['GET', 'emails'],
      ['POST', 'freeze-emails'],
      ['POST', 'thaw-emails'],
    ] as const) {
      const options = { token, ...(path === 'freeze-emails' && { body: { reason: REASON } }) };
      expect((await service.call(method, `/host/shops/Nowhere/${path}`, options)).status).toBe(404);
    }
    expect((await service.call('POST', '/host/shops/Tea/thaw-emails', { token: reader })).status).toBe(403);
  });
  expect((await service.call('GET', '/host/shops/Tea/emails', { token: reader })).status).toBe(200);
});
