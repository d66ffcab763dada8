import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { givenOtherShop, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';

let service: Service;
let merchant: Merchant;
beforeAll(async () => {
  service = await startDemo();
  await givenOtherShop(service);
  merchant = await givenMerchant(service, 'catalogue');
});
afterAll(() => service.close());

const attributesOf = async (productTypeId: string, locale: string) =>
  (
    await service.call('GET', `/DemoShop/producttypes/${productTypeId}?locale=${locale}`, {
      token: 'demo-all',
    })
  ).body.attributes;

test('a type is made, gets an attribute with values in two languages, and loses one again', async () => {
  const empty = await merchant.post('/product-types', { name: ' ' });
  expect(empty.status).toBe(400);
  expect(empty.text).toContain('Name must not be empty.');
  const made = await merchant.post('/product-types', { name: 'Shirt' });
  const path = made.location!.replace('/admin/shops/DemoShop', '');
  const productTypeId = path.split('/').at(-1)!;
  await merchant.post(`${path}/attributes`, { name: 'Colour', values: 'red\r\n\r\nblue\nred' });

  const { text } = await merchant.get(path);
  const version = /name="version" value="([^"]+)"/.exec(text)![1]!;
  const fields = {
    version,
    'visible.0': 'yes',
    'label.0-0.en_GB': 'red',
    'label.0-0.de_DE': 'rot',
    'label.0-1.en_GB': 'navy',
    'new.0': 'green',
  };
  expect((await merchant.post(path, fields)).status).toBe(303);
  expect(await attributesOf(productTypeId, 'de_DE')).toMatchObject([
    {
      name: 'Colour',
      visible: true,
      values: [{ value: 'red', name: 'rot' }, { value: 'blue' }, { value: 'green' }],
    },
  ]);
  expect((await attributesOf(productTypeId, 'en_GB'))[0].values[1]).toEqual({ value: 'blue', name: 'navy' });
  // Somebody else has changed it since.
  const late = await merchant.post(path, { ...fields, 'label.0-0.de_DE': 'rosa' });
  expect(late.status).toBe(409);
  expect(late.text).toContain('value="rosa"');

  await merchant.post(`${path}/remove`, { attribute: 'Colour', value: 'blue' });
  expect(
    (await attributesOf(productTypeId, 'en_GB'))[0].values.map(({ value }: { value: string }) => value),
  ).toEqual(['red', 'green']);

  const neighbour = await givenMerchant(service, 'owner', 'OtherShop');
  expect((await neighbour.get(path)).status).toBe(404);
  const accountant = await givenMerchant(service, 'accountant');
  expect((await accountant.post(`${path}/remove`, { attribute: 'Colour' })).status).toBe(403);
  expect((await accountant.get(path)).text).not.toContain('/remove"');
});
