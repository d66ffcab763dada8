import { finaliseInvoice } from '../../orders/documents/routes.ts';
import { sendOrderEmail } from '../../orders/manage-emails.ts';
import { MAX_DOCUMENT_NOTE_LENGTH } from '../../orders/documents/schema.ts';
import { html } from '../../http/html.ts';
import { choiceField, longTextField, textField } from '../components/form.ts';
import type { OrderAction } from './action.ts';
import { documentTitleIn } from './documents.ts';

export const invoice: OrderAction = {
  name: 'invoice',
  isPossible: ({ order }) => order.invoicedOn === null && order.management.cancelledOn === null,
  limits: { texts: { note: MAX_DOCUMENT_NOTE_LENGTH } },
  fields: ({ visit, order }, draft) => {
    const words = visit.words.orders.documents;
    return html`<p>${order.partiallyInvoicedOn === null ? words.invoiceText : words.invoiceRest}</p>
      ${longTextField({ name: 'note', label: words.note, hint: words.noteHint, rows: 2, maxLength: MAX_DOCUMENT_NOTE_LENGTH, draft })}
      ${textField({ name: 'issueDate', label: words.issueDate, type: 'date', hint: words.issueDateHint, draft })}`;
  },
  save: async (visit, form, { orderId }) => {
    const { documentId, documentNumber } = await visit.call(finaliseInvoice, {
      params: { orderId },
      body: { note: form.field('note') || null, issueDate: form.field('issueDate') || null },
    });
    const text = visit.words.orders.documents.invoiced({ number: documentNumber });
    return { text, query: { document: documentId } };
  },
};

/** Sends the confirmation, or a document, once more. */
export const email: OrderAction = {
  name: 'email',
  isPossible: ({ order }) => order.billingAddress.emailAddress !== null,
  fields: ({ visit, order, documents }, draft) => {
    const words = visit.words.orders.email;
    return html`<p>${words.to({ email: order.billingAddress.emailAddress ?? '' })}</p>
      ${choiceField({
        name: 'documentId',
        label: words.which,
        empty: words.confirmation,
        choices: documents.map((document) => ({
          value: document.documentId,
          text: documentTitleIn(visit, document),
        })),
        draft,
      })}`;
  },
  save: async (visit, form, { orderId }) => {
    await visit.call(sendOrderEmail, {
      params: { orderId },
      body: { documentId: form.field('documentId') || null },
    });
    return { text: visit.words.orders.email.sent };
  },
};
