import Fastify, { type FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../src/config.ts';
import { createAuthentication } from '../src/http/authentication.ts';
import { createCallerDirectory } from '../src/http/callers.ts';
import { answerFailure } from '../src/http/failures.ts';
import type { Operation } from '../src/http/operation.ts';
import { operations } from '../src/http/operations.ts';
import { createOtherMethods } from '../src/http/other-methods.ts';
import { rateLimiter } from '../src/http/rate-limit.ts';
import { openapiText } from '../src/openapi/document.ts';
import { registerOpenapi } from '../src/openapi/routes.ts';
import { givenShop } from './builders.ts';
import { startService, type Service } from './service.ts';

/*
 * No operation of the service is deprecated, so these are of the test: they are registered in the way of all others.
 */

let service: Service;
let app: FastifyInstance;
let register: (operation: Partial<Operation>) => void;

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Alpha');
  const { db } = service;
  const config = readConfig({ RATE_LIMIT_ANONYMOUS: '0' });
  const callers = createCallerDirectory(db);
  const limiter = rateLimiter(db, () => {});
  limiter.close();
  app = Fastify();
  app.decorateRequest('caller');
  app.setErrorHandler(answerFailure);
  registerOpenapi(app);
  const shared = { config, callers, limiter, isRefusedDemoToken: () => false };
  const authentication = createAuthentication({ ...shared, hostCallers: callers, now: () => db.now });
  const api = operations(app, {
    ...shared,
    db,
    authentication,
    otherMethods: createOtherMethods(authentication),
    demoAccess: { isOpen: () => false },
    answerSeal: { seal: async (text) => text, unseal: async (text) => text },
    checkCart: async () => undefined,
  });
  const facts = { method: 'GET', summary: 'Try', tag: 'try', labels: [], access: 'public' } as const;
  register = ({ name = '', ...operation }) =>
    api.read({ ...facts, name, path: `/${name}`, answer: Type.Object({}), ...operation }, async () => ({}));
  register({ name: 'current' });
  register({ name: 'replaced', deprecated: { since: '2027-01-31' } });
  register({
    name: 'ending',
    access: 'orders_read',
    deprecated: { since: '2027-01-31', sunset: '2028-02-01' },
  });
  await app.ready();
});
afterAll(async () => {
  await app.close();
  await service.close();
});

test.each([
  ['current', 200, {}],
  ['replaced', 200, { deprecation: '@1801353600' }],
  // A refusal says it too: this one has no token.
  ['ending', 401, { deprecation: '@1801353600', sunset: 'Tue, 01 Feb 2028 00:00:00 GMT' }],
])('an answer of the operation "%s" has the headers of its state', async (name, status, expected) => {
  const { statusCode, headers } = await app.inject(`/rs/shops/Alpha/${name}`);
  const { deprecation, sunset } = headers;
  expect(statusCode).toBe(status);
  expect({
    ...(deprecation !== undefined && { deprecation }),
    ...(sunset !== undefined && { sunset }),
  }).toEqual(expected);
});

test('the reference marks it', async () => {
  const { paths } = JSON.parse(await openapiText(app)) as {
    paths: Record<string, { get: { operationId: string; deprecated?: boolean } }>;
  };
  expect(Object.values(paths).map(({ get }) => [get.operationId, get.deprecated ?? false])).toEqual([
    ['current', false],
    ['replaced', true],
    ['ending', true],
  ]);
});

test('an end before the beginning is refused when the app is built', () => {
  expect(() =>
    register({ name: 'wrong', deprecated: { since: '2027-01-31', sunset: '2027-01-30' } }),
  ).toThrow('An operation ends on 2027-01-30, before it is deprecated on 2027-01-31');
});
