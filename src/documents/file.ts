import type { Queries } from '../db/database.ts';
import { pdfOf } from './pdf.ts';
import { factsOf, findDocument, keepFiles, type DocumentRow } from './queries.ts';
import { documentName } from './words.ts';

/** The PDF of a document, made when it is first needed; undefined: there is no such document. */
export async function documentFile(
  db: Queries,
  shopId: string,
  documentId: string,
): Promise<{ name: string; bytes: Buffer } | undefined> {
  const row = await findDocument(db, shopId, documentId);
  if (!row) return undefined;
  const [bytes] = await filesOf(db, shopId, [row]);
  return { name: `${documentName(row)}.pdf`, bytes: bytes! };
}

/** The files of these documents, in their order. Those that were missing are kept, with one statement for all. */
export async function filesOf(
  db: Queries,
  shopId: string,
  rows: readonly (DocumentRow & { pdf: Buffer | null })[],
): Promise<Buffer[]> {
  const files: Buffer[] = [];
  const made: { documentId: string; pdf: Buffer }[] = [];
  // One after the other: each takes the processor for some time, and others want it in between.
  for (const row of rows) {
    const pdf = row.pdf ?? (await pdfOf(factsOf(row)));
    if (!row.pdf) made.push({ documentId: row.documentId, pdf });
    files.push(pdf);
  }
  await keepFiles(db, shopId, made);
  return files;
}
