import { verifyFrameToken, type VerifyOptions } from './frame-token.ts';
import { encode, isSignedWith, signatureOf } from './signature.ts';
import { headerOf, isRecent, type WebhookRequest } from './webhooks.ts';

/** For the back end of an app: the calls with which a shop asks it while a customer waits. */

/** What the manifest names in `calls`. */
export type CallKind = 'deliveryOptions' | 'linePrices' | 'taxes' | 'checkoutValidation' | 'payment';

export interface ShopCall {
  kind: CallKind;
  /** Of this call; the answer is signed with it. */
  id: string;
  /** The shop that asks. */
  shop: string;
  /** The body, as the documentation of the kind describes it. */
  question: unknown;
}

/** What `deliveryOptions` asks about a cart. Nothing in it names a person. */
export interface DeliveryQuestion {
  currency: string;
  /** Whether prices are shown with VAT. */
  taxType: 'GROSS' | 'NET';
  destination: { country: string | null; zipCode: string | null };
  /** Minor units: 390 is 3.90 EUR. */
  value: number;
  lines: {
    productId: string;
    productNumber: string;
    /** A decimal. */
    quantity: string;
    /** Minor units, of all units. */
    amount: number;
    /** Of one; null: unknown. */
    weight: { amount: number; unit: string } | null;
    hsCode: string | null;
    originCountry: string | null;
  }[];
}

export interface DeliveryAnswer {
  /** At most 10. */
  options: {
    /** Its name in the app: letters, digits, dots, dashes and underscores, at most 40. */
    id: string;
    /** One for all languages, or one for each: `{ en: 'By bike', de: 'Mit dem Rad' }`. */
    name: string | Record<string, string>;
    /** Minor units of the currency of the cart. */
    price: number;
    /** Working days in transit. */
    days?: { from: number; to: number };
  }[];
}

/** What `linePrices` asks about a cart. Nothing in it names a person. */
export interface LinePriceQuestion {
  currency: string;
  /** Whether prices include VAT: those of the shop, and those of the answer. */
  taxModel: 'GROSS' | 'NET';
  customerId: string | null;
  customerGroupId: string | null;
  lines: {
    lineItemId: string;
    productId: string;
    productNumber: string;
    /** A decimal. */
    quantity: string;
    /** The shop's own, in minor units, for `priceQuantity` units. */
    price: number;
    priceQuantity: number;
    /** What the customer has typed for the product. */
    customText: string | null;
  }[];
}

export interface LinePriceAnswer {
  /** That of the question. */
  currency: string;
  /** Only lines whose price is another than the shop's. */
  prices: {
    lineItemId: string;
    /** Minor units, for the `priceQuantity` of the question. */
    price: number;
  }[];
}

/** What `taxes` asks about a cart. It names no person, but the VAT number of a business. */
export interface TaxQuestion {
  currency: string;
  /** Whether the cart shows prices with VAT. */
  taxType: 'GROSS' | 'NET';
  /** Whether the prices of the shop include VAT. */
  taxModel: 'GROSS' | 'NET';
  /** Of the shop. */
  country: string;
  destination: { country: string; zipCode: string | null };
  /** The customer collects the goods where the shop is. */
  isPickup: boolean;
  vatNumber: string | null;
  lines: {
    lineItemId: string;
    productId: string;
    productNumber: string;
    /** A decimal. */
    quantity: string;
    /** Minor units, for `priceQuantity` units. */
    price: number;
    priceQuantity: number;
    taxClassId: string;
    digital: boolean;
    supply: 'goods' | 'services';
  }[];
}

export interface TaxAnswer {
  /** At most 20. */
  taxes: {
    /** One for all languages, or one for each. */
    name: string | Record<string, string>;
    /** Basis points: 800 is 8 %. */
    rate: number;
  }[];
  /** The place of the tax in `taxes`; a line that is left out has the tax of the shop. */
  lines: { lineItemId: string; tax: number }[];
  delivery: number;
  payment: number;
}

/** What `payment` asks. The same question may come again: its id makes it one. Amounts are in minor units. */
export type PaymentQuestion = PaymentStart | PaymentChange | PaymentRefund;

export interface PaymentStart {
  action: 'start';
  /** The idempotency key: one that is known is answered as before. */
  paymentId: string;
  orderId: string;
  orderNumber: string;
  shopName: string;
  /** Its name in `paymentMethods` of the manifest. */
  method: string;
  amount: number;
  currency: string;
  /** manual: the money is only reserved, until the shop asks for `capture`. */
  capture: 'automatic' | 'manual';
  /** Of the order: `de_DE`. */
  locale: string;
  /** Where the customer goes afterwards, whatever came of it. */
  returnUrl: string;
}

export interface PaymentChange {
  action: 'capture' | 'cancel';
  paymentId: string;
  amount: number;
  currency: string;
}

export interface PaymentRefund {
  action: 'refund';
  paymentId: string;
  /** The idempotency key of the refund. */
  refundId: string;
  orderNumber: string;
  amount: number;
  currency: string;
}

/** To any of them: why not, in a sentence for the merchant. It is not asked again. */
export interface PaymentRefusal {
  refused: string;
}

/** To `start`: the page where the customer pays, or what to do. Id, amount and currency are those of the question. */
export type PaymentStartAnswer = { paymentId: string; amount: number; currency: string } & (
  | { redirectUrl: string }
  | { instructions: string | Record<string, string> }
);

/** To `capture` and `cancel`: the state afterwards. */
export interface PaymentChangeAnswer {
  paymentId: string;
  /** Of a paid payment what was captured. */
  amount: number;
  currency: string;
  state: 'open' | 'processing' | 'authorized' | 'paid' | 'failed' | 'cancelled';
}

/** To `refund`; processing: the same question comes again later. */
export interface PaymentRefundAnswer {
  refundId: string;
  amount: number;
  currency: string;
  state: 'processing' | 'done' | 'failed';
  /** The app's own id of it. */
  reference?: string;
}

/** It does not come from the shop, or it is too old. */
export class CallVerificationError extends Error {
  override readonly name = 'CallVerificationError';
}

export interface CallSecrets extends VerifyOptions {
  clientSecret: string;
}

/** Seconds that a call may be old. */
const TOLERANCE = 60;

/**
 * Checks the signature and the token of a call and returns what it asks; rejects with a CallVerificationError or a
 * FrameTokenError.
 */
export async function verifyCall(
  request: WebhookRequest,
  { clientSecret, ...by }: CallSecrets,
): Promise<ShopCall> {
  const body = typeof request.body === 'string' ? encode(request.body) : request.body;
  const timestamp = headerOf(request, 'webhook-timestamp');
  const id = headerOf(request, 'webhook-id');
  if (!isRecent(timestamp, TOLERANCE)) {
    throw new CallVerificationError('The call is too old, or its time is missing');
  }
  const signature = headerOf(request, 'webhook-signature');
  if (!(await isSignedWith(encode(clientSecret), { id, timestamp, body }, signature))) {
    throw new CallVerificationError('The signature is wrong');
  }
  const kind = headerOf(request, 'kontor-call') as CallKind;
  const { page, shop } = await verifyFrameToken(
    headerOf(request, 'authorization').replace(/^Bearer /, ''),
    by,
  );
  if (page !== `call:${kind}`) throw new CallVerificationError('The token is for something else');
  return { kind, id, shop, question: JSON.parse(new TextDecoder().decode(body)) };
}

export interface SignedBody {
  headers: Record<string, string>;
  body: string;
}

/** The headers and the body of the answer to a call: the shop takes none that is not signed. */
export async function signAnswer(
  answer: object,
  { id, clientSecret }: { id: string; clientSecret: string },
): Promise<SignedBody> {
  const body = JSON.stringify(answer);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = await signatureOf(encode(clientSecret), { id, timestamp, body: encode(body) });
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    },
    body,
  };
}
