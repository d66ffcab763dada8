import { readFile } from 'node:fs/promises';
import { migrationStatus, unknownMigrations } from '../../db/migrate.ts';
import type { Config } from '../../config.ts';
import { lastVersion, programVersion } from '../../platform/version.ts';
import { print, withBareDatabase, type Handlers } from '../command.ts';
import { countBackups, hasDatabase, printFinding, errorReason } from '../doctor/doctor.ts';
import { CommandProblem, UsageProblem } from '../problem.ts';
import { changesBetween } from './changelog.ts';
import { upgradeFindings, type MigrationFacts, type UpgradeFacts } from './findings.ts';

const REGISTRY = 'https://registry.npmjs.org';

export const handlers = {
  upgrade: async ({ config, options }) => {
    const registry = registryOf(options);
    const facts: UpgradeFacts = {
      version: programVersion(),
      node: process.version,
      lastVersion: await lastVersion(config.KONTOR_DATA),
      database: await migrationFacts(config),
      newest: registry === undefined ? undefined : await newestVersion(registry),
    };
    for (const { text } of await changes(facts)) print(`${text}\n`);
    const findings = upgradeFindings(facts);
    for (const finding of findings) printFinding(finding);
    print('');
    const problems = findings.filter(({ severity }) => severity === 'problem').length;
    if (problems > 0) throw new CommandProblem(problems === 1 ? 'One problem.' : `${problems} problems.`);
    print('No problems. Next: docs/operations/upgrade.md');
  },
} satisfies Handlers;

/** undefined: nothing is to be asked. */
function registryOf({ online, registry }: Record<string, string | boolean | undefined>): string | undefined {
  if (online !== true) {
    if (registry === undefined) return undefined;
    throw new UsageProblem('--registry goes with --online. See: npx kontor upgrade --help');
  }
  const address = String(registry ?? REGISTRY).replace(/\/$/, '');
  if (URL.canParse(address) && /^https?:/.test(address)) return address;
  throw new UsageProblem(`--registry is an address such as ${REGISTRY}. See: npx kontor upgrade --help`);
}

async function migrationFacts(config: Config): Promise<UpgradeFacts['database']> {
  if (!hasDatabase(config)) return 'not made yet';
  try {
    let facts: MigrationFacts | undefined;
    await withBareDatabase(config, async (db) => {
      const migrations = await migrationStatus(db);
      facts = {
        pending: migrations.filter(({ appliedAt }) => appliedAt === null).map(({ name }) => name),
        unknown: await unknownMigrations(db),
        ...(await countBackups(db)),
      };
    });
    return facts!;
  } catch (error) {
    return { problem: errorReason(error) };
  }
}

/** Milliseconds, and bytes of an answer that describes one version. */
const DEADLINE = 5_000;
const MAX_ANSWER = 1_000_000;

async function newestVersion(registry: string): Promise<NonNullable<UpgradeFacts['newest']>> {
  try {
    const answer = await fetch(`${registry}/kontor/latest`, { signal: AbortSignal.timeout(DEADLINE) });
    if (answer.status !== 200) {
      await answer.body?.cancel();
      return { problem: `status ${answer.status}` };
    }
    const { version } = JSON.parse(await readBounded(answer)) as { version?: unknown };
    return typeof version === 'string' && /^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(version)
      ? { version }
      : { problem: 'its answer names no version' };
  } catch (error) {
    return { problem: errorReason(error) };
  }
}

async function readBounded({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body!) {
    bytes += piece.length;
    if (bytes > MAX_ANSWER) throw new Error('its answer is too long');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

async function changes({ lastVersion: before, version }: UpgradeFacts) {
  if (before === undefined) return [];
  const changelog = await readFile(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8');
  return changesBetween(changelog, before, version);
}
