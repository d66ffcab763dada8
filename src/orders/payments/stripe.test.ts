import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sign, startStripeServer, type StripeServer } from '../../../test/payment-servers/stripe.ts';
import {
  PaymentRefused,
  type Account,
  type NewPayment,
  type RefundRequest,
  type PaymentProvider,
} from './provider.ts';
import { createStripeProvider } from './stripe.ts';

let server: StripeServer;
let stripe: PaymentProvider;
let account: Account;
let byHand: Account;

beforeAll(async () => {
  server = await startStripeServer();
  stripe = createStripeProvider(server.address);
  account = { shopId: 'Shop', fields: server.fields, capture: 'automatic', settings: {} };
  byHand = { ...account, capture: 'manual' };
});

afterAll(() => server.stop());

beforeEach(() => {
  server.calls.length = 0;
  server.events.length = 0;
  server.setSlowRefunds(false);
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
    webhookUrl: 'https://kontor.example.com/payments/Shop/stripe/webhook',
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
  (await stripe.start(newPayment(more), by)).reference;

async function beginPaid(more: Partial<NewPayment> = {}): Promise<string> {
  const reference = await begin(more);
  server.payByCard(reference);
  return reference;
}

const methodsAndPaths = () => server.calls.map(({ method, path }) => `${method} ${path}`);

describe('a payment page', () => {
  test('is made for the sum of the order', async () => {
    const payment = newPayment();
    const { reference, redirectTo } = await stripe.start(payment, account);
    expect(redirectTo).toBe(`https://checkout.stripe.com/c/pay/${reference}`);
    expect(server.session(reference)).toMatchObject({
      amount_total: 4633,
      currency: 'eur',
      adaptive_pricing: { enabled: false },
      client_reference_id: payment.orderId,
      customer_email: 'ada@example.com',
      locale: 'de',
      metadata: { attemptId: payment.id, orderId: payment.orderId },
      success_url: payment.returnUrl,
      cancel_url: payment.returnUrl,
    });
    expect(server.calls[0]!.headers['idempotency-key']).toBe(payment.id);
    expect(await stripe.confirm(reference, account)).toEqual({ state: 'open', captured: 0, currency: 'EUR' });
  });

  test('is the same one when it is made again, also after a lost answer', async () => {
    const payment = newPayment();
    const first = await stripe.start(payment, account);
    expect(await stripe.start(payment, account)).toEqual(first);

    const other = newPayment();
    server.faults.lostAnswers = 1;
    const { reference } = await stripe.start(other, account);
    // The client has asked again by itself, with the same key.
    expect(server.calls.filter(({ headers }) => headers['idempotency-key'] === other.id)).toHaveLength(2);
    expect((await stripe.start(other, account)).reference).toBe(reference);
  });

  test('is refused when the id was used for another sum', async () => {
    const payment = newPayment();
    await stripe.start(payment, account);
    const failure = stripe.start({ ...payment, amount: 1 + payment.amount }, account);
    await expect(failure).rejects.toThrow(PaymentRefused);
    await expect(failure).rejects.toThrow(/Keys for idempotent requests/);
  });

  test.each([
    ['de_AT', 'de'],
    ['en_GB', 'en-GB'],
    ['pt_BR', 'pt-BR'],
    ['en_US', 'en'],
    ['zh_TW', 'zh-TW'],
    ['uk_UA', 'auto'],
  ])('in %s is shown in %s', async (locale, expected) => {
    expect(server.session(await begin({ locale })).locale).toBe(expected);
  });

  test('needs no email address', async () => {
    expect(server.session(await begin({ email: undefined })).customer_email).toBeNull();
  });
});

describe('amounts', () => {
  test.each([
    ['EUR', 4633, 4633],
    ['JPY', 500, 500],
    ['KWD', 5120, 5120],
    // Node knows no decimals of these, and Stripe two.
    ['HUF', 500, 50_000],
    ['ISK', 500, 50_000],
  ])('of %s are charged and refunded to the last digit', async (currency, amount, inStripe) => {
    const reference = await beginPaid({ currency, amount });
    expect(server.session(reference).amount_total).toBe(inStripe);
    expect(await stripe.confirm(reference, account)).toEqual({ state: 'paid', captured: amount, currency });
    await stripe.refund(reference, newRefund(amount, { currency }), account);
    expect(server.refunds().at(-1)).toMatchObject({ amount: inStripe, currency: currency.toLowerCase() });
  });

  test('that Stripe can not charge exactly are refused before it is asked', async () => {
    await expect(begin({ currency: 'KWD', amount: 5124 })).rejects.toThrow(
      new PaymentRefused('The provider can charge KWD in steps of 0.010 only'),
    );
    await expect(begin({ currency: 'UGX', amount: 5000 })).rejects.toThrow(PaymentRefused);
    expect(server.calls).toEqual([]);
  });

  test('that are too small are refused by Stripe', async () => {
    await expect(begin({ amount: 49 })).rejects.toThrow(/^Stripe: .*at least €0.50/);
    await expect(begin({ amount: 49 })).rejects.toThrow(PaymentRefused);
  });
});

describe('what becomes of a payment', () => {
  test('a card is paid at once', async () => {
    const reference = await beginPaid();
    expect(await stripe.confirm(reference, account)).toEqual({
      state: 'paid',
      captured: 4633,
      currency: 'EUR',
    });
  });

  test('after a declined card, the shopper can try another one', async () => {
    const reference = await begin();
    server.declineCard(reference);
    expect(await stripe.confirm(reference, account)).toMatchObject({ state: 'open', captured: 0 });
    server.payByCard(reference);
    expect(await stripe.confirm(reference, account)).toMatchObject({ state: 'paid', captured: 4633 });
  });

  test('SEPA is on its way, then paid', async () => {
    const reference = await begin();
    server.payBySepa(reference);
    expect(await stripe.confirm(reference, account)).toMatchObject({ state: 'processing', captured: 0 });
    server.finishSepa(reference, true);
    expect(await stripe.confirm(reference, account)).toMatchObject({ state: 'paid', captured: 4633 });
  });

  test('SEPA is on its way, then refused by the bank', async () => {
    const reference = await begin();
    server.payBySepa(reference);
    server.finishSepa(reference, false);
    expect(await stripe.confirm(reference, account)).toMatchObject({ state: 'failed', captured: 0 });
  });

  test('a page that nobody used ends after a day', async () => {
    const reference = await begin();
    server.expire(reference);
    expect(await stripe.confirm(reference, account)).toMatchObject({ state: 'cancelled', captured: 0 });
  });

  test('what was paid back does not lessen what was paid', async () => {
    const reference = await beginPaid();
    await stripe.refund(reference, newRefund(1000), account);
    expect(await stripe.confirm(reference, account)).toMatchObject({ state: 'paid', captured: 4633 });
  });

  test('an unknown payment is refused', async () => {
    await expect(stripe.confirm('cs_test_unknown', account)).rejects.toThrow(PaymentRefused);
  });
});

describe('capture', () => {
  test('takes the money of an authorized payment, once', async () => {
    const reference = await begin({}, byHand);
    server.payByCard(reference);
    expect(await stripe.confirm(reference, byHand)).toMatchObject({ state: 'authorized', captured: 0 });
    expect(await stripe.capture(reference, byHand)).toMatchObject({ state: 'paid', captured: 4633 });
    expect(await stripe.capture(reference, byHand)).toMatchObject({ state: 'paid', captured: 4633 });
    expect(methodsAndPaths().filter((text) => text.endsWith('/capture'))).toHaveLength(1);
  });

  test('of a payment that is still open changes nothing', async () => {
    const reference = await begin({}, byHand);
    expect(await stripe.capture(reference, byHand)).toMatchObject({ state: 'open' });
    expect(methodsAndPaths().filter((text) => text.endsWith('/capture'))).toEqual([]);
  });

  test('whose answer was lost is found to be done', async () => {
    const reference = await begin({}, byHand);
    server.payByCard(reference);
    server.faults.lostAnswers = 1;
    expect(await stripe.capture(reference, byHand)).toMatchObject({ state: 'paid', captured: 4633 });
  });
});

describe('cancel', () => {
  test('closes the page, once', async () => {
    const reference = await begin();
    expect(await stripe.cancel(reference, account)).toMatchObject({ state: 'cancelled', captured: 0 });
    expect(server.session(reference)).toMatchObject({ status: 'expired', url: null });
    expect(await stripe.cancel(reference, account)).toMatchObject({ state: 'cancelled', captured: 0 });
    expect(methodsAndPaths().filter((text) => text.endsWith('/expire'))).toHaveLength(1);
  });

  test('gives up an authorized payment', async () => {
    const reference = await begin({}, byHand);
    server.payByCard(reference);
    expect(await stripe.cancel(reference, byHand)).toMatchObject({ state: 'cancelled', captured: 0 });
  });

  test('leaves alone what is paid or on its way', async () => {
    const paid = await beginPaid();
    expect(await stripe.cancel(paid, account)).toMatchObject({ state: 'paid', captured: 4633 });
    const coming = await begin();
    server.payBySepa(coming);
    expect(await stripe.cancel(coming, account)).toMatchObject({ state: 'processing', captured: 0 });
    expect(server.calls.filter(({ method }) => method === 'POST')).toHaveLength(2);
  });

  test('that comes too late says that the payment is paid', async () => {
    const reference = await begin();
    server.faults.delay = 150;
    const cancelling = stripe.cancel(reference, account);
    // Stripe has said that the page is open, and is paid before it is told to close it.
    await expect.poll(() => methodsAndPaths().some((text) => text.endsWith('/expire'))).toBe(true);
    server.payByCard(reference);
    expect(await cancelling).toMatchObject({ state: 'paid', captured: 4633 });
    server.faults.delay = 0;
  });
});

describe('refunds', () => {
  test('in parts add up to the cent, and not to more', async () => {
    const reference = await beginPaid();
    for (const amount of [1, 1632, 3000]) {
      expect(await stripe.refund(reference, newRefund(amount), account)).toMatchObject({ state: 'done' });
    }
    await expect(stripe.refund(reference, newRefund(1), account)).rejects.toThrow(PaymentRefused);
    const intent = server.session(reference).payment_intent;
    const made = server.refunds().filter(({ payment_intent }) => payment_intent === intent);
    expect(made.map(({ amount }) => amount)).toEqual([1, 1632, 3000]);
  });

  test('are made once, however often and late they are asked for', async () => {
    const reference = await beginPaid();
    const refund = newRefund(1000);
    const first = await stripe.refund(reference, refund, account);
    expect(await stripe.refund(reference, refund, account)).toEqual(first);
    server.forgetKeys();
    expect(await stripe.refund(reference, refund, account)).toEqual(first);
    expect(await stripe.refund(reference, { ...refund, reference: first.reference }, account)).toEqual(first);

    const lost = newRefund(500);
    // Also that of the second try, which the client makes by itself.
    server.faults.lostAnswers = 2;
    await expect(stripe.refund(reference, lost, account)).rejects.toThrow(/^Stripe: /);
    server.forgetKeys();
    expect(await stripe.refund(reference, lost, account)).toMatchObject({ state: 'done' });
    const intent = server.session(reference).payment_intent;
    const made = server.refunds().filter(({ payment_intent }) => payment_intent === intent);
    expect(made.map(({ amount }) => amount)).toEqual([1000, 500]);
  });

  test('that take time are asked about by their reference', async () => {
    const reference = await beginPaid();
    server.setSlowRefunds(true);
    const refund = newRefund(1000);
    const { state, reference: made } = await stripe.refund(reference, refund, account);
    expect(state).toBe('processing');
    server.finishRefund(made, 'failed');
    const again = { ...refund, reference: made };
    expect(await stripe.refund(reference, again, account)).toEqual({ state: 'failed', reference: made });
    server.finishRefund(made, 'succeeded');
    expect(await stripe.refund(reference, again, account)).toEqual({ state: 'done', reference: made });
  });

  test('of a payment that nobody has paid are refused', async () => {
    const reference = await begin();
    await expect(stripe.refund(reference, newRefund(1), account)).rejects.toThrow(PaymentRefused);
  });
});

describe('webhooks', () => {
  test('name the payment that they are about', async () => {
    const reference = await beginPaid();
    const completed = server.events.find(({ type }) => type === 'checkout.session.completed')!;
    expect(await stripe.webhook(completed, account)).toEqual([reference]);
    const other = server.events.find(({ type }) => type === 'payment_intent.succeeded')!;
    const { id } = server.intents().at(-1)!;
    expect(await stripe.webhook(other, account)).toEqual([id]);
  });

  test('are refused with a wrong signature', async () => {
    await beginPaid();
    const { headers, body } = server.events.at(-1)!;
    const signed = (signature: string | undefined) => ({ headers: { 'stripe-signature': signature }, body });
    const now = Math.floor(Date.now() / 1000);
    const refused = [
      signed(undefined),
      signed(''),
      signed('t=1,v1=abc'),
      signed(sign(body, { secret: 'whsec_other' })),
      // Older than five minutes: somebody may have recorded it.
      signed(sign(body, { at: now - 301 })),
      { headers, body: Buffer.concat([body, Buffer.from(' ')]) },
      { headers: { 'stripe-signature': [headers['stripe-signature']] }, body },
      { headers: { 'stripe-signature': sign(Buffer.from('no JSON')) }, body: Buffer.from('no JSON') },
      { headers: { 'stripe-signature': sign(Buffer.alloc(0)) }, body: Buffer.alloc(0) },
    ];
    for (const request of refused) expect(await stripe.webhook(request, account)).toBeUndefined();
    expect(await stripe.webhook(signed(sign(body, { at: now - 290 })), account)).toHaveLength(1);
    const { secretKey } = server.fields;
    expect(await stripe.webhook({ headers, body }, { ...account, fields: { secretKey } })).toBeUndefined();
  });
});

describe('when Stripe fails', () => {
  test('a moment of failure is bridged', async () => {
    const reference = await begin();
    server.faults.failures = { count: 1, status: 503 };
    expect(await stripe.confirm(reference, account)).toMatchObject({ state: 'open' });
  });

  test.each([500, 503, 429, 409])('%i is no refusal', async (status) => {
    const reference = await begin();
    server.faults.failures = { count: 3, status };
    const failure = await stripe.confirm(reference, account).catch((error: unknown) => error);
    server.faults.failures.count = 0;
    expect(failure).toBeInstanceOf(Error);
    expect(failure).not.toBeInstanceOf(PaymentRefused);
  });

  test('silence ends in time, and is no refusal', async () => {
    const impatient = createStripeProvider({ ...server.address, timeout: 200 });
    const reference = await begin();
    server.faults.isSilent = true;
    const failure = await impatient.confirm(reference, account).catch((error: unknown) => error);
    server.faults.isSilent = false;
    expect(String(failure)).toBe('Error: Stripe: Request aborted due to timeout being reached (200ms)');
  });

  test('a wrong key is no refusal of the payment, and is told to nobody', async () => {
    const reference = await begin();
    const wrong = { ...account, fields: { secretKey: 'sk_test_thisIsAnotherKey1234' } };
    const failure = await stripe.confirm(reference, wrong).catch((error: unknown) => error);
    expect(failure).not.toBeInstanceOf(PaymentRefused);
    expect(String(failure)).toBe(
      'Error: Stripe does not accept the key, or the key does not allow this. Set another one with: npx kontor payment set',
    );
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toMatch(/sk_test|1234/);
  });

  test('no error holds a secret', async () => {
    const { secretKey, webhookSecret } = server.fields;
    const closed = await startStripeServer();
    const nobody = createStripeProvider(closed.address);
    await closed.stop();
    const failures = await Promise.all([
      stripe.confirm('cs_test_unknown', account).catch((error: unknown) => error),
      begin({ amount: 1 }).catch((error: unknown) => error),
      nobody.confirm('cs_test_a', account).catch((error: unknown) => error),
      begin({}, { ...account, fields: { secretKey: `${secretKey}\n` } }).catch((error: unknown) => error),
    ]);
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(Error);
      const text = inspect(failure, { depth: 9, showHidden: true });
      expect(text).not.toContain(secretKey);
      expect(text).not.toContain(webhookSecret);
    }
  });

  test('every change has an idempotency key', async () => {
    const reference = await begin({}, byHand);
    server.payByCard(reference);
    await stripe.capture(reference, byHand);
    await stripe.refund(reference, newRefund(1), byHand);
    await stripe.cancel(await begin(), account);
    const changes = server.calls.filter(({ method }) => method === 'POST');
    expect(changes).toHaveLength(5);
    for (const { headers } of changes) expect(headers['idempotency-key']).toMatch(/^[\w-]{36,}$/);
    expect(new Set(changes.map(({ headers }) => headers['idempotency-key'])).size).toBe(5);
  });
});
