import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { moneyText } from '../../http/price-text.ts';
import { isId } from '../../kernel/ids.ts';
import { fileOf } from '../../orders/documents/file.ts';
import { findDocument, type DocumentRow } from '../../orders/documents/queries.ts';
import { leavesUnion, proformaOf } from '../../orders/documents/proforma.ts';
import { findManagedOrder } from '../../orders/queries.ts';
import { dayText } from '../components/format.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import type { OrderView } from './order-view.ts';

/** The files of invoices and credit notes. */
export function orderDocuments(pages: ShopPages): void {
  pages.file('/orders/:orderId/documents/:documentId', 'orders_read', async ({ db, shopId }, { params }) => {
    const { orderId, documentId } = params as { orderId: string; documentId: string };
    const row = isId(documentId) ? await findDocument(db, shopId, documentId) : undefined;
    if (row?.orderId !== orderId.toUpperCase()) throw notFound();
    return { type: 'application/pdf', content: await fileOf(row) };
  });

  pages.file('/orders/:orderId/proforma', 'orders_read', async ({ db, shopId, settings }, { params }) => {
    const { orderId } = params as { orderId: string };
    const order = isId(orderId) ? await findManagedOrder(db, shopId, orderId) : undefined;
    if (!order || order.erasedAt || !leavesUnion(order, settings)) throw notFound();
    return { type: 'application/pdf', content: await proformaOf(order, settings) };
  });
}

/** `Invoice 1001` */
export function documentTitleIn(
  { messages }: Pick<ShopVisit, 'messages'>,
  { kind, number }: Pick<DocumentRow, 'kind' | 'number'>,
): string {
  return `${messages.orders.documents.kinds[kind]} ${number}`;
}

/** The documents of an order; one of them is shown in place. */
export function documentsCard({ visit, order, documents }: OrderView, shownId: string | undefined): Markup {
  const messages = visit.messages.orders.documents;
  const path = `/orders/${order.orderId}`;
  const shown = documents.find(({ documentId }) => documentId === shownId);
  const fileHref = (documentId: string) => adminPath(visit, `${path}/documents/${documentId}`);
  return html`<section class="card" id="documents">
    <h2>${messages.title}</h2>
    <ul class="plain">
      ${documents.map(
        (document) =>
          html`<li class="split">
            <a
              href="${adminPath(visit, path, { document: document.documentId })}#documents"
              hx-get="${adminPath(visit, path, { document: document.documentId })}"
              hx-target="#documents"
              hx-select="#documents"
              hx-swap="outerHTML"
              hx-push-url="true"
              >${documentTitleIn(visit, document)}</a
            >
            <span class="quiet">${dayText(document.issuedAt, visit.language)}</span>
            <span class="number"
              >${document.kind === 'CreditNote' && '−'}${moneyText(
                document.content.grandTotal,
                document.content.currency,
                visit.language,
              )}</span
            >
          </li>`,
      )}
    </ul>
    ${
      shown &&
      html`<iframe
          class="paper"
          src="${fileHref(shown.documentId)}"
          title="${documentTitleIn(visit, shown)}"
        ></iframe>
        <p>
          <a href="${fileHref(shown.documentId)}" target="_blank" rel="noopener">${messages.open}</a>
        </p>`
    }
  </section>`;
}
