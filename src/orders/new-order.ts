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
  /** Version of the cart that this order was made from. */
  cartVersion: number;
  cartTokenHash: Buffer;
  locale: string;
  taxModel: 'GROSS' | 'NET';
  billingAddress: Address;
  shippingAddress: Address | null;
  content: Content;
  /** From the billing address; it identifies the customer, unless one is named. */
  email: string;
  customerId: string | null;
  /** For a new customer. */
  newCustomerId: string;
  /** The app that placed it; null: the shop itself. */
  appId: string | null;
  /** Its use is counted; null: none, or one without effect. */
  couponCodeKey: string | null;
  /** Allow backorders. */
  beyondStock: boolean;
  /** The stock level that the merchant is notified of, for products without their own; null: none. */
  lowStockLevel: number | null;
  /** When it is cancelled unless something was paid; null: never. */
  releaseAt: Date | null;
}

/** The outcome of an order. Without a number it was not placed, and nothing has changed. */
export interface Placement {
  orderNumber: string | null;
  /** The time of its commit. */
  createdAt: Date | null;
  customerId: string | null;
  customerNumber: string | null;
  /** false: the cart, or another input of the order, has changed in the meantime. */
  isCurrent: boolean;
  /** Products with insufficient stock. */
  shortIds: string[];
  /** The remaining stock of the ordered products, as decimal texts. */
  left: { productId: string; stock: string }[];
}

/** The content of the email is read when it is sent, so placing an order does not wait for it. */
export interface PlacedEmail {
  id: string;
  content: QueuedEmail<{ orderId: string }>;
}

export interface PlacementOptions {
  /** To the customer, and to the merchant. */
  emails: readonly PlacedEmail[];
  /** For the audit log. */
  entry?: Entry | undefined;
  /** The inputs of the order, if they came from a cache: the order is placed only if they are unchanged. */
  expected?: { settingsVersion: number; products: readonly CartProduct[] } | undefined;
}

export interface OrderRequest {
  order: NewOrder;
  options: PlacementOptions;
}
