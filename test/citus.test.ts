import type { LightMyRequestResponse } from 'fastify';
import type { Query } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CITUS_URL } from './cluster.ts';
import { demoShop, startDemo } from './demo.ts';
import type { Service } from './service.ts';
import { callInVariations } from './variations.ts';

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
    because: 'only these tests send it',
    begins: [
      'insert into product_image (shop_id, product_id, name, position, image_key, sizes, created_at) select',
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
    await callInVariations(demoShop(service), 3, 1);
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
