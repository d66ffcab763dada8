import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { newOrder, startFakeShop, type FakeShop } from '@kontor/client/testing';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createApp } from '../examples/parcels/app.ts';
import { KEYS, startFakeSendcloud, type FakeSendcloud } from '../examples/parcels/fake-sendcloud.ts';
import { openStore } from '../examples/parcels/store.ts';
import { parseManifest } from '../src/apps/manifest/manifest.ts';
import { cleanUp, newFolder, waitFor } from './process.ts';

/** The example app, against a fake of Sendcloud and the fake shop of the client. */

const ROOT = path.join(import.meta.dirname, '..');
const SETTINGS = {
  ...KEYS,
  options: 'postnl:standard, dhl:parcel/signature, ups:unknown',
  returnOption: 'dpd:return/return',
  name: 'Tea Time',
  street: 'Kai',
  houseNumber: '7',
  zipCode: '20457',
  city: 'Hamburg',
  country: 'de',
};
const ORDER = newOrder({ orderNumber: 'ORD1', address: { street: 'Main Street 5a', company: 'Ada Ltd' } });
const FAR = newOrder({ orderNumber: 'ORD2', address: { zipCode: '00000' } });
const NOWHERE = newOrder({ orderNumber: 'ORD3', address: { city: null } });

let folder: string;
let sendcloud: FakeSendcloud;
let shop: FakeShop;
let app: Server;
let address: string;

beforeEach(async () => {
  // What fails is in the log of the app.
  vi.spyOn(console, 'error').mockReturnValue();
  folder = await newFolder();
  sendcloud = await startFakeSendcloud();
  shop = await startFakeShop({ settings: SETTINGS, orders: [ORDER, FAR, NOWHERE] });
  await startApp();
  await shop.install(address);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await stopApp();
  await Promise.all([shop.close(), sendcloud.close()]);
});
afterAll(cleanUp);

async function startApp() {
  app = createApp({
    store: await openStore(folder),
    origins: [shop.origin],
    sendcloudUrl: sendcloud.baseUrl,
  });
  await once(app.listen(0, '127.0.0.1'), 'listening');
  address = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
}

async function stopApp() {
  app.closeAllConnections();
  app.close();
  await once(app, 'close');
}

async function call(method: string, url: string, body?: object, order = ORDER, to = address) {
  const token = await shop.token({ page: 'labels', place: 'order', ids: [order.orderId] });
  const response = await fetch(to + url, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json';
  return { status: response.status, body: isJson ? (JSON.parse(text) as object) : text };
}

const SHIPMENT = { kind: 'shipment', number: 1, option: 'postnl:standard', parcels: [1_200] };
const shipments = () => shop.orders.get(ORDER.orderId)!.management.shipments;

test('its manifest is one that a shop takes', () => {
  const read = fetch(`${address}/.well-known/kontor-app.json`).then((response) => response.text());
  return expect(read.then((text) => parseManifest(text, new URL(address)).name)).resolves.toBe('Parcels');
});

const QUESTION = {
  currency: 'EUR',
  taxType: 'GROSS',
  destination: { country: 'NL', zipCode: '5642 CV' },
  value: 4_000,
  lines: [
    { quantity: '2', weight: { amount: 0.6, unit: 'kg' } },
    { quantity: '1', weight: null },
  ],
};

test('a checkout gets the chosen options at the prices of Sendcloud', async () => {
  expect(await shop.ask(`${address}/kontor/delivery`, 'deliveryOptions', QUESTION)).toEqual({
    options: [
      { id: 'postnl_standard', name: 'PostNL Standard', price: 675 },
      { id: 'dhl_parcel_signature', name: 'DHL with signature', price: 810 },
    ],
  });
  expect(sendcloud.asked).toEqual([
    {
      method: 'POST',
      path: '/shipping-options',
      body: {
        from_address: { country_code: 'DE', postal_code: '20457' },
        to_address: { country_code: 'NL', postal_code: '5642 CV' },
        parcels: [{ weight: { value: '2.200', unit: 'kg' } }],
        calculate_quotes: true,
      },
    },
  ]);
  // Nobody here knows the rate of another currency.
  const inFrancs = await shop.ask(`${address}/kontor/delivery`, 'deliveryOptions', {
    ...QUESTION,
    currency: 'CHF',
  });
  expect(inFrancs).toEqual({ options: [] });
});

test('when Sendcloud is slow, the checkout is told before its customer has waited too long', async () => {
  sendcloud.delay = 5_000;
  await expect(shop.ask(`${address}/kontor/delivery`, 'deliveryOptions', QUESTION)).rejects.toThrow('500');
});

test('a label for several parcels is made, recorded with its tracking codes, and can be printed', async () => {
  const made = await call('POST', '/kontor/labels', { ...SHIPMENT, parcels: [1_200, 800] });
  expect(made).toEqual({ status: 200, body: { trackingNumbers: ['3SYZXG1001', '3SYZXG1002'] } });
  expect(sendcloud.asked.at(-1)!.body).toEqual({
    external_reference_id: `ORD1-${ORDER.orderId.slice(-12)}-S1`,
    order_number: 'ORD1',
    from_address: {
      name: 'Tea Time',
      address_line_1: 'Kai',
      house_number: '7',
      postal_code: '20457',
      city: 'Hamburg',
      country_code: 'DE',
    },
    to_address: {
      name: 'Ada Lindqvist',
      company_name: 'Ada Ltd',
      address_line_1: 'Main Street',
      house_number: '5a',
      postal_code: '20457',
      city: 'Hamburg',
      country_code: 'DE',
      email: 'ada@mail.example',
    },
    ship_with: { type: 'shipping_option_code', properties: { shipping_option_code: 'postnl:standard' } },
    parcels: [{ weight: { value: '1.200', unit: 'kg' } }, { weight: { value: '0.800', unit: 'kg' } }],
  });
  const pages = [1001, 1002].map((number) => ({
    trackingUrl: `https://tracking.example/3SYZXG${number}`,
    trackingCode: `3SYZXG${number}`,
  }));
  expect(shipments()).toMatchObject([{ carrier: 'PostNL', trackingCode: '3SYZXG1001', parcels: pages }]);

  const shown = await call('GET', '/kontor/labels');
  expect(shown.body).toEqual({
    options: ['postnl:standard', 'dhl:parcel/signature', 'ups:unknown'],
    orderId: ORDER.orderId,
    orderNumber: 'ORD1',
    option: 'postnl:standard',
    grams: 1_000,
    labels: [
      {
        kind: 'shipment',
        number: 1,
        option: 'postnl:standard',
        parcels: [1001, 1002].map((number) => ({
          trackingNumber: `3SYZXG${number}`,
          trackingUrl: `https://tracking.example/3SYZXG${number}`,
        })),
      },
    ],
  });
  const document = await call('GET', '/kontor/document?kind=shipment&number=1&parcel=1');
  expect(document).toEqual({ status: 200, body: '%PDF-1.4 label' });
  expect(sendcloud.asked.at(-1)!.path).toBe('/parcels/2/documents/label');
});

test('what the customer has chosen at the checkout, and what the goods weigh, is suggested', async () => {
  const lines = [{ quantity: 2, grams: 600 }, { quantity: 3 }];
  const deliveryOption = { appId: shop.clientId, optionId: 'dhl_parcel_signature', name: 'DHL' };
  for (const [given, option] of [
    [deliveryOption, 'dhl:parcel/signature'],
    [{ ...deliveryOption, optionId: 'gone' }, 'postnl:standard'],
    [{ ...deliveryOption, appId: ORDER.orderId }, 'postnl:standard'],
    [{ ...deliveryOption, optionId: null }, 'postnl:standard'],
  ] as const) {
    const order = newOrder({ orderNumber: 'ORD9', lines, deliveryOption: given });
    shop.orders.set(order.orderId, order);
    const { body } = await call('GET', '/kontor/labels', undefined, order);
    expect(body).toMatchObject({ option, grams: 4_200, labels: [] });
  }
});

test('labels for many orders: each is made once, and one that is refused stops no other', async () => {
  const others = ['ORD7', 'ORD8'].map((orderNumber) => newOrder({ orderNumber }));
  for (const order of others) shop.orders.set(order.orderId, order);
  const ids = [ORDER, ...others, FAR].map(({ orderId }) => orderId);
  const token = await shop.token({ page: 'create', place: 'orders', ids });
  const ask = async (method: string, url: string, body?: object) => {
    const response = await fetch(address + url, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  const makeAll = async () => {
    const statuses: number[] = [];
    for (const id of ids) {
      const { status } = await ask('POST', `/kontor/labels?order=${id}`, SHIPMENT);
      statuses.push(status);
    }
    return statuses;
  };
  expect(await makeAll()).toEqual([200, 200, 200, 502]);
  expect(sendcloud.shipments.size).toBe(3);
  // As after an interruption: the ones that are there are not paid for again.
  sendcloud.losesAnswers = true;
  expect(await makeAll()).toEqual([200, 200, 200, 502]);
  expect([sendcloud.shipments.size, shipments().length]).toEqual([3, 1]);
  const { orders } = JSON.parse((await ask('GET', '/kontor/orders')).text) as {
    orders: { orderNumber: string; labels: { number: number }[] }[];
  };
  expect(orders.map(({ orderNumber, labels }) => [orderNumber, labels.map(({ number }) => number)])).toEqual([
    ['ORD1', [1]],
    ['ORD7', [1]],
    ['ORD8', [1]],
    ['ORD2', []],
  ]);
  // The token is for these orders, and one of them has to be named.
  for (const url of ['/kontor/labels', `/kontor/labels?order=${NOWHERE.orderId}`]) {
    expect(await ask('GET', url)).toEqual({ status: 403, text: 'The token is for other orders' });
    expect(await ask('POST', url, SHIPMENT)).toMatchObject({ status: 403 });
  }
  expect(sendcloud.shipments.size).toBe(3);
});

test('a second label is another one; the same one that is asked for twice is made once', async () => {
  const twice = [call('POST', '/kontor/labels', SHIPMENT), call('POST', '/kontor/labels', SHIPMENT)];
  const [first, again] = await Promise.all(twice);
  expect(again).toEqual(first);
  expect([sendcloud.shipments.size, shipments().length]).toEqual([1, 1]);
  const second = await call('POST', '/kontor/labels', { ...SHIPMENT, number: 2 });
  expect(second.body).toEqual({ trackingNumbers: ['3SYZXG1002'] });
  expect(sendcloud.shipments.size).toBe(2);
  const stale = await call('POST', '/kontor/labels', { ...SHIPMENT, number: 5 });
  expect(stale).toEqual({ status: 409, body: 'The labels of this order have changed. Load the page again.' });
});

test.each(['shipment', 'return'])(
  'a %s whose answer was lost is found again, and not paid for twice',
  async (kind) => {
    sendcloud.losesAnswers = true;
    expect(await call('POST', '/kontor/labels', { ...SHIPMENT, kind })).toMatchObject({ status: 500 });
    expect((await call('GET', '/kontor/labels')).body).toMatchObject({ labels: [{ kind, parcels: null }] });
    // The next one waits for it.
    expect(await call('POST', '/kontor/labels', { ...SHIPMENT, kind, number: 2 })).toMatchObject({
      status: 409,
    });
    sendcloud.losesAnswers = false;
    await stopApp();
    await startApp();
    const made = await call('POST', '/kontor/labels', { ...SHIPMENT, kind });
    expect(made).toEqual({ status: 200, body: { trackingNumbers: ['3SYZXG1001'] } });
    expect(sendcloud.shipments.size + sendcloud.returns.length).toBe(1);
  },
);

test('an app that is killed between the request and its answer makes no second label', async () => {
  await stopApp();
  sendcloud.delay = 3_000;
  const { PATH = '' } = process.env;
  const start = () => {
    const environment = {
      PATH,
      PORT: '0',
      DATA: folder,
      KONTOR_URL: shop.origin,
      SENDCLOUD_URL: sendcloud.baseUrl,
    };
    const child = spawn(process.execPath, ['--import', 'tsx', 'examples/parcels/app.ts'], {
      cwd: ROOT,
      env: environment,
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    return { child, address: () => /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] };
  };
  const first = start();
  await waitFor(() => first.address() !== undefined);
  const lost = call('POST', '/kontor/labels', SHIPMENT, ORDER, first.address()).catch(() => 'lost');
  await waitFor(() => sendcloud.asked.some((asked) => asked.path === '/shipments/announce'));
  first.child.kill('SIGKILL');
  expect(await lost).toBe('lost');
  await waitFor(() => sendcloud.shipments.size === 1);

  sendcloud.delay = 0;
  await startApp();
  const made = await call('POST', '/kontor/labels', SHIPMENT);
  expect(made).toEqual({ status: 200, body: { trackingNumbers: ['3SYZXG1001'] } });
  expect([sendcloud.shipments.size, shipments().length]).toEqual([1, 1]);
});

test('what can not be sent is refused with a reason, and nothing is paid or recorded', async () => {
  for (const [body, order, status, text] of [
    [{ ...SHIPMENT, parcels: [] }, ORDER, 400, '1 to 15 parcels of 1 g to 100 kg'],
    [
      { ...SHIPMENT, parcels: Array.from({ length: 16 }, () => 1) },
      ORDER,
      400,
      '1 to 15 parcels of 1 g to 100 kg',
    ],
    [{ ...SHIPMENT, option: 'dhl:other' }, ORDER, 400, 'Choose a shipping option of the settings'],
    [{ ...SHIPMENT, kind: 'gift' }, ORDER, 400, 'kind is shipment or return'],
    [SHIPMENT, FAR, 502, 'Sendcloud: The postal code is not valid.'],
    [SHIPMENT, NOWHERE, 409, 'The address of the customer lacks: city'],
  ] as const) {
    expect(await call('POST', '/kontor/labels', body, order)).toEqual({ status, body: text });
    // The next try may have other values.
    expect((await call('GET', '/kontor/labels', undefined, order)).body).toMatchObject({ labels: [] });
  }
  const stranger = await fetch(`${address}/kontor/labels`);
  expect(stranger.status).toBe(401);
  const other = await shop.token({ page: 'other', ids: [ORDER.orderId] });
  const forbidden = await fetch(`${address}/kontor/labels`, {
    headers: { authorization: `Bearer ${other}` },
  });
  expect(forbidden.status).toBe(403);
  expect([sendcloud.shipments.size, shipments().length]).toEqual([0, 0]);
});

test('the secret key of Sendcloud is in no file of the app', async () => {
  await call('POST', '/kontor/labels', SHIPMENT);
  expect(await readFile(path.join(folder, 'parcels.json'), 'utf8')).not.toContain('secret"');
});
