import type { Queries } from '../../db/database.ts';
import { pdfOf } from './pdf.ts';
import { factsOf, findDocument, keepFile, type DocumentRow } from './queries.ts';
import { documentName } from './title.ts';

/** The PDF of a document; undefined: there is no such document. */
export async function documentFile(
  db: Queries,
  shopId: string,
  documentId: string,
): Promise<{ name: string; bytes: Buffer } | undefined> {
  const row = await findDocument(db, shopId, documentId);
  return row && { name: `${documentName(row)}.pdf`, bytes: await fileOf(row) };
}

/** As it is kept; one that is not is made from the same facts, and is the same to the byte. */
export async function fileOf(row: DocumentRow & { pdf: Buffer | null }): Promise<Buffer> {
  return row.pdf ?? pdfOf(factsOf(row));
}

/** After a document was finalised: from now on its file is what it is, whatever becomes of the code that made it. */
export async function keepDocumentFile(db: Queries, shopId: string, document: DocumentRow): Promise<void> {
  await keepFile(db, shopId, document.documentId, await pdfOf(factsOf(document)));
}
