import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenShop } from '../../../test/builders.ts';
import { kontorHere } from '../../../test/command.ts';
import { databaseEnvironment, startService, type Service } from '../../../test/service.ts';
import { startSmtp } from '../../../test/smtp.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Shop');
});
afterAll(() => service.close());

const doctor = (environment: Record<string, string>) =>
  kontorHere(['doctor'], { KONTOR_DATA: service.config.KONTOR_DATA, ...environment });

/** The lines of an answer by subject; the advice below a line belongs to it. */
function linesOf(stdout: string): Record<string, string> {
  const found = stdout.split('\n').filter((line) => /^(ok|note|PROBLEM) /.test(line));
  return Object.fromEntries(
    found.map((line) => [line.slice(9, 21).trim(), `${line.slice(0, 8).trim()}: ${line.slice(22)}`]),
  );
}

test('the database, the email server and the public address are asked', async () => {
  const smtp = await startSmtp();
  const site = createServer((request, response) => {
    response.statusCode = request.url === '/health' ? 200 : 404;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  const { port } = site.address() as AddressInfo;
  const { code, stdout, stderr } = await doctor({
    ...databaseEnvironment(service.database),
    SMTP_URL: `smtp://${smtp.host}`,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
  });
  const lines = linesOf(stdout);
  expect(lines).toMatchObject({
    Clock: 'ok: as the one of the database',
    Schema: 'ok: up to date',
    Backups: 'note: 1 of 1 shop without one in the last 7 days',
    Email: 'ok: the server of SMTP_URL answers',
    Address: `ok: http://127.0.0.1:${port} answers`,
    Certificate: 'PROBLEM: PUBLIC_URL is http',
  });
  expect(lines['Database']).toMatch(/^ok: PostgreSQL \d+.*, UTF8$/);
  // The server of the tests may lose everything.
  expect(stdout).toContain('PROBLEM  Durability   fsync is off\n');
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^kontor: \d problems\.\n$/)]);
  expect(smtp.taken).toEqual([]);
  await smtp.close();
  site.close();
});

test('a backup of the last week is found in the audit log', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'kontor-doctor-'));
  const environment = { KONTOR_DATA: service.config.KONTOR_DATA, ...databaseEnvironment(service.database) };
  await kontorHere(['shop', 'backup', 'Shop', path.join(folder, 'shop.backup')], environment);
  const { stdout } = await doctor(environment);
  expect(linesOf(stdout)['Backups']).toBe('ok: every shop has one of the last 7 days');
  await rm(folder, { recursive: true });
});

/** Nothing listens there any more. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('what does not answer is a problem with its reason, and no password is shown', async () => {
  const port = await closedPort();
  const { code, stdout, stderr } = await doctor({
    DATABASE_URL: 'postgres://kontor:hunter2@127.0.0.1:1/kontor',
    SMTP_URL: 'smtp://shop:hunter2@127.0.0.1:1',
    PUBLIC_URL: `https://127.0.0.1:${port}`,
  });
  const lines = linesOf(stdout);
  expect(lines['Database']).toMatch(/^PROBLEM: .*ECONNREFUSED/);
  expect(lines['Email']).toMatch(/^PROBLEM: the server of SMTP_URL does not take emails: .*ECONNREFUSED/);
  expect(lines['Address']).toBe(
    `PROBLEM: https://127.0.0.1:${port}/health: connect ECONNREFUSED 127.0.0.1:${port}`,
  );
  expect(code).toBe(1);
  expect(stdout + stderr).not.toContain('hunter2');
});

test('before the first start nothing is made', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'kontor-doctor-'));
  const { code, stdout } = await doctor({ KONTOR_DATA: folder });
  expect(linesOf(stdout)['Database']).toBe('ok: the first start makes it: npx kontor serve');
  expect([code, await readdir(folder)]).toEqual([0, []]);
  await rm(folder, { recursive: true });
});
