import { createHash } from 'node:crypto';
import type { Queries } from '../../db/database.ts';
import { Refusal } from '../../http/errors.ts';
import { currencyDigits } from '../../kernel/money.ts';
import { electronicInvoice } from './electronic.ts';
import type { ElectronicFormat } from './electronic-format.ts';
import { missingFacts } from './electronic-model.ts';
import { pdfOf } from './pdf.ts';
import { toDocumentFacts, findDocument, insertFiles, type DocumentRow } from './queries.ts';
import { documentName } from './title.ts';

export interface DocumentFile {
  name: string;
  type: 'application/pdf' | 'application/xml';
  bytes: Buffer;
}

/** A document with its files, as far as they are stored. */
export type StoredDocument = DocumentRow & { pdf: Buffer | null; xml: Buffer | null };

/** The PDF of a document; undefined: there is no such document. */
export async function documentFile(
  db: Queries,
  shopId: string,
  documentId: string,
): Promise<DocumentFile | undefined> {
  const row = await findDocument(db, shopId, documentId);
  return row && pdfFile(row);
}

/**
 * The files that the customer receives by email: the PDF, and the XML where it is neither a part of the PDF nor sent
 * through the network. Empty: there is no such document.
 */
export async function deliveredFiles(
  db: Queries,
  shopId: string,
  documentId: string,
): Promise<DocumentFile[]> {
  const row = await findDocument(db, shopId, documentId);
  if (!row) return [];
  return row.terms.transport === undefined ? filesOf(row) : [await pdfFile(row)];
}

export async function filesOf(row: StoredDocument): Promise<DocumentFile[]> {
  const format = separateFormat(row);
  return [await pdfFile(row), ...(format ? [xmlFile(row, format)] : [])];
}

async function pdfFile(row: StoredDocument): Promise<DocumentFile> {
  return { name: `${documentName(row)}.pdf`, type: 'application/pdf', bytes: await fileOf(row) };
}

/** The XML of a document in any format; refused where a reader would refuse it. */
export function electronicFile(row: StoredDocument, format: ElectronicFormat): DocumentFile {
  const missing = missingFacts(toDocumentFacts(row), format);
  if (currencyDigits(row.content.currency) > 2) missing.push('a currency with two decimals at most');
  if (missing.length > 0) {
    throw new Refusal('ELECTRONIC_FORMAT_INCOMPLETE', { format, missing: missing.join(', ') });
  }
  return xmlFile(row, format);
}

/** The UBL that goes into the network. */
export const networkFormat = ({ terms }: DocumentRow): ElectronicFormat =>
  terms.format === 'xrechnung-ubl' ? 'xrechnung-ubl' : 'peppol';

/** In its own format it is the stored one. */
function xmlFile(row: StoredDocument, format: ElectronicFormat): DocumentFile {
  const stored = format === separateFormat(row) ? row.xml : null;
  return {
    name: `${documentName(row)}.xml`,
    type: 'application/xml',
    bytes: stored ?? Buffer.from(electronicInvoice(toDocumentFacts(row), format)),
  };
}

/** The format of the file beside the PDF; undefined: there is none. */
function separateFormat({ terms: { electronic, format } }: DocumentRow): ElectronicFormat | undefined {
  return electronic && format !== 'zugferd' ? format : undefined;
}

/** The stored file. If it is not stored yet, it is made from the same facts and is identical to the byte. */
export async function fileOf(row: Pick<StoredDocument, 'pdf'> & DocumentRow): Promise<Buffer> {
  return row.pdf ?? pdfOf(toDocumentFacts(row));
}

/** Stores the files after a document was finalised, so later versions of the program do not change them. */
export async function storeDocumentFile(db: Queries, shopId: string, document: DocumentRow): Promise<void> {
  const format = separateFormat(document);
  await insertFiles(db, shopId, document.documentId, {
    pdf: await pdfOf(toDocumentFacts(document)),
    xml: format ? xmlFile({ ...document, pdf: null, xml: null }, format).bytes : null,
  });
}

export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
