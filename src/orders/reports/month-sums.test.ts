import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ADA,
  changeSettings,
  DAY,
  done,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  type Shop,
} from '../../../test/carts.ts';
import { halfOf, SEED } from '../../../test/seed.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { reportSums } from './counting.ts';
import {
  countDay,
  DIMENSIONS,
  findStaleDays,
  sumDays,
  type DayPart,
  type ReportDimension,
} from './day-sums.ts';
import { findChangedMonths, findSummedMonths, sumMonth } from './month-sums.ts';
import { daysOf, wholeMonthsOf, type ReportPeriod } from './period.ts';
import { findBreakdown } from './queries.ts';

/** Reports are read from sums of months and days: they must say what looking at every order says. */

const FROM = Date.UTC(2026, 4, 20);
const DAYS = 175;
const NOW = new Date(FROM + DAYS * DAY);
const ALL = { from: '2026-05-20', to: '2026-11-11' };
const ORDERS = 60;
const CURRENCIES = ['EUR', 'GBP'];

let service: Service;
let shop: Shop;
let orders: string[];

function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const random = numbers(SEED);

beforeAll(async () => {
  service = await startService();
  service.setClock(new Date(FROM));
  shop = await givenSmallShop(service);
  await changeSettings(shop, {
    currencies: { default: 'EUR', items: CURRENCIES, rates: { GBP: 0.85 } },
    taxClasses: [
      { key: 'standard', name: { en_GB: 'Standard' }, default: true, rates: { DE: 19 } },
      { key: 'reduced', name: { en_GB: 'Reduced' }, rates: { DE: 7 } },
    ],
  });
  const products = [
    await givenProduct(shop, { price: 333, taxClass: 'standard' }),
    await givenProduct(shop, { price: 1999, taxClass: 'reduced' }),
    await givenProduct(shop, { price: 5001 }),
  ];
  const moments = Array.from({ length: ORDERS }, () => FROM + random(DAYS * DAY)).toSorted((a, b) => a - b);
  orders = [];
  for (const moment of moments) {
    service.setClock(new Date(moment));
    const quantities = Object.fromEntries(
      products.filter(() => random(2) === 0).map((id) => [id, 1 + random(3)]),
    );
    const cart = await givenFullCart(
      shop,
      { [products[random(3)]!]: 1, ...quantities },
      {
        currency: CURRENCIES[random(2)],
        address: { emailAddress: `customer-${random(20)}@mail.example` },
      },
    );
    orders.push((await done(cart, 'POST', '/order')).orderId);
  }
  service.setClock(NOW);
});
afterAll(() => service.close());

type Sums = Record<string, string>;

/** Exact decimals with the same number of digits, so that equal ones are equal texts. */
const exact = (decimal: string | number) => {
  const [whole, fraction = ''] = String(decimal).split('.') as [string, string?];
  return BigInt(whole + fraction.padEnd(12, '0'));
};

function summed(
  parts: readonly { key: string; orders: number; quantity: string; gross: string; net: string }[],
): Sums {
  const sums = new Map<string, bigint[]>();
  for (const { key, orders: count, quantity, gross, net } of parts) {
    const known = sums.get(key) ?? [0n, 0n, 0n, 0n];
    sums.set(
      key,
      [count, quantity, gross, net].map((value, index) => known[index]! + exact(value)),
    );
  }
  return Object.fromEntries(
    [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, values]) => [key, values.join(' ')]),
  );
}

const report = async (period: ReportPeriod, dimension: ReportDimension, currency: string): Promise<Sums> => {
  const { parts, uncounted } = await findBreakdown(service.db, shop.shopId, { period, dimension, currency });
  expect(uncounted).toBe(0);
  return summed(parts);
};

/** Of all days, dimensions and currencies. */
const countOrders = () => sumDays(service.db, shop.shopId, daysOf(ALL));

const fromOrders = (
  parts: readonly DayPart[],
  { from, to }: ReportPeriod,
  dimension: ReportDimension,
  currency: string,
) =>
  summed(
    parts.filter(
      (part) =>
        part.day >= from && part.day <= to && part.dimension === dimension && part.currency === currency,
    ),
  );

const dayAt = (index: number) => new Date(FROM + index * DAY).toISOString().slice(0, 10);

function randomPeriod(): ReportPeriod {
  const [from, to] = [random(DAYS), random(DAYS)].toSorted((a, b) => a - b) as [number, number];
  return { from: dayAt(from), to: dayAt(to) };
}

async function expectRight(what: string): Promise<void> {
  const parts = await countOrders();
  for (const period of [ALL, randomPeriod(), randomPeriod(), randomPeriod()]) {
    const [dimension, currency] = [DIMENSIONS[random(DIMENSIONS.length)]!, CURRENCIES[random(2)]!];
    const asked = { what, period, dimension, currency };
    expect({ ...asked, sums: await report(period, dimension, currency) }).toEqual({
      ...asked,
      sums: fromOrders(parts, period, dimension, currency),
    });
  }
}

const countRandomDay = async () => {
  const stale = await findStaleDays(service.db, shop.shopId, ALL, 1_000);
  const { day } = stale[random(stale.length)] ?? { day: dayAt(random(DAYS)) };
  await service.db.transaction((tx) => countDay(tx, shop.shopId, day));
  return day;
};

const countEverything = async () => {
  await service.db.run(sql`update report_run set due_at = '-infinity'`);
  while ((await reportSums.run(service.db, 500)) === 500);
};

const CHANGES: Record<string, () => Promise<void>> = {
  'an order is cancelled': async () => {
    const [orderId] = orders.splice(random(orders.length), 1);
    const { status } = await service.call('POST', `/manage/shops/${shop.shopId}/orders/${orderId}/cancel`, {
      token: shop.token,
      body: {},
    });
    expect(status).toBe(200);
  },
  'an order is sent elsewhere': async () => {
    const { status } = await service.call(
      'PATCH',
      `/${shop.shopId}/orders/${orders[random(orders.length)]}`,
      {
        token: shop.token,
        body: [
          { op: 'add', path: '/shippingAddress', value: { ...ADA, country: ['AT', 'DE', 'FR'][random(3)] } },
        ],
      },
    );
    expect(status).toBe(200);
  },
  'a day is counted': async () => {
    await countRandomDay();
  },
  'a day is counted by the previous version, which knows no months': async () => {
    const revisions = await service.db.many<{ day: string; revision: number }>(sql`
      select day::text as day, revision from report_state where shop_id = ${shop.shopId}`);
    const counted = await countRandomDay();
    const before = revisions.find(({ day }) => day === counted)?.revision ?? 0;
    await service.db.run(sql`
      update report_state set revision = ${before} where shop_id = ${shop.shopId} and day = ${counted}::date`);
  },
  'a month is summed': async () => {
    const months = wholeMonthsOf(ALL);
    await service.db.transaction((tx) => sumMonth(tx, shop.shopId, months[random(months.length)]!));
  },
  'everything is counted': countEverything,
};

test(`what is read from months and days is what the orders say (seed ${SEED})`, async () => {
  const kinds = Object.keys(CHANGES);
  await expectRight('nothing is counted');
  for (let round = 1; round <= halfOf(40); round++) {
    const kind = round % 10 === 0 ? 'everything is counted' : kinds[random(kinds.length)]!;
    await CHANGES[kind]!();
    await expectRight(`${round}: ${kind}`);
  }
  await countEverything();
  expect(await findSummedMonths(service.db, shop.shopId, wholeMonthsOf(ALL))).not.toEqual([]);
});

test('whole months that have ended are read from their sums, until a day of them changes', async () => {
  const { db } = service;
  const whole = wholeMonthsOf(ALL);
  expect(whole).toEqual(['2026-06-01', '2026-07-01', '2026-08-01', '2026-09-01', '2026-10-01']);
  await countEverything();
  expect(await findSummedMonths(db, shop.shopId, whole)).toEqual(whole);
  expect(await findChangedMonths(db, shop.shopId, 100)).toEqual([]);
  // A sum that is wrong on purpose shows which one is read.
  const right = await report(ALL, 'country', 'EUR');
  await db.run(sql`update report_month set orders = orders + 1000 where month = '2026-08-01'`);
  const wrong = await report(ALL, 'country', 'EUR');
  expect(wrong).not.toEqual(right);
  const partOfIt = { from: '2026-08-02', to: '2026-08-31' };
  expect(await report(partOfIt, 'country', 'EUR')).toEqual(
    fromOrders(await countOrders(), partOfIt, 'country', 'EUR'),
  );
  await db.run(sql`
    update report_state set revision = revision + 1 where shop_id = ${shop.shopId} and day = (
      select min(day) from report_state where shop_id = ${shop.shopId} and day >= '2026-08-01')`);
  expect(await findSummedMonths(db, shop.shopId, whole)).toEqual(
    whole.filter((month) => month !== '2026-08-01'),
  );
  expect(await report(ALL, 'country', 'EUR')).toEqual(right);
  await countEverything();
  expect(await findSummedMonths(db, shop.shopId, whole)).toEqual(whole);
  expect(await report(ALL, 'country', 'EUR')).toEqual(right);
});

test('the months of another shop are not read', async () => {
  const other = await givenSmallShop(service);
  expect(await findSummedMonths(service.db, other.shopId, wholeMonthsOf(ALL))).toEqual([]);
  const asked = { period: ALL, dimension: 'country', currency: 'EUR' } as const;
  expect(await findBreakdown(service.db, other.shopId, asked)).toEqual({ parts: [], uncounted: 0 });
});
