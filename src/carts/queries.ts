import type { Queries, Transaction } from '../db/database.ts';
import { WAIT } from '../db/locks.ts';
import { sql, type Sql } from '../db/sql.ts';
import type { CartCoupon, PromotionUse } from '../pricing/input.ts';
import { upper, type CartProduct } from '../pricing/cart-product.ts';
import { findCartProducts, versionStamps } from '../pricing/cart-product-cache.ts';
import type { CleanupStep } from '../platform/cleanup.ts';
import { LIFETIME, productIdsOf, type CartRow, type Prefetch, type StoredCart } from './cart.ts';

/** The versions of the settings and of the products, prefetched ones included: they validate cached data. */
interface Validators {
  settingsVersion: number;
  stamps: string[];
  promotionUses: PromotionUse[] | null;
}

/** Data that is read only for carts with a coupon or a known customer. */
interface CartTerms {
  customerGroupId: string | null;
  coupon: CartCoupon | null;
}

/** Only promotions with a limit have uses, so there are few; the latest count, because ids ascend with time. */
const MAX_USED_PROMOTIONS = 1_000;

const promotionUses = (shopId: string, customerId: Sql) => sql`(
    select json_agg(json_build_object('promotionId', upper(used.promotion_id::text), 'used', used.used,
      'usedByCustomer', coalesce((
        select own.used from promotion_customer_use own
        where own.shop_id = ${shopId} and own.promotion_id = used.promotion_id and own.customer_id = ${customerId}
      ), 0)))
    from (
      select promotion_id, used from promotion_use where promotion_use.shop_id = ${shopId}
      order by promotion_id desc limit ${MAX_USED_PROMOTIONS}
    ) used
  )`;

const cartColumns = (shopId: string, productIds: readonly string[] = []) => sql`
  cart.cart_id as "cartId", cart.token_hash as "tokenHash", cart.app_id as "appId",
  cart.picked_up_at as "pickedUpAt", cart.created_at as "createdAt",
  cart.changed_at as "changedAt", cart.version, cart.currency, cart.locale, cart.tax_type as "taxType",
  cart.customer_id as "customerId", cart.lines, cart.coupon_line_item_id as "couponLineItemId",
  cart.coupon_code_key as "couponCodeKey", cart.gift_card_ids as "giftCardIds", cart.billing_address as "billingAddress",
  cart.shipping_address as "shippingAddress", cart.buyer, cart.assistant_notes as "assistantNotes",
  cart.shipping_method_id as "shippingMethodId", cart.shipping_price as "shippingPrice",
  cart.delivery_option as "deliveryOption", cart.line_prices as "linePrices", cart.app_taxes as "appTaxes",
  cart.payment_method_id as "paymentMethodId",
  cart.payment_transaction_id as "paymentTransactionId", cart.payment_status as "paymentStatus",
  cart.payment_name as "paymentName", cart.payment_price as "paymentPrice",
  cart.assistant_session_id as "assistantSessionId",
  shop.settings_version as "settingsVersion",
  ${promotionUses(
    shopId,
    sql`coalesce(cart.customer_id, (
      select customer_id from customer
      where shop_id = ${shopId} and email_key = lower(cart.billing_address ->> 'emailAddress')
      order by created_at, customer_id limit 1))`,
  )} as "promotionUses",
  ${versionStamps(shopId, sql`cart.product_ids || ${productIds}::uuid[]`)} as stamps`;

/** The columns of `CartTerms`; the code and the customer are expressions. */
const termColumns = (shopId: string, codeKey: Sql, customerId: Sql) => sql`
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
 * Finds the cart with everything its prices depend on: one cheap statement for almost every call, because products are
 * cached, and coupons and customers are read only for carts that have them.
 */
export async function findCart(
  db: Queries,
  shopId: string,
  cartId: string,
  { productIds, codeKey }: Prefetch,
): Promise<CartRow | undefined> {
  const row = await db.one<StoredCart & Validators>(sql`
    select ${cartColumns(shopId, productIds)} from cart join shop on shop.shop_id = cart.shop_id
    where cart.shop_id = ${shopId} and cart.cart_id = ${cartId}`);
  if (!row) return undefined;
  const code = codeKey ?? row.couponCodeKey;
  const terms =
    code === null && row.customerId === null ? NO_TERMS : await findTerms(db, shopId, code, row.customerId);
  return cartOf({ ...row, ...terms }, await findCartProducts(db, shopId, row.stamps));
}

const NO_TERMS: CartTerms = { customerGroupId: null, coupon: null };

/*
 * Matches no coupon and no customer. Citus cannot route a comparison with null, because it removes the condition.
 */
const NO_CODE = '';
const NOBODY = '00000000-0000-0000-0000-000000000000';

async function findTerms(db: Queries, shopId: string, codeKey: string | null, customerId: string | null) {
  const row = await db.one<CartTerms>(
    sql`select ${termColumns(shopId, sql`${codeKey ?? NO_CODE}`, sql`${customerId ?? NOBODY}`)}`,
  );
  return row!;
}

/**
 * Finds and locks the cart until the transaction ends. Everything is in one statement, because others wait for the
 * lock.
 */
export async function lockCart(
  tx: Transaction,
  shopId: string,
  cartId: string,
  { productIds, codeKey }: Prefetch,
): Promise<CartRow | undefined> {
  const code = sql`coalesce(${codeKey ?? null}, cart.coupon_code_key)`;
  const row = await tx.one<StoredCart & Validators & CartTerms>(sql`
    select ${cartColumns(shopId, productIds)}, ${termColumns(shopId, code, sql`cart.customer_id`)}
    from cart join shop on shop.shop_id = cart.shop_id
    where cart.shop_id = ${shopId} and cart.cart_id = ${cartId} for update of cart`);
  return row && cartOf(row, await findCartProducts(tx, shopId, row.stamps));
}

export interface CartFilter {
  createdAfter: Date | null;
  createdBefore: Date | null;
  /** null: both. */
  hasAddress: boolean | null;
}

const matches = (
  { now }: Queries,
  shopId: string,
  { createdAfter, createdBefore, hasAddress }: CartFilter,
) => sql`
  cart.shop_id = ${shopId} and cart.changed_at >= ${expiredBefore(now)} and cart.picked_up_at is null
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
  const rows = await db.many<StoredCart & Validators & CartTerms>(sql`
    select ${cartColumns(shopId)},
      ${termColumns(shopId, sql`cart.coupon_code_key`, sql`cart.customer_id`)}
    from cart join shop on shop.shop_id = cart.shop_id
    where ${matches(db, shopId, filter)}
    order by cart.created_at desc, cart.cart_id desc limit ${limit} offset ${offset}`);
  const products = await findCartProducts(
    db,
    shopId,
    rows.flatMap(({ stamps }) => stamps),
  );
  return rows.map((row) => cartOf(row, products));
}

/**
 * Abandoned carts with lines, newest first. An order deletes its cart, and a visitor who has picked one up continues
 * with a copy.
 */
export async function findAbandonedCarts(
  db: Queries,
  shopId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<(CartRow & AbandonedCart)[]> {
  const rows = await db.many<StoredCart & Validators & CartTerms & AbandonedCart>(sql`
    select ${cartColumns(shopId)},
      ${termColumns(shopId, sql`cart.coupon_code_key`, sql`cart.customer_id`)}, ${emailColumn(shopId)},
      cart.reminded_at as "remindedAt"
    from cart join shop on shop.shop_id = cart.shop_id
    where cart.shop_id = ${shopId} and cart.cart_id = any (array(
      select cart_id from cart where cart.shop_id = ${shopId} and ${isAbandoned}
      order by cart.created_at desc, cart.cart_id desc limit ${limit} offset ${offset}))
    order by cart.created_at desc, cart.cart_id desc`);
  const products = await findCartProducts(
    db,
    shopId,
    rows.flatMap(({ stamps }) => stamps),
  );
  return rows.map((row) => ({ ...cartOf(row, products), email: row.email, remindedAt: row.remindedAt }));
}

export interface AbandonedCart {
  /** In lower case; null: unknown. */
  email: string | null;
  remindedAt: Date | null;
}

/** Carts older than this feature count as reported, and are never shown. */
const isAbandoned = sql`
  cart.abandoned_at > '-infinity' and cart.picked_up_at is null and jsonb_array_length(cart.lines) > 0`;

const emailColumn = (shopId: string) => sql`
  coalesce(lower(nullif(cart.billing_address ->> 'emailAddress', '')), (
    select account.email from account
    where account.shop_id = ${shopId} and account.cart_id = cart.cart_id limit 1)) as email`;

/** Locks those of these carts without a reminder; others wait until the transaction ends. */
export function lockUnreminded(tx: Transaction, shopId: string, cartIds: readonly string[]) {
  return tx.many<{ cartId: string; locale: string; email: string | null }>(sql`
    select upper(cart.cart_id::text) as "cartId", cart.locale, ${emailColumn(shopId)} from cart
    where cart.shop_id = ${shopId} and cart.cart_id = any (${cartIds}::uuid[]) and ${isAbandoned}
      and cart.reminded_at is null
    order by cart.cart_id for no key update`);
}

/** Keeps the version, because nothing of the cart changes for the shopper. */
export function updateReminded(tx: Transaction, shopId: string, cartIds: readonly string[]) {
  return tx.run(sql`
    update cart set reminded_at = ${tx.now} where shop_id = ${shopId} and cart_id = any (${cartIds}::uuid[])`);
}

export async function countCarts(db: Queries, shopId: string, filter: CartFilter): Promise<number> {
  const row = await db.one<{ count: number }>(
    sql`select count(*) as count from cart where ${matches(db, shopId, filter)}`,
  );
  return row!.count;
}

/** Finds the inputs of a new cart: its products, its customer, the version of the settings. */
export async function findIngredients(
  db: Queries,
  shopId: string,
  productIds: readonly string[],
  customerId: string | null,
) {
  const row = await db.one<Validators & { customer: { customerGroupId: string | null } | null }>(sql`
    select settings_version as "settingsVersion",
      ${versionStamps(shopId, sql`${productIds}::uuid[]`)} as stamps,
      ${promotionUses(shopId, sql`${customerId ?? NOBODY}::uuid`)} as "promotionUses",
      (
        select json_build_object('customerGroupId', customer_group_id) from customer
        where customer.shop_id = ${shopId} and customer_id = ${customerId ?? NOBODY}
      ) as customer
    from shop where shop_id = ${shopId}`);
  return row && { ...row, products: await findCartProducts(db, shopId, row.stamps) };
}

export function insertCart(db: Queries, shopId: string, cart: StoredCart) {
  return db.run(sql`
    insert into cart (shop_id, cart_id, token_hash, app_id, created_at, changed_at, version, currency, locale,
      tax_type, customer_id, lines, product_ids, billing_address, buyer)
    values (${shopId}, ${cart.cartId}, ${cart.tokenHash}, ${cart.appId}, ${cart.createdAt}, ${cart.changedAt},
      ${cart.version}, ${cart.currency}, ${cart.locale}, ${cart.taxType}, ${cart.customerId}, ${JSON.stringify(cart.lines)},
      ${productIdsOf(cart)}, ${cart.billingAddress}, ${cart.buyer})`);
}

/**
 * Ends the token of a cart for good. The version changes, so a change computed from a cached copy is no longer
 * written. 0: there is no such cart, or an app made it.
 */
export function endCartToken(tx: Transaction, shopId: string, cartId: string) {
  return tx.run(sql`
    update cart set picked_up_at = coalesce(picked_up_at, ${tx.now}), version = version + 1
    where shop_id = ${shopId} and cart_id = ${cartId} and app_id is null`);
}

/**
 * Makes a cart the checkout session of an assistant, unless it is one, or a visitor has opened its link. The version changes,
 * so an order computed from a cached copy is computed again. 0: it is not.
 */
export function updateAssistantSession(tx: Transaction, shopId: string, cartId: string, sessionId: string) {
  return tx.run(sql`
    update cart set assistant_session_id = ${sessionId}, version = version + 1
    where shop_id = ${shopId} and cart_id = ${cartId} and assistant_session_id is null and picked_up_at is null`);
}

/** Copies everything chosen in a cart under another id and token. The copy has the lifetime of a new cart. */
export function copyCart(
  tx: Transaction,
  shopId: string,
  cartId: string,
  copy: { cartId: string; tokenHash: Buffer },
) {
  return tx.run(sql`
    insert into cart (shop_id, cart_id, token_hash, created_at, changed_at, version, currency, locale, tax_type,
      customer_id, lines, product_ids, coupon_line_item_id, coupon_code_key, gift_card_ids, billing_address,
      shipping_address, buyer, assistant_notes, shipping_method_id, shipping_price, delivery_option, line_prices, app_taxes,
      payment_method_id, payment_transaction_id, payment_status, payment_name, payment_price, assistant_session_id)
    select shop_id, ${copy.cartId}::uuid, ${copy.tokenHash}::bytea, ${tx.now}::timestamptz, ${tx.now}::timestamptz, 1,
      currency, locale, tax_type, customer_id, lines, product_ids, coupon_line_item_id, coupon_code_key, gift_card_ids,
      billing_address, shipping_address, buyer, assistant_notes, shipping_method_id, shipping_price, delivery_option,
      line_prices, app_taxes, payment_method_id, payment_transaction_id, payment_status, payment_name, payment_price,
      assistant_session_id
    from cart where shop_id = ${shopId} and cart_id = ${cartId}`);
}

/**
 * Saves a changed cart; `version` is still the one that was read. Every column that may change is written, so the
 * statement is always the same: the version proves that the others are unchanged. 0: the cart was changed by another
 * request since, or is gone.
 */
export function updateCart(db: Queries, shopId: string, cart: StoredCart) {
  return db.run(sql`
    update cart
    set version = version + 1, changed_at = ${cart.changedAt}, abandoned_at = null, locale = ${cart.locale},
      tax_type = ${cart.taxType}, customer_id = ${cart.customerId},
      lines = ${JSON.stringify(cart.lines)}, product_ids = ${productIdsOf(cart)},
      coupon_line_item_id = ${cart.couponLineItemId}, coupon_code_key = ${cart.couponCodeKey},
      gift_card_ids = ${cart.giftCardIds}, billing_address = ${cart.billingAddress}, shipping_address = ${cart.shippingAddress},
      buyer = ${cart.buyer}, assistant_notes = ${cart.assistantNotes},
      shipping_method_id = ${cart.shippingMethodId}, shipping_price = ${cart.shippingPrice},
      delivery_option = ${cart.deliveryOption},
      payment_method_id = ${cart.paymentMethodId}, payment_transaction_id = ${cart.paymentTransactionId},
      payment_status = ${cart.paymentStatus}, payment_name = ${cart.paymentName}, payment_price = ${cart.paymentPrice}
    where shop_id = ${shopId} and cart_id = ${cart.cartId} and version = ${cart.version}`);
}

/**
 * Saves what apps have answered about the prices and taxes of a cart that is still the one they were asked about. It is no change by
 * the shopper, so the cart is not younger for it. 0: the cart was changed by another request since, or is gone.
 */
export function updateAppTerms(
  db: Queries,
  shopId: string,
  {
    cartId,
    version,
    linePrices,
    appTaxes,
  }: Pick<StoredCart, 'cartId' | 'version' | 'linePrices' | 'appTaxes'>,
) {
  return db.run(sql`
    update cart set line_prices = ${linePrices}, app_taxes = ${appTaxes}, version = version + 1
    where shop_id = ${shopId} and cart_id = ${cartId} and version = ${version}`);
}

const expiredBefore = (now: Date) => new Date(now.getTime() - LIFETIME);

/** Deletes expired carts. Their creation is older than their last change, and is indexed. */
export const cartCleanup: CleanupStep = {
  name: 'carts',
  run: async (db, limit) => {
    const end = expiredBefore(db.now);
    const expired = await db.many<{ shopId: string; cartId: string }>(sql`
      select shop_id as "shopId", cart_id as "cartId" from cart
      where created_at < ${end} and changed_at < ${end} order by created_at limit ${limit}`);
    await db.run(sql`
      delete from cart
      using unnest(${expired.map(({ shopId }) => shopId)}::text[], ${expired.map(({ cartId }) => cartId)}::uuid[])
        as expired (shop_id, cart_id)
      where cart.shop_id = expired.shop_id and cart.cart_id = expired.cart_id and cart.changed_at < ${end}`);
    return expired.length;
  },
  runForShop: async (db, shopId, limit) => {
    const end = expiredBefore(db.now);
    return db.run(sql`
      delete from cart where shop_id = ${shopId} and cart_id in (
        select cart_id from cart
        where shop_id = ${shopId} and created_at < ${end} and changed_at < ${end} order by created_at limit ${limit}
      ) and changed_at < ${end}`);
  },
};

function cartOf(row: StoredCart & Validators & CartTerms, products: CartProduct[]): CartRow {
  const { coupon } = row;
  return {
    ...row,
    cartId: row.cartId.toUpperCase(),
    customerId: upper(row.customerId),
    customerGroupId: upper(row.customerGroupId),
    couponLineItemId: upper(row.couponLineItemId),
    shippingMethodId: upper(row.shippingMethodId),
    paymentMethodId: upper(row.paymentMethodId),
    assistantSessionId: upper(row.assistantSessionId),
    giftCardIds: row.giftCardIds.map((id) => id.toUpperCase()),
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

/** Locks in id order, so two transactions cannot deadlock. */
export function lockCarts(tx: Transaction, shopId: string, cartIds: readonly string[], ifLocked = WAIT) {
  return tx.many<{ cartId: string; version: number }>(sql`
    select upper(cart_id::text) as "cartId", version from cart
    where shop_id = ${shopId} and cart_id = any (${cartIds}::uuid[])
    order by cart_id for update ${ifLocked}`);
}

export function deleteCarts(tx: Transaction, shopId: string, cartIds: readonly string[]) {
  return tx.run(sql`delete from cart where shop_id = ${shopId} and cart_id = any (${cartIds}::uuid[])`);
}
