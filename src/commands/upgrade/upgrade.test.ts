import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenShop } from '../../../test/builders.ts';
import { kontorHere } from '../../../test/command.ts';
import { databaseEnvironment, startService, type Service } from '../../../test/service.ts';
import { noteVersion, programVersion } from '../../platform/version.ts';

let service: Service;
/** Stands for the registry of npm. */
let registry: Server;
let answer: string;
let asked: (string | undefined)[] = [];

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Shop');
  registry = createServer((request, response) => {
    asked.push(request.url);
    response.end(answer);
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
});
afterAll(async () => {
  registry.close();
  await service.close();
});

const check = (...options: string[]) =>
  kontorHere(['upgrade', '--check', ...options], {
    KONTOR_DATA: service.config.KONTOR_DATA,
    ...databaseEnvironment(service.database),
  });
const registryOption = () => ['--registry', `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`];

test('a database of this version is up to date, and the version that has served is known', async () => {
  expect((await check()).stdout).toContain(
    'note     Upgrade      no version has noted in KONTOR_DATA that it has served\n',
  );
  await noteVersion(service.config.KONTOR_DATA);
  const { code, stdout, stderr } = await check();
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain(`ok       Upgrade      none: ${programVersion()} has served last\n`);
  expect(stdout).toContain('ok       Schema       up to date\n');
  expect(stdout).toContain('note     Backups      1 of 1 shop without one in the last 7 days\n');
  expect(stdout).toMatch(/\n\nNo problems\. Next: docs\/operations\/upgrade\.md\n$/);
  expect(asked).toEqual([]);
});

test('the changelog since the version that has served last comes first', async () => {
  await writeFile(path.join(service.config.KONTOR_DATA, 'version'), '0.9.0\n');
  const { stdout } = await check();
  expect(stdout).toMatch(/^## \d/);
  expect(stdout).toContain('## 1.0.0 (2026-11-16)\n\nThe first release.');
  expect(stdout).not.toContain('## Unreleased');
  expect(stdout).toContain(`ok       Upgrade      from 0.9.0 to ${programVersion()}\n`);
});

test('a migration that is missing is to apply, and one that only a newer version knows is a problem', async () => {
  const { pool } = service.db;
  const { rows } = await pool.query<{ name: string }>('select max(name) as name from migration');
  const [{ name }] = rows as [{ name: string }];
  await pool.query("update migration set name = '9999_later.sql' where name = $1", [name]);
  const { code, stdout, stderr } = await check();
  expect([code, stderr]).toEqual([1, 'kontor: 2 problems.\n']);
  expect(stdout).toContain('PROBLEM  Schema       1 migration of a newer version: 9999_later.sql\n');
  expect(stdout).toContain('PROBLEM  Way back     a downgrade: migrations are not taken back\n');

  await pool.query("delete from migration where name = '9999_later.sql'");
  const pending = await check();
  expect(pending.code).toBe(0);
  expect(pending.stdout).toContain(`note     Schema       1 migration to apply: ${name}\n`);
  // It was only looked at.
  const { rows: after } = await pool.query('select name from migration where name = $1', [name]);
  expect(after).toEqual([]);
});

test('the registry is asked only with --online, and what it says is not trusted', async () => {
  asked = [];
  answer = JSON.stringify({ name: 'kontor', version: '999.0.1' });
  expect((await check('--online', ...registryOption())).stdout).toContain(
    'note     Published    999.0.1 is newer than this program\n',
  );
  expect(asked).toEqual(['/kontor/latest']);
  for (const [text, problem] of [
    [JSON.stringify({ version: '1.0.0\u001b[2J' }), 'its answer names no version'],
    [`{"version": "${'1'.repeat(2_000_000)}"}`, 'its answer is too long'],
  ] as const) {
    answer = text;
    const { code, stdout } = await check('--online', ...registryOption());
    expect(code).toBe(0);
    expect(stdout).toContain(`the registry does not answer: ${problem}\n`);
  }
});

test('wrong calls say what is right, and ask nobody', async () => {
  asked = [];
  const call = (...words: string[]) => kontorHere(['upgrade', ...words], {});
  expect((await call()).stderr).toBe('kontor: --check is missing. See: npx kontor upgrade --help\n');
  expect((await call('--check', ...registryOption())).stderr).toBe(
    'kontor: --registry goes with --online. See: npx kontor upgrade --help\n',
  );
  expect((await call('--check', '--online', '--registry', 'npm')).stderr).toBe(
    'kontor: --registry is an address such as https://registry.npmjs.org. See: npx kontor upgrade --help\n',
  );
  expect(asked).toEqual([]);
});
