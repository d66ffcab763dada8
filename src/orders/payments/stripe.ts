import type { Stripe } from 'stripe';
import { fromProviderAmount, toProviderAmount } from './provider-amounts.ts';
import { changePayment, paymentError } from './provider-errors.ts';
import {
  CALL_TIMEOUT,
  PaymentRefused,
  type Account,
  type Chargeback,
  type NewCharge,
  type NewPayment,
  type PaymentOutcome,
  type OutcomeState,
  type PaymentProvider,
  type RefundOutcome,
  type ReportedRefund,
} from './provider.ts';

/** The version of the API that this file was written for; the client is of the same version. */
const API_VERSION = '2026-10-28.endive';

/**
 * The address of Stripe; only tests change it. It is not a setting of a shop, which could point it at our own network.
 */
export type StripeAddress = Pick<Stripe.StripeConfig, 'host' | 'port' | 'protocol' | 'timeout'>;

/** Tokens of assistants are described for this version of the API; it is a preview. */
const TOKEN_VERSION = '2026-04-22.preview';

type Session = Stripe.Checkout.Session;
type Intent = Stripe.PaymentIntent;

/** The page of a payment, and its money: a page has none until the shopper pays, and a charge has no page. */
interface StripePayment {
  session: Session | null;
  intent: Intent | null;
}

/**
 * Stripe's own payment page (Checkout). A payment is a Checkout Session here; the PaymentIntent, which holds the
 * money, is created when the shopper pays. The merchant's Stripe account determines the ways to pay. A payment with the
 * token of an assistant (a shared payment token) has no page, so it is the PaymentIntent itself.
 */
export function createStripeProvider(address: StripeAddress = {}): PaymentProvider {
  let loading: Promise<Stripe> | undefined;

  /**
   * Makes a request with the merchant's key. Requests that create something name their own idempotency key. The others
   * get one from the client, valid for its own retry: they are idempotent in any case.
   */
  const call = async <Result>(
    account: Account,
    request: (stripe: Stripe, options: { apiKey: string }) => Promise<Result>,
  ): Promise<Result> => {
    const stripe = await (loading ??= loadClient(address));
    try {
      return await request(stripe, { apiKey: account.fields.secretKey! });
    } catch (error) {
      throw paymentError('Stripe', error, account);
    }
  };

  const findPayment = async (reference: string, account: Account): Promise<StripePayment> => {
    if (isIntentId(reference)) {
      const intent = await call(account, (stripe, options) =>
        stripe.paymentIntents.retrieve(reference, { expand: ['latest_charge'] }, options),
      );
      return { session: null, intent };
    }
    const session = await call(account, (stripe, options) =>
      stripe.checkout.sessions.retrieve(
        reference,
        { expand: ['payment_intent', 'payment_intent.latest_charge'] },
        options,
      ),
    );
    const { payment_intent: intent } = session;
    return { session, intent: typeof intent === 'object' ? intent : null };
  };

  const findRefunds = async (intentId: string, account: Account) => {
    const { data } = await call(account, (stripe, options) =>
      stripe.refunds.list({ payment_intent: intentId, limit: 100 }, options),
    );
    return data;
  };

  const confirm = async (reference: string, account: Account): Promise<PaymentOutcome> => {
    const payment = await findPayment(reference, account);
    const outcome = outcomeOf(payment);
    if (outcome.state !== 'paid') return outcome;
    const refunds = (await findRefunds(payment.intent!.id, account)).map(reportedRefund);
    const chargebacks = chargebacksOf(payment.intent!);
    return {
      ...outcome,
      ...(refunds.length > 0 && { refunds }),
      ...(chargebacks.length > 0 && { chargebacks }),
    };
  };

  return {
    fields: {
      secretKey: {
        description:
          'Secret key, or a restricted key (Stripe: Developers, API keys). It begins with sk_ or rk_.',
        isSecret: true,
      },
      webhookSecret: {
        description:
          'Signing secret of the webhook (Stripe: Developers, Webhooks). It begins with whsec_. Without it, payments ' +
          'are found by asking Stripe, some minutes later.',
        isSecret: true,
        isOptional: true,
      },
    },

    async start(attempt, account) {
      const params = sessionParams(attempt, account);
      const { id, url } = await call(account, (stripe, options) =>
        stripe.checkout.sessions.create(params, { ...options, idempotencyKey: attempt.id }),
      );
      if (!url) throw new Error('Stripe named no payment page');
      return { reference: id, redirectTo: url };
    },

    async charge(charge, account) {
      const params = chargeParams(charge, account);
      const intent = await call(
        account,
        async (stripe, options) =>
          // The client has no type for a parameter of the preview.
          (await stripe.rawRequest('POST', '/v1/payment_intents', params, {
            ...options,
            apiVersion: TOKEN_VERSION,
            idempotencyKey: charge.id,
          })) as unknown as Intent,
      );
      return { reference: intent.id, ...outcomeOf({ session: null, intent }) };
    },

    confirm,

    async capture(reference, account) {
      const payment = await findPayment(reference, account);
      const before = outcomeOf(payment);
      if (before.state !== 'authorized') return before;
      const { id } = payment.intent!;
      return changePayment(
        before,
        () => call(account, (stripe, options) => stripe.paymentIntents.capture(id, {}, options)),
        () => confirm(reference, account),
      );
    },

    async cancel(reference, account) {
      const payment = await findPayment(reference, account);
      const before = outcomeOf(payment);
      if (before.state !== 'open' && before.state !== 'authorized') return before;
      return changePayment(
        before,
        () =>
          call<unknown>(account, (stripe, options) =>
            before.state === 'open'
              ? stripe.checkout.sessions.expire(reference, {}, options)
              : stripe.paymentIntents.cancel(payment.intent!.id, {}, options),
          ),
        () => confirm(reference, account),
      );
    },

    async refund(reference, { id, amount, currency, reference: refundReference }, account) {
      if (refundReference !== null) {
        return refundOutcome(
          await call(account, (stripe, options) => stripe.refunds.retrieve(refundReference, {}, options)),
        );
      }
      const { intent } = await findPayment(reference, account);
      if (!intent) throw new PaymentRefused('Stripe: nothing was paid');
      // Stripe forgets idempotency keys after a day, so an earlier refund is found by its metadata.
      const made = (await findRefunds(intent.id, account)).find(({ metadata }) => metadata?.refundId === id);
      if (made) return refundOutcome(made);
      const params = {
        payment_intent: intent.id,
        amount: toStripeAmount(amount, currency),
        metadata: { refundId: id },
      };
      return refundOutcome(
        await call(account, (stripe, options) =>
          stripe.refunds.create(params, { ...options, idempotencyKey: id }),
        ),
      );
    },

    async webhook({ headers, body }, account) {
      const { fields } = account;
      const signature = headers['stripe-signature'];
      if (!fields.webhookSecret || typeof signature !== 'string') return undefined;
      const { webhooks } = await (loading ??= loadClient(address));
      let event: Stripe.Event;
      try {
        event = webhooks.constructEvent(body, signature, fields.webhookSecret);
      } catch {
        return undefined;
      }
      const { type, data } = event;
      if (type.startsWith('checkout.session.')) return [(data.object as Session).id];
      if (type.startsWith('payment_intent.')) return [(data.object as Intent).id];
      const { payment_intent: intent } = data.object as Pick<Stripe.Refund, 'payment_intent'>;
      if (!ABOUT_MONEY_BACK.test(type) || typeof intent !== 'string') return [];
      const sessions = await call(account, (stripe, options) =>
        stripe.checkout.sessions.list({ payment_intent: intent, limit: 1 }, options),
      );
      return [intent, ...sessions.data.map(({ id }) => id)];
    },
  };
}

/** Refunds of any origin, and disputes. They name the PaymentIntent, and a payment is a session here. */
const ABOUT_MONEY_BACK = /^(?:refund\.|charge\.refunded$|charge\.refund\.|charge\.dispute\.)/;

/** Loaded with the first payment: it takes memory that a shop without Stripe does not need. */
async function loadClient(address: StripeAddress): Promise<Stripe> {
  const { Stripe } = await import('stripe');
  return new Stripe('the key of the merchant is given with every request', {
    apiVersion: API_VERSION,
    timeout: CALL_TIMEOUT,
    maxNetworkRetries: 1,
    telemetry: false,
    ...address,
  });
}

/** Returns the same when called again, because Stripe compares the request with the first one of the same key. */
function sessionParams(
  { id, amount, currency, orderId, orderNumber, shopName, email, locale, returnUrl }: NewPayment,
  { capture }: Account,
): Stripe.Checkout.SessionCreateParams {
  const metadata = { attemptId: id, orderId };
  return {
    mode: 'payment',
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: currency.toLowerCase(),
          unit_amount: toStripeAmount(amount, currency),
          product_data: { name: `${orderNumber} ${shopName}`.slice(0, 250) },
        },
      },
    ],
    // The shopper pays the sum of the order, not one that Stripe has converted to another currency.
    adaptive_pricing: { enabled: false },
    payment_intent_data: {
      description: orderNumber,
      metadata,
      ...(capture === 'manual' && { capture_method: 'manual' }),
    },
    client_reference_id: orderId,
    metadata,
    locale: stripeLocale(locale),
    success_url: returnUrl,
    cancel_url: returnUrl,
    ...(email !== undefined && { customer_email: email }),
  };
}

/**
 * Without a page nobody can be asked anything: a payment that the bank wants its customer to confirm fails. Returns the
 * same when called again, because Stripe compares the request with the first one of the same key.
 */
function chargeParams(
  { id, amount, currency, orderId, orderNumber, shopName, token }: NewCharge,
  { capture }: Account,
) {
  return {
    amount: toStripeAmount(amount, currency),
    currency: currency.toLowerCase(),
    confirm: true,
    error_on_requires_action: true,
    payment_method_data: { shared_payment_granted_token: token },
    description: `${orderNumber} ${shopName}`.slice(0, 250),
    metadata: { attemptId: id, orderId },
    ...(capture === 'manual' && { capture_method: 'manual' }),
  };
}

const isIntentId = (reference: string) => reference.startsWith('pi_');

function outcomeOf(payment: StripePayment): PaymentOutcome {
  const { session, intent } = payment;
  const currency = (intent ?? session)!.currency!.toUpperCase();
  const state = stateOf(payment);
  const captured = state === 'paid' ? fromStripeAmount(intent!.amount_received, currency) : 0;
  return { state, captured, currency };
}

const INTENT_STATES: Readonly<Record<string, OutcomeState>> = {
  succeeded: 'paid',
  requires_capture: 'authorized',
  processing: 'processing',
  canceled: 'cancelled',
};

/** The money decides; if there is none yet, the page does. */
function stateOf({ session, intent }: StripePayment): OutcomeState {
  const ofMoney = intent && INTENT_STATES[intent.status];
  if (ofMoney) return ofMoney;
  if (!session) return 'failed';
  if (session.status === 'expired') return 'cancelled';
  if (session.status !== 'complete') return 'open';
  // The page is done and can no longer be used to pay. Either a bank has refused since (SEPA), or the shopper has
  // still to transfer the money or to pay it at a counter.
  return intent?.status === 'requires_payment_method' ? 'failed' : 'processing';
}

function reportedRefund(refund: Stripe.Refund): ReportedRefund {
  const { reference, state } = refundOutcome(refund);
  const amount = fromStripeAmount(refund.amount, refund.currency.toUpperCase());
  return { reference, state, amount, id: refund.metadata?.refundId ?? null };
}

function chargebacksOf({ latest_charge: charge }: Intent): Chargeback[] {
  if (charge === null || typeof charge !== 'object' || !charge.disputed) return [];
  return [{ reference: charge.id, amount: fromStripeAmount(charge.amount, charge.currency.toUpperCase()) }];
}

function refundOutcome({ id, status }: Stripe.Refund): RefundOutcome {
  if (status === 'succeeded') return { state: 'done', reference: id };
  if (status === 'failed' || status === 'canceled') return { state: 'failed', reference: id };
  return { state: 'processing', reference: id };
}

/** https://docs.stripe.com/currencies: those without decimals, and those with three. All others have two at Stripe. */
const WITHOUT_DECIMALS = 'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' ');
const WITH_THREE_DECIMALS = 'BHD JOD KWD OMR TND'.split(' ');

function digitsOf(currency: string): number {
  // Stripe's documentation names it both with two decimals and with none: one of them is a hundredfold price.
  if (currency === 'UGX') throw new PaymentRefused('Payments in UGX are not possible with Stripe');
  if (WITHOUT_DECIMALS.includes(currency)) return 0;
  return WITH_THREE_DECIMALS.includes(currency) ? 3 : 2;
}

function toStripeAmount(amount: number, currency: string): number {
  const digits = digitsOf(currency);
  // The last of three decimals must be 0.
  return toProviderAmount(amount, currency, digits, digits === 3 ? 10 : 1);
}

const fromStripeAmount = (amount: number, currency: string) =>
  fromProviderAmount(amount, currency, digitsOf(currency));

const LOCALES =
  'bg cs da de el en en-GB es es-419 et fi fil fr fr-CA hr hu id it ja ko lt lv ms mt nb nl pl pt pt-BR ro ru sk sl sv ' +
  'th tr vi zh zh-HK zh-TW';

/** The language of the payment page; Stripe uses that of the browser if it does not know the order's. */
function stripeLocale(locale: string): NonNullable<Stripe.Checkout.SessionCreateParams['locale']> {
  const [language, country] = locale.split('_');
  const known = LOCALES.split(' ');
  return [`${language}-${country}`, language!].find((name) => known.includes(name)) ?? 'auto';
}
