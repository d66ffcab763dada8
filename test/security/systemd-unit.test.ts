import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** The unit takes away what the service does not need: a hole in it must not become one in the machine. */

const UNIT = fileURLToPath(new URL('../../deploy/kontor.service', import.meta.url));

const settings = readFileSync(UNIT, 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    return key === undefined ? [] : [[key, value!] as const];
  });
const valuesOf = (name: string) => settings.filter(([key]) => key === name).map(([, value]) => value);

test.each([
  ['User', ['kontor']],
  ['CapabilityBoundingSet', ['']],
  ['NoNewPrivileges', ['true']],
  ['RestrictAddressFamilies', ['AF_INET AF_INET6 AF_UNIX AF_NETLINK']],
  ['SystemCallArchitectures', ['native']],
  ['SystemCallFilter', ['@system-service', '~@privileged @resources']],
  ['SystemCallErrorNumber', ['EPERM']],
  ['MemoryMax', ['2G']],
  ['ProtectSystem', ['strict']],
  ['PrivateDevices', ['true']],
  ['RestrictNamespaces', ['true']],
  // The compiler of Node.js writes code and runs it.
  ['MemoryDenyWriteExecute', []],
])('%s is %j', (name, values) => {
  expect(valuesOf(name)).toEqual(values);
});

const { status, stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', UNIT], {
  encoding: 'utf8',
});

test.skipIf(status !== 0)('systemd calls the exposure low', () => {
  const [, level] = /Overall exposure level for kontor\.service: ([\d.]+)/.exec(stdout)!;
  expect(Number(level)).toBeLessThan(2);
});
