import type { Content } from '../carts/content.ts';
import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { State } from './schema.ts';

/** An order as its row holds it, with its customer's number. Addresses are JSON text. */
export interface OrderRow extends Record<State, Date | null> {
  orderId: string;
  orderNumber: string;
  createdAt: Date;
  updatedAt: Date | null;
  customerId: string;
  customerNumber: string;
  locale: string;
  currency: string;
  taxModel: 'GROSS' | 'NET';
  customerComment: string | null;
  internalNote: string | null;
  billingAddress: string;
  shippingAddress: string | null;
  content: Content;
}

/** The order that a cart became: whoever has the cart's token may know. */
export function findOrderOfCart(db: Queries, shopId: string, cartId: string) {
  return db.one<{ tokenHash: Buffer }>(sql`
    select cart_token_hash as "tokenHash" from customer_order
    where shop_id = ${shopId} and cart_id = ${cartId}`);
}

export function findOrderNumber(db: Queries, shopId: string, orderId: string) {
  return db.one<{ orderNumber: string }>(sql`
    select order_number as "orderNumber" from customer_order
    where shop_id = ${shopId} and order_id = ${orderId}`);
}

export interface NewOrder {
  orderId: string;
  /** `ORD261115/`; the counter follows. */
  numberPrefix: string;
  cartId: string;
  cartTokenHash: Buffer;
  locale: string;
  taxModel: 'GROSS' | 'NET';
  billingAddress: string;
  shippingAddress: string | null;
  content: Content;
  /** Of the billing address; by it the customer is found, unless one is named. */
  email: string;
  customerId: string | null;
  /** For a customer who is new. */
  newCustomerId: string;
  /** Its use is counted; null: none, or one that takes nothing off. */
  couponCodeKey: string | null;
  /** Sell what is not there. */
  beyondStock: boolean;
}

/** What became of it. Without a number nothing was placed, and the transaction must not be committed. */
export interface Placing {
  orderNumber: string | null;
  customerId: string | null;
  customerNumber: string | null;
  /** Products of which there is not enough. */
  shortIds: string[];
  /** What is left of the others: `<id> <stock>`. */
  left: string[];
}

/**
 * Everything that placing an order writes, in one round trip. The steps wait for each other, because each looks at
 * the one before: products in the order of their ids (so that two orders never hold what the other waits for), then
 * the coupon, then the counters, which all orders of the shop share and which are held for the shortest time. A step
 * that fails leaves the next ones nothing to do.
 */
export async function placeOrder(tx: Transaction, shopId: string, order: NewOrder): Promise<Placing> {
  const { content } = order;
  const wanted = JSON.stringify(
    content.lines.map(({ productId, quantity }) => ({ product_id: productId, quantity })),
  );
  const row = await tx.one<Placing>(sql`
    with locked as (
      select product.product_id, product.stock, wanted.quantity
      from jsonb_to_recordset(${wanted}) as wanted (product_id uuid, quantity numeric)
      join product on product.shop_id = ${shopId} and product.product_id = wanted.product_id
      where product.stock is not null
      order by product.product_id
      for update of product
    ), taken as (
      update product
      set stock = locked.stock - locked.quantity, stock_changed_at = ${tx.now}
      from locked
      where product.shop_id = ${shopId} and product.product_id = locked.product_id
        and (locked.stock >= locked.quantity or ${order.beyondStock})
      returning product.product_id, product.stock
    ), redeemed as (
      update coupon set used = coupon.used + 1
      from coupon_campaign campaign
      where coupon.shop_id = ${shopId} and coupon.code_key = ${order.couponCodeKey}
        and campaign.shop_id = coupon.shop_id and campaign.campaign_id = coupon.campaign_id
        and coupon.used < coalesce(campaign.usage_limit, coupon.used + 1)
        and (select count(*) from taken) = (select count(*) from locked)
      returning coupon.campaign_id
    ), counted as (
      update coupon_campaign set used = used + 1
      where shop_id = ${shopId} and campaign_id = (select campaign_id from redeemed)
        and used < coalesce(campaign_usage_limit, used + 1)
      returning campaign_id
    ), number as (
      update counter set value = value + 1
      where shop_id = ${shopId} and name = 'order'
        and (select count(*) from taken) = (select count(*) from locked)
        and (${order.couponCodeKey}::text is null or exists (select from counted))
      returning ${order.numberPrefix} || value as order_number
    ), known as (
      (
        select customer_id, customer_number from customer
        where shop_id = ${shopId} and customer_id = ${order.customerId}
      ) union all (
        select customer_id, customer_number from customer
        where shop_id = ${shopId} and ${order.customerId}::uuid is null
          and lower(billing_address ->> 'emailAddress') = lower(${order.email})
        order by created_at, customer_id limit 1
      )
    ), renamed as (
      -- Who was made for this mail address and has got another one since is somebody else.
      update customer set ordered_as = null
      where shop_id = ${shopId} and ordered_as = lower(${order.email})
        and exists (select from number) and not exists (select from known)
      returning customer_id
    ), customer_counter as (
      -- The next number that no merchant has given by hand.
      update counter
      set value = value + coalesce((
        select step from generate_series(1, 1000) step
        where not exists (
          select from customer
          where customer.shop_id = ${shopId} and customer.customer_number = (counter.value + step)::text)
        limit 1), 1001)
      where shop_id = ${shopId} and name = 'customer'
        and exists (select from number) and not exists (select from known)
        and (select count(*) from renamed) >= 0
      returning value
    ), made as (
      insert into customer (shop_id, customer_id, customer_number, created_at, billing_address, ordered_as)
      select ${shopId}, ${order.newCustomerId}, value::text, ${tx.now}, ${order.billingAddress}::json,
        lower(${order.email})
      from customer_counter
      on conflict (shop_id, ordered_as) do update set ordered_as = excluded.ordered_as
      returning customer_id, customer_number
    ), buyer as (
      select * from known union all select * from made
    ), placed as (
      insert into customer_order (shop_id, order_id, order_number, cart_id, cart_token_hash, created_at, customer_id,
        locale, currency, tax_model, grand_total, total_before_tax, total_tax, billing_address, shipping_address,
        content)
      select ${shopId}, ${order.orderId}, number.order_number, ${order.cartId}, ${order.cartTokenHash}, ${tx.now},
        buyer.customer_id, ${order.locale}, ${content.currency}, ${order.taxModel}, ${content.grandTotal},
        ${content.totalBeforeTax}, ${content.totalTax}, ${order.billingAddress}::json,
        ${order.shippingAddress}::json, ${content}::jsonb
      from number cross join buyer
      returning order_number
    ), closed as (
      delete from cart where shop_id = ${shopId} and cart_id = ${order.cartId} and exists (select from placed)
    )
    select (select order_number from placed) as "orderNumber",
      upper((select customer_id from buyer)::text) as "customerId",
      (select customer_number from buyer) as "customerNumber",
      array(
        select upper(product_id::text) from locked where product_id not in (select product_id from taken)
      ) as "shortIds",
      array(select product_id || ' ' || stock from taken) as left`);
  return row!;
}
