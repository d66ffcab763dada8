import type { Queries, Transaction } from '../../db/database.ts';
import { insertInto } from '../../db/insert.ts';
import { leaseEnd } from '../../db/lease.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import type { ExportSystem } from '../exports.ts';
import type { Imported } from '../import-shop.ts';
import type { RecordKind } from '../records.ts';
import type { Counts, ReportLine } from '../run.ts';

export type MoveSystem = ExportSystem | 'epages';
export type MoveState = 'open' | 'checking' | 'checked' | 'importing' | 'done' | 'failed';

export interface MoveOptions {
  only: readonly Imported[];
  nextOrderNumber?: number;
  nextInvoiceNumber?: number;
}

export type MoveCounts = Partial<Record<RecordKind, Counts>>;

export interface ShopMove {
  moveId: string;
  author: string;
  system: MoveSystem;
  /** Of an API. */
  address: string | null;
  state: MoveState;
  options: MoveOptions;
  counts: MoveCounts;
  pictures: number;
  recordsDone: number;
  recordsAll: number | null;
  lines: number;
  unknownFiles: string[];
  error: string | null;
}

const columns = sql`
  upper(move_id::text) as "moveId", author, system, address, state, options, counts, pictures,
  records_done as "recordsDone", records_all as "recordsAll", lines, unknown_files as "unknownFiles", error`;

/** Moves kept per shop; a new one replaces the oldest. */
const MAX_MOVES = 5;

export function findMoves(db: Queries, shopId: string) {
  return db.many<ShopMove>(sql`
    select ${columns} from shop_move where shop_id = ${shopId} order by move_id desc limit ${MAX_MOVES}`);
}

export function findMove(db: Queries, shopId: string, moveId: string) {
  return db.one<ShopMove>(sql`
    select ${columns} from shop_move where shop_id = ${shopId} and move_id = ${moveId}`);
}

/** Locks it until the transaction ends, so that two files that are sent together are counted one after the other. */
export function lockMove(tx: Transaction, shopId: string, moveId: string) {
  return tx.one<{ state: MoveState }>(sql`
    select state from shop_move where shop_id = ${shopId} and move_id = ${moveId} for update`);
}

export interface NewMove {
  author: string;
  system: MoveSystem;
  address: string | null;
  tokenSealed: Buffer | null;
  options: MoveOptions;
}

/** Returns its id. */
export async function insertMove(
  tx: Transaction,
  shopId: string,
  { author, system, address, tokenSealed, options }: NewMove,
): Promise<string> {
  const moveId = newId(tx.now);
  await tx.run(sql`
    insert into shop_move (shop_id, move_id, author, system, address, token_sealed, state, options, counts, pictures,
      records_done, lines, unknown_files, attempts)
    values (${shopId}, ${moveId}, ${author}, ${system}, ${address}, ${tokenSealed}, 'open', ${options}, '{}', 0, 0, 0,
      '[]', 0)`);
  await tx.run(sql`
    delete from shop_move where shop_id = ${shopId} and run_at is null and move_id in (
      select move_id from shop_move where shop_id = ${shopId} order by move_id desc offset ${MAX_MOVES})`);
  return moveId;
}

export interface MoveFile {
  number: number;
  name: string;
  bytes: number;
}

export function findMoveFiles(db: Queries, shopId: string, moveId: string) {
  return db.many<MoveFile>(sql`
    select file_number as number, min(file_name) as name, sum(octet_length(content))::float8 as bytes
    from shop_move_part where shop_id = ${shopId} and move_id = ${moveId} group by file_number order by file_number`);
}

export interface MovePart {
  fileNumber: number;
  partNumber: number;
  fileName: string;
  content: Buffer;
}

export function insertMovePart(
  tx: Transaction,
  shopId: string,
  moveId: string,
  { fileNumber, partNumber, fileName, content }: MovePart,
) {
  return tx.run(sql`
    insert into shop_move_part (shop_id, move_id, file_number, part_number, file_name, content)
    values (${shopId}, ${moveId}, ${fileNumber}, ${partNumber}, ${fileName}, ${content})`);
}

/** undefined: the file has no more parts. */
export function findMovePart(
  db: Queries,
  shopId: string,
  moveId: string,
  { fileNumber, partNumber }: Pick<MovePart, 'fileNumber' | 'partNumber'>,
) {
  return db.one<{ content: Buffer }>(sql`
    select content from shop_move_part
    where shop_id = ${shopId} and move_id = ${moveId} and file_number = ${fileNumber}
      and part_number = ${partNumber}`);
}

/** Starts a check or an import. false: it is no longer in one of these states. */
export async function startMove(
  tx: Transaction,
  shopId: string,
  moveId: string,
  {
    state,
    options,
    from,
  }: { state: 'checking' | 'importing'; options: MoveOptions; from: readonly MoveState[] },
): Promise<boolean> {
  const started = await tx.run(sql`
    update shop_move
    set state = ${state}, options = ${options}, run_at = ${tx.serviceNow}, attempts = 0, error = null, records_done = 0
    where shop_id = ${shopId} and move_id = ${moveId} and state = any (${from}::text[])`);
  return started > 0;
}

export function deleteMove(db: Queries, shopId: string, moveId: string) {
  return db.run(sql`
    delete from shop_move where shop_id = ${shopId} and move_id = ${moveId} and state <> 'importing'`);
}

export function findDueMove(db: Queries) {
  return db.one<{ shopId: string; moveId: string }>(sql`
    select shop_id as "shopId", move_id as "moveId" from shop_move
    where run_at <= ${db.now} order by run_at limit 1`);
}

export interface TakenMove extends ShopMove {
  tokenSealed: Buffer | null;
  attempts: number;
}

/** undefined: another process was faster. */
export function takeMove(db: Queries, shopId: string, moveId: string) {
  const { now } = db;
  return db.one<TakenMove>(sql`
    update shop_move set run_at = ${leaseEnd(now)}, attempts = attempts + 1
    where shop_id = ${shopId} and move_id = ${moveId} and run_at <= ${now}
    returning ${columns}, token_sealed as "tokenSealed", attempts`);
}

export interface MoveProgress {
  counts: MoveCounts;
  pictures: number;
  recordsDone: number;
  lines: number;
}

/** Saves how far it is, and renews the lease. false: another process has taken the move, or it was deleted. */
export async function saveMoveProgress(
  db: Queries,
  shopId: string,
  { moveId, attempts }: Pick<TakenMove, 'moveId' | 'attempts'>,
  { counts, pictures, recordsDone, lines }: MoveProgress,
): Promise<boolean> {
  const saved = await db.run(sql`
    update shop_move
    set counts = ${counts}, pictures = ${pictures}, records_done = ${recordsDone}, lines = ${lines},
      run_at = ${leaseEnd(db.serviceNow)}
    where shop_id = ${shopId} and move_id = ${moveId} and attempts = ${attempts}`);
  return saved > 0;
}

const insertLines = insertInto('shop_move_line', {
  moveId: 'uuid',
  lineNumber: 'bigint',
  kind: 'text',
  place: 'text',
  line: 'bigint',
  name: 'text',
  reason: 'text',
});

export function saveMoveLines(
  tx: Transaction,
  shopId: string,
  moveId: string,
  { first, lines }: { first: number; lines: readonly ReportLine[] },
) {
  const plain = (text: string) => text.replaceAll('\0', '').slice(0, 1_000);
  return tx.run(
    insertLines(
      shopId,
      lines.map(({ kind, place, name, text }, index) => ({
        moveId,
        lineNumber: first + index,
        kind,
        place: plain(place.file),
        line: place.line,
        name: plain(name),
        reason: plain(text),
      })),
    ),
  );
}

export interface MoveLine {
  lineNumber: number;
  kind: string;
  place: string;
  line: number | null;
  name: string;
  reason: string;
}

export function findMoveLines(
  db: Queries,
  shopId: string,
  moveId: string,
  { after, limit }: { after: number; limit: number },
) {
  return db.many<MoveLine>(sql`
    select line_number as "lineNumber", kind, place, line, name, reason from shop_move_line
    where shop_id = ${shopId} and move_id = ${moveId} and line_number > ${after}
    order by line_number limit ${limit}`);
}

/** A run begins with an empty report. */
export function deleteMoveLines(tx: Transaction, shopId: string, moveId: string) {
  return tx.run(sql`delete from shop_move_line where shop_id = ${shopId} and move_id = ${moveId}`);
}

/** The token of a move that has ended is forgotten with its files; a failed one can be tried again. */
export async function endMove(
  tx: Transaction,
  shopId: string,
  { moveId, attempts }: Pick<TakenMove, 'moveId' | 'attempts'>,
  {
    state,
    recordsAll,
    unknownFiles = [],
    error = null,
  }: {
    state: 'checked' | 'done' | 'failed';
    recordsAll: number | null;
    unknownFiles?: readonly string[];
    error?: string | null;
  },
): Promise<void> {
  const isDone = state === 'done';
  await tx.run(sql`
    update shop_move
    set state = ${state}, run_at = null, records_all = ${recordsAll}, error = ${error?.slice(0, 2_000) ?? null},
      unknown_files = ${JSON.stringify(unknownFiles)}::jsonb,
      token_sealed = case when ${isDone} then null else token_sealed end
    where shop_id = ${shopId} and move_id = ${moveId} and attempts = ${attempts}`);
  if (!isDone) return;
  await tx.run(sql`delete from shop_move_part where shop_id = ${shopId} and move_id = ${moveId}`);
}

/** Lets the next process continue at once. */
export function releaseMove(
  tx: Transaction,
  shopId: string,
  { moveId, attempts }: Pick<TakenMove, 'moveId' | 'attempts'>,
) {
  return tx.run(sql`
    update shop_move set run_at = ${tx.serviceNow}
    where shop_id = ${shopId} and move_id = ${moveId} and attempts = ${attempts}`);
}

/** Files hold the data of customers, and a token opens their shop, so they do not stay for long. */
const KEPT = 7 * 86_400_000;

/** An id starts with its creation time. */
export const moveCleanup: CleanupStep = {
  name: 'moves from other shops',
  run: async (db, limit) => {
    const before = newId(new Date(db.now.getTime() - KEPT));
    const old = await db.many<{ shopId: string; moveId: string }>(sql`
      select shop_id as "shopId", move_id as "moveId" from shop_move
      where move_id < ${before} and run_at is null limit ${limit}`);
    for (const { shopId, moveId } of old) await deleteMove(db, shopId, moveId);
    return old.length;
  },
};
