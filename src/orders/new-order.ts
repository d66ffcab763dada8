import type { CartProduct } from '../catalogue/products/cart-product.ts';
import type { Entry } from '../http/audit-entry.ts';
import type { Content } from './pricing/content.ts';
import type { Address } from '../shops/countries/address.ts';
import type { QueuedEmail } from '../platform/email/queue.ts';

export interface NewOrder {
  orderId: string;
  createdAt: Date;
  /** `ORD261115/`; the counter follows. */
  numberPrefix: string;
  cartId: string;
  /** Of the cart that this order was made from. */
  cartVersion: number;
  cartTokenHash: Buffer;
  locale: string;
  taxModel: 'GROSS' | 'NET';
  billingAddress: Address;
  shippingAddress: Address | null;
  content: Content;
  /** Of the billing address; by it the customer is found, unless one is named. */
  email: string;
  customerId: string | null;
  /** For a customer who is new. */
  newCustomerId: string;
  /** Who placed it; null: the shop itself. */
  appId: string | null;
  /** Its use is counted; null: none, or one that takes nothing off. */
  couponCodeKey: string | null;
  /** Sell what is not in stock. */
  beyondStock: boolean;
  /** The stock that the merchant wants to hear of, for products without a level of their own; null: none. */
  lowStockLevel: number | null;
  /** When it is cancelled unless something was paid; null: never. */
  releaseAt: Date | null;
}

/** What became of an order. Without a number it was not placed, and nothing has changed. */
export interface Placement {
  orderNumber: string | null;
  /** The time of its commit. */
  createdAt: Date | null;
  customerId: string | null;
  customerNumber: string | null;
  /** false: the cart, or something else that the order was computed from, has changed in the meantime. */
  isCurrent: boolean;
  /** Products of which there is not enough. */
  shortIds: string[];
  /** What is left in stock of the products that were taken, as decimal texts. */
  left: { productId: string; stock: string }[];
}

/** What the email says about the order is read when it is sent, so that placing an order does not wait for it. */
export interface PlacedEmail {
  id: string;
  content: QueuedEmail<{ orderId: string }>;
}

export interface PlacementOptions {
  /** To the customer, and to the merchant. */
  emails: readonly PlacedEmail[];
  /** For the audit log. */
  entry?: Entry | undefined;
  /** What the order was computed from, if it came from a cache: the order is only placed if it is still the same. */
  expected?: { settingsVersion: number; products: readonly CartProduct[] } | undefined;
}

export interface OrderRequest {
  order: NewOrder;
  options: PlacementOptions;
}
