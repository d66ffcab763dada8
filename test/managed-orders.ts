import { expect } from 'vitest';
import { sql } from '../src/db/sql.ts';
import { secretHash } from '../src/kernel/ids.ts';
import type { SettingsFile } from '../src/shops/settings/file.ts';
import {
  changesNothing,
  done,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  NOW,
  reasonOf,
  type Shop,
} from './carts.ts';
import { startService, type Answer, type Service } from './service.ts';

/** Orders, and what a merchant does with them. */

/** Of the file that has started it. */
export let service: Service;

export async function startManaging(): Promise<void> {
  service = await startService();
  service.setClock(NOW);
}

/** Each call is a moment later, so that the history has an order. */
let seconds = 0;
/** When the last call was. */
export const lastMoment = () => new Date(NOW.getTime() + seconds * 1000).toISOString();

const tick = () => service.setClock(new Date(NOW.getTime() + ++seconds * 1000));

export const SETTINGS: SettingsFile = {
  taxClasses: [
    { key: 'standard', name: 'standard', default: true, rates: { DE: 19 } },
    { key: 'reduced', name: 'reduced', rates: { DE: 7 } },
  ],
  shippingMethods: [
    { key: 'parcel', name: 'Parcel', kind: 'flat', price: 4.9 },
    { key: 'express', name: 'Express', kind: 'weight', price: 7, pricePerKg: 1.19 },
  ],
  paymentMethods: [
    { key: 'advance', name: 'Advance', price: 0 },
    { key: 'cod', name: 'On delivery', price: 2.5 },
    { key: 'debit', name: 'Debit', price: -1 },
  ],
};

export interface Placed {
  shop: Shop;
  id: string;
  body: Answer['body'];
}

export async function placed(
  shop: Shop,
  quantities: Record<string, number>,
  coupon?: string,
): Promise<Placed> {
  const cart = await givenFullCart(shop, quantities);
  if (coupon !== undefined) await done(cart, 'POST', '/coupon', { code: coupon });
  const body = await done(cart, 'POST', '/order');
  return { shop, id: body.orderId, body };
}

export async function on(
  { shop, id }: Placed,
  method: string,
  path = '',
  body?: unknown,
  token = shop.token,
): Promise<Answer> {
  tick();
  return service.call(method, `/manage/shops/${shop.shopId}/orders/${id}${path}`, { token, body });
}

/** A call that goes well; the order that was answered. */
export async function well(order: Placed, method: string, path = '', body?: unknown, token?: string) {
  const answer = await on(order, method, path, body, token);
  expect({ status: answer.status, message: answer.body.message }).toEqual({
    status: expect.toBeOneOf([200, 201]),
    message: undefined,
  });
  return answer.body;
}

/** Why it is refused; on the way it is checked that nothing has changed, and no mail was queued. */
export function refused(order: Placed, method: string, path: string, body?: unknown, token?: string) {
  return changesNothing(service, () => reasonOf(on(order, method, path, body, token)));
}

export async function stockOf({ shopId }: Shop, productId: string): Promise<number | null> {
  const row = await service.db.one<{ stock: number | null }>(sql`
    select stock::float8 as stock from product where shop_id = ${shopId} and product_id = ${productId}`);
  return row!.stock;
}

export async function usesOf({ shopId }: Shop, code: string) {
  return service.db.one<{ used: number; campaign: number }>(sql`
    select coupon.used, campaign.used as campaign
    from coupon join coupon_campaign campaign on campaign.shop_id = coupon.shop_id
      and campaign.campaign_id = coupon.campaign_id
    where coupon.shop_id = ${shopId} and coupon.code = ${code}`);
}

export const appOf = async ({ shopId }: Shop, token: string) =>
  (await service.db.one<{ id: string }>(sql`
    select upper(app_id::text) as id from token
    where shop_id = ${shopId} and token_hash = ${secretHash(token)}`))!.id;

export const historyOf = async (order: Placed) =>
  (await well(order, 'GET', '/history?resultsPerPage=100')).items;

export const lineIds = ({ lineItemContainer }: Answer['body']): string[] =>
  lineItemContainer.productLineItems.map(({ lineItemId }: { lineItemId: string }) => lineItemId);

export const NOT_EDITING = 'The order is not in edit mode, POST to its path .../edit first';
export const CANCELLED = 'The order is cancelled and can not be changed';

/** Two products of two rates: 2 x 10.00 at 19 % and 3 x 5.00 at 7 %, delivery 4.90. */
export async function givenOrder(settings: SettingsFile = SETTINGS) {
  const shop = await givenSmallShop(service, settings);
  const tea = await givenProduct(shop, { number: 'TEA', price: 1000, stock: 10 });
  const book = await givenProduct(shop, { number: 'BOOK', price: 500, stock: 10, taxClass: 'reduced' });
  const order = await placed(shop, { [tea]: 2, [book]: 3 });
  const [teaLine, bookLine] = lineIds(order.body) as [string, string];
  return { shop, order, tea, book, teaLine, bookLine };
}
/** Where what lists and sales are counted from is not what the orders say, after all that a file has done. */
export async function miscounts(): Promise<unknown[]> {
  const differences = await service.db.many(sql`
    with counted as (
      select shop_id, (created_at at time zone 'UTC')::date as day, currency, states, count(*) as orders,
        sum(grand_total) as gross, sum(net_revenue) as net
      from customer_order group by 1, 2, 3, 4
    )
    select * from counted full join (
      select * from order_day where (orders, gross, net) <> (0, 0, 0)
    ) kept
      using (shop_id, day, currency, states, orders, gross, net)
    where counted.shop_id is distinct from kept.shop_id`);
  const lines = await service.db.many(sql`
    select customer_order.order_id from customer_order
    where jsonb_array_length(content -> 'lines') <> (
      select count(*) from order_line
      where order_line.shop_id = customer_order.shop_id and order_line.order_id = customer_order.order_id)`);
  return [...differences, ...lines];
}

export async function countOrders(): Promise<number> {
  const row = await service.db.one<{ orders: number; days: number }>(sql`
    select (select count(*) from customer_order) as orders,
      (select sum(orders)::bigint from order_day) as days`);
  expect(row!.days).toBe(row!.orders);
  return row!.orders;
}
