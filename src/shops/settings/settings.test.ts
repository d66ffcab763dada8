import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenShop } from '../../../test/builders.ts';
import { startService, type Service } from '../../../test/service.ts';
import { applySettings } from './file.ts';
import { cachedSettings, settingsSince, shopSettings } from './settings.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Harbour');
});
afterAll(() => service.close());

test('settings for a version come from the cache while it is the current one, and are newer ones after a change', async () => {
  const { db } = service;
  const before = await shopSettings(db, 'Harbour');
  expect(await settingsSince(db, 'Harbour', before.version)).toBe(before);

  // A statement has read this version, and then the settings change.
  const second = await startService({}, service);
  await second.db.transaction((tx) => applySettings(tx, 'Harbour', { slogan: 'From the sea' }));
  await second.close();
  expect(cachedSettings(db, 'Harbour')).toBe(before);
  expect(await settingsSince(db, 'Harbour', before.version)).toBe(before);
  const after = await settingsSince(db, 'Harbour', before.version + 1);
  expect(after).toMatchObject({ version: before.version + 1, slogan: { en_GB: 'From the sea' } });

  // The cache is newer than what an older statement has read: the settings it gets say their version.
  const late = await settingsSince(db, 'Harbour', before.version);
  expect(late.version).toBe(before.version + 1);
});
