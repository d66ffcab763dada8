import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { deleteApp, resealWebhookSecrets } from '../apps.ts';
import { installationKey, unseal } from '../../platform/sealing.ts';
import { deliveryCleanup } from './delivery-queries.ts';

let service: Service;
let shopId: string;
let token: string;
let count = 0;

beforeAll(async () => {
  // A service that others can call: receivers must be outside.
  service = await startService({ HOST: '0.0.0.0' });
});

afterAll(() => service.close());

beforeEach(async () => {
  service.setClock(undefined);
  shopId = `Webhooks${(count += 1)}`;
  await givenShop(service, shopId);
  token = await givenToken(service, shopId);
});

const RECEIVER = 'https://salesanalyticsapp.example/callback';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const create = (body: unknown = { callbackUrl: RECEIVER, eventType: 'ORDER_CREATE' }, caller = token) =>
  service.call('POST', `/${shopId}/webhooks`, { token: caller, body });

const given = async (caller = token): Promise<string> => {
  const { status, body } = await create(undefined, caller);
  expect(status).toBe(201);
  return body.webhookId;
};

const rows = () =>
  service.db.many<Record<string, unknown>>(
    sql`select * from webhook where shop_id = ${shopId} order by webhook_id`,
  );

describe('the calls of the contract', () => {
  test('create, get, list, switch off and delete, byte for byte', async () => {
    service.setClock(new Date('2026-11-16T12:16:18.623Z'));
    const made = await create();
    const { webhookId } = made.body;
    const self = `http://localhost:80/rs/shops/${shopId}/webhooks/${webhookId}`;
    const shown = (id: string, at: string, active = true) =>
      `{"${id}":"${webhookId}","active":${active},"eventType":"ORDER_CREATE","callbackUrl":"${RECEIVER}",` +
      `"createdOn":"2026-11-16T12:16:18${at}","updatedOn":"2026-11-16T12:16:18${at}",` +
      `"links":[{"rel":"self","href":"${self}"}]}`;
    expect(made.status).toBe(201);
    expect(made.text).toBe(shown('webhookId', '.623Z'));
    const got = await service.call('GET', `/${shopId}/webhooks/${webhookId}`, { token });
    expect(got.text).toBe(shown('webhookId', 'Z'));
    const list = await service.call('GET', `/${shopId}/webhooks`, { token });
    expect(list.text).toBe(
      `{"links":[{"rel":"self","href":"http://localhost:80/rs/shops/${shopId}/webhooks/"}],` +
        `"content":[${shown('id', 'Z')}],"page":{"size":20,"totalElements":1,"totalPages":1,"number":0}}`,
    );
    for (const [body, headers, active] of [
      ['active=false', FORM, false],
      ['active=true', FORM, true],
      [{ active: false }, {}, false],
      [{ active: 'true' }, {}, true],
    ] as const) {
      const changed = await service.call('POST', `/${shopId}/webhooks/${webhookId}`, {
        token,
        body,
        headers,
      });
      expect(changed.status).toBe(200);
      expect(changed.text).toBe(shown('webhookId', 'Z', active));
    }
    const deleted = await service.call('DELETE', `/${shopId}/webhooks/${webhookId}`, { token });
    expect(deleted).toMatchObject({ status: 204, text: '' });
    expect(await rows()).toEqual([]);
  });

  test('pages count from 0, and their size has a maximum', async () => {
    const ids = [await given(), await given(), await given()];
    const page = async (query: string) =>
      (await service.call('GET', `/${shopId}/webhooks${query}`, { token })).body as {
        content: { id: string }[];
        page: object;
      };
    const second = await page('?size=2&page=1');
    expect(second.content.map(({ id }) => id)).toEqual([ids[2]]);
    expect(second.page).toEqual({ size: 2, totalElements: 3, totalPages: 2, number: 1 });
    expect(await page('?size=1000&page=7')).toMatchObject({
      content: [],
      page: { size: 100, totalElements: 3, totalPages: 1, number: 7 },
    });
    expect(await page('?page=2147483648')).toMatchObject({
      content: [],
      page: { size: 20, totalElements: 3, totalPages: 1, number: 2_147_483_648 },
    });
    expect(await page(`?page=${'9'.repeat(400)}`)).toMatchObject({
      content: [],
      page: { size: 20, totalElements: 3, totalPages: 1, number: Number.MAX_SAFE_INTEGER },
    });
    for (const query of ['?page=-1', '?size=0', '?page=x', '?page=Infinity']) {
      expect((await service.call('GET', `/${shopId}/webhooks${query}`, { token })).status).toBe(400);
    }
  });

  test('can be created inactive', async () => {
    const { body } = await create({ callbackUrl: RECEIVER, eventType: 'STOCK_LOW', active: false });
    expect(body).toMatchObject({ active: false, eventType: 'STOCK_LOW' });
  });
});

describe('what is refused, and changes nothing', () => {
  test.each([
    [{}, 'validation error MISSING on field callbackUrl'],
    [{ callbackUrl: RECEIVER }, 'validation error MISSING on field eventType'],
    [
      { callbackUrl: RECEIVER, eventType: 'ORDERS_CREATE' },
      'validation error UNKNOWN_VALUE on field eventType',
    ],
    [{ callbackUrl: 'erp', eventType: 'ORDER_CREATE' }, 'validation error WRONG_FORMAT on field callbackUrl'],
    [
      { callbackUrl: 'https://', eventType: 'ORDER_CREATE' },
      'validation error WRONG_FORMAT on field callbackUrl',
    ],
    [
      { callbackUrl: `https://e.example/${'x'.repeat(2000)}`, eventType: 'ORDER_CREATE' },
      'validation error TOO_LONG on field callbackUrl',
    ],
    [
      { callbackUrl: 'http://erp.example/hook', eventType: 'ORDER_CREATE' },
      'callbackUrl must be an https address',
    ],
    [
      { callbackUrl: 'https://169.254.169.254/latest', eventType: 'ORDER_CREATE' },
      'callbackUrl must be reachable at a public address',
    ],
    [
      { callbackUrl: 'https://erp.example:25/', eventType: 'ORDER_CREATE' },
      'callbackUrl must have the port 443 or one above 1023',
    ],
  ])('%j', async (body, text) => {
    for (const path of [`/${shopId}/webhooks`, `/manage/shops/${shopId}/webhooks`]) {
      const answer = await service.call('POST', path, { token, body });
      expect(answer.status).toBe(400);
      expect(answer.body.message).toContain(text);
    }
    expect(await rows()).toEqual([]);
  });

  test('an event type whose scope the token lacks', async () => {
    const caller = await givenToken(service, shopId, ['products_read']);
    const answer = await create(undefined, caller);
    expect(answer.status).toBe(403);
    expect(answer.body.message).toMatch(/^The token lacks the scope orders_read, /);
    expect(await rows()).toEqual([]);
    expect((await create({ callbackUrl: RECEIVER, eventType: 'APP_UNINSTALL' }, caller)).status).toBe(201);
  });

  test('a form without a word of sense', async () => {
    const webhookId = await given();
    const before = await rows();
    for (const body of ['', 'active=', 'active=yes', 'active=true&active=false', 'other=true']) {
      const answer = await service.call('POST', `/${shopId}/webhooks/${webhookId}`, {
        token,
        body,
        headers: FORM,
      });
      expect(answer.status).toBe(400);
    }
    expect(await rows()).toEqual(before);
  });

  test('the webhook of another app, and of another shop', async () => {
    const webhookId = await given();
    const foreignApp = await givenToken(service, shopId);
    await givenShop(service, `${shopId}Other`);
    const foreignShop = await givenToken(service, `${shopId}Other`);
    const before = await rows();
    for (const [shop, caller] of [
      [shopId, foreignApp],
      [`${shopId}Other`, foreignShop],
    ] as const) {
      const manage = `/manage/shops/${shop}/webhooks/${webhookId}`;
      const calls = [
        ['GET', `/${shop}/webhooks/${webhookId}`],
        ['POST', `/${shop}/webhooks/${webhookId}`, { active: false }],
        ['DELETE', `/${shop}/webhooks/${webhookId}`],
        ['POST', `${manage}/secret`],
        ['GET', `${manage}/deliveries`],
        ['POST', `${manage}/deliveries/${newId(new Date())}/redeliver`],
        ['POST', `${manage}/replay`, { from: 1 }],
        ['POST', `${manage}/test`],
      ] as const;
      for (const [method, path, body] of calls) {
        const answer = await service.call(method, path, { token: caller, ...(body && { body }) });
        expect(`${method} ${path} ${answer.status}`).toBe(`${method} ${path} 404`);
      }
      const list = await service.call('GET', `/${shop}/webhooks`, { token: caller });
      expect(list.body.content).toEqual([]);
    }
    expect(await rows()).toEqual(before);
  });

  test('the 10,001st webhook of a shop', async () => {
    await given();
    await service.db.run(sql`
      insert into webhook (shop_id, webhook_id, app_id, event_type, callback_url, active, created_at, updated_at, position)
      select shop_id, gen_random_uuid(), app_id, event_type, callback_url, false, created_at, updated_at, position
      from webhook cross join generate_series(1, 9998) where shop_id = ${shopId}`);
    const answers = await Promise.all([create(), create(), create()]);
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      201, 409, 409,
    ]);
    expect(answers.find(({ status }) => status === 409)!.body.message).toMatch(
      /^A shop has at most 10000 webhooks, delete one first, /,
    );
    expect(await rows()).toHaveLength(10_000);
  });

  test('a delivery that there is not', async () => {
    const webhookId = await given();
    for (const deliveryId of [newId(new Date()), webhookId]) {
      const path = `/manage/shops/${shopId}/webhooks/${webhookId}/deliveries/${deliveryId}/redeliver`;
      expect((await service.call('POST', path, { token })).status).toBe(404);
    }
  });
});

describe('secrets', () => {
  test('are shown once and lie in the database sealed', async () => {
    const made = await service.call('POST', `/manage/shops/${shopId}/webhooks`, {
      token,
      body: { callbackUrl: RECEIVER, eventType: 'ORDER_CREATE' },
      headers: { 'idempotency-key': 'once' },
    });
    expect(made.status).toBe(201);
    expect(made.headers['cache-control']).toBe('no-store');
    const { secret, webhookId } = made.body as { secret: string; webhookId: string };
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const [row] = await rows();
    expect(unseal(await installationKey(service.config), row!['secret_sealed'] as Buffer)).toBe(secret);
    const got = await service.call('GET', `/${shopId}/webhooks/${webhookId}`, { token });
    expect(got.text).not.toContain('whsec_');
    // A repeated request gets the same answer, so it is stored: sealed, too.
    const stored = await service.db.many<{ answer: string }>(sql`
      select idempotent_answer::text as answer from idempotent_answer where shop_id = ${shopId}`);
    expect(stored).toHaveLength(1);
    expect(stored[0]!.answer).not.toContain(secret.slice('whsec_'.length));
    expect(stored[0]!.answer).not.toContain('whsec_');
  });

  test('of a restored shop are sealed again, or the webhook waits for a new one', async () => {
    const webhookId = await given();
    const key = await installationKey(service.config);
    const [{ secret_sealed: sealed }] = (await rows()) as [{ secret_sealed: Buffer }];
    const other = Buffer.alloc(32, 7);
    const reseal = (own: Buffer, former?: Buffer) =>
      service.db.transaction((tx) => resealWebhookSecrets(tx, shopId, { own, former }));
    expect(await reseal(other, key)).toBe(0);
    const [moved] = (await rows()) as [{ secret_sealed: Buffer; active: boolean }];
    expect(unseal(other, moved.secret_sealed)).toBe(unseal(key, sealed));
    expect(moved.active).toBe(true);

    expect(await reseal(key)).toBe(1);
    expect(await rows()).toMatchObject([{ secret_sealed: null, active: false }]);
    const activate = () =>
      service.call('POST', `/${shopId}/webhooks/${webhookId}`, { token, body: { active: true } });
    expect((await activate()).status).toBe(409);
    expect(
      (await service.call('POST', `/manage/shops/${shopId}/webhooks/${webhookId}/test`, { token })).status,
    ).toBe(409);
    const made = await service.call('POST', `/manage/shops/${shopId}/webhooks/${webhookId}/secret`, {
      token,
    });
    expect(made).toMatchObject({ status: 200, body: { formerSecretUntil: null } });
    expect((await activate()).status).toBe(200);
  });
});

test('uninstalling an app deletes its webhooks, but for active ones that want to hear of it', async () => {
  const caller = await givenToken(service, shopId, undefined, 'Leaving');
  await given(caller);
  await create({ callbackUrl: RECEIVER, eventType: 'APP_UNINSTALL', active: false }, caller);
  const { body } = await create({ callbackUrl: RECEIVER, eventType: 'APP_UNINSTALL' }, caller);
  await service.db.transaction((tx) => deleteApp(tx, shopId, 'Leaving'));
  expect(await rows()).toMatchObject([
    { webhook_id: body.webhookId.toLowerCase(), app_id: null, active: true },
  ]);
  const events = await service.call('GET', `/manage/shops/${shopId}/events?types=APP_UNINSTALL`, { token });
  expect(events.body.items).toMatchObject([
    { eventType: 'APP_UNINSTALL', resource: 'app', data: { name: 'Leaving' } },
  ]);
});

test('deliveries are cleaned up with their events', async () => {
  const webhookId = await given();
  for (const [position, at] of [
    [1, '2026-11-16T10:00:00Z'],
    [2, '2026-11-17T10:00:00Z'],
  ] as const) {
    await service.db.run(sql`
      insert into webhook_delivery (shop_id, webhook_id, position, status, attempts, created_at)
      values (${shopId}, ${webhookId}, ${position}, 'delivered', 1, ${new Date(at)})`);
  }
  service.setClock(new Date('2026-12-16T10:00:01Z'));
  expect(await deliveryCleanup(30).run(service.db, 100)).toBe(1);
  const { body } = await service.call('GET', `/manage/shops/${shopId}/webhooks/${webhookId}/deliveries`, {
    token,
  });
  expect(body.items.map(({ position }: { position: number }) => position)).toEqual([2]);
});
