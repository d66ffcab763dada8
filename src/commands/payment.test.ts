import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { changeSettings, givenSmallShop, type Shop } from '../../test/carts.ts';
import { databaseUrl, startService, type Service } from '../../test/service.ts';
import { handlers } from './payment.ts';

let service: Service;
let shop: Shop;

beforeAll(async () => {
  service = await startService();
  shop = await givenSmallShop(service);
  await changeSettings(shop, {
    paymentMethods: [
      { key: 'advance', name: 'Advance' },
      { key: 'demo', name: 'Demo', provider: 'demo' },
    ],
  });
});
afterAll(() => service.close());

/** Runs `payment set`, and gives what it printed. */
async function set(method: string, shopId = shop.shopId): Promise<string> {
  const DATABASE_URL = databaseUrl(service.database);
  const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await handlers['payment set']({
      config: { ...service.config, DATABASE_URL },
      arguments: [shopId, method],
      options: { show: true },
    });
    return printed.mock.calls.map(([text]) => String(text)).join('');
  } finally {
    printed.mockRestore();
  }
}

test('the demo payment needs no keys', async () => {
  expect(await set('demo')).toBe('Demo payment needs no keys: demo is ready.\n');
});

test('a method that is not there, and one that no provider handles', async () => {
  await expect(set('card')).rejects.toThrow(
    `The shop ${shop.shopId} has no payment method "card". It has: advance, demo`,
  );
  await expect(set('advance')).rejects.toThrow(
    'No built-in provider handles advance. Name one in the settings',
  );
  await expect(set('demo', 'Nobody')).rejects.toThrow('There is no shop "Nobody".');
});
