import type { Reply } from '../bench/client.ts';
import { createBareShop } from '../bench/shop.ts';
import type { Call } from '../bench/targets.ts';
import type { Content } from '../src/pricing/content.ts';
import type { Cart } from '../src/carts/schema.ts';
import { sql } from '../src/db/sql.ts';
import type { Order } from '../src/orders/schema.ts';
import { applySettings } from '../src/shops/settings/file.ts';
import { shopSettings, type Settings } from '../src/shops/settings/settings.ts';
import { allAtOnce, must, mustEqual, Refuted, times, type Stage } from './stage.ts';

/** A shop of its own for each check, with everything that makes totals interesting. */
export interface ProofShop {
  stage: Stage;
  shopId: string;
  settings: Settings;
  call(method: Call['method'], path: string, options?: CallOptions): Promise<Reply>;
}

interface CallOptions {
  /** Sent as JSON. */
  body?: unknown;
  cartToken?: string;
  key?: string;
}

export const RATES = {
  standard: { DE: 19, FR: 20 },
  reduced: { DE: 7, FR: 5.5 },
} as const;
export const PARCEL = { price: 4.9, pricePerKg: 0.5 };
export const EXPRESS = { price: 12 };
export const PAYMENT = { price: 1.5 };
/** Of those that are reached, the one that takes off most. */
export const DISCOUNTS: { from: number; absolute?: number; percent?: number }[] = [
  { from: 30, absolute: 2 },
  { from: 60, percent: 5 },
];

export async function openShop(stage: Stage, shopId: string): Promise<ProofShop> {
  const { token, settings } = await stage.look(async (db) => {
    const token = await createBareShop(db, shopId);
    await db.transaction((tx) =>
      applySettings(tx, shopId, {
        countries: { default: 'DE', items: ['DE', 'FR'] },
        taxClasses: [
          { key: 'standard', name: 'Standard', default: true, rates: RATES.standard },
          { key: 'reduced', name: 'Reduced', rates: RATES.reduced },
        ],
        shippingMethods: [
          { key: 'parcel', name: 'Parcel', kind: 'weight', ...PARCEL },
          { key: 'express', name: 'Express', kind: 'flat', ...EXPRESS },
        ],
        paymentMethods: [{ key: 'invoice', name: 'Invoice', ...PAYMENT }],
        basketDiscounts: DISCOUNTS,
      }),
    );
    return { token, settings: await shopSettings(db, shopId) };
  });
  return {
    stage,
    shopId,
    settings,
    call: (method, path, { body, cartToken, key } = {}) =>
      stage.send({
        method,
        path: path.startsWith('/manage/') ? path : `/rs/shops/${shopId}${path}`,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headers: {
          authorization: `Bearer ${token}`,
          ...(cartToken === undefined ? {} : { 'x-epages-cart-token': cartToken }),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
      }),
  };
}

/** A call that must succeed did not. */
export class Refused extends Refuted {
  readonly status: number;

  constructor(what: string, { status, text }: Reply) {
    super(`${what} answers ${status} ${text.slice(0, 300)}`);
    this.status = status;
  }
}

/** The answer's body, if it was a success. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what it has asked for
export function done<Body>(reply: Reply, what: string): Body {
  const { status, text } = reply;
  if (status < 200 || status >= 300) throw new Refused(what, reply);
  return (text === '' ? undefined : JSON.parse(text)) as Body;
}

export interface Goods {
  productId: string;
  number: string;
  stock: number;
}

export interface NewGoods {
  number: string;
  stock: number;
  price?: number;
  isReduced?: boolean;
  deposit?: number;
  kilograms?: number;
}

export async function stockUp(shop: ProofShop, goods: NewGoods): Promise<Goods> {
  const { number, stock, price = 9.95, isReduced = false, deposit, kilograms } = goods;
  const taxClass = shop.settings.taxClasses.find(({ key }) => key === (isReduced ? 'reduced' : 'standard'))!;
  const body = {
    productNumber: number,
    name: `Scarce ${number}`,
    price,
    visible: true,
    taxClassId: taxClass.taxClassId,
    ...(deposit === undefined ? {} : { depositPrice: deposit }),
    ...(kilograms === undefined ? {} : { deliveryWeight: { amount: kilograms, unit: 'kg' } }),
  };
  const { productId } = done<{ productId: string }>(
    await shop.call('POST', '/products', { body }),
    'POST products',
  );
  const level = [{ op: 'replace', path: '/stocklevel', value: stock }];
  done(await shop.call('PATCH', `/products/${productId}`, { body: level }), 'PATCH stocklevel');
  return { productId, number, stock };
}

/** A campaign with these codes; returns its id. */
export async function openCampaign(
  shop: ProofShop,
  campaign: object,
  codes: readonly string[],
): Promise<string> {
  const body = { identifier: codes[0], name: 'Campaign', currency: 'EUR', ...campaign };
  const { campaignId } = done<{ campaignId: string }>(
    await shop.call('POST', '/coupon-campaigns?locale=en_GB', { body }),
    'POST coupon-campaigns',
  );
  for (const code of codes) {
    done(
      await shop.call('PUT', `/coupon-campaigns/${campaignId}/coupons`, { body: { code } }),
      'PUT coupons',
    );
  }
  return campaignId;
}

export function address(buyer: number | string, { country = 'DE', city = 'Hamburg' } = {}) {
  return {
    firstName: 'Ada',
    lastName: 'Brennan',
    street: 'Speicherweg 4',
    zipCode: '20457',
    city,
    country,
    emailAddress: `buyer-${buyer}@mail.example`,
  };
}

export interface OpenCart {
  cartId: string;
  cartToken: string;
  /** As the last answer showed it. */
  cart: Cart;
}

const CARTS_AT_A_TIME = 64;

/** A cart that can be ordered. */
export async function fillCart(
  shop: ProofShop,
  lines: readonly { productId: string; quantity: number }[],
  { buyer, coupon }: { buyer: number | string; coupon?: string },
): Promise<OpenCart> {
  const made = await shop.call('POST', '/carts', { body: { lineItems: lines } });
  const { cartId } = done<Cart>(made, 'POST carts');
  const cartToken = String(made.headers['x-epages-cart-token']);
  const put = await shop.call('PUT', `/carts/${cartId}/billing-address`, { cartToken, body: address(buyer) });
  let cart = done<Cart>(put, 'PUT billing-address');
  if (coupon !== undefined) {
    const added = await shop.call('POST', `/carts/${cartId}/coupon`, { cartToken, body: { code: coupon } });
    cart = done<Cart>(added, 'POST coupon');
  }
  return { cartId, cartToken, cart };
}

/** So many carts that can be ordered, made before the first order is sent. */
export function fillCarts(
  shop: ProofShop,
  count: number,
  {
    linesOf,
    buyerOf,
    couponOf,
  }: {
    linesOf: (index: number) => readonly { productId: string; quantity: number }[];
    buyerOf: (index: number) => number | string;
    couponOf?: (index: number) => string;
  },
): Promise<OpenCart[]> {
  return allAtOnce(
    shop.stage,
    'carts',
    times(count, Number),
    (index) =>
      fillCart(shop, linesOf(index), { buyer: buyerOf(index), ...(couponOf && { coupon: couponOf(index) }) }),
    CARTS_AT_A_TIME,
  );
}

export function orderCart(
  shop: ProofShop,
  { cartId, cartToken }: Pick<OpenCart, 'cartId' | 'cartToken'>,
  key?: string,
): Promise<Reply> {
  return shop.call('POST', `/carts/${cartId}/order`, { cartToken, ...(key === undefined ? {} : { key }) });
}

export function orderIn(reply: Reply): Order {
  return JSON.parse(reply.text) as Order;
}

export function messageIn({ text }: Reply): string {
  return (JSON.parse(text) as { message: string }).message;
}

/** An order as the database holds it. */
export interface KeptOrder {
  orderId: string;
  orderNumber: string;
  cartId: string;
  grandTotal: number;
  totalBeforeTax: number;
  totalTax: number;
  country: string;
  city: string;
  content: Content;
}

export function keptOrders({ stage, shopId }: ProofShop): Promise<KeptOrder[]> {
  return stage.look((db) =>
    db.many<KeptOrder>(sql`
      select upper(order_id::text) as "orderId", order_number as "orderNumber", upper(cart_id::text) as "cartId",
        grand_total as "grandTotal", total_before_tax as "totalBeforeTax", total_tax as "totalTax",
        billing_address ->> 'country' as country, billing_address ->> 'city' as city, content
      from customer_order where shop_id = ${shopId}`),
  );
}

/** What lists and sales are counted from, and the audit log, tell of exactly the orders that there are. */
export async function mustBeCounted({ stage, shopId }: ProofShop): Promise<void> {
  const row = await stage.look((db) =>
    db.one<Record<'orders' | 'counted' | 'gross' | 'worth' | 'lines' | 'soldLines' | 'entries', number>>(sql`
      select count(*) as orders, coalesce(sum(grand_total), 0)::bigint as worth,
        coalesce(sum(jsonb_array_length(content -> 'lines')), 0)::bigint as lines,
        (select coalesce(sum(orders), 0)::bigint from order_day where shop_id = ${shopId}) as counted,
        (select coalesce(sum(gross), 0)::bigint from order_day where shop_id = ${shopId}) as gross,
        (select count(*) from order_line where shop_id = ${shopId}) as "soldLines",
        (
          select count(distinct object ->> 'orderId') from audit_entry
          where shop_id = ${shopId} and route like '%/order'
        ) as entries
      from customer_order where shop_id = ${shopId}`),
  );
  const { orders, counted, gross, worth, lines, soldLines, entries } = row!;
  mustEqual('orders by day', [counted, gross], [orders, worth]);
  mustEqual('lines that were sold', soldLines, lines);
  mustEqual('entries of the audit log', entries, orders);
}

/** How many of each product are ordered and how many are left, from the database. */
export async function ledger({ stage, shopId }: ProofShop, goods: readonly Goods[]) {
  const rows = await stage.look((db) =>
    db.many<{ productId: string; left: number; ordered: number }>(sql`
      select upper(product.product_id::text) as "productId", product.stock::float8 as left,
        coalesce((
          select sum((line ->> 'quantity')::numeric) from customer_order
          cross join jsonb_array_elements(content -> 'lines') line
          where customer_order.shop_id = ${shopId} and line ->> 'productId' = upper(product.product_id::text)
        ), 0)::float8 as ordered
      from product where product.shop_id = ${shopId}`),
  );
  return goods.map((one) => ({ ...one, ...rows.find(({ productId }) => productId === one.productId)! }));
}

/** Of each product as many are gone as were ordered, and never more than there were. */
export async function mustBalance(shop: ProofShop, goods: readonly Goods[]): Promise<void> {
  for (const { number, stock, left, ordered } of await ledger(shop, goods)) {
    must(left >= 0, `${number}: the stock is ${left}`);
    must(
      stock - left === ordered,
      `${number}: ${stock} - ${left} are gone from the stock, ${ordered} are ordered`,
    );
  }
}

/** How many carts are open; one that became an order is not. */
export async function mustBeCartOrOrder({ stage, shopId }: ProofShop): Promise<number> {
  const row = await stage.look((db) =>
    db.one<{ carts: number; both: number; orders: number; numbers: number }>(sql`
      select (select count(*) from cart where shop_id = ${shopId}) as carts,
        (
          select count(*) from cart
          join customer_order on customer_order.shop_id = cart.shop_id and customer_order.cart_id = cart.cart_id
          where cart.shop_id = ${shopId}
        ) as both,
        count(*) as orders, count(distinct order_number) as numbers
      from customer_order where shop_id = ${shopId}`),
  );
  must(row!.both === 0, `${row!.both} carts are open although they were ordered`);
  must(row!.numbers === row!.orders, `${row!.orders} orders have ${row!.numbers} numbers`);
  return row!.carts;
}
