import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';
import type { Database, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { recordEvents } from '../../platform/events/log.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { queueAvailabilityNotifications } from './availability-notifications.ts';
import { mergedDimensions } from './combinations.ts';
import { CellProblem, columnsOf, moreColumnsOf, type Column, type FileProduct } from './csv-columns.ts';
import { unescapeFormula } from './csv-cells.ts';
import type { Prices } from './facts.ts';
import { analyseCatalogue, refreshListing } from './listing.ts';
import { recordPrices, type PriceChange } from './price-history.ts';
import {
  changedFields,
  recordChangedProducts,
  recordCreatedProducts,
  recordStockEvents,
} from './product-events.ts';
import { storedColumns, type StoredProduct } from './queries.ts';
import { isBackInStock } from './save-product.ts';

/**
 * Reads a product file back. Rows with the number of a product change it, others are new. A column that the file
 * does not have leaves its attribute alone. A row that can't be taken is reported with its line, all others are
 * saved: each batch of rows is one transaction.
 */
export interface ImportReport {
  created: number;
  changed: number;
  unchanged: number;
  problems: RowProblem[];
}

export interface RowProblem {
  line: number;
  text: string;
}

/** The file as a whole can't be taken. */
export class FileProblem extends Error {
  override name = 'FileProblem';
}

export interface ImportOptions {
  shopId: string;
  file: string;
  /** Whether new products are shown in the shop. */
  visible: boolean;
  onProgress?: (rows: number, bytes: number) => void;
}

const ROWS_AT_ONCE = 500;
/** Batches under way: while PostgreSQL works on one, the next is made. */
const BATCHES_AT_ONCE = 2;
/** More would be no report any more. */
const MOST_PROBLEMS = 10_000;

interface Row {
  line: number;
  cells: string[];
  number: string;
  master: string;
}

export async function importProducts(db: Database, options: ImportOptions): Promise<ImportReport> {
  const settings = await shopSettings(db, options.shopId);
  const report: ImportReport = { created: 0, changed: 0, unchanged: 0, problems: [] };
  const seen = new Map<string, number>();
  let isAnalysed = false;
  // Variations need their masters, wherever these stand in the file: so it is read twice.
  for (const variations of [false, true]) {
    const underWay = new Set<Promise<void>>();
    try {
      for await (const { columns, batch } of batchesOf(options, settings, variations, seen, report)) {
        while (underWay.size >= BATCHES_AT_ONCE) await Promise.race(underWay);
        const taken = importBatch(db, options, columns, batch, report).finally(() => underWay.delete(taken));
        underWay.add(taken);
        if (!isAnalysed) {
          await taken;
          await analyseCatalogue(db);
          isAnalysed = true;
        }
      }
      await Promise.all(underWay);
    } catch (error) {
      await Promise.allSettled(underWay);
      throw error;
    }
  }
  report.problems.sort((left, right) => left.line - right.line);
  const { created, changed, unchanged, problems } = report;
  await db.transaction(async (tx) =>
    recordEvents(tx, options.shopId, [
      {
        type: 'IMPORT_FINISHED',
        resourceId: null,
        data: { created, changed, unchanged, refused: problems.length },
      },
    ]),
  );
  return report;
}

/** The rows of variations, or all others, in batches; a number that was seen before is reported instead. */
async function* batchesOf(
  { file, onProgress }: ImportOptions,
  settings: Settings,
  variations: boolean,
  seen: Map<string, number>,
  report: ImportReport,
): AsyncGenerator<{ columns: readonly FileColumn[]; batch: Row[] }> {
  let columns: FileColumn[] = [];
  let batch: Row[] = [];
  for await (const { header, row, bytes } of rowsOf(file)) {
    onProgress?.(0, bytes / 2);
    if (header) {
      columns = fileColumns(header, settings);
      continue;
    }
    const read = readRow(row!, columns);
    if ((read.master !== '') !== variations) continue;
    onProgress?.(1, 0);
    const first = seen.get(read.number);
    if (read.number === '') problem(report, read.line, 'Alias is empty');
    else if (first !== undefined)
      problem(report, read.line, `Alias ${read.number} is in line ${first} already`);
    else {
      seen.set(read.number, read.line);
      batch.push(read);
    }
    if (batch.length === ROWS_AT_ONCE) {
      yield { columns, batch };
      batch = [];
    }
  }
  if (batch.length > 0) yield { columns, batch };
}

function problem(report: ImportReport, line: number, text: string): void {
  if (report.problems.length < MOST_PROBLEMS) report.problems.push({ line, text });
}

interface Read {
  header?: string[];
  row?: { line: number; cells: string[] };
  /** How far the file was read since the last one. */
  bytes: number;
}

/** The records of the file, the header first. Quotes that are not closed end it with a clear line. */
async function* rowsOf(file: string): AsyncGenerator<Read> {
  const parser = parse({
    delimiter: ';',
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: 8_000_000,
  });
  const stream = createReadStream(file);
  stream.on('error', (error) => parser.destroy(error));
  stream.pipe(parser);
  let isFirst = true;
  let read = 0;
  try {
    for await (const entry of parser) {
      const { record, info } = entry as { record: string[]; info: { lines: number; bytes: number } };
      const bytes = info.bytes - read;
      read = info.bytes;
      yield isFirst
        ? { header: record, bytes }
        : { row: { line: info.lines, cells: record.map(unescapeFormula) }, bytes };
      isFirst = false;
    }
  } catch (error) {
    const { code, message, lines } = error as Error & { code?: string; lines?: number };
    if (code === 'ENOENT') throw new FileProblem(`${file} does not exist`);
    if (code?.startsWith('CSV_')) throw new FileProblem(`${file}, line ${lines ?? '?'}: ${message}`);
    throw error;
  } finally {
    stream.destroy();
  }
  if (isFirst) throw new FileProblem(`${file} is empty`);
}

/** A column of this file, in its place. */
interface FileColumn {
  column: Column;
  place: number;
}

/** By the key in brackets, `Name/English [Name/en]`, or by the key alone. */
function fileColumns(header: readonly string[], settings: Settings): FileColumn[] {
  const known = new Map(
    [...columnsOf(settings), ...moreColumnsOf(settings)].map((column) => [column.key, column]),
  );
  const columns = header.map((cell, place) => {
    const title = cell.trim();
    const key = title.endsWith(']') ? title.slice(title.lastIndexOf('[') + 1, -1) : title;
    const column = known.get(key);
    if (!column) {
      throw new FileProblem(
        `The column ${key} is unknown in ${settings.shopId}; its columns are ${[...known.keys()].join(', ')}`,
      );
    }
    return { column, place };
  });
  if (new Set(columns.map(({ column }) => column)).size < columns.length) {
    throw new FileProblem('A column is there twice');
  }
  if (!columns.some(({ column }) => column.key === 'Alias')) {
    throw new FileProblem('The column Alias is missing, which holds the product numbers');
  }
  return columns;
}

function readRow({ line, cells }: { line: number; cells: string[] }, columns: readonly FileColumn[]): Row {
  const cellOf = (key: string) => {
    const place = columns.find(({ column }) => column.key === key)?.place;
    return place === undefined ? '' : (cells[place] ?? '').trim();
  };
  return { line, cells, number: cellOf('Alias'), master: cellOf('SuperProduct') };
}

/** One transaction; when it fails because of one row, each row has its own. */
async function importBatch(
  db: Database,
  options: ImportOptions,
  columns: readonly FileColumn[],
  rows: readonly Row[],
  report: ImportReport,
): Promise<void> {
  // Again for each batch, because the one before may have added product types.
  const settings = await shopSettings(db, options.shopId);
  try {
    const done = await db.transaction((tx) => saveRows(tx, options, settings, columns, rows));
    report.created += done.created;
    report.changed += done.changed;
    report.unchanged += done.unchanged;
    for (const { line, text } of done.problems) problem(report, line, text);
  } catch (error) {
    // What the database refuses about a single row (a number that another process has just taken).
    if (!String((error as { code?: unknown }).code).startsWith('23')) throw error;
    if (rows.length === 1) return problem(report, rows[0]!.line, (error as Error).message);
    for (const row of rows) await importBatch(db, options, columns, [row], report);
  }
}

async function saveRows(
  tx: Transaction,
  { shopId, visible }: ImportOptions,
  settings: Settings,
  columns: readonly FileColumn[],
  rows: readonly Row[],
): Promise<ImportReport> {
  const report: ImportReport = { created: 0, changed: 0, unchanged: 0, problems: [] };
  const masters = await lockByNumber(
    tx,
    shopId,
    rows.flatMap(({ master }) => (master === '' ? [] : [master])),
  );
  const known = await lockByNumber(
    tx,
    shopId,
    rows.map(({ number }) => number),
  );
  const types = new Map(settings.productTypes.map((type) => [type.alias, type.productTypeId]));
  const aliases = new Map(settings.productTypes.map((type) => [type.productTypeId, type.alias]));
  const changes: Change[] = [];

  for (const row of rows) {
    try {
      const stored = known.get(row.number);
      const master = row.master === '' ? undefined : masters.get(row.master);
      if (row.master !== '' && !master) throw new RowRefusal(`SuperProduct ${row.master} is unknown`);
      if (master?.kind === 'variation')
        throw new RowRefusal(`SuperProduct ${row.master} is a variation itself`);
      if (stored && (stored.masterId ?? undefined) !== master?.productId) {
        throw new RowRefusal('SuperProduct is another than that of the product');
      }
      const before = stored ? fileProduct(stored, row.master, master, aliases) : null;
      const after = before
        ? { ...before }
        : fileProduct(newRow(tx, row, visible, master), row.master, master, aliases);
      applyCells(after, row, columns);
      if (before && JSON.stringify(before) === JSON.stringify(after)) report.unchanged++;
      else changes.push({ before, after });
    } catch (error) {
      if (!(error instanceof RowRefusal)) throw error;
      report.problems.push({ line: row.line, text: error.message });
    }
  }
  await ensureTypes(tx, shopId, settings, changes, types);
  await save(tx, settings, changes, masters, types);
  report.created = changes.filter(({ before }) => !before).length;
  report.changed = changes.length - report.created;
  return report;
}

class RowRefusal extends Error {
  override name = 'RowRefusal';
}

function fileProduct(
  stored: StoredProduct,
  masterNumber: string,
  master: StoredProduct | undefined,
  aliases: ReadonlyMap<string, string>,
): FileProduct {
  const typeId = master ? master.productTypeId : stored.productTypeId;
  return { ...stored, class: aliases.get(typeId ?? '') ?? 'Default', masterNumber };
}

/** A variation that the file makes: its values are not in the file, so its number tells it apart. */
function newRow(
  tx: Transaction,
  { number }: Row,
  visible: boolean,
  master: StoredProduct | undefined,
): StoredProduct {
  if (number.length > 100) throw new RowRefusal('Alias is longer than 100 characters');
  if (CONTROL.test(number)) throw new RowRefusal('Alias holds control characters');
  return {
    productId: newId(tx.now),
    productNumber: number,
    kind: master ? 'variation' : 'regular',
    masterId: master?.productId ?? null,
    selection: master ? { [SELECTED_BY]: number } : null,
    visible,
    stock: null,
    minStock: null,
    taxClassId: null,
    productTypeId: null,
    prices: null,
    mainImage: null,
    facts: {},
  };
}

const SELECTED_BY = 'Variation';
const CONTROL = /\p{Cc}/u;

/** Cells that say what the product says already are not touched. */
function applyCells(product: FileProduct, { cells }: Row, columns: readonly FileColumn[]): void {
  for (const { column, place } of columns) {
    const cell = cells[place] ?? '';
    if (cell === column.cell(product)) continue;
    try {
      column.apply(product, column.key === 'Alias' || column.key === 'SuperProduct' ? cell.trim() : cell);
    } catch (error) {
      if (error instanceof CellProblem) throw new RowRefusal(`${column.key} ${error.message}`);
      throw error;
    }
  }
}

async function lockByNumber(tx: Transaction, shopId: string, numbers: readonly string[]) {
  if (numbers.length === 0) return new Map<string, StoredProduct>();
  const rows = await tx.many<StoredProduct>(sql`
    select ${storedColumns} from product
    where product.shop_id = ${shopId} and product.product_number = any (${numbers}::text[])
    order by product.product_id for update`);
  return new Map(rows.map((row) => [row.productNumber, row]));
}

/** Product types that the shop does not have yet. */
async function ensureTypes(
  tx: Transaction,
  shopId: string,
  { defaultLocale }: Settings,
  changes: readonly { after: FileProduct }[],
  types: Map<string, string>,
): Promise<void> {
  const missing = [...new Set(changes.map(({ after }) => after.class))].filter((alias) => !types.has(alias));
  if (missing.length === 0) return;
  const rows = missing.map((alias) => ({ alias, id: newId(tx.now), name: { [defaultLocale]: alias } }));
  const stored = await tx.many<{ alias: string; id: string }>(sql`
    insert into product_type (shop_id, product_type_id, alias, name, created_at, attributes)
    select ${shopId}, id, alias, name, ${tx.now}, '[]'
    from jsonb_to_recordset(${JSON.stringify(rows)}) as entry (id uuid, alias text, name jsonb)
    on conflict (shop_id, alias) do update set alias = excluded.alias
    returning alias, upper(product_type_id::text) as id`);
  for (const { alias, id } of stored) types.set(alias, id);
  await moveSettingsVersion(tx, shopId);
}

interface Change {
  before: FileProduct | null;
  after: FileProduct;
}

/** Everything that follows from the changes of a batch, with a fixed number of statements. */
async function save(
  tx: Transaction,
  settings: Settings,
  changes: readonly Change[],
  masters: ReadonlyMap<string, StoredProduct>,
  types: ReadonlyMap<string, string>,
): Promise<void> {
  if (changes.length === 0) return;
  const { shopId } = settings;
  const created = changes.filter(({ before }) => !before);
  const changed = changes.filter(({ before }) => before);
  const reductions = await recordPrices(tx, shopId, changed.map(priceChange));
  const changedRows = changed.map(({ after }, index) => storedRow(after, types, reductions[index]));
  await updateRows(tx, shopId, changedRows);
  await insertRows(
    tx,
    shopId,
    created.map(({ after }) => storedRow(after, types, undefined)),
  );
  await recordPrices(tx, shopId, created.map(priceChange));
  const changedMasters = await updateMasters(tx, shopId, changes, masters);
  await refreshListing(
    tx,
    shopId,
    changes.map(({ after }) => after.productId),
  );
  const back = changed.filter(({ before, after }) => isBackInStock(before!.stock, after.stock));
  if (back.length > 0) {
    await queueAvailabilityNotifications(
      tx,
      shopId,
      back.map(({ after }) => after.productId),
    );
  }
  recordCreatedProducts(
    tx,
    shopId,
    created.map(({ after }) => after.productId),
  );
  recordChangedProducts(tx, shopId, [
    ...changedRows.map((row, index) => ({
      productId: row.productId,
      changed: changedFields(changed[index]!.before!, row),
    })),
    ...changedMasters,
  ]);
  for (const { before, after } of changed) {
    recordStockEvents(tx, settings, after, before!.stock, after.stock);
  }
}

function priceChange({ before, after }: Change): PriceChange {
  return {
    productId: after.productId,
    before: before?.prices ?? null,
    after: after.prices,
    beforeReduction: before?.facts.pricesBeforeReduction,
  };
}

function storedRow(
  { class: alias, masterNumber: _number, ...product }: FileProduct,
  types: ReadonlyMap<string, string>,
  reduction: Prices | undefined,
): StoredProduct {
  const { pricesBeforeReduction: _old, ...facts } = product.facts;
  // What had no type and is of the default one goes on having none; a variation is of its master's.
  const hasNone = product.kind === 'variation' || (alias === 'Default' && product.productTypeId === null);
  return {
    ...product,
    facts: reduction ? { ...facts, pricesBeforeReduction: reduction } : facts,
    productTypeId: hasNone ? null : types.get(alias)!,
  };
}

async function insertRows(tx: Transaction, shopId: string, rows: readonly StoredProduct[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.run(sql`
    insert into product (shop_id, product_id, product_number, kind, master_id, selection, created_at, version,
      visible, stock, product_type_id, prices, facts)
    select ${shopId}, "productId", "productNumber", kind, "masterId", selection, ${tx.now}, 1, visible, stock,
      "productTypeId", prices, facts
    from jsonb_to_recordset(${JSON.stringify(rows)}) as entry ("productId" uuid, "productNumber" text, kind text,
      "masterId" uuid, selection jsonb, visible boolean, stock numeric, "productTypeId" uuid, prices jsonb,
      facts jsonb)`);
}

async function updateRows(tx: Transaction, shopId: string, rows: readonly StoredProduct[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.run(sql`
    update product
    set version = version + 1, stock = entry.stock, product_type_id = entry."productTypeId",
      prices = entry.prices, facts = entry.facts
    from jsonb_to_recordset(${JSON.stringify(rows)}) as entry ("productId" uuid, stock numeric,
      "productTypeId" uuid, prices jsonb, facts jsonb)
    where product.shop_id = ${shopId} and product.product_id = entry."productId"`);
}

/** A master shows the prices of its variations, and is not sold itself. Returns what has changed of the masters. */
async function updateMasters(
  tx: Transaction,
  shopId: string,
  changes: readonly Change[],
  masters: ReadonlyMap<string, StoredProduct>,
) {
  const rows = [...masters.values()].flatMap(({ productId, facts }) => {
    const own = changes.filter(({ after }) => after.masterId === productId);
    const numbers = own.flatMap(({ before, after }) => (before ? [] : [after.productNumber]));
    if (own.length === 0) return [];
    const { variationAttributes = [] } = facts;
    const dimensions =
      numbers.length > 0
        ? mergedDimensions(variationAttributes, [{ key: SELECTED_BY, values: numbers }])
        : variationAttributes;
    return [{ productId, facts: { ...facts, variationAttributes: dimensions } }];
  });
  if (rows.length === 0) return [];
  await tx.run(sql`
    update product
    set version = version + 1, kind = 'master', stock = null, min_stock = null, facts = entry.facts
    from jsonb_to_recordset(${JSON.stringify(rows)}) as entry ("productId" uuid, facts jsonb)
    where product.shop_id = ${shopId} and product.product_id = entry."productId"`);
  const byId = new Map([...masters.values()].map((master) => [master.productId, master]));
  return rows.map(({ productId, facts }) => {
    const before = byId.get(productId)!;
    const after: StoredProduct = { ...before, kind: 'master', stock: null, minStock: null, facts };
    return { productId, changed: changedFields(before, after) };
  });
}
