import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  changeSettings,
  DAY,
  done,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  NOW,
  reasonOf,
  statementsOf,
  type Shop,
} from '../../../test/carts.ts';
import { startService, type Answer, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';

let service: Service;
let shop: Shop;
let lamp: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  service.setClock(NOW);
  await service.db.run(sql`delete from shop`);
  shop = await givenSmallShop(service);
  lamp = await givenProduct(shop, { price: 999 });
});
afterAll(() => service.close());

const call = (search = '') => service.call('GET', `/${shop.shopId}/sales${search}`, { token: shop.token });
const sales = async (search = '') => {
  const { status, body } = await call(search);
  expect({ status, message: body.message }).toEqual({ status: 200, message: undefined });
  return body;
};
const totals = async (search = '') =>
  (await sales(search)).salesPerCurrency.map((entry: Answer['body']) => Object.values(entry));

async function placed(at: Date | string, quantities = { [lamp]: 1 }, facts: Record<string, unknown> = {}) {
  service.setClock(new Date(at));
  const order = await done(await givenFullCart(shop, quantities, facts), 'POST', '/order');
  service.setClock(NOW);
  return order;
}

// The net of an order, or of a line, is kept to 12 digits behind the cent.
test('one entry per currency, the net not rounded', async () => {
  await placed(new Date(NOW.getTime() - DAY));
  expect(await sales()).toEqual({
    createdAfter: '2026-10-16T08:30:00.000Z',
    createdBefore: '2026-11-15T08:30:00.000Z',
    salesPerCurrency: [
      { currency: 'EUR', totalGrossRevenue: 9.99, totalNetRevenue: 8.39495798319328, totalOrders: 1 },
    ],
  });
  await changeSettings(shop, {
    currencies: { default: 'EUR', items: ['EUR', 'JPY', 'CHF'], rates: { JPY: 100, CHF: 1 } },
  });
  await placed(new Date(NOW.getTime() - DAY), { [lamp]: 3 }, { currency: 'JPY' });
  await placed(new Date(NOW.getTime() - 2 * DAY), { [lamp]: 1 }, { currency: 'CHF' });
  await placed(new Date(NOW.getTime() - 3 * DAY), { [lamp]: 2 });
  expect(await totals()).toEqual([
    ['CHF', 9.99, 8.39495798319328, 1],
    ['EUR', 29.97, 25.18487394957983, 2],
    ['JPY', 2997, 2518.487394957983, 1],
  ]);
});

test('30 days when nothing or one end is given, a year at most', async () => {
  for (const days of [10, 29.9, 30.1, 59.9, 400]) await placed(new Date(NOW.getTime() - days * DAY));
  const span = async (search: string) => {
    const { createdAfter, createdBefore, salesPerCurrency } = await sales(search);
    return [createdAfter, createdBefore, salesPerCurrency[0]?.totalOrders ?? 0];
  };
  expect(await span('')).toEqual(['2026-10-16T08:30:00.000Z', '2026-11-15T08:30:00.000Z', 2]);
  expect(await span('?createdBefore=2026-10-16T08:30:00')).toEqual([
    '2026-09-16T08:30:00.000Z',
    '2026-10-16T08:30:00.000Z',
    2,
  ]);
  expect(await span('?createdAfter=2026-09-16')).toEqual([
    '2026-09-16T00:00:00.000Z',
    '2026-10-16T00:00:00.000Z',
    1,
  ]);
  expect(await span('?createdAfter=2025-11-15&createdBefore=2026-11-15')).toEqual([
    '2025-11-15T00:00:00.000Z',
    '2026-11-15T00:00:00.000Z',
    4,
  ]);
  expect(await totals('?createdAfter=2026-11-15&createdBefore=2026-11-01')).toEqual([]);
  expect(await reasonOf(call('?createdAfter=2025-11-15&createdBefore=2026-11-15T00:00:00.001Z'))).toEqual([
    400,
    'createdAfter and createdBefore must not be more than a year apart',
  ]);
  for (const name of ['createdAfter', 'createdBefore']) {
    for (const value of ['today', '2026-13-01', '', '20261115']) {
      expect(await reasonOf(call(`?${name}=${value}`))).toEqual([
        400,
        `Get sales failed:\n\tvalidation error WRONG_FORMAT on field ${name}`,
      ]);
    }
  }
});

test('the ends of the time do not count, and days are cut where it begins and ends', async () => {
  for (const at of [
    '2026-11-01T00:00:00Z',
    '2026-11-01T12:00:00Z',
    '2026-11-02T00:00:00Z',
    '2026-11-03T23:59:59.999Z',
    '2026-11-04T00:00:00Z',
    '2026-11-04T12:00:00Z',
  ]) {
    await placed(at);
  }
  for (const [after, before, count] of [
    ['2026-11-01', '2026-11-05', 5],
    ['2026-10-31', '2026-11-05', 6],
    ['2026-11-01', '2026-11-04', 3],
    ['2026-11-01T12:00:00Z', '2026-11-04T12:00:00Z', 3],
    ['2026-11-01T11:59:59Z', '2026-11-04T12:00:01Z', 5],
    ['2026-11-01T11:00:00Z', '2026-11-01T13:00:00Z', 1],
    ['2026-11-01T23:00:00Z', '2026-11-02T01:00:00Z', 1],
    ['2026-11-04', '2026-11-04', 0],
  ] as const) {
    const [entry] = await totals(`?createdAfter=${after}&createdBefore=${before}`);
    expect([after, before, entry?.at(-1) ?? 0]).toEqual([after, before, count]);
    const [ofProduct] = await totals(`?createdAfter=${after}&createdBefore=${before}&productId=${lamp}`);
    expect([after, before, ofProduct?.at(-1) ?? 0]).toEqual([after, before, count]);
  }
});

test('rejected orders do not count until the rejection is taken back', async () => {
  const { orderId } = await placed(new Date(NOW.getTime() - 5 * DAY));
  await placed(new Date(NOW.getTime() - 3600_000));
  const patch = (op: string) =>
    service.call('PATCH', `/${shop.shopId}/orders/${orderId}`, {
      token: shop.token,
      body: [{ op, path: '/rejectedOn', value: '2026-11-15' }],
    });
  await patch('add');
  expect(await totals()).toEqual([['EUR', 9.99, 8.39495798319328, 1]]);
  expect(await totals(`?productId=${lamp}`)).toEqual([['EUR', 9.99, 8.39495798319328, 1, 1]]);
  await patch('remove');
  expect(await totals()).toEqual([['EUR', 19.98, 16.78991596638656, 2]]);
});

test('units are counted for a product, with what its own lines came to', async () => {
  const book = await givenProduct(shop, { price: 500 });
  await placed(new Date(NOW.getTime() - DAY), { [lamp]: 3, [book]: 2 });
  await placed(new Date(NOW.getTime() - 2 * DAY), { [book]: 1 });
  expect((await sales(`?productId=${book.toLowerCase()}`)).salesPerCurrency).toEqual([
    {
      currency: 'EUR',
      totalGrossRevenue: 15,
      totalNetRevenue: 12.60504201680673,
      unitsSold: 3,
      totalOrders: 2,
    },
  ]);
  expect(await totals()).toEqual([['EUR', 44.97, 37.78991596638656, 2]]);
  for (const id of [newId(NOW), 'nonsense', '']) expect(await totals(`?productId=${id}`)).toEqual([]);
});

test('are read with one statement', async () => {
  await placed(new Date(NOW.getTime() - DAY));
  for (const search of ['', `?productId=${lamp}`]) {
    expect(await statementsOf(() => sales(search))).toHaveLength(1);
  }
});

test('another shop has sold nothing of it', async () => {
  await placed(new Date(NOW.getTime() - DAY));
  const other = await givenSmallShop(service);
  for (const search of ['', `?productId=${lamp}`]) {
    const { body } = await service.call('GET', `/${other.shopId}/sales${search}`, { token: other.token });
    expect(body.salesPerCurrency).toEqual([]);
  }
});
