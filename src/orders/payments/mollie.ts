import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { MollieClient, Payment, Refund } from '@mollie/api-client';
import { isLoopback } from '../../config.ts';
import { fromProviderAmount, toProviderAmount } from './provider-amounts.ts';
import { changePayment, paymentError } from './provider-errors.ts';
import {
  CALL_TIMEOUT,
  type Account,
  type NewPayment,
  type PaymentOutcome,
  type OutcomeState,
  type PaymentProvider,
  type RefundOutcome,
  type ReportedRefund,
} from './provider.ts';

type Library = Awaited<ReturnType<typeof loadLibrary>>;

/**
 * The address of Mollie; only tests change it. It is not a setting of a shop, which could point it at our own network.
 */
export interface MollieAddress {
  endpoint?: string;
  timeout?: number;
}

/** Mollie's payment page, on which the shopper chooses how to pay. */
export function createMollieProvider({
  endpoint = 'https://api.mollie.com/v2/',
  timeout = CALL_TIMEOUT,
}: MollieAddress = {}): PaymentProvider {
  let loading: Promise<Library> | undefined;

  /** Makes a request with the merchant's key. */
  const call = async <Result>(
    account: Account,
    request: (mollie: MollieClient, library: Library) => Promise<Result>,
  ): Promise<Result> => {
    const library = await (loading ??= loadLibrary(new URL(endpoint).host, timeout));
    try {
      const mollie = library.createMollieClient({ apiKey: account.fields.apiKey!, apiEndpoint: endpoint });
      return await request(mollie, library);
    } catch (error) {
      throw paymentError('Mollie', error, account);
    }
  };

  const findPayment = (reference: string, account: Account) =>
    call(account, (mollie) => mollie.payments.get(reference));

  const confirm = async (reference: string, account: Account): Promise<PaymentOutcome> => {
    const payment = await call(account, (mollie, { PaymentEmbed }) =>
      mollie.payments.get(reference, { embed: [PaymentEmbed.refunds, PaymentEmbed.chargebacks] }),
    );
    const { refunds = [], chargebacks = [] } = payment._embedded ?? {};
    const toChargeback = ({ id, amount }: { id: string; amount: MollieAmount }) => ({
      reference: id,
      amount: fromMollieAmount(amount),
    });
    return {
      ...outcomeOf(payment),
      ...(refunds.length > 0 && { refunds: refunds.map(reportedRefund) }),
      ...(chargebacks.length > 0 && { chargebacks: chargebacks.map(toChargeback) }),
    };
  };

  return {
    fields: {
      apiKey: {
        description: 'API key (Mollie: Developers, API keys). It begins with live_ or test_.',
        isSecret: true,
      },
    },

    async start(attempt, account) {
      const payment = await call(account, (mollie, library) =>
        mollie.payments.create(paymentParams(library, attempt, account)),
      );
      const redirectTo = payment.getCheckoutUrl();
      if (!redirectTo) throw new Error('Mollie named no payment page');
      return { reference: payment.id, redirectTo };
    },

    confirm,

    async capture(reference, account) {
      const payment = await call(account, (mollie, { PaymentEmbed }) =>
        mollie.payments.get(reference, { embed: [PaymentEmbed.captures] }),
      );
      const before = outcomeOf(payment);
      const captures = (payment._embedded?.captures ?? []).map(({ status }): string => status);
      // A capture can take a while, and the payment is `authorized` until then.
      if (before.state !== 'authorized' || captures.includes('pending')) return before;
      const idempotencyKey = `${reference}-capture-${captures.length + 1}`;
      return changePayment(
        before,
        () =>
          call(account, (mollie) => mollie.paymentCaptures.create({ paymentId: reference, idempotencyKey })),
        () => confirm(reference, account),
      );
    },

    async cancel(reference, account) {
      const payment = await findPayment(reference, account);
      const before = outcomeOf(payment);
      // Mollie does not let us cancel every payment. One that stays open ends by itself, most of them after 15 minutes.
      const isCancelable = before.state === 'open' && payment.isCancelable;
      if (!isCancelable && before.state !== 'authorized') return before;
      return changePayment(
        before,
        () =>
          call<unknown>(account, ({ payments }) =>
            isCancelable ? payments.cancel(reference) : payments.releaseAuthorization(reference),
          ),
        () => confirm(reference, account),
      );
    },

    async refund(reference, { id, amount, currency, orderNumber, reference: refundReference }, account) {
      if (refundReference !== null) {
        return refundOutcome(
          await call(account, (mollie) =>
            mollie.paymentRefunds.get(refundReference, { paymentId: reference }),
          ),
        );
      }
      // Mollie forgets idempotency keys after an hour, so an earlier refund is found by its metadata.
      const refunds = await call(account, (mollie) =>
        mollie.paymentRefunds.page({ paymentId: reference, limit: 250 }),
      );
      const made = refunds.find(({ metadata }) => markOf(metadata) === id);
      if (made) return refundOutcome(made);
      // Mollie refuses a second refund of the same amount within an hour (409). It is then retried later.
      return refundOutcome(
        await call(account, (mollie) =>
          mollie.paymentRefunds.create({
            paymentId: reference,
            amount: toMollieAmount(amount, currency),
            description: orderNumber,
            metadata: { refundId: id },
            idempotencyKey: id,
          }),
        ),
      );
    },

    // Mollie signs nothing: the webhook names a payment, and its state is then requested.
    async webhook({ body }) {
      const reference = new URLSearchParams(body.toString('latin1')).get('id');
      return reference !== null && /^tr_\w{1,100}$/.test(reference) ? [reference] : undefined;
    },
  };
}

/** Loaded with the first payment: it takes memory that a shop without Mollie does not need. */
async function loadLibrary(host: string, timeout: number) {
  limitRequests(host, timeout);
  return import('@mollie/api-client');
}

/**
 * Ends requests to Mollie that get no answer. Its client waits for ever and has no timeout option, so every check of a
 * payment would leave a connection behind while Mollie is silent.
 */
function limitRequests(host: string, timeout: number): void {
  subscribe('http.client.request.start', (message) => {
    const { request } = message as { request: ClientRequest };
    if (request.getHeader('host') !== host) return;
    const timer = setTimeout(() => request.destroy(new Error('no answer in time')), timeout);
    request.once('close', () => clearTimeout(timer));
  });
}

function paymentParams(
  { Locale, CaptureMethod }: Library,
  { id, amount, currency, orderId, orderNumber, shopName, locale, returnUrl, webhookUrl }: NewPayment,
  { capture }: Account,
) {
  return {
    amount: toMollieAmount(amount, currency),
    description: `${orderNumber} ${shopName}`.slice(0, 255),
    redirectUrl: returnUrl,
    // Mollie refuses addresses that it can't reach. Payments are then found by polling.
    ...(!isLoopback(new URL(webhookUrl).hostname) && { webhookUrl }),
    // Mollie uses the language of the browser if it does not know the order's.
    ...(Object.hasOwn(Locale, locale) && { locale: Locale[locale as keyof typeof Locale] }),
    ...(capture === 'manual' && { captureMode: CaptureMethod.manual }),
    metadata: { attemptId: id, orderId },
    idempotencyKey: id,
  };
}

const STATES: Readonly<Record<string, OutcomeState>> = {
  open: 'open',
  pending: 'processing',
  authorized: 'authorized',
  paid: 'paid',
  failed: 'failed',
  canceled: 'cancelled',
  expired: 'cancelled',
};

function outcomeOf({ status, amount, amountCaptured }: Payment): PaymentOutcome {
  const { currency } = amount;
  const state = STATES[status];
  if (state === undefined) throw new Error(`Mollie names a state that is not known: ${status}`);
  const captured = state === 'paid' ? fromMollieAmount(amountCaptured ?? amount) : 0;
  return { state, captured, currency };
}

const REFUND_STATES: Readonly<Record<string, RefundOutcome['state']>> = {
  refunded: 'done',
  failed: 'failed',
  canceled: 'failed',
};

/** Mollie makes refunds after some hours, so a merchant can still cancel them. */
function refundOutcome({ id, status }: Pick<AnyRefund, 'id' | 'status'>): RefundOutcome {
  return { state: REFUND_STATES[status] ?? 'processing', reference: id };
}

type AnyRefund = Pick<Refund, 'id' | 'amount' | 'metadata'> & { status: string };

function reportedRefund(refund: AnyRefund): ReportedRefund {
  const { reference, state } = refundOutcome(refund);
  return { reference, state, amount: fromMollieAmount(refund.amount), id: markOf(refund.metadata) };
}

function markOf(metadata: unknown): string | null {
  const isMarked = typeof metadata === 'object' && metadata !== null && 'refundId' in metadata;
  return isMarked && typeof metadata.refundId === 'string' ? metadata.refundId : null;
}

interface MollieAmount {
  currency: string;
  value: string;
}

/** https://docs.mollie.com/docs/multicurrency: two currencies have no decimals at Mollie, all others have two. */
const digitsOf = (currency: string) => (currency === 'ISK' || currency === 'JPY' ? 0 : 2);

function toMollieAmount(amount: number, currency: string): MollieAmount {
  const digits = digitsOf(currency);
  const units = toProviderAmount(amount, currency, digits);
  return { currency, value: (units / 10 ** digits).toFixed(digits) };
}

function fromMollieAmount({ currency, value }: MollieAmount): number {
  const digits = digitsOf(currency);
  return fromProviderAmount(Math.round(Number(value) * 10 ** digits), currency, digits);
}
