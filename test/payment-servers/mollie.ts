import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import {
  createReplays,
  newToken,
  startProviderServer,
  type Call,
  type ProviderServer,
  type Reply,
} from './server.ts';

/**
 * The part of Mollie's API that is used here, in memory, made from the published description of the API. It is strict: a
 * request with a field that it does not know is refused.
 *
 * Mollie's client speaks TLS only and trusts a list of authorities of its own, so this server has a certificate that
 * nobody trusts, and the process that uses it stops checking certificates.
 */
export interface MollieServer extends Omit<ProviderServer, 'port'> {
  endpoint: string;
  /** What a merchant sets. */
  fields: { apiKey: string };
  /** Webhooks that Mollie would send, in the order in which they came about. Tests deliver, repeat, mix up or lose them. */
  events: MollieEvent[];
  payment(id: string): MolliePayment;
  paymentsOf(orderId: string): MolliePayment[];
  /** The shopper pays by card, or chooses a direct debit, whose money comes days later or not. */
  pay(paymentId: string, method: 'creditcard' | 'directdebit'): void;
  /** What becomes of a payment that is open or on its way. */
  finish(paymentId: string, status: 'paid' | 'failed' | 'expired' | 'canceled'): void;
  /** Whether new payments can be cancelled while they are open: not all methods of payment allow it. */
  setCancelable(value: boolean): void;
  /** Captures are `pending` from now on, until they are finished. */
  setSlowCaptures(isSlow: boolean): void;
  finishCapture(paymentId: string, status: 'succeeded' | 'failed'): void;
  finishRefund(refundId: string, status: 'refunded' | 'failed'): void;
  refunds(): MollieRefund[];
  /** The merchant refunds in Mollie's dashboard, such as `10.00`. */
  refundByHand(paymentId: string, value: string): void;
  /** The bank of the shopper takes the money back. */
  chargeBack(paymentId: string): void;
  /** An hour passes: Mollie forgets idempotency keys, and allows refunds of the same amount again. */
  passHour(): void;
}

export interface MollieEvent {
  url: string;
  headers: { 'content-type': string };
  body: Buffer;
}

interface Amount {
  currency: string;
  value: string;
}

interface Link {
  href: string;
  type: string;
}

export interface MolliePayment {
  resource: 'payment';
  id: string;
  mode: 'test';
  createdAt: string;
  amount: Amount;
  amountRefunded?: Amount;
  amountRemaining?: Amount;
  amountCaptured?: Amount;
  description: string;
  /** Absent until the shopper has chosen one. */
  method?: string;
  metadata: unknown;
  status: 'open' | 'pending' | 'authorized' | 'paid' | 'failed' | 'canceled' | 'expired';
  isCancelable?: boolean;
  expiresAt?: string;
  captureMode?: string;
  locale?: string;
  profileId: string;
  sequenceType: 'oneoff';
  redirectUrl: string;
  webhookUrl?: string;
  _links: Record<string, Link>;
}

export interface MollieRefund {
  resource: 'refund';
  id: string;
  mode: 'test';
  amount: Amount;
  status: 'queued' | 'pending' | 'processing' | 'refunded' | 'failed' | 'canceled';
  createdAt: string;
  description: string;
  metadata: unknown;
  paymentId: string;
  _links: Record<string, Link>;
}

interface MollieCapture {
  resource: 'capture';
  id: string;
  mode: 'test';
  amount: Amount;
  status: 'pending' | 'succeeded' | 'failed';
  createdAt: string;
  paymentId: string;
  _links: Record<string, Link>;
}

interface MollieChargeback {
  resource: 'chargeback';
  id: string;
  amount: Amount;
  createdAt: string;
  paymentId: string;
  _links: Record<string, Link>;
}

const API_KEY = 'test_KontorTestsOnlyabcdefghijkl42';
const HAL = { 'content-type': 'application/hal+json' };
const DOCUMENTATION = { href: 'https://docs.mollie.com/errors', type: 'text/html' };

class Refusal extends Error {
  readonly reply: Reply;

  constructor(status: number, title: string, detail: string, field?: string) {
    super(detail);
    const body = { status, title, detail, ...(field && { field }), _links: { documentation: DOCUMENTATION } };
    this.reply = { status, body, headers: HAL };
  }
}

const invalid = (detail: string, field?: string) => new Refusal(422, 'Unprocessable Entity', detail, field);

/**
 * Mollie's client parses the certificates of all authorities again for each request, which takes several times as long as
 * the request. Here they are parsed once, until the returned function is called.
 */
function shareCertificates(): () => void {
  const { createSecureContext } = tls;
  let shared: tls.SecureContext | undefined;
  tls.createSecureContext = (options) =>
    options?.ca === undefined ? createSecureContext(options) : (shared ??= createSecureContext(options));
  return () => {
    tls.createSecureContext = createSecureContext;
  };
}

export async function startMollieServer(): Promise<MollieServer> {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const stopSharing = shareCertificates();
  const payments = new Map<string, MolliePayment>();
  const refunds = new Map<string, MollieRefund>();
  const captures = new Map<string, MollieCapture>();
  const chargebacks = new Map<string, MollieChargeback>();
  const events: MollieEvent[] = [];
  let recentRefunds: MollieRefund[] = [];
  let isSlow = false;
  let isCancelable = true;

  const conflict = (): Reply =>
    new Refusal(400, 'Bad Request', 'The idempotency key was used for another request').reply;
  let replay = createReplays(conflict);

  const paymentOf = (id: string): MolliePayment => {
    const payment = payments.get(id);
    if (payment) return payment;
    throw new Refusal(404, 'Not Found', `No payment exists with token ${id}.`);
  };
  const ofPayment = <Part extends { paymentId: string }>(parts: Map<string, Part>, paymentId: string) =>
    [...parts.values()].filter((part) => part.paymentId === paymentId);

  const announce = ({ id, webhookUrl }: MolliePayment) => {
    if (webhookUrl === undefined) return;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    events.push({ url: webhookUrl, headers, body: Buffer.from(`id=${id}`) });
  };

  const move = (payment: MolliePayment, status: MolliePayment['status']) => {
    payment.status = status;
    if (status !== 'open' && status !== 'pending' && status !== 'authorized') {
      delete payment.isCancelable;
      delete payment.expiresAt;
    }
    if (status === 'paid')
      Object.assign(payment, { amountRefunded: zero(payment), amountRemaining: payment.amount });
    announce(payment);
  };

  const createPayment = (body: Record<string, unknown>): MolliePayment => {
    const known = 'amount description redirectUrl webhookUrl locale captureMode metadata';
    requireKnown(body, known);
    const amount = amountIn(body.amount);
    const { description, redirectUrl, webhookUrl, locale, captureMode } = body as Record<string, string>;
    if (!description || description.length > 255) throw invalid('The description is invalid', 'description');
    if (!URL.canParse(redirectUrl ?? '')) throw invalid('The redirect URL is invalid', 'redirectUrl');
    if (webhookUrl !== undefined && isUnreachable(webhookUrl)) {
      throw invalid(
        "The webhook URL is invalid because it is unreachable from Mollie's point of view",
        'webhookUrl',
      );
    }
    const id = newToken('tr_', 22);
    const payment: MolliePayment = {
      resource: 'payment',
      id,
      mode: 'test',
      createdAt: now(),
      amount,
      description,
      metadata: body.metadata ?? null,
      status: 'open',
      isCancelable,
      expiresAt: now(15 * 60_000),
      ...(captureMode !== undefined && { captureMode }),
      ...(locale !== undefined && { locale }),
      profileId: 'pfl_QkEhN94Ba',
      sequenceType: 'oneoff',
      redirectUrl: redirectUrl!,
      ...(webhookUrl !== undefined && { webhookUrl }),
      _links: {
        ...linksTo(`payments/${id}`),
        checkout: { href: `https://www.mollie.com/checkout/select-method/${id.slice(3)}`, type: 'text/html' },
        dashboard: { href: `https://my.mollie.com/dashboard/payments/${id}`, type: 'text/html' },
      },
    };
    payments.set(id, payment);
    return payment;
  };

  const createRefund = (payment: MolliePayment, body: Record<string, unknown>): MollieRefund => {
    requireKnown(body, 'amount description metadata');
    const amount = amountIn(body.amount, payment.amount.currency);
    if (payment.status !== 'paid') throw invalid('The payment has not been paid');
    if (
      recentRefunds.some((other) => other.paymentId === payment.id && other.amount.value === amount.value)
    ) {
      throw new Refusal(409, 'Conflict', 'A duplicate refund has been detected');
    }
    const others = ofPayment(refunds, payment.id).filter(({ status }) => status !== 'failed');
    const refunded = others.reduce((sum, other) => sum + hundredths(other.amount), 0) + hundredths(amount);
    if (refunded > hundredths(payment.amount)) {
      throw invalid('The specified amount cannot be refunded', 'amount');
    }
    const id = newToken('re_', 22);
    const refund: MollieRefund = {
      resource: 'refund',
      id,
      mode: 'test',
      amount,
      status: 'pending',
      createdAt: now(),
      description: (body.description as string | undefined) ?? '',
      metadata: body.metadata ?? null,
      paymentId: payment.id,
      _links: {
        ...linksTo(`payments/${payment.id}/refunds/${id}`),
        payment: linkTo(`payments/${payment.id}`),
      },
    };
    refunds.set(id, refund);
    recentRefunds.push(refund);
    return refund;
  };

  const createCapture = (payment: MolliePayment, body: Record<string, unknown>): MollieCapture => {
    requireKnown(body, '');
    if (
      payment.status !== 'authorized' ||
      ofPayment(captures, payment.id).some(({ status }) => status === 'pending')
    ) {
      throw invalid('The payment cannot be captured');
    }
    const id = newToken('cpt_', 22);
    const capture: MollieCapture = {
      resource: 'capture',
      id,
      mode: 'test',
      amount: payment.amount,
      status: 'pending',
      createdAt: now(),
      paymentId: payment.id,
      _links: {
        ...linksTo(`payments/${payment.id}/captures/${id}`),
        payment: linkTo(`payments/${payment.id}`),
      },
    };
    captures.set(id, capture);
    if (!isSlow) finishCapture(payment.id, 'succeeded');
    return capture;
  };

  const finishCapture = (paymentId: string, status: 'succeeded' | 'failed') => {
    const payment = paymentOf(paymentId);
    const capture = ofPayment(captures, paymentId).find((one) => one.status === 'pending')!;
    capture.status = status;
    if (status === 'failed') return;
    payment.amountCaptured = capture.amount;
    move(payment, 'paid');
  };

  const change = ({ method, path, body: text }: Call): Reply => {
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    if (method === 'POST' && path === '/v2/payments')
      return { status: 201, body: createPayment(body), headers: HAL };
    const [, id, part] = /^\/v2\/payments\/(\w+)(?:\/([\w-]+))?$/.exec(path) ?? [];
    if (id === undefined) throw unknownPath();
    const payment = paymentOf(id);
    if (method === 'DELETE' && part === undefined) {
      if (!payment.isCancelable) throw invalid('The payment cannot be cancelled');
      move(payment, 'canceled');
      return { status: 200, body: payment, headers: HAL };
    }
    if (method !== 'POST') throw unknownPath();
    if (part === 'refunds') return { status: 201, body: createRefund(payment, body), headers: HAL };
    if (part === 'captures') return { status: 201, body: createCapture(payment, body), headers: HAL };
    if (part !== 'release-authorization') throw unknownPath();
    if (payment.status !== 'authorized') {
      throw invalid('Authorization cannot be released because the payment is not in the authorized state.');
    }
    move(payment, 'canceled');
    return { status: 202 };
  };

  const get = (path: string, query: URLSearchParams): object => {
    const [, id, part, partId] = /^\/v2\/payments\/(\w+)(?:\/(refunds)(?:\/(\w+))?)?$/.exec(path) ?? [];
    if (id === undefined) throw unknownPath();
    const payment = paymentOf(id);
    if (part === undefined) {
      const parts = { captures, refunds, chargebacks };
      const embedded = (query.get('embed') ?? '')
        .split(',')
        .filter((name): name is keyof typeof parts => Object.hasOwn(parts, name))
        .map((name) => [name, ofPayment<{ paymentId: string }>(parts[name], id)]);
      return embedded.length > 0
        ? { ...payment, _embedded: Object.fromEntries(embedded) as object }
        : payment;
    }
    const made = ofPayment(refunds, id);
    if (partId === undefined) {
      const links = { ...linksTo(path.slice(4)), previous: null, next: null };
      return { count: made.length, _embedded: { refunds: made.toReversed() }, _links: links };
    }
    const refund = made.find((one) => one.id === partId);
    if (!refund) throw new Refusal(404, 'Not Found', `No refund exists with token ${partId}.`);
    return refund;
  };

  const answer = (call: Call): Reply => {
    const { method, path, query, headers } = call;
    try {
      if (headers.authorization !== `Bearer ${API_KEY}`) {
        throw new Refusal(401, 'Unauthorized Request', 'Missing authentication, or failed to authenticate');
      }
      if (method === 'GET') return { status: 200, body: get(path, query), headers: HAL };
      const key = headers['idempotency-key'];
      if (typeof key !== 'string')
        throw new Refusal(400, 'Bad Request', 'A change without an idempotency key');
      // What is saved for a key is the answer of that time, not the object as it is later.
      return replay(key, call, () => structuredClone(change(call)));
    } catch (error) {
      if (error instanceof Refusal) return error.reply;
      throw error;
    }
  };

  const pem = (name: string) => readFileSync(new URL(`${name}.pem`, import.meta.url));
  const tls = { key: pem('key'), cert: pem('cert') };
  const { port, ...server } = await startProviderServer(answer, { tls });
  return {
    ...server,
    stop: () => {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      stopSharing();
      return server.stop();
    },
    endpoint: `https://127.0.0.1:${port}/v2/`,
    fields: { apiKey: API_KEY },
    events,
    payment: paymentOf,
    paymentsOf: (orderId) =>
      [...payments.values()].filter(
        ({ metadata }) => (metadata as { orderId?: string } | null)?.orderId === orderId,
      ),
    pay(paymentId, method) {
      const payment = paymentOf(paymentId);
      if (payment.status !== 'open') throw new Error(`The page of ${paymentId} is ${payment.status}`);
      payment.method = method;
      if (method === 'directdebit') move(payment, 'pending');
      else move(payment, payment.captureMode === 'manual' ? 'authorized' : 'paid');
    },
    finish: (paymentId, status) => move(paymentOf(paymentId), status),
    setCancelable: (value) => {
      isCancelable = value;
    },
    setSlowCaptures: (value) => {
      isSlow = value;
    },
    finishCapture,
    finishRefund(refundId, status) {
      const refund = refunds.get(refundId)!;
      refund.status = status;
      announce(paymentOf(refund.paymentId));
    },
    refunds: () => [...refunds.values()],
    refundByHand(paymentId, value) {
      const payment = paymentOf(paymentId);
      createRefund(payment, { amount: { currency: payment.amount.currency, value } });
      announce(payment);
    },
    chargeBack(paymentId) {
      const payment = paymentOf(paymentId);
      const id = newToken('chb_', 22);
      chargebacks.set(id, {
        resource: 'chargeback',
        id,
        amount: payment.amount,
        createdAt: now(),
        paymentId,
        _links: {
          ...linksTo(`payments/${paymentId}/chargebacks/${id}`),
          payment: linkTo(`payments/${paymentId}`),
        },
      });
      announce(payment);
    },
    passHour() {
      recentRefunds = [];
      replay = createReplays(conflict);
    },
  };
}

const now = (later = 0) => new Date(Date.now() + later).toISOString().replace(/\.\d+Z$/, '+00:00');

const linkTo = (path: string): Link => ({
  href: `https://api.mollie.com/v2/${path}`,
  type: 'application/hal+json',
});
const linksTo = (path: string) => ({ self: linkTo(path), documentation: DOCUMENTATION });

const unknownPath = () => new Refusal(404, 'Not Found', 'The resource does not exist');

function requireKnown(body: Record<string, unknown>, names: string): void {
  const unknown = Object.keys(body).find((name) => !names.split(' ').includes(name));
  if (unknown !== undefined) throw invalid(`Non-existent body parameter "${unknown}"`, unknown);
}

const CURRENCIES =
  'AED AUD BRL CAD CHF CZK DKK EUR GBP HKD HUF ILS ISK JPY MXN MYR NOK NZD PHP PLN RON SEK SGD THB TWD USD ZAR';

/** The amount of a request: a currency that Mollie knows, with the decimals that it has there. */
function amountIn(value: unknown, expected?: string): Amount {
  const amount = value as Amount | undefined;
  if (!amount?.value || !amount.currency) throw invalid("The 'amount' field is missing", 'amount');
  if (!CURRENCIES.split(' ').includes(amount.currency) || (expected ?? amount.currency) !== amount.currency) {
    throw invalid('The amount contains an invalid currency', 'amount.currency');
  }
  const format = amount.currency === 'JPY' || amount.currency === 'ISK' ? /^\d{1,9}$/ : /^\d{1,9}\.\d\d$/;
  if (!format.test(amount.value) || Number(amount.value) === 0) {
    throw invalid('The amount contains an invalid value', 'amount.value');
  }
  return { currency: amount.currency, value: amount.value };
}

const hundredths = ({ value }: Amount) => Math.round(Number(value) * 100);

const zero = ({ amount: { currency, value } }: MolliePayment): Amount => ({
  currency,
  value: value.includes('.') ? '0.00' : '0',
});

/** Addresses that only this machine knows. */
function isUnreachable(url: string): boolean {
  return !URL.canParse(url) || /^(localhost|.*\.localhost|127\..*|\[::1\])$/.test(new URL(url).hostname);
}
