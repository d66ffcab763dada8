import type { Address } from '../shops/countries/address.ts';
import { productVersions } from '../catalogue/products/cart-product-cache.ts';
import type { Transaction } from '../db/database.ts';
import { insertInto } from '../db/insert.ts';
import { sql } from '../db/sql.ts';
import type { NewOrder } from './new-order.ts';
import { millionthsOrdered } from './place-decision.ts';
import { netRevenue } from './revenue.ts';

/**
 * The statements that place orders, several of one shop at once. Those that lock come first, in the order in which
 * they are sent; `placeOrders` gives the reason for this order.
 *
 * Where a statement joins a list that was sent, it names the ids once more in an array: PostgreSQL expects many rows
 * in an unknown list, and might read all rows of the shop; the array shows how few they are.
 */

/** The later statements of this transaction fail when another one holds a lock for longer. */
export function limitLockWaits(tx: Transaction) {
  return tx.run(sql`set local lock_timeout = '200ms'`);
}

/** Statements wait as long as a statement may run. */
export function unlimitLockWaits(tx: Transaction) {
  return tx.run(sql`set local lock_timeout = 0`);
}

/** How a statement treats a row that another transaction has locked. */
export const WAIT = sql``;
export const SKIP_LOCKED = sql`skip locked`;

/** Locks in id order, so two transactions cannot deadlock; so do the functions that follow. */
export function lockCarts(tx: Transaction, shopId: string, cartIds: readonly string[], ifLocked = WAIT) {
  return tx.many<{ cartId: string; version: number }>(sql`
    select upper(cart_id::text) as "cartId", version from cart
    where shop_id = ${shopId} and cart_id = any (${cartIds}::uuid[])
    order by cart_id for update ${ifLocked}`);
}

/** Locks the products with counted stock. */
export function lockStock(tx: Transaction, shopId: string, productIds: readonly string[], ifLocked = WAIT) {
  return tx.many<{ productId: string; stock: string; minStock: string | null }>(sql`
    select upper(product_id::text) as "productId", stock, min_stock as "minStock" from product
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[]) and stock is not null
    order by product_id for no key update ${ifLocked}`);
}

/** The products with counted stock, locked or not. */
export function findCountedProducts(tx: Transaction, shopId: string, productIds: readonly string[]) {
  return tx.many<{ productId: string }>(sql`
    select upper(product_id::text) as "productId" from product
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[]) and stock is not null`);
}

export async function lockCoupons(
  tx: Transaction,
  shopId: string,
  codeKeys: readonly string[],
  ifLocked = WAIT,
) {
  if (codeKeys.length === 0) return [];
  return tx.many<{ codeKey: string; campaignId: string; used: number }>(sql`
    select code_key as "codeKey", campaign_id as "campaignId", used from coupon
    where shop_id = ${shopId} and code_key = any (${codeKeys})
    order by code_key for no key update ${ifLocked}`);
}

interface LockedCampaign {
  campaignId: string;
  used: number;
  usageLimit: number | null;
  campaignUsageLimit: number | null;
}

/** Locks the campaigns of these coupons. */
export async function lockCampaigns(
  tx: Transaction,
  shopId: string,
  codeKeys: readonly string[],
  ifLocked = WAIT,
) {
  if (codeKeys.length === 0) return [];
  return tx.many<LockedCampaign>(sql`
    select campaign_id as "campaignId", used, usage_limit as "usageLimit",
      campaign_usage_limit as "campaignUsageLimit"
    from coupon_campaign
    where shop_id = ${shopId} and campaign_id = any (array(
      select campaign_id from coupon where shop_id = ${shopId} and code_key = any (${codeKeys})))
    order by campaign_id for no key update ${ifLocked}`);
}

/** The last assigned numbers. */
export interface Counters {
  order: number;
  customer: number;
  /** The position of the last event. */
  event: number;
  /** In milliseconds since 1970; null: there was none. */
  lastEventAt: number | null;
}

/**
 * Locks the counters of orders, events and customers, in this order; see `platform/events/log.ts`. A shop that was
 * deleted has none, and no carts either.
 */
export async function lockCounters(tx: Transaction, shopId: string): Promise<Counters> {
  const rows = await tx.many<{ name: string; value: number; at: number | null }>(sql`
    select name, value, at from counter where shop_id = ${shopId} and name in ('customer', 'event', 'order')
    order by name desc for no key update`);
  const [customer, event, order] = ['customer', 'event', 'order'].map((name) =>
    rows.find((row) => row.name === name),
  );
  if (order && !event) {
    // The shop was created by a process of the previous version, which knows no events.
    await tx.run(sql`
      insert into counter (shop_id, name, value) values (${shopId}, 'event', 0) on conflict (shop_id, name) do nothing`);
    return lockCounters(tx, shopId);
  }
  return {
    order: order?.value ?? 0,
    customer: customer?.value ?? 0,
    event: event?.value ?? 0,
    lastEventAt: event?.at ?? null,
  };
}

export function setCounters(
  tx: Transaction,
  shopId: string,
  { order, customer, event, lastEventAt }: Counters,
) {
  return tx.run(sql`
    update counter set at = case when name = 'event' then ${lastEventAt}::bigint end,
      value = case when name = 'order' then ${order}::bigint when name = 'event' then ${event} else ${customer} end
    where shop_id = ${shopId} and name in ('customer', 'event', 'order')`);
}

export interface Buyer {
  orderId: string;
  /** The normalised email address that identifies customers. */
  emailKey: string;
  /** null: no customer has this address. */
  customerId: string | null;
  customerNumber: string | null;
  /** An order created a customer for this address, whether that customer still has it or not. */
  isOrderedAs: boolean;
}

/** Finds the customer of each order: the named one, or else the oldest one with its email address. */
export function findBuyers(
  tx: Transaction,
  shopId: string,
  orders: readonly Pick<NewOrder, 'orderId' | 'customerId' | 'email'>[],
) {
  return tx.many<Buyer>(sql`
    select upper(given.order_id::text) as "orderId", lower(given.email) as "emailKey",
      upper(coalesce(named.customer_id, found.customer_id)::text) as "customerId",
      coalesce(named.customer_number, found.customer_number) as "customerNumber",
      ordered.customer_id is not null as "isOrderedAs"
    from unnest(${orders.map(({ orderId }) => orderId)}::uuid[],
      ${orders.map(({ customerId }) => customerId)}::uuid[], ${orders.map(({ email }) => email)}::text[])
      as given (order_id, customer_id, email)
    left join lateral (
      select customer_id, customer_number from customer
      where shop_id = ${shopId} and customer_id = given.customer_id
    ) named on true
    left join lateral (
      select customer_id, customer_number from customer
      where shop_id = ${shopId} and email_key = lower(given.email)
      order by created_at, customer_id limit 1
    ) found on named.customer_id is null
    left join lateral (
      -- With a limit, so that PostgreSQL does not read all customers in order to look these up among them.
      select customer_id from customer where shop_id = ${shopId} and ordered_as = lower(given.email) limit 1
    ) ordered on true`);
}

/**
 * The current versions of the settings and of these products; a deleted shop has none. It locks the row of the shop as
 * an insert does, because that row must not be locked after the counter of events.
 */
export async function lockVersions(tx: Transaction, shopId: string, productIds: readonly string[]) {
  const row = await tx.one<{ settingsVersion: number; productVersions: string[] }>(sql`
    select settings_version as "settingsVersion", ${productVersions(shopId, productIds)} as "productVersions"
    from shop where shop_id = ${shopId} for key share`);
  return row ?? { settingsVersion: 0, productVersions: [] };
}

/** Takes the quantities of these orders from the stock of the locked products; returns the remaining stock of each. */
export async function takeStock(
  tx: Transaction,
  shopId: string,
  orders: readonly NewOrder[],
  lockedIds: readonly string[],
  at: Date,
) {
  const ordered = millionthsOrdered(orders);
  const productIds = lockedIds.filter((productId) => ordered.has(productId));
  if (productIds.length === 0) return [];
  const quantities = productIds.map((productId) => String(ordered.get(productId)));
  return tx.many<{ productId: string; stock: string }>(sql`
    update product
    set stock = stock - (${quantities}::numeric[])[array_position(${productIds}::uuid[], product_id)] / 1000000,
      stock_changed_at = ${at}
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])
    returning upper(product_id::text) as "productId", stock`);
}

/** Counts a use of these coupons, for each time that one is named. */
export async function redeemCoupons(tx: Transaction, shopId: string, codeKeys: readonly string[]) {
  if (codeKeys.length === 0) return;
  await tx.run(sql`
    update coupon set used = used + cardinality(array_positions(${codeKeys}::text[], code_key))
    where shop_id = ${shopId} and code_key = any (${codeKeys}::text[])`);
}

/** Counts a use of these campaigns, for each time that one is named. */
export async function countRedemptions(tx: Transaction, shopId: string, campaignIds: readonly string[]) {
  if (campaignIds.length === 0) return;
  await tx.run(sql`
    update coupon_campaign set used = used + cardinality(array_positions(${campaignIds}::uuid[], campaign_id))
    where shop_id = ${shopId} and campaign_id = any (${campaignIds}::uuid[])`);
}

/** The same for their day. */
export async function countRedemptionsOfDay(
  tx: Transaction,
  shopId: string,
  campaignIds: readonly string[],
  at: Date,
) {
  if (campaignIds.length === 0) return;
  await tx.run(sql`
    insert into coupon_day (shop_id, campaign_id, day, orders)
    select campaign.shop_id, campaign.campaign_id, ${at.toISOString().slice(0, 10)}::date,
      cardinality(array_positions(${campaignIds}::uuid[], campaign.campaign_id))
    from coupon_campaign campaign
    where campaign.shop_id = ${shopId} and campaign.campaign_id = any (${campaignIds}::uuid[])
    order by campaign.campaign_id
    on conflict (shop_id, campaign_id, day) do update set orders = coupon_day.orders + excluded.orders`);
}

export interface NewCustomer {
  customerId: string;
  emailKey: string;
  isOrderedAs: boolean;
  createdAt: Date;
  billingAddress: Address;
}

export type NumberedCustomer = NewCustomer & { number: number };

/**
 * Those of the next `count` customer numbers that a merchant has assigned by hand; they begin `skipped` after the
 * counter, which is locked.
 */
export async function findTakenNumbers(
  tx: Transaction,
  shopId: string,
  { skipped, count }: { skipped: number; count: number },
): Promise<Set<number>> {
  const rows = await tx.many<{ number: string }>(sql`
    select customer_number as number from customer
    where shop_id = ${shopId} and customer_number = any (array(
      select (value + ${skipped}::bigint + place)::text from counter cross join generate_series(1, ${count}) as place
      where shop_id = ${shopId} and name = 'customer'))`);
  return new Set(rows.map(({ number }) => Number(number)));
}

const insertCustomer = insertInto('customer', {
  customer_id: 'uuid',
  customer_number: 'text',
  created_at: 'timestamptz',
  billing_address: 'json',
  ordered_as: 'text',
});

/**
 * Creates the customers who order for the first time. Two orders cannot create the same customer twice, because
 * placing an order requires the counter of orders.
 */
export async function insertCustomers(
  tx: Transaction,
  shopId: string,
  customers: readonly NumberedCustomer[],
): Promise<void> {
  if (customers.length === 0) return;
  const rows = customers.map(({ customerId, emailKey, number, createdAt, billingAddress }) => ({
    customer_id: customerId,
    customer_number: String(number),
    created_at: createdAt,
    billing_address: billingAddress,
    ordered_as: emailKey,
  }));
  const givenUp = customers.flatMap(({ emailKey, isOrderedAs }) => (isOrderedAs ? [emailKey] : []));
  await Promise.all([
    // A customer who has changed the email address since is not matched again.
    givenUp.length > 0 &&
      tx.run(sql`
        update customer set ordered_as = null
        where shop_id = ${shopId} and ordered_as = any (${givenUp}::text[])`),
    tx.run(insertCustomer(shopId, rows)),
  ]);
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
  content: 'jsonb',
  release_at: 'timestamptz',
  is_new: 'boolean',
});

export function insertOrders(tx: Transaction, shopId: string, orders: readonly NumberedOrder[]) {
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
    content: order.content,
    release_at: order.releaseAt,
    is_new: true,
  }));
  return tx.run(insertOrder(shopId, rows));
}

export function deleteCarts(tx: Transaction, shopId: string, cartIds: readonly string[]) {
  return tx.run(sql`delete from cart where shop_id = ${shopId} and cart_id = any (${cartIds}::uuid[])`);
}
