import type { Queries, Transaction } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import type { TaxType } from '../http/price.ts';
import type { CartCoupon, PaymentStatus, StoredLine } from '../pricing/input.ts';
import { upper, type CartProduct } from '../catalogue/products/cart-product.ts';
import { findCartProducts, versionStamps } from '../catalogue/products/cart-product-cache.ts';
import type { CleanupStep } from '../platform/cleanup.ts';

/** A cart as its row holds it: what was chosen. Addresses are JSON text. */
export interface StoredCart {
  cartId: string;
  tokenHash: Buffer;
  /** The app whose token made it; null: anybody, or the storefront. */
  appId: string | null;
  /** Set: a visitor has got a copy of it, and its token has ended. */
  pickedUpAt: Date | null;
  createdAt: Date;
  changedAt: Date;
  version: number;
  currency: string;
  locale: string;
  taxType: TaxType;
  customerId: string | null;
  lines: StoredLine[];
  couponLineItemId: string | null;
  couponCodeKey: string | null;
  billingAddress: string | null;
  shippingAddress: string | null;
  shippingMethodId: string | null;
  shippingPrice: number | null;
  paymentMethodId: string | null;
  paymentTransactionId: string | null;
  paymentStatus: PaymentStatus | null;
  paymentName: string | null;
  paymentPrice: number | null;
}

/** A cart with everything that its answer is made of. */
export interface CartRow extends StoredCart {
  settingsVersion: number;
  customerGroupId: string | null;
  coupon: CartCoupon | null;
  /** Those of its lines that exist, and those that were wanted beside them. */
  products: CartProduct[];
}

/** What a change is about to put into the cart: it is read along with the cart. */
export interface Wanted {
  productIds?: readonly string[];
  codeKey?: string;
}

/** What validates the copies in memory: of the settings, and of the products of the cart and those wanted beside. */
interface Validators {
  settingsVersion: number;
  stamps: string[];
}

/** What few carts have. */
interface Terms {
  customerGroupId: string | null;
  coupon: CartCoupon | null;
}

const cartColumns = (productIds: readonly string[] = []) => sql`
  cart.cart_id as "cartId", cart.token_hash as "tokenHash", cart.app_id as "appId",
  cart.picked_up_at as "pickedUpAt", cart.created_at as "createdAt",
  cart.changed_at as "changedAt", cart.version, cart.currency, cart.locale, cart.tax_type as "taxType",
  cart.customer_id as "customerId", cart.lines, cart.coupon_line_item_id as "couponLineItemId",
  cart.coupon_code_key as "couponCodeKey", cart.billing_address::text as "billingAddress",
  cart.shipping_address::text as "shippingAddress", cart.shipping_method_id as "shippingMethodId",
  cart.shipping_price as "shippingPrice", cart.payment_method_id as "paymentMethodId",
  cart.payment_transaction_id as "paymentTransactionId", cart.payment_status as "paymentStatus",
  cart.payment_name as "paymentName", cart.payment_price as "paymentPrice",
  shop.settings_version as "settingsVersion",
  ${versionStamps(sql`cart.shop_id`, sql`cart.product_ids || ${productIds}::uuid[]`)} as stamps`;

/** As `Terms`; the shop, the code and the customer are expressions. */
const termColumns = (shopId: Sql, codeKey: Sql, customerId: Sql) => sql`
  (
    select customer_group_id from customer
    where customer.shop_id = ${shopId} and customer.customer_id = ${customerId}
  ) as "customerGroupId",
  (
    select json_build_object(
      'codeKey', coupon.code_key, 'campaignId', coupon.campaign_id, 'withdrawnAt', coupon.withdrawn_at,
      'used', coupon.used, 'usageLimit', campaign.usage_limit, 'campaignUsed', campaign.used,
      'campaignUsageLimit', campaign.campaign_usage_limit, 'validFrom', campaign.valid_from,
      'validTo', campaign.valid_to, 'kind', campaign.kind, 'currency', campaign.currency,
      'amount', campaign.amount, 'waivesShipping', campaign.waive_shipping_costs,
      'minimumOrderValue', campaign.minimum_order_value, 'productIds', campaign.product_ids,
      'shippingMethodIds', campaign.shipping_method_ids, 'paymentMethodIds', campaign.payment_method_ids)
    from coupon
    join coupon_campaign campaign on campaign.shop_id = coupon.shop_id
      and campaign.campaign_id = coupon.campaign_id
    where coupon.shop_id = ${shopId} and coupon.code_key = ${codeKey}
  ) as coupon`;

/**
 * The cart with all it needs: one cheap statement for almost every call, because the products come from memory, and
 * coupons and known customers are looked up for carts that have them.
 */
export async function findCart(
  db: Queries,
  shopId: string,
  cartId: string,
  { productIds, codeKey }: Wanted = {},
): Promise<CartRow | undefined> {
  const row = await db.one<StoredCart & Validators>(sql`
    select ${cartColumns(productIds)} from cart join shop on shop.shop_id = cart.shop_id
    where cart.shop_id = ${shopId} and cart.cart_id = ${cartId}`);
  if (!row) return undefined;
  const code = codeKey ?? row.couponCodeKey;
  const terms =
    code === null && row.customerId === null ? NO_TERMS : await findTerms(db, shopId, code, row.customerId);
  return cartOf({ ...row, ...terms }, await findCartProducts(db, shopId, row.stamps));
}

const NO_TERMS: Terms = { customerGroupId: null, coupon: null };

async function findTerms(db: Queries, shopId: string, codeKey: string | null, customerId: string | null) {
  const row = await db.one<Terms>(
    sql`select ${termColumns(sql`${shopId}`, sql`${codeKey}`, sql`${customerId}`)}`,
  );
  return row!;
}

/** Nobody else changes it until the transaction ends. Everything in one statement, because a lock is held. */
export async function lockCart(
  tx: Queries,
  shopId: string,
  cartId: string,
  { productIds, codeKey }: Wanted = {},
): Promise<CartRow | undefined> {
  const code = sql`coalesce(${codeKey ?? null}, cart.coupon_code_key)`;
  const row = await tx.one<StoredCart & Validators & Terms>(sql`
    select ${cartColumns(productIds)}, ${termColumns(sql`cart.shop_id`, code, sql`cart.customer_id`)}
    from cart join shop on shop.shop_id = cart.shop_id
    where cart.shop_id = ${shopId} and cart.cart_id = ${cartId} for update of cart`);
  return row && cartOf(row, await findCartProducts(tx, shopId, row.stamps));
}

export interface CartFilter {
  createdAfter: Date | null;
  createdBefore: Date | null;
  /** null: with or without. */
  hasAddress: boolean | null;
}

const matches = (
  { now }: Queries,
  shopId: string,
  { createdAfter, createdBefore, hasAddress }: CartFilter,
) => sql`
  cart.shop_id = ${shopId} and cart.changed_at >= ${endedBefore(now)} and cart.picked_up_at is null
  and cart.created_at > coalesce(${createdAfter}::timestamptz, '-infinity')
  and cart.created_at < coalesce(${createdBefore}::timestamptz, 'infinity')
  and (${hasAddress}::boolean is null
    or ${hasAddress} = (cart.billing_address is not null or cart.shipping_address is not null))`;

/** Newest first. */
export async function findCarts(
  db: Queries,
  shopId: string,
  filter: CartFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<CartRow[]> {
  const rows = await db.many<StoredCart & Validators & Terms>(sql`
    select ${cartColumns()},
      ${termColumns(sql`cart.shop_id`, sql`cart.coupon_code_key`, sql`cart.customer_id`)}
    from cart join shop on shop.shop_id = cart.shop_id
    where ${matches(db, shopId, filter)}
    order by cart.created_at desc, cart.cart_id desc limit ${limit} offset ${offset}`);
  const goods = await findCartProducts(
    db,
    shopId,
    rows.flatMap(({ stamps }) => stamps),
  );
  return rows.map((row) => cartOf(row, goods));
}

export async function countCarts(db: Queries, shopId: string, filter: CartFilter): Promise<number> {
  const row = await db.one<{ count: number }>(
    sql`select count(*) as count from cart where ${matches(db, shopId, filter)}`,
  );
  return row!.count;
}

/** What a new cart is made of: the products that are wanted, the customer, the version of the settings. */
export async function findIngredients(
  db: Queries,
  shopId: string,
  productIds: readonly string[],
  customerId: string | null,
) {
  const row = await db.one<Validators & { customer: { customerGroupId: string | null } | null }>(sql`
    select settings_version as "settingsVersion",
      ${versionStamps(sql`shop.shop_id`, sql`${productIds}::uuid[]`)} as stamps,
      (
        select json_build_object('customerGroupId', customer_group_id) from customer
        where customer.shop_id = shop.shop_id and customer_id = ${customerId}
      ) as customer
    from shop where shop_id = ${shopId}`);
  return row && { ...row, products: await findCartProducts(db, shopId, row.stamps) };
}

export function insertCart(db: Queries, shopId: string, cart: StoredCart) {
  return db.run(sql`
    insert into cart (shop_id, cart_id, token_hash, app_id, created_at, changed_at, version, currency, locale,
      tax_type, customer_id, lines, product_ids)
    values (${shopId}, ${cart.cartId}, ${cart.tokenHash}, ${cart.appId}, ${cart.createdAt}, ${cart.changedAt},
      ${cart.version}, ${cart.currency}, ${cart.locale}, ${cart.taxType}, ${cart.customerId}, ${JSON.stringify(cart.lines)},
      ${productIdsOf(cart)})`);
}

/**
 * Ends the token of a cart, for good; its version moves, so that a change which was made from a copy in memory is not
 * written any more. 0: there is no such cart, or an app made it.
 */
export function endCartToken(tx: Transaction, shopId: string, cartId: string) {
  return tx.run(sql`
    update cart set picked_up_at = coalesce(picked_up_at, ${tx.now}), version = version + 1
    where shop_id = ${shopId} and cart_id = ${cartId} and app_id is null`);
}

/** Everything that was chosen, under another id and token. It is a new cart: it lives as long as one. */
export function copyCart(
  tx: Transaction,
  shopId: string,
  cartId: string,
  copy: { cartId: string; tokenHash: Buffer },
) {
  return tx.run(sql`
    insert into cart (shop_id, cart_id, token_hash, created_at, changed_at, version, currency, locale, tax_type,
      customer_id, lines, product_ids, coupon_line_item_id, coupon_code_key, billing_address, shipping_address,
      shipping_method_id, shipping_price, payment_method_id, payment_transaction_id, payment_status, payment_name,
      payment_price)
    select shop_id, ${copy.cartId}::uuid, ${copy.tokenHash}::bytea, ${tx.now}::timestamptz, ${tx.now}::timestamptz, 1,
      currency, locale, tax_type, customer_id, lines, product_ids, coupon_line_item_id, coupon_code_key,
      billing_address, shipping_address, shipping_method_id, shipping_price, payment_method_id,
      payment_transaction_id, payment_status, payment_name, payment_price
    from cart where shop_id = ${shopId} and cart_id = ${cartId}`);
}

/** What may change in a cart. */
export type Choices = Pick<
  StoredCart,
  | 'locale'
  | 'lines'
  | 'couponLineItemId'
  | 'couponCodeKey'
  | 'billingAddress'
  | 'shippingAddress'
  | 'shippingMethodId'
  | 'shippingPrice'
  | 'paymentMethodId'
  | 'paymentTransactionId'
  | 'paymentStatus'
  | 'paymentName'
  | 'paymentPrice'
>;

/** The cart as it was read, or with its changes; `version` is the one that they were made from. */
export interface CartChange {
  cart: StoredCart;
  changed: Partial<Choices>;
}

/**
 * Writes every column that may change, so that the statement is the same whatever has changed: the version says that
 * nobody else has written the others. 0: somebody else has changed the cart since it was read, or it is gone.
 */
export function updateCart(db: Queries, shopId: string, { cart, changed }: CartChange) {
  const next: StoredCart = { ...cart, ...changed };
  return db.run(sql`
    update cart
    set version = version + 1, changed_at = ${db.now}, locale = ${next.locale}, lines = ${JSON.stringify(next.lines)},
      product_ids = ${productIdsOf(next)}, coupon_line_item_id = ${next.couponLineItemId},
      coupon_code_key = ${next.couponCodeKey}, billing_address = ${next.billingAddress},
      shipping_address = ${next.shippingAddress}, shipping_method_id = ${next.shippingMethodId},
      shipping_price = ${next.shippingPrice}, payment_method_id = ${next.paymentMethodId},
      payment_transaction_id = ${next.paymentTransactionId}, payment_status = ${next.paymentStatus},
      payment_name = ${next.paymentName}, payment_price = ${next.paymentPrice}
    where shop_id = ${shopId} and cart_id = ${cart.cartId} and version = ${cart.version}`);
}

export const productIdsOf = ({ lines }: Pick<StoredCart, 'lines'>) => lines.map(({ productId }) => productId);

/** How long a cart is kept after its last change. */
export const LIFETIME = 30 * 86_400_000;

const endedBefore = (now: Date) => new Date(now.getTime() - LIFETIME);

/** Deletes carts that have ended. What has ended was made before, and that has an index. */
export const cartCleanup: CleanupStep = {
  name: 'carts',
  run: async (db, limit) => {
    const end = endedBefore(db.now);
    const ended = await db.many<{ shopId: string; cartId: string }>(sql`
      select shop_id as "shopId", cart_id as "cartId" from cart
      where created_at < ${end} and changed_at < ${end} order by created_at limit ${limit}`);
    await db.run(sql`
      delete from cart
      using unnest(${ended.map(({ shopId }) => shopId)}::text[], ${ended.map(({ cartId }) => cartId)}::uuid[])
        as ended (shop_id, cart_id)
      where cart.shop_id = ended.shop_id and cart.cart_id = ended.cart_id and cart.changed_at < ${end}`);
    return ended.length;
  },
};

function cartOf(row: StoredCart & Validators & Terms, products: CartProduct[]): CartRow {
  const { coupon } = row;
  return {
    ...row,
    cartId: row.cartId.toUpperCase(),
    customerId: upper(row.customerId),
    customerGroupId: upper(row.customerGroupId),
    couponLineItemId: upper(row.couponLineItemId),
    shippingMethodId: upper(row.shippingMethodId),
    paymentMethodId: upper(row.paymentMethodId),
    products,
    coupon: coupon && {
      ...coupon,
      campaignId: coupon.campaignId.toUpperCase(),
      productIds: upperAll(coupon.productIds),
      shippingMethodIds: upperAll(coupon.shippingMethodIds),
      paymentMethodIds: upperAll(coupon.paymentMethodIds),
    },
  };
}

const upperAll = (ids: readonly string[] | null) => ids && ids.map((id) => id.toUpperCase());
