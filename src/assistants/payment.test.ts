import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startDemo } from '../../test/demo.ts';
import {
  ask,
  startFakeAssistant,
  type AssistantCall,
  type FakeAssistant,
} from '../../test/fake-assistant.ts';
import { startStripeServer, type StripeServer } from '../../test/payment-servers/stripe.ts';
import { BUYER, CARD, createReadySession, payment, totalOf } from '../../test/paying-assistant.ts';
import { attemptsOf, paymentDeps, workOff } from '../../test/payments.ts';
import type { Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';
import { saveFields } from '../orders/payments/accounts.ts';
import { releaseUnpaidOrders } from '../orders/release-unpaid.ts';
import { createStripeProvider } from '../orders/payments/stripe.ts';
import { newId } from '../kernel/ids.ts';
import { installationKey } from '../platform/sealing.ts';
import { applySettings } from '../shops/settings/file.ts';

let service: Service;
let assistant: FakeAssistant;
let stripe: StripeServer;
let kettle: string;

const shopId = 'DemoShop';
const apply = (file: object) => service.db.transaction((tx) => applySettings(tx, shopId, file));

beforeAll(async () => {
  stripe = await startStripeServer();
  // A service that asks again at once would hide what is not asked again.
  const providers = { stripe: createStripeProvider({ ...stripe.address, timeout: 2_000 }) };
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0', WEBHOOK_ALLOW: '127.0.0.0/8' }, undefined, {
    providers,
  });
  assistant = await startFakeAssistant();
  const row = await service.db.one<{ id: string }>(sql`
    select upper(product_id::text) as id from product where shop_id = ${shopId} and product_number = 'AP-100'`);
  kettle = row!.id;
  await apply({ paymentMethods: [CARD], assistants: { open: true, paymentMethod: 'card' } });
  const method = await service.db.one<{ id: string }>(sql`
    select upper(payment_method_id::text) as id from payment_method where shop_id = ${shopId} and key = 'card'`);
  const key = await installationKey(service.config);
  await service.db.transaction((tx) => saveFields(tx, key, shopId, method!.id, stripe.fields));
});
afterAll(async () => {
  await assistant.close();
  await service.close();
  await stripe.stop();
});
beforeEach(() => service.setClock(undefined));

const send = (
  method: NonNullable<AssistantCall['method']>,
  path: string,
  body?: unknown,
  call: AssistantCall = {},
) => ask(service, `/ucp${path}`, body, { profile: assistant.profile, method, ...call });

const givenReady = (quantity?: number) => createReadySession(send, kettle, quantity);

const codesOf = ({ messages = [] }: { messages?: { type: string; code: string }[] }) =>
  messages.filter(({ type }) => type === 'error').map(({ code }) => code);
const tokenFor = (session: { totals: { type: string; amount: number }[] }, isDeclined = false) =>
  stripe.grantToken({ currency: 'eur', maxAmount: totalOf(session), isDeclined });
const complete = (id: string, body: object, key?: string) =>
  send('POST', `/checkout-sessions/${id}/complete`, body, {
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });
const read = async (id: string) => (await send('GET', `/checkout-sessions/${id}`)).body;

/** The orders of assistants since the test has begun: their ids are in the order of time. */
const placedOrders = () =>
  service.db.many<{ orderId: string; paid: number; total: number; isCancelled: boolean }>(sql`
    select upper(order_id::text) as "orderId", paid_amount as paid, grand_total as total,
      cancelled_at is not null as "isCancelled"
    from customer_order where shop_id = ${shopId} and assistant_session_id is not null
      and order_id > ${before} order by order_id`);
let before: string;
beforeEach(() => {
  before = newId(service.db.now);
});

const intentsOf = (orderId: string) =>
  stripe.intents().filter(({ metadata }) => metadata['orderId'] === orderId);

test('a shop names the handler in its profile and in its sessions, with what Stripe wants to be published', async () => {
  const handlers = {
    'com.stripe.payments': [
      {
        id: 'card',
        version: '2026-06-25',
        spec: 'https://docs.stripe.com/agentic-commerce/ucp/stripe-payments-handler',
        schema: 'https://ucp.stripe.com/payments/2026-06-25/schema.json',
        config: { business_profile: 'profile_1' },
      },
    ],
  };
  const profile = await send('GET', '/../.well-known/ucp');
  expect(profile.body.ucp.payment_handlers).toEqual(handlers);
  const session = await givenReady();
  expect([session.status, codesOf(session)]).toEqual(['ready_for_complete', []]);
  expect(session.ucp.payment_handlers).toEqual(handlers);
});

describe('a token of the buyer', () => {
  test('pays the order at the total of the session, once for each key', async () => {
    const session = await givenReady(2);
    const body = payment(tokenFor(session));
    const first = await complete(session.id, body, 'complete-1');
    expect([first.status, first.body.status]).toEqual([200, 'completed']);
    expect(totalOf(first.body)).toBe(totalOf(session));
    const again = await complete(session.id, body, 'complete-1');
    expect(again.body).toEqual(first.body);
    const other = await complete(session.id, payment('spt_other'), 'complete-1');
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_conflict']);
    // A new key pays nothing again.
    const later = await complete(session.id, payment(tokenFor(session)), 'complete-2');
    expect(later.body.order).toEqual(first.body.order);
    const [placed, ...others] = await placedOrders();
    expect(others).toEqual([]);
    expect(placed).toMatchObject({ paid: totalOf(session), total: totalOf(session) });
    const [intent, ...more] = intentsOf(placed!.orderId);
    expect(more).toEqual([]);
    expect(intent).toMatchObject({ amount: totalOf(session), currency: 'eur', status: 'succeeded' });
    expect(await attemptsOf({ service, shopId, token: '', ids: {} }, placed!.orderId)).toEqual([
      expect.objectContaining({ state: 'paid', reference: intent!.id, captured: totalOf(session) }),
    ]);
    const stored = await service.db.many(sql`
      select 1 from payment_attempt where shop_id = ${shopId} and token_sealed is not null`);
    expect(stored).toEqual([]);
    expect((await read(session.id)).status).toBe('completed');
    const shown = await send('GET', `/orders/${first.body.order.id}`);
    expect(shown.body.checkout_id).toBe(session.id);
  });

  test('that is declined leaves an order that another one pays, or that is given up', async () => {
    const session = await givenReady();
    const declined = await complete(session.id, payment(tokenFor(session, true)));
    expect([declined.body.status, codesOf(declined.body)]).toEqual([
      'ready_for_complete',
      ['payment_failed'],
    ]);
    expect(declined.body).not.toHaveProperty('order');
    const changed = await send('PUT', `/checkout-sessions/${session.id}`, { line_items: [] });
    expect([changed.body.status, codesOf(changed.body)[0]]).toEqual(['ready_for_complete', 'session_locked']);
    const paid = await complete(session.id, payment(tokenFor(session)));
    expect(paid.body.status).toBe('completed');
    const [placed, ...others] = await placedOrders();
    expect(others).toEqual([]);
    expect(placed!.paid).toBe(totalOf(session));
    expect(intentsOf(placed!.orderId)).toHaveLength(1);
  });

  test('that is good for less than the total pays nothing, and the unpaid order ends', async () => {
    const session = await givenReady();
    const token = stripe.grantToken({ currency: 'eur', maxAmount: totalOf(session) - 1 });
    expect((await complete(session.id, payment(token))).body.status).toBe('ready_for_complete');
    service.setClock(new Date(service.db.now.getTime() + 61 * 60_000));
    await releaseUnpaidOrders(service.db, 100);
    expect((await read(session.id)).status).toBe('canceled');
    const [placed] = await placedOrders();
    expect(placed).toMatchObject({ paid: 0, isCancelled: true });
  });

  test('is refused if it is none of Stripe, or if there are several ways to pay', async () => {
    const session = await givenReady();
    const several = payment(tokenFor(session));
    several.payment.instruments.push(several.payment.instruments[0]!);
    for (const body of [
      payment('tok_visa'),
      payment(tokenFor(session), { handler_id: 'invoice' }),
      several,
      { payment: { instruments: [] } },
    ]) {
      const { body: answer } = await complete(session.id, body);
      expect([answer.status, codesOf(answer)]).toEqual(['ready_for_complete', ['payment_failed']]);
    }
    expect(await placedOrders()).toEqual([]);
  });

  test('pays nothing while something is missing to the order', async () => {
    const { body } = await send('POST', '/checkout-sessions', {
      line_items: [{ item: { id: kettle }, quantity: 1 }],
      buyer: BUYER,
    });
    expect(body.status).toBe('incomplete');
    const answer = await complete(body.id, payment(tokenFor(body)));
    expect(answer.body.status).toBe('incomplete');
    expect(await placedOrders()).toEqual([]);
  });
});

describe('when the answer of Stripe is lost', () => {
  test('the same charge is found, by the assistant or without it, and there is one order and one payment', async () => {
    for (const who of ['assistant', 'worker']) {
      before = newId(service.db.now);
      const session = await givenReady();
      const body = payment(tokenFor(session));
      // The client of Stripe asks twice.
      stripe.faults.lostAnswers = 2;
      const lost = await complete(session.id, body, `lost-${who}`);
      expect([lost.body.status, lost.body.order]).toEqual(['complete_in_progress', undefined]);
      expect((await read(session.id)).status).toBe('complete_in_progress');
      if (who === 'assistant') {
        expect((await complete(session.id, body, 'lost-assistant')).body.status).toBe('completed');
      } else {
        service.setClock(new Date(service.db.now.getTime() + 120_000));
        await workOff(paymentDeps(service, { stripe: createStripeProvider(stripe.address) }));
      }
      expect((await read(session.id)).status).toBe('completed');
      const [placed, ...others] = await placedOrders();
      expect(others).toEqual([]);
      expect(placed!.paid).toBe(totalOf(session));
      expect(intentsOf(placed!.orderId)).toHaveLength(1);
      service.setClock(undefined);
    }
  });
});

test('of two assistants that pay for the last piece one gets it, and only that one is charged', async () => {
  const setStock = (stock: number) =>
    service.db.run(sql`
      update product set stock = ${stock}, version = version + 1
      where shop_id = ${shopId} and product_id = ${kettle}`);
  await setStock(1);
  const charged = stripe.intents().length;
  const sessions = [await givenReady(), await givenReady()];
  const answers = await Promise.all(
    sessions.map((session) => complete(session.id as string, payment(tokenFor(session)))),
  );
  expect(answers.map(({ body }) => body.status as string).toSorted()).toEqual(['completed', 'incomplete']);
  const loser = answers.find(({ body }) => body.status === 'incomplete')!;
  expect(codesOf(loser.body)).toContain('out_of_stock');
  expect(stripe.intents()).toHaveLength(charged + 1);
  await setStock(100);
});

test('without the setting, or with a method that costs something, the buyer pays in the shop', async () => {
  const statusOf = async () => {
    const session = await givenReady();
    const { body } = await complete(session.id, payment(tokenFor(session)));
    return [session.status, body.status, body.ucp.payment_handlers];
  };
  const escalated = ['requires_escalation', 'requires_escalation', {}];
  await apply({ assistants: { open: true } });
  expect(await statusOf()).toEqual(escalated);
  await apply({ paymentMethods: [{ ...CARD, price: 1 }], assistants: { open: true, paymentMethod: 'card' } });
  expect(await statusOf()).toEqual(escalated);
  await apply({ paymentMethods: [CARD] });
  expect((await givenReady()).status).toBe('ready_for_complete');
});
