import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenSmallShop, paymentId, type Shop } from '../../../test/carts.ts';
import { createFakeProvider } from '../../../test/fake-provider.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { seal } from '../../platform/sealing.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { loadAccount, loadFields, resealAccounts, saveFields } from './accounts.ts';

let service: Service;
let shop: Shop;
let methodId: string;
const [own, former, other] = [randomBytes(32), randomBytes(32), randomBytes(32)];

beforeAll(async () => {
  service = await startService();
  shop = await givenSmallShop(service, {
    paymentMethods: [
      { key: 'card', name: 'Card', provider: 'demo', capture: 'manual', additionalData: { site: 'A' } },
    ],
  });
  methodId = await paymentId(shop, 'card');
});
afterAll(() => service.close());

const save = (key: Buffer, fields: Record<string, string>) =>
  service.db.transaction((tx) => saveFields(tx, key, shop.shopId, methodId, fields));
const load = (key: Buffer) => loadFields(service.db, key, shop.shopId, methodId);
const reseal = (keys: { own: Buffer; former?: Buffer }) =>
  service.db.transaction((tx) => resealAccounts(tx, shop.shopId, keys));

test('keys are sealed, and only their own key opens them', async () => {
  expect(await load(own)).toEqual({});
  await save(own, { secretKey: 'sk_live_1' });
  expect(await load(own)).toEqual({ secretKey: 'sk_live_1' });
  await expect(load(other)).rejects.toThrow('sealed with another key');
  const row = await service.db.one<{ sealed: Buffer }>(sql`
    select fields_sealed as sealed from payment_account where shop_id = ${shop.shopId}`);
  expect(row!.sealed.includes('sk_live_1')).toBe(false);
  // What was sealed for an app is not taken for an account.
  await service.db.run(sql`
    update payment_account set fields_sealed = ${seal(own, '{"secretKey":"x"}')} where shop_id = ${shop.shopId}`);
  await expect(load(own)).rejects.toThrow('sealed with another key');
});

test('a provider gets them with the settings of the method, and is not called while one is missing', async () => {
  const { provider } = createFakeProvider();
  const [method] = (await shopSettings(service.db, shop.shopId)).paymentMethods;
  const account = () => loadAccount(service.db, own, shop.shopId, method!, provider);
  await save(own, {});
  await expect(account()).rejects.toThrow(
    `secretKey is not set, run: npx kontor payment set ${shop.shopId} card`,
  );
  await save(own, { secretKey: 'sk' });
  expect(await account()).toEqual({
    shopId: shop.shopId,
    appMethod: null,
    fields: { secretKey: 'sk' },
    capture: 'manual',
    settings: { site: 'A' },
  });
});

test('after a restore they are sealed anew, or gone', async () => {
  await save(former, { secretKey: 'sk' });
  expect(await reseal({ own, former })).toBe(0);
  expect(await load(own)).toEqual({ secretKey: 'sk' });
  expect(await reseal({ own })).toBe(0);
  await save(other, { secretKey: 'sk' });
  expect(await reseal({ own, former })).toBe(1);
  expect(await load(own)).toEqual({});
});
