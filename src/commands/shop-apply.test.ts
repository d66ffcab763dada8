import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { givenShop } from '../../test/builders.ts';
import { databaseUrl, startService, type Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../kernel/ids.ts';
import { refreshListing } from '../catalogue/products/listing.ts';
import { runs } from './shop.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Quay');
});
afterAll(() => service.close());

/** Runs `shop apply` with this file, and gives what it printed. */
async function apply(yaml: string): Promise<string[]> {
  const file = path.join(service.config.KONTOR_DATA, 'shop.yaml');
  await writeFile(file, yaml);
  const DATABASE_URL = databaseUrl(service.database);
  const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await runs['shop apply']({
      config: { ...service.config, DATABASE_URL },
      arguments: ['Quay', file],
      options: {},
    });
    return printed.mock.calls.map(([text]) => String(text).trim());
  } finally {
    printed.mockRestore();
  }
}

async function givenProduct(number: string, name: object, prices: object): Promise<void> {
  await service.db.transaction(async (tx) => {
    const productId = newId(tx.now);
    await tx.run(sql`
      insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, prices, facts)
      values ('Quay', ${productId}, ${number}, 'regular', ${tx.now}, 1, true, ${prices}, ${{ name }})`);
    await refreshListing(tx, 'Quay', [productId]);
  });
}

test('makes the lists of products anew when locales or currencies change', async () => {
  await givenProduct('anchor', { en_GB: 'Anchor', de_DE: 'Wurfanker' }, { EUR: 500, GBP: 900 });
  await givenProduct('buoy', { en_GB: 'Buoy', de_DE: 'Boje' }, { EUR: 600, GBP: 100 });
  const numbers = async (query: string) => {
    const { body } = await service.call('GET', `/Quay/products?${query}`);
    expect(body.results).toBe(2);
    return body.items.map(({ productNumber }: { productNumber: string }) => productNumber);
  };
  expect(await numbers('locale=de_DE')).toEqual(['anchor', 'buoy']);
  expect(await numbers('sort=price')).toEqual(['anchor', 'buoy']);

  expect(await apply('locales: { default: en_GB, items: [en_GB, de_DE] }')).toEqual([
    '+ locales.items.de_DE',
    '1 change applied to Quay.',
  ]);
  expect(await numbers('locale=de_DE')).toEqual(['buoy', 'anchor']);
  expect(await numbers('locale=en_GB')).toEqual(['anchor', 'buoy']);

  await apply('currencies: { default: GBP, items: [GBP, EUR], rates: { EUR: 1.2 } }');
  expect(await numbers('sort=price')).toEqual(['buoy', 'anchor']);

  await apply('locales: { default: de_DE, items: [de_DE] }');
  const locales = await service.db.many(sql`select distinct locale from listing where shop_id = 'Quay'`);
  expect(locales).toEqual([{ locale: 'de_DE' }]);
});
