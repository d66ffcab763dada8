import type { Queries } from '../../db/database.ts';
import { pdfOf } from './pdf.ts';
import { toDocumentFacts, findDocument, insertFile, type DocumentRow } from './queries.ts';
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

/** The stored file. If it is not stored yet, it is made from the same facts and is identical to the byte. */
export async function fileOf(row: DocumentRow & { pdf: Buffer | null }): Promise<Buffer> {
  return row.pdf ?? pdfOf(toDocumentFacts(row));
}

/** Stores the file after a document was finalised, so later versions of the program do not change it. */
export async function storeDocumentFile(db: Queries, shopId: string, document: DocumentRow): Promise<void> {
  await insertFile(db, shopId, document.documentId, await pdfOf(toDocumentFacts(document)));
}
