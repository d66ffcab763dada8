import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient, type Database } from './database.ts';
import { isLockTimeout } from './failure.ts';
import { distributeNewTables, isDistributed } from './distribute.ts';
import { planForLargeShops } from './statistics.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);

export interface Migration {
  name: string;
  checksum: string;
  statements: string[];
}

export interface MigrationStatus {
  name: string;
  /** null: not applied yet. */
  appliedAt: Date | null;
}

/**
 * Brings the schema up to date, forward only. Safe when several processes start at once: each file is one transaction
 * that locks the table of migrations first, so the others wait and then find it done. `before` leaves out this file
 * and all after it, so a test can put data into an older schema.
 */
export async function migrate(
  db: Database,
  log: (line: string) => void,
  { before }: { before?: string } = {},
): Promise<void> {
  await createMigrationTable(db);
  const applied = await appliedChecksums(db);
  for (const migration of await readMigrations()) {
    if (before !== undefined && migration.name >= before) return;
    if (isApplied(migration, applied.get(migration.name))) continue;
    if (await applyPatiently(db, migration)) log(`migration ${migration.name} applied`);
  }
  await planForLargeShops(db);
}

export async function migrationStatus(db: Database): Promise<MigrationStatus[]> {
  const known = await db.pool.query<{ exists: boolean }>(
    "select to_regclass('migration') is not null as exists",
  );
  const applied = known.rows[0]!.exists
    ? (await db.pool.query<{ name: string; applied_at: Date }>('select name, applied_at from migration')).rows
    : [];
  const appliedAt = new Map(applied.map((row) => [row.name, row.applied_at]));
  return (await readMigrations()).map(({ name }) => ({ name, appliedAt: appliedAt.get(name) ?? null }));
}

/** Names of migrations that were applied by a newer version, in order. */
export async function unknownMigrations(db: Database): Promise<string[]> {
  const known = new Set((await readMigrations()).map(({ name }) => name));
  const { rows } = await db.pool.query<{ name: string }>('select name from migration order by name');
  return rows.map(({ name }) => name).filter((name) => !known.has(name));
}

async function createMigrationTable(db: Database): Promise<void> {
  try {
    await db.pool.query(
      'create table if not exists migration (name text primary key, checksum text not null, applied_at timestamptz not null)',
    );
  } catch (error) {
    // Two processes created it in the same moment; `if not exists` does not cover that race, and the progress of the
    // other one decides which error it is.
    if (!['23505', '42710', '42P07'].includes((error as { code?: string }).code ?? '')) throw error;
  }
}

/**
 * The checksums by name. Nearly every start finds that all migrations are there, and asks no further. Another process
 * that migrates locks the table for as long as it needs.
 */
async function appliedChecksums(db: Database): Promise<Map<string, string>> {
  const results: unknown = await db.pool.query(
    'set local statement_timeout = 0; select name, checksum from migration',
  );
  // A text with two statements is one transaction and has two results, which the types do not know.
  const { rows } = (results as { rows: { name: string; checksum: string }[] }[])[1]!;
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

function isApplied({ name, checksum }: Migration, applied: string | undefined): boolean {
  if (applied === undefined) return false;
  if (applied === checksum) return true;
  throw new Error(
    `Migration ${name} was changed after it was applied. Restore its text and write a new migration.`,
  );
}

/** Milliseconds that a migration waits for a table, and the number of attempts: some five minutes in all. */
const LOCK_TIMEOUT = 1_000;
const MAX_TRIES = 150;

/**
 * The previous version may still be running. A statement that waits for a table blocks all others from it, so it does
 * not wait long; a deadlock with requests can happen too. In both cases nothing has changed yet.
 */
async function applyPatiently(db: Database, migration: Migration): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      return await applyMigration(db, migration);
    } catch (error) {
      if (tries === MAX_TRIES || !(isTransient(error) || isLockTimeout(error))) throw error;
      await sleep(LOCK_TIMEOUT * Math.random());
    }
  }
}

async function applyMigration(db: Database, migration: Migration): Promise<boolean> {
  const client = await db.pool.connect();
  try {
    await client.query('begin');
    await client.query('set local statement_timeout = 0');
    await client.query('lock table migration in access exclusive mode');
    // After that lock, because another process that migrates may take as long as it needs.
    await client.query(`set local lock_timeout = ${LOCK_TIMEOUT}`);
    const { rows } = await client.query<{ checksum: string }>(
      'select checksum from migration where name = $1',
      [migration.name],
    );
    const isNew = !isApplied(migration, rows[0]?.checksum);
    if (isNew) {
      const spreads = await isDistributed(client);
      // A migration changes rows and tables in one transaction, which Citus allows shard by shard.
      if (spreads) await client.query("set local citus.multi_shard_modify_mode = 'sequential'");
      for (const statement of migration.statements) {
        if (spreads && setsStorage(statement)) continue;
        await client.query(statement);
        if (spreads && createsTable(statement)) await distributeNewTables(client);
      }
      await client.query('insert into migration (name, checksum, applied_at) values ($1, $2, $3)', [
        migration.name,
        migration.checksum,
        db.now,
      ]);
    }
    await client.query('commit');
    return isNew;
  } catch (error) {
    // A broken connection has no transaction to roll back; the first error is the one to report.
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}

/** All migrations, in order. */
export async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, FOLDER), 'utf8');
      return {
        name,
        checksum: createHash('sha256').update(text).digest('hex'),
        statements: statementsOf(text),
      };
    }),
  );
}

/** Where the shops are distributed, a new table must be too, before the foreign keys that follow it. */
export function createsTable(statement: string): boolean {
  return /^create table\b/i.test(statement);
}

/**
 * Citus refuses to send this to the shards. It decides only how PostgreSQL stores a value, so on a cluster the column
 * is stored like any other.
 */
export function setsStorage(statement: string): boolean {
  return /^alter table \w+ alter column \w+ set storage \w+$/i.test(statement);
}

/** One statement per call, as Citus requires: they end with a semicolon at the end of a line. */
function statementsOf(text: string): string[] {
  return text
    .split(/;[ \t]*$/m)
    .map((statement) => statement.replaceAll(/^\s*--.*$/gm, '').trim())
    .filter((statement) => statement !== '');
}
