import type { Queries, Transaction } from '../../db/database.ts';
import { leaseEnd } from '../../db/lease.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import type { Mapping } from './csv-mapping.ts';
import type { DecimalSign } from './decimal-comma.ts';
import { MAX_NEW_CATEGORIES, MAX_IMPORT_PROBLEMS, type ProductImportReport } from './import.ts';
import type { RowProblem } from './row-problem.ts';

export type ImportState = 'mapping' | 'checking' | 'checked' | 'importing' | 'done' | 'failed';

export interface Reading {
  mapping: Mapping;
  decimalSign: DecimalSign;
  visible: boolean;
}

/** An import as lists show it. */
export interface ImportSummary {
  importId: string;
  author: string;
  fileName: string;
  state: ImportState;
  rowCount: number;
  rowsDone: number;
  created: number;
  changed: number;
  unchanged: number;
  refused: number;
}

export interface StoredImport extends ImportSummary {
  reading: Reading;
  /** The first ones. */
  problems: RowProblem[];
  newCategories: string[];
  error: string | null;
}

const summary = sql`
  upper(import_id::text) as "importId", author, file_name as "fileName", state, row_count as "rowCount",
  rows_done as "rowsDone", created, changed, unchanged, refused`;

/** Problems read with an import: as many as a page shows. */
export const SHOWN_PROBLEMS = 100;

const stored = sql`
  ${summary}, reading, new_categories as "newCategories", error,
  jsonb_path_query_array(problems, ${`$[0 to ${SHOWN_PROBLEMS - 1}]`}::jsonpath) as problems`;

/** Imports kept per shop; a new one replaces the oldest. */
const MAX_IMPORTS = 20;

export function findImports(db: Queries, shopId: string) {
  return db.many<ImportSummary>(sql`
    select ${summary} from product_import
    where shop_id = ${shopId} order by import_id desc limit ${MAX_IMPORTS}`);
}

export function findImport(db: Queries, shopId: string, importId: string) {
  return db.one<StoredImport>(sql`
    select ${stored} from product_import where shop_id = ${shopId} and import_id = ${importId}`);
}

const PROBLEMS_AT_ONCE = 500;

/** All stored problems, in steps: together they may be some megabytes. */
export async function* eachProblem(
  db: Queries,
  shopId: string,
  importId: string,
): AsyncGenerator<RowProblem> {
  for (let first = 0; ; first += PROBLEMS_AT_ONCE) {
    const row = await db.one<{ problems: RowProblem[] }>(sql`
      select jsonb_path_query_array(problems, ${`$[${first} to ${first + PROBLEMS_AT_ONCE - 1}]`}::jsonpath) as problems
      from product_import where shop_id = ${shopId} and import_id = ${importId}`);
    yield* row?.problems ?? [];
    if ((row?.problems.length ?? 0) < PROBLEMS_AT_ONCE) return;
  }
}

/** Characters of a file that are read at once: making a text of ten megabytes would hold up everybody. */
const CHARACTERS_AT_ONCE = 1_000_000;

export async function findImportContent(db: Queries, shopId: string, importId: string): Promise<string> {
  const parts: string[] = [];
  for (let first = 1; ; first += CHARACTERS_AT_ONCE) {
    const row = await db.one<{ part: string }>(sql`
      select substr(content, ${first}, ${CHARACTERS_AT_ONCE}) as part
      from product_import where shop_id = ${shopId} and import_id = ${importId}`);
    const part = row?.part ?? '';
    parts.push(part);
    if (part.length < CHARACTERS_AT_ONCE) return parts.join('');
  }
}

export interface NewImport {
  author: string;
  fileName: string;
  content: string;
  rowCount: number;
  reading: Reading;
  /** `checking` starts at once. */
  state: 'mapping' | 'checking';
}

/** Returns its id. */
export async function insertImport(tx: Transaction, shopId: string, given: NewImport): Promise<string> {
  const importId = newId(tx.now);
  const { author, fileName, content, rowCount, reading, state } = given;
  await tx.run(sql`
    insert into product_import (shop_id, import_id, author, file_name, content, state, reading, row_count, rows_done,
      created, changed, unchanged, refused, problems, new_categories, run_at, attempts)
    values (${shopId}, ${importId}, ${author}, ${fileName.slice(0, 200)}, ${content}, ${state}, ${reading}, ${rowCount},
      0, 0, 0, 0, 0, '[]', '[]', ${state === 'checking' ? tx.serviceNow : null}, 0)`);
  await tx.run(sql`
    delete from product_import where shop_id = ${shopId} and run_at is null and import_id in (
      select import_id from product_import where shop_id = ${shopId} order by import_id desc offset ${MAX_IMPORTS})`);
  return importId;
}

/** Starts a check or an import. false: it is no longer in one of these states. */
export async function startImport(
  tx: Transaction,
  shopId: string,
  importId: string,
  {
    state,
    reading,
    from,
  }: { state: 'checking' | 'importing'; reading: Reading; from: readonly ImportState[] },
): Promise<boolean> {
  const changed = await tx.run(sql`
    update product_import
    set state = ${state}, reading = ${reading}, rows_done = 0, created = 0, changed = 0, unchanged = 0, refused = 0,
      problems = '[]', new_categories = '[]', run_at = ${tx.serviceNow}, attempts = 0, error = null
    where shop_id = ${shopId} and import_id = ${importId} and state = any (${from}::text[])`);
  return changed > 0;
}

export function deleteImport(tx: Transaction, shopId: string, importId: string) {
  return tx.run(sql`
    delete from product_import where shop_id = ${shopId} and import_id = ${importId} and state <> 'importing'`);
}

export function findDueImport(db: Queries) {
  return db.one<{ shopId: string; importId: string }>(sql`
    select shop_id as "shopId", import_id as "importId" from product_import
    where run_at <= ${db.now} order by run_at limit 1`);
}

export interface TakenImport extends StoredImport {
  content: string;
  attempts: number;
}

/** undefined: another process was faster. */
export function takeImport(db: Queries, shopId: string, importId: string) {
  const { now } = db;
  return db.one<TakenImport>(sql`
    update product_import set run_at = ${leaseEnd(now)}, attempts = attempts + 1
    where shop_id = ${shopId} and import_id = ${importId} and run_at <= ${now}
    returning ${stored}, content, attempts`);
}

type Taken = Pick<TakenImport, 'importId' | 'attempts'>;

/** Adds the results of some rows. false: another process has taken the import, or it was deleted. */
export async function addProgress(
  tx: Transaction,
  shopId: string,
  { importId, attempts }: Taken,
  rows: number,
  done: ProductImportReport,
): Promise<boolean> {
  const problems = JSON.stringify(done.problems);
  const categories = JSON.stringify(done.newCategories.slice(0, MAX_NEW_CATEGORIES));
  const changed = await tx.run(sql`
    update product_import
    set rows_done = rows_done + ${rows}, created = created + ${done.created}, changed = changed + ${done.changed},
      unchanged = unchanged + ${done.unchanged}, refused = refused + ${done.problems.length},
      problems = case when refused < ${MAX_IMPORT_PROBLEMS} then problems || ${problems}::jsonb else problems end,
      new_categories = case when jsonb_array_length(new_categories) < ${MAX_NEW_CATEGORIES}
        then new_categories || ${categories}::jsonb else new_categories end,
      run_at = ${leaseEnd(tx.serviceNow)}
    where shop_id = ${shopId} and import_id = ${importId} and attempts = ${attempts}`);
  return changed > 0;
}

/** A restarted check counts from zero. */
export function resetProgress(tx: Transaction, shopId: string, { importId, attempts }: Taken) {
  return tx.run(sql`
    update product_import
    set rows_done = 0, created = 0, changed = 0, unchanged = 0, refused = 0, problems = '[]', new_categories = '[]'
    where shop_id = ${shopId} and import_id = ${importId} and attempts = ${attempts}`);
}

export function endImport(
  tx: Transaction,
  shopId: string,
  { importId, attempts }: Taken,
  { state, error = null }: { state: ImportState; error?: string | null },
) {
  return tx.run(sql`
    update product_import set state = ${state}, run_at = null, error = ${error?.slice(0, 2_000) ?? null}
    where shop_id = ${shopId} and import_id = ${importId} and attempts = ${attempts}`);
}

/** Lets the next process continue at once. */
export function releaseImport(tx: Transaction, shopId: string, { importId, attempts }: Taken) {
  return tx.run(sql`
    update product_import set run_at = ${tx.serviceNow}
    where shop_id = ${shopId} and import_id = ${importId} and attempts = ${attempts}`);
}

const KEPT = 30 * 86_400_000;

/** An id starts with its creation time. */
export const importCleanup: CleanupStep = {
  name: 'product imports',
  run: async (db, limit) => {
    const before = newId(new Date(db.now.getTime() - KEPT));
    const old = await db.many<{ shopId: string; importId: string }>(sql`
      select shop_id as "shopId", import_id as "importId" from product_import
      where import_id < ${before} and run_at is null limit ${limit}`);
    for (const { shopId, importId } of old) {
      await db.run(sql`delete from product_import where shop_id = ${shopId} and import_id = ${importId}`);
    }
    return old.length;
  },
};
