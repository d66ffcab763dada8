import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { isPrivate, type Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { migrationStatus } from '../../db/migrate.ts';
import { sql } from '../../db/sql.ts';
import { smtpProblem } from '../../platform/email/delivery.ts';
import { programVersion } from '../../platform/version.ts';
import { readCertificate } from '../../shops/domains/certificate-look.ts';
import { hostName } from '../../shops/shop/domain-policy.ts';
import { print, withBareDatabase, type Handlers } from '../command.ts';
import { CommandProblem } from '../problem.ts';
import {
  findingsOf,
  type BackupCount,
  type DatabaseFacts,
  type Finding,
  type InstallationFacts,
  type Severity,
  type SiteFacts,
} from './findings.ts';

export const handlers = {
  doctor: async ({ config }) => {
    const findings = findingsOf(await installationFacts(config), new Date());
    for (const finding of findings) printFinding(finding);
    const problems = findings.filter(({ severity }) => severity === 'problem').length;
    print('');
    if (problems > 0) throw new CommandProblem(problems === 1 ? 'One problem.' : `${problems} problems.`);
    print('No problems.');
  },
} satisfies Handlers;

const MARKS: Readonly<Record<Severity, string>> = { ok: 'ok', note: 'note', problem: 'PROBLEM' };

export function printFinding({ subject, severity, found, advice }: Finding): void {
  print(`${MARKS[severity].padEnd(8)} ${subject.padEnd(12)} ${found}`);
  if (advice !== undefined) print(`${' '.repeat(22)}${advice}`);
}

/** Milliseconds for each question to another machine. */
const DEADLINE = 5_000;

async function installationFacts(config: Config): Promise<InstallationFacts> {
  const dataFolder = path.resolve(config.KONTOR_DATA);
  const isPublic = !isPrivate(config);
  const [disk, database, email, site, certificateAsk] = await Promise.all([
    diskFacts(dataFolder),
    databaseFacts(config),
    emailFacts(config.SMTP_URL),
    config.PUBLIC_URL === undefined ? undefined : siteFacts(config.PUBLIC_URL.replace(/\/$/, '')),
    certificateAskFacts(config),
  ]);
  const hosts = typeof database === 'object' && 'domains' in database ? database.domains : [];
  return {
    version: programVersion(),
    node: process.version,
    memoryBytes: os.totalmem(),
    processes: config.PROCESSES === 'auto' ? os.availableParallelism() : Number(config.PROCESSES),
    connectionsPerProcess: config.DATABASE_POOL,
    dataFolder,
    disk,
    database,
    email,
    isPublic,
    trustsProxy: config.TRUST_PROXY !== undefined,
    site,
    certificateAsk,
    domains: await domainCertificates(config, hosts),
  };
}

async function diskFacts(folder: string): Promise<InstallationFacts['disk']> {
  try {
    const { bavail, blocks, bsize } = await statfs(existingFolder(folder));
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch (error) {
    return { problem: errorReason(error) };
  }
}

/** The folder itself, or the nearest one above it that is there: the first start makes the others. */
const existingFolder = (folder: string): string =>
  existsSync(folder) ? folder : existingFolder(path.dirname(folder));

/** False: an embedded one that the first start makes, which opening it would do, too. */
export function hasDatabase({ DATABASE_URL, KONTOR_DATA }: Config): boolean {
  // Where the files are elsewhere, this is a link to them.
  return DATABASE_URL !== undefined || existsSync(path.join(KONTOR_DATA, 'postgres'));
}

async function databaseFacts(config: Config): Promise<InstallationFacts['database']> {
  const isEmbedded = config.DATABASE_URL === undefined;
  if (!hasDatabase(config)) return 'not made yet';
  try {
    let facts: DatabaseFacts | undefined;
    await withBareDatabase(config, async (db) => {
      facts = await readDatabase(db, isEmbedded);
    });
    return facts!;
  } catch (error) {
    return { problem: errorReason(error) };
  }
}

const WEEK = 7 * 86_400_000;

async function readDatabase(db: Database, isEmbedded: boolean): Promise<DatabaseFacts> {
  const asked = Date.now();
  const server = await db.one<{
    versionNumber: number;
    versionText: string;
    settings: Record<string, string>;
    encoding: string;
    now: Date;
  }>(sql`
    select current_setting('server_version_num')::int as "versionNumber",
      current_setting('server_version') as "versionText",
      (select json_object_agg(name, setting) from pg_settings
        where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'max_connections')) as settings,
      current_setting('server_encoding') as encoding, clock_timestamp() as now`);
  // Its clock was read at some moment in between.
  const here = (asked + Date.now()) / 2;
  const migrations = await migrationStatus(db);
  const pendingMigrations = migrations.filter(({ appliedAt }) => appliedAt === null).length;
  const { now, ...rest } = server!;
  return {
    isEmbedded,
    ...rest,
    clockAheadMs: now.getTime() - here,
    pendingMigrations,
    ...(await countBackups(db)),
    // The tables of shops may not be there yet, or not be those that this version knows.
    domains: pendingMigrations === 0 ? await findProvedDomains(db, MAX_DOMAINS) : [],
  };
}

/**
 * The command records a backup in the audit log of its shop; the service notes those of every day. A new database has
 * neither shops nor their log, and an older one no such notes.
 */
export async function countBackups(db: Database): Promise<BackupCount> {
  const known = await db.one<{ log: boolean; plans: boolean }>(sql`
    select to_regclass('audit_entry') is not null as log, to_regclass('backup_plan') is not null as plans`);
  if (!known!.log) return { shops: 0, shopsWithoutBackup: 0 };
  const since = new Date(db.now.getTime() - WEEK);
  const byService = known!.plans
    ? await db.many<{ shop: string }>(sql`select shop from backup_plan where good_at >= ${since}`)
    : [];
  const shops = byService.map(({ shop }) => shop);
  const counted = await db.one<BackupCount>(sql`
    select count(*) as shops,
      count(*) filter (where saved.shop_id is null and shop.shop_id <> all (${shops}::text[])) as "shopsWithoutBackup"
    from shop left join (
      select distinct shop_id from audit_entry where at >= ${since} and route = 'kontor shop backup'
    ) saved on saved.shop_id = shop.shop_id`);
  return counted!;
}

/** Domains of which the certificates are read, those first that expire first. */
const MAX_DOMAINS = 20;

async function findProvedDomains(db: Database, limit: number): Promise<string[]> {
  const rows = await db.many<{ host: string }>(sql`
    select shop_domain.host from shop_domain
    left join domain_status
      on domain_status.shop_id = shop_domain.shop_id and domain_status.host = shop_domain.host
    where proof is not null order by valid_until nulls first, shop_domain.host limit ${limit}`);
  return rows.map(({ host }) => host);
}

/** As the proxy at PUBLIC_URL shows them, wherever the domains lead. */
async function domainCertificates(
  { PUBLIC_URL }: Config,
  hosts: readonly string[],
): Promise<InstallationFacts['domains']> {
  const url = PUBLIC_URL === undefined ? undefined : new URL(PUBLIC_URL);
  if (url?.protocol !== 'https:') return [];
  return Promise.all(
    hosts.map(async (host) => {
      const { state, validUntil } = await readCertificate({
        host: url.hostname,
        port: Number(url.port || 443),
        name: hostName(host),
      });
      return { host, state, certificateEnds: validUntil };
    }),
  );
}

/** A name that nobody can have must be refused: anything but an answer of 404 is not Kontor. */
async function certificateAskFacts({
  CERTIFICATE_ASK_PORT,
  CERTIFICATE_ASK_HOST,
}: Config): Promise<InstallationFacts['certificateAsk']> {
  if (CERTIFICATE_ASK_PORT === undefined) return undefined;
  const host = CERTIFICATE_ASK_HOST.includes(':') ? `[${CERTIFICATE_ASK_HOST}]` : CERTIFICATE_ASK_HOST;
  try {
    const answer = await fetch(`http://${host}:${CERTIFICATE_ASK_PORT}/ask?domain=nobody.invalid`, {
      signal: AbortSignal.timeout(DEADLINE),
      redirect: 'manual',
    });
    await answer.body?.cancel();
    return answer.status === 404 ? 'answers' : { problem: `status ${answer.status} for nobody.invalid` };
  } catch (error) {
    return { problem: errorReason(error) };
  }
}

async function emailFacts(url: string | undefined): Promise<InstallationFacts['email']> {
  if (url === undefined) return 'files';
  const problem = await smtpProblem(url, DEADLINE);
  return problem === undefined ? 'answers' : { problem };
}

async function siteFacts(url: string): Promise<SiteFacts> {
  const [health, certificateEnds] = await Promise.all([healthOf(url), certificateEnd(url)]);
  return { url, health, certificateEnds };
}

async function healthOf(url: string): Promise<SiteFacts['health']> {
  try {
    const answer = await fetch(`${url}/health`, {
      signal: AbortSignal.timeout(DEADLINE),
      redirect: 'manual',
    });
    await answer.body?.cancel();
    return answer.status === 200 ? 'answers' : { problem: `status ${answer.status}` };
  } catch (error) {
    return { problem: errorReason(error) };
  }
}

/** Reads the end of the certificate also where it is not valid any more. Undefined: there is none. */
function certificateEnd(url: string): Promise<Date | undefined> {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'https:') return Promise.resolve(undefined);
  const options = {
    host: hostname,
    port: Number(port || 443),
    servername: hostname,
    rejectUnauthorized: false,
  };
  return new Promise((resolve) => {
    const end = (socket: TLSSocket, date?: Date) => {
      socket.destroy();
      resolve(date);
    };
    const socket: TLSSocket = connect(options, () =>
      end(socket, new Date(socket.getPeerCertificate().valid_to)),
    );
    socket.setTimeout(DEADLINE, () => end(socket));
    // The question about /health says what is wrong.
    socket.once('error', () => end(socket));
  });
}

export function errorReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // `fetch failed` has the reason as its cause.
  const { cause } = error;
  return cause instanceof Error ? cause.message : error.message;
}
