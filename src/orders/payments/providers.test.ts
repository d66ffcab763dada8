import { Writable } from 'node:stream';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  changesNothing,
  givenProduct,
  givenSmallShop,
  NOW,
  price,
  queuedEmails,
  type Shop,
} from '../../../test/carts.ts';
import { startMollieServer, type MollieServer } from '../../../test/payment-servers/mollie.ts';
import { sign, startStripeServer, type StripeServer } from '../../../test/payment-servers/stripe.ts';
import { attemptsOf, buy, paymentDeps, workOff } from '../../../test/payments.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { installationKey } from '../../platform/sealing.ts';
import { releaseUnpaidOrders } from '../release-unpaid.ts';
import { saveFields } from './accounts.ts';
import type { PaymentDeps } from './calls.ts';
import { createMollieProvider } from './mollie.ts';
import { createStripeProvider } from './stripe.ts';

/** The webhooks of either provider, as they would come in. */
interface Webhook {
  headers: Record<string, string>;
  body: Buffer;
}

/** What a test does at a provider, in the same words for both. */
interface Bank {
  name: 'stripe' | 'mollie';
  page: RegExp;
  fields: () => Record<string, string>;
  webhooks: () => Webhook[];
  payByCard: (reference: string) => void;
  payByDebit: (reference: string) => void;
  finishDebit: (reference: string, isPaid: boolean) => void;
  /** Whether a page can still be paid on. */
  isOpen: (reference: string) => boolean;
  /** What has gone back, in minor units. */
  refunded: () => number[];
  /** The merchant refunds in the provider's own dashboard; minor units. */
  refundThere: (reference: string, amount: number) => void;
  /** The shopper's bank takes the money back. */
  chargeBack: (reference: string) => void;
  /** Of the refund that was made last. */
  failRefund: () => void;
  /** Hours later: what was asked to go back has gone. */
  finishRefunds: () => void;
  /** The next change is made, and the answer to it lost, however often the client asks again. */
  loseAnswer: () => void;
  /** How many pages there are for an order. */
  pagesOf: (orderId: string) => number;
}

let stripe: StripeServer;
let mollie: MollieServer;
let service: Service;
let deps: PaymentDeps;
const logged: string[] = [];

const BANKS: Bank[] = [
  {
    name: 'stripe',
    page: /^https:\/\/checkout\.stripe\.com\/c\/pay\/cs_test_/,
    fields: () => stripe.fields,
    webhooks: () => stripe.events,
    payByCard: (reference) => stripe.payByCard(reference),
    payByDebit: (reference) => stripe.payBySepa(reference),
    finishDebit: (reference, isPaid) => stripe.finishSepa(reference, isPaid),
    isOpen: (reference) => stripe.session(reference).status === 'open',
    refunded: () => stripe.refunds().map(({ amount }) => amount),
    refundThere: (reference, amount) => stripe.refundByHand(reference, amount),
    chargeBack: (reference) => stripe.dispute(reference),
    failRefund: () => stripe.finishRefund(stripe.refunds().at(-1)!.id, 'failed'),
    finishRefunds: () => {},
    loseAnswer: () => void (stripe.faults.lostAnswers = 2),
    pagesOf: (orderId) => stripe.sessionsOf(orderId).length,
  },
  {
    name: 'mollie',
    page: /^https:\/\/www\.mollie\.com\/checkout\/select-method\//,
    fields: () => mollie.fields,
    webhooks: () => mollie.events,
    payByCard: (reference) => mollie.pay(reference, 'creditcard'),
    payByDebit: (reference) => mollie.pay(reference, 'directdebit'),
    finishDebit: (reference, isPaid) => mollie.finish(reference, isPaid ? 'paid' : 'failed'),
    isOpen: (reference) => mollie.payment(reference).status === 'open',
    refunded: () => mollie.refunds().map(({ amount }) => Math.round(Number(amount.value) * 100)),
    refundThere: (reference, amount) => mollie.refundByHand(reference, (amount / 100).toFixed(2)),
    chargeBack: (reference) => mollie.chargeBack(reference),
    failRefund: () => mollie.finishRefund(mollie.refunds().at(-1)!.id, 'failed'),
    finishRefunds: () => mollie.refunds().forEach(({ id }) => mollie.finishRefund(id, 'refunded')),
    loseAnswer: () => void (mollie.faults.lostAnswers = 1),
    pagesOf: (orderId) => mollie.paymentsOf(orderId).length,
  },
];

beforeAll(async () => {
  [stripe, mollie] = await Promise.all([startStripeServer(), startMollieServer()]);
  // The built-in providers, but for where they find the other side.
  const providers = {
    stripe: createStripeProvider(stripe.address),
    mollie: createMollieProvider({ endpoint: mollie.endpoint }),
  };
  const log = pino(
    { level: 'trace' },
    new Writable({
      write(line: Buffer, _encoding, done) {
        logged.push(line.toString());
        done();
      },
    }),
  );
  service = await startService({ PUBLIC_URL: 'http://kontor.example.com' }, undefined, { providers, log });
  deps = { ...paymentDeps(service, providers), log };
});

afterAll(async () => {
  await service.close();
  await Promise.all([stripe.stop(), mollie.stop()]);
});

describe.each(BANKS)('$name', (bank) => {
  let shop: Shop;
  let tea: string;

  beforeEach(async () => {
    service.setClock(NOW);
    // What other tests have left is not due any more.
    await service.db.run(sql`update payment_attempt set check_at = null`);
    await service.db.run(sql`update order_payment set check_at = null`);
    await service.db.run(sql`update customer_order set release_at = null`);
    bank.webhooks().length = 0;
    shop = await givenBankShop();
    tea = await givenProduct(shop, { price: 4633, stock: 10 });
  });

  async function givenBankShop(settings: object = {}, fields = bank.fields()): Promise<Shop> {
    const made = await givenSmallShop(service, {
      paymentMethods: [{ key: 'card', name: 'Card', provider: bank.name, ...settings }],
    });
    const key = await installationKey(service.config);
    const row = await service.db.one<{ id: string }>(sql`
      select payment_method_id as id from payment_method where shop_id = ${made.shopId} and key = 'card'`);
    await service.db.transaction((tx) => saveFields(tx, key, made.shopId, row!.id, fields));
    return made;
  }

  const at = (minutes: number) => service.setClock(new Date(NOW.getTime() + minutes * 60_000));

  async function opened() {
    const purchase = await buy(shop, tea, 'card');
    const [attempt] = await attemptsOf(shop, purchase.orderId);
    return {
      ...purchase,
      reference: attempt!.reference!,
      paidPath: purchase.payPath.replace(/pay$/, 'paid'),
    };
  }

  const deliver = (webhook: Webhook) =>
    service.app.inject({
      method: 'POST',
      url: `/payments/${shop.shopId}/card/webhook`,
      headers: webhook.headers,
      payload: webhook.body,
    });

  const manage = (orderId: string, method: string, part = '', body?: unknown) =>
    service.call(method, `/manage/shops/${shop.shopId}/orders/${orderId}${part}`, {
      token: shop.token,
      body,
    });

  const managementOf = async (orderId: string) => (await manage(orderId, 'GET')).body.management;
  const stateOf = async (orderId: string) => (await attemptsOf(shop, orderId)).map(({ state }) => state);

  const paidOnce = {
    paidAmount: price(46.33),
    outstandingAmount: price(0),
    payments: [{ kind: 'payment', amount: price(46.33) }],
    paymentAttempts: [{ provider: bank.name, state: 'paid', error: null }],
  };

  test('an order is paid by the return of the shopper, once, whatever webhooks say later', async () => {
    const { visitor, payPath, paidPath, orderId, reference } = await opened();
    const [, page] = /content="0; url=([^"]*)"/.exec((await visitor.get(payPath)).text)!;
    expect(page).toMatch(bank.page);
    bank.payByCard(reference);
    expect((await visitor.get(paidPath)).status).toBe(303);
    expect(await managementOf(orderId)).toMatchObject(paidOnce);
    // Twice, and in the wrong order.
    for (const webhook of [...bank.webhooks(), ...bank.webhooks()].toReversed()) {
      expect((await deliver(webhook)).statusCode).toBe(200);
      await workOff(deps);
    }
    expect(await managementOf(orderId)).toMatchObject(paidOnce);
  });

  test('an order is paid by a webhook, once, also when the shopper comes back later', async () => {
    const { visitor, paidPath, orderId, reference } = await opened();
    bank.payByCard(reference);
    expect(bank.webhooks().length).toBeGreaterThan(0);
    await Promise.all(bank.webhooks().map(deliver));
    await Promise.all([workOff(deps), workOff(deps)]);
    expect(await managementOf(orderId)).toMatchObject(paidOnce);
    await visitor.get(paidPath);
    expect(await managementOf(orderId)).toMatchObject(paidOnce);
  });

  test('a lost webhook is made up for by asking', async () => {
    const { orderId, reference } = await opened();
    bank.payByCard(reference);
    await workOff(deps);
    expect(await stateOf(orderId)).toEqual(['open']);
    at(1);
    await workOff(deps);
    expect(await managementOf(orderId)).toMatchObject(paidOnce);
  });

  test('a direct debit that is on its way keeps the order, and pays it days later', async () => {
    const { visitor, paidPath, orderId, reference } = await opened();
    bank.payByDebit(reference);
    await visitor.get(paidPath);
    expect(await stateOf(orderId)).toEqual(['processing']);
    at(24 * 60);
    await workOff(deps);
    expect(await releaseUnpaidOrders(service.db, 100)).toBe(0);
    bank.finishDebit(reference, true);
    at(5 * 24 * 60);
    await workOff(deps);
    expect(await managementOf(orderId)).toMatchObject(paidOnce);
  });

  test('a direct debit that the bank refuses leaves the order unpaid', async () => {
    const { visitor, paidPath, orderId, reference } = await opened();
    bank.payByDebit(reference);
    await visitor.get(paidPath);
    bank.finishDebit(reference, false);
    await Promise.all(bank.webhooks().map(deliver));
    await workOff(deps);
    expect(await managementOf(orderId)).toMatchObject({ paidAmount: price(0), payments: [] });
    expect(await stateOf(orderId)).toEqual(['failed']);
  });

  test('reserved money is taken when the merchant asks for it', async () => {
    shop = await givenBankShop({ capture: 'manual' });
    tea = await givenProduct(shop, { price: 4633 });
    const { visitor, paidPath, orderId, reference } = await opened();
    bank.payByCard(reference);
    await visitor.get(paidPath);
    expect(await stateOf(orderId)).toEqual(['authorized']);
    expect((await manage(orderId, 'POST', '/capture')).status).toBe(200);
    await workOff(deps);
    expect(await managementOf(orderId)).toMatchObject(paidOnce);
    expect((await manage(orderId, 'POST', '/shipments', {})).status).toBe(201);
  });

  test('reserved money is taken when the order is sent', async () => {
    shop = await givenBankShop({ capture: 'manual' });
    tea = await givenProduct(shop, { price: 4633 });
    const { visitor, paidPath, orderId, reference } = await opened();
    expect((await manage(orderId, 'POST', '/shipments', {})).status).toBe(409);
    bank.payByCard(reference);
    await visitor.get(paidPath);
    expect((await manage(orderId, 'POST', '/shipments', {})).status).toBe(201);
    await workOff(deps);
    expect(await managementOf(orderId)).toMatchObject(paidOnce);
  });

  /** All webhooks, each twice, and what follows from them. */
  const news = async () => {
    for (const webhook of [...bank.webhooks(), ...bank.webhooks()]) await deliver(webhook);
    await workOff(deps);
    await workOff(deps);
  };

  test('a refund that was made in the dashboard is one of the order, once, and only of what is left', async () => {
    const { visitor, paidPath, orderId, reference } = await opened();
    bank.payByCard(reference);
    await visitor.get(paidPath);
    at(1);
    bank.refundThere(reference, 1633);
    const made = bank.refunded().length;
    await news();
    bank.finishRefunds();
    at(60);
    await news();
    const { refundedAmount, payments } = await managementOf(orderId);
    expect(refundedAmount).toEqual(price(16.33));
    expect(payments).toHaveLength(2);
    expect(payments[1]).toMatchObject({
      kind: 'refund',
      amount: price(16.33),
      note: 'Made at the payment provider',
      reference: expect.stringMatching(/^re_/),
    });
    expect(payments[1].state).toBeUndefined();
    expect(bank.refunded()).toHaveLength(made);
    expect((await manage(orderId, 'POST', '/refunds', { amount: 30.01 })).status).toBe(409);
    at(61);
    expect((await manage(orderId, 'POST', '/refunds', { amount: 30 })).status).toBe(201);
    await news();
    expect((await managementOf(orderId)).payments).toHaveLength(3);
    const history = await manage(orderId, 'GET', '/history?resultsPerPage=100');
    expect(
      history.body.items
        .filter(({ kind }: { kind: string }) => kind === 'refund requested')
        .map(({ details }: { details: { reason?: string } }) => details.reason),
    ).toEqual(['Made at the payment provider', undefined]);
    // What fails after all is not refunded any more.
    bank.failRefund();
    at(120);
    await news();
    expect((await managementOf(orderId)).refundedAmount).toEqual(price(16.33));
  });

  test('a refund in the dashboard while one of ours is on its way: the provider makes one, and so do we', async () => {
    const { visitor, paidPath, orderId, reference } = await opened();
    bank.payByCard(reference);
    await visitor.get(paidPath);
    at(1);
    await manage(orderId, 'POST', '/refunds', { amount: 46.33 });
    at(2);
    bank.refundThere(reference, 4600);
    await news();
    at(10);
    await news();
    bank.finishRefunds();
    at(120);
    await news();
    const { refundedAmount, payments } = await managementOf(orderId);
    expect(refundedAmount).toEqual(price(46));
    expect(payments.map(({ state }: { state?: string }) => state)).toEqual([undefined, 'failed', undefined]);
  });

  test('a chargeback is told to the merchant once, and stands in the history', async () => {
    const { visitor, paidPath, orderId, reference } = await opened();
    bank.payByCard(reference);
    await visitor.get(paidPath);
    bank.chargeBack(reference);
    await news();
    await news();
    const problems = (await queuedEmails(service)).filter(
      ({ template, facts }) => template === 'paymentProblem' && facts['orderId'] === orderId,
    );
    expect(problems).toMatchObject([{ facts: { problem: 'chargeback', amount: '€46.33' } }]);
    const history = await manage(orderId, 'GET', '/history?resultsPerPage=100');
    expect(history.body.items.filter(({ kind }: { kind: string }) => kind === 'chargeback')).toMatchObject([
      { details: { provider: bank.name, amount: 46.33 } },
    ]);
    expect((await managementOf(orderId)).refundedAmount).toEqual(price(0));
  });

  test('the page of an order that is released is closed first', async () => {
    const { orderId, reference } = await opened();
    at(61);
    await workOff(deps);
    expect(bank.isOpen(reference)).toBe(false);
    expect(await releaseUnpaidOrders(service.db, 100)).toBe(1);
    expect(await stateOf(orderId)).toEqual(['cancelled']);
  });

  test('refunds in parts go back to the cent, and not a cent more', async () => {
    const { visitor, paidPath, orderId, reference } = await opened();
    bank.payByCard(reference);
    await visitor.get(paidPath);
    const before = bank.refunded().length;
    for (const amount of [0.01, 16.32, 30]) {
      expect((await manage(orderId, 'POST', '/refunds', { amount })).status).toBe(201);
    }
    expect(
      (await changesNothing(service, () => manage(orderId, 'POST', '/refunds', { amount: 0.01 }))).status,
    ).toBe(409);
    await workOff(deps);
    const sent = bank.refunded().slice(before);
    expect(sent.toSorted((one, other) => one - other)).toEqual([1, 1632, 3000]);
    bank.finishRefunds();
    at(60);
    await workOff(deps);
    const { refundedAmount, payments } = await managementOf(orderId);
    expect(refundedAmount).toEqual(price(46.33));
    expect(payments.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual([
      'payment',
      'refund',
      'refund',
      'refund',
    ]);
    // None is still to come, and none has failed.
    expect(payments.filter(({ state }: { state?: string }) => state !== undefined)).toEqual([]);
    expect(bank.refunded().slice(before)).toEqual(sent);
  });

  test('a provider whose answer is lost costs no order, and opens one page only', async () => {
    bank.loseAnswer();
    const { visitor, orderId } = await buy(shop, tea, 'card');
    const page = await visitor.get('/confirmation');
    expect(page.text).toContain('The payment could not be started.');
    const [, action] = /action="([^"]*\/pay)"/.exec(page.text)!;
    await visitor.post(action!, {});
    expect(await stateOf(orderId)).toEqual(['open']);
    expect(bank.pagesOf(orderId)).toBe(1);
  });

  test('no secret is in a log, an answer or the database in clear', async () => {
    const secrets = Object.values(bank.fields());
    const wrong = Object.fromEntries(
      Object.keys(bank.fields()).map((name) => [name, `${secrets[0]}_wrong\n`]),
    );
    shop = await givenBankShop({}, wrong);
    tea = await givenProduct(shop, { price: 4633 });
    const { visitor, orderId } = await buy(shop, tea, 'card');
    at(2);
    await workOff(deps);
    const { paymentAttempts } = await managementOf(orderId);
    expect(paymentAttempts).toMatchObject([
      { state: 'failed', error: expect.stringMatching(/^(Stripe|Mollie)/) },
    ]);
    const texts = [
      ...logged,
      (await visitor.get('/confirmation')).text,
      JSON.stringify((await manage(orderId, 'GET')).body),
      JSON.stringify((await manage(orderId, 'GET', '/history')).body),
      JSON.stringify(await service.db.many(sql`select * from payment_attempt`)),
      JSON.stringify(await service.db.many(sql`select encode(fields_sealed, 'escape') from payment_account`)),
    ];
    expect(logged.join('')).toContain('payment');
    for (const secret of secrets) {
      for (const text of texts) expect(text).not.toContain(secret);
    }
  });
});

test('a webhook with a wrong signature of Stripe is refused, and changes nothing', async () => {
  const shop = await givenSmallShop(service, {
    paymentMethods: [{ key: 'card', name: 'Card', provider: 'stripe' }],
  });
  const key = await installationKey(service.config);
  const row = await service.db.one<{ id: string }>(sql`
    select payment_method_id as id from payment_method where shop_id = ${shop.shopId}`);
  await service.db.transaction((tx) => saveFields(tx, key, shop.shopId, row!.id, stripe.fields));
  const tea = await givenProduct(shop, { price: 4633 });
  const { orderId } = await buy(shop, tea, 'card');
  const [attempt] = await attemptsOf(shop, orderId);
  stripe.events.length = 0;
  stripe.payByCard(attempt!.reference!);
  const { body } = stripe.events.at(-1)!;
  const send = (signature: string) =>
    service.app.inject({
      method: 'POST',
      url: `/payments/${shop.shopId}/card/webhook`,
      headers: { 'content-type': 'application/json', 'stripe-signature': signature },
      payload: body,
    });
  await changesNothing(service, async () => {
    expect((await send(sign(body, { secret: 'whsec_other' }))).statusCode).toBe(400);
    expect((await send(sign(body, { at: 1_700_000_000 }))).statusCode).toBe(400);
    expect(await send('')).toMatchObject({ statusCode: 400 });
  });
  expect((await send(sign(body))).statusCode).toBe(200);
});
