import type { CartProduct } from '../pricing/cart-product.ts';
import type { AuditEntry } from '../http/audit-entry.ts';
import type { NewOrder } from '../orders/insert-orders.ts';
import type { State } from '../orders/schema.ts';
import type { PlacedEmail } from '../orders/placed-emails.ts';

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
  /** A gift card no longer has its part. */
  isCardShort: boolean;
  /** Reached at once, because gift cards have paid. */
  states: Partial<Record<State, Date | null>>;
  /** The remaining stock of the ordered products, as the stamps of cart products have it. */
  left: { productId: string; stockStamp: string }[];
}

export interface PlacementOptions {
  /** To the customer, and to the merchant. */
  emails: readonly PlacedEmail[];
  /** For the audit log. */
  entry?: AuditEntry | undefined;
  /** The inputs of the order, if they came from a cache: the order is placed only if they are unchanged. */
  expected?: { settingsVersion: number; products: readonly CartProduct[] } | undefined;
}

export interface OrderRequest {
  order: NewOrder;
  options: PlacementOptions;
}
