import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { COMMANDS } from '../../src/commands/table.ts';
import type { Scope } from '../../src/http/scopes.ts';
import { givenToken } from '../builders.ts';
import { demoShop, expectRefusal, fingerprint, startDemo } from '../demo.ts';
import { OPERATIONS, validCall } from '../operations.ts';
import { databaseUrl, type Service } from '../service.ts';

/**
 * An app that may read customers, and no orders, exported a person with all orders. An app that may write customers
 * erased the addresses of orders. Nobody could see later that a person was exported, or that a token was issued.
 */

let service: Service;
let customerId: string;
const path = (what: string) => `/manage/shops/DemoShop/customers/${customerId}/${what}`;

beforeAll(async () => {
  service = await startDemo();
  const { body } = await service.call('GET', '/DemoShop/customers', { token: 'demo-all' });
  ({ customerId } = body.items[0]);
});

afterAll(() => service.close());

const newestEntry = async () => {
  const { body } = await service.call('GET', '/manage/shops/DemoShop/audit', { token: 'demo-all' });
  return body.items[0];
};

test.each([
  ['GET', 'export', 'customers_read', 'orders_read'],
  ['POST', 'erase', 'customers_write', 'orders_write'],
] as [string, string, Scope, Scope][])(
  '%s %s needs %s and %s; the message names the one that is missing',
  async (method, what, ...needed) => {
    for (const missing of needed) {
      const token = await givenToken(
        service,
        'DemoShop',
        needed.filter((scope) => scope !== missing),
      );
      const before = await fingerprint(service);
      const answer = await service.call(method, path(what), { token });
      expectRefusal(answer, method, path(what));
      expect(answer.status).toBe(403);
      expect(answer.body.message).toContain(`The token lacks the scope ${missing}, `);
      expect(answer.headers['www-authenticate']).toContain(`scope="${missing}"`);
      expect(answer.text).not.toContain('@');
      expect(await fingerprint(service)).toEqual(before);
    }
  },
);

test('an export is in the audit log: by which app, and of whom', async () => {
  const token = await givenToken(service, 'DemoShop', ['customers_read', 'orders_read'], 'newsletter tool');
  const { status, body } = await service.call('GET', path('export'), { token });
  expect(status).toBe(200);
  expect(await newestEntry()).toMatchObject({
    app: { name: 'newsletter tool' },
    method: 'GET',
    route: '/manage/shops/:shopId/customers/:customerId/export',
    object: { customerId },
  });
  // The person learns of it as well.
  expect(body.auditEntries.at(-1)).toMatchObject({ method: 'GET', object: { customerId } });
});

test('an export of nobody leaves no entry', async () => {
  const before = await newestEntry();
  const nobody = path('export').replace(customerId, '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E');
  expect((await service.call('GET', nobody, { token: 'demo-all' })).status).toBe(404);
  expect(await newestEntry()).toEqual(before);
});

test('so is one on the command line', async () => {
  const config = { ...service.config, DATABASE_URL: databaseUrl(service.database) };
  const written = vi.spyOn(process.stdout, 'write').mockImplementation((_text, ...rest) => {
    for (const done of rest) if (typeof done === 'function') done(null);
    return true;
  });
  try {
    const command = COMMANDS.find(({ name }) => name === 'customer export')!;
    await command.run({ config, arguments: ['DemoShop', customerId], options: {} });
  } finally {
    written.mockRestore();
  }
  expect(await newestEntry()).toMatchObject({
    app: null,
    method: 'COMMAND',
    route: 'kontor customer export',
    object: { customerId },
  });
});

test('a token that an app gets for its code is in the log, the token itself is not', async () => {
  const operation = OPERATIONS.find(({ name }) => name === 'POST /token')!;
  const call = await validCall(operation, demoShop(service));
  const { status, body } = await service.call(call.method, call.path, call.options);
  expect(status).toBe(200);
  const entry = await newestEntry();
  expect(entry).toMatchObject({ method: 'POST', route: '/rs/shops/:shopId/token' });
  expect(entry.object).toEqual({ appId: entry.app.appId });
  expect(JSON.stringify(entry)).not.toContain(body.access_token);
});
