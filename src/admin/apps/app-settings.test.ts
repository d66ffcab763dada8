import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { fingerprint, givenOtherShop, startDemo } from '../../../test/demo.ts';
import { givenInstalledApp, LABELS, startFakeApp, type FakeApp } from '../../../test/fake-app.ts';
import type { Service } from '../../../test/service.ts';
import { insertToken } from '../../apps/queries.ts';
import { sql } from '../../db/sql.ts';
import { newSecret, secretHash } from '../../kernel/ids.ts';

let service: Service;
let owner: Merchant;
let app: FakeApp;
let appId: string;
let token: string;
beforeAll(async () => {
  service = await startDemo();
  await givenOtherShop(service);
  owner = await givenMerchant(service);
  app = await startFakeApp();
  app.manifest = {
    ...LABELS,
    settings: [
      { name: 'apiKey', kind: 'secret', label: { en: 'API key' }, hint: { en: 'From your carrier.' } },
      {
        name: 'format',
        kind: 'choice',
        label: { en: 'Format' },
        choices: [
          { value: 'a6', label: { en: 'A6', de: 'A6 (hoch)' } },
          { value: 'a4', label: { en: 'A4' } },
        ],
      },
      { name: 'isTest', kind: 'tick', label: { en: 'Test mode' } },
      { name: 'note', kind: 'longText', label: { en: 'Note on the label' } },
      { name: 'sender', kind: 'text', label: { en: 'Sender' } },
    ],
  };
  appId = await givenInstalledApp(owner, app);
  token = newSecret(32);
  await service.db.transaction((tx) =>
    insertToken(tx, 'DemoShop', { tokenHash: secretHash(token), appId, scopes: ['orders_read'] }),
  );
});
afterAll(async () => {
  await app.close();
  await service.close();
});

const path = () => `/apps/${appId}/settings`;
const versionOf = async () => /name="version" value="([^"]+)"/.exec((await owner.get(path())).text)![1]!;
const save = async (fields: Record<string, string>) => {
  const typed = Object.entries(fields).map(([name, value]) => [`setting-${name}`, value]);
  return owner.post(path(), { version: await versionOf(), ...Object.fromEntries(typed) });
};
const read = async (given = token) =>
  (await service.call('GET', '/manage/shops/DemoShop/app/settings', { token: given })).body;

test('what is typed into the fields of an app is what the app reads, and secrets are sealed', async () => {
  expect(await read()).toEqual({ settings: {} });
  const page = await owner.get(path());
  for (const text of ['Settings of Labels', 'API key', 'From your carrier.', 'A6', 'Note on the label']) {
    expect(page.text).toContain(text);
  }
  const saved = await save({
    apiKey: 'sk-4711',
    format: 'a6',
    isTest: 'yes',
    note: 'Mind\nthe gap',
    sender: '',
  });
  expect(saved.location).toBe(`/admin/shops/DemoShop/apps/${appId}`);
  const settings = { apiKey: 'sk-4711', format: 'a6', isTest: true, note: 'Mind\nthe gap' };
  expect(await read()).toEqual({ settings });
  const { headers } = await service.call('GET', '/manage/shops/DemoShop/app/settings', { token });
  expect(headers['cache-control']).toBe('no-store');

  const stored = JSON.stringify(
    await service.db.many(sql`select settings, secrets_sealed from app_manifest`),
  );
  expect(stored).not.toContain('sk-4711');
  const again = await owner.get(path());
  expect([again.text.includes('sk-4711'), again.text.includes('A value is stored.')]).toEqual([false, true]);
  const audit = (await service.call('GET', '/manage/shops/DemoShop/audit', { token: 'demo-all' })).body.items;
  expect(JSON.stringify(audit[0])).not.toContain('sk-4711');
  expect(audit[0]).toMatchObject({ route: '/admin/shops/:shopId/apps/:appId/settings', object: { appId } });

  // A secret that is not typed again stays; what is emptied is gone.
  await save({ apiKey: '', format: 'a4', isTest: '', note: '', sender: 'Kai 7' });
  expect(await read()).toEqual({
    settings: { apiKey: 'sk-4711', format: 'a4', isTest: false, sender: 'Kai 7' },
  });
  await save({ apiKey: '', 'apiKey-remove': 'yes', format: '', sender: '' });
  expect(await read()).toEqual({ settings: { isTest: false } });
});

test('a value that the app does not offer is refused, and so is one that is too long', async () => {
  await save({ format: 'a6' });
  const before = await fingerprint(service);
  const unknown = await save({ format: 'letter', sender: 'typed' });
  expect([unknown.status, unknown.text.includes('Please select one of the values.')]).toEqual([400, true]);
  expect(unknown.text).toContain('value="typed"');
  expect((await save({ sender: 'x'.repeat(1_001) })).status).toBe(413);
  expect((await save({ sender: 'a\0b' })).status).toBe(400);
  expect((await owner.post(path(), { version: 'old', 'setting-format': 'a4' })).status).toBe(409);
  expect(await fingerprint(service)).toEqual(before);
});

test('a field may have a name that every object of JavaScript has', async () => {
  const { manifest } = app;
  const label = { en: 'Builder' };
  app.manifest = { ...LABELS, settings: [{ name: 'constructor', kind: 'secret', label }] };
  await owner.post(`/apps/${appId}/read`);
  const page = (await owner.get(path())).text;
  expect([page.includes('name="setting-constructor"'), page.includes('setting-constructor-remove')]).toEqual([
    true,
    false,
  ]);
  await save({ constructor: 'sk-1' });
  expect(await read()).toEqual({ settings: { constructor: 'sk-1' } });
  app.manifest = { ...LABELS, settings: [{ name: 'constructor', kind: 'text', label }] };
  await owner.post(`/apps/${appId}/read`);
  const [input] = /<input[^>]*name="setting-constructor"[^>]*>/.exec((await owner.get(path())).text)!;
  expect(input).toContain('value=""');
  app.manifest = manifest;
  await owner.post(`/apps/${appId}/read`);
});

test('no other app, role or shop reads or changes them', async () => {
  await save({ apiKey: 'sk-4711' });
  expect(await read('demo-all')).toEqual({ settings: {} });
  expect((await service.call('GET', '/manage/shops/DemoShop/app/settings', {})).status).toBe(401);
  const accountant = await givenMerchant(service, 'accountant');
  expect((await accountant.get(path())).status).toBe(403);
  const neighbour = await givenMerchant(service, 'owner', 'OtherShop');
  expect((await neighbour.get(path())).status).toBe(404);
  app.manifest = { ...LABELS, settings: [{ name: 'format', kind: 'text', label: { en: 'Format' } }] };
  await owner.post(`/apps/${appId}/read`);
  // The field is gone, and its value with it.
  expect(await read()).toEqual({ settings: {} });
  app.manifest = LABELS;
  await owner.post(`/apps/${appId}/read`);
  expect((await owner.get(path())).status).toBe(404);
});
