import { afterAll, beforeAll, expect, test } from 'vitest';
import { Sql, sql } from '../../src/db/sql.ts';
import { givenMerchant, type Merchant } from '../admin.ts';
import { startDemo } from '../demo.ts';
import { MAX_BLOCK, quickestBlock } from '../event-loop.ts';
import type { Service } from '../service.ts';

/*
 * Every text of an order has its limit, and a customer may have any number of orders. One with 400 of them, each with texts
 * that are as long as they may be, is exported and listed in steps between which others are served.
 */

const ORDERS = 400;

let service: Service;
let merchant: Merchant;
let customerId: string;
let address: string;
beforeAll(async () => {
  service = await startDemo();
  merchant = await givenMerchant(service);
  address = await service.app.listen({ host: '127.0.0.1', port: 0 });
  const { db } = service;
  const order = await db.one<{ orderId: string; customerId: string }>(sql`
    select order_id as "orderId", upper(customer_id::text) as "customerId" from customer_order
    where shop_id = 'DemoShop' order by created_at limit 1`);
  customerId = order!.customerId;
  const comment = '"é<\n'.repeat(2_500);
  const texts = Object.fromEntries(
    [
      'company',
      'firstName',
      'lastName',
      'street',
      'streetDetails',
      'city',
      'department',
      'addressExtension',
    ].map((key) => [key, '"é<\n'.repeat(63)]),
  );
  await db.run(sql`
    update customer_order set customer_comment = ${comment}, internal_note = ${comment},
      billing_address = (billing_address::jsonb || ${JSON.stringify(texts)}::jsonb)::json,
      shipping_address = (billing_address::jsonb || ${JSON.stringify(texts)}::jsonb)::json
    where shop_id = 'DemoShop' and order_id = ${order!.orderId}`);
  const { columns } = (await db.one<{ columns: string[] }>(sql`
    select array_agg(column_name::text order by ordinal_position) as columns from information_schema.columns
    where table_name = 'customer_order' and table_schema = 'public' and is_generated = 'NEVER'`))!;
  const names = new Sql([columns.join(', ')], []);
  await db.run(sql`
    with copied as (
      select (jsonb_populate_record(customer_order, jsonb_build_object(
        'order_id', gen_random_uuid(), 'cart_id', gen_random_uuid(), 'order_number', 'L' || place))).*
      from customer_order cross join generate_series(1, ${ORDERS}) as place
      where shop_id = 'DemoShop' and order_id = ${order!.orderId}
    )
    insert into customer_order (${names}) select ${names} from copied`);
}, 60_000);
afterAll(() => service.close());

/** Over a connection, because a client in this process would block it by what it does with the answer. */
async function measure(path: string, headers: Record<string, string>) {
  let answer = { status: 0, length: 0 };
  const ms = await quickestBlock(async () => {
    const response = await fetch(address + path, { headers });
    let length = 0;
    for await (const part of response.body!) length += (part as Uint8Array).length;
    answer = { status: response.status, length };
  });
  return { ...answer, ms };
}

test.each<[name: string, pathOf: () => string, minLength: number]>([
  ['the data of a customer', () => `/customers/${customerId}/export.json`, 10_000_000],
  ['the page of a customer', () => `/customers/${customerId}`, 5_000],
  ['the list of orders', () => '/orders', 5_000],
])('%s', async (_name, pathOf, minLength) => {
  const { status, length, ms } = await measure(`/admin/shops/DemoShop${pathOf()}`, {
    cookie: merchant.cookie,
  });
  expect(status).toBe(200);
  expect(length).toBeGreaterThan(minLength);
  expect(ms).toBeLessThan(MAX_BLOCK);
});

test('a page of the API', async () => {
  const headers = { authorization: 'Bearer demo-all' };
  const { status, length, ms } = await measure('/rs/shops/DemoShop/orders?resultsPerPage=100', headers);
  expect(status).toBe(200);
  expect(length).toBeGreaterThan(2_000_000);
  expect(ms).toBeLessThan(MAX_BLOCK);
});
