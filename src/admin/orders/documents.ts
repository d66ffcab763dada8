import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { moneyText } from '../../http/price-text.ts';
import { isId } from '../../kernel/ids.ts';
import { currencyDigits } from '../../kernel/money.ts';
import { ELECTRONIC_FORMATS } from '../../orders/documents/electronic-format.ts';
import { missingFacts } from '../../orders/documents/electronic-model.ts';
import { electronicFile, fileOf, networkFormat } from '../../orders/documents/file.ts';
import { leavesUnion, proformaOf } from '../../orders/documents/proforma.ts';
import { findDocument, toDocumentFacts, type DocumentRow } from '../../orders/documents/queries.ts';
import { sendElectronicDocument } from '../../orders/documents/routes.ts';
import { findManagedOrder } from '../../orders/queries.ts';
import { buttonForm } from '../components/form.ts';
import { chip, dayText } from '../components/format.ts';
import { Redirect } from '../../http/page-kit.ts';
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

  pages.post('/orders/:orderId/documents/:documentId/send', 'orders_write', async (visit, { params }) => {
    const { orderId, documentId } = params as { orderId: string; documentId: string };
    await visit.call(sendElectronicDocument, { params: { orderId, documentId } });
    return new Redirect(
      `${adminPath(visit, `/orders/${orderId}`, { document: documentId })}#documents`,
      visit.messages.orders.documents.sending,
    );
  });

  pages.file(
    '/orders/:orderId/documents/:documentId/:format',
    'orders_read',
    async ({ db, shopId }, { params }) => {
      const { orderId, documentId } = params as { orderId: string; documentId: string };
      const format = ELECTRONIC_FORMATS.find((one) => one === params['format']);
      const row = format && isId(documentId) ? await findDocument(db, shopId, documentId) : undefined;
      if (!format || row?.orderId !== orderId.toUpperCase()) throw notFound();
      const { type, name, bytes } = electronicFile(row, format);
      return { type, content: bytes, fileName: name };
    },
  );
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
export function documentsCard(view: OrderView, shownId: string | undefined): Markup {
  const { visit, order, documents } = view;
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
        </p>
        ${electronicLinks(visit, shown, fileHref(shown.documentId))}
        ${deliveryLine(view, shown, fileHref(shown.documentId))}`
    }
  </section>`;
}

/** The formats that the document can be had in; the one that the customer got is marked. */
function electronicLinks({ messages }: ShopVisit, document: DocumentRow, href: string): Markup | false {
  const { download, formats, sentFormat } = messages.orders.documents;
  const { electronic, format = 'zugferd' } = document.terms;
  const facts = toDocumentFacts(document);
  const possible = ELECTRONIC_FORMATS.filter((one) => missingFacts(facts, one).length === 0);
  if (possible.length === 0 || currencyDigits(document.content.currency) > 2) return false;
  return html`<p>${download}</p>
    <ul class="plain">
      ${possible.map(
        (one) =>
          html`<li>
            <a href="${href}/${one}" hx-boost="false">${formats[one]}</a>
            ${electronic && one === format && html`<span class="quiet">${sentFormat}</span>`}
          </li>`,
      )}
    </ul>`;
}

/** How far a document has come in the Peppol network, and a button that sends it. */
function deliveryLine(
  { visit, deliveries, hasTransport }: OrderView,
  document: DocumentRow,
  href: string,
): Markup | false {
  const { send, sendAgain, deliveries: states } = visit.messages.orders.documents;
  const delivery = deliveries.find(({ documentId }) => documentId === document.documentId);
  const isSendable =
    hasTransport &&
    visit.may('orders_write') &&
    (!delivery || delivery.state === 'failed') &&
    missingFacts(toDocumentFacts(document), networkFormat(document)).length === 0;
  if (!delivery && !isSendable) return false;
  return html`<div class="split">
      ${delivery && chip(states[delivery.state], delivery.state === 'failed' ? 'bad' : delivery.state === 'delivered' ? 'good' : 'neutral')}
      ${isSendable && buttonForm({ action: `${href}/send`, text: delivery ? sendAgain : send })}
    </div>
    ${delivery?.error && html`<p class="hint">${delivery.error}</p>`}`;
}
