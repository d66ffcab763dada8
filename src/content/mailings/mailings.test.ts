import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { changesNothing, givenProduct } from '../../../test/carts.ts';
import { waitFor } from '../../../test/process.ts';
import { startService, type Service } from '../../../test/service.ts';
import { startSmtp, type SmtpServer } from '../../../test/smtp.ts';
import { givenVisitor, mainOf } from '../../../test/visitor.ts';
import { startEmails } from '../../composition/emails.ts';
import { readConfig } from '../../config.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { availabilityEmail } from '../../catalogue/products/availability-email.ts';
import { queueEmails } from '../../platform/email/queue.ts';
import { installationKey } from '../../platform/sealing.ts';
import { newsletterTokens } from '../../people/newsletters/links.ts';
import { applySettings } from '../../shops/settings/file.ts';
import { mailingCleanup } from './run-queries.ts';
import { runDueMailings } from './runner.ts';
import { finalOutcome } from '../../platform/email/outcome.ts';
import { queueTest } from './worker.ts';

const NOW = new Date('2026-11-18T10:00:00Z');
const MINUTE = 60_000;

let service: Service;
let token: string;
let smtp: SmtpServer;
let newsletters: Record<string, string>;
const workers: { stop: () => Promise<void> }[] = [];

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ANONYMOUS: '0' });
});
afterAll(() => service.close());
beforeEach(async () => {
  smtp = await startSmtp();
  service.setClock(NOW);
  await service.db.run(sql`delete from shop`);
  await givenShop(service, 'Harbour', { name: 'Harbour & Hearth', email: 'hello@harbour.example' });
  await givenShop(service, 'Other');
  await service.db.transaction((tx) =>
    applySettings(tx, 'Harbour', {
      locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] },
      newsletters: [
        { identifier: 'Tide', language: 'en', name: 'Tide letter' },
        { identifier: 'Post', language: 'de', name: 'Teepost' },
      ],
    }),
  );
  const rows = await service.db.many<{ identifier: string; id: string }>(sql`
    select identifier, upper(campaign_id::text) as id from newsletter_campaign where shop_id = 'Harbour'`);
  newsletters = Object.fromEntries(rows.map(({ identifier, id }) => [identifier, id]));
  token = await givenToken(service, 'Harbour');
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop();
  await smtp.close();
});

const path = (rest = '', shopId = 'Harbour') => `/manage/shops/${shopId}/mailings${rest}`;
const call = (method: string, rest: string, body?: unknown) =>
  service.call(method, path(rest), { token, ...(body !== undefined && { body }) });

const TEXTS = [
  {
    locale: 'en_GB',
    subject: 'New at the harbour',
    preheader: 'Three blends',
    blocks: [
      {
        type: 'hero',
        title: 'Autumn',
        html: '<p>Hello <a href="/Categories/tea">tea</a></p>',
        link: '/sale',
      },
      { type: 'contactForm' },
      { type: 'video', video: 'https://youtu.be/aqz-KE-bpKQ', title: 'How we roast' },
    ],
  },
  { locale: 'de_DE', subject: 'Neues vom Hafen', blocks: [{ type: 'richText', html: '<h1>Hallo</h1>' }] },
];

const body = (more: object = {}) => ({ newsletters: Object.values(newsletters), texts: TEXTS, ...more });

async function givenSubscriber(
  email: string,
  newsletter = 'Tide',
  { locale = null as string | null, subscribed = true } = {},
): Promise<void> {
  await service.db.run(sql`
    insert into newsletter_subscriber (shop_id, campaign_id, email, name, locale, subscribed, created_at)
    values ('Harbour', ${newsletters[newsletter]}, ${email}, '', ${locale}, ${subscribed}, ${NOW})`);
}

async function givenMailing(more: object = {}): Promise<string> {
  const created = await call('POST', '', body(more));
  expect(created.status).toBe(201);
  return created.body.mailingId as string;
}

const setState = (id: string, state: string, more: object = {}) =>
  call('PUT', `/${id}/state`, { state, ...more });
const get = async (id: string) => (await call('GET', `/${id}`)).body;
const results = async (id: string): Promise<Record<string, unknown>> => {
  const { state, results: counts } = await get(id);
  const counted = Object.entries(counts as Record<string, number>).filter(([, count]) => count > 0);
  return { state, ...Object.fromEntries(counted) };
};

const deps = (environment: Record<string, string> = {}) => ({
  db: service.db,
  config: readConfig({
    KONTOR_DATA: service.config.KONTOR_DATA,
    SMTP_URL: `smtp://${smtp.host}`,
    ...environment,
  }),
  log: pino({ level: 'silent' }),
});
const step = (environment: Record<string, string> = {}) => runDueMailings(deps(environment));

function startWorkers(environment: Record<string, string> = {}): void {
  workers.push(startEmails({ ...deps(environment), origin: 'https://shop.example', pause: 10 }));
}

/** Sends until the mailing has stopped by itself, and nothing of it is on its way. */
async function sendUntilPaused(id: string, environment: Record<string, string> = {}): Promise<void> {
  startWorkers(environment);
  await step();
  await waitFor(async () => (await get(id)).state === 'paused' && (await queued()) === 0);
  for (const worker of workers.splice(0)) await worker.stop();
}

/** Runs the steps of the mailing minute by minute while the emails are sent, until it is over. */
async function sendAll(id: string): Promise<void> {
  startWorkers();
  for (let minute = 0; minute < 20; minute++) {
    service.setClock(new Date(NOW.getTime() + minute * MINUTE));
    await step();
    await waitFor(async () => (await queued()) === 0);
    if ((await get(id)).state === 'sent') return;
  }
  throw new Error('The mailing did not end');
}

async function queued(): Promise<number> {
  const row = await service.db.one<{ count: number }>(sql`
    select count(*) as count from mailing_recipient where state = 'queued'`);
  return row!.count;
}

const sentTo = () => smtp.taken.flatMap(({ to }) => to).toSorted();

/** The parts of an email are quoted-printable. */
const decoded = (text: string) =>
  text
    .replaceAll('=\r\n', '')
    .replaceAll(/(?:=[\dA-F]{2})+/g, (bytes) => Buffer.from(bytes.replaceAll('=', ''), 'hex').toString());

describe('a mailing', () => {
  test('is created, read, listed, replaced and deleted', async () => {
    const created = await call('POST', '', body({ perHour: 100 }));
    expect([created.status, created.body]).toEqual([
      201,
      {
        mailingId: expect.any(String),
        state: 'draft',
        newsletters: expect.arrayContaining(Object.values(newsletters)),
        segmentId: null,
        couponCampaignId: null,
        perHour: 100,
        sendAt: null,
        startDate: null,
        endDate: null,
        problem: null,
        author: expect.stringContaining('app '),
        version: 1,
        creationDate: '2026-11-18T10:00:00Z',
        lastChangeDate: '2026-11-18T10:00:00Z',
        results: {
          recipients: 0,
          sent: 0,
          skipped: 0,
          refused: 0,
          bounced: 0,
          complained: 0,
          unsubscribed: 0,
        },
        revenue: [],
        texts: [{ ...TEXTS[1], preheader: null }, TEXTS[0]],
      },
    ]);
    const { mailingId } = created.body;
    const changed = await call('PUT', `/${mailingId}`, body({ texts: [TEXTS[1]] }));
    expect(changed.body).toMatchObject({
      version: 2,
      perHour: null,
      texts: [{ subject: 'Neues vom Hafen' }],
    });
    expect((await call('GET', '')).body).toMatchObject({
      results: 1,
      items: [{ mailingId, texts: [{ locale: 'de_DE', subject: 'Neues vom Hafen' }] }],
    });
    expect((await call('DELETE', `/${mailingId}`)).status).toBe(204);
    expect((await call('GET', `/${mailingId}`)).status).toBe(404);
  });

  test.each([
    ['no newsletter', { newsletters: [] }],
    ['an unknown newsletter', { newsletters: [newId(NOW)] }],
    ['a malformed newsletter', { newsletters: ['Tide'] }],
    ['an unknown segment', { segmentId: newId(NOW) }],
    ['an unknown coupon campaign', { couponCampaignId: newId(NOW) }],
    ['no text', { texts: [] }],
    ['a blank subject', { texts: [{ locale: 'en_GB', subject: '   ', blocks: [] }] }],
    ['two lines', { texts: [{ locale: 'en_GB', subject: 'a\nb', blocks: [] }] }],
    ['a foreign language', { texts: [{ locale: 'fr_FR', subject: 'a', blocks: [] }] }],
    ['a language twice', { texts: [TEXTS[0], TEXTS[0]] }],
    ['an unknown block', { texts: [{ locale: 'en_GB', subject: 'a', blocks: [{ type: 'script' }] }] }],
    ['too many emails per hour', { perHour: 1_000_001 }],
  ])('with %s is refused', async (_, more) => {
    await changesNothing(service, async () => {
      expect((await call('POST', '', body(more))).status).toBe(400);
    });
  });

  test('needs both scopes to be written, and belongs to its shop', async () => {
    const id = await givenMailing();
    for (const scopes of [['newsletters_read'], ['coupons_write']] as const) {
      const other = await givenToken(service, 'Harbour', scopes);
      const answer = await service.call('POST', path(), { token: other, body: body() });
      expect(answer.status).toBe(403);
    }
    const stranger = await givenToken(service, 'Other');
    for (const [method, rest] of [
      ['GET', ''],
      ['DELETE', ''],
    ] as const)
      expect((await service.call(method, path(`/${id}${rest}`, 'Other'), { token: stranger })).status).toBe(
        404,
      );
  });

  test('changes its state only as it makes sense', async () => {
    const id = await givenMailing();
    for (const state of ['draft', 'paused', 'sending', 'cancelled'])
      expect((await setState(id, state)).status).toBe(409);
    expect((await setState(id, 'scheduled', { sendAt: '2030-01-01T00:00:00Z' })).status).toBe(400);
    const scheduled = await setState(id, 'scheduled', { sendAt: '2026-11-19T08:00:00Z' });
    expect(scheduled.body).toMatchObject({ state: 'scheduled', sendAt: '2026-11-19T08:00:00Z' });
    expect((await call('PUT', `/${id}`, body())).status).toBe(409);
    expect((await call('DELETE', `/${id}`)).status).toBe(409);
    await step();
    expect((await get(id)).state).toBe('scheduled');
    expect((await setState(id, 'draft')).body).toMatchObject({ state: 'draft', sendAt: null });
    service.setClock(new Date('2026-11-20T08:00:00Z'));
    await step();
    expect((await get(id)).state).toBe('draft');
  });
});

describe('sending', () => {
  test('one email goes to each current subscriber, in the language of the person', async () => {
    await givenSubscriber('ada@mail.example');
    await givenSubscriber('ada@mail.example', 'Post');
    await givenSubscriber('ben@mail.example', 'Post');
    await givenSubscriber('cleo@mail.example', 'Tide', { locale: 'de_DE' });
    await givenSubscriber('dan@mail.example', 'Tide', { subscribed: false });
    const id = await givenMailing();
    await setState(id, 'scheduled');
    await sendAll(id);
    expect(sentTo()).toEqual(['ada@mail.example', 'ben@mail.example', 'cleo@mail.example']);
    expect(await results(id)).toEqual({ state: 'sent', recipients: 3, sent: 3 });
    const subjects = Object.fromEntries(
      smtp.taken.map(({ to, text }) => [to[0], /^Subject: (.*)$/m.exec(text)![1]!.trim()]),
    );
    expect(subjects).toEqual({
      'ada@mail.example': 'New at the harbour',
      'ben@mail.example': 'Neues vom Hafen',
      'cleo@mail.example': 'Neues vom Hafen',
    });
    expect((await service.db.many(sql`select * from job`)).length).toBe(0);
    expect((await service.db.many(sql`select * from mailing_run`)).length).toBe(0);
  });

  test('the email has whole addresses, inline styles, a text, and the headers that unsubscribe', async () => {
    const shop = { service, shopId: 'Harbour', token, ids: {} };
    const facts = { name: { en_GB: 'Ginger & lime' } };
    await givenProduct(shop, { number: 'TE-1', price: 1250, facts });
    await givenSubscriber('ada@mail.example');
    const blocks = [
      ...TEXTS[0]!.blocks,
      { type: 'products', source: 'chosen', numbers: ['TE-1'] },
      { type: 'richText', html: '<p onclick="x" style="color:red">Bye<script>alert(1)</script></p>' },
    ];
    const id = await givenMailing({ texts: [{ ...TEXTS[0], blocks }] });
    await setState(id, 'scheduled');
    await sendAll(id);
    const { text } = smtp.taken[0]!;
    const key = await installationKey(service.config);
    const unsubscribe = `https://shop.example/shop/Harbour/newsletter/unsubscribe/mailing?token=${newsletterTokens(key).unsubscribingFrom('Harbour', id, 'ada@mail.example')}`;
    const unfolded = text.replaceAll(/\r\n[ \t]+/g, ' ');
    expect(unfolded).toContain(`List-Unsubscribe: <${unsubscribe}>\r\n`);
    expect(unfolded).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n');
    const content = decoded(text);
    expect(content).toContain('href="https://shop.example/shop/Harbour/Categories/tea"');
    expect(content).toContain('href="https://shop.example/shop/Harbour/sale"');
    expect(content).toContain(`href="${unsubscribe.replaceAll('&', '&amp;')}"`);
    expect(content).toContain('Ginger &amp; lime');
    expect(content).toContain('€12.50');
    expect(content).toContain('https://shop.example/shop/Harbour/Products/TE-1');
    expect(content).toContain('Kai 1');
    expect(content).toContain('How we roast: https://youtu.be/aqz-KE-bpKQ');
    expect(content).toContain('<p style="margin: 16px 0 0">Bye</p>');
    expect(content).not.toMatch(/<script|onclick|color:red|<form|srcset|http:\/\//);
  });

  test('only customers of the segment get it, and without their segment nobody does', async () => {
    for (const email of ['ada@mail.example', 'ben@mail.example']) await givenSubscriber(email);
    const address = { firstName: 'Ada', lastName: 'B', country: 'FR', emailAddress: 'ada@mail.example' };
    await service.db.run(sql`
      insert into customer (shop_id, customer_id, customer_number, created_at, billing_address)
      values ('Harbour', ${newId(NOW)}, '1001', ${NOW}, ${JSON.stringify(address)}::jsonb)`);
    const segment = await service.call('POST', '/manage/shops/Harbour/segments', {
      token,
      body: { name: 'French', filter: { country: 'FR' } },
    });
    const { segmentId } = segment.body;
    const id = await givenMailing({ segmentId });
    await setState(id, 'scheduled');
    await sendAll(id);
    expect(sentTo()).toEqual(['ada@mail.example']);

    const second = await givenMailing({ segmentId });
    service.setClock(new Date(NOW.getTime() + 60 * MINUTE));
    await setState(second, 'scheduled');
    await service.call('DELETE', `/manage/shops/Harbour/segments/${segmentId}`, { token });
    await step();
    expect(await get(second)).toMatchObject({ state: 'cancelled', problem: 'segmentGone' });
    expect(sentTo()).toEqual(['ada@mail.example']);
  });

  test('no more emails are queued than the rate allows, over all mailings of the shop', async () => {
    for (let number = 0; number < 12; number++) await givenSubscriber(`a${number}@mail.example`);
    const [first, second] = [await givenMailing({ perHour: 300 }), await givenMailing()];
    await setState(first, 'scheduled');
    await setState(second, 'scheduled');
    const rate = { MAILING_RATE: '600' };
    const counts: number[] = [];
    for (const seconds of [0, 30, 60, 61, 120]) {
      service.setClock(new Date(NOW.getTime() + seconds * 1_000));
      await step(rate);
      counts.push(await queued());
    }
    // 5 of the first (300 an hour are 5 a minute), or 10 of the second, and none before that time is over.
    expect(counts[0]).toBeLessThanOrEqual(10);
    expect(counts[1]).toBe(counts[0]);
    expect(counts[2]).toBeGreaterThan(counts[0]!);
    expect(counts[3]).toBe(counts[2]);
    expect(counts.at(-1)).toBeLessThanOrEqual(30);
  });

  test('can be paused, resumed and cancelled', async () => {
    for (let number = 0; number < 5; number++) await givenSubscriber(`a${number}@mail.example`);
    const id = await givenMailing({ perHour: 120 });
    await setState(id, 'scheduled');
    await step();
    expect(await queued()).toBe(2);
    expect((await setState(id, 'paused')).body.state).toBe('paused');
    startWorkers();
    await waitFor(async () => (await queued()) === 0);
    expect(smtp.taken).toEqual([]);
    service.setClock(new Date(NOW.getTime() + 10 * MINUTE));
    await step();
    expect(await queued()).toBe(0);
    expect((await setState(id, 'sending')).body.state).toBe('sending');
    await step();
    await waitFor(() => smtp.taken.length === 2);
    await waitFor(async () => (await queued()) === 0);
    expect((await setState(id, 'cancelled')).body).toMatchObject({
      state: 'cancelled',
      endDate: expect.any(String),
    });
    service.setClock(new Date(NOW.getTime() + 20 * MINUTE));
    await step();
    expect(await results(id)).toEqual({ state: 'cancelled', recipients: 5, sent: 2 });
    expect(smtp.taken.length).toBe(2);
  });

  test('who unsubscribes before the email is sent does not get it', async () => {
    for (const name of ['ada', 'ben']) await givenSubscriber(`${name}@mail.example`);
    const id = await givenMailing();
    await setState(id, 'scheduled');
    await step();
    await service.db.run(sql`
      update newsletter_subscriber set subscribed = false where email = 'ben@mail.example'`);
    await sendAll(id);
    expect(sentTo()).toEqual(['ada@mail.example']);
    expect(await results(id)).toEqual({ state: 'sent', recipients: 2, sent: 1, skipped: 1 });
  });

  test('emails of orders go first', async () => {
    for (let number = 0; number < 30; number++) await givenSubscriber(`a${number}@mail.example`);
    const id = await givenMailing();
    await setState(id, 'scheduled');
    await step();
    const facts = { productName: 'Tea', productNumber: 'TE-1' };
    await service.db.transaction((tx) =>
      queueEmails(
        tx,
        'Harbour',
        availabilityEmail,
        Array.from({ length: 30 }, (_, index) => ({
          to: `buyer${index}@mail.example`,
          locale: 'en_GB',
          facts,
        })),
      ),
    );
    startWorkers();
    await waitFor(() => smtp.taken.length === 60, 20_000);
    const isBuyer = smtp.taken.map(({ to }) => to[0]!.startsWith('buyer'));
    // The last twenty of them are being sent when the first of the mailing are taken.
    expect(isBuyer.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => true));
    expect(isBuyer.lastIndexOf(true)).toBeLessThan(50);
  });

  test('a step that another process has taken over does nothing', async () => {
    await givenSubscriber('ada@mail.example');
    const id = await givenMailing();
    await setState(id, 'scheduled');
    await Promise.all([step(), step(), step()]);
    expect(await queued()).toBe(1);
    expect((await service.db.many(sql`select * from job`)).length).toBe(1);
  });

  test('goes on where a process has died, and sends nothing twice', async () => {
    for (let number = 0; number < 3; number++) await givenSubscriber(`a${number}@mail.example`);
    const id = await givenMailing();
    await setState(id, 'scheduled');
    await step();
    // The jobs are there again, as if a process had died after it had sent the emails and recorded that.
    const jobs = await service.db.many<Record<string, unknown>>(sql`select row_to_json(job) as row from job`);
    startWorkers();
    await waitFor(() => smtp.taken.length === 3);
    await waitFor(async () => (await service.db.many(sql`select * from job`)).length === 0);
    for (const { row } of jobs)
      await service.db.run(
        sql`insert into job select * from json_populate_record(null::job, ${JSON.stringify(row)}::json)`,
      );
    await waitFor(async () => (await service.db.many(sql`select * from job`)).length === 0);
    expect(smtp.taken.length).toBe(3);
    // A lease of the runner that was not released.
    await service.db.run(sql`update mailing_run set run_at = ${new Date(NOW.getTime() + MINUTE)}`);
    await sendAll(id);
    expect(await results(id)).toEqual({ state: 'sent', recipients: 3, sent: 3 });
  });

  test('stops when the pages of the shop are not public, because nobody could unsubscribe', async () => {
    await givenSubscriber('ada@mail.example');
    const id = await givenMailing();
    await setState(id, 'scheduled');
    await service.db.transaction((tx) => applySettings(tx, 'Harbour', { publicCatalogue: false }));
    await step();
    expect(await get(id)).toMatchObject({ state: 'paused', problem: 'shopNotPublic' });
    expect((await setState(id, 'sending')).status).toBe(409);
    expect(await queued()).toBe(0);
    await service.db.transaction((tx) => applySettings(tx, 'Harbour', { publicCatalogue: true }));
    expect((await setState(id, 'sending')).body).toMatchObject({
      startDate: '2026-11-18T10:00:00Z',
      problem: null,
    });
    await step();
    expect(await queued()).toBe(1);
  });

  test('a test goes to one address, and counts nowhere', async () => {
    await givenSubscriber('ada@mail.example');
    const id = await givenMailing();
    await service.db.transaction((tx) =>
      queueTest(tx, 'Harbour', { mailingId: id, to: 'owner@harbour.example', locale: 'de_DE' }),
    );
    startWorkers();
    await waitFor(() => smtp.taken.length === 1);
    expect(smtp.taken[0]!.to).toEqual(['owner@harbour.example']);
    expect(smtp.taken[0]!.text).toContain('Subject: [Test] Neues vom Hafen');
    expect(await results(id)).toEqual({ state: 'draft' });
  });
});

describe('bounces and complaints', () => {
  const report = (...items: { email: string; type: string }[]) =>
    service.call('POST', '/manage/shops/Harbour/newsletter-bounces', { token, body: { items } });
  const bounces = () => service.db.many(sql`select email, kind from newsletter_bounce order by email`);

  test('an address that the server does not know is not written to again', async () => {
    for (const name of ['ada', 'ben', 'cleo']) await givenSubscriber(`${name}@mail.example`);
    smtp.unknown.set('ben@mail.example', '550 5.1.1 no such user');
    smtp.unknown.set('cleo@mail.example', '554 5.7.1 not from you');
    const id = await givenMailing();
    await setState(id, 'scheduled');
    await sendAll(id);
    expect(await results(id)).toEqual({ state: 'sent', recipients: 3, sent: 1, bounced: 1, refused: 1 });
    expect(await bounces()).toEqual([{ email: 'ben@mail.example', kind: 'bounced' }]);
    smtp.unknown.clear();
    const second = await givenMailing();
    service.setClock(new Date(NOW.getTime() + 60 * MINUTE));
    await setState(second, 'scheduled');
    await step();
    expect((await results(second))['recipients']).toBe(2);
  });

  test.each([
    [{ responseCode: 550, command: 'RCPT TO', response: '550 5.1.1 unknown' }, 'bounced'],
    [{ responseCode: 550, command: 'RCPT TO', response: '550 no such user' }, 'bounced'],
    [{ responseCode: 552, command: 'RCPT TO', response: '552 5.2.2 full' }, 'refused'],
    [{ responseCode: 550, command: 'RCPT TO', response: '550 5.7.1 relaying denied' }, 'refused'],
    [{ responseCode: 554, command: 'DATA', response: '554 spam' }, 'refused'],
    [{ responseCode: 535, command: 'AUTH PLAIN', response: '535 wrong' }, undefined],
    [{ responseCode: 550, command: 'MAIL FROM', response: '550 5.1.8 sender' }, undefined],
    [{ responseCode: 451, command: 'RCPT TO', response: '451 later' }, undefined],
    [{ code: 'ECONNECTION' }, undefined],
  ])('%j is %s', (error, outcome) => {
    expect(finalOutcome(error)).toBe(outcome);
  });

  test('a mailing stops by itself when the server refuses fifty emails one after the other', async () => {
    for (let index = 0; index < 70; index++) {
      const email = `${String(index).padStart(3, '0')}@mail.example`;
      await givenSubscriber(email);
      smtp.unknown.set(email, '550 5.7.1 relaying denied');
    }
    const id = await givenMailing();
    await setState(id, 'scheduled');
    await sendUntilPaused(id);
    const stopped = await get(id);
    expect(stopped).toMatchObject({ state: 'paused', problem: 'allRefused' });
    // A few were on their way when it stopped.
    expect(stopped.results.refused).toBeGreaterThanOrEqual(50);
    expect(stopped.results.refused).toBeLessThan(60);
    smtp.unknown.clear();
    await setState(id, 'sending');
    await sendAll(id);
    expect(await results(id)).toEqual({
      state: 'sent',
      recipients: 70,
      sent: 70 - stopped.results.refused,
      refused: stopped.results.refused,
    });
  });

  test('a mailing stops at once when the server refuses the password, and loses nobody', async () => {
    for (let index = 0; index < 5; index++) await givenSubscriber(`${index}@mail.example`);
    smtp.answers.set('AUTH', '535 5.7.8 wrong password');
    const id = await givenMailing();
    await setState(id, 'scheduled');
    const login = { SMTP_URL: `smtp://shop:secret@${smtp.host}/?requireTLS=false` };
    await sendUntilPaused(id, login);
    expect(await get(id)).toMatchObject({
      problem: 'serverRefuses',
      results: { sent: 0, refused: 0, bounced: 0 },
    });
    smtp.answers.clear();
    await setState(id, 'sending');
    await sendAll(id);
    expect(await results(id)).toEqual({ state: 'sent', recipients: 5, sent: 5 });
  });

  test('are reported by a mail provider, once', async () => {
    for (const name of ['ada', 'ben']) {
      await givenSubscriber(`${name}@mail.example`);
      await givenSubscriber(`${name}@mail.example`, 'Post');
    }
    const id = await givenMailing();
    await setState(id, 'scheduled');
    await sendAll(id);
    const items = [
      { email: 'Ada@mail.example', type: 'complained' },
      { email: 'ben@mail.example', type: 'bounced' },
      { email: 'stranger@mail.example', type: 'bounced' },
    ];
    for (let time = 0; time < 2; time++) {
      expect((await report(...items)).status).toBe(204);
      expect(await results(id)).toEqual({ state: 'sent', recipients: 2, sent: 1, bounced: 1, complained: 1 });
    }
    expect(await bounces()).toEqual([
      { email: 'ada@mail.example', kind: 'complained' },
      { email: 'ben@mail.example', kind: 'bounced' },
    ]);
    const subscribed = await service.db.many(sql`
      select distinct email from newsletter_subscriber where subscribed order by email`);
    expect(subscribed).toEqual([{ email: 'ben@mail.example' }]);
  });

  test('need their scopes and a form', async () => {
    await givenSubscriber('ada@mail.example');
    const reader = await givenToken(service, 'Harbour', ['newsletters_read']);
    await changesNothing(service, async () => {
      const item = { email: 'ada@mail.example', type: 'bounced' };
      const answer = await service.call('POST', '/manage/shops/Harbour/newsletter-bounces', {
        token: reader,
        body: { items: [item] },
      });
      expect(answer.status).toBe(403);
      expect((await report({ email: 'ada', type: 'bounced' })).status).toBe(400);
      expect((await report({ email: 'ada@mail.example', type: 'soft' })).status).toBe(400);
      expect((await report()).status).toBe(400);
    });
  });
});

describe('unsubscribing', () => {
  async function givenSent(): Promise<{ id: string; link: string }> {
    for (const name of ['ada', 'ben']) await givenSubscriber(`${name}@mail.example`);
    await givenSubscriber('ada@mail.example', 'Post');
    const id = await givenMailing({ newsletters: [newsletters['Tide']] });
    await setState(id, 'scheduled');
    await sendAll(id);
    const key = await installationKey(service.config);
    const link = newsletterTokens(key).unsubscribingFrom('Harbour', id, 'ada@mail.example');
    return { id, link: `/newsletter/unsubscribe/mailing?token=${link}` };
  }
  const subscriptions = () =>
    service.db.many(sql`
      select email, identifier from newsletter_subscriber join newsletter_campaign using (shop_id, campaign_id)
      where subscribed order by email, identifier`);
  const ALL = [
    { email: 'ada@mail.example', identifier: 'Post' },
    { email: 'ada@mail.example', identifier: 'Tide' },
    { email: 'ben@mail.example', identifier: 'Tide' },
  ];

  test.each([
    ['application/x-www-form-urlencoded', 'List-Unsubscribe=One-Click'],
    [
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n',
    ],
  ])('happens at once with a POST of a program without a cookie (%s)', async (type, payload) => {
    const { id, link } = await givenSent();
    const answer = await service.app.inject({
      method: 'POST',
      url: `/shop/Harbour${link}`,
      headers: { host: 'localhost', 'content-type': type },
      payload,
    });
    expect([answer.statusCode, answer.headers.location]).toEqual([200, undefined]);
    expect(await subscriptions()).toEqual(ALL.filter((_, index) => index !== 1));
    expect(await results(id)).toEqual({ state: 'sent', recipients: 2, sent: 2, unsubscribed: 1 });
  });

  test('asks first when the link is opened, and counts once', async () => {
    const { id, link } = await givenSent();
    const visitor = givenVisitor(service, 'Harbour');
    const page = await visitor.get(link);
    expect(mainOf(page)).toBe(
      'Unsubscribe This address will no longer receive: ada@mail.example Tide letter Unsubscribe',
    );
    expect(await subscriptions()).toEqual(ALL);
    for (let time = 0; time < 2; time++) expect((await visitor.post(link, {})).status).toBe(200);
    expect((await results(id))['unsubscribed']).toBe(1);
  });

  test('takes no link that was changed, or of another shop', async () => {
    const { id } = await givenSent();
    const key = await installationKey(service.config);
    const tokens = newsletterTokens(key);
    for (const wrong of [
      '',
      'x',
      `${tokens.unsubscribingFrom('Harbour', id, 'ada@mail.example')}x`,
      tokens.unsubscribingFrom('Other', id, 'ada@mail.example'),
      tokens.unsubscribing('Harbour', 'ada@mail.example'),
    ]) {
      const visitor = givenVisitor(service, 'Harbour');
      const link = `/newsletter/unsubscribe/mailing?token=${encodeURIComponent(wrong)}`;
      expect((await visitor.get(link)).status).toBe(404);
      expect((await visitor.post(link, {})).status).toBe(404);
    }
    expect(await subscriptions()).toEqual(ALL);
  });

  test('works after the mailing was deleted, from all newsletters', async () => {
    const { id, link } = await givenSent();
    service.setClock(new Date(NOW.getTime() + 60 * MINUTE));
    expect((await call('DELETE', `/${id}`)).status).toBe(204);
    expect((await givenVisitor(service, 'Harbour').post(link, {})).status).toBe(200);
    expect(await subscriptions()).toEqual([ALL[2]]);
  });
});

test('who was sent a mailing is forgotten after 30 days, and the counts stay', async () => {
  await givenSubscriber('ada@mail.example');
  const id = await givenMailing();
  await setState(id, 'scheduled');
  await sendAll(id);
  const ended = new Date((await get(id)).endDate as string);
  const count = async () => (await service.db.many(sql`select * from mailing_recipient`)).length;
  service.setClock(new Date(ended.getTime() + 29 * 86_400_000));
  expect(await mailingCleanup.run(service.db, 100)).toBe(0);
  expect(await count()).toBe(1);
  service.setClock(new Date(ended.getTime() + 30 * 86_400_000));
  await mailingCleanup.run(service.db, 100);
  expect(await mailingCleanup.run(service.db, 100)).toBe(0);
  expect(await count()).toBe(0);
  expect(await results(id)).toEqual({ state: 'sent', recipients: 1, sent: 1 });
});

test('a sandbox sends by its own clock, also when it was advanced', async () => {
  await service.db.run(sql`update shop set sandbox_of = 'Other' where shop_id = 'Harbour'`);
  await service.db.run(
    sql`update shop set settings_version = settings_version + 1 where shop_id = 'Harbour'`,
  );
  const advance = (by: string) =>
    service.call('POST', '/manage/shops/Harbour/clock', { token, body: { advance: by } });
  await givenSubscriber('ada@mail.example');
  expect((await advance('30d')).status).toBe(200);
  const now = await givenMailing();
  expect((await setState(now, 'scheduled')).status).toBe(200);
  await sendAll(now);

  service.setClock(NOW);
  const later = await givenMailing();
  // Ten days after the 18th of December, which is today in the sandbox.
  expect((await setState(later, 'scheduled', { sendAt: '2026-12-28T10:00:00Z' })).status).toBe(200);
  await step();
  expect((await get(later)).state).toBe('scheduled');
  expect((await advance('11d')).status).toBe(200);
  await sendAll(later);
  expect(await service.db.many(sql`select recipient from sandbox_email where shop_id = 'Harbour'`)).toEqual([
    { recipient: 'ada@mail.example' },
    { recipient: 'ada@mail.example' },
  ]);
  expect(smtp.taken).toEqual([]);
});
