import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Config } from '../../config.ts';
import type { Queries, Transaction } from '../../db/database.ts';
import { catalogueSql, sql, type Sql } from '../../db/sql.ts';
import { openMediaStorage } from '../media/open-storage.ts';
import { encodeChunks, type Chunk } from './file.ts';
import { FORMAT, FORMAT_VERSION, type BackupManifest } from './manifest.ts';
import { findShopTables, parentOf, quoted, type ShopTable } from './tables.ts';

export type NewChunk = Pick<Chunk, 'head' | 'content'>;

export interface BackupProgress {
  /** How many rows and files there are to write. */
  onStart?: (entries: number) => void;
  onProgress?: (entries: number) => void;
}

interface BackupOptions extends BackupProgress {
  /** Tables whose rows are not read. */
  leaveOut?: (table: string) => boolean;
}

export interface BackupContent {
  manifest: BackupManifest;
  /** Counted while the content is read. `missingFiles` were removed meanwhile. */
  media: { files: number; missingFiles: number };
  /** Its parts, for a copy within the installation. Either these or `bytes` are read, and once. */
  chunks: AsyncIterable<NewChunk>;
  /** The bytes of the backup. */
  bytes: AsyncIterable<Buffer>;
}

/**
 * A snapshot of a shop. The transaction must read one snapshot (repeatable read) and stay open while the bytes are
 * read; rows come in batches, so memory use does not grow with the shop. Media files never change and are written
 * before the row that names them, so those of the snapshot exist when they are read, unless the merchant has just
 * removed an image. undefined: there is no such shop.
 */
export async function openBackup(
  tx: Transaction,
  config: Config,
  shopId: string,
  { onStart = () => {}, onProgress = () => {}, leaveOut = () => false }: BackupOptions = {},
): Promise<BackupContent | undefined> {
  await setTextFormats(tx);
  const tables = (await findShopTables(tx))
    .filter(({ name }) => !leaveOut(name))
    .map((table) => ({ ...table, empty: columnsTo(table, leaveOut) }));
  const manifest = await createManifest(tx, shopId, tables);
  if (manifest.tables.find(({ name }) => name === 'shop')!.rows === 0) return undefined;
  const storage = openMediaStorage(config);
  const media = { files: 0, missingFiles: 0 };
  let entries = manifest.tables.reduce((sum, { rows }) => sum + rows, 0);
  for await (const _ of storage.files(shopId)) entries++;
  onStart(entries);

  async function* chunks(): AsyncGenerator<NewChunk> {
    yield { head: { part: 'manifest' }, content: Buffer.from(JSON.stringify(manifest)) };
    for (const [index, table] of tables.entries()) {
      yield* rowChunks(tx, shopId, table, manifest.tables[index]!.rows, onProgress);
    }
    for await (const name of storage.files(shopId)) {
      // An image is small enough to be held as a whole.
      const stream = await storage.read(name);
      media[stream ? 'files' : 'missingFiles']++;
      const { folder, file } = name;
      if (stream) yield { head: { part: 'media', folder, file }, content: await buffer(stream) };
      onProgress(1);
    }
  }
  // Neither begins before it is read.
  return { manifest, media, chunks: chunks(), bytes: encodeChunks(chunks()) };
}

/**
 * Rows are written in PostgreSQL's text form of their values, which gives the same values again only with these
 * settings. A backup takes longer than a request may, and a transaction is idle while a file is read.
 */
export async function setTextFormats(tx: Transaction): Promise<void> {
  await tx.run(sql`set local datestyle = 'ISO, YMD'`);
  await tx.run(sql`set local intervalstyle = 'postgres'`);
  await tx.run(sql`set local timezone = 'UTC'`);
  await tx.run(sql`set local bytea_output = 'hex'`);
  await tx.run(sql`set local extra_float_digits = 1`);
  await tx.run(sql`set local statement_timeout = 0`);
  await tx.run(sql`set local idle_in_transaction_session_timeout = 0`);
}

/** A table of a backup. */
interface ReadTable extends ShopTable {
  /** Columns that refer to tables that are left out: their rows are left out as well. Absent: none. */
  empty?: readonly string[];
}

function columnsTo({ foreignKeys }: ShopTable, isLeftOut: (table: string) => boolean): string[] {
  return foreignKeys.flatMap(({ table, columns }) => (isLeftOut(table) ? columns : []));
}

const emptyColumns = ({ empty = [] }: ReadTable) =>
  empty.map((column) => ` and ${quoted(column)} is null`).join('');

async function createManifest(
  tx: Transaction,
  shopId: string,
  tables: readonly ReadTable[],
): Promise<BackupManifest> {
  const counted: BackupManifest['tables'] = [];
  for (const table of tables) {
    const { name, columns } = table;
    counted.push({
      name,
      columns: columns.map((column) => column.name),
      rows: await countRows(tx, shopId, table),
    });
  }
  const applied = await tx.one<{ name: string }>(sql`select name from migration order by name desc limit 1`);
  return {
    format: FORMAT,
    version: FORMAT_VERSION,
    schema: applied!.name,
    kontor: await packageVersion(),
    shopId,
    createdAt: tx.now.toISOString(),
    tables: counted,
  };
}

export async function packageVersion(): Promise<string> {
  const text = await readFile(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

async function countRows(db: Queries, shopId: string, table: ReadTable): Promise<number> {
  const text = `select count(*) as count from ${quoted(table.name)} where shop_id = `;
  return (await db.one<{ count: number }>(catalogueSql([text, emptyColumns(table)], [shopId])))!.count;
}

/** Target size of a batch of rows, as text. */
const BATCH_BYTES = 1_048_576;

/** How many rows are fetched at once: few where they are large. */
const FETCHES = [1, 8, 64, 512].map((rows) => ({
  rows,
  statement: catalogueSql([`fetch ${rows} from backup_rows`]),
}));

const compress = promisify(gzip);

async function* rowChunks(
  tx: Transaction,
  shopId: string,
  table: ReadTable,
  expected: number,
  onProgress: (rows: number) => void,
): AsyncGenerator<NewChunk> {
  let done = 0;
  for await (const lines of readRows(tx, shopId, table)) {
    const head = { part: 'rows', table: table.name, from: done + 1, rows: lines.length } as const;
    yield { head, content: await compress(`${lines.join('\n')}\n`) };
    done += lines.length;
    onProgress(lines.length);
  }
  // Rows that refer to each other in a circle cannot be reached from the top.
  if (done !== expected) throw new Error(`Of ${expected} rows of ${table.name} only ${done} could be read`);
}

/** The rows of a table as lines of JSON, in batches of about a megabyte. */
export async function* readRows(tx: Transaction, shopId: string, table: ReadTable): AsyncGenerator<string[]> {
  await tx.run(declareRows(shopId, table));
  let fetch = FETCHES[1]!;
  for (;;) {
    const lines = (await tx.many<{ line: string }>(fetch.statement)).map(({ line }) => line);
    if (lines.length === 0) break;
    yield lines;
    const largest = Math.max(...lines.map((line) => line.length));
    fetch = FETCHES.findLast(({ rows }) => rows * largest <= BATCH_BYTES) ?? FETCHES[0]!;
  }
  await tx.run(sql`close backup_rows`);
}

/**
 * A row is an array of the texts of its columns, with null for null. Rows that refer to others of their table come
 * after them, so they can be inserted in this order.
 */
function declareRows(shopId: string, table: ReadTable): Sql {
  const name = quoted(table.name);
  const texts = table.columns.map((column) => `entry.${quoted(column.name)}::text`);
  const begin = 'declare backup_rows no scroll cursor for';
  const line = `array_to_json(array[${texts.join(', ')}])::text as line`;
  const key = table.key.map((column) => `entry.${quoted(column)}`).join(', ') || 'line';
  const parent = parentOf(table);
  if (!parent) {
    const select = `${begin} select ${line} from ${name} as entry where entry.shop_id = `;
    return catalogueSql([select, `${emptyColumns(table)} order by ${key}`], [shopId]);
  }
  const [own, above] = [quoted(parent.target), quoted(parent.column)];
  return catalogueSql(
    [
      `${begin} with recursive tree as (
        select ${own} as id, 0 as depth from ${name} where ${above} is null and shop_id = `,
      ` union all
        select child.${own}, tree.depth + 1 from ${name} as child join tree on child.${above} = tree.id
        where child.shop_id = `,
      `) select ${line} from ${name} as entry join tree on tree.id = entry.${own} where entry.shop_id = `,
      ` order by tree.depth, ${key}`,
    ],
    [shopId, shopId, shopId],
  );
}
