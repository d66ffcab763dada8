import { apiOf, lineItemContainer, type RenderContext } from '../line-item-view.ts';
import { toMilliseconds } from '../../http/dates.ts';
import type { DocumentRow } from './queries.ts';
import type { OrderDocument } from './schema.ts';

/** The answer's text, key by key as in `OrderDocument`: the address is JSON already. */
export function documentText(document: DocumentRow, look: RenderContext, pdf?: Buffer): string {
  const head: Partial<OrderDocument> = {
    orderId: document.orderId,
    documentType: document.kind,
    documentNumber: String(document.number),
    issueDate: toMilliseconds(document.issuedAt),
    creationDate: toMilliseconds(document.createdAt),
  };
  const tail: Partial<OrderDocument> = {
    lineItemContainer: lineItemContainer(document.content, look),
    ...(pdf && { documentPdf: pdf.toString('base64') }),
    links: [{ rel: 'order', href: `${apiOf(look)}/orders/${document.orderId}` }],
  };
  return `${JSON.stringify(head).slice(0, -1)},"address":${document.address},${JSON.stringify(tail).slice(1)}`;
}
