import type { Config } from '../config.ts';
import { openDatabase, type Database, type Transaction } from '../db/database.ts';
import { attachEmbedded } from '../db/embedded.ts';
import { migrate } from '../db/migrate.ts';
import { recordEntry } from '../http/audit-entry.ts';
import { isScope, SCOPES, type Scope } from '../http/scopes.ts';
import { newId } from '../kernel/ids.ts';
import { findShop } from '../shops/shop/queries.ts';
import { printable } from './printable.ts';
import { CommandProblem } from './problem.ts';

export interface CommandCall {
  config: Config;
  arguments: string[];
  options: Record<string, string | boolean | undefined>;
}

export interface Command {
  /** `shop create` */
  name: string;
  summary: string;
  /** A function where the text needs a module that the overview need not load. */
  details?: string | (() => Promise<string>);
  /** A call that works as it stands, without `npx kontor`. */
  example: string;
  /** Names of the arguments, as the help shows them; `[NAME]` may be left out. */
  arguments?: readonly string[];
  /** `value` is shown after the option in the help. */
  options?: Readonly<
    Record<string, { type: 'string' | 'boolean'; summary: string; value?: string; required?: boolean }>
  >;
  run: Run;
}

export type Run = (call: CommandCall) => Promise<void>;

/** The functions of a module's commands, by name. */
export type Handlers = Readonly<Record<string, Run>>;

/** The database of this configuration, whether the service runs or not, with its schema up to date. */
export async function withDatabase(config: Config, work: (db: Database) => Promise<void>): Promise<void> {
  await withBareDatabase(config, async (db) => {
    await migrate(db, () => {});
    await work(db);
  });
}

/** The same without migrating the schema. */
export async function withBareDatabase(config: Config, work: (db: Database) => Promise<void>): Promise<void> {
  const embedded =
    config.DATABASE_URL === undefined
      ? // The caller has not asked for its location or creation.
        await attachEmbedded(config.KONTOR_DATA, { log: () => {} })
      : undefined;
  const db = openDatabase({
    connection: embedded?.connection ?? { connectionString: config.DATABASE_URL },
    poolSize: 2,
    namedStatements: config.DATABASE_NAMED_STATEMENTS,
    ...(config.DATABASE_POOLER !== undefined && { pooler: config.DATABASE_POOLER }),
  });
  try {
    await work(db);
  } finally {
    await db.close();
    await embedded?.stop();
  }
}

/** The same for one shop, which must exist. */
export async function withShop(
  config: Config,
  shopId: string,
  work: (db: Database) => Promise<void>,
): Promise<void> {
  await withDatabase(config, async (db) => {
    if (!(await findShop(db, shopId))) throw noSuchShop(shopId);
    await work(db);
  });
}

/** Writes the audit log entry of a manual change. It never contains a possible secret. */
export function recordCommand(
  tx: Transaction,
  shopId: string,
  command: string,
  object: Record<string, string> = {},
): Promise<void> {
  return recordEntry(tx, {
    shopId,
    entryId: newId(tx.now),
    at: tx.now,
    appId: null,
    appName: null,
    method: 'COMMAND',
    route: `kontor ${command}`,
    object,
  });
}

export function noSuchShop(shopId: string): CommandProblem {
  return new CommandProblem(`There is no shop ${JSON.stringify(shopId)}. See: npx kontor shop list`);
}

export function similarShop(shopId: string, other: string): string {
  return `There is a shop ${other} already, and ids must differ in more than upper and lower case (${shopId}).`;
}

export function print(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

/** `1 order`, `3 orders` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  // A name is one line, regardless of its author.
  const cells = rows.map((row) => row.map((cell) => printable(cell).replaceAll(/\s/g, ' ')));
  const widths = header.map((title, column) =>
    cells.reduce((width, row) => Math.max(width, row[column]!.length), title.length),
  );
  for (const row of [header, ...cells]) {
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    );
  }
}

/** `all`, or names separated by commas. */
export function parseScopes(text: string): Scope[] {
  if (text === 'all') return [...SCOPES];
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  const unknown = names.find((name) => !isScope(name));
  if (unknown !== undefined) {
    throw new CommandProblem(
      `Unknown scope ${JSON.stringify(unknown)}. The scopes are: ${SCOPES.join(', ')}`,
    );
  }
  return names.filter(isScope);
}

/** The opposite, for tables. */
export function scopesText(scopes: readonly string[]): string {
  if (SCOPES.every((scope) => scopes.includes(scope))) return 'all';
  return scopes.length === 0 ? 'none' : scopes.join(',');
}
