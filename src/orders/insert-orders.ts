import type { Transaction } from '../db/database.ts';
import { insertInto } from '../db/insert.ts';
import type { Content } from '../pricing/content.ts';
import { sum } from '../pricing/shares.ts';
import type { Address } from '../shops/countries/address.ts';
import type { Buyer } from '../shops/vat-numbers/buyer.ts';
import type { PaymentWait } from './order-state.ts';
import { netRevenue } from './day-sums.ts';

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
  buyer: Buyer | null;
  content: Content;
  /** From the billing address; it identifies the customer, unless one is named. */
  email: string;
  customerId: string | null;
  /** For a new customer. */
  newCustomerId: string;
  /** The app that placed it; null: the shop itself. */
  appId: string | null;
  /** The checkout session of an assistant that has brought the buyer; null: none has. */
  assistantSessionId: string | null;
  /** Its use is counted; null: none, or one without effect. */
  couponCodeKey: string | null;
  /** Its promotions with a limit; missing: it has none. */
  limitedPromotions?: readonly LimitedPromotion[];
  /** The parts that gift cards pay, each more than 0. */
  giftCards: readonly { giftCardId: string; amount: number }[];
  /** Stock may fall below zero, of products that say nothing else of themselves. */
  beyondStock: boolean;
  /** The day of the shop, which products on backorder are promised for. */
  today: string;
  /** The stock level that the merchant is notified of, for products without their own; null: none. */
  lowStockLevel: number | null;
  /** When it is cancelled unless something was paid; null: never. */
  releaseAt: Date | null;
  paymentWait: PaymentWait | null;
  /** Its cart may have custom fields, which go over to the order. */
  hasCartFields: boolean;
}

/** A limit of null: any number of orders. */
export interface LimitedPromotion {
  promotionId: string;
  usageLimit: number | null;
  usageLimitPerCustomer: number | null;
}

export type NumberedOrder = NewOrder & { orderNumber: string; buyerId: string };

const insertOrder = insertInto('customer_order', {
  order_id: 'uuid',
  order_number: 'text',
  cart_id: 'uuid',
  cart_token_hash: 'bytea',
  created_at: 'timestamptz',
  customer_id: 'uuid',
  app_id: 'uuid',
  locale: 'text',
  currency: 'text',
  tax_model: 'text',
  grand_total: 'bigint',
  total_before_tax: 'bigint',
  total_tax: 'bigint',
  net_revenue: 'numeric',
  billing_address: 'json',
  shipping_address: 'json',
  buyer: 'jsonb',
  content: 'jsonb',
  release_at: 'timestamptz',
  is_new: 'boolean',
  payment_wait: 'text',
  assistant_session_id: 'uuid',
  gift_card_amount: 'bigint',
});

export function insertOrders(
  tx: Transaction,
  shopId: string,
  orders: readonly Omit<NumberedOrder, 'today'>[],
) {
  const rows = orders.map((order) => ({
    order_id: order.orderId,
    order_number: order.orderNumber,
    cart_id: order.cartId,
    cart_token_hash: `\\x${order.cartTokenHash.toString('hex')}`,
    created_at: order.createdAt,
    customer_id: order.buyerId,
    app_id: order.appId,
    locale: order.locale,
    currency: order.content.currency,
    tax_model: order.taxModel,
    grand_total: order.content.grandTotal,
    total_before_tax: order.content.totalBeforeTax,
    total_tax: order.content.totalTax,
    net_revenue: netRevenue(order.content),
    billing_address: order.billingAddress,
    shipping_address: order.shippingAddress,
    buyer: order.buyer,
    content: order.content,
    release_at: order.releaseAt,
    is_new: true,
    payment_wait: order.paymentWait,
    assistant_session_id: order.assistantSessionId,
    gift_card_amount: sum(order.giftCards.map(({ amount }) => amount)),
  }));
  return tx.run(insertOrder(shopId, rows));
}
