import type { Database, Transaction } from '../../db/database.ts';
import { recordEvents } from '../../platform/events/log.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { inspectFile, openProductFile, rowsOf, type FileStart, type ProductFile } from './csv-file.ts';
import { mappedColumns, strictMapping, type FileColumn, type Mapping } from './csv-mapping.ts';
import type { FileRow } from './csv-reader.ts';
import { decimalSignOf, type DecimalSign } from './decimal-comma.ts';
import {
  newCategories,
  planRows,
  savePlan,
  type BatchReport,
  type ImportRow,
  type RowReading,
} from './import-batch.ts';
import { analyseCatalogue } from './listing.ts';
import { NumberLines } from './number-lines.ts';
import { CellProblem, rowProblem, type RowProblem } from './row-problem.ts';

/**
 * Imports a product file. Rows with the number of a product change it, others are new. A missing column leaves its
 * attribute unchanged. A refused row is reported with its line, all others are saved: each batch of rows is one
 * transaction.
 */
export interface ProductImportReport extends BatchReport {
  /** Categories that were, or would be, created. */
  newCategories: string[];
}

export interface ImportOptions {
  shopId: string;
  file: ProductFile;
  mapping: Mapping;
  decimalSign: DecimalSign;
  /** Whether new products are shown in the shop. */
  visible: boolean;
  /** Only reports what would happen to the rows. */
  isCheck?: boolean;
  onProgress?: (rows: number, bytes: number) => void;
  /** Rows saved before, when an import continues after a restart. */
  rowsDone?: number;
  /** Runs in the transaction of each batch; with it, batches are saved one by one. */
  onBatch?: (tx: Transaction, rows: number, done: BatchReport & { newCategories: string[] }) => Promise<void>;
}

/** The limits of a batch in rows and characters: the JSON of long texts would occupy the processor for too long. */
const ROWS_AT_ONCE = 500;
const CHARACTERS_AT_ONCE = 500_000;
/** Concurrent batches: while PostgreSQL works on one, the next is prepared. */
const BATCHES_AT_ONCE = 2;
/** A longer report would be useless. */
export const MAX_IMPORT_PROBLEMS = 10_000;
export const MAX_NEW_CATEGORIES = 1_000;

/** Opens a file of this machine; all of its columns must be known. */
export async function openImport(
  db: Database,
  shopId: string,
  path: string,
): Promise<Pick<ImportOptions, 'file' | 'mapping' | 'decimalSign'>> {
  const settings = await shopSettings(db, shopId);
  const file = await openProductFile(path);
  const start = await inspectFile(file);
  const mapping = await strictMapping(start.header, settings);
  return { file, mapping, decimalSign: decimalSignIn(start, mappedColumns(mapping, settings)) };
}

/** Imports the rows of such a file, without the pictures that it names. */
export async function importFile(
  db: Database,
  path: string,
  options: Pick<ImportOptions, 'shopId' | 'visible' | 'isCheck' | 'onProgress'>,
): Promise<ProductImportReport> {
  return importProducts(db, { ...options, ...(await openImport(db, options.shopId, path)) });
}

/** The decimal sign of the numbers in the first rows. */
export function decimalSignIn({ sample }: FileStart, columns: readonly FileColumn[]): DecimalSign {
  const numbers = columns.filter(({ column }) => column.isNumber);
  const cellsOf = ({ cells }: FileRow) =>
    numbers.flatMap(({ column, place }) => {
      const cell = cells[place] ?? '';
      return cell.length > column.maxLength ? [] : [cell];
    });
  return decimalSignOf(sample.flatMap(cellsOf));
}

export async function importProducts(db: Database, options: ImportOptions): Promise<ProductImportReport> {
  const { shopId, isCheck = false, rowsDone = 0, onBatch } = options;
  const settings = await shopSettings(db, shopId);
  const columns = mappedColumns(options.mapping, settings);
  const { decimalSign, visible } = options;
  const reading: RowReading = { columns, decimalSign, visible };
  const report: ProductImportReport = {
    created: 0,
    changed: 0,
    unchanged: 0,
    problems: [],
    newCategories: [],
  };
  const run: Run = { db, options, reading, report, promised: new NumberLines() };
  const atOnce = onBatch || isCheck ? 1 : BATCHES_AT_ONCE;
  let isFirst = !isCheck;
  let rowsBefore = 0;
  const seen: SeenRows = { numbers: new NumberLines(), hasVariations: false };
  // Variations need their masters, wherever these are in the file: so it is read twice, if it has any.
  for (const variations of [false, true]) {
    if (variations && !seen.hasVariations) break;
    const underWay = new Set<Promise<void>>();
    try {
      for await (const batch of batchesOf(options, columns, variations, seen)) {
        const left = withoutFirst(batch, rowsDone - rowsBefore);
        rowsBefore += batch.rows.length + batch.problems.length;
        if (rowsBefore <= rowsDone) continue;
        while (underWay.size >= atOnce) await Promise.race(underWay);
        const taken = importBatch(run, left).finally(() => underWay.delete(taken));
        underWay.add(taken);
        if (!isFirst) continue;
        isFirst = false;
        await taken;
        // A shop whose first products come with this file; in any other one PostgreSQL knows the sizes already.
        if (report.created > 0) await analyseCatalogue(db);
      }
      await Promise.all(underWay);
    } catch (error) {
      await Promise.allSettled(underWay);
      throw error;
    }
  }
  report.problems.sort((left, right) => left.line - right.line);
  if (!isCheck && !onBatch) await db.transaction(async (tx) => recordFinished(tx, shopId, report));
  return report;
}

/** The event of a finished import. */
export function recordFinished(
  tx: Transaction,
  shopId: string,
  { created, changed, unchanged, problems }: Omit<BatchReport, 'problems'> & { problems: { length: number } },
): void {
  const data = { created, changed, unchanged, refused: problems.length };
  recordEvents(tx, shopId, [{ type: 'IMPORT_FINISHED', resourceId: null, data }]);
}

interface Batch {
  rows: ImportRow[];
  /** Problems of rows outside the batch, because they name no product or one that was named before. */
  problems: RowProblem[];
}

/** The rows that were read so far. */
interface SeenRows {
  numbers: NumberLines;
  hasVariations: boolean;
}

/** The rows of variations, or all others, in batches; a number that was seen before is reported instead. */
async function* batchesOf(
  { file, onProgress }: ImportOptions,
  columns: readonly FileColumn[],
  variations: boolean,
  seen: SeenRows,
): AsyncGenerator<Batch> {
  let batch: Batch = { rows: [], problems: [] };
  let characters = 0;
  for await (const { row, bytes } of rowsOf(file)) {
    if (!row) continue;
    const read = readRow(row, columns);
    if (read.master !== '') seen.hasVariations = true;
    if ((read.master !== '') !== variations) continue;
    onProgress?.(1, bytes);
    const problem = numberProblem(read, seen.numbers);
    if (problem) batch.problems.push(rowProblem(read.line, 'Alias', problem, read.number));
    else batch.rows.push(read);
    characters += row.cells.reduce((sum, cell) => sum + cell.length, 0);
    if (batch.rows.length + batch.problems.length === ROWS_AT_ONCE || characters >= CHARACTERS_AT_ONCE) {
      yield batch;
      batch = { rows: [], problems: [] };
      characters = 0;
    }
  }
  if (batch.rows.length + batch.problems.length > 0) yield batch;
}

/** The rest of a batch after this many rows. */
function withoutFirst({ rows, problems }: Batch, done: number): Batch {
  if (done <= 0) return { rows, problems };
  return { problems: problems.slice(done), rows: rows.slice(Math.max(0, done - problems.length)) };
}

/** Notes the line of a number that was not seen before. */
function numberProblem({ number, line }: ImportRow, seen: NumberLines): CellProblem | undefined {
  if (number === '') return new CellProblem('noNumber', 'is empty');
  const first = seen.add(number, line);
  if (first === undefined) return undefined;
  return new CellProblem('twice', `${number} is in line ${first} already`, { first });
}

function readRow({ line, cells }: FileRow, columns: readonly FileColumn[]): ImportRow {
  const cellOf = (key: string) => {
    const place = columns.find(({ column }) => column.key === key)?.place;
    return place === undefined ? '' : (cells[place] ?? '').trim();
  };
  return { line, cells, number: cellOf('Alias'), master: cellOf('SuperProduct') };
}

interface Run {
  db: Database;
  options: ImportOptions;
  reading: RowReading;
  report: ProductImportReport;
  /** Products that a real import would have created: they may be the masters of variations. */
  promised: NumberLines;
}

/** One transaction; when it fails because of one row, each row gets its own. */
async function importBatch(run: Run, { rows, problems }: Batch): Promise<void> {
  const { db, options, reading, report, promised } = run;
  // Read for each batch, because the previous one may have added product types.
  const settings = await shopSettings(db, options.shopId);
  try {
    const done = await db.transaction(async (tx) => {
      const plan = await planRows(tx, settings, reading, rows, promised);
      const paths = await newCategories(plan);
      if (options.isCheck) {
        const changed = new Set(plan.changes.map(({ after }) => after.productNumber));
        for (const { number, line } of rows) if (changed.has(number)) promised.set(number, line);
      } else await savePlan(tx, settings, plan);
      const { created, changed, unchanged } = plan;
      const all = {
        created,
        changed,
        unchanged,
        problems: [...problems, ...plan.problems],
        newCategories: paths,
      };
      await options.onBatch?.(tx, rows.length + problems.length, all);
      return all;
    });
    addTo(report, done);
  } catch (error) {
    // Refusals of a single row by the database (a number that another process has just taken).
    if (!String((error as { code?: unknown }).code).startsWith('23')) throw error;
    if (rows.length > 1) {
      for (const [index, row] of rows.entries())
        await importBatch(run, { rows: [row], problems: index === 0 ? problems : [] });
      return;
    }
    const refused = new CellProblem('refused', (error as Error).message);
    const problem = rowProblem(rows[0]!.line, null, refused, rows[0]!.number);
    await importBatch(run, { rows: [], problems: [...problems, problem] });
  }
}

function addTo(report: ProductImportReport, done: ProductImportReport): void {
  report.created += done.created;
  report.changed += done.changed;
  report.unchanged += done.unchanged;
  report.problems.push(...done.problems.slice(0, MAX_IMPORT_PROBLEMS - report.problems.length));
  const known = new Set(report.newCategories);
  const added = done.newCategories.filter((path) => !known.has(path));
  report.newCategories.push(...added.slice(0, MAX_NEW_CATEGORIES - report.newCategories.length));
}
