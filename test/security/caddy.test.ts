import { spawn, type ChildProcess } from 'node:child_process';
import dns from 'node:dns';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { certificateAskServer } from '../../src/shops/domains/ask-server.ts';
import { givenMerchant, type Merchant } from '../admin.ts';
import { givenShop, givenToken } from '../builders.ts';
import { startDnsServer, type DnsServer } from '../dns-server.ts';
import { findCaddy, NO_CADDY } from '../find-caddy.ts';
import { startService, type Service } from '../service.ts';

/*
 * deploy/Caddyfile with a real Caddy and its own authority: only the ports, the folder and the authority are changed. A
 * domain goes from the claim to its certificate and back, as a merchant does it.
 */

const CADDY = findCaddy();
const CADDYFILE = path.join(import.meta.dirname, '../../deploy/Caddyfile');
const HOST = 'www.tea.example';
/** Seconds that a certificate is valid, so that the test sees the end of one. */
const LIFETIME = 5;

let service: Service;
let asks: FastifyInstance;
let caddy: ChildProcess | undefined;
let ended: Promise<unknown>;
let names: DnsServer;
let merchant: Merchant;
let folder: string;
let httpsPort: number;
const systemServers = dns.getServers();

beforeEach((context) => context.skip(CADDY === undefined, NO_CADDY));

beforeAll(async () => {
  if (CADDY === undefined) return;
  names = await startDnsServer();
  dns.setServers([names.address]);
  folder = await mkdtemp(path.join(tmpdir(), 'kontor-caddy-'));
  const [httpPort, tlsPort] = (await freePorts(2)) as [number, number];
  httpsPort = tlsPort;
  service = await startService({
    PUBLIC_URL: `https://shops.example:${httpsPort}`,
    PUBLIC_ADDRESSES: '127.0.0.1',
    TRUST_PROXY: '127.0.0.1',
    CERTIFICATE_ASK_PORT: '0',
  });
  await givenShop(service, 'Alpha');
  merchant = await givenMerchant(service, 'owner', 'Alpha');
  const address = await service.app.listen({ host: '127.0.0.1', port: 0 });
  asks = certificateAskServer(service.app.shopHosts, pino({ level: 'silent' }));
  const askAddress = await asks.listen({ host: '127.0.0.1', port: 0 });
  const file = path.join(folder, 'Caddyfile');
  await writeFile(
    file,
    (await readFile(CADDYFILE, 'utf8'))
      .replace('\ton_demand_tls {', `${options(httpPort)}\ton_demand_tls {`)
      .replace('shops.example} {\n', 'shops.example} {\n\ttls internal\n')
      .replace('http://127.0.0.1:8081', askAddress)
      .replace('127.0.0.1:8080', address.replace('http://', ''))
      .replace(
        '\t\ton_demand\n',
        `\t\ton_demand\n\t\tissuer internal {\n\t\t\tlifetime ${LIFETIME}s\n\t\t}\n`,
      ),
  );
  caddy = spawn(CADDY, ['run', '--config', file, '--adapter', 'caddyfile'], {
    env: { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: 'ignore',
  });
  ended = once(caddy, 'exit');
  await until(() => certificateOf('shops.example'), 10_000);
}, 60_000);

afterAll(async () => {
  if (CADDY === undefined) return;
  dns.setServers(systemServers);
  if (caddy) {
    caddy.kill();
    await ended;
  }
  names.close();
  await asks?.close();
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

const options = (httpPort: number) =>
  [
    'admin off',
    `http_port ${httpPort}`,
    `https_port ${httpsPort}`,
    `storage file_system ${folder}`,
    'skip_install_trust',
  ]
    .map((line) => `\t${line}\n`)
    .join('');

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => net.createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) server.close();
  return ports;
}

/** Waits for an answer. */
async function until<Answer>(ask: () => Promise<Answer | undefined>, patience: number): Promise<Answer> {
  for (const end = Date.now() + patience; Date.now() < end; await sleep(50)) {
    const answer = await ask();
    if (answer !== undefined) return answer;
  }
  throw new Error('It did not come in time');
}

/** GET / as a browser that trusts Caddy's authority; undefined: there is no certificate for the name. */
async function pageOf(name: string): Promise<{ status: number; body: string; names: string } | undefined> {
  const ca = await readFile(path.join(folder, 'pki/authorities/local/root.crt'), 'utf8').catch(
    () => undefined,
  );
  if (ca === undefined) return undefined;
  return new Promise((resolve) => {
    const request = https.get(
      {
        host: '127.0.0.1',
        port: httpsPort,
        servername: name,
        ca,
        agent: false,
        headers: { host: name === 'shops.example' ? `${name}:${httpsPort}` : name },
      },
      (response) => {
        const { subjectaltname = '' } = (response.socket as TLSSocket).getPeerCertificate();
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => (body += part));
        response.on('end', () => resolve({ status: response.statusCode!, body, names: subjectaltname }));
      },
    );
    request.on('error', () => resolve(undefined));
  });
}

const certificateOf = async (name: string) => (await pageOf(name))?.names;

const steps = async () => {
  const token = await givenToken(service, 'Alpha', ['orders_read']);
  const { body } = await service.call('GET', '/manage/shops/Alpha/domains', { token });
  const [domain] = body.items;
  return {
    ...domain,
    steps: domain.steps.map((step: { state: string; reason: string }) => `${step.state}: ${step.reason}`),
  };
};

/** What the owner's browser sends to the host of the service. */
async function sent(url: string, fields?: Record<string, string>) {
  const origin = `https://shops.example:${httpsPort}`;
  const response = await service.app.inject({
    method: fields ? 'POST' : 'GET',
    url: `/admin/shops/Alpha${url}`,
    headers: {
      host: origin.replace('https://', ''),
      cookie: `__Host-${merchant.cookie}`,
      ...(fields && {
        origin,
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
      }),
    },
    ...(fields && { payload: new URLSearchParams(fields).toString() }),
  });
  expect(response.statusCode).toBe(fields ? 303 : 200);
  return response.body;
}

async function saveDomains(domains: string[]) {
  const [, version] = /name="version"[^>]*value="([^"]*)"/.exec(await sent('/settings/domains'))!;
  await sent('/settings/domains', { version: version!, domains: domains.join('\n') });
}

test('a domain goes from the claim to its certificate, and loses it when it is removed', async () => {
  expect(await pageOf('shops.example')).toMatchObject({ status: 200, names: 'DNS:shops.example' });
  expect(await pageOf(HOST)).toBeUndefined();

  await saveDomains([HOST]);
  const claimed = await steps();
  expect(claimed.steps).toEqual(['waiting: notProved', 'waiting: notChecked', 'waiting: afterProof']);
  expect(await pageOf(HOST)).toBeUndefined();

  const text = await sent('/settings/domains');
  const [, record] = /<td>(kontor-domain-verification=[0-9a-f]{32})<\/td>/.exec(text)!;
  names.set('TXT', `_kontor-challenge.${HOST}`, record!);
  names.set('A', HOST, '127.0.0.1');
  // The question about the certificate is what makes Caddy get it.
  await sent('/settings/domains/check', { host: HOST });
  expect(await steps()).toMatchObject({
    host: HOST,
    used: true,
    addresses: ['127.0.0.1'],
    certificate: { issuer: expect.stringContaining('Caddy Local Authority'), names: [HOST] },
    // The machine does not trust Caddy's authority, as no browser does.
    steps: ['done: proved', 'done: pointsHere', 'problem: untrusted'],
  });
  expect(await pageOf(HOST)).toMatchObject({
    status: 200,
    names: `DNS:${HOST}`,
    body: expect.stringContaining('<title>Alpha</title>'),
  });
  for (const stranger of ['tea.example', `x.${HOST}`, 'other.example', 'localhost']) {
    expect([stranger, await pageOf(stranger)]).toEqual([stranger, undefined]);
  }

  await saveDomains([]);
  // Caddy asks again when it renews, and shows what it has until then.
  expect(await until(async () => ((await pageOf(HOST)) ? undefined : 'lost'), LIFETIME * 2_000)).toBe('lost');
  await sleep(1_000);
  expect(await pageOf(HOST)).toBeUndefined();
}, 60_000);
