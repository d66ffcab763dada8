import type { CertificateState } from '../../shops/domains/certificate-look.ts';

/** The findings about an installation. Parts that were not asked for, or that do not apply, are undefined. */
export interface InstallationFacts {
  version: string;
  /** As Node says it: `v20.19.0`. */
  node: string;
  memoryBytes: number;
  processes: number;
  connectionsPerProcess: number;
  dataFolder: string;
  disk: { freeBytes: number; totalBytes: number } | { problem: string };
  /** The first start makes the embedded one. */
  database: DatabaseFacts | 'not made yet' | { problem: string };
  email: 'files' | 'answers' | { problem: string };
  /** Others can reach the service, by what the environment says. */
  isPublic: boolean;
  trustsProxy: boolean;
  site: SiteFacts | undefined;
  /** How CERTIFICATE_ASK_PORT answers; undefined: it is not set. */
  certificateAsk: 'answers' | { problem: string } | undefined;
  /** The certificates of some domains of shops, as the proxy shows them. */
  domains: readonly DomainFacts[];
}

export interface DomainFacts {
  host: string;
  state: CertificateState;
  certificateEnds: Date | null;
}

export interface DatabaseFacts extends BackupCount {
  isEmbedded: boolean;
  /** `180004` is 18.4. */
  versionNumber: number;
  versionText: string;
  /** Settings of the server by name. */
  settings: Readonly<Record<string, string>>;
  encoding: string;
  /** How far its clock is ahead of the one of this machine. */
  clockAheadMs: number;
  pendingMigrations: number;
  /** Some of the proved domains of shops. */
  domains: readonly string[];
}

export interface BackupCount {
  shops: number;
  /** Shops without a backup by the command or the service in the last week. */
  shopsWithoutBackup: number;
}

/** How PUBLIC_URL is seen from here. */
export interface SiteFacts {
  url: string;
  health: 'answers' | { problem: string };
  /** Undefined without TLS. */
  certificateEnds: Date | undefined;
}

export type Severity = 'ok' | 'note' | 'problem';

export interface Finding {
  subject: string;
  severity: Severity;
  found: string;
  /** What to do; always there when something is wrong. */
  advice?: string;
}

const GIGABYTE = 1_073_741_824;
const DAY = 86_400_000;
const MIN_NODE = [20, 19] as const;
const MIN_POSTGRESQL = 150_000;
const MAX_CLOCK_DIFFERENCE_MS = 2_000;
const MIN_FREE_BYTES = GIGABYTE;
const MIN_FREE_SHARE = 0.1;
const MIN_CERTIFICATE_DAYS = 14;

/** The command line, migrations, monitoring and an administrator need connections too. */
const SPARE_CONNECTIONS = 10;

/** What an operator should know, in the order in which it would be mended. */
export function findingsOf(facts: InstallationFacts, now: Date): Finding[] {
  return [
    programFinding(facts),
    memoryFinding(facts),
    diskFinding(facts),
    ...databaseFindings(facts),
    emailFinding(facts),
    ...siteFindings(facts, now),
  ];
}

export function programFinding({ version, node }: Pick<InstallationFacts, 'version' | 'node'>): Finding {
  const [major = 0, minor = 0] = node.replace('v', '').split('.').map(Number);
  const isOld = major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1]);
  const found = `Kontor ${version} on Node ${node}`;
  if (!isOld) return { subject: 'Program', severity: 'ok', found };
  return { subject: 'Program', severity: 'problem', found, advice: 'Install Node 20.19 or newer.' };
}

function memoryFinding({ memoryBytes, processes, database }: InstallationFacts): Finding {
  const isEmbedded = database === 'not made yet' || ('isEmbedded' in database && database.isEmbedded);
  const needed = (processes + (isEmbedded ? 1 : 0)) * GIGABYTE;
  const found = `${gigabytes(memoryBytes)} of memory for ${processes === 1 ? 'one process' : `${processes} processes`}${isEmbedded ? ' and PostgreSQL' : ''}`;
  // A machine of 2 GB reports somewhat less.
  if (memoryBytes >= needed * 0.9) return { subject: 'Memory', severity: 'ok', found };
  return {
    subject: 'Memory',
    severity: 'note',
    found,
    advice: `Give the machine ${gigabytes(needed)}, or set PROCESSES and CACHE_MB lower.`,
  };
}

function diskFinding({ disk, dataFolder }: InstallationFacts): Finding {
  if ('problem' in disk) {
    return {
      subject: 'Disk',
      severity: 'problem',
      found: disk.problem,
      advice: `KONTOR_DATA names ${dataFolder}: run this as the user that runs the service.`,
    };
  }
  const found = `${gigabytes(disk.freeBytes)} of ${gigabytes(disk.totalBytes)} free for ${dataFolder}`;
  const isFull = disk.freeBytes < MIN_FREE_BYTES;
  if (!isFull && disk.freeBytes >= disk.totalBytes * MIN_FREE_SHARE) {
    return { subject: 'Disk', severity: 'ok', found };
  }
  return {
    subject: 'Disk',
    severity: isFull ? 'problem' : 'note',
    found,
    advice: 'Free some space: a full disk stops the database.',
  };
}

type Missing = 'not made yet' | { problem: string };

export const isMissing = (database: object | 'not made yet'): database is Missing =>
  database === 'not made yet' || 'problem' in database;

export const missingFinding = (database: Missing): Finding =>
  database === 'not made yet'
    ? { subject: 'Database', severity: 'ok', found: 'the first start makes it: npx kontor serve' }
    : {
        subject: 'Database',
        severity: 'problem',
        found: database.problem,
        advice: 'Check DATABASE_URL, or see postgres.log in the data folder.',
      };

function databaseFindings({ database, processes, connectionsPerProcess }: InstallationFacts): Finding[] {
  if (isMissing(database)) return [missingFinding(database)];
  return [
    versionFinding(database),
    ...durabilityFindings(database),
    connectionsFinding(database, processes * connectionsPerProcess),
    clockFinding(database),
    migrationsFinding(database),
    backupFinding(database),
  ];
}

function versionFinding({ isEmbedded, versionNumber, versionText, encoding }: DatabaseFacts): Finding {
  const found = `PostgreSQL ${versionText}${isEmbedded ? ', embedded' : ''}, ${encoding}`;
  if (versionNumber < MIN_POSTGRESQL) {
    return { subject: 'Database', severity: 'problem', found, advice: 'Upgrade PostgreSQL to 15 or newer.' };
  }
  if (encoding !== 'UTF8') {
    return {
      subject: 'Database',
      severity: 'problem',
      found,
      advice: 'Create the database with encoding UTF8: other encodings refuse names of customers.',
    };
  }
  return { subject: 'Database', severity: 'ok', found };
}

/** Each of these, switched off, loses acknowledged orders when a machine loses power. */
const DURABLE: readonly string[] = ['fsync', 'full_page_writes', 'synchronous_commit'];

function durabilityFindings({ settings }: DatabaseFacts): Finding[] {
  const off = DURABLE.filter((name) => settings[name] === 'off');
  if (off.length === 0) {
    return [{ subject: 'Durability', severity: 'ok', found: 'orders survive a loss of power' }];
  }
  return off.map((name) => ({
    subject: 'Durability',
    severity: 'problem',
    found: `${name} is off`,
    advice: `alter system set ${name} = on; a loss of power may cost orders that were confirmed, or the whole database.`,
  }));
}

function connectionsFinding({ settings }: DatabaseFacts, used: number): Finding {
  const allowed = Number(settings['max_connections']);
  const found = `up to ${used} of ${allowed} connections`;
  if (used + SPARE_CONNECTIONS <= allowed) return { subject: 'Connections', severity: 'ok', found };
  return {
    subject: 'Connections',
    severity: 'problem',
    found,
    advice: `Raise max_connections to ${used + SPARE_CONNECTIONS} or more, or set DATABASE_POOL or PROCESSES lower.`,
  };
}

function clockFinding({ clockAheadMs }: DatabaseFacts): Finding {
  const seconds = (Math.abs(clockAheadMs) / 1000).toFixed(1);
  if (Math.abs(clockAheadMs) <= MAX_CLOCK_DIFFERENCE_MS) {
    return { subject: 'Clock', severity: 'ok', found: 'as the one of the database' };
  }
  return {
    subject: 'Clock',
    severity: 'problem',
    found: `the database is ${seconds} s ${clockAheadMs > 0 ? 'ahead' : 'behind'}`,
    advice:
      'Synchronise both machines (timedatectl set-ntp true): codes and sessions end too early or too late.',
  };
}

function migrationsFinding({ pendingMigrations: pending }: DatabaseFacts): Finding {
  if (pending === 0) return { subject: 'Schema', severity: 'ok', found: 'up to date' };
  return {
    subject: 'Schema',
    severity: 'note',
    found: `${pending} ${pending === 1 ? 'migration is' : 'migrations are'} pending`,
    advice: 'The next start applies them; npx kontor db migrate does it now.',
  };
}

export function backupFinding({ shops, shopsWithoutBackup: missing }: BackupCount): Finding {
  if (missing === 0) {
    const found = shops === 0 ? 'there is no shop' : 'every shop has one of the last 7 days';
    return { subject: 'Backups', severity: 'ok', found };
  }
  return {
    subject: 'Backups',
    severity: 'note',
    found: `${missing} of ${shops} ${shops === 1 ? 'shop' : 'shops'} without one in the last 7 days`,
    advice:
      'npx kontor shop backup ID FILE makes one, and BACKUP_URL one of every shop every day. Backups of the whole database by other programs are not known here.',
  };
}

function emailFinding({ email, dataFolder, isPublic }: InstallationFacts): Finding {
  if (email === 'answers')
    return { subject: 'Email', severity: 'ok', found: 'the server of SMTP_URL answers' };
  if (email === 'files') {
    return {
      subject: 'Email',
      severity: isPublic ? 'problem' : 'ok',
      found: `written to files in ${dataFolder}/mails`,
      ...(isPublic && { advice: 'Set SMTP_URL: customers get no email.' }),
    };
  }
  return {
    subject: 'Email',
    severity: 'problem',
    found: `the server of SMTP_URL does not take emails: ${email.problem}`,
    advice: 'Check SMTP_URL. Emails wait until it answers, and are then sent.',
  };
}

function siteFindings(facts: InstallationFacts, now: Date): Finding[] {
  const { isPublic, trustsProxy, site } = facts;
  if (!isPublic || site === undefined) {
    return isPublic
      ? [
          {
            subject: 'Address',
            severity: 'problem',
            found: 'others can reach the service, and PUBLIC_URL is not set',
            advice: 'Set PUBLIC_URL to the address that people open, such as https://shops.example.',
          },
        ]
      : [{ subject: 'Address', severity: 'ok', found: 'for this machine only' }];
  }
  return [
    healthFinding(site),
    ...(trustsProxy
      ? []
      : [
          {
            subject: 'Proxy',
            severity: 'note' as const,
            found: 'TRUST_PROXY is not set',
            advice:
              'Behind a proxy, set it to the address of the proxy: without it, all visitors share one rate limit.',
          },
        ]),
    ...certificateFindings(site, now),
    ...askFindings(facts),
    ...domainFindings(facts, now),
  ];
}

function healthFinding({ url, health }: SiteFacts): Finding {
  if (health === 'answers') return { subject: 'Address', severity: 'ok', found: `${url} answers` };
  return {
    subject: 'Address',
    severity: 'problem',
    found: `${url}/health: ${health.problem}`,
    advice:
      'Check that the name points to this machine, and that the proxy passes requests on: docs/operations/proxy.md.',
  };
}

function certificateFindings({ url, certificateEnds }: SiteFacts, now: Date): Finding[] {
  if (url.startsWith('http:')) {
    const advice = 'Put a proxy with TLS in front: without it, passwords cross the network in clear.';
    return [{ subject: 'Certificate', severity: 'problem', found: 'PUBLIC_URL is http', advice }];
  }
  if (certificateEnds === undefined) return [];
  const days = Math.floor((certificateEnds.getTime() - now.getTime()) / DAY);
  const found = `valid until ${certificateEnds.toISOString().slice(0, 10)}`;
  if (days >= MIN_CERTIFICATE_DAYS) return [{ subject: 'Certificate', severity: 'ok', found }];
  return [
    {
      subject: 'Certificate',
      severity: 'problem',
      found,
      advice: 'Renew it, and look at the log of the proxy: it should have been renewed by itself.',
    },
  ];
}

function askFindings({ certificateAsk }: InstallationFacts): Finding[] {
  if (certificateAsk === undefined) return [];
  if (certificateAsk === 'answers') {
    return [{ subject: 'Ask', severity: 'ok', found: 'CERTIFICATE_ASK_PORT answers' }];
  }
  return [
    {
      subject: 'Ask',
      severity: 'problem',
      found: `CERTIFICATE_ASK_PORT: ${certificateAsk.problem}`,
      advice: 'Start the service with it: until then, Caddy gets no certificates for domains of shops.',
    },
  ];
}

/** Domains whose certificates expire soon, or that have none. */
function domainFindings({ domains }: InstallationFacts, now: Date): Finding[] {
  if (domains.length === 0) return [];
  const bad = domains.filter(
    ({ state, certificateEnds }) =>
      state !== 'valid' ||
      certificateEnds === null ||
      certificateEnds.getTime() - now.getTime() < MIN_CERTIFICATE_DAYS * DAY,
  );
  if (bad.length === 0) {
    const found =
      domains.length === 1 ? '1 domain has a certificate' : `${domains.length} domains have certificates`;
    return [{ subject: 'Domains', severity: 'ok', found }];
  }
  return bad.map(({ host, state, certificateEnds }) => ({
    subject: 'Domains',
    severity: 'note',
    found: `${host}: ${CERTIFICATE_TEXTS[state]}${certificateEnds ? `, valid until ${certificateEnds.toISOString().slice(0, 10)}` : ''}`,
    advice: 'Check that the domain points here, and look at the log of the proxy: docs/operations/proxy.md.',
  }));
}

const CERTIFICATE_TEXTS: Readonly<Record<CertificateState, string>> = {
  valid: 'its certificate expires soon',
  expired: 'its certificate has expired',
  otherName: 'the certificate is for another name',
  untrusted: 'browsers do not trust its certificate',
  none: 'no certificate',
};

const gigabytes = (bytes: number) => `${(bytes / GIGABYTE).toFixed(1)} GB`;
