import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { areMetricsServed, metricsServer } from '../../src/platform/metrics.ts';
import { startService, type Service } from '../service.ts';

/** The metrics tell how much is sold and when: they are for the operator, and for nobody else who finds the address. */

const TOKEN = 'scrape-me-0123456789';
let owner: Service;
const services: Service[] = [];

beforeAll(async () => {
  owner = await startService();
});

afterAll(async () => {
  for (const service of services) await service.close();
  await owner.close();
});

async function start(environment: Record<string, string>): Promise<Service> {
  const service = await startService(environment, owner);
  services.push(service);
  return service;
}

async function read(service: Service, headers: Record<string, string> = {}, remoteAddress = '127.0.0.1') {
  const { statusCode, body } = await service.app.inject({ url: '/metrics', headers, remoteAddress });
  expect(body.includes('http_request_duration_seconds')).toBe(statusCode === 200);
  return statusCode;
}

test('a private service shows them to this machine alone', async () => {
  expect(await read(owner)).toBe(200);
  expect(await read(owner, { host: 'shops.example' })).toBe(404);
  expect(await read(owner, { 'x-forwarded-for': '192.0.2.1' })).toBe(404);
  expect(await read(owner, {}, '192.0.2.1')).toBe(404);
});

test.each([{ HOST: '0.0.0.0' }, { PUBLIC_URL: 'https://shops.example' }, { TRUST_PROXY: '127.0.0.1' }])(
  'with %j and nothing else they are switched off, also for a proxy on this machine',
  async (environment) => {
    const service = await start(environment);
    expect(await read(service)).toBe(404);
    expect(await read(service, { authorization: 'Bearer ' })).toBe(404);
    expect(areMetricsServed(service.config)).toBe(false);
  },
);

test('METRICS_TOKEN opens them to whoever holds it', async () => {
  const service = await start({ HOST: '0.0.0.0', METRICS_TOKEN: TOKEN });
  const elsewhere = { host: 'shops.example', 'x-forwarded-for': '192.0.2.1' };
  expect(await read(service, { ...elsewhere, authorization: `Bearer ${TOKEN}` })).toBe(200);
  for (const authorization of [
    '',
    'Bearer',
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(1)}`,
    TOKEN,
    'Basic eDp5',
  ]) {
    expect(await read(service, { authorization })).toBe(401);
  }
  expect(await read(service)).toBe(401);
  expect(areMetricsServed(service.config)).toBe(true);
});

test('METRICS_PORT is the only place where they are, and nothing else is there', async () => {
  const service = await start({ HOST: '0.0.0.0', METRICS_PORT: '0' });
  expect(await read(service)).toBe(404);
  const server = metricsServer(service.app, service.config);
  await server.listen({ host: '127.0.0.1', port: 0 });
  try {
    const origin = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
    await service.call('GET', '/Nowhere');
    const answer = await fetch(`${origin}/metrics`);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain(
      'http_request_duration_seconds_count{method="GET",route="/rs/shops/:shopId"',
    );
    for (const path of ['/', '/health', '/rs/shops/Alpha', '/docs', '/metrics/x']) {
      expect((await fetch(origin + path)).status).toBe(404);
    }
  } finally {
    await server.close();
  }
});

test('with both, the port asks for the token', async () => {
  const service = await start({ METRICS_PORT: '0', METRICS_TOKEN: TOKEN });
  const server = metricsServer(service.app, service.config);
  expect((await server.inject({ url: '/metrics' })).statusCode).toBe(401);
  const headers = { authorization: `Bearer ${TOKEN}` };
  expect((await server.inject({ url: '/metrics', headers })).statusCode).toBe(200);
  await server.close();
});

test('a token that can be guessed is refused at the start, and not shown', () => {
  expect(() => readConfig({ METRICS_TOKEN: 'hunter2' })).toThrow(
    /^METRICS_TOKEN is not as it should be, expected at least 16 letters(?!.*hunter2)/,
  );
});
