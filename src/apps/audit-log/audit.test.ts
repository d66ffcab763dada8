import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { demoShop, givenOtherShop, startDemo } from '../../../test/demo.ts';
import { OPERATIONS, validCall, type Shop } from '../../../test/operations.ts';
import { databaseUrl, startService, type Answer, type Service } from '../../../test/service.ts';
import { COMMANDS } from '../../commands/table.ts';
import { sql } from '../../db/sql.ts';
import { newId, newSecret } from '../../kernel/ids.ts';
import { auditCleanup } from './queries.ts';

type Body = Answer['body'];
const DAY = 86_400_000;

describe('every write, and every export of a person', () => {
  let service: Service;
  let shop: Shop;
  beforeAll(async () => {
    service = await startDemo();
    shop = demoShop(service);
  });
  afterAll(() => service.close());

  const newest = async () => {
    const { body } = await service.call('GET', '/manage/shops/DemoShop/audit', { token: 'demo-all' });
    return body as { results: number; items: Body[] };
  };

  const audited = OPERATIONS.filter(
    ({ writes, auditedRead, scopes, anyToken }) => (writes || auditedRead) && (scopes.length > 0 || anyToken),
  );
  const unseen = OPERATIONS.filter(
    (operation) => !audited.includes(operation) && operation.name !== 'POST /token',
  );

  test.each(audited)('$name leaves one entry', async (operation) => {
    const call = await validCall(operation, shop);
    const before = await newest();
    const answer = await service.call(call.method, call.path + call.search, call.options);
    expect(answer.status).toBe(operation.status);
    const { results, items } = await newest();
    expect(results).toBe(before.results + 1);
    // By its id, because those of the same millisecond come in any order.
    const known = before.items.map(({ entryId }) => entryId);
    const entry = items.find(({ entryId }) => !known.includes(entryId));
    const prefix = operation.path.startsWith('/manage/') ? '/manage/shops/:shopId' : '/rs/shops/:shopId';
    const below = operation.path.replace('/manage/', '/').replaceAll(/\{(\w+)\}/g, ':$1');
    expect({ ...entry, app: entry.app.name }).toEqual({
      entryId: expect.any(String),
      at: expect.any(String),
      app: 'all-access',
      method: operation.method,
      route: prefix + below,
      // Ids of the path, and before them that of what was made.
      object: {
        ...call.params,
        ...(operation.path === '/categories/{categoryId}' &&
          operation.method === 'POST' && { parent: call.params['categoryId'] }),
        ...(operation.path.endsWith('/copies') && { parent: call.params['productId'] }),
        ...(operation.method === 'POST' && madeId(answer)),
        // The answer has all files of the product.
        ...(operation.path.endsWith('/downloads/files') && { fileId: answer.body.files.at(-1).fileId }),
      },
    });
    expect(new Date(entry.at).toISOString()).toBe(entry.at);

    // Nothing of what was sent or shown once; the keys are ours.
    const text = JSON.stringify(Object.values(entry.object));
    for (const secret of secretsOf(call.options, answer)) expect(text).not.toContain(secret);
  });

  function madeId({ body }: Answer): object {
    const ids = Object.entries((body ?? {}) as Record<string, string>);
    const [name, id] = ids.find(([key]) => key.endsWith('Id')) ?? [];
    return name === undefined ? {} : { [name]: id };
  }

  function secretsOf(
    { token, cartToken, body }: { token?: string; cartToken?: string; body?: unknown },
    answer: Answer,
  ) {
    const texts: string[] = [];
    const collect = (value: unknown) => {
      if (typeof value === 'string' && value.length > 3 && !/^[0-9A-F-]{36}$/.test(value)) texts.push(value);
      else if (value && typeof value === 'object' && !Buffer.isBuffer(value))
        Object.values(value).forEach(collect);
    };
    collect(body);
    // `all-access` stands in every entry, and `demo-all` is no part of it.
    return [token!, cartToken, answer.headers['x-epages-cart-token'] as string, ...texts].filter(
      (text) => text !== undefined && !['POST', 'all-access'].includes(text),
    ) as string[];
  }

  test.each(audited)('$name leaves none when it is refused', async (operation) => {
    const reader = operation.anyToken ? newSecret(32) : await givenToken(service, 'DemoShop', []);
    const call = await validCall(operation, shop);
    const before = await newest();
    const answer = await service.call(call.method, call.path + call.search, {
      ...call.options,
      token: reader,
    });
    expect(answer.status).toBe(operation.anyToken ? 401 : 403);
    expect((await newest()).results).toBe(before.results);
  });

  test.each(audited.filter(({ secret, writes }) => writes && !secret))(
    '$name adds none when its answer is replayed',
    async (operation) => {
      const call = await validCall(operation, shop);
      const before = await newest();
      const headers = {
        ...call.options.headers,
        'idempotency-key': `once-${operation.name.replaceAll(' ', '')}`,
      };
      for (const replayed of [undefined, 'true']) {
        const answer = await service.call(call.method, call.path + call.search, { ...call.options, headers });
        expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([operation.status, replayed]);
      }
      expect((await newest()).results).toBe(before.results + 1);
    },
  );

  test.each(unseen)('$name leaves none: it changes nothing, or needs no right', async (operation) => {
    const call = await validCall(operation, shop);
    const before = await newest();
    const answer = await service.call(call.method, call.path + call.search, call.options);
    expect(answer.status).toBe(operation.status);
    expect((await newest()).results).toBe(before.results);
  });

  test('a token that is issued leaves one, of the app that it is for and without the token', async () => {
    const call = await validCall(
      OPERATIONS.find(({ name }) => name === 'POST /token')!,
      shop,
    );
    const before = await newest();
    const { body } = await service.call(call.method, call.path, call.options);
    const { results, items } = await newest();
    expect(results).toBe(before.results + 1);
    const { app, method, route, object } = items[0];
    expect({ method, route, object }).toEqual({
      method: 'POST',
      route: '/rs/shops/:shopId/token',
      object: { appId: app.appId },
    });
    expect(JSON.stringify(items)).not.toContain(body.access_token);
    expect((await service.call(call.method, call.path, call.options)).status).toBe(400);
    expect((await newest()).results).toBe(results);
  });

  test('what fails on the way leaves none', async () => {
    const before = await newest();
    const body = { billingAddress: { country: 'ZZ' } };
    expect((await service.call('POST', '/DemoShop/customers', { token: 'demo-all', body })).status).toBe(400);
    const missing = `/DemoShop/products/${newId(new Date())}`;
    expect((await service.call('DELETE', missing, { token: 'demo-all' })).status).toBe(404);
    expect((await newest()).results).toBe(before.results);
  });

  test('the order of a cart is named with its cart, once', async () => {
    const operation = OPERATIONS.find(({ name }) => name === 'POST /carts/{cartId}/order')!;
    const call = await validCall(operation, shop);
    const { body } = await service.call(call.method, call.path, call.options);
    const { items } = await newest();
    expect(items[0].object).toEqual({ cartId: call.params['cartId'], orderId: body.orderId });
    expect((await service.call(call.method, call.path, call.options)).status).toBe(410);
    expect((await newest()).items[0]).toEqual(items[0]);
  });

  test('another shop sees nothing of it', async () => {
    const other = await givenOtherShop(service);
    const { body } = await service.call('GET', '/manage/shops/OtherShop/audit', { token: other.token });
    expect(body).toEqual({ results: 0, page: 1, resultsPerPage: 10, items: [] });
  });
});

describe('the log', () => {
  let service: Service;
  let token: string;
  const NOW = new Date('2026-11-15T08:30:00.250Z');
  beforeAll(async () => {
    service = await startService();
  });
  beforeEach(async () => {
    await service.db.run(sql`delete from shop`);
    await givenShop(service, 'Harbour');
    token = await givenToken(service, 'Harbour', undefined, 'first');
    service.setClock(NOW);
  });
  afterAll(() => service.close());

  const list = async (query = '') => {
    const answer = await service.call('GET', `/manage/shops/Harbour/audit${query}`, { token });
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const numbersOf = ({ items }: Body) => items.map(({ object }: Body) => object.customerId);
  const create = async (at: Date, by = token): Promise<string> => {
    service.setClock(at);
    const body = { billingAddress: {} };
    return (await service.call('POST', '/Harbour/customers', { token: by, body })).body.customerId;
  };

  test('says who, when, where and on what', async () => {
    const customerId = await create(NOW);
    const { appId } = (await service.db.one<{ appId: string }>(sql`
      select upper(app_id::text) as "appId" from app where shop_id = 'Harbour'`))!;
    expect(await list()).toEqual({
      results: 1,
      page: 1,
      resultsPerPage: 10,
      items: [
        {
          entryId: expect.stringMatching(/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/),
          at: '2026-11-15T08:30:00.250Z',
          app: { appId, name: 'first' },
          method: 'POST',
          route: '/rs/shops/:shopId/customers',
          object: { customerId },
        },
      ],
    });
  });

  test('keeps the name of an app that is gone', async () => {
    await create(NOW);
    const other = await givenToken(service, 'Harbour');
    await service.db.run(sql`delete from app where shop_id = 'Harbour' and name = 'first'`);
    token = other;
    expect((await list()).items[0].app.name).toBe('first');
  });

  test('comes newest first, in pages', async () => {
    const made: string[] = [];
    for (let second = 0; second < 12; second++)
      made.unshift(await create(new Date(NOW.getTime() + second * 1_000)));
    expect(numbersOf(await list())).toEqual(made.slice(0, 10));
    expect(numbersOf(await list('?page=2'))).toEqual(made.slice(10));
    expect(numbersOf(await list('?page=3&resultsPerPage=5'))).toEqual(made.slice(10));
    expect(await list('?page=9')).toEqual({ results: 12, page: 9, resultsPerPage: 10, items: [] });
  });

  test('is narrowed by time, app and method', async () => {
    const first = await create(NOW);
    const second = await givenToken(service, 'Harbour', undefined, 'second');
    const later = await create(new Date(NOW.getTime() + 1), second);
    await service.call('PATCH', `/Harbour/customers/${first}`, {
      token: second,
      body: [{ op: 'add', path: '/internalNote', value: 'x' }],
    });
    const at = NOW.toISOString();
    expect(numbersOf(await list(`?createdAfter=${at}`))).toEqual(expect.arrayContaining([later, first]));
    expect((await list(`?createdAfter=${at}`)).results).toBe(2);
    expect(numbersOf(await list(`?createdBefore=2026-11-15T08:30:00.251Z`))).toEqual([first]);
    expect((await list(`?createdBefore=${at}`)).results).toBe(0);
    expect((await list('?createdAfter=1900-01-01')).results).toBe(3);
    expect((await list('?createdBefore=9999-12-31')).results).toBe(3);
    const [{ app }] = (await list('?method=patch')).items;
    expect(app.name).toBe('second');
    expect((await list('?method=PATCH')).results).toBe(1);
    expect((await list('?method=PURGE')).results).toBe(0);
    expect((await list(`?appId=${app.appId.toLowerCase()}`)).results).toBe(2);
    expect((await list(`?appId=${app.appId}&method=POST`)).results).toBe(1);
    expect((await list(`?appId=${newId(NOW)}`)).results).toBe(0);
    expect((await list('?appId=nobody')).results).toBe(0);
    expect((await list('?appId=&method=')).results).toBe(3);
    const wrong = await service.call('GET', '/manage/shops/Harbour/audit?createdAfter=soon', { token });
    expect(wrong.status).toBe(400);
  });

  test('is for those who may change orders', async () => {
    for (const [scopes, status] of [
      [['orders_read'], 403],
      [['orders_write'], 200],
    ] as const) {
      const caller = await givenToken(service, 'Harbour', scopes);
      const answer = await service.call('GET', '/manage/shops/Harbour/audit', { token: caller });
      expect(answer.status).toBe(status);
    }
  });

  test('forgets after 400 days, in each shop', async () => {
    await givenShop(service, 'Other');
    const other = await givenToken(service, 'Other');
    const old = new Date(NOW.getTime() - 400 * DAY - 1);
    const kept = await create(new Date(NOW.getTime() - 400 * DAY));
    await create(old);
    await service.call('POST', '/Other/customers', { token: other, body: { billingAddress: {} } });
    service.setClock(NOW);
    expect(await auditCleanup.run(service.db, 10)).toBe(2);
    expect(numbersOf(await list())).toEqual([kept]);
    const { body } = await service.call('GET', '/manage/shops/Other/audit', { token: other });
    expect(body.results).toBe(0);
  });

  describe('of the command line', () => {
    const run = async (name: string, args: string[], options = {}): Promise<string> => {
      const config = { ...service.config, DATABASE_URL: databaseUrl(service.database) };
      const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
      try {
        await COMMANDS.find((command) => command.name === name)!.run({ config, arguments: args, options });
        return printed.mock.calls.map(([text]) => String(text)).join('');
      } finally {
        printed.mockRestore();
      }
    };
    const newest = async () => {
      const [{ entryId: _entryId, at: _at, ...entry }] = (await list()).items;
      return entry;
    };

    test('names the command and no secret', async () => {
      service.setClock(undefined);
      const file = path.join(service.config.KONTOR_DATA, 'settings.yaml');
      await writeFile(file, 'email: harbour@mail.example');
      const command = { app: null, method: 'COMMAND' };
      await run('shop apply', ['Harbour', file]);
      expect(await newest()).toEqual({ ...command, route: 'kontor shop apply', object: {} });
      await run('shop apply', ['Harbour', file]);
      expect((await list()).results).toBe(1);

      const secret = (await run('token create', ['Harbour'], { scopes: 'all' })).trim();
      expect(await newest()).toEqual({
        ...command,
        route: 'kontor token create',
        object: { app: 'private app' },
      });
      await run('token revoke', ['Harbour', secret]);
      expect(await newest()).toEqual({ ...command, route: 'kontor token revoke', object: {} });
      await expect(run('token revoke', ['Harbour', secret])).rejects.toThrow('no such token');
      expect((await list()).results).toBe(3);

      const facts = { name: 'Sync', callback: 'https://app.example/install', scopes: 'all' };
      const printed = await run('app create', ['Harbour'], facts);
      const [, appId, clientSecret] = /client_id\s+(\S+)\nclient_secret\s+(\S+)/.exec(printed)!;
      expect(await newest()).toEqual({ ...command, route: 'kontor app create', object: { appId } });
      await run('app install', ['Harbour', appId!], { agreed: true });
      expect(await newest()).toEqual({ ...command, route: 'kontor app install', object: { app: appId } });
      await run('app delete', ['Harbour', 'Sync']);
      expect(await newest()).toEqual({ ...command, route: 'kontor app delete', object: { app: 'Sync' } });
      await expect(run('app delete', ['Harbour', 'Sync'])).rejects.toThrow('no such app');

      const products = path.join(service.config.KONTOR_DATA, 'products.csv');
      await writeFile(products, 'Alias;Name/en\nTEA-1;Harbour Tea\n');
      await run('products import', ['Harbour', products]);
      expect(await newest()).toEqual({
        ...command,
        route: 'kontor products import',
        object: { created: '1', changed: '0' },
      });
      const { results, items } = await list();
      expect(results).toBe(7);
      for (const word of [secret, clientSecret!]) expect(JSON.stringify(items)).not.toContain(word);
    });
  });
});
