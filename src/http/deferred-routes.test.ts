import Fastify, { type FastifyInstance } from 'fastify';
import { expect, test } from 'vitest';
import { deferRoutes, isDeferred } from './deferred-routes.ts';

async function given(make: () => Promise<{ instance: FastifyInstance }>) {
  const app = Fastify();
  const seen: string[] = [];
  const deferred = deferRoutes(app, ['/later', '/later/*', '/files/later*'], make);
  app.addHook('onRequest', async ({ url }) => void seen.push(url));
  app.addHook(
    'onResponse',
    async (request) => void (isDeferred(request) || seen.push(`${request.url} done`)),
  );
  app.get('/now', async () => 'now');
  app.addHook('onClose', () => deferred.close());
  return { app, seen, deferred };
}

test('one app is made for all requests, with the first of them, and only its hooks run', async () => {
  let made = 0;
  let isClosed = false;
  const { app, seen } = await given(async () => {
    made++;
    const instance = Fastify();
    instance.addHook('onClose', async () => void (isClosed = true));
    instance.get('/later', async () => 'later');
    instance.post('/later/form', async ({ body }) => body);
    instance.get('/files/later.:hash', async ({ params }) => params);
    await instance.ready();
    return { instance };
  });
  expect((await app.inject('/now')).body).toBe('now');
  const once = ['/now', '/now done'];
  expect([made, seen]).toEqual([0, once]);
  const [first, form, file, none] = await Promise.all([
    app.inject('/later'),
    app.inject({ method: 'POST', url: '/later/form', payload: { typed: 'text' } }),
    app.inject('/files/later.abc'),
    app.inject('/later/none'),
  ]);
  expect(first.body).toBe('later');
  expect(form.json()).toEqual({ typed: 'text' });
  expect(file.json()).toEqual({ hash: 'abc' });
  expect(none.statusCode).toBe(404);
  expect([made, seen]).toEqual([1, once]);
  await app.close();
  expect(isClosed).toBe(true);
});

test('an app that cannot be made fails its requests alone, and the next one tries again', async () => {
  let tries = 0;
  const { app } = await given(async () => {
    if (++tries === 1) throw new Error('a file is missing');
    const instance = Fastify();
    instance.get('/later', async () => 'later');
    await instance.ready();
    return { instance };
  });
  expect((await app.inject('/later')).statusCode).toBe(500);
  expect((await app.inject('/now')).statusCode).toBe(200);
  expect((await app.inject('/later')).body).toBe('later');
  await app.close();
});
