import { inspectFile, readStart, textFile, type FileStart } from '../../catalogue/products/csv-file.ts';
import { guessMapping, namedColumns } from '../../catalogue/products/csv-mapping.ts';
import { FileProblem } from '../../catalogue/products/file-problem.ts';
import { decimalSignIn } from '../../catalogue/products/import.ts';
import { insertImport, type NewImport } from '../../catalogue/products/import-queries.ts';
import { badRequest } from '../../http/errors.ts';
import { UPLOAD_LIMIT } from '../../http/upload.ts';
import { REGIONS } from '../components/format.ts';
import type { ShopVisit } from '../visit.ts';

/** Reads a table once, and guesses its columns. */
export async function newImport(
  visit: ShopVisit,
  fileName: string,
  content: string,
): Promise<Omit<NewImport, 'author'>> {
  const messages = visit.messages.import;
  // A file in another encoding may be longer in ours.
  if (Buffer.byteLength(content) > UPLOAD_LIMIT) throw badRequest(messages.tooLarge);
  const start = await readable(visit, () => inspectFile(textFile(fileName, content)));
  if (start.rows === 0) throw badRequest(messages.noRows);
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

/** The first rows of a stored table. */
export function startOf(visit: ShopVisit, fileName: string, content: string): Promise<FileStart> {
  return readable(visit, () => readStart(textFile(fileName, content)));
}

/** Explains in the user's language why a file can't be read. */
export async function readable<Result>(
  { messages, language }: Pick<ShopVisit, 'messages' | 'language'>,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof FileProblem) || error.code === undefined) throw error;
    const { line, most } = error.values;
    const given = { line: Number(line), most: Number(most).toLocaleString(REGIONS[language]) };
    const reason = messages.import.fileProblems[error.code];
    throw badRequest(typeof reason === 'string' ? reason : reason(given));
  }
}

export function storeImport(visit: ShopVisit, given: Omit<NewImport, 'author'>) {
  return visit.db.transaction((tx) => insertImport(tx, visit.shopId, { ...given, author: visit.user.email }));
}
