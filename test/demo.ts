import { expect } from 'vitest';
import { addDemoFiles } from '../src/demo/add-files.ts';
import { createDemoShops, insertDemoShop } from '../src/demo/demo-shop.ts';
import { givenToken } from './builders.ts';
import type { Shop } from './operations.ts';
import { startService, type Answer, type Service } from './service.ts';

/** A service with the shops of a first start: DemoShop, whose tokens have known names, and EmptyShop. */
export async function startDemo(
  environment: Record<string, string> = {},
  now?: Date,
  { hasImages } = { hasImages: false },
): Promise<Service> {
  const service = await startService(environment);
  service.setClock(now);
  await createDemoShops(service.db, service.config);
  if (hasImages) await addDemoFiles(service.db, service.config, 'DemoShop');
  return service;
}

/** The demo shop, as the app that may do everything sees it. */
export function demoShop(service: Service): Shop {
  return { service, shopId: 'DemoShop', token: 'demo-all' };
}

/** A second shop as full as the first, with a token that is good there only. */
export async function givenOtherShop(service: Service): Promise<Shop> {
  const shopId = 'OtherShop';
  await service.db.transaction((tx) => insertDemoShop(tx, { shopId, knownTokens: false, rateLimit: 0 }));
  return { service, shopId, token: await givenToken(service, shopId) };
}

/**
 * Every table with its rows and the md5 of their content: equal before and after means that nothing was written.
 * What a refused call may move is left out: its own count, and when a token was last used.
 */
export async function fingerprint({ db }: Service): Promise<Record<string, string>> {
  const tables = await db.pool.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'rate_window' order by 1`,
  );
  const prints = tables.rows.map(
    ({ name }) => `select '${name}' as name,
      count(*) || ' rows ' || coalesce(md5(string_agg(line, E'\\n' order by line)), '') as print
      from (select (to_jsonb(entry) - 'last_used_at')::text as line from ${name} as entry) as lines`,
  );
  const { rows } = await db.pool.query<{ name: string; print: string }>(prints.join(' union all '));
  return Object.fromEntries(rows.map(({ name, print }) => [name, print]));
}

/** What old clients understand, and this service uses. */
const REASONS: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'Payload Too Large',
  429: 'Too Many Requests',
};

/** A refusal as the contract words it: never 5xx, one body, no sign of success. `path` is without its query. */
export function expectRefusal(answer: Answer, method: string, path: string): void {
  const { status, headers, body } = answer;
  expect(answer).toMatchObject({ status: expect.toBeOneOf(Object.keys(REASONS).map(Number)) });
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'access-control-allow-origin': '*' });
  expect(headers['x-epages-media-type']).toBeUndefined();
  expect(body).toEqual({ message: expect.any(String), status: REASONS[status] });
  expect(body.message.slice(-`, Request: ${method} ${path}`.length)).toBe(`, Request: ${method} ${path}`);
}
