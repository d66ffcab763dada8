import { type RenderContext, apiOf, lineItemContainer } from '../render.ts';
import { toMilliseconds } from '../../http/dates.ts';
import type { DocumentRow } from './queries.ts';
import type { DocumentTransport as DeliveryRow } from '../transport/queries.ts';
import type { DocumentDelivery, OrderDocument } from './schema.ts';
import type { Static } from 'typebox';

/** A document as answers show it; with its PDF only if requested. */
export function toDocument(document: DocumentRow, context: RenderContext, pdf?: Buffer): OrderDocument {
  return {
    orderId: document.orderId,
    documentType: document.kind,
    documentNumber: String(document.number),
    issueDate: toMilliseconds(document.issuedAt),
    creationDate: toMilliseconds(document.createdAt),
    address: JSON.parse(document.address) as OrderDocument['address'],
    lineItemContainer: lineItemContainer(document.content, context),
    ...(pdf && { documentPdf: pdf.toString('base64') }),
    links: [{ rel: 'order', href: `${apiOf(context)}/orders/${document.orderId}` }],
  };
}

export function toDocumentTransport({
  provider,
  state,
  error,
  updatedAt,
}: DeliveryRow): Static<typeof DocumentDelivery> {
  return { provider, state, error, updatedOn: toMilliseconds(updatedAt) };
}
