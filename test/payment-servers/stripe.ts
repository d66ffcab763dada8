import { createHmac } from 'node:crypto';
import type { Stripe } from 'stripe';
import type { StripeAddress } from '../../src/orders/payments/stripe.ts';
import {
  createReplays,
  newToken,
  startProviderServer,
  type Call,
  type ProviderServer,
  type Reply,
} from './server.ts';

/**
 * The part of Stripe's API that is used here, in memory. What it answers has the types of Stripe's own package, which are
 * generated from the published description of the API; the rules are those of the documentation. It is strict: a request
 * without an idempotency key, with another version of the API or with a parameter that it does not know is refused.
 */
export interface StripeServer extends Omit<ProviderServer, 'port'> {
  address: StripeAddress;
  /** What a merchant sets. */
  fields: { secretKey: string; webhookSecret: string };
  /** Webhooks that Stripe would send, in the order in which they came about. Tests deliver, repeat, mix up or lose them. */
  events: SignedEvent[];
  session(id: string): Session;
  sessionsOf(orderId: string): Session[];
  /** The shopper pays by card on the page of a session. */
  payByCard(sessionId: string): void;
  /** The bank of the card refuses; the shopper may try another one. */
  declineCard(sessionId: string): void;
  /** The shopper gives a SEPA mandate; the money comes days later, or not. */
  payBySepa(sessionId: string): void;
  finishSepa(sessionId: string, isPaid: boolean): void;
  /** A day has passed. */
  expire(sessionId: string): void;
  /** Refunds are `pending` from now on, until they are finished. */
  setSlowRefunds(isSlow: boolean): void;
  finishRefund(refundId: string, status: 'succeeded' | 'failed'): void;
  refunds(): Stripe.Refund[];
  /** A token that the assistant of a shopper gets for this shop. */
  grantToken(limits: { currency: string; maxAmount: number; isDeclined?: boolean }): string;
  intents(): Intent[];
  /** The merchant refunds in Stripe's dashboard; minor units. */
  refundByHand(sessionId: string, amount: number): void;
  /** The shopper disputes the charge at the bank of the card. */
  dispute(sessionId: string): void;
  /** Stripe forgets idempotency keys after a day or more. */
  forgetKeys(): void;
}

export interface SignedEvent {
  type: string;
  headers: { 'stripe-signature': string; 'content-type': string };
  body: Buffer;
}

type Session = Stripe.Checkout.Session;
type Intent = Stripe.PaymentIntent;

const API_VERSION = '2026-10-28.endive';
/** Shared payment tokens are described for this version. */
const TOKEN_VERSION = '2026-04-22.preview';
const SECRET_KEY = 'sk_test_51KontorTestsOnlyabcdefgh4242';
const WEBHOOK_SECRET = 'whsec_KontorTestsOnly0123456789abcdef';

class Refusal extends Error {
  readonly reply: Reply;

  constructor(status: number, error: { type: string; message: string; code?: string; param?: string }) {
    super(error.message);
    this.reply = { status, body: { error } };
  }
}

const invalid = (message: string, more: { code?: string; param?: string } = {}) =>
  new Refusal(400, { type: 'invalid_request_error', message, ...more });

export async function startStripeServer(): Promise<StripeServer> {
  const sessions = new Map<string, Session>();
  const intents = new Map<string, Intent>();
  const refunds = new Map<string, Stripe.Refund>();
  const events: SignedEvent[] = [];
  let isSlow = false;

  const conflict = (): Reply =>
    new Refusal(400, {
      type: 'idempotency_error',
      message:
        'Keys for idempotent requests can only be used with the same parameters they were first used with. ' +
        'Try using a key other than the one you meant to use.',
    }).reply;
  let replay = createReplays(conflict);

  const sessionOf = (id: string): Session => {
    const session = sessions.get(id);
    if (session) return session;
    throw new Refusal(404, {
      type: 'invalid_request_error',
      code: 'resource_missing',
      message: `No such checkout.session: ${id}`,
      param: 'session',
    });
  };
  const intentOf = (id: string): Intent => {
    const intent = intents.get(id);
    if (intent) return intent;
    throw new Refusal(404, {
      type: 'invalid_request_error',
      code: 'resource_missing',
      message: `No such payment_intent: '${id}'`,
      param: 'intent',
    });
  };

  const announce = (type: string, object: object) => {
    const body = Buffer.from(
      JSON.stringify({
        id: newToken('evt_'),
        object: 'event',
        api_version: API_VERSION,
        created: seconds(),
        data: { object },
        livemode: false,
        pending_webhooks: 1,
        request: { id: null, idempotency_key: null },
        type,
      }),
    );
    events.push({
      type,
      headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': sign(body) },
      body,
    });
  };

  const createSession = (params: Params): Session => {
    const currency = params.required('line_items[0][price_data][currency]');
    const amount = params.integer('line_items[0][price_data][unit_amount]');
    params.required('line_items[0][price_data][product_data][name]');
    if (params.required('mode') !== 'payment')
      throw invalid('Only mode payment is known here', { param: 'mode' });
    if (params.integer('line_items[0][quantity]') !== 1) throw invalid('Quantity');
    requireAmount(currency, amount, 'line_items[0][price_data][unit_amount]');
    for (const name of ['success_url', 'cancel_url']) {
      if (!URL.canParse(params.required(name)))
        throw invalid('Not a valid URL', { code: 'url_invalid', param: name });
    }
    const email = params.optional('customer_email');
    if (email !== null && !email.includes('@')) {
      throw invalid(`Invalid email address: ${email}`, { code: 'email_invalid', param: 'customer_email' });
    }
    const isConverted = params.optional('adaptive_pricing[enabled]') !== 'false';
    const captureMethod = params.optional('payment_intent_data[capture_method]') ?? 'automatic_async';
    const locale = params.optional('locale');
    const description = params.optional('payment_intent_data[description]');
    const intentMetadata = params.below('payment_intent_data[metadata]');
    const id = newToken('cs_test_a1', 58);
    const session = newSession({
      id,
      amount,
      currency,
      email,
      isConverted,
      locale,
      orderId: params.optional('client_reference_id'),
      metadata: params.below('metadata'),
      successUrl: params.required('success_url'),
      cancelUrl: params.required('cancel_url'),
    });
    params.requireAllRead();
    sessions.set(id, session);
    // Stripe makes the PaymentIntent when the shopper pays; what it is made with is kept until then.
    intentsToBe.set(id, {
      captureMethod,
      description,
      intentMetadata,
    });
    return session;
  };
  const intentsToBe = new Map<
    string,
    {
      captureMethod: Intent['capture_method'];
      description: string | null;
      intentMetadata: Record<string, string>;
    }
  >();

  /** The shopper confirms a payment on the page of an open session. */
  const confirmPayment = (
    sessionId: string,
    method: 'card' | 'sepa_debit',
  ): { session: Session; intent: Intent } => {
    const session = sessionOf(sessionId);
    if (session.status !== 'open') throw new Error(`The page of ${sessionId} is ${session.status}`);
    const { captureMethod, description, intentMetadata } = intentsToBe.get(sessionId)!;
    if (method !== 'card' && captureMethod === 'manual') throw new Error('SEPA has no manual capture');
    const known = session.payment_intent as string | null;
    const intent =
      known !== null
        ? intentOf(known)
        : newIntent({
            amount: session.amount_total!,
            currency: session.currency!,
            captureMethod,
            description,
            metadata: intentMetadata,
          });
    intent.payment_method_types = [method];
    intents.set(intent.id, intent);
    session.payment_intent = intent.id;
    return { session, intent };
  };

  const succeed = (intent: Intent) => {
    intent.status = 'succeeded';
    intent.amount_received = intent.amount;
    intent.amount_capturable = 0;
    intent.latest_charge = newToken('ch_');
    for (const session of sessions.values()) {
      if (session.payment_intent === intent.id) session.payment_status = 'paid';
    }
    announce('payment_intent.succeeded', intent);
  };

  /** By their ids. Each pays once, no more than its limit, in its currency. */
  const granted = new Map<
    string,
    { currency: string; maxAmount: number; isDeclined: boolean; isUsed: boolean }
  >();

  /** A payment with the token of an assistant, which is confirmed at once. */
  const createIntent = (params: Params): Intent => {
    const currency = params.required('currency');
    const amount = params.integer('amount');
    const captureMethod = params.optional('capture_method') ?? 'automatic_async';
    const id = params.required('payment_method_data[shared_payment_granted_token]');
    for (const name of ['confirm', 'error_on_requires_action']) {
      if (params.required(name) !== 'true') throw invalid(`Only true is known here`, { param: name });
    }
    const intent = newIntent({
      amount,
      currency,
      captureMethod,
      description: params.optional('description'),
      metadata: params.below('metadata'),
    });
    params.requireAllRead();
    requireAmount(currency, amount, 'amount');
    const token = granted.get(id);
    if (!token) {
      throw invalid(`No such shared_payment_granted_token: '${id}'`, { code: 'resource_missing' });
    }
    if (token.isUsed) throw invalid('The shared payment token has been deactivated.');
    if (token.currency !== currency)
      throw invalid('The currency is not the one of the shared payment token.');
    if (amount > token.maxAmount) throw invalid('The amount is above the limit of the shared payment token.');
    if (token.isDeclined) {
      throw new Refusal(402, {
        type: 'card_error',
        code: 'card_declined',
        message: 'Your card was declined.',
      });
    }
    token.isUsed = true;
    intent.payment_method_types = ['card'];
    intents.set(intent.id, intent);
    if (captureMethod === 'manual') {
      Object.assign(intent, { status: 'requires_capture', amount_capturable: amount });
      announce('payment_intent.amount_capturable_updated', intent);
    } else {
      succeed(intent);
    }
    return intent;
  };

  const disputed = new Set<string>();

  /** The part of a charge that is used here. */
  const chargeOf = (intent: Intent) =>
    ({
      id: intent.latest_charge as string,
      object: 'charge',
      amount: intent.amount,
      currency: intent.currency,
      disputed: disputed.has(intent.id),
      payment_intent: intent.id,
    }) satisfies Partial<Stripe.Charge>;

  const createRefund = (params: Params): Stripe.Refund => {
    const intent = intentOf(params.required('payment_intent'));
    const amount = params.integer('amount');
    const metadata = params.below('metadata');
    params.requireAllRead();
    requireAmount(intent.currency, amount, 'amount', 1);
    if (intent.status !== 'succeeded') {
      throw invalid(`This PaymentIntent (${intent.id}) does not have a successful charge to refund.`);
    }
    const others = [...refunds.values()].filter(
      (refund) => refund.payment_intent === intent.id && refund.status !== 'failed',
    );
    const refunded = others.reduce((sum, refund) => sum + refund.amount, 0);
    if (refunded === intent.amount_received) {
      throw invalid('The charge has already been refunded.', {
        code: 'charge_already_refunded',
      });
    }
    if (refunded + amount > intent.amount_received) {
      throw invalid('Refund amount is greater than unrefunded amount on charge', { param: 'amount' });
    }
    const refund = newRefund({ intent, amount, metadata, status: isSlow ? 'pending' : 'succeeded' });
    refunds.set(refund.id, refund);
    announce('refund.created', refund);
    return refund;
  };

  const post = (path: string, params: Params): object => {
    if (path === '/v1/checkout/sessions') return createSession(params);
    if (path === '/v1/refunds') return createRefund(params);
    const expired = /^\/v1\/checkout\/sessions\/(\w+)\/expire$/.exec(path);
    if (expired) {
      const session = sessionOf(expired[1]!);
      if (session.status !== 'open') {
        throw invalid(
          `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${session.status}`,
        );
      }
      expireSession(session);
      return session;
    }
    if (path === '/v1/payment_intents') return createIntent(params);
    const [, intentId, action] = /^\/v1\/payment_intents\/(\w+)\/(capture|cancel)$/.exec(path) ?? [];
    if (intentId === undefined) throw unknownPath('POST', path);
    const intent = intentOf(intentId);
    if (intent.status !== 'requires_capture') {
      const message = `This PaymentIntent could not be ${action}d because it has a status of ${intent.status}.`;
      throw invalid(message, { code: 'payment_intent_unexpected_state' });
    }
    if (action === 'capture') {
      succeed(intent);
    } else {
      Object.assign(intent, { status: 'canceled', canceled_at: seconds(), amount_capturable: 0 });
      announce('payment_intent.canceled', intent);
    }
    return intent;
  };

  const get = (path: string, query: URLSearchParams): object => {
    const retrieved = /^\/v1\/checkout\/sessions\/(\w+)$/.exec(path);
    if (retrieved) {
      const session = sessionOf(retrieved[1]!);
      const expanded = [query.get('expand[0]'), query.get('expand[1]')];
      const id = session.payment_intent as string | null;
      if (id === null || !expanded.includes('payment_intent')) return session;
      const intent = intentOf(id);
      const hasCharge = intent.latest_charge !== null && expanded.includes('payment_intent.latest_charge');
      return {
        ...session,
        payment_intent: { ...intent, ...(hasCharge && { latest_charge: chargeOf(intent) }) },
      };
    }
    const intentId = /^\/v1\/payment_intents\/(\w+)$/.exec(path)?.[1];
    if (intentId !== undefined) {
      const intent = intentOf(intentId);
      const hasCharge = intent.latest_charge !== null && query.get('expand[0]') === 'latest_charge';
      return { ...intent, ...(hasCharge && { latest_charge: chargeOf(intent) }) };
    }
    if (path === '/v1/checkout/sessions') {
      const data = [...sessions.values()].filter(
        (session) => session.payment_intent === query.get('payment_intent'),
      );
      return { object: 'list', url: path, has_more: false, data };
    }
    if (path === '/v1/refunds') {
      const data = [...refunds.values()].filter(
        (refund) => refund.payment_intent === query.get('payment_intent'),
      );
      return { object: 'list', url: '/v1/refunds', has_more: false, data: data.toReversed() };
    }
    const refund = refunds.get(/^\/v1\/refunds\/(\w+)$/.exec(path)?.[1] ?? '');
    if (refund) return refund;
    throw unknownPath('GET', path);
  };

  const answer = (call: Call): Reply => {
    const { method, path, query, headers, body } = call;
    try {
      authenticate(headers.authorization);
      const isCharge = method === 'POST' && path === '/v1/payment_intents';
      if (headers['stripe-version'] !== (isCharge ? TOKEN_VERSION : API_VERSION)) {
        throw invalid('Another version of the API');
      }
      if (method === 'GET') return { status: 200, body: get(path, query) };
      if (method !== 'POST') throw unknownPath(method, path);
      const key = headers['idempotency-key'];
      if (typeof key !== 'string') throw invalid('A POST without an idempotency key');
      return replay(key, call, () => ({
        status: 200,
        // What is saved for a key is the answer of that time, not the object as it is later.
        body: structuredClone(post(path, new Params(body))),
      }));
    } catch (error) {
      if (error instanceof Refusal) return error.reply;
      throw error;
    }
  };

  const expireSession = (session: Session) => {
    Object.assign(session, { status: 'expired', url: null });
    announce('checkout.session.expired', session);
  };

  const { port, ...server } = await startProviderServer(answer);
  return {
    ...server,
    address: { host: '127.0.0.1', port, protocol: 'http' },
    fields: { secretKey: SECRET_KEY, webhookSecret: WEBHOOK_SECRET },
    events,
    session: sessionOf,
    sessionsOf: (orderId) =>
      [...sessions.values()].filter((session) => session.client_reference_id === orderId),
    payByCard(sessionId) {
      const { session, intent } = confirmPayment(sessionId, 'card');
      Object.assign(session, { status: 'complete', url: null });
      if (intent.capture_method === 'manual') {
        Object.assign(intent, { status: 'requires_capture', amount_capturable: intent.amount });
        announce('payment_intent.amount_capturable_updated', intent);
      } else {
        succeed(intent);
      }
      announce('checkout.session.completed', session);
    },
    declineCard(sessionId) {
      const { intent } = confirmPayment(sessionId, 'card');
      intent.status = 'requires_payment_method';
      announce('payment_intent.payment_failed', intent);
    },
    payBySepa(sessionId) {
      const { session, intent } = confirmPayment(sessionId, 'sepa_debit');
      Object.assign(session, { status: 'complete', url: null });
      intent.status = 'processing';
      announce('checkout.session.completed', session);
    },
    finishSepa(sessionId, isPaid) {
      const session = sessionOf(sessionId);
      const intent = intentOf(session.payment_intent as string);
      if (isPaid) succeed(intent);
      else intent.status = 'requires_payment_method';
      announce(`checkout.session.async_payment_${isPaid ? 'succeeded' : 'failed'}`, session);
    },
    expire: (sessionId) => expireSession(sessionOf(sessionId)),
    setSlowRefunds: (value) => {
      isSlow = value;
    },
    finishRefund(refundId, status) {
      const refund = refunds.get(refundId)!;
      refund.status = status;
      announce(status === 'failed' ? 'refund.failed' : 'refund.updated', refund);
    },
    refunds: () => [...refunds.values()],
    grantToken({ currency, maxAmount, isDeclined = false }) {
      const id = newToken('spt_');
      granted.set(id, { currency, maxAmount, isDeclined, isUsed: false });
      return id;
    },
    intents: () => [...intents.values()],
    refundByHand(sessionId, amount) {
      const intent = intentOf(sessionOf(sessionId).payment_intent as string);
      createRefund(
        new Params(new URLSearchParams({ payment_intent: intent.id, amount: String(amount) }).toString()),
      );
      announce('charge.refunded', chargeOf(intent));
    },
    dispute(sessionId) {
      const intent = intentOf(sessionOf(sessionId).payment_intent as string);
      disputed.add(intent.id);
      announce('charge.dispute.created', {
        id: newToken('dp_'),
        object: 'dispute',
        amount: intent.amount,
        charge: intent.latest_charge as string,
        payment_intent: intent.id,
      } satisfies Partial<Stripe.Dispute>);
    },
    forgetKeys: () => {
      replay = createReplays(conflict);
    },
  };
}

/** As Stripe signs webhooks: the time and the body, with the secret of the endpoint. */
export function sign(body: Buffer, { secret = WEBHOOK_SECRET, at = seconds() } = {}): string {
  const signature = createHmac('sha256', secret).update(`${at}.`).update(body).digest('hex');
  return `t=${at},v1=${signature}`;
}

const seconds = () => Math.floor(Date.now() / 1000);

function authenticate(header: string | undefined): void {
  if (header === `Bearer ${SECRET_KEY}`) return;
  const given = header?.slice('Bearer '.length) ?? '';
  // Stripe quotes the beginning and the end of the key.
  const quoted = `${given.slice(0, 8)}${'*'.repeat(Math.max(given.length - 12, 0))}${given.slice(-4)}`;
  throw new Refusal(401, { type: 'invalid_request_error', message: `Invalid API Key provided: ${quoted}` });
}

function unknownPath(method: string, path: string): Refusal {
  return new Refusal(404, {
    type: 'invalid_request_error',
    message: `Unrecognized request URL (${method}: ${path}).`,
  });
}

/** The rules of https://docs.stripe.com/currencies, and the smallest amounts for accounts in euros. */
function requireAmount(currency: string, amount: number, param: string, smallest = 50): void {
  if (['bhd', 'jod', 'kwd', 'omr', 'tnd'].includes(currency) && amount % 10 !== 0) {
    throw invalid(`Invalid amount. Currency ${currency.toUpperCase()} must be rounded to the nearest ten.`, {
      param,
    });
  }
  if (currency === 'isk' && amount % 100 !== 0) {
    const message = 'Invalid amount. Currency ISK has become effectively zero-decimal.';
    throw invalid(message, { code: 'invalid_charge_amount_no_decimal_compatible', param });
  }
  if (amount < smallest) {
    const message = "The Checkout Session's total amount due must add up to at least €0.50 eur";
    throw invalid(message, { code: 'amount_too_small', param });
  }
}

/** The parameters of a form, as Stripe nests them: `line_items[0][quantity]`. */
class Params {
  readonly #params: URLSearchParams;
  readonly #unread: Set<string>;

  constructor(body: string) {
    this.#params = new URLSearchParams(body);
    this.#unread = new Set(this.#params.keys());
  }

  optional(name: string): string | null {
    this.#unread.delete(name);
    return this.#params.get(name);
  }

  required(name: string): string {
    const value = this.optional(name);
    if (!value) throw invalid(`Missing required param: ${name}.`, { code: 'parameter_missing', param: name });
    return value;
  }

  integer(name: string): number {
    const value = this.required(name);
    if (!/^\d{1,12}$/.test(value)) {
      throw invalid(`Invalid integer: ${value}`, { code: 'parameter_invalid_integer', param: name });
    }
    return Number(value);
  }

  /** `metadata[a]=b` as `{ a: 'b' }`. */
  below(name: string): Record<string, string> {
    const names = [...this.#params.keys()].filter((key) => key.startsWith(`${name}[`));
    return Object.fromEntries(names.map((key) => [key.slice(name.length + 1, -1), this.required(key)]));
  }

  requireAllRead(): void {
    const [param] = this.#unread;
    if (param === undefined) return;
    throw invalid(`Received unknown parameter: ${param}`, { code: 'parameter_unknown', param });
  }
}

function newSession({
  id,
  amount,
  currency,
  email,
  isConverted,
  locale,
  orderId,
  metadata,
  successUrl,
  cancelUrl,
}: {
  id: string;
  amount: number;
  currency: string;
  email: string | null;
  isConverted: boolean;
  locale: Session['locale'];
  orderId: string | null;
  metadata: Record<string, string>;
  successUrl: string;
  cancelUrl: string;
}): Session {
  return {
    id,
    object: 'checkout.session',
    adaptive_pricing: { enabled: isConverted },
    after_expiration: null,
    allow_promotion_codes: null,
    allowed_payment_method_types: null,
    amount_subtotal: amount,
    amount_total: amount,
    automatic_tax: { enabled: false, liability: null, provider: null, status: null },
    billing_address_collection: null,
    cancel_url: cancelUrl,
    client_reference_id: orderId,
    client_secret: null,
    collected_information: null,
    consent: null,
    consent_collection: null,
    created: seconds(),
    currency,
    currency_conversion: null,
    custom_fields: [],
    custom_text: {
      after_submit: null,
      shipping_address: null,
      submit: null,
      terms_of_service_acceptance: null,
    },
    customer: null,
    customer_account: null,
    customer_creation: 'if_required',
    customer_details: null,
    customer_email: email,
    discounts: [],
    expires_at: seconds() + 86_400,
    integration_identifier: null,
    invoice: null,
    invoice_creation: null,
    livemode: false,
    locale,
    managed_payments: null,
    metadata,
    mode: 'payment',
    origin_context: null,
    payment_intent: null,
    payment_link: null,
    payment_method_collection: 'if_required',
    payment_method_configuration_details: { id: 'pmc_1', parent: null },
    payment_method_options: null,
    payment_method_types: ['card', 'sepa_debit'],
    payment_status: 'unpaid',
    permissions: null,
    recovered_from: null,
    saved_payment_method_options: null,
    setup_intent: null,
    shipping_address_collection: null,
    shipping_cost: null,
    shipping_options: [],
    status: 'open',
    submit_type: null,
    subscription: null,
    success_url: successUrl,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: null,
    url: `https://checkout.stripe.com/c/pay/${id}`,
    wallet_options: null,
  };
}

function newIntent({
  amount,
  currency,
  captureMethod,
  description,
  metadata,
}: {
  amount: number;
  currency: string;
  captureMethod: Intent['capture_method'];
  description: string | null;
  metadata: Record<string, string>;
}): Intent {
  const id = newToken('pi_');
  return {
    id,
    object: 'payment_intent',
    allowed_payment_method_types: null,
    amount,
    amount_capturable: 0,
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: captureMethod,
    client_secret: newToken(`${id}_secret_`),
    confirmation_method: 'automatic',
    created: seconds(),
    currency,
    customer: null,
    customer_account: null,
    description,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: false,
    managed_payments: null,
    metadata,
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: [],
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: 'requires_payment_method',
    transfer_data: null,
    transfer_group: null,
  };
}

function newRefund({
  intent,
  amount,
  metadata,
  status,
}: {
  intent: Intent;
  amount: number;
  metadata: Record<string, string>;
  status: string;
}): Stripe.Refund {
  return {
    id: newToken('re_'),
    object: 'refund',
    amount,
    balance_transaction: null,
    charge: intent.latest_charge,
    created: seconds(),
    currency: intent.currency,
    customer: null,
    customer_account: null,
    metadata,
    payment_intent: intent.id,
    payment_method: null,
    reason: null,
    receipt_number: null,
    source_transfer_reversal: null,
    status,
    transfer_reversal: null,
  };
}
