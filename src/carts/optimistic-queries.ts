import type { Database, Queries } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { recordEntries, type AuditEntry } from '../http/audit-entry.ts';
import { staleStamps } from '../pricing/cart-product-cache.ts';
import { productIdsOf, type CartPatch, type CartRow } from './cart.ts';

/**
 * Writes carts that were computed from cached copies: many at once, each only if the settings and its products are
 * unchanged. The answer says for each of them whether it was written.
 */

/** The version stamps of all products, each sent once; a cart refers to its own by their index in that list. */
function versionStampsOf(carts: readonly CartRow[]) {
  const places = new Map<string, number>();
  for (const { products } of carts) {
    for (const { versionStamp } of products)
      if (!places.has(versionStamp)) places.set(versionStamp, places.size);
  }
  return {
    stamps: [...places.keys()],
    placesOf: ({ products }: CartRow) => products.map(({ versionStamp }) => places.get(versionStamp)),
  };
}

export async function insertUnchangedCarts(
  db: Queries,
  shopId: string,
  carts: readonly CartRow[],
): Promise<boolean[]> {
  const { stamps, placesOf } = versionStampsOf(carts);
  const rows = carts.map((cart) => ({
    id: cart.cartId,
    token: `\\x${cart.tokenHash.toString('hex')}`,
    app: cart.appId,
    created: cart.createdAt,
    changed: cart.changedAt,
    version: cart.version,
    currency: cart.currency,
    locale: cart.locale,
    tax: cart.taxType,
    lines: cart.lines,
    products: productIdsOf(cart),
    // Most carts begin without an address, and then the row is shorter without the keys.
    ...(cart.billingAddress && { billing: cart.billingAddress, buyer: cart.buyer }),
    settings: cart.settingsVersion,
    stamps: placesOf(cart),
  }));
  const made = await db.many<{ cartId: string }>(sql`
    insert into cart as made (shop_id, cart_id, token_hash, app_id, created_at, changed_at, version, currency, locale,
      tax_type, lines, product_ids, billing_address, buyer)
    select shop_id, id, token, app, created, changed, version, currency, locale, tax, lines, products, billing, buyer
    from shop cross join json_to_recordset(${JSON.stringify(rows)}) as given (id uuid, token bytea, app uuid, created timestamptz,
      changed timestamptz, version bigint, currency text, locale text, tax text, lines jsonb, products uuid[],
      billing json, buyer jsonb, settings bigint, stamps int[])
    where shop_id = ${shopId} and settings_version = given.settings and not exists (
      select from (${staleStamps(shopId, stamps)}) as stale where stale.place = any (given.stamps))
    returning made.cart_id as "cartId"`);
  const ids = new Set(made.map(({ cartId }) => cartId.toUpperCase()));
  return carts.map(({ cartId }) => ids.has(cartId));
}

/** A cart after its change, with the version that the change was computed from. */
export interface CartUpdate {
  cart: CartRow;
  patch: CartPatch;
  entry: AuditEntry | undefined;
}

/**
 * Sets every column that may change, because the statement is the same for all carts; long ones are sent only when
 * they change. A locked cart is skipped, so the others do not wait for it. The carts are locked in the order of their
 * ids, so two batches cannot deadlock.
 */
export async function updateUnchangedCarts(
  db: Database,
  shopId: string,
  changes: readonly CartUpdate[],
): Promise<boolean[]> {
  if (changes.every(({ entry }) => entry === undefined)) return updateUnchanged(db, shopId, changes);
  return db.transaction(async (tx) => {
    const done = await updateUnchanged(tx, shopId, changes);
    const entries = changes.flatMap(({ entry }, place) => (entry && done[place] ? [entry] : []));
    await recordEntries(tx, shopId, entries);
    return done;
  });
}

async function updateUnchanged(
  db: Queries,
  shopId: string,
  changes: readonly CartUpdate[],
): Promise<boolean[]> {
  const { stamps, placesOf } = versionStampsOf(changes.map(({ cart }) => cart));
  const rows = changes.map(({ cart, patch }, place) => ({
    place,
    id: cart.cartId,
    version: cart.version,
    at: cart.changedAt,
    settings: cart.settingsVersion,
    stamps: placesOf(cart),
    locale: cart.locale,
    tax: cart.taxType,
    customer: cart.customerId,
    lines: patch.lines,
    products: patch.lines && productIdsOf(cart),
    has_billing: 'billingAddress' in patch,
    billing: patch.billingAddress,
    has_shipping: 'shippingAddress' in patch,
    shipping: patch.shippingAddress,
    buyer: cart.buyer,
    coupon: cart.couponLineItemId,
    code: cart.couponCodeKey,
    cards: cart.giftCardIds,
    method: cart.shippingMethodId,
    method_price: cart.shippingPrice,
    option: cart.deliveryOption,
    payment: cart.paymentMethodId,
    transaction: cart.paymentTransactionId,
    status: cart.paymentStatus,
    payment_name: cart.paymentName,
    payment_price: cart.paymentPrice,
  }));
  const done = await db.many<{ place: number }>(sql`
    with stale as materialized (${staleStamps(shopId, stamps)}), locked as materialized (
      select cart_id from cart
      where shop_id = ${shopId} and cart_id = any (${changes.map(({ cart }) => cart.cartId)}::uuid[])
      order by cart_id for no key update skip locked
    )
    update cart
    set version = cart.version + 1, changed_at = given.at, abandoned_at = null, locale = given.locale,
      tax_type = given.tax, customer_id = given.customer,
      lines = coalesce(given.lines, cart.lines), product_ids = coalesce(given.products, cart.product_ids),
      billing_address = case when has_billing then billing else cart.billing_address end,
      shipping_address = case when has_shipping then shipping else cart.shipping_address end,
      buyer = given.buyer, coupon_line_item_id = coupon, coupon_code_key = code, gift_card_ids = cards, shipping_method_id = method,
      shipping_price = method_price, delivery_option = given.option, payment_method_id = payment, payment_transaction_id = transaction,
      payment_status = status, payment_name = given.payment_name, payment_price = given.payment_price
    from json_to_recordset(${JSON.stringify(rows)}) as given (place int, id uuid, version bigint, at timestamptz,
      settings bigint, stamps int[], locale text, tax text, customer uuid, lines jsonb, products uuid[], has_billing boolean, billing json,
      has_shipping boolean, shipping json, buyer jsonb, coupon uuid, code text, cards uuid[], method uuid, method_price bigint, option jsonb, payment uuid,
      transaction text, status text, payment_name text, payment_price bigint)
    where cart.shop_id = ${shopId} and cart.cart_id = given.id and cart.version = given.version
      and cart.cart_id = any (array(select cart_id from locked))
      and given.settings = (select settings_version from shop where shop_id = ${shopId})
      and not exists (select from stale where stale.place = any (given.stamps))
    returning given.place`);
  const places = new Set(done.map(({ place }) => place));
  return changes.map((_change, place) => places.has(place));
}
