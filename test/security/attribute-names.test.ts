import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenShop, givenToken } from '../builders.ts';
import { startService, type Service } from '../service.ts';
import { readPage } from '../storefront.ts';

/*
 * Every object of JavaScript has a `constructor`, a `toString` and a `__proto__`. A merchant, or an app, that names an
 * attribute like that made the page of the product fail, because the program took these for values of the attribute.
 */

const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];

let service: Service;
let token: string;

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Harbour');
  token = await givenToken(service, 'Harbour');
});
afterAll(() => service.close());

const call = (method: string, place: string, body?: unknown) =>
  service.call(method, `/Harbour${place}`, { token, body });

async function done(method: string, place: string, body?: unknown) {
  const answer = await call(method, place, body);
  expect({ status: answer.status, message: answer.body?.message }).toEqual({
    status: expect.toBeOneOf([200, 201, 204]),
    message: undefined,
  });
  return answer.body;
}

const given = async (facts: object): Promise<string> =>
  (await done('POST', '/products', { visible: true, price: 5, ...facts })).productId;

test('custom attributes with such names are shown like all others', async () => {
  const productId = await given({ productNumber: 'BOARD', name: 'Board' });
  await done(
    'PATCH',
    `/products/${productId}/custom-attributes`,
    NAMES.map((key) => ({ op: 'add', path: '/', value: { key, displayValue: `value of ${key}` } })),
  );
  const { items } = await done('GET', `/products/${productId}/custom-attributes`);
  expect(
    items.map(({ key, values }: { key: string; values: { displayValue: string }[] }) => [
      key,
      values[0]!.displayValue,
    ]),
  ).toEqual(NAMES.map((key) => [key, `value of ${key}`]));
  const page = await readPage(service, '/Harbour/Products/BOARD');
  expect(page.status).toBe(200);
  for (const name of NAMES) expect(page.lines).toContain(`value of ${name}`);
  expect((await done('GET', `/products?q=value`)).results).toBeGreaterThanOrEqual(0);
  expect((await call('GET', '/products/export')).status).toBe(200);
});

test('attributes of a product type that a product has no value for', async () => {
  const type = await done('POST', '/producttypes', {
    name: 'Odd',
    alias: 'Odd',
    attributes: NAMES.map((name) => ({ name, values: [{ name: 'one' }, { name: 'two' }] })),
  });
  expect(type.attributes.map(({ name }: { name: string }) => name)).toEqual(NAMES);
  const productId = await given({ productNumber: 'ODD', name: 'Odd one' });
  await done('POST', `/products/${productId}/variations`, {
    productType: 'Odd',
    visibleAfterCreation: true,
    variationAttributes: [
      { name: 'Size', defaultForExistingProducts: null, values: [{ value: 'S' }, { value: 'L' }] },
    ],
  });
  const variations = await done('GET', `/products/${productId}/variations`);
  for (const { link } of variations.items) {
    const id = String(link.href).split('/').at(-1)!.split('?')[0]!;
    const { items } = await done('GET', `/products/${id}/custom-attributes`);
    const odd = items.filter(({ key }: { key: string }) => NAMES.includes(key));
    expect(odd.map(({ values }: { values: unknown }) => values)).toEqual(
      NAMES.map(() => [{ value: null, displayValue: '' }]),
    );
    const { productNumber } = await done('GET', `/products/${id}`);
    expect((await readPage(service, `/Harbour/Products/${productNumber}`)).status).toBe(200);
  }
});

test('variations that differ in such attributes are chosen, listed and found', async () => {
  await done('POST', '/producttypes', { name: 'Lantern', alias: 'Lantern', attributes: [] });
  const productId = await given({ productNumber: 'LAMP', name: 'Lamp' });
  await done('POST', `/products/${productId}/variations`, {
    productType: 'Lantern',
    visibleAfterCreation: true,
    variationAttributes: [{ name: 'Colour', defaultForExistingProducts: null, values: [{ value: 'red' }] }],
  });
  // The first variation has no value of the new ones yet, and gets the default.
  await done('POST', `/products/${productId}/variations`, {
    productType: 'Lantern',
    visibleAfterCreation: true,
    variationAttributes: ['__proto__', 'constructor'].map((name) => ({
      name,
      defaultForExistingProducts: 'one',
      values: [{ value: 'one' }, { value: 'two' }],
    })),
  });
  const { items } = await done('GET', `/products/${productId}/variations`);
  const selections = items.map(
    ({ attributeSelection }: { attributeSelection: { name: string; value: string }[] }) =>
      attributeSelection.map(({ name, value }) => `${name}=${value}`).join(),
  );
  expect(selections).toContain('Colour=red,__proto__=one,constructor=one');

  const master = await readPage(service, '/Harbour/Products/LAMP');
  expect(master.status).toBe(200);
  for (const name of ['__proto__', 'constructor']) {
    const [, options] = new RegExp(`>\\s*${name}: <strong>one</strong>([^]*?)</ul>`).exec(master.text)!;
    expect(options!.match(/>(?:one|two)</g)).toEqual(['>one<', '>two<']);
  }
  const incomplete = await readPage(service, '/Harbour/Products/LAMP?Colour=red');
  expect(incomplete.status).toBe(200);
  const whole = await service.app.inject(
    '/shop/Harbour/Products/LAMP?Colour=red&__proto__=one&constructor=one',
  );
  expect([whole.statusCode, String(whole.headers.location)]).toEqual([
    303,
    expect.stringContaining('/Products/'),
  ]);
  for (const path of ['/Harbour/Categories?filter=1', '/Harbour/search?q=lamp&filter=1']) {
    expect((await readPage(service, path)).status).toBe(200);
  }
  const found = await done('POST', '/search/products', { query: 'lamp' });
  expect(found.results).toBe(1);
  expect((await call('GET', '/products/export')).status).toBe(200);
});
