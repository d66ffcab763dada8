import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readConfig } from '../src/config.ts';
import { openDatabase, type Database } from '../src/db/database.ts';
import { attachEmbedded } from '../src/db/embedded.ts';
import { sql } from '../src/db/sql.ts';
import { saveFields } from '../src/orders/payments/accounts.ts';
import { installationKey } from '../src/platform/sealing.ts';
import { applySettings } from '../src/shops/settings/file.ts';
import { startFakeAssistant, type FakeAssistant } from './fake-assistant.ts';
import { newStartedFolder } from './first-start.ts';
import { CARD, createReadySession, payment, totalOf } from './paying-assistant.ts';
import { startStripeServer, type StripeServer } from './payment-servers/stripe.ts';
import { cleanUp, startKontor, waitFor, type Running } from './process.ts';
import { sendTo } from './send-to.ts';

/**
 * kill -9 between `complete` of an assistant, which orders and pays, and its answer: there is one order, and it is paid once,
 * whoever asks again and with which key.
 */

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });
afterAll(cleanUp);

const shopId = 'DemoShop';
const REDIRECT = pathToFileURL(path.join(import.meta.dirname, 'payment-servers/redirect-stripe.js')).href;

let data: string;
let service: Running;
let assistant: FakeAssistant;
let stripe: StripeServer;

const start = () =>
  startKontor({
    KONTOR_DATA: data,
    RATE_LIMIT: '0',
    LOG_LEVEL: 'fatal',
    NODE_OPTIONS: `--import ${REDIRECT}`,
    STRIPE_TEST_PORT: String(stripe.address.port),
  });

async function withDatabase<Result>(work: (db: Database) => Promise<Result>): Promise<Result> {
  const embedded = await attachEmbedded(data, { log: () => {} });
  const db = openDatabase({ connection: embedded.connection });
  try {
    return await work(db);
  } finally {
    await db.close();
    await embedded.stop();
  }
}

beforeAll(async () => {
  data = await newStartedFolder();
  [stripe, assistant] = await Promise.all([startStripeServer(), startFakeAssistant()]);
  service = await start();
  const key = await installationKey(readConfig({ KONTOR_DATA: data }));
  await withDatabase((db) =>
    db.transaction(async (tx) => {
      await applySettings(tx, shopId, {
        paymentMethods: [CARD],
        assistants: { open: true, paymentMethod: 'card' },
      });
      const method = await tx.one<{ id: string }>(sql`
        select upper(payment_method_id::text) as id from payment_method where shop_id = ${shopId} and key = 'card'`);
      await saveFields(tx, key, shopId, method!.id, stripe.fields);
    }),
  );
});
afterAll(() => Promise.all([stripe.stop(), assistant.close()]));

const send = (method: string, place: string, body?: object, headers: Record<string, string> = {}) =>
  sendTo(service.address, method, `/ucp${place}`, body, {
    host: `demoshop.localhost:${new URL(service.address).port}`,
    'ucp-agent': `profile="${assistant.profile}"`,
    ...headers,
  });

/** What the shop has of the order of a session, and how often it was paid there. */
const placedOrders = (orderNumber: string) =>
  withDatabase((db) =>
    db.many<{ paid: number; payments: number; attempts: number; orders: number }>(sql`
      select paid_amount as paid,
        (
          select count(*)::int from order_payment
          where shop_id = ${shopId} and order_payment.order_id = customer_order.order_id
        ) as payments,
        (
          select count(*)::int from payment_attempt
          where shop_id = ${shopId} and payment_attempt.order_id = customer_order.order_id
        ) as attempts,
        (
          select count(*)::int from customer_order other
          where other.shop_id = ${shopId} and other.assistant_session_id = customer_order.assistant_session_id
        ) as orders
      from customer_order where shop_id = ${shopId} and order_number = ${orderNumber}`),
  );

describe('kill -9 while an assistant pays', () => {
  test.each([
    { when: 'before Stripe has charged', hold: () => (stripe.faults.isSilent = true), charged: 0 },
    { when: 'after Stripe has charged', hold: () => (stripe.faults.heldAnswers = 1), charged: 1 },
  ])('$when: one order, one payment', async ({ hold, charged }) => {
    const found = await send('POST', '/catalog/search', { query: 'kettle' });
    const session = await createReadySession(send, found.body.products[0].variants[0].id as string);
    expect(session.status).toBe('ready_for_complete');
    const total = totalOf(session);
    const grant = () => payment(stripe.grantToken({ currency: 'eur', maxAmount: total }));
    const complete = (body: object, key: string) =>
      send('POST', `/checkout-sessions/${session.id}/complete`, body, { 'idempotency-key': key });
    const [calls, intents] = [stripe.calls.length, stripe.intents().length];

    hold();
    const body = grant();
    const key = `lost-${charged}`;
    const lost = complete(body, key).catch(() => 'lost');
    await waitFor(() => stripe.calls.length > calls);
    service.kill('SIGKILL');
    await service.ended;
    expect(await lost).toBe('lost');
    expect(stripe.intents()).toHaveLength(intents + charged);
    Object.assign(stripe.faults, { isSilent: false, heldAnswers: 0 });

    service = await start();
    const [same, other] = [await complete(body, key), await complete(grant(), `other-${charged}`)];
    expect([same.body.status, other.body.status]).toEqual(['completed', 'completed']);
    expect(other.body.order).toEqual(same.body.order);
    const [intent, ...more] = stripe.intents().slice(intents);
    expect([intent!.amount_received, more]).toEqual([total, []]);
    expect(await placedOrders(same.body.order.label as string)).toEqual([
      { paid: total, payments: 1, attempts: 1, orders: 1 },
    ]);
  });
});
