import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../config.ts';
import { Refusal } from '../../http/errors.ts';
import { requireRoom } from '../../platform/plans/limits.ts';
import type { Database } from '../../db/database.ts';
import type { MediaStorage } from '../../platform/media/storage.ts';
import { textFile } from './csv-file.ts';
import { FileProblem } from './file-problem.ts';
import {
  addProgress,
  endImport,
  findDueImport,
  findImport,
  releaseImport,
  resetProgress,
  takeImport,
  type TakenImport,
} from './import-queries.ts';
import { importPictures } from './import-pictures.ts';
import { readSentPicture } from './sent-pictures.ts';
import { importProducts, recordFinished } from './import.ts';
import type { RowProblem } from './row-problem.ts';

export interface ImportDeps {
  db: Database;
  config: Config;
  media: MediaStorage;
  log: FastifyBaseLogger;
}

/** An import that fails this often as a whole is itself the cause. */
const MAX_ATTEMPTS = 5;

/** The service stops, or another process has the import. */
class Interrupted extends Error {
  override name = 'Interrupted';
}

/** Runs the checks and imports that are due, one after the other. */
export async function runDueImports(
  deps: ImportDeps,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const { db } = deps;
  while (!signal.aborted) {
    const due = await findDueImport(db);
    if (!due) return;
    const taken = await takeImport(db, due.shopId, due.importId);
    if (taken) await runImport({ ...deps, db: db.atClockOf(due.shopId) }, due.shopId, taken, signal);
  }
}

/** Renews the lease of the import, and reports why a picture is missing. */
async function addPicture(
  db: Database,
  shopId: string,
  taken: TakenImport,
  problem: RowProblem | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) throw new Interrupted('The service stops');
  const problems = problem ? [problem] : [];
  const done = { created: 0, changed: 0, unchanged: 0, problems, newCategories: [] };
  const isOurs = await db.transaction((tx) => addProgress(tx, shopId, taken, 0, done));
  if (!isOurs) throw new Interrupted('It was taken');
}

async function runImport(
  { db, config, media, log }: ImportDeps,
  shopId: string,
  taken: TakenImport,
  signal: AbortSignal,
): Promise<void> {
  const isCheck = taken.state === 'checking';
  const file = textFile(taken.fileName, taken.content);
  try {
    // A check writes nothing, so it starts over after a restart; an import continues after the saved rows.
    if (isCheck) await db.transaction((tx) => resetProgress(tx, shopId, taken));
    let promised = 0;
    await importProducts(db, {
      shopId,
      file,
      ...taken.reading,
      isCheck,
      rowsDone: isCheck ? 0 : taken.rowsDone,
      onBatch: async (tx, rows, done) => {
        if (signal.aborted) throw new Interrupted('The service stops');
        if (!(await addProgress(tx, shopId, taken, rows, done))) throw new Interrupted('It was taken');
        if (done.created === 0) return;
        // An import has added them by now; a check only counts them, those of all batches.
        if (isCheck) promised += done.created;
        await requireRoom({ db: tx, config }, shopId, 'products', promised);
      },
    });
    await importPictures({
      db,
      config,
      media,
      shopId,
      file,
      mapping: taken.reading.mapping,
      readFile: (name) => readSentPicture(db, shopId, name),
      isCheck,
      onPicture: (problem) => addPicture(db, shopId, taken, problem, signal),
    });
    await db.transaction(async (tx) => {
      const state = isCheck ? 'checked' : 'done';
      if ((await endImport(tx, shopId, taken, { state })) === 0 || isCheck) return;
      const done = (await findImport(tx, shopId, taken.importId))!;
      recordFinished(tx, shopId, { ...done, problems: { length: done.refused } });
    });
  } catch (error) {
    if (error instanceof Interrupted) {
      await db.transaction((tx) => releaseImport(tx, shopId, taken));
      return;
    }
    const isFinal = error instanceof FileProblem || error instanceof Refusal;
    const isOver = isFinal || taken.attempts >= MAX_ATTEMPTS;
    if (!isFinal) log.warn({ err: error, shopId }, 'an import of products failed');
    // Otherwise it is taken again after the lease has expired.
    if (isOver) {
      const { message } = error as Error;
      await db.transaction((tx) => endImport(tx, shopId, taken, { state: 'failed', error: message }));
    }
  }
}
