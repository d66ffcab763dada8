import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { sql } from '../src/db/sql.ts';
import { applySettings } from '../src/shops/settings/file.ts';
import { givenShop, givenToken } from './builders.ts';
import { startService, type Answer, type Service } from './service.ts';

export const NOW = new Date('2026-11-15T08:30:00Z');

/** A service with one shop, which is made anew before each test. */
export interface ProductShop {
  service: Service;
  token: string;
  /** It may only read products. */
  reader: string;
}

/** What tests of products do in that shop, which has two languages and three currencies. */
export function productTests() {
  const shop = {} as ProductShop;

  beforeAll(async () => {
    shop.service = await startService();
  });
  beforeEach(async () => {
    const { service } = shop;
    await service.db.run(sql`delete from shop`);
    service.setClock(NOW);
    await givenShop(service, 'Harbour');
    await service.db.transaction((tx) =>
      applySettings(tx, 'Harbour', {
        locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] },
        currencies: { default: 'EUR', items: ['EUR', 'GBP', 'JPY'], rates: { GBP: 0.85, JPY: 160 } },
        customerGroups: ['Cafes', 'Staff'],
        shippingMethods: [{ key: 'post', name: 'Post', kind: 'flat', price: 5 }],
      }),
    );
    shop.token = await givenToken(service, 'Harbour');
    shop.reader = await givenToken(service, 'Harbour', ['products_read']);
  });
  afterAll(() => shop.service.close());

  const get = (path: string, options: object = { token: shop.token }) =>
    shop.service.call('GET', `/Harbour/products${path}`, options);
  const post = (body: unknown, query = '') =>
    shop.service.call('POST', `/Harbour/products${query}`, { token: shop.token, body });
  const patch = (id: string, body: unknown, query = '') =>
    shop.service.call('PATCH', `/Harbour/products/${id}${query}`, { token: shop.token, body });

  async function given(facts: object = {}, query = ''): Promise<string> {
    const { status, body } = await post({ name: 'Tide Clock', visible: true, ...facts }, query);
    expect({ status, message: body.message }).toEqual({ status: 201, message: undefined });
    return body.productId;
  }

  async function patched(id: string, changes: unknown[], query = '') {
    const { status, body } = await patch(id, changes, query);
    expect({ status, message: body.message }).toEqual({ status: 200, message: undefined });
    // What was answered is what is read.
    expect((await get(`/${id}${query}`)).body).toEqual(body);
    return body;
  }

  const everything = async () =>
    Promise.all(
      [
        sql`select * from product order by product_id`,
        sql`select * from price_history order by product_id, currency, valid_from`,
        sql`select * from listing order by product_id, locale`,
        sql`select * from listing_size order by category_id, visible`,
        sql`select * from counter order by shop_id, name`,
        sql`select * from cross_selling order by product_id, target_id`,
      ].map((query) => shop.service.db.many(query)),
    );

  /** The status and text of a refusal; on the way it is checked that nothing has changed. */
  async function refusal(call: () => Promise<Answer>): Promise<[status: number, text: string]> {
    const before = await everything();
    const { status, body } = await call();
    expect(await everything()).toEqual(before);
    return [status, body.message.split(', Request: ')[0]];
  }

  return { shop, get, post, patch, given, patched, everything, refusal };
}

export const add = (path: string, value: unknown) => ({ op: 'add', path, value });
export const remove = (path: string) => ({ op: 'remove', path });

export const gross = (amount: number, formatted: string, currency = 'EUR') => ({
  taxType: 'GROSS',
  formatted,
  amount,
  currency,
});
