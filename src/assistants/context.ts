import type { AppCalls } from '../apps/calls/calls.ts';
import type { CartStore } from '../carts/cart-store.ts';
import type { ShopDatabase, Transaction } from '../db/database.ts';
import type { PlaceOrder } from '../checkout/order-cart.ts';
import type { PaymentDeps } from '../orders/payments/calls.ts';
import type { PaymentMethod, Settings } from '../shops/settings/settings.ts';
import type { Agent } from './agent.ts';
import type { NamedCart } from './carts/cart-id.ts';
import type { AssistantTokens } from './tokens.ts';
import type { Capability } from './capabilities.ts';
import type { WantedCodes } from './details/codes.ts';

/** The request of an assistant, with the data that every operation needs. */
export interface AssistantContext {
  db: ShopDatabase;
  shopId: string;
  settings: Settings;
  locale: string;
  currency: string;
  /** Scheme and host of the service, where pictures are. */
  origin: string;
  /** Scheme and host of the shop. */
  home: string;
  carts: CartStore;
  agent: Agent;
  tokens: AssistantTokens;
  /** What the assistant and the shop have in common. */
  capabilities: readonly Capability[];
  /** The calls of apps that offer deliveries. */
  appCalls: AppCalls;
  /** Looks codes of coupons up, of which a client may guess a few only. */
  findCodes: (codes: readonly string[]) => Promise<WantedCodes>;
  placeOrder: PlaceOrder;
  /** Counts an order against the limit of the client. */
  countOrder: () => Promise<void>;
  payments: PaymentDeps;
  /** The payment method that assistants may pay with; undefined: buyers pay in the shop. */
  paymentMethod: () => Promise<PaymentMethod | undefined>;
  /** The pages about the law and the terms of the shop. */
  links: () => Promise<Link[]>;
}

export interface Link {
  type: string;
  url: string;
  title: string;
}

/** One request for an operation. */
export interface OperationCall {
  context: AssistantContext;
  /** Of the form of the operation. */
  request: unknown;
  /** The id in the path; '' where the operation has none. */
  id: string;
  /** The cart that it is about, where the id is not the one of a cart. */
  cart?: NamedCart;
  /** Runs what writes, once for each Idempotency-Key; an answer that says an error undoes it. */
  write: (work: (tx: Transaction) => Promise<object>) => Promise<object>;
  /** The answer that this Idempotency-Key has already; undefined: none. */
  answered: () => Promise<object | undefined>;
}
