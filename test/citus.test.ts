import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { LightMyRequestResponse } from 'fastify';
import type { Query } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { importFile } from '../src/catalogue/products/import.ts';
import { newId } from '../src/kernel/ids.ts';
import { newsletterTokens } from '../src/people/newsletters/links.ts';
import { installationKey } from '../src/platform/sealing.ts';
import { givenMerchant } from './admin.ts';
import { queuedEmails } from './carts.ts';
import { CITUS_URL } from './cluster.ts';
import { demoShop, startDemo } from './demo.ts';
import type { Service } from './service.ts';
import { callCombinations, callInVariations } from './variations.ts';
import { givenVisitor } from './visitor.ts';

/*
 * On a cluster a statement of a request must go to the one shard that holds its shop: then the other nodes do not hear
 * of it, and a node that is away harms its own shops only.
 */

/** Statements that may go to more than one shard, by how they begin, and why they may. */
const OF_ALL_SHOPS: readonly { begins: readonly string[]; because: string }[] = [
  {
    because: 'it is work in the background for all shops',
    begins: ['select shops.*, domains.*', 'update token set last_used_at'],
  },
  {
    because: 'somebody who has signed in to the admin sees all shops that are theirs',
    begins: [
      `select shop.shop_id as "shopId", coalesce(settings -> 'name' ->> default_locale, shop.shop_id)`,
    ],
  },
  {
    because: 'only these tests send it',
    begins: [
      'insert into product_image (shop_id, product_id, name, position, image_key, sizes, created_at) select',
      "select content from job where queue = 'mail'",
    ],
  },
];

describe.skipIf(CITUS_URL === undefined)('on the cluster that KONTOR_TEST_CITUS_URL names', () => {
  let service: Service;
  /** The statements with the values that they were sent with last. */
  const sent = new Map<string, unknown[]>();
  /** Answers that say that something is broken. */
  const broken: string[] = [];

  beforeAll(async () => {
    service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
    recordSent(service, sent);
    recordBroken(service, broken);
    await callInVariations(demoShop(service), 3, { isPlain: true });
    await callCombinations(demoShop(service), 3);
    await openAdminPages(service);
    await changeSettings(service);
    await importProducts(service);
    await subscribe(service);
  }, 300_000);

  afterAll(() => service?.close());

  test('no operation and no page fails', () => {
    expect(broken).toEqual([]);
  });

  test('every statement of a request goes to one shard', async () => {
    const allowed = OF_ALL_SHOPS.flatMap(({ begins }) => begins);
    const found: Record<string, string> = {};
    for (const [text, values] of sent) {
      const short = text.replaceAll(/\s+/g, ' ').trim();
      if (!/^(?:with|select|insert|update|delete)\b/.test(short)) continue;
      if (allowed.some((begin) => short.startsWith(begin))) continue;
      const { rows } = await service.db.pool.query(`explain (format json, costs off) ${text}`, values);
      const detour = detourOf((rows[0]['QUERY PLAN'] as { Plan: Plan }[])[0]!.Plan);
      if (detour !== undefined) found[short] = detour;
    }
    expect(sent.size).toBeGreaterThan(200);
    expect(found).toEqual({});
  }, 120_000);
});

function recordSent({ db }: Service, sent: Map<string, unknown[]>): void {
  const recorded = new WeakSet<object>();
  db.pool.on('acquire', (client) => {
    if (recorded.has(client)) return;
    recorded.add(client);
    const send = client.query.bind(client) as (...given: unknown[]) => unknown;
    client.query = ((...given: unknown[]) => {
      const query = given[0] as string | (Query & { text?: string; values?: unknown[] });
      if (typeof query !== 'string' && query.text !== undefined) sent.set(query.text, query.values ?? []);
      return send(...given);
    }) as typeof client.query;
  });
}

function recordBroken({ app }: Service, broken: string[]): void {
  const inject = app.inject.bind(app) as (request: unknown) => Promise<LightMyRequestResponse>;
  app.inject = (async (request: { method?: string; url?: string }) => {
    const response = await inject(request);
    if (response.statusCode >= 500) broken.push(`${request.method} ${request.url}: ${response.body}`);
    return response;
  }) as typeof app.inject;
}

/** With ids that no thing has: it is looked for all the same. */
async function openAdminPages(service: Service): Promise<void> {
  const merchant = await givenMerchant(service);
  for (const { method, url } of await service.app.adminPages()) {
    if (method !== 'GET') continue;
    await merchant.get(url.replace(':shopId', 'DemoShop').replaceAll(/:\w+/g, newId(new Date())));
  }
}

/** Every list of the settings in another order, so that all of them are written. */
async function changeSettings(service: Service): Promise<void> {
  const merchant = await givenMerchant(service);
  const file = parse((await merchant.get('/settings/file/download')).text) as Record<string, unknown[]>;
  for (const section of LISTS_OF_SETTINGS) file[section] = file[section]!.toReversed();
  const { status } = await merchant.post('/settings/file', { text: stringify(file), action: 'apply' });
  expect(status).toBe(303);
}

const LISTS_OF_SETTINGS = [
  'taxClasses',
  'shippingMethods',
  'paymentMethods',
  'newsletters',
  'customerGroups',
  'couponCampaigns',
];

async function importProducts({ db, config }: Service): Promise<void> {
  const file = path.join(config.KONTOR_DATA, 'products.csv');
  await writeFile(
    file,
    'Class;Alias;ListPrices/EUR/gross;Name/en;Categories\nBoat;BOAT-1;1500;Dinghy;Boats\nBoat;BOAT-2;20;Oar;Boats\n',
  );
  const { problems } = await importFile(db, file, { shopId: 'DemoShop', visible: true, isCheck: false });
  expect(problems).toEqual([]);
}

async function subscribe(service: Service): Promise<void> {
  const visitor = givenVisitor(service, 'DemoShop');
  expect((await visitor.post('/newsletter', { email: 'wren@mail.example' })).status).toBe(303);
  const { facts } = (await queuedEmails(service)).find(({ template }) => template === 'newsletter')!;
  const tokens = newsletterTokens(await installationKey(service.config));
  const token = tokens.confirming('DemoShop', String(facts['requestId']));
  expect((await visitor.submit('/newsletter/confirm', { token })).status).toBe(200);
}

interface Plan {
  'Custom Plan Provider'?: string;
  'Distributed Query'?: { Job?: { 'Task Count'?: number }; Subplans?: unknown[] };
  Plans?: Plan[];
}

/** What a plan does beside sending one statement to one shard; undefined: nothing. */
function detourOf(plan: Plan): string | undefined {
  const query = plan['Distributed Query'];
  const provider = plan['Custom Plan Provider'];
  const subplans = query?.Subplans?.length ?? 0;
  const tasks = query?.Job?.['Task Count'];
  if (subplans > 0 || (provider?.startsWith('Citus') && tasks !== 1)) {
    return `${provider}: ${tasks ?? 'unknown'} tasks, ${subplans} subplans`;
  }
  const below = (plan.Plans ?? []).flatMap((part) => detourOf(part) ?? []);
  return below.length > 0 ? below.join('; ') : undefined;
}
