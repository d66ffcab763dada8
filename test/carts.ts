import pg from 'pg';
import { expect, vi } from 'vitest';
import { sql } from '../src/db/sql.ts';
import { insertDemoShop } from '../src/commands/demo/demo-shop.ts';
import { newId } from '../src/kernel/ids.ts';
import type { ProductFacts } from '../src/catalogue/products/facts.ts';
import { settingsFormat } from '../src/composition/settings-format.ts';
import { applySettings, type SettingsFile } from '../src/shops/settings/file.ts';
import { shopSettings } from '../src/shops/settings/settings.ts';
import { givenShop, givenToken } from './builders.ts';
import { fingerprint } from './demo.ts';
import { IS_POOLED } from './pgbouncer.ts';
import type { Answer, CallOptions, Service } from './service.ts';

/** When the tests of carts take place. */
export const NOW = new Date('2026-11-15T08:30:00Z');
export const DAY = 86_400_000;

export const ID = expect.stringMatching(/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/);

export const ADA = {
  firstName: 'Ada',
  lastName: 'Lindqvist',
  street: 'Kai 7',
  zipCode: '20457',
  city: 'Hamburg',
  country: 'DE',
  emailAddress: 'ada.lindqvist@mail.example',
};

/** A shop that carts are made in. */
export interface Shop {
  service: Service;
  shopId: string;
  /** May do everything. */
  token: string;
  /** Products of the demo shop by their numbers. */
  ids: Readonly<Record<string, string>>;
}

export async function givenDemoShop(service: Service): Promise<Shop> {
  const shopId = 'DemoShop';
  const token = await service.db.transaction((tx) =>
    insertDemoShop(tx, { shopId, knownTokens: true, rateLimit: 0 }),
  );
  const rows = await service.db.many<{ id: string; number: string }>(sql`
    select upper(product_id::text) as id, product_number as number from product where shop_id = ${shopId}`);
  return { service, shopId, token, ids: Object.fromEntries(rows.map(({ id, number }) => [number, id])) };
}

let shops = 0;

/** A shop of its own for what a test changes; it has nothing but a payment that is free. */
export async function givenSmallShop(service: Service, settings: SettingsFile = {}): Promise<Shop> {
  const shopId = `Small${++shops}`;
  await givenShop(service, shopId);
  const shop = { service, shopId, token: await givenToken(service, shopId), ids: {} };
  await changeSettings(shop, settings);
  return shop;
}

export async function changeSettings({ service, shopId }: Shop, settings: SettingsFile): Promise<void> {
  await service.db.transaction((tx) => applySettings(tx, shopId, settings, settingsFormat));
}

export interface NewProduct {
  number?: string;
  /** Cents. */
  price?: number;
  stock?: number;
  /** Key of its class. */
  taxClass?: string;
  facts?: ProductFacts;
}

let products = 0;

/** A product that is for sale; its id. */
export async function givenProduct({ service, shopId }: Shop, product: NewProduct = {}): Promise<string> {
  const { number = `P-${++products}`, price = 1000, stock, taxClass, facts } = product;
  const productId = newId(service.db.now);
  const found = await service.db.one<{ id: string }>(sql`
    select tax_class_id as id from tax_class where shop_id = ${shopId} and key = ${taxClass ?? ''}`);
  await service.db.run(sql`
    insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, stock, prices,
      tax_class_id, facts)
    values (${shopId}, ${productId}, ${number}, 'regular', ${service.db.now}, 1, true, ${stock ?? null},
      ${{ EUR: price }}, ${found?.id ?? null}, ${{ name: { en_GB: number }, ...facts }})`);
  return productId;
}

/** For calls without an access token. */
export const NO_TOKEN = '';

/** A cart with its token, as a client with all scopes works on it. */
export interface GivenCart {
  shop: Shop;
  id: string;
  token: string;
  /** What was answered when it was made. */
  body: Answer['body'];
}

/** With so many of these products: numbers of the demo shop, or ids. */
export async function givenCart(
  shop: Shop,
  quantities: Readonly<Record<string, number>> = {},
  facts: object = {},
): Promise<GivenCart> {
  const { service, shopId, token, ids } = shop;
  const lineItems = Object.entries(quantities).map(([product, quantity]) => ({
    productId: ids[product] ?? product,
    quantity,
  }));
  const { status, headers, body } = await service.call('POST', `/${shopId}/carts`, {
    token,
    body: { lineItems, ...facts },
  });
  expect({ status, message: body.message }).toEqual({ status: 201, message: undefined });
  return { shop, id: body.cartId, token: headers['x-epages-cart-token'] as string, body };
}

export function on(
  { shop: { service, shopId, token }, id, token: cartToken }: GivenCart,
  method: string,
  path = '',
  body?: unknown,
  { token: sent = token, headers = {} }: Pick<CallOptions, 'token' | 'headers'> = {},
): Promise<Answer> {
  return service.call(method, `/${shopId}/carts/${id}${path}`, {
    ...(sent === NO_TOKEN ? {} : { token: sent }),
    body,
    headers: { 'x-epages-cart-token': cartToken, ...headers },
  });
}

/** A call that goes well; the cart, or the order, that was answered. */
export async function done(
  cart: GivenCart,
  method: string,
  path = '',
  body?: unknown,
): Promise<Answer['body']> {
  const answer = await on(cart, method, path, body);
  expect({ status: answer.status, message: answer.body.message }).toEqual({
    status: expect.toBeOneOf([200, 201]),
    message: undefined,
  });
  return answer.body;
}

/** A cart that can be ordered. */
export async function givenFullCart(
  shop: Shop,
  quantities: Readonly<Record<string, number>>,
  { address = {}, ...facts }: { address?: object; [fact: string]: unknown } = {},
): Promise<GivenCart> {
  const cart = await givenCart(shop, quantities, facts);
  await done(cart, 'PUT', '/billing-address', { ...ADA, ...address });
  return cart;
}

/** All fifteen operations on one cart, with bodies that are good if it holds this. */
export async function operationsOn({ shop, body }: GivenCart): Promise<[string, string, unknown?][]> {
  const { lineItemContainer } = body;
  const [{ lineItemId, productId }] = lineItemContainer.productLineItems;
  const couponLineItemId = lineItemContainer.couponLineItem?.couponLineItemId ?? newId(NOW);
  return [
    ['GET', ''],
    ['POST', '/line-items', { productId, quantity: 1 }],
    ['POST', '/multi-line-items', [{ productId, quantity: 1 }]],
    ['PUT', `/line-items/${lineItemId}`, { quantity: 1 }],
    ['DELETE', `/line-items/${lineItemId}`],
    ['PUT', `/line-items/${lineItemId}/product-price`, { singleItemPrice: 1 }],
    ['POST', '/coupon', { code: 'AUTUMN15' }],
    ['DELETE', `/coupon/${couponLineItemId}`],
    ['PUT', '/billing-address', ADA],
    ['DELETE', '/billing-address'],
    ['PUT', '/shipping-address', ADA],
    ['DELETE', '/shipping-address'],
    ['PUT', '/shipping-data', { id: await shippingId(shop, 'standard') }],
    ['PUT', '/payment-data', { name: 'Cash' }],
    ['POST', '/order'],
  ];
}

export async function shippingId({ service, shopId }: Shop, key: string): Promise<string> {
  const { shippingMethods } = await shopSettings(service.db, shopId);
  return shippingMethods.find((method) => method.key === key)!.shippingMethodId;
}

export async function paymentId({ service, shopId }: Shop, key: string): Promise<string> {
  const { paymentMethods } = await shopSettings(service.db, shopId);
  return paymentMethods.find((method) => method.key === key)!.paymentMethodId;
}

/** A campaign with one code, made through the API. */
export async function givenCoupon(
  { service, shopId, token }: Shop,
  code: string,
  type: object,
  facts: object = {},
): Promise<string> {
  const campaign = { identifier: code, name: code, currency: 'EUR', type, ...facts };
  const made = await service.call('POST', `/${shopId}/coupon-campaigns?locale=en_GB`, {
    token,
    body: campaign,
  });
  expect(made.status).toBe(201);
  const { campaignId } = made.body;
  const path = `/${shopId}/coupon-campaigns/${campaignId}/coupons`;
  expect((await service.call('PUT', path, { token, body: { code } })).status).toBe(204);
  return campaignId;
}

/** Runs what must be refused: afterwards the database is what it was, and no mail was queued. */
export async function changesNothing<Result>(service: Service, work: () => Promise<Result>): Promise<Result> {
  const before = [await fingerprint(service), await queuedEmails(service)];
  const result = await work();
  expect([await fingerprint(service), await queuedEmails(service)]).toEqual(before);
  return result;
}

/** The status and text of a refusal. */
export async function reasonOf(call: Promise<Answer>): Promise<[status: number, text: string]> {
  const { status, body } = await call;
  return [status, body.message.split(', Request: ')[0]];
}

/** The status and text of a refusal; on the way it is checked that nothing has changed. */
export function refusal(service: Service, call: () => Promise<Answer>): Promise<[number, string]> {
  return changesNothing(service, () => reasonOf(call()));
}

export const problem = (code: string, field: string, action = 'Update cart') =>
  `${action} failed:\n\tvalidation error ${code} on field ${field}`;

interface QueuedEmail {
  shopId: string;
  to: string;
  locale: string;
  template: string;
  facts: Record<string, unknown>;
}

/**
 * The emails in the queue, without what orders tell the merchant, in the order of their transactions. Name the shop if
 * the order matters and there are several: each node of a cluster numbers its own transactions.
 */
export async function queuedEmails({ db }: Service, shopId?: string): Promise<QueuedEmail[]> {
  const rows = await db.many<{ content: QueuedEmail }>(sql`
    select content from job where queue = 'mail' and content ->> 'template' not in ('newOrder', 'lowStock')
    order by xmin::text::bigint, job_id`);
  const emails = rows.map(({ content }) => content);
  return shopId === undefined ? emails : emails.filter((email) => email.shopId === shopId);
}

/** Behind a pooler a single statement is sent with a `begin` and a `commit` of its own. */
function withoutFrames(texts: readonly string[]): string[] {
  const begins = (index: number) => texts[index]?.startsWith('begin') && texts[index + 2] === 'commit';
  return texts
    .filter((_, index) => !begins(index) && !begins(index - 2))
    .map((text) => text.replace('; set local statement_timeout = 15000', ''));
}

/** What a cart or an order comes to. */
export function totalsOf({ lineItemContainer, paymentData }: Answer['body']) {
  const { basketDiscount, couponLineItem } = lineItemContainer;
  return {
    subtotal: lineItemContainer.lineItemsSubTotal.amount,
    discount: basketDiscount.lineItemPrice?.amount ?? 0,
    coupon: couponLineItem?.lineItemPrice.amount ?? 0,
    shipping: lineItemContainer.shippingPrice.amount,
    payment: paymentData?.price.amount ?? 0,
    total: lineItemContainer.grandTotal.amount,
    beforeTax: lineItemContainer.totalBeforeTax.amount,
    tax: lineItemContainer.totalTax.amount,
  };
}

/** `[sku, quantity, unit price, price]` of each line. */
export function linesOf({ lineItemContainer }: Answer['body']): [string, number, number, number][] {
  return lineItemContainer.productLineItems.map((line: Answer['body']) => [
    line.sku,
    line.quantity.amount,
    line.singleItemPrice.amount,
    line.lineItemPrice.amount,
  ]);
}

export const price = (amount: number, taxType = 'GROSS') => ({
  taxType,
  formatted: `${amount.toFixed(2)} €`,
  amount,
  currency: 'EUR',
});

/** Sent by timers, at any moment: counted calls, when tokens were last used, and the hosts and clocks of shops. */
const BY_TIMERS =
  /\b(?:app_call_log|app_use|shop_day|rate_window|last_used_at|shop_domain|demo_access_end)\b|from shop (?:order by created_at|where sandbox_of is not null)|from host_message where ends_at/;
/** Sent by each new connection: the pool closes those that were idle for ten seconds. */
const BY_CONNECTIONS = /\bplan_cache_mode\b/;
/** Who calls is asked again every few seconds. */
const LOOKS_UP_CALLER = /from shop\s+left join token\b/;

/** The statements that are sent while this runs and that its calls cause every time. */
export async function statementsOf(
  work: () => Promise<unknown>,
  { withCallers = false } = {},
): Promise<string[]> {
  const sent = vi.spyOn(pg.Client.prototype, 'query');
  try {
    await work();
    const texts = sent.mock.calls.map(([query]: unknown[]) =>
      typeof query === 'string' ? query : (query as { text: string }).text,
    );
    return (IS_POOLED ? withoutFrames(texts) : texts).filter(
      (text) =>
        !BY_TIMERS.test(text) && !BY_CONNECTIONS.test(text) && (withCallers || !LOOKS_UP_CALLER.test(text)),
    );
  } finally {
    sent.mockRestore();
  }
}
