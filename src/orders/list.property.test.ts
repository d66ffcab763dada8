import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY, done, givenFullCart, givenProduct, givenSmallShop, NOW, type Shop } from '../../test/carts.ts';
import { SEED, halfOf } from '../../test/seed.ts';
import { startService, type Answer, type Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../kernel/ids.ts';
import { STATE_FILTERS, STATES, type State } from './schema.ts';

/** Lists are counted and paged from sums of days: they must say what looking at every order says. */

/** More than are collected and sorted. */
const ORDERS = 2_500;
const CURRENCIES = ['EUR', 'GBP', 'USD'];

interface Known {
  orderId: string;
  customerId: string;
  productId: string;
  currency: string;
  createdAt: number;
  touchedAt: number;
  states: Set<State>;
}

let service: Service;
let shop: Shop;
let orders: Known[];
let products: string[];
let customers: string[];

/** Always the same numbers: a failure can be looked at again. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const random = numbers(7);

beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
  shop = await givenSmallShop(service, {
    currencies: { default: 'EUR', items: CURRENCIES, rates: { GBP: 0.85, USD: 1.1 } },
  });
  products = [await givenProduct(shop), await givenProduct(shop), await givenProduct(shop)];
  customers = [];
  const contents: Record<string, string> = {};
  for (const productId of products) {
    const cart = await givenFullCart(
      shop,
      { [productId]: 1 },
      {
        address: { emailAddress: `${productId}@mail.example` },
      },
    );
    const order = await done(cart, 'POST', '/order');
    customers.push(order.customerId);
    contents[productId] = order.orderId;
  }
  orders = Array.from({ length: ORDERS }, () => {
    // Many on few days, some of them in the same moment and some at midnight.
    const day = Date.UTC(2026, 10, 15) - random(40) * DAY;
    const createdAt = day + [0, random(DAY), random(24) * 3_600_000, DAY - 1][random(4)]!;
    return {
      orderId: newId(new Date(createdAt - random(1000))),
      customerId: customers[random(3)]!,
      productId: products[random(3)]!,
      currency: CURRENCIES[random(3)]!,
      createdAt,
      touchedAt: random(3) === 0 ? createdAt + random(10 * DAY) : createdAt,
      states: new Set(STATES.filter((state) => random(state === 'returnedOn' ? 300 : 10) === 0)),
    };
  });
  await service.db.run(sql`
    insert into customer_order (shop_id, order_id, order_number, cart_id, cart_token_hash, created_at, updated_at,
      customer_id, locale, currency, tax_model, grand_total, total_before_tax, total_tax, net_revenue,
      billing_address, content, viewed_at, rejected_at, in_process_at, pending_at, ready_for_dispatch_at,
      partially_dispatched_at, dispatched_at, delivered_at, partially_invoiced_at, invoiced_at, partially_paid_at,
      paid_at, returned_at, closed_at, archived_at)
    select shop_id, one."orderId", one."orderId"::text, one."orderId", '', one.created, nullif(one.touched, one.created),
      one."customerId", locale, one.currency, tax_model, grand_total, total_before_tax, total_tax, net_revenue,
      billing_address, content, moments[1], moments[2], moments[3], moments[4], moments[5], moments[6], moments[7],
      moments[8], moments[9], moments[10], moments[11], moments[12], moments[13], moments[14], moments[15]
    from jsonb_to_recordset(${JSON.stringify(
      orders.map((order) => ({
        ...order,
        like: contents[order.productId],
        created: new Date(order.createdAt),
        touched: new Date(order.touchedAt),
        moments: STATES.map((state) => (order.states.has(state) ? NOW : null)),
      })),
    )}) as one ("orderId" uuid, "customerId" uuid, currency text, "like" uuid, created timestamptz,
      touched timestamptz, moments timestamptz[])
    join customer_order on customer_order.shop_id = ${shop.shopId} and customer_order.order_id = one.like`);
  // Twice, because a product may be in two lines of an order.
  await service.db.run(sql`
    insert into order_line (shop_id, order_id, line_item_id, product_id, created_at, currency, quantity, gross, net)
    select ${shop.shopId}, "orderId", ('00000000-0000-7000-8000-00000000000' || line)::uuid, "productId", created,
      currency, 1, 1000, 840
    from jsonb_to_recordset(${JSON.stringify(
      orders.map((order) => ({ ...order, created: new Date(order.createdAt) })),
    )}) as one ("orderId" uuid, "productId" uuid, currency text, created timestamptz)
    cross join generate_series(1, 2) line`);
  await service.db.run(sql`delete from order_line where order_id = any(${Object.values(contents)}::uuid[])`);
  await service.db.run(
    sql`delete from customer_order where order_id = any(${Object.values(contents)}::uuid[])`,
  );
  await service.db.run(sql`delete from order_day`);
  await service.db.run(sql`insert into order_day ${recounted()}`);
});
afterAll(() => service.close());

const recounted = () => sql`
  select shop_id, (created_at at time zone 'UTC')::date as day, currency, states, count(*) as orders,
    sum(grand_total) as gross, sum(net_revenue) as net
  from customer_order group by 1, 2, 3, 4`;

async function patch({ orderId }: Known, body: object[]): Promise<void> {
  if (body.length === 0) return;
  const path = `/${shop.shopId}/orders/${orderId}`;
  expect((await service.call('PATCH', path, { token: shop.token, body })).status).toBe(200);
}

/** Rows of one that the other has not got. */
function wrongDays() {
  const columns = sql`shop_id, day, currency, states, orders::bigint, gross::bigint, net`;
  return service.db.many(sql`
    (select ${columns} from order_day where orders <> 0 or gross <> 0 or net <> 0
      except select ${columns} from (${recounted()}) again)
    union all
    (select ${columns} from (${recounted()}) again except select ${columns} from order_day)`);
}

interface Asked {
  states: Partial<Record<(typeof STATE_FILTERS)[number], boolean>>;
  customer?: number;
  product?: number;
  currency?: string;
  updatedFrom?: number;
  createdAfter?: number;
  createdBefore?: number;
  lastUpdated?: boolean;
  page: number;
  resultsPerPage: number;
}

const sometimes = <Value>(arbitrary: fc.Arbitrary<Value>, weight = 3) =>
  fc.option(arbitrary, { nil: undefined, freq: weight });

/** Often exactly when an order was placed, or at midnight. */
const moment = fc.oneof(
  fc.nat(ORDERS - 1).map((index) => orders[index]!.createdAt),
  fc.nat(45).map((days) => Date.UTC(2026, 10, 17) - days * DAY),
  fc.nat(45 * DAY).map((time) => Date.UTC(2026, 10, 17) - time),
);

const asked: fc.Arbitrary<Asked> = fc.record({
  states: fc
    .uniqueArray(fc.constantFrom(...STATE_FILTERS), { maxLength: 3 })
    .chain((states) =>
      fc
        .tuple(...states.map(() => fc.boolean()))
        .map((values) => Object.fromEntries(states.map((state, index) => [state, values[index]!]))),
    ),
  customer: sometimes(fc.nat(2), 6),
  product: sometimes(fc.nat(2), 6),
  currency: sometimes(fc.constantFrom(...CURRENCIES, 'CHF'), 4),
  updatedFrom: sometimes(moment, 5),
  createdAfter: sometimes(moment),
  createdBefore: sometimes(moment),
  lastUpdated: sometimes(fc.boolean(), 4),
  page: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 20 })),
  resultsPerPage: fc.constantFrom(1, 3, 10, 50),
}) as fc.Arbitrary<Asked>;

test('a list and its number are what looking at every order gives', async () => {
  await fc.assert(
    fc.asyncProperty(asked, async (one) => {
      const [found, expected] = await compared(one);
      expect(found).toEqual(expected);
    }),
    { numRuns: halfOf(100), seed: SEED },
  );
});

test.each([
  {},
  { lastUpdated: true },
  { lastUpdated: true, states: { returnedOn: false } },
  { lastUpdated: true, states: { returnedOn: true } },
  { updatedFrom: Date.UTC(2026, 8, 1) },
  { updatedFrom: Date.UTC(2026, 8, 1), lastUpdated: true, states: { returnedOn: false } },
  { createdAfter: Date.UTC(2026, 8, 1, 7) },
])('so is every page of %j', async (one) => {
  for (let page = 1; page <= 26; page++) {
    const [found, expected] = await compared({ states: {}, ...one, page, resultsPerPage: 100 });
    expect(found).toEqual(expected);
  }
});

type Seen = [results: number, orderIds: string[]];

async function compared({ page, resultsPerPage, ...filter }: Asked): Promise<[found: Seen, expected: Seen]> {
  const { states, customer, product, currency, lastUpdated, ...moments } = filter;
  const { updatedFrom, createdAfter, createdBefore } = moments;
  const customerId = customer === undefined ? undefined : customers[customer];
  const productId = product === undefined ? undefined : products[product];
  const by = lastUpdated ? 'touchedAt' : 'createdAt';
  const matching = orders
    .filter(
      (order) =>
        Object.entries(states).every(([state, is]) => order.states.has(state as State) === is) &&
        (customerId === undefined || order.customerId === customerId) &&
        (productId === undefined || order.productId === productId) &&
        (currency === undefined || order.currency === currency) &&
        (updatedFrom === undefined ||
          (order.touchedAt !== order.createdAt && order.touchedAt >= updatedFrom)) &&
        (createdAfter === undefined || order.createdAt > createdAfter) &&
        (createdBefore === undefined || order.createdAt < createdBefore),
    )
    .toSorted((left, right) => right[by] - left[by] || (left.orderId < right.orderId ? 1 : -1))
    .map(({ orderId }) => orderId);
  const sent = { ...states, customerId, productId, currency, lastUpdated, page, resultsPerPage };
  const search = [
    ...Object.entries(sent).map(([name, value]) => [name, value?.toString()]),
    ...Object.entries(moments).map(([name, time]) => [name, time && new Date(time).toISOString()]),
  ].flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  const { body } = await service.call('GET', `/${shop.shopId}/orders?${search.join('&')}`, {
    token: shop.token,
  });
  return [
    [body.results, body.items.map(({ orderId }: Answer['body']) => orderId)],
    [matching.length, matching.slice((page - 1) * resultsPerPage, page * resultsPerPage)],
  ];
}

test('the sums of days are what adding up every order gives, whatever was patched', async () => {
  expect(await wrongDays()).toEqual([]);
  for (let count = 0; count < 100; count++) {
    const order = orders[random(ORDERS)]!;
    const changes = Array.from({ length: 1 + random(3) }, () => STATES[random(STATES.length)]!);
    await patch(
      order,
      changes.map((state) =>
        order.states.has(state)
          ? { op: 'remove', path: `/${state}` }
          : { op: 'add', path: `/${state}`, value: '2026-11-15' },
      ),
    );
    if (random(5) === 0) await patch(order, [{ op: 'add', path: '/payment', value: 'Cash' }]);
    for (const state of changes) order.states[order.states.has(state) ? 'delete' : 'add'](state);
  }
  expect(await wrongDays()).toEqual([]);
  expect(await service.db.many(sql`select from order_day where orders = 0`)).toEqual([]);
});
