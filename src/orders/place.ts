import { insertEntry, type Entry } from '../http/audit-entry.ts';
import type { OrderMail } from './confirmation-email.ts';
import type { Content } from '../pricing/content.ts';
import type { Queries } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import { insertJobs } from '../platform/jobs/queue.ts';
import { netRevenue } from './revenue.ts';
import { addToDays, insertLines } from './tally.ts';

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
  billingAddress: string;
  shippingAddress: string | null;
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
  /** Sell what is not there. */
  beyondStock: boolean;
  /** When it is cancelled unless something was paid; null: never. */
  releaseAt: Date | null;
}

/** What became of it. Without a number nothing was placed, and nothing else has changed. */
export interface Placing {
  orderNumber: string | null;
  customerId: string | null;
  customerNumber: string | null;
  /** false: the cart, or what else was expected, has changed in the meantime. */
  isCurrent: boolean;
  /** Products of which there is not enough. */
  shortIds: string[];
  /** What is left of the others: `<id> <stock>`. */
  left: string[];
}

export interface PlacingOptions {
  mailId: string;
  /** To the customer, once the order has its number. */
  mail: OrderMail & { shopId: string };
  /** For the audit log. */
  entry?: Entry | undefined;
  /** A condition: what must be as it was when the order was made up. */
  expected?: Sql;
}

/**
 * Everything that placing an order does, in one statement: all of it or nothing. The steps wait for each other,
 * because each looks at the one before. At first what the order depends on is locked: the cart, products in the order
 * of their ids (so that two orders never hold what the other waits for), the coupon. Then it is decided, and written.
 * The counters come last, because all orders of the shop share them.
 */
export async function placeOrder(
  db: Queries,
  shopId: string,
  order: NewOrder,
  { mailId, mail, entry, expected = sql`true` }: PlacingOptions,
): Promise<Placing> {
  const { content } = order;
  // PostgreSQL expects a hundred products in the JSON, and might rather read all that the shop has than look up each.
  // The ids say how few they are.
  const productIds = content.lines.map(({ productId }) => productId);
  const wanted = JSON.stringify(
    content.lines.map(({ productId, quantity }) => ({ product_id: productId, quantity })),
  );
  const row = await db.one<Placing>(sql`
    with current_cart as (
      select cart_id from cart
      where shop_id = ${shopId} and cart_id = ${order.cartId} and version = ${order.cartVersion} and ${expected}
      for update
    ), stocked as (
      select product.product_id, product.stock, wanted.quantity,
        product.stock >= wanted.quantity or ${order.beyondStock} as suffices
      from jsonb_to_recordset(${wanted}) as wanted (product_id uuid, quantity numeric)
      join product on product.shop_id = ${shopId} and product.product_id = wanted.product_id
      where product.product_id = any (${productIds}::uuid[]) and product.stock is not null
        and exists (select from current_cart)
      order by product.product_id
      for no key update of product
    ), voucher as (
      select coupon.code_key, coupon.campaign_id,
        coupon.used < coalesce(campaign.usage_limit, coupon.used + 1)
          and campaign.used < coalesce(campaign.campaign_usage_limit, campaign.used + 1) as suffices
      from coupon
      join coupon_campaign campaign on campaign.shop_id = coupon.shop_id
        and campaign.campaign_id = coupon.campaign_id
      where coupon.shop_id = ${shopId} and coupon.code_key = ${order.couponCodeKey}
        and (select bool_and(suffices) from stocked) is not false and exists (select from current_cart)
      for no key update of coupon, campaign
    ), accepted as (
      select from current_cart
      where (select bool_and(suffices) from stocked) is not false
        and (${order.couponCodeKey}::text is null or exists (select from voucher where suffices))
    ), taken as (
      update product set stock = stocked.stock - stocked.quantity, stock_changed_at = ${order.createdAt}
      from stocked
      where product.shop_id = ${shopId} and product.product_id = stocked.product_id
        and product.product_id = any (${productIds}::uuid[]) and exists (select from accepted)
      returning product.product_id, product.stock
    ), redeemed as (
      update coupon set used = used + 1
      where shop_id = ${shopId} and code_key = (select code_key from voucher) and exists (select from accepted)
    ), counted as (
      update coupon_campaign set used = used + 1
      where shop_id = ${shopId} and campaign_id = (select campaign_id from voucher)
        and exists (select from accepted)
    ), number as (
      update counter set value = value + 1
      where shop_id = ${shopId} and name = 'order' and exists (select from accepted)
      returning ${order.numberPrefix} || value as order_number
    ), known as (
      (
        select customer_id, customer_number from customer
        where shop_id = ${shopId} and customer_id = ${order.customerId}
      ) union all (
        select customer_id, customer_number from customer
        where shop_id = ${shopId} and ${order.customerId}::uuid is null
          and email_key = lower(${order.email})
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
      select ${shopId}, ${order.newCustomerId}, value::text, ${order.createdAt}, ${order.billingAddress}::json,
        lower(${order.email})
      from customer_counter
      on conflict (shop_id, ordered_as) do update set ordered_as = excluded.ordered_as
      returning customer_id, customer_number
    ), buyer as (
      select * from known union all select * from made
    ), placed as (
      insert into customer_order (shop_id, order_id, order_number, cart_id, cart_token_hash, created_at, customer_id,
        app_id, locale, currency, tax_model, grand_total, total_before_tax, total_tax, net_revenue, billing_address,
        shipping_address, content, release_at)
      select ${shopId}, ${order.orderId}, number.order_number, ${order.cartId}, ${order.cartTokenHash}, ${order.createdAt},
        buyer.customer_id, ${order.appId}, ${order.locale}, ${content.currency}, ${order.taxModel},
        ${content.grandTotal}, ${content.totalBeforeTax}, ${content.totalTax}, ${netRevenue(content)},
        ${order.billingAddress}::json, ${order.shippingAddress}::json, ${content}::jsonb, ${order.releaseAt}::timestamptz
      from number cross join buyer
      returning order_number
    ), lines as (
      ${insertLines(shopId, order.orderId, order.createdAt, content, sql`exists (select from placed)`)}
    ), day as (
      ${addToDays(sql`select ${shopId} as shop_id, ${order.createdAt}::timestamptz as created_at,
        ${content.currency} as currency, 0 as states, 1 as orders, ${content.grandTotal}::bigint as gross,
        ${netRevenue(content)}::numeric as net from placed`)}
    ), recorded as (
      ${entry ? insertEntry(entry, sql`exists (select from placed)`) : sql`select`}
    ), closed as (
      delete from cart where shop_id = ${shopId} and cart_id = ${order.cartId} and exists (select from placed)
    ), mailed as (
      ${insertJobs(
        'mail',
        sql`select ${mailId}::uuid as id,
          jsonb_set(${mail}::jsonb, '{facts,orderNumber}', to_jsonb(order_number)) as data from placed`,
      )}
    )
    select (select order_number from placed) as "orderNumber",
      upper((select customer_id from buyer)::text) as "customerId",
      (select customer_number from buyer) as "customerNumber",
      exists (select from current_cart) as "isCurrent",
      array(select upper(product_id::text) from stocked where not suffices) as "shortIds",
      array(select product_id || ' ' || stock from taken) as left`);
  return row!;
}
