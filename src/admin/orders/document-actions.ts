import { finaliseInvoice } from '../../orders/documents/routes.ts';
import { sendOrderEmail } from '../../orders/manage-emails.ts';
import { html } from '../../http/html.ts';
import { declareForm, readFields, showFields } from '../components/declared-form.ts';
import type { OrderAction } from './action.ts';
import { sellerNotice } from './seller-notice.ts';
import { documentTitleIn } from './documents.ts';

const INVOICE = declareForm(finaliseInvoice, ({ orders: { documents: messages } }) => ({
  note: { kind: 'long text', label: messages.note, hint: messages.noteHint, rows: 2 },
  issueDate: { kind: 'date', label: messages.issueDate, hint: messages.issueDateHint },
}));

export const invoice: OrderAction = {
  name: 'invoice',
  isPossible: ({ order }) => order.invoicedOn === null && order.management.cancelledOn === null,
  form: INVOICE,
  fields: ({ visit, order }, draft) => {
    const messages = visit.messages.orders.documents;
    const field = showFields(INVOICE, visit, { draft });
    return html`${sellerNotice(visit)}
      <p>${order.partiallyInvoicedOn === null ? messages.invoiceText : messages.invoiceRest}</p>
      ${field('note')} ${field('issueDate')}`;
  },
  save: async (visit, form, { orderId }) => {
    const { documentId, documentNumber } = await visit.call(finaliseInvoice, {
      params: { orderId },
      body: readFields(INVOICE, form, visit),
    });
    const text = visit.messages.orders.documents.invoiced({ number: documentNumber });
    return { text, query: { document: documentId } };
  },
};

const EMAIL = declareForm(sendOrderEmail, ({ orders: { email: messages } }) => ({
  documentId: { kind: 'choice', label: messages.which, empty: messages.confirmation },
}));

/** Sends the confirmation, or a document, once more. */
export const email: OrderAction = {
  name: 'email',
  isPossible: ({ order }) => order.billingAddress.emailAddress !== null,
  form: EMAIL,
  fields: ({ visit, order, documents }, draft) => {
    const choices = documents.map((document) => ({
      value: document.documentId,
      text: documentTitleIn(visit, document),
    }));
    return html`<p>${visit.messages.orders.email.to({ email: order.billingAddress.emailAddress ?? '' })}</p>
      ${showFields(EMAIL, visit, { draft })('documentId', { choices })}`;
  },
  save: async (visit, form, { orderId }) => {
    await visit.call(sendOrderEmail, { params: { orderId }, body: readFields(EMAIL, form, visit) });
    return { text: visit.messages.orders.email.sent };
  },
};
