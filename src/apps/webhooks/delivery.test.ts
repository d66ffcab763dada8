import { createHmac } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { Webhook } from 'standardwebhooks';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { startReceiver, type Receiver } from '../../../test/receiver.ts';
import { startService, type Service } from '../../../test/service.ts';
import { startWebhooks, type WebhookWorkDeps } from '../../composition/background.ts';
import { startEmails } from '../../composition/emails.ts';
import { sql } from '../../db/sql.ts';
import { newId, newSecret, secretHash } from '../../kernel/ids.ts';
import type { Background } from '../../platform/background.ts';
import { recordEvents, type NewEvent } from '../../platform/events/log.ts';
import { createApp, deleteApp } from '../apps.ts';
import { insertToken } from '../queries.ts';
import { installationKey } from '../../platform/sealing.ts';
import { WEBHOOKS_CHANGED } from './worker.ts';

const log = pino({ level: 'silent' });
const ORIGIN = 'https://api.shop.example';
/** Milliseconds after which the worker has looked again, so that what has not been sent until then is not sent. */
const LONG_ENOUGH = 350;

let service: Service;
let receiver: Receiver;
let shopId: string;
let token: string;
let count = 0;
let running: Background[] = [];

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.close());

beforeEach(async () => {
  service.setClock(undefined);
  shopId = `Hooks${(count += 1)}`;
  await givenShop(service, shopId);
  token = await givenToken(service, shopId);
  receiver = await startReceiver();
});

afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()));
  running = [];
  // What a test has left must not be delivered in the next one.
  await service.db.run(sql`update webhook set active = false`);
  await receiver.close();
});

const startWorker = (options: Partial<WebhookWorkDeps> = {}): Background => {
  const { app, db, config } = service;
  const { demoAccess } = app;
  const worker = startWebhooks({ db, config, demoAccess, log, origin: ORIGIN, pause: 20, ...options });
  running.push(worker);
  return worker;
};

interface Created {
  webhookId: string;
  secret: string;
}

const create = async (
  eventType = 'ORDER_CREATE',
  { url = receiver.url, caller = token, shop = shopId } = {},
): Promise<Created> => {
  const { status, body } = await service.call('POST', `/manage/shops/${shop}/webhooks`, {
    token: caller,
    body: { callbackUrl: url, eventType },
  });
  expect(status).toBe(201);
  return body as Created;
};

const manage = (method: string, rest: string, body?: unknown) =>
  service.call(method, `/manage/shops/${shopId}/webhooks/${rest}`, {
    token,
    ...(body !== undefined && { body }),
  });

const record = (...events: NewEvent[]) => recordIn(shopId, ...events);
const recordIn = (shop: string, ...events: NewEvent[]) =>
  service.db.transaction(async (tx) => recordEvents(tx, shop, events));
const order = (resourceId = newId(new Date())): NewEvent => ({ type: 'ORDER_CREATE', resourceId });

interface Shown {
  deliveryId: string;
  position: number;
  status: string;
  attempts: number;
  statusCode: number | null;
  error: string | null;
  answer: string | null;
  nextTryOn: string | null;
}

const deliveries = async ({ webhookId }: Created, query = ''): Promise<Shown[]> => {
  const { status, body } = await manage('GET', `${webhookId}/deliveries${query}`);
  expect(status).toBe(200);
  return body.items;
};

/** Waits until what a test expects is true. */
const eventually = async <Result>(
  read: () => Promise<Result>,
  isDone: (result: Result) => boolean,
): Promise<Result> => {
  for (let tries = 0; ; tries++) {
    const result = await read();
    if (isDone(result)) return result;
    if (tries === 300) throw new Error(`It did not happen: ${JSON.stringify(result)}`);
    await sleep(20);
  }
};

const statesOf = (webhook: Created, states: Record<number, string>) =>
  eventually(
    () => deliveries(webhook, '?limit=100'),
    (shown) =>
      shown.length === Object.keys(states).length &&
      shown.every(({ position, status }) => states[position] === status),
  );

describe('a delivery', () => {
  test('has the body of the contract, and both kinds of signatures', async () => {
    startWorker();
    const webhook = await create();
    const event = order();
    service.setClock(new Date('2026-11-16T10:00:00.500Z'));
    await record(event);
    const [call] = await receiver.until(1);
    expect(call!.method).toBe('POST');
    expect(call!.path).toBe('/hook');
    expect(call!.text).toBe(
      JSON.stringify({
        id: webhook.webhookId,
        baseUrl: `${ORIGIN}/rs/shops/${shopId}`,
        entityUrl: `${ORIGIN}/rs/shops/${shopId}/orders/${event.resourceId}`,
        createdOn: '2026-11-16T10:00:00Z',
        eventType: 'ORDER_CREATE',
        entity: {},
      }),
    );
    const { headers, text } = call!;
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Kontor',
      'webhook-timestamp': String(Date.parse('2026-11-16T10:00:00Z') / 1000),
    });
    // A private app has no client secret, so both are made with that of the webhook.
    const key = Buffer.from(webhook.secret.slice('whsec_'.length), 'base64');
    expect(key).toHaveLength(32);
    const signed = `${headers['webhook-id'] as string}.${headers['webhook-timestamp'] as string}.${text}`;
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
    );
    expect(headers['x-epages-hmac-sha256']).toBe(
      createHmac('sha256', webhook.secret).update(text).digest('base64'),
    );
    const [shown] = await statesOf(webhook, { 1: 'delivered' });
    expect(shown).toMatchObject({ attempts: 1, statusCode: 200, answer: 'ok', error: null, nextTryOn: null });
    expect(headers['webhook-id']).toBe(`evt_${shown!.deliveryId.toLowerCase().replaceAll('-', '')}`);
  });

  test('is signed with the client secret of an installed app, and the library accepts it', async () => {
    startWorker();
    const key = await installationKey(service.config);
    const { clientSecret, caller } = await service.db.transaction(async (tx) => {
      const app = await createApp(tx, key, shopId, {
        name: 'ERP',
        callbackUrl: 'https://erp.example/install',
        scopes: ['orders_read'],
      });
      const text = newSecret(32);
      await insertToken(tx, shopId, {
        tokenHash: secretHash(text),
        appId: app.clientId,
        scopes: ['orders_read'],
      });
      return { ...app, caller: text };
    });
    const { secret } = await create('ORDER_CREATE', { caller });
    await record(order());
    const [call] = await receiver.until(1);
    expect(call!.headers['x-epages-hmac-sha256']).toBe(
      createHmac('sha256', clientSecret).update(call!.text).digest('base64'),
    );
    expect(new Webhook(secret).verify(call!.text, call!.headers as Record<string, string>)).toEqual(
      call!.body,
    );
  });

  test('holds the entity as its GET answers it, and for types of our own what changed', async () => {
    startWorker();
    const made = await service.call('POST', `/${shopId}/customers`, {
      token,
      body: { billingAddress: { emailAddress: 'ada@mail.example', country: 'DE' } },
    });
    const webhook = await create('CUSTOMER_CREATE');
    await create('SETTINGS_CHANGED', { url: `${receiver.url}/settings` });
    await record(
      { type: 'CUSTOMER_CREATE', resourceId: made.body.customerId, data: { by: 'test' } },
      { type: 'SETTINGS_CHANGED', resourceId: null, data: { changed: ['name'] } },
    );
    const calls = await receiver.until(2);
    const get = async (rest: string) =>
      JSON.parse(
        (await service.call('GET', `/${shopId}${rest}`, { token })).text.replaceAll(
          'http://localhost:80',
          ORIGIN,
        ),
      );
    expect(calls.find(({ path }) => path === '/hook')!.body).toMatchObject({
      id: webhook.webhookId,
      entity: await get(`/customers/${made.body.customerId}`),
      data: { by: 'test' },
    });
    expect(calls.find(({ path }) => path === '/hook/settings')!.body).toMatchObject({
      entityUrl: `${ORIGIN}/rs/shops/${shopId}`,
      entity: await get(''),
      data: { changed: ['name'] },
    });
  });

  test('holds a hidden product for an app whose token may read it, and only for that', async () => {
    startWorker();
    const made = await service.call('POST', `/${shopId}/products`, { token, body: { name: 'Hidden clock' } });
    const { productId } = made.body;
    const inShop = async (caller: string) => {
      const { status, text } = await service.call('GET', `/${shopId}/products/${productId}`, {
        token: caller,
      });
      return status === 200 ? JSON.parse(text.replaceAll('http://localhost:80', ORIGIN)) : {};
    };
    const reader = await givenToken(service, shopId, ['products_read']);
    const writer = await givenToken(service, shopId, ['products_read', 'products_write']);
    const former = await givenToken(service, shopId, ['products_read']);
    // A second token of the third app could read it, but has ended.
    await service.db.transaction(async (tx) => {
      const { appId } = (await tx.one<{ appId: string }>(sql`
        select app_id as "appId" from token where shop_id = ${shopId} and token_hash = ${secretHash(former)}`))!;
      await insertToken(tx, shopId, {
        tokenHash: secretHash(newSecret(32)),
        appId,
        scopes: ['products_read', 'products_write'],
        expiresAt: new Date(tx.now.getTime() - 1),
      });
    });
    for (const [name, caller] of Object.entries({ reader, writer, former })) {
      await create('PRODUCT_UPDATE', { url: `${receiver.url}/${name}`, caller });
    }
    await service.call('PATCH', `/${shopId}/products/${productId}`, {
      token,
      body: [{ op: 'add', path: '/minStocklevel', value: 3 }],
    });
    const calls = await receiver.until(3);
    const entityOf = (name: string) => calls.find(({ path }) => path === `/hook/${name}`)!.body.entity;
    expect(await inShop(writer)).toMatchObject({ productId, visible: false, minStocklevel: 3 });
    expect(entityOf('writer')).toEqual(await inShop(writer));
    expect([entityOf('reader'), await inShop(reader)]).toEqual([{}, {}]);
    expect([entityOf('former'), await inShop(former)]).toEqual([{}, {}]);
  });

  test('has the custom fields that the app may read, for the webhooks that include them', async () => {
    startWorker();
    const owner = await givenToken(service, shopId, undefined, 'Care');
    const define = async (field: object) => {
      const body = {
        resource: 'product',
        namespace: 'care',
        type: 'text',
        readableBy: 'merchant',
        writableBy: 'owner',
        ...field,
      };
      const made = await service.call('POST', `/manage/shops/${shopId}/custom-fields`, {
        token: owner,
        body,
      });
      expect(made.status).toBe(201);
    };
    await define({
      key: 'washing',
      name: { en_GB: 'Washing' },
      type: 'choice',
      choices: [{ key: 'cold', label: { en_GB: 'Cold wash' } }],
    });
    await define({ key: 'secret', name: { en_GB: 'Secret' }, readableBy: 'owner' });
    await define({ key: 'opening', name: { en_GB: 'Opening' }, resource: 'shop' });
    const made = await service.call('POST', `/${shopId}/products`, {
      token,
      body: { name: 'Pillow', visible: true },
    });
    const path = `/manage/shops/${shopId}/products/${made.body.productId}/custom-fields`;
    const patchFields = async (at: string, fields: object) => {
      const { status } = await service.call('PATCH', at, { token: owner, body: { fields } });
      expect(status).toBe(200);
    };
    const including = async (name: string, eventType: string, caller: string) => {
      const { status, body } = await service.call('POST', `/manage/shops/${shopId}/webhooks`, {
        token: caller,
        body: { callbackUrl: `${receiver.url}/${name}`, eventType, includeFields: true },
      });
      expect(status).toBe(201);
      expect(body).toMatchObject({ includeFields: true });
      return body as Created;
    };
    await including('owner', 'PRODUCT_UPDATE', owner);
    const other = await including('other', 'PRODUCT_UPDATE', token);
    await create('PRODUCT_UPDATE', { url: `${receiver.url}/plain` });
    // The contract's own operation ignores what it does not know.
    const old = await service.call('POST', `/${shopId}/webhooks`, {
      token,
      body: { callbackUrl: `${receiver.url}/old`, eventType: 'PRODUCT_UPDATE', includeFields: 'yes' },
    });
    expect(old.status).toBe(201);
    expect(Object.keys(old.body).toSorted()).toEqual([
      'active',
      'callbackUrl',
      'createdOn',
      'eventType',
      'links',
      'updatedOn',
      'webhookId',
    ]);
    await patchFields(path, { 'care.washing': 'cold', 'care.secret': 'down' });
    const calls = await receiver.until(4);
    const bodyOf = (name: string) => calls.find((call) => call.path === `/hook/${name}`)!.body as object;
    const washing = {
      namespace: 'care',
      key: 'washing',
      name: 'Washing',
      type: 'choice',
      value: 'cold',
      label: 'Cold wash',
    };
    const secret = { namespace: 'care', key: 'secret', name: 'Secret', type: 'text', value: 'down' };
    const contract = ['id', 'baseUrl', 'entityUrl', 'createdOn', 'eventType', 'entity'];
    expect(Object.keys(bodyOf('plain'))).toEqual(contract);
    expect(Object.keys(bodyOf('old'))).toEqual(contract);
    expect(Object.keys(bodyOf('owner'))).toEqual([...contract, 'fields']);
    expect(bodyOf('owner')).toMatchObject({ fields: [washing, secret] });
    expect(bodyOf('other')).toEqual({ ...bodyOf('plain'), id: other.webhookId, fields: [washing] });

    // Every app hears of the settings; the fields of the shop need the scope of its API.
    const orders = await givenToken(service, shopId, ['orders_read'], 'Orders');
    await including('shop', 'SETTINGS_CHANGED', owner);
    await including('without-scope', 'SETTINGS_CHANGED', orders);
    await patchFields(`/manage/shops/${shopId}/shop/custom-fields`, { 'care.opening': 'at nine' });
    const [one, two] = (await receiver.until(6)).slice(4);
    const opening = { namespace: 'care', key: 'opening', name: 'Opening', type: 'text', value: 'at nine' };
    expect(
      Object.fromEntries([one!, two!].map((call) => [call.path, (call.body as { fields?: unknown }).fields])),
    ).toEqual({ '/hook/shop': [opening], '/hook/without-scope': [] });

    // What is gone has none.
    await including('gone', 'PRODUCT_DELETE', owner);
    await service.call('DELETE', `/${shopId}/products/${made.body.productId}`, { token });
    const [gone] = (await receiver.until(7)).slice(6);
    expect(gone!.body).toMatchObject({ eventType: 'PRODUCT_DELETE', entity: {}, fields: [] });
    const tested = await manage('POST', `${other.webhookId}/test`);
    expect(tested.body).toMatchObject({ isDelivered: true });
    expect((await receiver.until(8))[7]!.body).toMatchObject({ fields: [], data: { test: true } });
  });

  test('comes in order per resource, and resources do not wait for each other', async () => {
    startWorker();
    await create('ORDER_UPDATE');
    const [slow, fast] = [newId(new Date()), newId(new Date())];
    const update = (resourceId: string): NewEvent => ({ type: 'ORDER_UPDATE', resourceId });
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    receiver.answer = (call, response) => {
      if (call.body.entityUrl.endsWith(slow)) void held.then(() => response.end());
      else response.end();
    };
    await record(update(slow), update(slow), update(fast), update(fast), update(slow));
    const paths = (calls: typeof receiver.calls) =>
      calls.map(({ body }) => (body.entityUrl.endsWith(slow) ? 'slow' : 'fast'));
    // The second one of the slow resource waits for the first.
    expect(paths(await receiver.until(3)).toSorted()).toEqual(['fast', 'fast', 'slow']);
    await sleep(LONG_ENOUGH);
    expect(receiver.calls).toHaveLength(3);
    release();
    const all = await receiver.until(5);
    expect(paths(all).slice(3)).toEqual(['slow', 'slow']);
    const ids = all
      .filter(({ body }) => body.entityUrl.endsWith(slow))
      .map(({ headers }) => Number.parseInt((headers['webhook-id'] as string).slice(-12), 16));
    expect(ids).toEqual([1, 2, 5]);
  });

  test('is only for its type, and a flood of others moves the position without a call', async () => {
    startWorker();
    const webhook = await create();
    const other: NewEvent = { type: 'PRODUCT_UPDATE', resourceId: newId(new Date()) };
    await record(...Array.from({ length: 250 }, () => other));
    await eventually(
      () =>
        service.db.one<{ position: number }>(
          sql`select position from webhook where shop_id = ${shopId} and webhook_id = ${webhook.webhookId}`,
        ),
      (row) => row!.position === 250,
    );
    await record(order());
    const [call] = await receiver.until(1);
    expect(call!.body.eventType).toBe('ORDER_CREATE');
    expect(receiver.calls).toHaveLength(1);
  });
});

describe('a slow receiver', () => {
  test('does not delay another one of the same shop, nor another shop', async () => {
    startWorker({ timeout: 60_000 });
    const slow = await startReceiver();
    slow.answer = () => {};
    await create('ORDER_CREATE', { url: slow.url });
    await create('ORDER_CREATE', { url: `${slow.url}/again` });
    await record(...Array.from({ length: 200 }, () => order()));
    await slow.until(8);
    await create();
    await givenShop(service, `${shopId}Other`);
    const caller = await givenToken(service, `${shopId}Other`);
    await create('ORDER_CREATE', { url: `${receiver.url}/other`, caller, shop: `${shopId}Other` });
    await record(order());
    await recordIn(`${shopId}Other`, order());
    const calls = await receiver.until(2);
    expect(calls.map(({ path }) => path).toSorted()).toEqual(['/hook', '/hook/other']);
    // Not more than eight calls of one receiver are under way.
    expect(slow.calls).toHaveLength(8);
    await slow.close();
  });
});

const MINUTE = 60_000;
const SCHEDULE = [60, 180, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 50_400, 86_400];

describe('a failing receiver', () => {
  test('is tried eleven times more, then the webhook is deactivated, and an email says so', async () => {
    startWorker();
    const webhook = await create();
    receiver.answer = (_call, response) => response.writeHead(503).end('closed');
    let now = Date.parse('2026-11-16T10:00:00Z');
    service.setClock(new Date(now));
    const [first, second] = [order(), order()];
    await record(first);
    await record(first, second);
    for (const [index, seconds] of SCHEDULE.entries()) {
      const attempts = index + 1;
      const shown = await eventually(
        () => deliveries(webhook),
        (all) => all.some((one) => one.position === 1 && one.attempts === attempts),
      );
      expect(shown.find(({ position }) => position === 1)).toMatchObject({
        status: 'waiting',
        statusCode: 503,
        answer: 'closed',
        error: 'The receiver answered 503',
        nextTryOn: new Date(now + seconds * 1000).toISOString(),
      });
      now += seconds * 1000;
      const calls = receiver.calls.length;
      // Only the last ones: another event is tried in between.
      if (seconds > 20_000) {
        service.setClock(new Date(now - 1));
        await sleep(LONG_ENOUGH);
        expect(
          receiver.calls.slice(calls).every(({ body }) => !body.entityUrl.endsWith(first.resourceId)),
        ).toBe(true);
      }
      service.setClock(new Date(now));
    }
    await eventually(
      () => manage('GET', `${webhook.webhookId}/deliveries?status=failed`),
      ({ body }) => body.items.length > 0,
    );
    const { body } = await service.call('GET', `/${shopId}/webhooks/${webhook.webhookId}`, { token });
    expect(body).toMatchObject({ active: false, updatedOn: new Date(now).toISOString().replace('.000', '') });
    const ofFirst = receiver.calls.filter((call) => call.body.entityUrl.endsWith(first.resourceId!));
    expect(ofFirst).toHaveLength(12);
    expect(new Set(ofFirst.map(({ headers }) => headers['webhook-id'])).size).toBe(1);

    const folder = path.join(service.config.KONTOR_DATA, 'mails');
    running.push(startEmails({ db: service.db, config: service.config, log, origin: ORIGIN, pause: 20 }));
    const [file] = await eventually(
      () => readdir(folder).catch(() => []),
      (files) => files.some((name) => name.endsWith('.eml')),
    );
    const email = await readFile(path.join(folder, file!), 'utf8');
    expect(email).toContain('To: shop@mail.example');
    expect(email).toContain('Subject: Webhook deactivated: ORDER_CREATE');

    // It goes on with the failed one and all after it, in their order.
    receiver.answer = (_call, response) => response.end();
    const before = receiver.calls.length;
    await record(order());
    await sleep(LONG_ENOUGH);
    expect(receiver.calls).toHaveLength(before);
    service.setClock(new Date(now + 2 * MINUTE));
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const activated = await service.call('POST', `/${shopId}/webhooks/${webhook.webhookId}`, {
      token,
      body: 'active=true',
      headers: form,
    });
    expect(activated).toMatchObject({ status: 200, body: { active: true } });
    await statesOf(webhook, { 1: 'delivered', 2: 'delivered', 3: 'delivered', 4: 'delivered' });
    const later = receiver.calls.slice(before).map(({ headers }) => headers['webhook-id'] as string);
    expect(later.map((id) => Number.parseInt(id.slice(-12), 16)).filter((one) => one < 3)).toEqual([1, 2]);
    expect(later).toHaveLength(4);
  }, 20_000);

  test('pauses all webhooks of its app for a minute, and no others', async () => {
    startWorker();
    const failing = await create();
    await create('PRODUCT_CREATE', { url: `${receiver.url}/same-app` });
    const caller = await givenToken(service, shopId);
    await create('ORDER_CREATE', { url: `${receiver.url}/other-app`, caller });
    receiver.answer = (call, response) => response.writeHead(call.path === '/hook' ? 500 : 200).end();
    const now = Date.parse('2026-11-16T10:00:00Z');
    service.setClock(new Date(now));
    await record(order());
    await statesOf(failing, { 1: 'waiting' });
    await record({ type: 'PRODUCT_CREATE', resourceId: newId(new Date()) }, order());
    const pathsOf = () => receiver.calls.map((call) => call.path).toSorted();
    await eventually(
      async () => pathsOf(),
      (paths) => paths.filter((one) => one.includes('other')).length === 2,
    );
    await sleep(LONG_ENOUGH);
    expect(pathsOf()).toEqual(['/hook', '/hook/other-app', '/hook/other-app']);
    service.setClock(new Date(now + MINUTE));
    await eventually(
      async () => pathsOf(),
      (paths) => paths.includes('/hook/same-app'),
    );
  });

  test('that was down for an hour gets all of it, in order per resource', async () => {
    startWorker();
    const webhook = await create('ORDER_UPDATE');
    const orders = Array.from({ length: 5 }, () => newId(new Date()));
    const start = Date.parse('2026-11-16T10:00:00Z');
    let isDown = true;
    receiver.answer = (_call, response) => response.writeHead(isDown ? 502 : 200).end();
    for (let minute = 0; minute < 60; minute += 3) {
      service.setClock(new Date(start + minute * MINUTE));
      await record(...orders.map((resourceId): NewEvent => ({ type: 'ORDER_UPDATE', resourceId })));
      if (minute % 12 === 0) await sleep(60);
    }
    isDown = false;
    const before = receiver.calls.length;
    for (let hour = 1; hour < 4; hour++) {
      service.setClock(new Date(start + hour * 60 * MINUTE + MINUTE));
      await sleep(150);
    }
    await eventually(
      () => deliveries(webhook, '?limit=1'),
      ([last]) => last?.position === 100 && last.status === 'delivered',
    );
    await eventually(
      () => deliveries(webhook, '?status=waiting'),
      (waiting) => waiting.length === 0,
    );
    const got = receiver.calls.slice(before);
    expect(got).toHaveLength(100);
    for (const [index, orderId] of orders.entries()) {
      const positions = got
        .filter(({ body }) => body.entityUrl.endsWith(orderId))
        .map(({ headers }) => Number.parseInt((headers['webhook-id'] as string).slice(-12), 16));
      expect(positions).toEqual(Array.from({ length: 20 }, (_, turn) => turn * 5 + index + 1));
    }
  }, 20_000);

  test('that times out, answers with a redirect, too much or for ever costs bounded time and memory', async () => {
    startWorker({ timeout: 300 });
    const now = Date.parse('2026-11-16T10:00:00Z');
    service.setClock(new Date(now));
    const target = await startReceiver();
    const answers: Record<string, Receiver['answer']> = {
      silent: () => {},
      redirect: (_call, response) => response.writeHead(307, { location: target.url }).end('elsewhere'),
      endless: (_call, response) => {
        response.write('a');
        const timer = setInterval(() => response.write('b'), 20);
        response.on('close', () => clearInterval(timer));
      },
      huge: (_call, response) => {
        const part = Buffer.alloc(1_048_576, 'x');
        let sent = 0;
        const write = () => {
          while (sent < 200 && !response.destroyed) {
            sent++;
            if (!response.write(part)) return void response.once('drain', write);
          }
          response.end();
        };
        response.on('close', () => (hugeSent = sent));
        write();
      },
      broken: (_call, _response, request) => request.socket.destroy(),
    };
    let hugeSent = 0;
    receiver.answer = (call, response, request) =>
      answers[call.path.replace('/hook/', '')]!(call, response, request);
    const shown: Record<string, unknown> = {};
    for (const name of Object.keys(answers)) {
      const caller = await givenToken(service, shopId);
      const webhook = await create('ORDER_CREATE', { url: `${receiver.url}/${name}`, caller });
      await record(order());
      const [delivery] = await eventually(
        async () => {
          const { body } = await service.call(
            'GET',
            `/manage/shops/${shopId}/webhooks/${webhook.webhookId}/deliveries`,
            { token: caller },
          );
          return body.items as Shown[];
        },
        (items) => items.length > 0,
      );
      shown[name] = [delivery!.status, delivery!.statusCode, delivery!.error, delivery!.answer?.length];
      await service.call('DELETE', `/${shopId}/webhooks/${webhook.webhookId}`, { token: caller });
    }
    expect(shown).toEqual({
      silent: ['waiting', null, 'The receiver did not answer within 0.3 s', 0],
      redirect: ['waiting', 307, 'The receiver answered 307', 9],
      endless: ['waiting', null, 'The receiver did not answer within 0.3 s', 0],
      huge: ['delivered', 200, null, 1_024],
      broken: ['waiting', null, 'The receiver could not be called: ECONNRESET', 0],
    });
    expect(target.calls).toEqual([]);
    await eventually(
      async () => hugeSent,
      (sent) => sent > 0,
    );
    expect(hugeSent).toBeLessThan(50);
    await target.close();
  });
});

describe('processes', () => {
  test('one that dies between sending and recording: another sends again, with the same id', async () => {
    const webhook = await create();
    let isFirst = true;
    receiver.answer = (_call, response) => {
      if (!isFirst) return void response.end();
      isFirst = false;
      // Its lease is taken away while it waits for the answer: what it records then does not count.
      void service.db
        .run(sql`update webhook set lease_id = ${newId(new Date())}, leased_until = ${new Date(0)}
          where shop_id = ${shopId} and webhook_id = ${webhook.webhookId}`)
        .then(() => response.end());
    };
    startWorker();
    await record(order());
    const calls = await receiver.until(2);
    expect(calls[0]!.headers['webhook-id']).toBe(calls[1]!.headers['webhook-id']);
    expect(await statesOf(webhook, { 1: 'delivered' })).toMatchObject([{ attempts: 1 }]);
    await sleep(LONG_ENOUGH);
    expect(receiver.calls).toHaveLength(2);
  });

  test('two of them deliver each event once, and what a third one has written', async () => {
    const beside = await startService({}, service);
    startWorker();
    startWorker({ db: beside.db });
    const webhook = await create('ORDER_UPDATE');
    for (let index = 0; index < 20; index++) {
      await (index % 2 === 0 ? service : beside).db.transaction(async (tx) =>
        recordEvents(tx, shopId, [{ type: 'ORDER_UPDATE', resourceId: newId(tx.now) }]),
      );
    }
    await receiver.until(20);
    await eventually(
      () => deliveries(webhook, '?status=delivered&limit=100'),
      (all) => all.length === 20,
    );
    expect(new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(20);
    expect(receiver.calls).toHaveLength(20);
    await Promise.all(running.map((one) => one.stop()));
    running = [];
    await beside.close();
  });

  test('one that stops records what it has sent', async () => {
    const worker = startWorker();
    const webhook = await create();
    receiver.answer = (_call, response) => void setTimeout(() => response.end(), 100);
    await record(order());
    await receiver.until(1);
    await worker.stop();
    running = [];
    expect(await deliveries(webhook)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
    const lease = await service.db.one(
      sql`select lease_id from webhook where shop_id = ${shopId} and webhook_id = ${webhook.webhookId}`,
    );
    expect(lease).toEqual({ lease_id: null });
  });

  test('one that stops has ended its reads: the database is closed after it', async () => {
    const worker = startWorker({ pause: 60_000 });
    const read = service.db.one.bind(service.db);
    const steps: string[] = [];
    const held = vi.spyOn(service.db, 'one').mockImplementation(async (statement) => {
      steps.push('reads');
      await sleep(100);
      const row = await read(statement);
      steps.push('has read');
      return row;
    });
    onTestFinished(() => held.mockRestore());
    service.db.notices.emit(WEBHOOKS_CHANGED, shopId);
    // The worker has a first look of its own as well, so there may be several.
    await vi.waitFor(() => expect(steps).toContain('reads'));
    await worker.stop();
    running = [];
    const timesOf = (step: string) => steps.filter((one) => one === step).length;
    expect(timesOf('has read')).toBe(timesOf('reads'));
  });
});

describe('by hand', () => {
  test('redeliver sends one again, replay sends all from a position, both with the same ids', async () => {
    startWorker();
    const webhook = await create();
    await record(order(), order(), order());
    await receiver.until(3);
    const [, second] = await statesOf(webhook, { 1: 'delivered', 2: 'delivered', 3: 'delivered' });
    const again = await manage('POST', `${webhook.webhookId}/deliveries/${second!.deliveryId}/redeliver`);
    expect(again).toMatchObject({ status: 200, body: { position: 2, status: 'waiting', attempts: 0 } });
    await receiver.until(4);
    await statesOf(webhook, { 1: 'delivered', 2: 'delivered', 3: 'delivered' });
    expect(await manage('POST', `${webhook.webhookId}/replay`, { from: 2 })).toMatchObject({ status: 200 });
    const calls = await receiver.until(6);
    const idOf = (index: number) => calls[index]!.headers['webhook-id'] as string;
    const positions = calls.map((_, index) => Number.parseInt(idOf(index).slice(-12), 16));
    expect(positions.slice(3, 4)).toEqual([2]);
    expect(positions.slice(4).toSorted((one, other) => one - other)).toEqual([2, 3]);
    expect(new Set(calls.map((_, index) => idOf(index))).size).toBe(3);
  });

  test('replay leaves nothing out that was not delivered yet', async () => {
    const webhook = await create();
    await record(order(), order(), order());
    expect(await manage('POST', `${webhook.webhookId}/replay`, { from: 3 })).toMatchObject({ status: 200 });
    startWorker();
    await receiver.until(3);
    await statesOf(webhook, { 1: 'delivered', 2: 'delivered', 3: 'delivered' });
  });

  test('replay refuses positions that are gone, and those that there never were', async () => {
    const { webhookId } = await create();
    await record(order(), order(), order());
    await service.db.run(sql`delete from event where shop_id = ${shopId} and position < 3`);
    const goneAnswer = await manage('POST', `${webhookId}/replay`, { from: 2 });
    expect(goneAnswer.status).toBe(410);
    expect(goneAnswer.body.message).toMatch(/^The event at 2 is gone, the oldest position is 3, /);
    const beyond = await manage('POST', `${webhookId}/replay`, { from: 4 });
    expect(beyond.status).toBe(400);
    expect(beyond.body.message).toContain('validation error OUT_OF_RANGE on field from');
    const row = await service.db.one(
      sql`select position from webhook where shop_id = ${shopId} and webhook_id = ${webhookId}`,
    );
    expect(row).toEqual({ position: 0 });
  });

  test('a new secret signs at once, and the former one for a day', async () => {
    startWorker();
    const { webhookId, secret: former } = await create();
    const now = Date.parse('2026-11-16T10:00:00Z');
    service.setClock(new Date(now));
    const rotated = await manage('POST', `${webhookId}/secret`);
    expect(rotated).toMatchObject({ status: 200, body: { formerSecretUntil: '2026-11-17T10:00:00.000Z' } });
    const { secret } = rotated.body as Created;
    expect(secret).not.toBe(former);
    const signaturesOf = (index: number, secrets: string[]) => {
      const { headers, text } = receiver.calls[index]!;
      const at = new Date(Number(headers['webhook-timestamp']) * 1000);
      return secrets.map((one) => new Webhook(one).sign(headers['webhook-id'] as string, at, text)).join(' ');
    };
    await record(order());
    await receiver.until(1);
    expect(receiver.calls[0]!.headers['webhook-signature']).toBe(signaturesOf(0, [secret, former]));
    service.setClock(new Date(now + 86_400_000));
    await record(order());
    await receiver.until(2);
    expect(receiver.calls[1]!.headers['webhook-signature']).toBe(signaturesOf(1, [secret]));
  });

  test('an example is sent at once, and the answer says what came back', async () => {
    const { webhookId, secret } = await create('PRODUCT_UPDATE');
    receiver.answer = (_call, response) => response.writeHead(418).end('short and\0 stout');
    const { status, body } = await manage('POST', `${webhookId}/test`);
    expect(status).toBe(200);
    expect(body).toEqual({
      isDelivered: false,
      statusCode: 418,
      milliseconds: expect.any(Number),
      answer: 'short and stout',
      error: 'The receiver answered 418',
    });
    const [call] = receiver.calls;
    expect(call!.body).toMatchObject({ eventType: 'PRODUCT_UPDATE', entity: {}, data: { test: true } });
    expect(() =>
      new Webhook(secret).verify(call!.text, call!.headers as Record<string, string>),
    ).not.toThrow();
    expect(await deliveries({ webhookId, secret })).toEqual([]);
  });
});

describe('uninstalling an app', () => {
  const uninstall = () =>
    service.db.transaction(async (tx) => expect(await deleteApp(tx, shopId, 'Leaving')).toBe(true));

  test('ends its webhooks, and calls those that want to hear of it one last time', async () => {
    const caller = await givenToken(service, shopId, undefined, 'Leaving');
    const last = await create('APP_UNINSTALL', { url: `${receiver.url}/last`, caller });
    await create('ORDER_CREATE', { url: `${receiver.url}/orders`, caller });
    await create('APP_UNINSTALL', { url: `${receiver.url}/of-another` });
    await record(order());
    await uninstall();
    startWorker();
    const [call] = await receiver.until(1);
    expect(call!.path).toBe('/hook/last');
    expect(call!.body).toEqual({
      id: last.webhookId,
      baseUrl: `${ORIGIN}/rs/shops/${shopId}`,
      entityUrl: `${ORIGIN}/rs/shops/${shopId}`,
      createdOn: expect.any(String),
      eventType: 'APP_UNINSTALL',
      entity: {},
    });
    expect(() =>
      new Webhook(last.secret).verify(call!.text, call!.headers as Record<string, string>),
    ).not.toThrow();
    const left = () =>
      service.db.many<{ url: string }>(
        sql`select callback_url as url from webhook where shop_id = ${shopId}`,
      );
    await eventually(left, (rows) => rows.length === 1);
    expect(await left()).toEqual([{ url: `${receiver.url}/of-another` }]);
    await sleep(LONG_ENOUGH);
    expect(receiver.calls).toHaveLength(1);
  });

  test('a receiver that is gone gets all tries, and then nothing is left of it', async () => {
    const caller = await givenToken(service, shopId, undefined, 'Leaving');
    await create('APP_UNINSTALL', { caller });
    receiver.answer = (_call, response) => response.writeHead(500).end();
    let now = Date.parse('2026-11-16T10:00:00Z');
    service.setClock(new Date(now));
    await uninstall();
    startWorker();
    for (const [index, seconds] of SCHEDULE.entries()) {
      await receiver.until(index + 1);
      await eventually(
        () =>
          service.db.one<{ attempts: number }>(
            sql`select attempts from webhook_delivery where shop_id = ${shopId}`,
          ),
        (row) => row?.attempts === index + 1,
      );
      now += seconds * 1000;
      service.setClock(new Date(now));
    }
    await receiver.until(12);
    await eventually(
      () => service.db.many(sql`select webhook_id from webhook where shop_id = ${shopId}`),
      (rows) => rows.length === 0,
    );
    expect(new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });
});

test('a webhook whose app has lost the scope delivers nothing, until the app has it again', async () => {
  startWorker();
  const caller = await givenToken(service, shopId, ['orders_read'], 'Reader');
  await create('ORDER_CREATE', { caller });
  await service.db.run(sql`delete from token where shop_id = ${shopId} and scopes = ${['orders_read']}`);
  await givenToken(service, shopId, ['products_read'], 'Reader');
  // One that has the scope, but has ended.
  await givenToken(service, shopId, ['orders_read'], 'Reader');
  await service.db.run(sql`
    update token set expires_at = ${new Date(Date.now() - 1)}
    where shop_id = ${shopId} and scopes = ${['orders_read']}`);
  await record(order());
  await sleep(LONG_ENOUGH);
  expect(receiver.calls).toEqual([]);
  await givenToken(service, shopId, ['orders_read'], 'Reader');
  expect(await receiver.until(1)).toHaveLength(1);
});
