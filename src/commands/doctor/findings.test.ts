import { expect, test } from 'vitest';
import { findingsOf, type DatabaseFacts, type InstallationFacts } from './findings.ts';

const GIGABYTE = 1_073_741_824;
const NOW = new Date('2026-11-18T12:00:00Z');

const DATABASE: DatabaseFacts = {
  isEmbedded: false,
  versionNumber: 150_018,
  versionText: '15.18',
  settings: { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', max_connections: '100' },
  encoding: 'UTF8',
  clockAheadMs: 40,
  pendingMigrations: 0,
  shops: 3,
  shopsWithoutBackup: 0,
  domains: ['tea.example'],
};

const SOUND: InstallationFacts = {
  version: '1.0.0',
  node: 'v20.19.0',
  memoryBytes: 4 * GIGABYTE,
  processes: 2,
  connectionsPerProcess: 10,
  dataFolder: '/srv/kontor',
  disk: { freeBytes: 40 * GIGABYTE, totalBytes: 80 * GIGABYTE },
  database: DATABASE,
  email: 'answers',
  isPublic: true,
  trustsProxy: true,
  site: { url: 'https://shops.example', health: 'answers', certificateEnds: new Date('2027-01-31') },
  certificateAsk: 'answers',
  domains: [{ host: 'tea.example', state: 'valid', certificateEnds: new Date('2027-01-31') }],
};

test('a sound installation has neither problems nor notes', () => {
  const findings = findingsOf(SOUND, NOW);
  expect(findings.filter(({ severity }) => severity !== 'ok')).toEqual([]);
  expect(findings.map(({ subject }) => subject)).toEqual([
    'Program',
    'Memory',
    'Disk',
    'Database',
    'Durability',
    'Connections',
    'Clock',
    'Schema',
    'Backups',
    'Email',
    'Address',
    'Certificate',
    'Ask',
    'Domains',
  ]);
});

const database = (facts: Partial<DatabaseFacts>): Partial<InstallationFacts> => ({
  database: { ...DATABASE, ...facts },
});
const site = (facts: Partial<InstallationFacts['site']>): Partial<InstallationFacts> => ({
  site: { ...SOUND.site!, ...facts },
});

test.each<[subject: string, severity: string, found: string, facts: Partial<InstallationFacts>]>([
  ['Program', 'problem', 'Kontor 1.0.0 on Node v20.18.3', { node: 'v20.18.3' }],
  ['Program', 'problem', 'Kontor 1.0.0 on Node v18.20.0', { node: 'v18.20.0' }],
  ['Memory', 'note', '1.0 GB of memory for 2 processes', { memoryBytes: GIGABYTE }],
  ['Disk', 'problem', 'EACCES', { disk: { problem: 'EACCES' } }],
  [
    'Disk',
    'problem',
    '0.5 GB of 4.0 GB free for /srv/kontor',
    { disk: { freeBytes: GIGABYTE / 2, totalBytes: 4 * GIGABYTE } },
  ],
  [
    'Disk',
    'note',
    '5.0 GB of 80.0 GB free for /srv/kontor',
    { disk: { freeBytes: 5 * GIGABYTE, totalBytes: 80 * GIGABYTE } },
  ],
  ['Database', 'problem', 'refused', { database: { problem: 'refused' } }],
  ['Database', 'problem', 'PostgreSQL 14.9, UTF8', database({ versionNumber: 140_009, versionText: '14.9' })],
  ['Database', 'problem', 'PostgreSQL 15.18, SQL_ASCII', database({ encoding: 'SQL_ASCII' })],
  ['Durability', 'problem', 'fsync is off', database({ settings: { ...DATABASE.settings, fsync: 'off' } })],
  ['Connections', 'problem', 'up to 100 of 100 connections', { connectionsPerProcess: 50 }],
  ['Clock', 'problem', 'the database is 3.0 s ahead', database({ clockAheadMs: 3_000 })],
  ['Clock', 'problem', 'the database is 7.5 s behind', database({ clockAheadMs: -7_500 })],
  ['Schema', 'note', '1 migration is pending', database({ pendingMigrations: 1 })],
  ['Backups', 'note', '2 of 3 shops without one in the last 7 days', database({ shopsWithoutBackup: 2 })],
  ['Email', 'problem', 'written to files in /srv/kontor/mails', { email: 'files' }],
  [
    'Email',
    'problem',
    'the server of SMTP_URL does not take emails: 535 no',
    { email: { problem: '535 no' } },
  ],
  ['Address', 'problem', 'others can reach the service, and PUBLIC_URL is not set', { site: undefined }],
  [
    'Address',
    'problem',
    'https://shops.example/health: status 502',
    site({ health: { problem: 'status 502' } }),
  ],
  ['Proxy', 'note', 'TRUST_PROXY is not set', { trustsProxy: false }],
  ['Certificate', 'problem', 'valid until 2026-11-30', site({ certificateEnds: new Date('2026-11-30') })],
  [
    'Certificate',
    'problem',
    'PUBLIC_URL is http',
    site({ url: 'http://shops.example', certificateEnds: undefined }),
  ],
  [
    'Ask',
    'problem',
    'CERTIFICATE_ASK_PORT: connect ECONNREFUSED',
    { certificateAsk: { problem: 'connect ECONNREFUSED' } },
  ],
  [
    'Domains',
    'note',
    'tea.example: its certificate expires soon, valid until 2026-11-30',
    { domains: [{ host: 'tea.example', state: 'valid', certificateEnds: new Date('2026-11-30') }] },
  ],
  [
    'Domains',
    'note',
    'tea.example: no certificate',
    { domains: [{ host: 'tea.example', state: 'none', certificateEnds: null }] },
  ],
])('%s, %s: %s', (subject, severity, found, facts) => {
  const wrong = findingsOf({ ...SOUND, ...facts }, NOW).filter((finding) => finding.severity !== 'ok');
  expect(wrong).toEqual([{ subject, severity, found, advice: expect.stringMatching(/\.$|^alter system/) }]);
});

test('a trial on the own machine writes emails to files and needs no certificate', () => {
  const trial = {
    ...SOUND,
    isPublic: false,
    site: undefined,
    certificateAsk: undefined,
    domains: [],
    email: 'files',
    database: 'not made yet',
  } as const;
  expect(findingsOf(trial, NOW).filter(({ severity }) => severity !== 'ok')).toEqual([]);
});
