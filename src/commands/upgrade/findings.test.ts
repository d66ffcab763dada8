import { expect, test } from 'vitest';
import { upgradeFindings, type UpgradeFacts } from './findings.ts';

const upToDate: UpgradeFacts = {
  version: '1.1.0',
  node: 'v24.1.0',
  lastVersion: '1.1.0',
  database: { pending: [], unknown: [], shops: 2, shopsWithoutBackup: 0 },
  newest: undefined,
};

/** Severity and text of each finding, by subject. */
const found = (facts: Partial<UpgradeFacts>) =>
  Object.fromEntries(
    upgradeFindings({ ...upToDate, ...facts }).map(({ subject, severity, found: text }) => [
      subject,
      `${severity}: ${text}`,
    ]),
  );

test('nothing is to do where this version has served last', () => {
  expect(found({})).toEqual({
    Program: 'ok: Kontor 1.1.0 on Node v24.1.0',
    Upgrade: 'ok: none: 1.1.0 has served last',
    Schema: 'ok: up to date',
    'Way back': 'ok: the version before has the same schema, or this one has served',
    Backups: 'ok: every shop has one of the last 7 days',
  });
});

test('pending migrations are named, five at most, and leave only a backup as the way back', () => {
  const pending = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `${name}.sql`);
  const database = { pending, unknown: [], shops: 2, shopsWithoutBackup: 1 };
  expect(found({ lastVersion: '1.0.0', database })).toMatchObject({
    Upgrade: 'ok: from 1.0.0 to 1.1.0',
    Schema: 'note: 7 migrations to apply: a.sql, b.sql, c.sql, d.sql, e.sql and 2 more',
    'Way back': 'note: only a backup: migrations are not taken back',
    Backups: 'note: 1 of 2 shops without one in the last 7 days',
  });
});

test('a database of a newer version is a problem', () => {
  const database = { pending: [], unknown: ['new.sql'], shops: 2, shopsWithoutBackup: 0 };
  expect(found({ lastVersion: '1.2.0', database })).toMatchObject({
    Upgrade: 'problem: 1.2.0 has served last, which is newer than 1.1.0',
    Schema: 'problem: 1 migration of a newer version: new.sql',
    'Way back': 'problem: a downgrade: migrations are not taken back',
  });
});

test.each([
  [undefined, undefined],
  [{ version: '1.1.0' }, 'ok: 1.1.0 is the newest'],
  [{ version: '1.0.9' }, 'ok: 1.0.9 is the newest'],
  [{ version: '1.10.0' }, 'note: 1.10.0 is newer than this program'],
  [{ problem: 'status 500' }, 'note: the registry does not answer: status 500'],
] as const)('of %j the registry says %s', (newest, text) => {
  expect(found({ newest })['Published']).toBe(text);
});
