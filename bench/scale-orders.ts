import type { Content, ContentLine } from '../src/pricing/content.ts';
import { taxOn } from '../src/pricing/tax.ts';
import { ADDRESS_FIELDS } from '../src/shops/countries/address.ts';
import type { Database } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { newId } from '../src/kernel/ids.ts';
import { netRevenue } from '../src/orders/day-sums.ts';
import { applySettings } from '../src/shops/settings/file.ts';
import { STATE_FILTERS } from '../src/orders/schema.ts';
import type { Verdict } from './report.ts';
import { createBareShop } from './shop.ts';
import { openClient, percentile, type Client } from './timing.ts';

/**
 * Whether lists of orders and sales grow slower with the number of orders: the same calls in a shop with few orders
 * and in one with many, both over two years, one connection, in turn.
 */
export interface OrderScale {
  small: number;
  large: number;
  /** Calls of each kind. */
  calls: number;
}

export interface OrderShops {
  token: string;
  small: ShopFacts;
  large: ShopFacts;
}

interface ShopFacts {
  root: string;
  orders: number;
  /** With as many orders in both shops: what is asked of them must not differ. */
  customerId: string;
  productId: string;
  /** Which is in a twentieth of all orders. */
  bestsellerId: string;
  end: Date;
}

const DAY = 86_400_000;
const SPAN = 730 * DAY;
const CUSTOMERS = 5_000;
const PRODUCTS = 2_000;
/** Orders of the customer and of the product that are asked for. */
const OF_ONE = 200;
const BATCH = 50_000;
const CURRENCIES = ['EUR', 'EUR', 'EUR', 'GBP', 'USD'];
const NOWHERE = '00000000-0000-0000-0000-000000000000';

export async function createOrderShops(
  db: Database,
  { small, large }: OrderScale,
  say: (line: string) => void,
): Promise<OrderShops> {
  const began = performance.now();
  // What is made here fits together: looking that up three million times would take longer than making it.
  await db.pool.query('alter table order_line disable trigger all');
  await db.pool.query('alter table customer_order disable trigger all');
  const token = await createBareShop(db, 'ManyOrders');
  await createBareShop(db, 'FewOrders');
  await db.run(sql`
    insert into token (shop_id, token_hash, app_id, scopes, created_at)
    select app.shop_id, token.token_hash, app.app_id, token.scopes, token.created_at
    from token join app on app.shop_id = 'FewOrders' where token.shop_id = 'ManyOrders'`);
  const shops = {
    token,
    small: await fillShop(db, 'FewOrders', small, say),
    large: await fillShop(db, 'ManyOrders', large, say),
  };
  await db.pool.query('alter table order_line enable trigger all');
  await db.pool.query('alter table customer_order enable trigger all');
  await db.pool.query('vacuum analyze');
  say(`orders made in ${Math.round((performance.now() - began) / 1000)} s`);
  return shops;
}

async function fillShop(
  db: Database,
  shopId: string,
  orders: number,
  say: (line: string) => void,
): Promise<ShopFacts> {
  const currencies = { default: 'EUR', items: ['EUR', 'GBP', 'USD'], rates: { GBP: 0.85, USD: 1.1 } };
  await db.transaction((tx) => applySettings(tx, shopId, { currencies }));
  const customers = Array.from({ length: CUSTOMERS }, () => newId(db.now));
  const products = Array.from({ length: PRODUCTS }, () => newId(db.now));
  await db.run(sql`
    insert into customer (shop_id, customer_id, customer_number, created_at)
    select ${shopId}, id, 'C' || place, ${db.now} from unnest(${customers}::uuid[]) with ordinality as entry (id, place)`);
  await db.pool.query('analyze customer');
  const end = db.now;
  for (let first = 0; first < orders; first += BATCH) {
    const last = Math.min(first + BATCH, orders) - 1;
    await insertOrders(db, shopId, { first, last, orders, end, customers: CUSTOMERS, products });
    if (orders > BATCH) say(`${last + 1} of ${orders} orders ...`);
  }
  return {
    root: `/rs/shops/${shopId}`,
    orders,
    customerId: customers[0]!,
    productId: products[0]!,
    bestsellerId: products[1]!,
    end,
  };
}

export interface Batch {
  first: number;
  last: number;
  orders: number;
  end: Date;
  /** They have the numbers C1, C2 and so on. */
  customers: number;
  /** An id for each product that is sold; some ten thousand at most, because they are sent with every batch. */
  products: string[];
}

/** Each goes its way: seen (but for one in a hundred), paid, in part in advance, invoiced, sent, delivered, closed, archived; some are rejected or sent back. */
export async function insertOrders(db: Database, shopId: string, batch: Batch): Promise<void> {
  const { first, last, orders, end, customers, products } = batch;
  const every = orders / OF_ONE;
  const billing = {
    ...Object.fromEntries(ADDRESS_FIELDS.map((name) => [name, null])),
    firstName: 'Ada',
    lastName: 'Lindqvist',
    street: 'Kai 7',
    zipCode: '20457',
    city: 'Hamburg',
    country: 'DE',
    emailAddress: 'ada.lindqvist@mail.example',
  };
  await db.transaction(async (tx) => {
    // A batch may take longer than a request.
    await tx.run(sql`set local statement_timeout = 0`);
    await tx.run(sql`
    with made as (
    insert into customer_order (shop_id, order_id, order_number, cart_id, cart_token_hash, created_at, updated_at,
      customer_id, locale, currency, tax_model, grand_total, total_before_tax, total_tax, net_revenue, billing_address,
      content, viewed_at, rejected_at, pending_at, paid_at, invoiced_at, dispatched_at, delivered_at, returned_at,
      closed_at, archived_at, payment_wait)
    select ${shopId}, id, 'ORD/' || n, id, '', placed, case when n % 5 < 3 and days >= 1 then placed + '1 day' end,
      (
        select customer_id from customer where shop_id = ${shopId}
          and customer_number = 'C' || case when n % ${every} = 0 then 1 else 2 + n * 7919::bigint % ${customers - 1} end
      ),
      'en_GB', template ->> 'currency', 'GROSS', (template ->> 'grandTotal')::bigint,
      (template ->> 'totalBeforeTax')::bigint, (template ->> 'totalTax')::bigint, (template ->> 'net')::numeric,
      ${billing}, template -> 'content',
      case when (days >= 1 or n % 2 = 0) and n % 97 <> 5 then placed + '1 hour' end,
      case when is_rejected then placed + '2 hours' end,
      case when not is_rejected and n % 33 = 0 then placed + '2 hours' end,
      case when not is_rejected and (days >= 7 or n % 3 = 0) then placed + '3 hours' end,
      case when not is_rejected and days >= 2 then placed + '1 day' end,
      case when not is_rejected and days >= 3 then placed + '2 days' end,
      case when not is_rejected and days >= 6 then placed + '5 days' end,
      case when not is_rejected and days >= 14 and n % 25 = 7 then placed + '12 days' end,
      case when days >= 30 then placed + '30 days' end,
      case when days >= 180 then placed + '180 days' end,
      case when n % 4 = 1 then 'open' when n % 400 = 3 then 'failed' end
    from (
      select n, placed, extract(epoch from ${end}::timestamptz - placed) / 86400 as days, n % 50 = 13 as is_rejected,
        (lpad(to_hex((extract(epoch from placed) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 19))::uuid as id,
        template
      from (
        select n, ${end}::timestamptz - (${SPAN}::float8 * (${orders}::bigint - n) / ${orders}) * interval '1 ms' as placed
        from generate_series(${first}::bigint, ${last}::bigint) n
      ) moment join (
        select place - 1 as place, template
        from jsonb_array_elements(${JSON.stringify(templates())}::jsonb) with ordinality as entry (template, place)
      ) kind on kind.place = n % ${TEMPLATES}
    ) one
    returning *, substr(order_number, 5)::bigint as n
    ), tallied as (
      insert into order_day (shop_id, day, currency, states, orders, gross, net)
      select shop_id, (created_at at time zone 'UTC')::date, currency, states, count(*), sum(grand_total),
        sum(net_revenue)
      from made group by 1, 2, 3, 4
      on conflict (shop_id, day, currency, states) do update set orders = order_day.orders + excluded.orders,
        gross = order_day.gross + excluded.gross, net = order_day.net + excluded.net
    )
    insert into order_line (shop_id, order_id, line_item_id, product_id, created_at, currency, quantity, gross, net)
    select shop_id, order_id, ('00000000-0000-7000-8000-' || lpad(line::text, 12, '0'))::uuid,
      (${products}::uuid[])[case
        when line = 1 and n % ${every} = 0 then 1
        when line = 1 and n % 20 = 1 then 2
        else 3 + (n * 7919::bigint + line * 977) % ${products.length - 2} end],
      created_at, currency, 1, (grand_total - ${SHIPPING}) / 2.0, (grand_total - ${SHIPPING}) / 2.38
    from made cross join generate_series(1, 2) line`);
  });
}

const TEMPLATES = 20;
const SHIPPING = 490;

/** What an order holds; the products of its lines are made up, because lists do not show them. */
function templates() {
  return Array.from({ length: TEMPLATES }, (_, index) => {
    const currency = CURRENCIES[index % CURRENCIES.length]!;
    const content = contentWorth(1000 + 137 * index, currency);
    const { grandTotal, totalBeforeTax, totalTax } = content;
    return { currency, content, grandTotal, totalBeforeTax, totalTax, net: netRevenue(content) };
  });
}

function contentWorth(price: number, currency: string): Content {
  const taxClass = { taxClassId: NOWHERE, name: { en_GB: 'standard' }, rate: 1900 };
  const total = 2 * price + SHIPPING;
  const totalTax = taxOn(total, 1900, 'GROSS');
  const line: ContentLine = {
    lineItemId: NOWHERE,
    productId: NOWHERE,
    masterId: null,
    productNumber: 'KN-101',
    name: { en_GB: 'Reefline Chef Knife', de_DE: 'Kochmesser Reefline' },
    variation: null,
    essentialFeatures: null,
    quantity: '1',
    orderUnit: { unit: 'piece', priceQuantity: 1, minimum: 1, interval: 1 },
    unitPrice: price,
    quantityPrice: price,
    amount: price,
    unitDeposit: 0,
    unitEcoParticipation: 0,
    deposit: 0,
    ecoParticipation: 0,
    discountShare: 0,
    couponShare: 0,
    taxClass,
    weight: null,
    tiers: [],
    reference: null,
    image: null,
    energyLabel: null,
    dataSheet: null,
  };
  return {
    currency,
    taxType: 'GROSS',
    lines: [line, { ...line, lineItemId: NOWHERE.replace(/0$/, '1') }],
    subTotal: 2 * price,
    basketDiscount: 0,
    coupon: null,
    shippingPrice: SHIPPING,
    shipping: {
      shippingMethodId: NOWHERE,
      name: { en_GB: 'Parcel' },
      price: SHIPPING,
      taxes: [{ taxClass, tax: taxOn(SHIPPING, 1900, 'GROSS') }],
    },
    payment: {
      method: {
        paymentMethodId: NOWHERE,
        name: { en_GB: 'Invoice' },
        providerName: null,
        additionalData: null,
      },
      name: null,
      transactionId: null,
      status: null,
      price: 0,
      taxes: [{ taxClass, tax: 0 }],
    },
    serviceTaxClass: taxClass,
    offers: [],
    taxes: [{ rate: 1900, amount: total, tax: totalTax }],
    totalTax,
    totalBeforeTax: total - totalTax,
    grandTotal: total,
  };
}

export async function measureOrders(
  origin: string,
  shops: OrderShops,
  { calls }: OrderScale,
): Promise<Verdict[]> {
  const client = openClient(origin, shops.token);
  try {
    const verdicts: Verdict[] = [];
    for (const [name, search] of listings())
      verdicts.push(await compared(client, shops, calls, name, search));
    return [...verdicts, ...(await summed(client, shops, calls))];
  } finally {
    client.close();
  }
}

type Search = (shop: ShopFacts) => string;

function listings(): [name: string, search: Search][] {
  const before = ({ end }: ShopFacts, days: number) => new Date(end.getTime() - days * DAY).toISOString();
  return [
    ['first page', () => ''],
    ['page in the middle', ({ orders }) => `&page=${Math.ceil(orders / 100)}`],
    ['last page', ({ orders }) => `&page=${Math.ceil(orders / 50)}`],
    ...STATE_FILTERS.flatMap((state) =>
      [true, false].map((is): [string, Search] => [`${state}=${is}`, () => `&${state}=${is}`]),
    ),
    ['customerId', ({ customerId }) => `&customerId=${customerId}`],
    ['productId', ({ productId }) => `&productId=${productId}`],
    ['currency', () => '&currency=GBP'],
    ['updatedFrom, 7 days', (shop) => `&updatedFrom=${before(shop, 7)}`],
    [
      'createdAfter and createdBefore',
      (shop) => `&createdAfter=${before(shop, 400.3)}&createdBefore=${before(shop, 100.7)}`,
    ],
    ['lastUpdated', () => '&lastUpdated=true'],
  ];
}

/** How many times its p50 in the small shop a call takes in the large one. */
async function compared(
  client: Client,
  { small, large }: OrderShops,
  calls: number,
  name: string,
  search: Search,
): Promise<Verdict> {
  const times = { small: [] as number[], large: [] as number[] };
  for (let index = -10; index < calls; index++) {
    for (const [size, shop] of [
      ['small', small],
      ['large', large],
    ] as const) {
      const path = `${shop.root}/orders?resultsPerPage=50${search(shop)}`;
      const time = await client.time({ method: 'GET', path });
      if (index >= 0) times[size].push(time);
    }
  }
  const [few, many] = [percentile(times.small, 0.5), percentile(times.large, 0.5)];
  return {
    name: `GET orders, ${name}: p50 ${few.toFixed(2)} -> ${many.toFixed(2)} ms, times`,
    value: round(many / few),
    goal: 1.5,
    ok: many / few < 1.5,
  };
}

async function summed(client: Client, { large }: OrderShops, calls: number): Promise<Verdict[]> {
  const { root, end, orders, bestsellerId } = large;
  const year = `createdAfter=${new Date(end.getTime() - 365 * DAY).toISOString()}&createdBefore=${end.toISOString()}`;
  const kinds = [
    ['of a year', year],
    ['of a year, of one product', `${year}&productId=${bestsellerId}`],
  ] as const;
  const verdicts: Verdict[] = [];
  for (const [name, search] of kinds) {
    const times: number[] = [];
    for (let index = -10; index < calls; index++) {
      const time = await client.time({ method: 'GET', path: `${root}/sales?${search}` });
      if (index >= 0) times.push(time);
    }
    const p95 = percentile(times, 0.95);
    verdicts.push({
      name: `GET sales ${name} with ${orders / 2} orders, p95 ms`,
      value: round(p95),
      goal: 300,
      ok: p95 < 300,
    });
  }
  return verdicts;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
