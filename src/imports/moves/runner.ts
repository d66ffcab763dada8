import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { ReceiverPolicy } from '../../apps/webhooks/receiver-address.ts';
import { FileProblem } from '../../catalogue/products/file-problem.ts';
import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import type { MediaStorage } from '../../platform/media/storage.ts';
import { unseal } from '../../platform/sealing.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { ClientProblem, createClient } from '../epages/client.ts';
import { epagesSource } from '../epages/epages.ts';
import { EXPORT_NAMES, exportSource } from '../exports.ts';
import { importShop } from '../import-shop.ts';
import { ImportReport } from '../run.ts';
import { withSourceFiles } from '../source-files.ts';
import type { ImportSource } from '../source.ts';
import {
  deleteMoveLines,
  endMove,
  findDueMove,
  findMoveFiles,
  findMovePart,
  releaseMove,
  saveMoveLines,
  saveMoveProgress,
  takeMove,
  type MoveCounts,
  type TakenMove,
} from './queries.ts';

/** Tokens of other shops are sealed with a key of their own. */
export const MOVE_TOKENS = 'kontor move tokens';

export interface MoveDeps {
  db: Database;
  config: Config;
  media: MediaStorage;
  log: FastifyBaseLogger;
  /** Which machines may be called: an address comes from a merchant. */
  policy: ReceiverPolicy;
  loadKey: () => Promise<Buffer>;
  /** Milliseconds between two requests to another shop. */
  pause?: number;
}

/** A move that fails this often as a whole is itself the cause. */
const MAX_ATTEMPTS = 5;
const SAVE_EVERY = 1_000;
const LINES_AT_ONCE = 500;
/** Lines that are kept of a report; more are counted. */
const MAX_LINES = 100_000;
/** Bytes that the archives of a move may unpack to. */
const MAX_UNPACKED = 2 * 1024 ** 3;
/** Bytes of an answer, which is parsed at once while others wait. */
const MAX_ANSWER = 3 * 1_048_576;

/** The service stops, or another process has the move. */
class Interrupted extends Error {
  override name = 'Interrupted';
}

/** Runs the checks and imports that are due, one after the other. */
export async function runDueMoves(
  deps: MoveDeps,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  while (!signal.aborted) {
    const due = await findDueMove(deps.db);
    if (!due) return;
    const taken = await takeMove(deps.db, due.shopId, due.moveId);
    if (taken) await runMove({ ...deps, db: deps.db.atClockOf(due.shopId) }, due.shopId, taken, signal);
  }
}

async function runMove(
  deps: MoveDeps,
  shopId: string,
  taken: TakenMove,
  stopping: AbortSignal,
): Promise<void> {
  const { db, config, media, log } = deps;
  const isCheck = taken.state === 'checking';
  const progress = new Progress(db, shopId, taken);
  const signal = AbortSignal.any([stopping, progress.signal]);
  try {
    await db.transaction((tx) => deleteMoveLines(tx, shopId, taken.moveId));
    const saving = progress.keepSaving();
    const unknownFiles = await withMoveSource(deps, shopId, taken, async (source) => {
      await importShop({
        db,
        config,
        media,
        shopId,
        source,
        ...taken.options,
        isCheck,
        report: progress.report,
        signal,
        isInService: true,
        onProgress: (records) => void (progress.records += records),
      });
      return source.unknownFiles;
    }).finally(() => progress.stop());
    await saving;
    await progress.save();
    const state = isCheck ? 'checked' : 'done';
    const recordsAll = isCheck ? progress.records : taken.recordsAll;
    await db.transaction((tx) => endMove(tx, shopId, taken, { state, recordsAll, unknownFiles }));
  } catch (error) {
    progress.stop();
    if (signal.aborted) {
      await db.transaction((tx) => releaseMove(tx, shopId, taken));
      return;
    }
    const isExpected = error instanceof FileProblem || error instanceof ClientProblem;
    // The message of an expected one may name the other shop, and is for the merchant only.
    if (!isExpected) log.warn({ err: error, shopId }, 'an import of a shop failed');
    if (!isExpected && taken.attempts < MAX_ATTEMPTS) return;
    await progress.save();
    const { message } = error as Error;
    const { recordsAll } = taken;
    await db.transaction((tx) => endMove(tx, shopId, taken, { state: 'failed', recordsAll, error: message }));
  }
}

/** Saves how far a move is while it runs, and with it the lines of its report. */
class Progress {
  readonly report: ImportReport;
  records = 0;
  readonly #db: Database;
  readonly #shopId: string;
  readonly #taken: TakenMove;
  readonly #lost = new AbortController();
  readonly #ended = new AbortController();
  #lines = 0;

  constructor(db: Database, shopId: string, taken: TakenMove) {
    this.#db = db;
    this.#shopId = shopId;
    this.#taken = taken;
    this.report = new ImportReport();
  }

  /** Aborted when another process has the move. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  stop(): void {
    this.#ended.abort();
  }

  async keepSaving(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      // The wait ends early with the move.
      await sleep(SAVE_EVERY, undefined, { signal }).catch(() => {});
      if (!signal.aborted) await this.save();
    }
  }

  async save(): Promise<void> {
    const { report } = this;
    const counts: MoveCounts = Object.fromEntries(report.counts);
    const isOurs = await this.#db.transaction(async (tx) => {
      const saved = await saveMoveProgress(tx, this.#shopId, this.#taken, {
        counts,
        pictures: report.pictures,
        recordsDone: this.records,
        lines: this.#lines + report.lines.length + report.left,
      });
      if (!saved) return false;
      while (report.lines.length > 0) {
        const lines = report.lines.splice(0, LINES_AT_ONCE);
        if (this.#lines < MAX_LINES)
          await saveMoveLines(tx, this.#shopId, this.#taken.moveId, { first: this.#lines + 1, lines });
        this.#lines += lines.length;
      }
      return true;
    });
    if (!isOurs) this.#lost.abort(new Interrupted('It was taken'));
  }
}

/** Opens what is imported; the files of the move are put into a folder, which is deleted when `work` ends. */
async function withMoveSource<Result>(
  { db, policy, loadKey, pause }: MoveDeps,
  shopId: string,
  { moveId, system, address, tokenSealed }: TakenMove,
  work: (source: ImportSource) => Promise<Result>,
): Promise<Result> {
  if (system === 'epages') {
    if (address === null || tokenSealed === null) throw new ClientProblem('The access token is missing');
    const token = unseal(await loadKey(), tokenSealed, MOVE_TOKENS);
    return work(
      epagesSource(
        createClient({
          url: address,
          token,
          policy,
          maxBytes: MAX_ANSWER,
          ...(pause !== undefined && { pause }),
        }),
      ),
    );
  }
  const { defaultCurrency: currency, taxModel } = await shopSettings(db, shopId);
  const folder = await mkdtemp(path.join(tmpdir(), 'kontor-move-'));
  try {
    for (const { number, name } of await findMoveFiles(db, shopId, moveId)) {
      const target = path.join(folder, `${number}-${name}`);
      await pipeline(Readable.from(partsOf(db, shopId, moveId, number)), createWriteStream(target));
    }
    return await withSourceFiles(
      folder,
      async (files) => {
        const source = exportSource(system, files, { currency, taxModel, now: db.now });
        if (source.unknownFiles.length === files.length)
          throw new FileProblem(`There is no table of an export of ${EXPORT_NAMES[system]}`);
        return work(source);
      },
      { maxUnpacked: MAX_UNPACKED },
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function* partsOf(
  db: Database,
  shopId: string,
  moveId: string,
  fileNumber: number,
): AsyncGenerator<Buffer> {
  for (let partNumber = 1; ; partNumber++) {
    const part = await findMovePart(db, shopId, moveId, { fileNumber, partNumber });
    if (!part) return;
    yield part.content;
  }
}
