import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../db/database.ts';
import { FileProblem, textFile } from './csv-file.ts';
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
import { importProducts, recordFinished } from './import.ts';

/** An import that fails so often as a whole fails for a reason of its own. */
const MOST_ATTEMPTS = 5;

/** The service stops, or another process has the import. */
class Interrupted extends Error {
  override name = 'Interrupted';
}

/** Runs the checks and imports that are due, one after the other. */
export async function runDueImports(
  db: Database,
  log: FastifyBaseLogger,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  while (!signal.aborted) {
    const due = await findDueImport(db);
    if (!due) return;
    const taken = await takeImport(db, due.shopId, due.importId);
    if (taken) await runImport(db, due.shopId, taken, log, signal);
  }
}

async function runImport(
  db: Database,
  shopId: string,
  taken: TakenImport,
  log: FastifyBaseLogger,
  signal: AbortSignal,
): Promise<void> {
  const isCheck = taken.state === 'checking';
  try {
    // A check writes nothing, so it begins anew after a restart; an import goes on behind the rows that are saved.
    if (isCheck) await db.transaction((tx) => resetProgress(tx, shopId, taken));
    await importProducts(db, {
      shopId,
      file: textFile(taken.fileName, taken.content),
      ...taken.reading,
      isCheck,
      rowsDone: isCheck ? 0 : taken.rowsDone,
      onBatch: async (tx, rows, done) => {
        if (signal.aborted) throw new Interrupted('The service stops');
        if (!(await addProgress(tx, shopId, taken, rows, done))) throw new Interrupted('It was taken');
      },
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
    const isOver = error instanceof FileProblem || taken.attempts >= MOST_ATTEMPTS;
    if (!(error instanceof FileProblem)) log.warn({ err: error, shopId }, 'an import of products failed');
    // Otherwise it is taken again when the lease has ended.
    if (isOver) {
      const { message } = error as Error;
      await db.transaction((tx) => endImport(tx, shopId, taken, { state: 'failed', error: message }));
    }
  }
}
