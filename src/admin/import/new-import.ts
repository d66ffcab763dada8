import { FileProblem, inspectFile, textFile, type FileStart } from '../../catalogue/products/csv-file.ts';
import { guessMapping, namedColumns } from '../../catalogue/products/csv-mapping.ts';
import { decimalSignIn } from '../../catalogue/products/import.ts';
import { insertImport, type NewImport } from '../../catalogue/products/import-queries.ts';
import { badRequest } from '../../http/errors.ts';
import type { ShopVisit } from '../visit.ts';

const MOST_COLUMNS = 500;

/** Reads a table once, and guesses what its columns are. */
export async function newImport(
  visit: ShopVisit,
  fileName: string,
  content: string,
): Promise<Omit<NewImport, 'author'>> {
  const words = visit.words.import;
  if (content.trim() === '') throw badRequest(words.empty);
  const start = await startOf(visit, fileName, content);
  if (start.rows === 0) throw badRequest(words.noRows);
  if (start.header.length > MOST_COLUMNS) throw badRequest(words.tooManyColumns({ most: MOST_COLUMNS }));
  const mapping = guessMapping(start.header, visit.settings);
  const decimalSign = decimalSignIn(start, namedColumns(mapping, visit.settings));
  return {
    fileName,
    content,
    rowCount: start.rows,
    reading: { mapping, decimalSign, visible: true },
    state: 'mapping',
  };
}

export async function startOf(visit: ShopVisit, fileName: string, content: string): Promise<FileStart> {
  try {
    return await inspectFile(textFile(fileName, content));
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    throw badRequest(visit.words.import.unreadable({ reason: error.message }));
  }
}

export function storeImport(visit: ShopVisit, given: Omit<NewImport, 'author'>) {
  return visit.db.transaction((tx) => insertImport(tx, visit.shopId, { ...given, author: visit.user.email }));
}
