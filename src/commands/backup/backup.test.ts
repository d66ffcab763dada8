import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../db/sql.ts';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { demoShop, startDemo } from '../../../test/demo.ts';
import type { Shop } from '../../../test/operations.ts';
import { readsOf, type Request } from '../../../test/reads.ts';
import { startService, type Service } from '../../../test/service.ts';
import {
  appearanceOf,
  differences,
  forAnyShop,
  givenBackup,
  readingsOf,
  restored,
  rowsOf,
  type Appearance,
} from '../../../test/shop-copies.ts';
import { SCOPES } from '../../http/scopes.ts';
import { installationKey } from '../../platform/sealing.ts';

/** What the demo shop is after a restore. */

const NOW = new Date('2026-11-16T12:00:00Z');
/** When both shops are looked at: what that leaves in the audit log is the last entry. */
const LATER = new Date('2026-11-16T12:00:01Z');

let service: Service;
let elsewhere: Service;
let shop: Shop;
let requests: Request[];
let expected: Appearance;
/** The rows of the shop when the backup was made. */
let before: Awaited<ReturnType<typeof rowsOf>>;
let file: string;

beforeAll(async () => {
  const limits = { RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' };
  service = await startDemo(limits, NOW, { hasImages: true });
  shop = demoShop(service);
  const reads = [...(await readingsOf(shop)), ...(await readsOf(shop)), ...(await pdfsOf(shop))];
  // Visits are counted by each installation for itself.
  requests = forAnyShop(reads, shop.shopId).filter(({ path }) => !path.includes('/missed-addresses'));
  // A private installation uses a domain at once: it has none that wait, which one of the reads has brought.
  await service.db.run(sql`delete from domain_status`);
  await service.db.run(sql`delete from pending_domain`);
  elsewhere = await startService(limits);
  elsewhere.setClock(LATER);
  // The pages of a shop that is not alone say so, and the first one is not alone.
  await givenShop(elsewhere, 'Neighbour');
  file = await givenBackup(service, shop.shopId);
  before = await rowsOf(service, shop.shopId);
  service.setClock(LATER);
  expected = await appearanceOf(shop, requests);
});
afterAll(() => Promise.all([service.close(), elsewhere.close()]));

async function pdfsOf({ shopId, token }: Shop): Promise<Request[]> {
  const { body } = await service.call('GET', `/${shopId}/orders?resultsPerPage=100`, { token });
  return body.items.map(({ orderId }: { orderId: string }) => ({
    method: 'GET',
    path: `/${shopId}/orders/${orderId}/documents?includePdf=true`,
  }));
}

test('the sweep sees everything: pages, pictures, documents', () => {
  const { answers, pages, media } = expected;
  const isGood = (answer: unknown) => (answer as { status: number }).status === 200;
  expect(Object.values(answers).filter(isGood).length).toBeGreaterThan(200);
  expect(JSON.stringify(answers)).toContain('JVBERi0xL'); // A PDF in base64.
  expect(Object.values(pages).filter(isGood).length).toBeGreaterThan(20);
  expect(Object.values(media).filter(isGood).length).toBeGreaterThan(100);
});

test('a backup is complete or not there, and for its owner only', async () => {
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await readdir(path.dirname(file))).filter((name) => name.endsWith('.draft'))).toEqual([]);
});

test('another installation gets the same shop under the same id, row for row', async () => {
  await restored(elsewhere, file, { former: await installationKey(service.config) });
  const rows = await rowsOf(elsewhere, 'DemoShop');
  const isRestore = (row: unknown) => (row as { route: string }).route === 'kontor shop restore';
  expect(rows['audit_entry']!.filter(isRestore)).toMatchObject([{ method: 'COMMAND', app_id: null }]);
  expect({ ...rows, audit_entry: rows['audit_entry']!.filter((row) => !isRestore(row)) }).toEqual(before);
  expect(before['audit_entry']).toContainEqual(
    expect.objectContaining({ method: 'COMMAND', route: 'kontor shop backup' }),
  );
});

test('everything that the API and the pages show is the same there, and so are the known tokens', async () => {
  const found = await appearanceOf({ ...shop, service: elsewhere }, requests);
  expect(differences(found, expected)).toEqual([]);
});

test('the same installation gets a copy under another id that shows the same', async () => {
  // Its caches hold the shop already, under the same ids.
  await restored(service, file, { as: 'Copy' });
  const token = await givenToken(service, 'Copy', SCOPES, 'all-access');
  // Both are there now, and the pages of both are made for an installation with several shops.
  const found = await appearanceOf({ service, shopId: 'Copy', token }, requests);
  // A copy has no webhooks, no rules and no licence keys, and no payments that were begun elsewhere.
  const others = differences(found, expected);
  const isLeftOut = ({ name, expected: shown }: (typeof others)[number]) =>
    /\/(?:webhooks|rules|app\/payments|keys|deliveries)/.test(name) ||
    JSON.stringify(shown).includes('paymentAttempts');
  expect(others.filter((difference) => !isLeftOut(difference))).toEqual([]);
  for (const part of ['/webhooks', '/rules']) {
    expect(others.filter(({ name }) => name.includes(part))).not.toEqual([]);
  }
});

test('a copy does not take the tokens, domains and webhooks of the shop', async () => {
  const rows = await rowsOf(service, 'Copy');
  expect(before['webhook']).not.toEqual([]);
  expect(rows['webhook']).toEqual([]);
  expect(rows['token']).toHaveLength(1);
  expect(rows['app']).toEqual(before['app']);
  expect((await service.call('GET', '/Copy/orders', { token: 'demo-all' })).status).toBe(401);
  expect(JSON.stringify(rows)).not.toContain('/media/DemoShop/');
  expect(JSON.stringify(rows)).toContain('/media/Copy/files/');
});
