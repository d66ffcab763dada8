import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { importProducts } from '../src/catalogue/products/import.ts';
import { sql, type Sql } from '../src/db/sql.ts';
import { givenSmallShop, NOW, type Shop } from './carts.ts';
import { startService, type Answer, type Service } from './service.ts';
import { PNG, sendImage } from './upload.ts';

/** Which events each change leaves, and that lists that are filtered by date lose none of them. */

let service: Service;
let shop: Shop;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

beforeEach(async () => {
  service.setClock(NOW);
  shop = await givenSmallShop(service);
});

const add = (place: string, value: unknown) => ({ op: 'add', path: place, value });
const replace = (place: string, value: unknown) => ({ op: 'replace', path: place, value });

async function call(method: string, place: string, body?: unknown): Promise<Answer> {
  const { shopId, token } = shop;
  const prefix = place.startsWith('/manage') ? `/manage/shops/${shopId}` : `/${shopId}`;
  return service.call(method, `${prefix}${place.replace(/^\/manage/, '')}`, { token, body });
}

async function well(method: string, place: string, body?: unknown): Promise<Answer['body']> {
  const answer = await call(method, place, body);
  expect({ status: answer.status, message: answer.body?.message }).toEqual({
    status: expect.toBeOneOf([200, 201, 204]),
    message: undefined,
  });
  return answer.body;
}

type Said = [type: string, resourceId: string | null, data: Record<string, unknown>];

interface Item {
  eventType: string;
  resourceId: string | null;
  data: Record<string, unknown>;
  appId: string | null;
}

async function eventsBehind(position: number): Promise<{ items: Item[]; next: number }> {
  return well('GET', `/manage/events?limit=1000&after=${position}`);
}

/** The events that the work leaves, in their order. */
async function eventsOf(work: () => Promise<unknown>): Promise<Said[]> {
  let position = 0;
  for (let page = await eventsBehind(0); page.items.length > 0; page = await eventsBehind(page.next)) {
    position = page.next;
  }
  await work();
  const { items } = await eventsBehind(position);
  return items.map(({ eventType, resourceId, data }) => [eventType, resourceId, data]);
}

const product = async (facts: object = {}): Promise<string> =>
  (await well('POST', '/products', { name: 'Tea', visible: true, price: 10, ...facts })).productId;

describe('products', () => {
  test('creating and deleting, also with variations', async () => {
    let id = '';
    expect(await eventsOf(async () => (id = await product()))).toEqual([['PRODUCT_CREATE', id, {}]]);
    const created = await eventsOf(() =>
      well('POST', `/products/${id}/variations`, {
        productType: 'Default',
        variationAttributes: [{ name: 'Size', values: [{ value: 'S' }, { value: 'L' }] }],
      }),
    );
    const [first, second] = created.filter(([type]) => type === 'PRODUCT_CREATE').map((said) => said[1]);
    expect(created).toEqual([
      ['PRODUCT_UPDATE', id, { changed: ['productVariationType', 'producttype', 'variationAttributes'] }],
      ['PRODUCT_CREATE', first, {}],
      ['PRODUCT_CREATE', second, {}],
    ]);
    const more = await eventsOf(() =>
      well('POST', `/products/${id}/variations`, {
        productType: 'Default',
        variationAttributes: [
          { name: 'Colour', defaultForExistingProducts: 'red', values: [{ value: 'red' }] },
        ],
      }),
    );
    expect(more).toEqual([
      ['PRODUCT_UPDATE', id, { changed: ['variationAttributes'] }],
      ['PRODUCT_UPDATE', first, { changed: ['productVariationSelection'] }],
      ['PRODUCT_UPDATE', second, { changed: ['productVariationSelection'] }],
    ]);
    expect(await eventsOf(() => well('DELETE', `/products/${id}`))).toEqual([
      ['PRODUCT_DELETE', first, {}],
      ['PRODUCT_DELETE', second, {}],
      ['PRODUCT_DELETE', id, {}],
    ]);
  });

  const PATCHES: [string, object[], [string, Record<string, unknown>][]][] = [
    ['a name', [add('/name', 'Coffee')], [['PRODUCT_UPDATE', { changed: ['name'] }]]],
    ['the name that it has', [add('/name', 'Tea')], []],
    [
      'several fields',
      [add('/visible', false), add('/priceInfo/price/amount', 9), add('/ean', '401')],
      [['PRODUCT_UPDATE', { changed: ['visible', 'price', 'ean'] }]],
    ],
    ['the stock alone', [replace('/stocklevel', 9)], [['PRODUCT_UPDATE', { changed: ['stocklevel'] }]]],
    [
      'a stock at the level that warns',
      [replace('/stocklevel', 2)],
      [
        ['PRODUCT_UPDATE', { changed: ['stocklevel'] }],
        ['STOCK_LOW', { stocklevel: 2, minStocklevel: 2 }],
      ],
    ],
    [
      'nothing left, and another field',
      [add('/stocklevel', -10), add('/upc', '1')],
      [
        ['PRODUCT_UPDATE', { changed: ['stocklevel', 'upc'] }],
        ['STOCK_LOW', { stocklevel: 0, minStocklevel: 2 }],
        ['STOCK_OUT', { stocklevel: 0 }],
      ],
    ],
    ['a refusal', [add('/name', 'Coffee'), add('/colour', 'red')], []],
  ];

  test.each(PATCHES)('PATCH: %s', async (_name, patch, expected) => {
    const id = await product({ stocklevel: 10 });
    await well('PATCH', `/products/${id}`, [add('/minStocklevel', 2)]);
    const said = await eventsOf(() => call('PATCH', `/products/${id}`, patch));
    expect(said).toEqual(expected.map(([type, data]) => [type, id, data]));
  });

  test('a stock that is low already says so once', async () => {
    const id = await product({ stocklevel: 1 });
    await well('PATCH', `/products/${id}`, [add('/minStocklevel', 2)]);
    const said = await eventsOf(async () => {
      await well('PATCH', `/products/${id}`, [replace('/stocklevel', 0)]);
      await well('PATCH', `/products/${id}`, [replace('/stocklevel', -1)]);
      await well('PATCH', `/products/${id}`, [replace('/stocklevel', 5)]);
    });
    expect(said.map(([type]) => type)).toEqual([
      'PRODUCT_UPDATE',
      'STOCK_OUT',
      'PRODUCT_UPDATE',
      'PRODUCT_UPDATE',
    ]);
  });

  test('images, attributes, categories and what is sold along', async () => {
    const id = await product();
    const other = await product();
    const { shopId, token } = shop;
    const [root] = await well('GET', '/categories');
    const rootId = root.categoryId;
    const image = (name: string) => () =>
      sendImage(service, `/${shopId}/products/${id}/slideshow`, name, PNG, { token });
    const attribute = [add('/', { key: 'Origin', displayValue: 'Assam' })];
    const assign = (method: string) => async () => {
      const form = `categoryId=${rootId}&productId=${id}`;
      const answer = await service.call(
        method,
        `/${shopId}/product-category-assignments${method === 'DELETE' ? `?${form}` : ''}`,
        method === 'DELETE'
          ? { token }
          : { token, body: form, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      );
      expect(answer.status).toBe(204);
    };
    const steps: [string[] | null, () => Promise<unknown>][] = [
      [['slideshow', 'productImage'], image('one.png')],
      [['slideshow'], image('two.png')],
      [null, image('two.png')],
      [['slideshow'], () => well('PUT', `/products/${id}/slideshow/sequence`, ['two.png', 'one.png'])],
      [null, () => well('PUT', `/products/${id}/slideshow/sequence`, ['two.png', 'one.png'])],
      [['slideshow', 'productImage'], () => well('DELETE', `/products/${id}/slideshow/one.png`)],
      [['customAttributes'], () => well('PATCH', `/products/${id}/custom-attributes`, attribute)],
      [null, () => well('PATCH', `/products/${id}/custom-attributes`, attribute)],
      [['categories'], assign('POST')],
      [null, assign('POST')],
      [['categories'], assign('DELETE')],
      [['crossselling'], () => well('PUT', `/products/${id}/crossselling`, [other])],
      [null, () => well('PUT', `/products/${id}/crossselling`, [other])],
      [
        ['crossselling'],
        () => well('PATCH', `/products/${id}/crossselling`, [{ op: 'remove', path: '/', value: other }]),
      ],
    ];
    for (const [changed, work] of steps) {
      expect(await eventsOf(work)).toEqual(changed ? [['PRODUCT_UPDATE', id, { changed }]] : []);
    }
  });

  test('an import writes an event for each product, and one at its end', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'kontor-events-'));
    const file = path.join(folder, 'products.csv');
    const importing = async (...lines: string[]) => {
      await writeFile(file, ['Alias;Name/en;StockLevel;SuperProduct', ...lines].join('\n'));
      return eventsOf(() => importProducts(service.db, { shopId: shop.shopId, file, visible: true }));
    };
    const numberOf = async (number: string) =>
      (await service.db.one<{ id: string }>(sql`
        select upper(product_id::text) as id from product
        where shop_id = ${shop.shopId} and product_number = ${number}`))!.id;

    const first = await importing('T1;Tea;5;', 'T2;Green tea;;', 'T2-S;Small;3;T2', ';Nameless;;');
    expect(first).toEqual([
      ['PRODUCT_CREATE', await numberOf('T1'), {}],
      ['PRODUCT_CREATE', await numberOf('T2'), {}],
      ['PRODUCT_CREATE', await numberOf('T2-S'), {}],
      ['PRODUCT_UPDATE', await numberOf('T2'), { changed: ['productVariationType', 'variationAttributes'] }],
      ['IMPORT_FINISHED', null, { created: 3, changed: 0, unchanged: 0, refused: 1 }],
    ]);
    const second = await importing('T1;Black tea;0;', 'T2;Green tea;;', 'T2-S;Small;2;T2');
    expect(second).toEqual([
      ['PRODUCT_UPDATE', await numberOf('T1'), { changed: ['stocklevel', 'name'] }],
      ['STOCK_OUT', await numberOf('T1'), { stocklevel: 0 }],
      ['PRODUCT_UPDATE', await numberOf('T2-S'), { changed: ['stocklevel'] }],
      ['IMPORT_FINISHED', null, { created: 0, changed: 2, unchanged: 1, refused: 0 }],
    ]);
    await rm(folder, { recursive: true });
  });

  test('the app that caused it is named', async () => {
    await product();
    const row = await service.db.one<{ appId: string }>(sql`
      select upper(app_id::text) as "appId" from token where shop_id = ${shop.shopId}`);
    const { items } = await eventsBehind(0);
    expect(items.at(-1)).toMatchObject({ eventType: 'PRODUCT_CREATE', appId: row!.appId });
  });
});

describe('who polls by date loses nothing', () => {
  /** Runs `late`, which waits for a row from 10:00:00 on, and `early`, which is committed five seconds later. */
  async function interleaved(lock: Sql, late: () => Promise<unknown>, early: () => Promise<unknown>) {
    let seen: unknown;
    let waiting: Promise<unknown> | undefined;
    await service.db.transaction(async (tx) => {
      await tx.run(lock);
      service.setClock(new Date('2026-11-16T10:00:00Z'));
      waiting = late();
      await expect
        .poll(async () => {
          const row = await service.db.one<{ count: number }>(sql`
            select count(*) as count from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`);
          return row!.count;
        })
        .toBe(1);
      service.setClock(new Date('2026-11-16T10:00:05Z'));
      seen = await early();
    });
    await waiting;
    return seen;
  }

  test.each([
    ['attributes', add('/name', 'Coffee')],
    ['stocklevel', replace('/stocklevel', 7)],
  ])('products/updated/%s', async (property, change) => {
    const [slow, fast] = [await product({ stocklevel: 9 }), await product({ stocklevel: 9 })];
    const updated = async (since: string) => {
      const { items } = await well('GET', `/products/updated/${property}?changedAfter=${since}`);
      return items.map((entry: { item: { productId: string }; lastUpdated: string }) => [
        entry.item.productId,
        entry.lastUpdated,
      ]);
    };
    const seen = await interleaved(
      sql`select from product where shop_id = ${shop.shopId} and product_id = ${slow} for update`,
      () => well('PATCH', `/products/${slow}`, [change]),
      async () => {
        await well('PATCH', `/products/${fast}`, [change]);
        return updated('2026-11-16T00:00:00Z');
      },
    );
    expect(seen).toEqual([[fast, '2026-11-16T10:00:05Z']]);
    expect(await updated('2026-11-16T10:00:05Z')).toEqual([[slow, '2026-11-16T10:00:05Z']]);
  });
});
