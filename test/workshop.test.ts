import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { startFakeShop, type FakeShop } from '@kontor/client/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parseManifest } from '../src/apps/manifest/manifest.ts';
import { readLinePrices, readTaxes } from '../src/carts/app-terms.ts';
import { newId } from '../src/kernel/ids.ts';
import { cleanUp, newFolder, waitFor } from './process.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** The example of prices and taxes, as its guide starts it, against the fake shop of the client. */

const ROOT = path.join(import.meta.dirname, '..');
const guide = readFileSync(path.join(ROOT, 'docs/apps.md'), 'utf8')
  .split('### An app that prices and taxes')[1]!
  .split('\n## ', 1)[0]!;

let data: string;
let shop: FakeShop;
let app: { program: ChildProcess; address: string };

/** The command of the guide. */
async function start() {
  const [, command] = /```sh\n(npx tsx .+)\n/.exec(guide)!;
  const program = spawn(process.execPath, ['--import', 'tsx', command!.split(' ')[2]!], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], PORT: '0', DATA: data, KONTOR_URL: shop.origin },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  program.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await waitFor(() => said.includes('127.0.0.1'), 30_000);
  return { program, address: /http:\/\/127\.0\.0\.1:\d+/.exec(said)![0] };
}

async function stop() {
  app.program.kill('SIGKILL');
  await once(app.program, 'exit');
}

beforeAll(async () => {
  data = path.join(await newFolder(), 'workshop.json');
  shop = await startFakeShop();
  app = await start();
});
afterAll(async () => {
  await stop();
  await shop.close();
  await cleanUp();
});

const ask = (kind: 'linePrices' | 'taxes', question: object) =>
  shop.ask(`${app.address}/kontor/calls`, kind, question);

const [cup, tray] = [newId(new Date()), newId(new Date())];
const line = (lineItemId: string, price: number, customText: string | null, priceQuantity = 1) => ({
  lineItemId,
  productId: newId(new Date()),
  productNumber: 'P-1',
  quantity: '2',
  price,
  priceQuantity,
  customText,
});
const PRICES = {
  currency: 'USD',
  taxModel: 'NET' as const,
  customerId: null,
  customerGroupId: null,
  lines: [line(cup, 1_900, 'For Ada ♥'), line(tray, 4_000, null)],
};
const taxQuestion = (country: string, zipCode: string | null) => ({
  currency: 'USD',
  taxType: 'NET' as const,
  taxModel: 'NET' as const,
  country: 'US',
  destination: { country, zipCode },
  isPickup: false,
  vatNumber: null,
  lines: PRICES.lines.map(({ customText: _text, ...one }) => ({
    ...one,
    taxClassId: newId(new Date()),
    digital: false,
    supply: 'goods' as const,
  })),
});

test('nothing is answered to a shop that has not installed it', async () => {
  await expect(ask('linePrices', PRICES)).rejects.toThrow('The app has answered 401: This shop is not known');
  const stranger = await startFakeShop();
  await expect(stranger.install(app.address)).rejects.toThrow('401');
  await stranger.close();
});

test('installed, it answers what a shop takes, also after it was killed', async () => {
  const read = await fetch(`${app.address}/.well-known/kontor-app.json`);
  expect(parseManifest(await read.text(), new URL(app.address)).calls).toHaveLength(2);
  const { location } = await shop.install(app.address);
  expect(location).toBe(`${shop.origin}/admin/shops/${shop.shopId}/apps/${shop.clientId}`);
  const astray = await fetch(`${app.address}/kontor/install?return_url=https://evil.example/`, {
    redirect: 'manual',
  });
  expect(astray.status).toBe(404);
  const prices = await ask('linePrices', PRICES);
  expect(readLinePrices(prices, PRICES)).toEqual({ [cup]: 2_250 });
  // A price for a hundred has the engravings of a hundred.
  const byHundred = { ...PRICES, lines: [line(cup, 1_900, 'AB', 100)] };
  expect(readLinePrices(await ask('linePrices', byHundred), byHundred)).toEqual({ [cup]: 11_900 });

  await stop();
  app = await start();
  for (const [country, zipCode, tax] of [
    ['US', '94107', { name: 'California sales tax', rate: 725 }],
    ['US', '10001', { name: 'New York sales tax', rate: 400 }],
    ['US', '97201', { name: 'No sales tax', rate: 0 }],
    ['US', null, { name: 'No sales tax', rate: 0 }],
    ['DE', '10115', { name: 'No sales tax', rate: 0 }],
  ] as const) {
    const question = taxQuestion(country, zipCode);
    expect(readTaxes(await ask('taxes', question), question as never)).toEqual({
      taxes: [tax],
      lines: [cup, tray].map((lineItemId) => ({ lineItemId, tax: 0 })),
      delivery: 0,
      payment: 0,
    });
  }
});

test('what is forged gets no answer', async () => {
  const forged = await fetch(`${app.address}/kontor/calls`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await shop.token({ page: 'call:taxes' })}`,
      'kontor-call': 'taxes',
      'webhook-id': 'x',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': 'v1,AAAA',
    },
    body: JSON.stringify(taxQuestion('US', '94107')),
  });
  expect([forged.status, await forged.text()]).toEqual([401, 'The signature is wrong']);
});

test('the guide shows what it answers', () => {
  const [, shown] = /```ts\n(.*?)```/s.exec(guide)!;
  expect(readFileSync(path.join(ROOT, 'examples/workshop/answers.ts'), 'utf8')).toContain(shown);
});
