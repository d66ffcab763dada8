import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { applySettings } from '../../shops/settings/file.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { IMPORTED, importShop } from '../import-shop.ts';
import { createClient } from './client.ts';
import { epagesSource } from './epages.ts';

interface Item {
  [key: string]: unknown;
  productNumber: string;
  priceInfo: { price?: { amount: number }; taxClass?: { percentage: number } };
}

let service: Service;
let url: string;
let token: string;
let asked: string[];

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
  await givenShop(service, 'Copy');
  await service.db.run(sql`
    update shop set locales = (select locales from shop demo where demo.shop_id = 'DemoShop') where shop_id = 'Copy'`);
  await service.db.transaction((tx) =>
    applySettings(tx, 'Copy', {
      taxClasses: [
        { key: 'normal', name: 'Standard', default: true, defaultDigital: true, rates: { DE: 19 } },
        { key: 'low', name: 'Reduced', rates: { DE: 7 } },
        { key: 'free', name: 'None', rates: { DE: 0 } },
      ],
    }),
  );
  token = await givenToken(service, 'Copy', [
    'products_read',
    'products_write',
    'orders_read',
    'customers_read',
  ]);
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}/rs/shops/DemoShop/`;
});
afterAll(() => service.close());

async function run() {
  const client = createClient({ url, token: 'demo-all', pause: 0 });
  asked = [];
  const counted = {
    ...client,
    get: (path: string) => {
      asked.push(path);
      return client.get(path);
    },
  };
  return importShop({
    db: service.db,
    config: service.config,
    media: openMediaStorage(service.config),
    shopId: 'Copy',
    source: epagesSource(counted),
    only: IMPORTED,
    isCheck: false,
    onProgress: () => {},
  });
}

const of = async (shopId: string, path: string) =>
  (await service.call('GET', `/${shopId}${path}`, { token: shopId === 'Copy' ? token : 'demo-all' })).body;

/** What is the same in both shops. */
const productFacts = ({
  productNumber,
  name,
  visible,
  description,
  shortDescription,
  title,
  manufacturer,
  manufacturerProductNumber,
  stocklevel,
  deliveryWeight,
  productVariationType,
  searchKeywords,
  priceInfo,
}: Item) => ({
  productNumber,
  name,
  visible,
  description,
  shortDescription,
  title,
  manufacturer,
  manufacturerProductNumber,
  stocklevel,
  deliveryWeight,
  productVariationType,
  searchKeywords,
  price: priceInfo.price?.amount,
  tax: priceInfo.taxClass?.percentage,
});

const all = async (shopId: string, list: string) =>
  (await of(shopId, `/${list}${list.includes('?') ? '&' : '?'}resultsPerPage=100`)).items as Item[];

test('a shop that is read by its API has the same products, customers and orders', async () => {
  const report = await run();
  const { product, customer, order } = Object.fromEntries(report.counts);
  const isOf = (created: number) => ({
    created,
    changed: 0,
    unchanged: 0,
    kept: 0,
    refused: 0,
  });
  const before = await all('DemoShop', 'products?includeInvisible=true');
  expect({ lines: report.lines, product }).toEqual({ lines: [], product: isOf(before.length) });
  expect([customer, order]).toEqual([isOf(15), isOf(15)]);

  const byNumber = (products: Item[]) =>
    products.map(productFacts).toSorted((one, other) => one.productNumber.localeCompare(other.productNumber));
  for (const locale of ['en_GB', 'de_DE']) {
    const list = `products?includeInvisible=true&locale=${locale}`;
    expect(byNumber(await all('Copy', list))).toEqual(byNumber(await all('DemoShop', list)));
  }

  const variationsOf = async (shopId: string) =>
    service.db.many(sql`
      select product.product_number as number, product.selection, product.stock::float8 as stock,
        coalesce(product.prices ->> 'EUR', master.prices ->> 'EUR') as price
      from product join product master on master.shop_id = ${shopId} and master.product_id = product.master_id
      where product.shop_id = ${shopId} and product.visible order by product.product_number`);
  expect(await variationsOf('Copy')).toEqual(await variationsOf('DemoShop'));

  const customersOf = async (shopId: string) =>
    (await all(shopId, 'customers')).map(({ customerId: _id, links: _links, ...facts }) => facts);
  expect(await customersOf('Copy')).toEqual(await customersOf('DemoShop'));

  const ordersOf = async (shopId: string) =>
    (await all(shopId, 'orders')).map(
      ({
        orderNumber,
        creationDate,
        currencyId,
        grandTotal,
        totalBeforeTax,
        totalTax,
        paidOn,
        dispatchedOn,
        rejectedOn,
      }) => ({
        orderNumber,
        creationDate,
        currencyId,
        grandTotal,
        totalBeforeTax,
        totalTax,
        paidOn,
        dispatchedOn,
        rejectedOn,
      }),
    );
  expect(await ordersOf('Copy')).toEqual(await ordersOf('DemoShop'));
});

test('a second run changes nothing, and reads no order again', async () => {
  const report = await run();
  const counts = Object.fromEntries(report.counts);
  expect(counts['product']).toMatchObject({ created: 0, changed: 0, refused: 0 });
  expect(counts['customer']).toMatchObject({ created: 0, changed: 0, unchanged: 15 });
  expect(counts['order']).toMatchObject({ created: 0, unchanged: 15 });
  expect(asked.filter((path) => path.startsWith('/orders/'))).toEqual([]);
});

test('a token that is wrong is said so, and never sent elsewhere', async () => {
  const client = createClient({ url, token: 'wrong', pause: 0 });
  await expect(client.get('/customers')).rejects.toThrow('/customers answers 401');
  expect(() => createClient({ url: 'ftp://shop.example', token: 'x' })).toThrow('is no address');
});

test('a page that is no API is said to be none', async () => {
  const page = createClient({ url: url.replace('/rs/shops/', '/shop/'), token: 'demo-all', pause: 0 });
  await expect(page.get('/cart')).rejects.toThrow('answers with something else than JSON');
});
