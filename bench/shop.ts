import { ensureApp, insertToken } from '../src/apps/queries.ts';
import { ADDRESS_FIELDS, AddressRequest, toAddress } from '../src/shops/countries/address.ts';
import { insertNumberedCustomer } from '../src/people/customers/queries.ts';
import type { Database } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { generateProducts } from '../src/commands/demo/generate.ts';
import { newCartToken } from '../src/http/cart-token.ts';
import { SCOPES } from '../src/http/scopes.ts';
import { newId, newSecret, secretHash } from '../src/kernel/ids.ts';
import { insertShop } from '../src/shops/shop/insert-shop.ts';
import { applySettings } from '../src/shops/settings/file.ts';
import { shopSettings } from '../src/shops/settings/settings.ts';
import { openConnections } from './client.ts';
import type { Call } from './targets.ts';

/** What the calls of the targets are made of. */
export interface BenchShop {
  shopId: string;
  /** Path of the shop's API. */
  root: string;
  /** Has all scopes. */
  token: string;
  customerIds: string[];
  productIds: string[];
  /** The numbers of those that are bought, which are those that people look at. */
  saleNumbers: string[];
  /** Of a category with products. */
  categoryAlias: string;
  /** Products that are bought, with more stock than a run can sell. */
  saleIds: string[];
  /** Carts with one line. */
  carts: { cartId: string; token: string }[];
  /** Orders with two lines. */
  orderIds: string[];
  shippingMethodId: string;
}

const CUSTOMERS = 1_000;
const PRODUCTS = 10_000;
/** Of many products few are bought. */
const SOLD = 1_000;
/** Few enough that building the calls takes no part of a round. */
const CARTS = 3_200;
const ORDERS = 300;
/** Rows that the baseline of writes locks. */
export const OWNERS = 2_000;

export async function createBenchShop(db: Database): Promise<Omit<BenchShop, 'orderIds'>> {
  const shopId = 'BenchShop';
  const token = await createBareShop(db, shopId);
  const customerIds = await db.transaction(async (tx) => {
    const ids: string[] = [];
    for (let index = 0; index < CUSTOMERS; index++) {
      const row = await insertNumberedCustomer(tx, shopId, {
        customerId: newId(tx.now),
        billingAddress: fullAddress(index),
        internalNote: `pays on time, seen at fair ${index}`,
      });
      ids.push(row.customerId.toUpperCase());
    }
    return ids;
  });
  await generateProducts(db, { shopId, products: PRODUCTS, seed: 1 }, () => {});
  const products = await db.many<{ id: string }>(sql`
    select upper(product_id::text) as id from product where shop_id = ${shopId} and visible order by product_number`);
  const sales = await stockUp(db, shopId);
  const saleIds = sales.map(({ id }) => id);
  const carts = await insertCarts(db, shopId, saleIds);
  await applyDelivery(db, shopId);
  const { shippingMethods } = await shopSettings(db, shopId);
  await createBaselineTables(db);
  // Now, so that PostgreSQL does not do it by itself in the middle of a round.
  await db.pool.query('vacuum analyze');
  return {
    shopId,
    root: `/rs/shops/${shopId}`,
    token,
    customerIds,
    productIds: products.map(({ id }) => id),
    categoryAlias: await fullestCategory(db, shopId),
    saleIds,
    saleNumbers: sales.map(({ number }) => number),
    carts,
    shippingMethodId: shippingMethods[0]!.shippingMethodId,
  };
}

export async function fullestCategory(db: Database, shopId: string): Promise<string> {
  const row = await db.one<{ alias: string }>(sql`
    select alias from category
    where shop_id = ${shopId} and visible and parent_id is not null
    order by (
      select count(*) from product_category assigned
      where assigned.shop_id = category.shop_id and assigned.category_id = category.category_id
    ) desc limit 1`);
  return row!.alias;
}

/** Of the first products that can be bought, more than a run can sell. */
export function stockUp(db: Database, shopId: string) {
  return db.many<{ id: string; number: string }>(sql`
    update product set stock = 100000000
    where shop_id = ${shopId} and product_id in (
      select product_id from product
      where shop_id = ${shopId} and visible and kind = 'regular' and (prices ->> 'EUR')::bigint > 0
      order by product_number limit ${SOLD})
    returning upper(product_id::text) as id, product_number as number`);
}

async function insertCarts(db: Database, shopId: string, saleIds: readonly string[]) {
  const carts = Array.from({ length: CARTS }, (_, index) => {
    const { token, hash } = newCartToken();
    const lines = [
      { lineItemId: newId(db.now), productId: saleIds[(7 * index) % saleIds.length], quantity: '1' },
    ];
    return { cartId: newId(db.now), token, token_hash: hash.toString('hex'), lines };
  });
  await db.run(sql`
    insert into cart (shop_id, cart_id, token_hash, created_at, changed_at, version, currency, locale, tax_type, lines,
      product_ids)
    select ${shopId}, "cartId", decode(token_hash, 'hex'), ${db.now}, ${db.now}, 1, 'EUR', 'en_GB', 'GROSS', lines,
      array[(lines -> 0 ->> 'productId')::uuid]
    from jsonb_to_recordset(${JSON.stringify(carts)}) as cart ("cartId" uuid, token_hash text, lines jsonb)`);
  return carts.map(({ cartId, token }) => ({ cartId, token }));
}

/** Through the API, as customers do. */
export async function placeOrders(
  origin: string,
  { root, token, saleIds }: Omit<BenchShop, 'orderIds'>,
): Promise<string[]> {
  const connection = openConnections(origin, 1);
  const send = async (method: Call['method'], path: string, body: object, cartToken?: string) => {
    const { status, headers, text } = await connection.send({
      method,
      path: root + path,
      body: JSON.stringify(body),
      headers: {
        authorization: `Bearer ${token}`,
        ...(cartToken !== undefined && { 'x-epages-cart-token': cartToken }),
      },
    });
    if (status >= 300) throw new Error(`${method} ${path} answers ${status} ${text}`);
    return { headers, answer: JSON.parse(text) as { cartId: string; orderId: string } };
  };
  const ids: string[] = [];
  for (let index = 0; index < ORDERS; index++) {
    const lineItems = [index, index + 1].map((place) => ({
      productId: saleIds[place % saleIds.length],
      quantity: 1,
    }));
    const { headers, answer } = await send('POST', '/carts', { lineItems });
    const cartToken = headers['x-epages-cart-token'] as string;
    const cart = `/carts/${answer.cartId}`;
    await send('PUT', `${cart}/billing-address`, fullAddress(index), cartToken);
    const placed = await send('POST', `${cart}/order`, {}, cartToken);
    ids.push(placed.answer.orderId);
  }
  connection.close();
  return ids;
}

export async function applyDelivery(db: Database, shopId: string): Promise<void> {
  await db.transaction((tx) =>
    applySettings(tx, shopId, {
      shippingMethods: [
        { key: 'parcel', name: 'Parcel', kind: 'weight', price: 4.9, pricePerKg: 0.5 },
        { key: 'express', name: 'Express', kind: 'flat', price: 12 },
      ],
    }),
  );
}

async function createBaselineTables(db: Database): Promise<void> {
  await db.pool.query('create table bench_owner (id bigint primary key, amount bigint not null)');
  await db.pool.query(
    'create table bench_entry (id bigint generated always as identity primary key, owner bigint, amount bigint)',
  );
  await db.pool.query('insert into bench_owner select id, 0 from generate_series(0, $1) id', [OWNERS]);
}

/** An empty shop; returns a token with all scopes. */
export async function createBareShop(db: Database, shopId: string): Promise<string> {
  const token = newSecret(32);
  await db.transaction(async (tx) => {
    await insertShop(tx, {
      shopId,
      name: 'Bench',
      email: 'bench@mail.example',
      country: 'DE',
      locale: 'en_GB',
      currency: 'EUR',
    });
    const appId = await ensureApp(tx, shopId, { appId: newId(tx.now), name: 'bench', scopes: SCOPES });
    await insertToken(tx, shopId, { tokenHash: secretHash(token), appId, scopes: SCOPES });
  });
  return token;
}

/** All fields filled, with the examples of the API reference. */
function fullAddress(index: number) {
  const examples = ADDRESS_FIELDS.map((name) => {
    const { examples } = AddressRequest.properties[name] as unknown as { examples: string[] };
    return [name, examples[0]!];
  });
  const address = { ...Object.fromEntries(examples), emailAddress: `customer-${index}@mail.example` };
  return toAddress(address, 'billingAddress');
}
