import { createHash, randomBytes, type Hash } from 'node:crypto';
import type { Database, Transaction } from '../../db/database.ts';
import { readRows } from '../../platform/backup/content.ts';
import { readChunks } from '../../platform/backup/file.ts';
import type { CheckedBackup } from '../../platform/backup/manifest.ts';
import { findShopTables, type ShopTable } from '../../platform/backup/tables.ts';
import { insertContent, isOfOlderSchema } from './restore.ts';

export interface Trial {
  rows: number;
  files: number;
  /** The rows were compared; false: they are of an older schema, and the migrations have changed them. */
  isCompared: boolean;
  /** The differences from the backup, one line each. */
  problems: string[];
}

/** Hosts belong to one shop, in the whole installation. */
const NOT_TRIED: readonly string[] = ['shop_domain'];

/** Ends the transaction of a trial, which is never committed. */
class TrialEnded extends Error {
  override name = 'TrialEnded';
  readonly trial: Trial;

  constructor(trial: Trial) {
    super();
    this.trial = trial;
  }
}

/**
 * Restores a backup to see whether it can be: as a shop under an id of its own, in a transaction that is always rolled
 * back. So nobody ever sees this shop, it sends nothing, and nothing of it is left, however the process ends. The rows
 * are read back from the tables and compared with those of the backup, by number and checksum; files are read only.
 */
export async function tryRestore(db: Database, backup: CheckedBackup): Promise<Trial> {
  try {
    return await db.transaction(async (tx) => {
      throw new TrialEnded(await restoreAndCompare(tx, backup));
    });
  } catch (error) {
    if (error instanceof TrialEnded) return error.trial;
    throw error;
  }
}

async function restoreAndCompare(tx: Transaction, backup: CheckedBackup): Promise<Trial> {
  const shopId = `trial-${randomBytes(8).toString('hex')}`;
  const isOlder = await isOfOlderSchema(backup);
  const given = new Map<string, Hash>();
  let files = 0;
  await insertContent(tx, { ...backup, isOlder, chunks: readChunks(backup.path) }, shopId, {
    isLeftOut: (table) => NOT_TRIED.includes(table),
    change: (lines, table) => {
      addLines(given, table, lines);
      return lines;
    },
    versionOffset: 0,
    writeFile: async () => void files++,
    onProgress: () => {},
  });
  const counted = backup.manifest.tables.filter(({ name }) => !NOT_TRIED.includes(name));
  const rows = counted.reduce((sum, table) => sum + table.rows, 0);
  const known = new Map((await findShopTables(tx)).map((table) => [table.name, table]));
  const problems: string[] = [];
  for (const { name, rows: expected } of isOlder ? [] : counted) {
    const table = known.get(name);
    if (!table) problems.push(`${name}: there is no such table`);
    else problems.push(...(await differencesOf(tx, shopId, table, expected, given.get(name))));
  }
  return { rows, files, isCompared: !isOlder, problems };
}

async function differencesOf(
  tx: Transaction,
  shopId: string,
  table: ShopTable,
  expected: number,
  given: Hash | undefined,
): Promise<string[]> {
  const found = new Map<string, Hash>();
  let rows = 0;
  for await (const lines of readRows(tx, shopId, table)) {
    addLines(found, table.name, lines);
    rows += lines.length;
  }
  if (rows !== expected) return [`${table.name}: ${rows} rows of ${expected}`];
  const isSame = digestOf(found.get(table.name)) === digestOf(given);
  return isSame ? [] : [`${table.name}: its rows are others than those of the backup`];
}

function addLines(hashes: Map<string, Hash>, table: string, lines: readonly string[]): void {
  const hash = hashes.get(table) ?? createHash('sha256');
  for (const line of lines) hash.update(line).update('\n');
  hashes.set(table, hash);
}

const digestOf = (hash: Hash | undefined) => hash?.digest('hex');
