/**
 * A payment provider moves money from the shopper to the shop: Stripe, Mollie, or our own demo page. It knows nothing
 * of orders or the database; the order holds the truth, and asks the provider.
 *
 * A webhook, the return of the shopper and a poll all end in the same call, `confirm`. So it does not matter whether a
 * webhook comes twice, late, out of order or never.
 *
 * Every call ends within CALL_TIMEOUT and is made outside of transactions. A call that throws `PaymentRefused` was
 * refused for good; any other error means that the outcome is unknown, and the call is retried.
 */
export interface PaymentProvider {
  /** Values that the merchant sets with `kontor payment set`, by name. */
  fields: Readonly<Record<string, ProviderField>>;
  /** false: this installation must not offer it, such as the demo page on the internet. Absent: true. */
  isAvailable?: boolean;

  /**
   * Creates a payment, and returns the address where the shopper pays. `attempt.id` is the idempotency key: a retry
   * within a few minutes, after a crash, returns the same payment. It cannot be paid before this returns, because the
   * address is unknown.
   */
  start(attempt: NewPayment, account: Account): Promise<StartedPayment>;

  /**
   * Makes a payment with a token that the shopper has given to an assistant; nobody is sent to a page. `charge.id` is the
   * idempotency key: a repeated call within a day makes no second payment. Absent: it takes no tokens.
   */
  charge?(charge: NewCharge, account: Account): Promise<ChargedPayment>;

  /** The state of a payment. The only source of truth. */
  confirm(reference: string, account: Account): Promise<PaymentOutcome>;

  /** Captures all money of an authorized payment. A repeated call changes nothing. */
  capture(reference: string, account: Account): Promise<PaymentOutcome>;

  /**
   * Ends an unpaid payment, or gives up an authorized one. A payment that is paid, or whose money is on its way, stays
   * as it is, and the outcome says so. A repeated call changes nothing.
   */
  cancel(reference: string, account: Account): Promise<PaymentOutcome>;

  /**
   * Refunds all or a part of a payment. `refund.id` is the idempotency key: a repeated call, however late, returns the
   * same refund. A provider that forgets keys finds the refund by the id in its metadata, or by `refund.reference`,
   * the result of an earlier call.
   */
  refund(reference: string, refund: RefundRequest, account: Account): Promise<RefundOutcome>;

  /** The references of the payments in a webhook; undefined: the signature is wrong. */
  webhook(request: WebhookRequest, account: Account): Promise<readonly string[] | undefined>;
}

export interface ProviderField {
  /** For the merchant: where to find it. */
  description: string;
  /** Never shown, and sealed in the database. All fields are sealed; one that is no secret may be shown. */
  isSecret: boolean;
  /** A payment can be started without it. Absent: false. */
  isOptional?: boolean;
}

/** The merchant's settings of a payment method. */
export interface Account {
  shopId: string;
  /** Payments are only tried out. Absent: they are real. */
  isSandbox?: boolean;
  /** The values of the provider's fields, by name; only those that are set. */
  fields: Readonly<Record<string, string>>;
  /** Whether a payment captures the money at once, or only reserves it until `capture`. */
  capture: 'automatic' | 'manual';
  /** Of the provider `app`: the host of the app and the name of its method, `pay.example/later`. */
  appMethod?: string | null;
  /** `additionalData` of the payment method in the settings file: texts for the provider, never secrets. */
  settings: Readonly<Record<string, string>>;
}

/** A payment to make. Amounts are integers in minor units of the currency: 4633 EUR is 46.33 euros, 500 JPY is 500 yen. */
export interface NewPayment {
  /** A UUID: the idempotency key, stored in the metadata of the payment. */
  id: string;
  amount: number;
  currency: string;
  orderId: string;
  /** `ORD261116/1001`, for statements of account. */
  orderNumber: string;
  /** Name of the shop, in the language of the order. */
  shopName: string;
  /** The customer's address, for the receipt; undefined: unknown. */
  email: string | undefined;
  /** The language of the order: `de_DE`. */
  locale: string;
  /** Where the shopper goes afterwards, whatever the outcome. */
  returnUrl: string;
  /** Where the provider may send webhooks of this payment. No provider can reach a service on this machine alone. */
  webhookUrl: string;
}

/** A payment with a token. */
export interface NewCharge extends Omit<NewPayment, 'returnUrl' | 'webhookUrl' | 'locale' | 'email'> {
  /** A secret, good for this shop and an amount. */
  token: string;
}

export interface ChargedPayment extends PaymentOutcome {
  /** The provider's id of the payment; unique within the account, at most 200 characters. */
  reference: string;
}

export interface StartedPayment {
  /** The provider's id of the payment; unique within the account, at most 200 characters. */
  reference: string;
  /** The page on which the shopper pays. */
  redirectTo: string;
}

export interface PaymentOutcome {
  /**
   * - `open`: not paid yet, and can still be paid.
   * - `processing`: the shopper has paid and the money is on its way (SEPA). The order keeps its goods.
   * - `authorized`: the money is reserved and waits for `capture`.
   * - `paid`: the money is there, `captured` says how much.
   * - `failed`: refused, for good. `cancelled`: ended without money. Neither can be paid now.
   */
  state: OutcomeState;
  /** Minor units; 0 unless paid. Later refunds do not reduce it. */
  captured: number;
  currency: string;
  /**
   * For a paid payment: all refunds, made or under way, by us or in the dashboard of the provider. Absent: the
   * provider knows only of our own.
   */
  refunds?: readonly ReportedRefund[];
  /** For a paid payment: chargebacks of the shopper's bank, made or claimed. */
  chargebacks?: readonly Chargeback[];
}

export interface ReportedRefund {
  /** The provider's id of it. */
  reference: string;
  /** Its metadata: the id of a refund of ours; null: it was made elsewhere. */
  id: string | null;
  amount: number;
  state: RefundOutcome['state'];
}

export interface Chargeback {
  /** The same for the same chargeback in every answer. */
  reference: string;
  amount: number;
}

export type OutcomeState = 'open' | 'processing' | 'authorized' | 'paid' | 'failed' | 'cancelled';

export interface RefundRequest {
  /** A UUID: the idempotency key, stored in the metadata of the refund. */
  id: string;
  /** Minor units. */
  amount: number;
  currency: string;
  orderNumber: string;
  /** The result of an earlier call; null: there was none, or it is unknown. */
  reference: string | null;
}

export interface RefundOutcome {
  /** `processing`: the call is repeated later, with the reference, and only asks. */
  state: 'processing' | 'done' | 'failed';
  /** The provider's id of the refund, at most 200 characters. */
  reference: string;
}

/** A webhook as it arrived, because signatures are made over its bytes. */
export interface WebhookRequest {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

/** Milliseconds: a provider that takes longer is treated as one that does not answer. */
export const CALL_TIMEOUT = 10_000;

/**
 * The provider has understood the call and refuses it for good: a retry would change nothing. The message is for the
 * merchant, and never contains a secret.
 */
export class PaymentRefused extends Error {
  override name = 'PaymentRefused';
}
