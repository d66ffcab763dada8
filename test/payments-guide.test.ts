import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveFields } from '../src/orders/payments/accounts.ts';
import type { PaymentProvider } from '../src/orders/payments/provider.ts';
import { installationKey } from '../src/platform/sealing.ts';
import { givenProduct, givenSmallShop, paymentId, price } from './carts.ts';
import { attemptsOf, buy, paymentDeps, workOff } from './payments.ts';
import { startService, type Service } from './service.ts';

/** The provider in docs/payments.md, as it is written there, with a bank that it can speak to. */

const root = path.join(import.meta.dirname, '..');
const guide = readFileSync(path.join(root, 'docs/payments.md'), 'utf8');
const [, example] = /```ts\n(.*?)```/s.exec(guide)!;

let folder: string;
let bank: Server;
let service: Service;
let provider: PaymentProvider;

interface BankPayment {
  id: string;
  page: string;
  status: string;
  captured: number;
  amount: number;
  currency: string;
}
const payments = new Map<string, BankPayment>();
const refunds = new Map<string, number>();

beforeAll(async () => {
  bank = createServer((request, response) => {
    void text(request).then((sent) => {
      const body = JSON.parse(sent) as { amount: number; currency: string };
      const key = String(request.headers['idempotency-key']);
      const [, , id, action] = request.url!.split('/');
      if (request.headers.authorization !== 'Bearer sk_bank') {
        response.writeHead(401).end(JSON.stringify({ message: 'The key is wrong' }));
        return;
      }
      if (id === undefined && !payments.has(key)) {
        payments.set(key, {
          id: key,
          page: `https://bank.example/${key}`,
          status: 'open',
          captured: 0,
          ...body,
        });
      }
      if (action === 'refunds') refunds.set(key, body.amount);
      response.end(JSON.stringify(action === 'refunds' ? { refundId: `R-${key}` } : payments.get(id ?? key)));
    });
  });
  await new Promise<void>((resolve) => {
    bank.listen(0, '127.0.0.1', resolve);
  });
  folder = await mkdtemp(path.join(tmpdir(), 'kontor-guide-'));
  const file = path.join(folder, 'example-pay.ts');
  await writeFile(file, example!.replace("'../src/", `'${root}/src/`));
  const { examplePay } = (await import(/* @vite-ignore */ file)) as {
    examplePay: (url: string) => PaymentProvider;
  };
  provider = examplePay(`http://127.0.0.1:${(bank.address() as { port: number }).port}`);
  service = await startService({}, undefined, { providers: { demo: provider } });
});
afterAll(async () => {
  await service.close();
  bank.close();
  await rm(folder, { recursive: true });
});

test('the example takes a payment and pays a part of it back', async () => {
  const shop = await givenSmallShop(service, {
    paymentMethods: [{ key: 'bank', name: 'Bank', provider: 'demo' }],
  });
  const product = await givenProduct(shop, { price: 1000 });
  const key = await installationKey(service.config);
  const methodId = await paymentId(shop, 'bank');
  const setKey = (secretKey: string) =>
    service.db.transaction((tx) => saveFields(tx, key, shop.shopId, methodId, { secretKey }));

  await setKey('sk_wrong');
  const refused = await buy(shop, product, 'bank');
  expect(refused.payPath).toBe(`/shop/${shop.shopId}/confirmation`);
  expect(await attemptsOf(shop, refused.orderId)).toMatchObject([{ state: 'failed' }]);

  await setKey('sk_bank');
  const { orderId, payPath, visitor } = await buy(shop, product, 'bank');
  expect((await visitor.get(payPath)).text).toContain('url=https://bank.example/');
  const [attempt] = await attemptsOf(shop, orderId);
  Object.assign(payments.get(attempt!.reference!)!, { status: 'paid', captured: 1000 });
  const announced = await service.app.inject({
    method: 'POST',
    url: `/payments/${shop.shopId}/bank/webhook`,
    headers: { 'x-bank-key': 'sk_bank', 'content-type': 'text/plain' },
    payload: attempt!.reference!,
  });
  expect(announced.statusCode).toBe(200);
  const deps = paymentDeps(service, { demo: provider });
  await workOff(deps);
  const order = `/manage/shops/${shop.shopId}/orders/${orderId}`;
  const { status, body } = await service.call('POST', `${order}/refunds`, {
    token: shop.token,
    body: { amount: 2.5 },
  });
  expect([status, body.management.paidAmount]).toEqual([201, price(10)]);
  await workOff(deps);
  expect([...refunds.values()]).toEqual([250]);
});
