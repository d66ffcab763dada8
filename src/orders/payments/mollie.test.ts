import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startMollieServer, type MollieServer } from '../../../test/payment-servers/mollie.ts';
import { createMollieProvider } from './mollie.ts';
import {
  PaymentRefused,
  type Account,
  type NewPayment,
  type RefundRequest,
  type PaymentProvider,
} from './provider.ts';

let server: MollieServer;
let mollie: PaymentProvider;
let account: Account;
let byHand: Account;

beforeAll(async () => {
  server = await startMollieServer();
  mollie = createMollieProvider({ endpoint: server.endpoint });
  account = { shopId: 'Shop', fields: server.fields, capture: 'automatic', settings: {} };
  byHand = { ...account, capture: 'manual' };
});

afterAll(() => server.stop());

beforeEach(() => {
  server.calls.length = 0;
  server.events.length = 0;
  server.setCancelable(true);
  server.setSlowCaptures(false);
});

function newPayment(more: Partial<NewPayment> = {}): NewPayment {
  return {
    id: randomUUID(),
    amount: 4633,
    currency: 'EUR',
    orderId: '019A0000-0000-7000-8000-000000000001',
    orderNumber: 'ORD261116/1001',
    shopName: 'Demo Shop',
    email: 'ada@example.com',
    locale: 'de_DE',
    returnUrl: 'https://shop.example.com/order/token/paid',
    webhookUrl: 'https://kontor.example.com/payments/Shop/mollie/webhook',
    ...more,
  };
}

const newRefund = (amount: number, more: Partial<RefundRequest> = {}): RefundRequest => ({
  id: randomUUID(),
  amount,
  currency: 'EUR',
  orderNumber: 'ORD261116/1001',
  reference: null,
  ...more,
});

const begin = async (more: Partial<NewPayment> = {}, by = account) =>
  (await mollie.start(newPayment(more), by)).reference;

async function beginPaid(more: Partial<NewPayment> = {}): Promise<string> {
  const reference = await begin(more);
  server.pay(reference, 'creditcard');
  return reference;
}

async function beginAuthorized(): Promise<string> {
  const reference = await begin({}, byHand);
  server.pay(reference, 'creditcard');
  return reference;
}

const methodsAndPaths = () => server.calls.map(({ method, path }) => `${method} ${path}`);
const refundsOf = (reference: string) => server.refunds().filter(({ paymentId }) => paymentId === reference);

describe('a payment page', () => {
  test('is made for the sum of the order', async () => {
    const payment = newPayment();
    const { reference, redirectTo } = await mollie.start(payment, account);
    expect(redirectTo).toBe(`https://www.mollie.com/checkout/select-method/${reference.slice(3)}`);
    expect(server.payment(reference)).toMatchObject({
      amount: { currency: 'EUR', value: '46.33' },
      description: 'ORD261116/1001 Demo Shop',
      locale: 'de_DE',
      metadata: { attemptId: payment.id, orderId: payment.orderId },
      redirectUrl: payment.returnUrl,
      webhookUrl: payment.webhookUrl,
    });
    expect(server.calls[0]!.headers['idempotency-key']).toBe(payment.id);
    expect(await mollie.confirm(reference, account)).toEqual({ state: 'open', captured: 0, currency: 'EUR' });
  });

  test('is the same one when it is made again, also after a lost answer', async () => {
    const payment = newPayment();
    const first = await mollie.start(payment, account);
    expect(await mollie.start(payment, account)).toEqual(first);

    const other = newPayment();
    server.faults.lostAnswers = 1;
    await expect(mollie.start(other, account)).rejects.toThrow(/^Mollie: /);
    const { reference } = await mollie.start(other, account);
    expect((await mollie.start(other, account)).reference).toBe(reference);
    expect(server.payment(reference).metadata).toMatchObject({ attemptId: other.id });
  });

  test('is refused when the id was used for another sum', async () => {
    const payment = newPayment();
    await mollie.start(payment, account);
    await expect(mollie.start({ ...payment, amount: 1 + payment.amount }, account)).rejects.toThrow(
      PaymentRefused,
    );
  });

  test('names no webhook that Mollie can not reach, and no language that it does not know', async () => {
    const local = await begin({
      webhookUrl: 'http://localhost:8080/payments/Shop/mollie/webhook',
      locale: 'uk_UA',
    });
    expect(server.payment(local)).not.toHaveProperty('webhookUrl');
    expect(server.payment(local)).not.toHaveProperty('locale');
  });

  test('has room for long names of shops', async () => {
    const reference = await begin({ shopName: 'x'.repeat(300) });
    expect(server.payment(reference).description).toHaveLength(255);
  });
});

describe('amounts', () => {
  test.each([
    ['EUR', 4633, '46.33'],
    ['EUR', 5, '0.05'],
    ['EUR', 123_456_789, '1234567.89'],
    ['JPY', 500, '500'],
    ['ISK', 500, '500'],
    // Node knows no decimals of the forint, and Mollie two.
    ['HUF', 500, '500.00'],
  ])('of %s are charged and refunded to the last digit: %i', async (currency, amount, value) => {
    const reference = await beginPaid({ currency, amount });
    expect(server.payment(reference).amount).toEqual({ currency, value });
    expect(await mollie.confirm(reference, account)).toEqual({ state: 'paid', captured: amount, currency });
    await mollie.refund(reference, newRefund(amount, { currency }), account);
    expect(refundsOf(reference)).toMatchObject([{ amount: { currency, value } }]);
  });

  test('that Mollie can not charge are refused', async () => {
    await expect(begin({ currency: 'KWD', amount: 5124 })).rejects.toThrow(
      new PaymentRefused('The provider can charge KWD in steps of 0.01 only'),
    );
    expect(server.calls).toEqual([]);
    await expect(begin({ currency: 'KWD', amount: 5120 })).rejects.toThrow(
      new PaymentRefused('Mollie: The amount contains an invalid currency'),
    );
  });
});

describe('what becomes of a payment', () => {
  test('a direct debit is on its way, then paid or failed', async () => {
    for (const status of ['paid', 'failed'] as const) {
      const reference = await begin();
      server.pay(reference, 'directdebit');
      expect(await mollie.confirm(reference, account)).toMatchObject({ state: 'processing', captured: 0 });
      server.finish(reference, status);
      const captured = status === 'paid' ? 4633 : 0;
      expect(await mollie.confirm(reference, account)).toEqual({ state: status, captured, currency: 'EUR' });
    }
  });

  test.each(['expired', 'canceled'] as const)('%s is cancelled', async (status) => {
    const reference = await begin();
    server.finish(reference, status);
    expect(await mollie.confirm(reference, account)).toMatchObject({ state: 'cancelled', captured: 0 });
  });

  test('an unknown payment is refused', async () => {
    await expect(mollie.confirm('tr_unknown', account)).rejects.toThrow(PaymentRefused);
  });
});

describe('capture', () => {
  test('takes the money of an authorized payment, once', async () => {
    const reference = await beginAuthorized();
    expect(await mollie.confirm(reference, byHand)).toMatchObject({ state: 'authorized', captured: 0 });
    expect(await mollie.capture(reference, byHand)).toMatchObject({ state: 'paid', captured: 4633 });
    expect(await mollie.capture(reference, byHand)).toMatchObject({ state: 'paid', captured: 4633 });
    expect(methodsAndPaths().filter((text) => text.endsWith('/captures'))).toHaveLength(1);
  });

  test('that takes time is not made again until it has failed', async () => {
    const reference = await beginAuthorized();
    server.setSlowCaptures(true);
    expect(await mollie.capture(reference, byHand)).toMatchObject({ state: 'authorized' });
    expect(await mollie.capture(reference, byHand)).toMatchObject({ state: 'authorized' });
    server.finishCapture(reference, 'failed');
    expect(await mollie.capture(reference, byHand)).toMatchObject({ state: 'authorized' });
    server.finishCapture(reference, 'succeeded');
    expect(await mollie.capture(reference, byHand)).toMatchObject({ state: 'paid', captured: 4633 });
    expect(methodsAndPaths().filter((text) => text.endsWith('/captures'))).toHaveLength(2);
  });
});

describe('cancel', () => {
  test('ends an open payment, once', async () => {
    const reference = await begin();
    expect(await mollie.cancel(reference, account)).toMatchObject({ state: 'cancelled', captured: 0 });
    expect(await mollie.cancel(reference, account)).toMatchObject({ state: 'cancelled', captured: 0 });
    expect(methodsAndPaths().filter((text) => text.startsWith('DELETE'))).toHaveLength(1);
  });

  test('says that a payment stays open which Mollie does not cancel', async () => {
    server.setCancelable(false);
    const reference = await begin();
    expect(await mollie.cancel(reference, account)).toMatchObject({ state: 'open', captured: 0 });
    expect(methodsAndPaths().filter((text) => text.startsWith('DELETE'))).toEqual([]);
  });

  test('gives up an authorized payment', async () => {
    const reference = await beginAuthorized();
    expect(await mollie.cancel(reference, byHand)).toMatchObject({ state: 'cancelled', captured: 0 });
  });

  test('leaves alone what is paid or on its way', async () => {
    const paid = await beginPaid();
    expect(await mollie.cancel(paid, account)).toMatchObject({ state: 'paid', captured: 4633 });
    const coming = await begin();
    server.pay(coming, 'directdebit');
    expect(await mollie.cancel(coming, account)).toMatchObject({ state: 'processing', captured: 0 });
  });

  test('that comes too late says that the payment is paid', async () => {
    const reference = await begin();
    server.faults.delay = 150;
    const cancelling = mollie.cancel(reference, account);
    await expect.poll(() => methodsAndPaths().some((text) => text.startsWith('DELETE'))).toBe(true);
    server.pay(reference, 'creditcard');
    expect(await cancelling).toMatchObject({ state: 'paid', captured: 4633 });
    server.faults.delay = 0;
  });
});

describe('refunds', () => {
  test('in parts add up to the cent, and not to more', async () => {
    const reference = await beginPaid();
    for (const amount of [1, 1632, 3000]) {
      expect(await mollie.refund(reference, newRefund(amount), account)).toMatchObject({
        state: 'processing',
      });
    }
    await expect(mollie.refund(reference, newRefund(2), account)).rejects.toThrow(PaymentRefused);
    expect(refundsOf(reference).map(({ amount }) => amount.value)).toEqual(['0.01', '16.32', '30.00']);
  });

  test('of the same amount are made an hour apart', async () => {
    const reference = await beginPaid();
    await mollie.refund(reference, newRefund(1000), account);
    const second = newRefund(1000);
    const failure = await mollie.refund(reference, second, account).catch((error: unknown) => error);
    expect(String(failure)).toBe('Error: Mollie: A duplicate refund has been detected');
    server.passHour();
    await mollie.refund(reference, second, account);
    expect(refundsOf(reference).map(({ metadata }) => metadata)).toContainEqual({ refundId: second.id });
  });

  test('are made once, however often and late they are asked for', async () => {
    const reference = await beginPaid();
    const refund = newRefund(1000);
    server.faults.lostAnswers = 1;
    await expect(mollie.refund(reference, refund, account)).rejects.toThrow(/^Mollie: /);
    server.passHour();
    const made = await mollie.refund(reference, refund, account);
    expect(await mollie.refund(reference, { ...refund, reference: made.reference }, account)).toEqual(made);
    expect(refundsOf(reference)).toHaveLength(1);
  });

  test('end after some hours', async () => {
    const reference = await beginPaid();
    const refund = newRefund(1000);
    const { state, reference: made } = await mollie.refund(reference, refund, account);
    expect(state).toBe('processing');
    const again = { ...refund, reference: made };
    server.finishRefund(made, 'failed');
    expect(await mollie.refund(reference, again, account)).toEqual({ state: 'failed', reference: made });
    server.finishRefund(made, 'refunded');
    expect(await mollie.refund(reference, again, account)).toEqual({ state: 'done', reference: made });
  });

  test('of a payment that nobody has paid are refused', async () => {
    const reference = await begin();
    await expect(mollie.refund(reference, newRefund(1), account)).rejects.toThrow(PaymentRefused);
  });
});

test('a webhook names a payment, and nothing else', async () => {
  const reference = await beginPaid();
  expect(server.events).toHaveLength(1);
  expect(server.events[0]!.url).toBe('https://kontor.example.com/payments/Shop/mollie/webhook');
  expect(await mollie.webhook(server.events[0]!, account)).toEqual([reference]);
  for (const text of [
    '',
    'id=',
    'id=../payments',
    'id=ord_1',
    '{"id":"tr_1"}',
    `id=tr_${'x'.repeat(200)}`,
    '\0',
  ]) {
    expect(await mollie.webhook({ headers: {}, body: Buffer.from(text) }, account)).toBeUndefined();
  }
});

describe('when Mollie fails', () => {
  test.each([503, 429])('%i is no refusal', async (status) => {
    const reference = await begin();
    server.faults.failures = { count: 1, status };
    const outcome = await mollie.confirm(reference, account).catch((error: unknown) => error);
    // The client asks again after a 503, and not after a 429.
    if (status === 503) expect(outcome).toMatchObject({ state: 'open' });
    else expect(String(outcome)).toBe('Error: Mollie: Try again');
  });

  test('silence ends in time, leaves no connection behind, and is no refusal', async () => {
    const impatient = createMollieProvider({ endpoint: server.endpoint, timeout: 200 });
    const reference = await begin();
    server.faults.isSilent = true;
    const failure = await impatient.confirm(reference, account).catch((error: unknown) => error);
    server.faults.isSilent = false;
    expect(String(failure)).toMatch(/^Error: Mollie: request to .* failed, reason: no answer in time$/);
    await expect.poll(() => server.connections()).toBe(0);
  });

  test('no error holds a secret', async () => {
    const { apiKey } = server.fields;
    // Nobody listens there.
    const nobody = createMollieProvider({ endpoint: 'https://127.0.0.1:1/v2/' });
    const wrong = { ...account, fields: { apiKey: 'test_thisIsAnotherKey1234' } };
    const failures = await Promise.all([
      mollie.confirm('tr_unknown', account).catch((error: unknown) => error),
      nobody.confirm('tr_a', account).catch((error: unknown) => error),
      mollie.confirm('tr_a', wrong).catch((error: unknown) => error),
      begin({}, { ...account, fields: { apiKey: `${apiKey}\n` } }).catch((error: unknown) => error),
    ]);
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(Error);
      expect(inspect(failure, { depth: 9, showHidden: true })).not.toMatch(/test_/);
    }
    expect(failures[2]).not.toBeInstanceOf(PaymentRefused);
  });
});
