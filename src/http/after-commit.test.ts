import Fastify, { type FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenShop } from '../../test/builders.ts';
import { startService, type Service } from '../../test/service.ts';
import { readConfig } from '../config.ts';
import { createCallerDirectory } from './callers.ts';
import { conflict } from './errors.ts';
import { answerFailure } from './failures.ts';
import { createAuthentication } from './authentication.ts';
import { operations } from './operations.ts';
import { createOtherMethods } from './other-methods.ts';
import { rateLimiter } from './rate-limit.ts';

let service: Service;
let app: FastifyInstance;
const seen: string[] = [];

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
  const isRefusedDemoToken = () => false;
  const authentication = createAuthentication({
    config,
    callers,
    hostCallers: callers,
    limiter,
    isRefusedDemoToken,
    now: () => db.now,
  });
  const checkCart = async () => undefined;
  const api = operations(app, {
    config,
    db,
    callers,
    authentication,
    otherMethods: createOtherMethods(authentication),
    limiter,
    isRefusedDemoToken,
    demoAccess: { isOpen: () => false },
    answerSeal: { seal: async (text) => text, unseal: async (text) => text },
    checkCart,
  });
  const facts = { method: 'POST', summary: 'Try', tag: 'try', labels: [], access: 'public' } as const;
  const answer = Type.Object({ tries: Type.Integer() });

  let tries = 0;
  api.write({ ...facts, path: '/done', name: 'done', answer }, async ({ tx, afterCommit }) => {
    afterCommit(() => void seen.push('done'));
    seen.push(tx.inTransaction ? 'inside' : 'outside');
    return { tries: 1 };
  });
  api.write({ ...facts, path: '/again', name: 'again', answer }, async ({ afterCommit }) => {
    afterCommit(() => void seen.push(`try ${tries}`));
    // As PostgreSQL says that the transaction must be tried again.
    if (++tries === 1) throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
    return { tries };
  });
  api.write({ ...facts, path: '/refused', name: 'refused', answer }, async ({ afterCommit }) => {
    afterCommit(() => void seen.push('refused'));
    throw conflict('no');
  });
  api.write({ ...facts, path: '/failing', name: 'failing', answer }, async ({ afterCommit }) => {
    afterCommit(async () => {
      throw new Error('the disk is full');
    });
    afterCommit(() => void seen.push('the next one'));
    return { tries: 1 };
  });
});

afterAll(async () => {
  await app.close();
  await service.close();
});

async function post(path: string, headers: Record<string, string> = {}) {
  seen.length = 0;
  return (await app.inject({ method: 'POST', url: `/rs/shops/Alpha${path}`, headers })).statusCode;
}

test('an effect runs after the commit, before the answer', async () => {
  expect(await post('/done')).toBe(200);
  expect(seen).toEqual(['inside', 'done']);
});

test('a replayed answer has no effect', async () => {
  const headers = { 'idempotency-key': 'once' };
  expect(await post('/done', headers)).toBe(200);
  expect(seen).toEqual(['inside', 'done']);
  expect(await post('/done', headers)).toBe(200);
  expect(seen).toEqual([]);
});

test('a transaction that is tried again has its effects once', async () => {
  expect(await post('/again')).toBe(200);
  expect(seen).toEqual(['try 2']);
});

test('a refused write has no effect', async () => {
  expect(await post('/refused')).toBe(409);
  expect(seen).toEqual([]);
});

test('an effect that fails spoils neither the answer nor the next effect', async () => {
  expect(await post('/failing')).toBe(200);
  expect(seen).toEqual(['the next one']);
});
