/**
 * A payment provider moves money from the shopper to the shop: Stripe, Mollie, or the demo page of our own. It knows
 * nothing of orders and of the database; the order holds the truth, and asks the provider.
 *
 * A webhook, the return of the shopper and a poll all end in the same call, `confirm`. So it does not matter whether a
 * webhook comes twice, late, in another order or never.
 *
 * Every call ends within CALL_TIMEOUT and is made outside of transactions. A call that throws `PaymentRefused` was
 * refused for good; any other error means that nobody knows what has happened, and the call is made again.
 */
export interface PaymentProvider {
  /** What the merchant sets with `kontor payment set`, by name. */
  fields: Readonly<Record<string, ProviderField>>;
  /** false: this installation must not offer it, such as the demo page on the internet. Absent: true. */
  isAvailable?: boolean;

  /**
   * Makes a payment, and says where the shopper pays. `attempt.id` is the idempotency key: called again within a few
   * minutes, after a crash, it returns the same payment. Nobody can pay before this has returned, because nobody knows
   * the address.
   */
  start(attempt: NewPayment, account: Account): Promise<StartedPayment>;

  /** What has become of a payment. The only source of truth. */
  confirm(reference: string, account: Account): Promise<Outcome>;

  /** Takes the money of an authorized payment, all of it. Called again, it changes nothing. */
  capture(reference: string, account: Account): Promise<Outcome>;

  /**
   * Ends a payment that nobody has paid, or gives up an authorized one. A payment that is paid, or whose money is on
   * its way, stays as it is, and the outcome says so. Called again, it changes nothing.
   */
  cancel(reference: string, account: Account): Promise<Outcome>;

  /**
   * Pays back all or a part of a payment. `refund.id` is the idempotency key: called again, however late, it returns
   * the same refund. A provider that forgets keys finds the refund by the id that it was made with (metadata), or by
   * `refund.reference`, which is what this function has returned before.
   */
  refund(reference: string, refund: NewRefund, account: Account): Promise<RefundOutcome>;

  /** The references of the payments that a webhook is about; undefined: the signature is wrong. */
  webhook(request: WebhookRequest, account: Account): Promise<readonly string[] | undefined>;
}

export interface ProviderField {
  /** For the merchant: where to find it. */
  description: string;
  /** Shown to nobody, and sealed in the database. All fields are sealed; one that is no secret may be shown. */
  isSecret: boolean;
  /** A payment can be started without it. Absent: false. */
  isOptional?: boolean;
}

/** What the merchant has set for a payment method. */
export interface Account {
  shopId: string;
  /** The values of the provider's fields, by name; only those that are set. */
  fields: Readonly<Record<string, string>>;
  /** Whether a payment takes the money at once, or only reserves it until `capture`. */
  capture: 'automatic' | 'manual';
  /** `additionalData` of the payment method in the settings file: texts for the provider, never secrets. */
  settings: Readonly<Record<string, string>>;
}

/** A payment to make. Amounts are integers in minor units of the currency: 4633 EUR is 46.33 euros, 500 JPY is 500 yen. */
export interface NewPayment {
  /** A UUID: the idempotency key, and what the payment is to be marked with (metadata). */
  id: string;
  amount: number;
  currency: string;
  orderId: string;
  /** `ORD261116/1001`, for statements of account. */
  orderNumber: string;
  /** Name of the shop, in the language of the order. */
  shopName: string;
  /** Of the customer, for the receipt; undefined: unknown. */
  email: string | undefined;
  /** The language of the order: `de_DE`. */
  locale: string;
  /** Where the shopper goes afterwards, whatever has happened. */
  returnUrl: string;
  /** Where the provider may announce news of this payment. On this machine alone no provider can reach it. */
  webhookUrl: string;
}

export interface StartedPayment {
  /** What the provider calls the payment; unique within the account, at most 200 characters. */
  reference: string;
  /** The page on which the shopper pays. */
  redirectTo: string;
}

export interface Outcome {
  /**
   * - `open`: nobody has paid yet, and somebody still can.
   * - `processing`: the shopper has paid and the money is on its way (SEPA). The order keeps its goods.
   * - `authorized`: the money is reserved and waits for `capture`.
   * - `paid`: the money is there, `captured` says how much.
   * - `failed`: refused, for good. `cancelled`: ended without money. Neither can be paid any more.
   */
  state: OutcomeState;
  /** Minor units; 0 unless paid. What was paid back later does not lessen it. */
  captured: number;
  currency: string;
  /**
   * Of a paid payment: all that was paid back or is going back, by us or in the dashboard of the provider. Absent: the
   * provider knows only of what we do.
   */
  refunds?: readonly ReportedRefund[];
  /** Of a paid payment: what the bank of the shopper has taken back, or wants to. */
  chargebacks?: readonly Chargeback[];
}

export interface ReportedRefund {
  /** What the provider calls it. */
  reference: string;
  /** What it is marked with: the id of a refund of ours; null: it was made elsewhere. */
  id: string | null;
  amount: number;
  state: RefundOutcome['state'];
}

export interface Chargeback {
  /** The same for the same chargeback, however often it is asked for. */
  reference: string;
  amount: number;
}

export type OutcomeState = 'open' | 'processing' | 'authorized' | 'paid' | 'failed' | 'cancelled';

export interface NewRefund {
  /** A UUID: the idempotency key, and what the refund is to be marked with. */
  id: string;
  /** Minor units. */
  amount: number;
  currency: string;
  orderNumber: string;
  /** What an earlier call has returned; null: there was none, or nobody knows. */
  reference: string | null;
}

export interface RefundOutcome {
  /** `processing`: the call is made again later, with the reference, and only asks. */
  state: 'processing' | 'done' | 'failed';
  /** What the provider calls the refund, at most 200 characters. */
  reference: string;
}

/** A webhook as it came, because signatures are made over its bytes. */
export interface WebhookRequest {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

/** Milliseconds: a provider that takes longer is treated as one that does not answer. */
export const CALL_TIMEOUT = 10_000;

/**
 * The provider has understood the call and refuses it for good: trying again would change nothing. The message is for
 * the merchant, and never holds a secret.
 */
export class PaymentRefused extends Error {
  override name = 'PaymentRefused';
}
