import type { Content } from '../../pricing/content.ts';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { DocumentFacts, DocumentKind, DocumentTerms } from './facts.ts';

/** A document as it is stored; the address is JSON text. */
export interface DocumentRow {
  documentId: string;
  orderId: string;
  kind: DocumentKind;
  number: number;
  issuedAt: Date;
  createdAt: Date;
  address: string;
  terms: DocumentTerms;
  content: Content;
}

export const documentColumns = sql`
  upper(document_id::text) as "documentId", upper(order_id::text) as "orderId", kind, number,
  issued_at as "issuedAt", created_at as "createdAt", address::text, terms, content`;

/** How many documents an order has; undefined: there is no such order. */
export function countDocuments(db: Queries, shopId: string, orderId: string) {
  return db.one<{ count: number }>(sql`
    select (
      select count(*) from order_document where shop_id = ${shopId} and order_id = ${orderId}
    ) as count
    from customer_order where shop_id = ${shopId} and order_id = ${orderId}`);
}

/** Newest first; at the same moment the credit note before its invoice. `pdf` is null unless requested and created. */
export function findDocuments(
  db: Queries,
  shopId: string,
  orderId: string,
  { limit, offset, withPdf }: { limit: number; offset: number; withPdf: boolean },
) {
  return db.many<DocumentRow & { pdf: Buffer | null }>(sql`
    select ${documentColumns}, case when ${withPdf} then pdf end as pdf from order_document
    where shop_id = ${shopId} and order_id = ${orderId}
    order by created_at desc, kind, number desc limit ${limit} offset ${offset}`);
}

export function findDocument(db: Queries, shopId: string, documentId: string) {
  return db.one<DocumentRow & { pdf: Buffer | null; xml: Buffer | null }>(sql`
    select ${documentColumns}, pdf, xml from order_document where shop_id = ${shopId} and document_id = ${documentId}`);
}

/** The invoices of these orders, in the order of their numbers. */
export function findInvoices(db: Queries, shopId: string, orderIds: readonly string[], limit: number) {
  return db.many<DocumentRow>(sql`
    select ${documentColumns} from order_document
    where shop_id = ${shopId} and order_id = any (${orderIds}::uuid[]) and kind = 'Invoice'
    order by number limit ${limit}`);
}

/** The content of an order's documents, oldest first. Its row is locked, so nothing is added in between. */
export function findFinalised(tx: Transaction, shopId: string, orderId: string) {
  return tx.many<DocumentRow>(sql`
    select ${documentColumns} from order_document where shop_id = ${shopId} and order_id = ${orderId}
    order by created_at, number`);
}

export async function insertDocument(tx: Transaction, shopId: string, document: DocumentRow): Promise<void> {
  const { documentId, orderId, kind, number, issuedAt, createdAt, address, terms, content } = document;
  await tx.run(sql`
    insert into order_document (shop_id, document_id, order_id, kind, number, issued_at, created_at, address, terms,
      content)
    values (${shopId}, ${documentId}, ${orderId}, ${kind}, ${number}, ${issuedAt}, ${createdAt}, ${address},
      ${terms}, ${content})`);
}

/** Written once, never replaced. */
export function insertFiles(
  db: Queries,
  shopId: string,
  documentId: string,
  { pdf, xml }: { pdf: Buffer; xml: Buffer | null },
) {
  return db.run(sql`
    update order_document set pdf = ${pdf}, xml = ${xml}
    where shop_id = ${shopId} and document_id = ${documentId} and pdf is null`);
}

export function toDocumentFacts({ address, ...document }: DocumentRow): DocumentFacts {
  return { ...document, address: JSON.parse(address) as DocumentFacts['address'] };
}
