import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../test/admin.ts';
import { givenShop } from '../../test/builders.ts';
import { changesNothing, statementsOf } from '../../test/carts.ts';
import { startService, type CallOptions, type Service } from '../../test/service.ts';
import { staffOf } from '../admin/users/staff.ts';
import { sql } from '../db/sql.ts';
import { HOST_SCOPES } from '../http/scopes.ts';
import { emailDueMessages } from './message-sender.ts';
import { createHostToken } from './tokens.ts';

const NOW = new Date('2026-11-19T10:00:00Z');

let service: Service;
let token: string;
let owner: Merchant;

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ANONYMOUS: '0' });
  token = await service.db.transaction((tx) => createHostToken(tx, { name: 'monitor', scopes: HOST_SCOPES }));
  for (const shopId of ['Tea', 'Coffee', 'Wine']) await givenShop(service, shopId);
  await service.db.run(sql`update shop set plan = 'small' where shop_id = 'Coffee'`);
  owner = await givenMerchant(service, 'owner', 'Tea', 'owner@tea.example');
});
afterAll(() => service.close());
beforeEach(async () => {
  service.setClock(NOW);
  for (const { messageId } of (await host('GET', '')).body.items) await host('DELETE', `/${messageId}`);
  await service.db.run(sql`delete from job`);
});

const host = (method: string, path: string, options: CallOptions = {}) =>
  service.call(method, `/host/messages${path}`, { token, ...options });

const MESSAGE = {
  texts: { en: 'Maintenance <b>on Sunday</b>', de: 'Wartung am Sonntag' },
  level: 'info',
  until: '2026-11-23T04:00:00Z',
};

const given = async (more: object = {}) => {
  const { status, body } = await host('POST', '', { body: { ...MESSAGE, ...more } });
  expect(status).toBe(201);
  return body;
};

describe('a message', () => {
  test('is created, read, listed, changed and deleted', async () => {
    const created = await given();
    const { messageId } = created;
    expect(created).toEqual({
      messageId: expect.stringMatching(/^[0-9A-F-]{36}$/),
      texts: MESSAGE.texts,
      level: 'info',
      from: '2026-11-19T10:00:00.000Z',
      until: '2026-11-23T04:00:00.000Z',
      plans: null,
      shopIds: null,
      isPublic: false,
      createdAt: '2026-11-19T10:00:00.000Z',
      changedAt: '2026-11-19T10:00:00.000Z',
      isBeingEmailed: false,
    });
    expect((await host('GET', `/${messageId}`)).body).toEqual(created);
    const other = await given({ level: 'warning' });
    expect((await host('GET', '')).body.items).toEqual([other, created]);
    service.setClock(new Date(NOW.getTime() + 1000));
    const changed = await host('PATCH', `/${messageId}`, { body: { level: 'warning', plans: ['small'] } });
    expect(changed.body).toEqual({
      ...created,
      level: 'warning',
      plans: ['small'],
      changedAt: '2026-11-19T10:00:01.000Z',
    });
    expect((await host('DELETE', `/${messageId}`)).status).toBe(204);
    expect((await host('GET', `/${messageId}`)).status).toBe(404);
    expect((await host('DELETE', `/${messageId}`)).status).toBe(404);
  });

  test.each([
    [{ texts: {} }, 'texts.en'],
    [{ texts: { en: ' ' } }, 'texts.en'],
    [{ texts: { en: 'x'.repeat(1_001) } }, 'texts.en'],
    [{ level: 'loud' }, 'level'],
    [{ until: 'Sunday' }, 'until'],
    [{ until: '2026-11-19T09:00:00Z' }, 'until'],
    [{ from: '2026-11-24T00:00:00Z' }, 'until'],
    [{ shopIds: [] }, 'shopIds'],
    [{ plans: Array.from({ length: 51 }, () => 'small') }, 'plans'],
  ])('%j is refused', async (changes, field) => {
    await changesNothing(service, async () => {
      const { status, body } = await host('POST', '', { body: { ...MESSAGE, ...changes } });
      expect([status, body.details ?? body.errors ?? JSON.stringify(body)]).toEqual([400, expect.anything()]);
      expect(JSON.stringify(body)).toContain(field);
    });
  });

  test('there are at most 200', async () => {
    await service.db.run(sql`
      insert into host_message (message_id, level, texts, starts_at, ends_at, is_public, created_at, changed_at)
      select gen_random_uuid(), 'info', '{"en": "x"}', ${NOW}, ${new Date('2026-11-20')}, false, ${NOW}, ${NOW}
      from generate_series(1, 200)`);
    const { status, headers } = await host('POST', '', { body: MESSAGE });
    expect([status, headers['x-error-code']]).toEqual([409, 'TOO_MANY_HOST_MESSAGES']);
    await service.db.run(sql`delete from host_message`);
  });
});

describe('in the admin of a shop', () => {
  const seen = async (who = owner) =>
    [...(await who.get('')).text.matchAll(/data-host-message="([^"]*)"[^]*?<span>([^]*?)<\/span>/g)].map(
      ([, messageId, text]) => [messageId, text],
    );

  test('it is shown while it lasts, to the shops and plans concerned, as text', async () => {
    const all = await given();
    const coffee = await givenMerchant(service, 'owner', 'Coffee', 'owner@coffee.example');
    const small = await given({ plans: ['small'], level: 'warning' });
    const tea = await given({ shopIds: ['Tea', 'Nowhere'], level: 'warning' });
    const standard = await given({ plans: [''], level: 'warning' });
    await given({ from: '2026-11-20T00:00:00Z' });
    const text = 'Maintenance &lt;b&gt;on Sunday&lt;/b&gt;';
    // The warnings begin at the same moment, so their ids decide.
    const texts = (...messages: { messageId: string }[]) =>
      messages.map(({ messageId }) => [messageId, text]);
    expect(await seen()).toEqual(texts(all, tea, standard));
    expect(await seen(coffee)).toEqual(texts(all, small));
    service.setClock(new Date('2026-11-23T04:00:00Z'));
    expect(await seen()).toEqual([]);
  });

  test('everybody puts away an info for themselves, and nobody a warning', async () => {
    const info = await given();
    const warning = await given({ level: 'warning' });
    const colleague = await givenMerchant(service, 'orders', 'Tea', 'orders@tea.example');
    for (const { messageId } of [info, warning]) {
      expect((await owner.post(`/host-messages/${messageId}/dismiss`)).status).toBe(303);
    }
    expect((await seen()).map(([messageId]) => messageId)).toEqual([warning.messageId]);
    expect(await seen(colleague)).toHaveLength(2);
    expect((await owner.post('/host-messages/nothing/dismiss')).status).toBe(404);
  });
});

describe('by email', () => {
  const emails = async () =>
    (
      await service.db.many<{ shopId: string; to: string; template: string; text: string }>(sql`
        select shop_id as "shopId", content ->> 'to' as "to", content ->> 'template' as template,
          content -> 'facts' ->> 'text' as text
        from job order by shop_id, content ->> 'to'`)
    ).map(({ shopId, to, template, text }) => [shopId, to, template, text]);

  test('each owner gets it once, whatever the number of shops, and also after a second round', async () => {
    await givenMerchant(service, 'owner', 'Wine', 'owner@tea.example');
    await givenMerchant(service, 'orders', 'Wine', 'orders@wine.example');
    await givenMerchant(service, 'owner', 'Wine', 'owner@wine.example');
    const { messageId, isBeingEmailed } = await given({ isEmailed: true, shopIds: ['Tea', 'Wine'] });
    expect(isBeingEmailed).toBe(true);
    await emailDueMessages(service.db, staffOf(service.config));
    const text = 'Maintenance <b>on Sunday</b>';
    const expected = [
      ['Tea', 'owner@tea.example', 'hostMessage', text],
      ['Wine', 'owner@wine.example', 'hostMessage', text],
    ];
    expect(await emails()).toEqual(expected);
    expect((await host('GET', `/${messageId}`)).body.isBeingEmailed).toBe(false);
    await service.db.run(sql`update host_message set email_due_at = ${NOW}, emailed_to = ''`);
    await emailDueMessages(service.db, staffOf(service.config));
    expect(await emails()).toEqual(expected);
  });

  test('nobody gets one that nobody asked for', async () => {
    await given();
    await emailDueMessages(service.db, staffOf(service.config));
    expect(await emails()).toEqual([]);
  });
});

describe('the status page', () => {
  const status = async (headers: Record<string, string> = {}, url = '/status') => {
    const answer = await service.app.inject({
      method: 'GET',
      url,
      headers: { host: 'localhost', ...headers },
    });
    const main = /<main[^>]*>(.*)<\/main>/s.exec(answer.body)?.[1] ?? '';
    return {
      code: answer.statusCode,
      language: /<html lang="(..)"/.exec(answer.body)?.[1],
      text: main
        .replaceAll(/<[^>]*>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
      cache: answer.headers['cache-control'],
    };
  };

  test('says that everything works, in three languages, and may be cached for seconds', async () => {
    expect(await status()).toEqual({
      code: 200,
      language: 'en',
      text: 'Everything works Status Shops and admin: works Search: works Emails: works',
      cache: 'public, max-age=5',
    });
    expect(await status({ 'accept-language': 'fr-CH, en' })).toMatchObject({
      language: 'fr',
      text: expect.stringContaining('Tout fonctionne'),
    });
    expect(await status({}, '/status?lang=de')).toMatchObject({
      language: 'de',
      text: expect.stringContaining('Alles funktioniert'),
    });
    expect(await status({}, '/status?lang=de&lang=fr')).toMatchObject({ code: 200, language: 'en' });
  });

  test('shows current and coming messages that are public, and no others', async () => {
    await given({ texts: { en: 'Now public' }, isPublic: true });
    await given({ texts: { en: 'Later public' }, isPublic: true, from: '2026-11-22T02:00:00Z' });
    await given({ texts: { en: 'For shops only' } });
    const { text } = await status();
    expect(text).toContain(
      'Messages Now public Nov 19, 2026, 10:00 AM UTC – Nov 23, 2026, 4:00 AM UTC Status Shops',
    );
    expect(text).toContain('Planned Later public Nov 22, 2026, 2:00 AM UTC – Nov 23, 2026, 4:00 AM UTC');
    expect(text).not.toContain('For shops only');
  });

  test('costs no statement while an answer is fresh', async () => {
    await status();
    const statements = await statementsOf(async () => {
      for (let time = 0; time < 50; time++) expect((await status()).code).toBe(200);
    });
    expect(statements).toEqual([]);
  });
});
