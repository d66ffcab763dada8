import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changesNothing, queuedEmails } from '../../../test/carts.ts';
import { givenOtherShop, startDemo } from '../../../test/demo.ts';
import { waitFor } from '../../../test/process.ts';
import type { Service } from '../../../test/service.ts';
import { givenVisitor, mainOf, type Visitor } from '../../../test/visitor.ts';
import { installationKey } from '../../platform/sealing.ts';
import { sql } from '../../db/sql.ts';
import { startEmails } from '../../composition/emails.ts';
import { newsletterTokens, type NewsletterTokens } from '../../people/newsletters/links.ts';
import { requestCleanup } from '../../people/newsletters/queries.ts';

const NOW = new Date('2026-11-15T08:30:00Z');
const DAY = 86_400_000;
const WREN = 'wren@mail.example';

let service: Service;
let visitor: Visitor;
let tokens: NewsletterTokens;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0' }, NOW);
  tokens = newsletterTokens(await installationKey(service.config));
  await givenOtherShop(service);
});
afterAll(() => service.close());
beforeEach(async () => {
  service.setClock(NOW);
  await service.db.run(sql`delete from job`);
  await service.db.run(sql`delete from newsletter_request`);
  await service.db.run(sql`delete from newsletter_subscriber where email in (${WREN}, 'uwe@mail.example')`);
  visitor = givenVisitor(service, 'DemoShop');
});

const requests = () =>
  service.db.many(sql`
    select shop_id as shop, identifier, email, request.name from newsletter_request request
    join newsletter_campaign using (shop_id, campaign_id) order by shop, identifier`);
const subscriptions = (email = WREN) =>
  service.db.many(sql`
    select shop_id as shop, identifier, subscriber.name, subscribed from newsletter_subscriber subscriber
    join newsletter_campaign using (shop_id, campaign_id) where email = ${email} order by shop, identifier`);

const ask = (email = WREN, fields: Record<string, string> = {}, query = '') =>
  visitor.post(`/newsletter${query}`, { email, ...fields });

/** Asks, and takes the token out of what the mail will be made of. */
async function asked(email = WREN, fields: Record<string, string> = {}): Promise<string> {
  expect((await ask(email, fields)).status).toBe(303);
  const { facts } = (await queuedEmails(service)).at(-1)!;
  return tokens.confirming('DemoShop', String(facts['requestId']));
}

describe('the form', () => {
  test('offers the newsletter of the language, and leads to the privacy policy', async () => {
    const english = await visitor.get('/newsletter');
    expect(english.status).toBe(200);
    expect(mainOf(english)).toBe(
      'Newsletter News and offers by email. You confirm your address first, and you can unsubscribe at any time. ' +
        'Tide letter What the sea brought in this month Email address Name (optional) ' +
        'How we use your address: Privacy Subscribe',
    );
    expect(english.text).not.toContain('type="checkbox"');
    const german = await visitor.get('/newsletter?locale=de_DE');
    expect(mainOf(german)).toContain('Gezeitenbrief');
    expect(mainOf(german)).not.toContain('Tide letter');
    expect(german.text).toContain('action="/shop/DemoShop/newsletter?locale=de_DE"');
  });

  test('of a shop without newsletters does not exist', async () => {
    const other = givenVisitor(service, 'EmptyShop');
    expect((await other.get('/newsletter')).status).toBe(404);
    expect((await other.post('/newsletter', { email: WREN })).status).toBe(404);
  });

  test.each([
    ['no address', '', 'Please enter an email address'],
    ['no @', 'wren.mail.example', 'Please enter an email address'],
    ['two addresses', 'a@mail.example,b@mail.example', 'Please enter an email address'],
    ['a line break', 'wren@mail.example\nbcc: all', 'Please enter an email address'],
    ['a very long address', `${'w'.repeat(250)}@mail.example`, 'Please enter an email address'],
  ])('with %s is shown again, with what was typed', async (_, email, reason) => {
    const answer = await changesNothing(service, () => ask(email, { name: 'Wren "Q"' }));
    expect(answer.status).toBe(400);
    expect(mainOf(answer)).toContain(reason);
    expect(answer.text).toContain('value="Wren &quot;Q&quot;"');
    expect(answer.text).toMatch(/id="email"[^>]*\saria-invalid="true" aria-describedby="email-error"/);
  });

  test('with a very long name is refused', async () => {
    const answer = await changesNothing(service, () => ask(WREN, { name: 'x'.repeat(101) }));
    expect(answer.status).toBe(400);
    expect(mainOf(answer)).toContain('at most 100 characters');
  });

  test('of a language without a newsletter offers all, and asks to choose', async () => {
    await service.db.run(sql`
      delete from newsletter_campaign where shop_id = 'OtherShop' and identifier = 'Empty_FR'`);
    await service.db.run(sql`
      update shop set settings_version = settings_version + 1 where shop_id = 'OtherShop'`);
    const other = givenVisitor(service, 'OtherShop');
    const { text } = await other.get('/newsletter?locale=fr_FR');
    const boxes = [...text.matchAll(/type="checkbox"\s+name="([^"]+)"/g)].map(([, name]) => name!);
    expect(boxes).toHaveLength(2);
    expect(text).not.toContain('checked');

    const refused = await changesNothing(service, () =>
      other.post('/newsletter?locale=fr_FR', { email: WREN }),
    );
    expect(refused.status).toBe(400);
    expect(mainOf(refused)).toContain('Veuillez choisir au moins une newsletter.');
    expect(refused.text).toContain(`value="${WREN}"`);

    const fields = { email: WREN, ...Object.fromEntries(boxes.map((name) => [name, 'yes'])) };
    expect((await other.post('/newsletter?locale=fr_FR', fields)).status).toBe(303);
    expect(await requests()).toMatchObject([
      { shop: 'OtherShop', identifier: 'TideLetter_DE' },
      { shop: 'OtherShop', identifier: 'TideLetter_EN' },
    ]);
    const mails = await queuedEmails(service);
    expect(mails).toMatchObject([
      { shopId: 'OtherShop', locale: 'fr_FR', facts: { newsletters: ['Tide letter', 'Gezeitenbrief'] } },
    ]);
    const token = tokens.confirming('OtherShop', String(mails[0]!.facts['requestId']));
    await other.submit('/newsletter/confirm', { token });
    expect(await subscriptions()).toMatchObject([
      { shop: 'OtherShop', identifier: 'TideLetter_DE', subscribed: true },
      { shop: 'OtherShop', identifier: 'TideLetter_EN', subscribed: true },
    ]);
  });
});

describe('asking', () => {
  test('subscribes nobody, and sends one mail', async () => {
    const { status, headers } = await ask('Wren@Mail.example', { name: ' Wren ' });
    expect([status, headers.location]).toEqual([303, '/shop/DemoShop/newsletter/sent']);
    expect(await requests()).toEqual([
      { shop: 'DemoShop', identifier: 'TideLetter_EN', email: WREN, name: 'Wren' },
    ]);
    expect(await subscriptions()).toEqual([]);
    expect(await queuedEmails(service)).toEqual([
      {
        shopId: 'DemoShop',
        to: 'Wren@Mail.example',
        locale: 'en_GB',
        template: 'newsletter',
        facts: { requestId: expect.any(String), newsletters: ['Tide letter'] },
      },
    ]);
    expect(mainOf(await visitor.get('/newsletter/sent'))).toContain('Please check your inbox');
  });

  test('leaves no token in the database', async () => {
    const token = await asked();
    const { rows } = await service.db.pool.query<{ rows: number }>(
      `select count(*)::int as rows from (
        select to_jsonb(entry)::text as text from newsletter_request entry
        union all select to_jsonb(entry)::text from job entry) all_rows where strpos(text, $1) > 0`,
      [token],
    );
    expect(rows).toEqual([{ rows: 0 }]);
  });

  test('answers the same whether the address is known or not', async () => {
    const [known] = await service.db.many<{ email: string }>(sql`
      select email from newsletter_subscriber where shop_id = 'DemoShop' and subscribed limit 1`);
    const first = await ask(WREN);
    const second = await ask(known!.email);
    expect([second.status, second.headers.location]).toEqual([first.status, first.headers.location]);
    expect(await queuedEmails(service)).toHaveLength(2);
  });

  test('sends no more than three mails a day to one address, and says nothing of it', async () => {
    for (const email of [WREN, 'WREN@mail.example', WREN, WREN, WREN]) {
      expect((await ask(email)).headers.location).toBe('/shop/DemoShop/newsletter/sent');
    }
    expect(await queuedEmails(service)).toHaveLength(1);
    service.setClock(new Date(NOW.getTime() + 1));
    await ask();
    service.setClock(new Date(NOW.getTime() + 2));
    await ask();
    service.setClock(new Date(NOW.getTime() + 3));
    await ask();
    expect(await queuedEmails(service)).toHaveLength(3);
    service.setClock(new Date(NOW.getTime() + DAY + 1));
    await ask();
    expect(await queuedEmails(service)).toHaveLength(4);
  });

  test('at the same time sends no more either', async () => {
    service.setClock(undefined);
    await Promise.all(Array.from({ length: 8 }, () => ask()));
    expect((await queuedEmails(service)).length).toBeLessThanOrEqual(3);
  });
});

describe('the link in the mail', () => {
  test('opened alone subscribes nobody; its button does, once', async () => {
    const token = await asked(WREN, { name: 'Wren' });
    const page = await changesNothing(service, () => visitor.get(`/newsletter/confirm?token=${token}`));
    expect(page.status).toBe(200);
    expect(mainOf(page)).toBe(
      `Confirm your subscription This address will receive the newsletters below. ${WREN} Tide letter Confirm subscription`,
    );
    expect(page.text).toContain(`name="token" value="${token}"`);

    const confirmed = await visitor.submit('/newsletter/confirm', { token });
    expect(mainOf(confirmed)).toContain('Thank you, you are subscribed');
    expect(await subscriptions()).toEqual([
      { shop: 'DemoShop', identifier: 'TideLetter_EN', name: 'Wren', subscribed: true },
    ]);
    expect(await requests()).toEqual([]);

    const again = await changesNothing(service, () => visitor.post('/newsletter/confirm', { token }));
    expect(again.status).toBe(404);
    expect(mainOf(again)).toContain('This link is no longer valid');
    expect(again.text).toContain('action="/shop/DemoShop/newsletter"');
  });

  test('brings back who had unsubscribed, and keeps the name when none is given', async () => {
    await visitor.submit('/newsletter/confirm', { token: await asked(WREN, { name: 'Wren' }) });
    await visitor.submit('/newsletter/unsubscribe', { token: tokens.unsubscribing('DemoShop', WREN) });
    expect(await subscriptions()).toMatchObject([{ subscribed: false }]);
    await visitor.submit('/newsletter/confirm', { token: await asked() });
    expect(await subscriptions()).toMatchObject([{ name: 'Wren', subscribed: true }]);
  });

  test('is good for seven days', async () => {
    const token = await asked();
    service.setClock(new Date(NOW.getTime() + 7 * DAY));
    for (const answer of [
      await visitor.get(`/newsletter/confirm?token=${token}`),
      await visitor.post('/newsletter/confirm', { token }),
    ]) {
      expect(answer.status).toBe(404);
      expect(mainOf(answer)).toContain('older than 7 days');
    }
    expect(await subscriptions()).toEqual([]);
    expect(await requestCleanup.run(service.db, 10)).toBe(0);
    service.setClock(new Date(NOW.getTime() + 7 * DAY + 1));
    expect(await requestCleanup.run(service.db, 10)).toBe(1);
  });

  test.each(['', 'x', 'A'.repeat(43), '%00'])('with the token %s is not valid', async (token) => {
    await asked();
    const answers = await changesNothing(service, async () => [
      await visitor.get(`/newsletter/confirm?token=${token}`),
      await visitor.post('/newsletter/confirm', { token }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  });

  test('is of no use in another shop', async () => {
    const token = await asked();
    const other = givenVisitor(service, 'OtherShop');
    expect((await other.get(`/newsletter/confirm?token=${token}`)).status).toBe(404);
    expect((await other.post('/newsletter/confirm', { token })).status).toBe(404);
    expect(await requests()).toHaveLength(1);
  });

  test('stands in the mail, which the worker signs', async () => {
    const token = await asked(WREN, { name: 'Wren' });
    await visitor.post('/newsletter?locale=de_DE', { email: 'uwe@mail.example' });
    const worker = startEmails({
      db: service.db,
      config: service.config,
      log: pino({ level: 'silent' }),
      origin: 'https://shop.example',
      pause: 10,
    });
    await waitFor(async () => (await queuedEmails(service)).length === 0);
    await worker.stop();
    const written = path.join(service.config.KONTOR_DATA, 'mails');
    const texts = await Promise.all(
      (await readdir(written)).map(async (name) =>
        unfolded(await readFile(path.join(written, name), 'utf8')),
      ),
    );
    const english = texts.find((text) => text.includes(`To: ${WREN}`))!;
    expect(english).toContain(`https://shop.example/shop/DemoShop/newsletter/confirm?token=${token}`);
    expect(english).toContain(
      `https://shop.example/shop/DemoShop/newsletter/unsubscribe?token=${tokens.unsubscribing('DemoShop', WREN)}`,
    );
    const german = texts.find((text) => text.includes('To: uwe@mail.example'))!;
    expect(german).toContain('/newsletter/confirm?locale=de_DE&token=');
    expect(german).toContain('Anmeldung bestätigen');
  });
});

/** The lines of a mail are cut by quoted-printable. */
const unfolded = (mail: string) =>
  Buffer.from(
    mail
      .replaceAll('=\r\n', '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();

describe('unsubscribing', () => {
  test('is a button behind a signed link', async () => {
    await visitor.submit('/newsletter/confirm', { token: await asked() });
    await ask();
    const token = tokens.unsubscribing('DemoShop', WREN);
    const page = await changesNothing(service, () => visitor.get(`/newsletter/unsubscribe?token=${token}`));
    expect(mainOf(page)).toBe(
      `Unsubscribe This address will no longer receive our newsletters. ${WREN} Unsubscribe`,
    );
    const done = await visitor.submit('/newsletter/unsubscribe', { token });
    expect(mainOf(done)).toContain('You have unsubscribed');
    expect(await subscriptions()).toMatchObject([{ identifier: 'TideLetter_EN', subscribed: false }]);
    expect(await requests()).toEqual([]);
  });

  test('is named after confirming', async () => {
    const { text } = await visitor.submit('/newsletter/confirm', { token: await asked() });
    expect(text).toContain(
      `href="/shop/DemoShop/newsletter/unsubscribe?token=${tokens.unsubscribing('DemoShop', WREN)}"`,
    );
  });

  test('with a link that is not ours does nothing', async () => {
    await visitor.submit('/newsletter/confirm', { token: await asked() });
    const good = tokens.unsubscribing('DemoShop', WREN);
    const email = Buffer.from('uwe@mail.example').toString('base64url');
    for (const token of [
      '',
      'x',
      good.slice(0, -1),
      `${email}.${good.split('.')[1]}`,
      tokens.unsubscribing('OtherShop', WREN),
    ]) {
      const answers = await changesNothing(service, async () => [
        await visitor.get(`/newsletter/unsubscribe?token=${token}`),
        await visitor.post('/newsletter/unsubscribe', { token }),
        await visitor.get(`/newsletter/confirmed?token=${token}`),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    }
    expect(await subscriptions()).toMatchObject([{ subscribed: true }]);
  });
});
