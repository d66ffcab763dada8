import type { Queries } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { TaxType } from '../http/price.ts';
import type { CouponFacts } from './facts.ts';
import { goodsOf, upper, type Goods, type GoodsRow } from './goods.ts';

/** A line as the cart holds it. */
export interface StoredLine {
  lineItemId: string;
  productId: string;
  /** An exact decimal as text. */
  quantity: string;
  /** Of one unit, in minor units; missing: the product's own. */
  price?: number;
}

/** A cart as its row holds it: what was chosen. Addresses are JSON text. */
export interface StoredCart {
  cartId: string;
  tokenHash: Buffer;
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
  paymentName: string | null;
  paymentPrice: number | null;
}

/** A code with what its campaign says. */
export interface CartCoupon extends Omit<CouponFacts, 'isWithdrawn' | 'isUsedUp' | 'isInTime'> {
  codeKey: string;
  campaignId: string;
  withdrawnAt: string | null;
  used: number;
  usageLimit: number | null;
  campaignUsed: number;
  campaignUsageLimit: number | null;
  validFrom: string | null;
  validTo: string | null;
}

/** A cart with everything that its answer is made of. */
export interface CartRow extends StoredCart {
  customerGroupId: string | null;
  settingsVersion: number;
  /** Those of its lines that exist, and those that were wanted beside them. */
  products: Goods[];
  coupon: CartCoupon | null;
}

type FoundCart = Omit<CartRow, 'products'> & { products: GoodsRow[] };

/** Texts that only a product's own page shows can be long; a cart is read often. */
const leftOut = sql`'{description,shortDescription,title,searchKeywords,attributes,videos}'::text[]`;

/** In the form of `GoodsRow`. */
const productJson = sql`
  json_build_object(
    'productId', product.product_id, 'productNumber', product.product_number, 'kind', product.kind,
    'masterId', product.master_id, 'selection', product.selection, 'visible', product.visible,
    'stock', product.stock, 'taxClassId', product.tax_class_id, 'productTypeId', product.product_type_id,
    'prices', product.prices, 'facts', product.facts - ${leftOut},
    'master', case when master.product_id is not null then json_build_object(
      'productNumber', master.product_number, 'taxClassId', master.tax_class_id,
      'productTypeId', master.product_type_id, 'prices', master.prices,
      'mainImage', master.main_image, 'facts', master.facts - ${leftOut}) end,
    'image', case when image.image_key is not null then json_build_object(
      'imageKey', image.image_key, 'sizes', image.sizes) end)`;

const productJoins = sql`
  left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
  left join product_image image on image.shop_id = product.shop_id
    and image.product_id = case when product.main_image is null then product.master_id else product.product_id end
    and image.name = coalesce(product.main_image, master.main_image)`;

/** What a change is about to put into the cart: it is read along with the cart. */
export interface Wanted {
  productIds?: readonly string[];
  codeKey?: string;
}

/** Everything a cart's answer may need, in one round trip and one snapshot. */
const cartColumns = ({ productIds = [], codeKey }: Wanted) => sql`
  cart.cart_id as "cartId", cart.token_hash as "tokenHash", cart.created_at as "createdAt",
  cart.changed_at as "changedAt", cart.version, cart.currency, cart.locale, cart.tax_type as "taxType",
  cart.customer_id as "customerId", cart.lines, cart.coupon_line_item_id as "couponLineItemId",
  cart.coupon_code_key as "couponCodeKey", cart.billing_address::text as "billingAddress",
  cart.shipping_address::text as "shippingAddress", cart.shipping_method_id as "shippingMethodId",
  cart.shipping_price as "shippingPrice", cart.payment_method_id as "paymentMethodId",
  cart.payment_name as "paymentName", cart.payment_price as "paymentPrice",
  shop.settings_version as "settingsVersion",
  (
    select customer.customer_group_id from customer
    where customer.shop_id = cart.shop_id and customer.customer_id = cart.customer_id
  ) as "customerGroupId",
  (
    select coalesce(json_agg(${productJson}), '[]')
    from product ${productJoins}
    where product.shop_id = cart.shop_id and product.product_id in (
      select (line ->> 'productId')::uuid from jsonb_array_elements(cart.lines) line
      union all select unnest(${productIds}::uuid[]))
  ) as products,
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
    where coupon.shop_id = cart.shop_id
      and coupon.code_key = coalesce(${codeKey ?? null}, cart.coupon_code_key)
  ) as coupon`;

export async function findCart(db: Queries, shopId: string, cartId: string, wanted: Wanted = {}) {
  const row = await db.one<FoundCart>(sql`
    select ${cartColumns(wanted)} from cart join shop on shop.shop_id = cart.shop_id
    where cart.shop_id = ${shopId} and cart.cart_id = ${cartId}`);
  return row && cartOf(row);
}

/** Nobody else changes it until the transaction ends. */
export async function lockCart(db: Queries, shopId: string, cartId: string, wanted: Wanted = {}) {
  const row = await db.one<FoundCart>(sql`
    select ${cartColumns(wanted)} from cart join shop on shop.shop_id = cart.shop_id
    where cart.shop_id = ${shopId} and cart.cart_id = ${cartId} for update of cart`);
  return row && cartOf(row);
}

export interface CartFilter {
  createdAfter: Date | null;
  createdBefore: Date | null;
  /** null: with or without. */
  hasAddress: boolean | null;
}

/** How long a cart is kept after its last change. */
export const LIFETIME = 30 * 86_400_000;

/** The sweep comes once an hour: until then an old cart lies there, but is none any more. */
const endedBefore = (now: Date) => new Date(now.getTime() - LIFETIME);

const matches = (
  { now }: Queries,
  shopId: string,
  { createdAfter, createdBefore, hasAddress }: CartFilter,
) => sql`
  cart.shop_id = ${shopId} and cart.changed_at >= ${endedBefore(now)}
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
) {
  const rows = await db.many<FoundCart>(sql`
    select ${cartColumns({})} from cart join shop on shop.shop_id = cart.shop_id
    where ${matches(db, shopId, filter)}
    order by cart.created_at desc, cart.cart_id desc limit ${limit} offset ${offset}`);
  return rows.map((row) => cartOf(row));
}

export async function countCarts(db: Queries, shopId: string, filter: CartFilter): Promise<number> {
  const row = await db.one<{ count: number }>(
    sql`select count(*) as count from cart where ${matches(db, shopId, filter)}`,
  );
  return row!.count;
}

/** What a new cart is made of: the products that are wanted, the customer's group, the version of the settings. */
export async function findGoods(
  db: Queries,
  shopId: string,
  productIds: readonly string[],
  customerId: string | null,
) {
  const row = await db.one<{
    settingsVersion: number;
    products: GoodsRow[];
    customer: { customerGroupId: string | null } | null;
  }>(sql`
    select shop.settings_version as "settingsVersion",
      (
        select coalesce(json_agg(${productJson}), '[]')
        from product ${productJoins}
        where product.shop_id = shop.shop_id and product.product_id = any (${productIds}::uuid[])
      ) as products,
      (
        select json_build_object('customerGroupId', customer.customer_group_id) from customer
        where customer.shop_id = shop.shop_id and customer.customer_id = ${customerId}
      ) as customer
    from shop where shop.shop_id = ${shopId}`);
  return row && { ...row, products: row.products.map(goodsOf) };
}

export function insertCart(db: Queries, shopId: string, cart: StoredCart) {
  return db.run(sql`
    insert into cart (shop_id, cart_id, token_hash, created_at, changed_at, version, currency, locale, tax_type,
      customer_id, lines)
    values (${shopId}, ${cart.cartId}, ${cart.tokenHash}, ${cart.createdAt}, ${cart.changedAt}, ${cart.version},
      ${cart.currency}, ${cart.locale}, ${cart.taxType}, ${cart.customerId}, ${JSON.stringify(cart.lines)})`);
}

/** 0: somebody else has changed it since it was read, or it is gone. */
export function updateCart(db: Queries, shopId: string, cart: StoredCart) {
  return db.run(sql`
    update cart
    set version = version + 1, changed_at = ${cart.changedAt}, lines = ${JSON.stringify(cart.lines)},
      coupon_line_item_id = ${cart.couponLineItemId}, coupon_code_key = ${cart.couponCodeKey},
      billing_address = ${cart.billingAddress}, shipping_address = ${cart.shippingAddress},
      shipping_method_id = ${cart.shippingMethodId}, shipping_price = ${cart.shippingPrice},
      payment_method_id = ${cart.paymentMethodId}, payment_name = ${cart.paymentName},
      payment_price = ${cart.paymentPrice}
    where shop_id = ${shopId} and cart_id = ${cart.cartId} and version = ${cart.version}`);
}

/** Called by the hourly sweep. */
export function deleteOldCarts(db: Queries): Promise<number> {
  return db.run(sql`delete from cart where changed_at < ${endedBefore(db.now)}`);
}

function cartOf(row: FoundCart): CartRow {
  const { coupon } = row;
  return {
    ...row,
    cartId: row.cartId.toUpperCase(),
    customerId: upper(row.customerId),
    customerGroupId: upper(row.customerGroupId),
    couponLineItemId: upper(row.couponLineItemId),
    shippingMethodId: upper(row.shippingMethodId),
    paymentMethodId: upper(row.paymentMethodId),
    products: row.products.map(goodsOf),
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
