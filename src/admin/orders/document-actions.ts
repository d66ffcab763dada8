import { badRequest } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import type { FormRequest } from '../../http/page-kit.ts';
import { moneyText } from '../../http/price-text.ts';
import { linesToCredit } from '../../orders/documents/finalise.ts';
import type { DocumentRow } from '../../orders/documents/queries.ts';
import { finaliseCreditNote, finaliseInvoice } from '../../orders/documents/routes.ts';
import { sendOrderEmail } from '../../orders/manage-emails.ts';
import { createOrderRefund } from '../../orders/manage-payments.ts';
import { declareForm, readFields, showFields } from '../components/declared-form.ts';
import type { Draft } from '../pages.ts';
import type { ShopVisit } from '../visit.ts';
import type { OrderAction } from './action.ts';
import { contentLineName } from './chosen-lines.ts';
import { documentTitleIn } from './documents.ts';
import { invoiceRow, LINE } from './line-form.ts';
import { readManagedOrder, type OrderAmount, type OrderView } from './order-view.ts';
import { sellerNotice } from './seller-notice.ts';

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

const CREDIT = declareForm(finaliseCreditNote, ({ form, orders: { documents: messages } }) => ({
  invoiceNumber: { label: messages.kinds.Invoice },
  shipping: {
    kind: 'choice',
    label: messages.creditShipping,
    empty: messages.creditShippingRest,
    choices: [
      { value: 'yes', text: form.yes },
      { value: 'no', text: form.no },
    ],
  },
  note: { kind: 'long text', label: messages.note, hint: messages.noteHint, rows: 2 },
  refund: { kind: 'tick', label: messages.creditRefund, hint: messages.creditRefundHint },
}));

/** Credits an invoice, or some of its lines, and refunds the money with it. */
export const credit: OrderAction = {
  name: 'credit',
  isPossible: (view) => creditableIn(view).length > 0,
  form: CREDIT,
  fields: (view, draft) => {
    const { visit, order } = view;
    const messages = visit.messages.orders.documents;
    const { paidAmount, refundedAmount } = order.management;
    const creditable = creditableIn(view);
    const field = showFields(CREDIT, visit, { draft });
    return html`${sellerNotice(visit)}
      <p>${messages.creditText}</p>
      ${creditable.map((one, index) => invoiceFields(visit, one, { isFirst: index === 0, isOnly: creditable.length === 1, draft }))}
      ${field('shipping')} ${field('note')} ${paidAmount.amount > refundedAmount.amount && field('refund')}`;
  },
  save: async (visit, form, { orderId }) => {
    const { refund, ...typed } = readFields(CREDIT, form, visit);
    const { documentId, documentNumber, lineItemContainer } = await visit.call(finaliseCreditNote, {
      params: { orderId },
      body: { ...typed, lines: typedLines(visit, form, typed.invoiceNumber ?? '') },
    });
    const isRefunded = refund === true && (await refundCredit(visit, orderId, lineItemContainer.grandTotal));
    const messages = visit.messages.orders.documents;
    const number = documentNumber;
    const text = isRefunded ? messages.creditedAndRefunded({ number }) : messages.credited({ number });
    return { text, query: { document: documentId } };
  },
};

/** Refunds the amount of a credit note, less what was refunded for the same items. false: nothing is left. */
async function refundCredit(visit: ShopVisit, orderId: string, total: OrderAmount): Promise<boolean> {
  const { management } = await readManagedOrder(visit, orderId);
  const amount = Math.min(total.amount, management.refundableAmount.amount);
  if (amount <= 0) return false;
  await visit.call(createOrderRefund, { params: { orderId }, body: { amount } });
  return true;
}

interface Creditable {
  invoice: DocumentRow;
  left: ReadonlyMap<string, string>;
}

/** The invoices that can still be credited, with the remaining quantities. */
function creditableIn({ documents }: OrderView): Creditable[] {
  return documents
    .filter(({ kind }) => kind === 'Invoice')
    .map((invoice) => ({
      invoice,
      left: new Map(
        linesToCredit(invoice, documents).map(({ lineItemId, quantity }) => [lineItemId, quantity]),
      ),
    }))
    .filter(({ left }) => left.size > 0);
}

/** The lines of an invoice, each with the quantity to credit: by default everything that is left. */
function invoiceFields(
  visit: ShopVisit,
  { invoice, left }: Creditable,
  { isFirst, isOnly, draft }: { isFirst: boolean; isOnly: boolean; draft: Draft | undefined },
): Markup {
  const { documents: messages, lines } = visit.messages.orders;
  const { number, content } = invoice;
  const isChosen = draft ? draft.field('invoiceNumber') === String(number) : isFirst;
  const title = `${messages.kinds.Invoice} ${number}`;
  return html`<fieldset>
    <legend>
      ${
        isOnly
          ? html`<input type="hidden" name="invoiceNumber" value="${number}" />${title}`
          : html`<label class="tick"
              ><input type="radio" name="invoiceNumber" value="${number}" ${isChosen && html`checked`} />
              ${title}</label
            >`
      }
    </legend>
    <ul class="quantities">
      ${content.lines
        .filter(({ lineItemId }) => left.has(lineItemId))
        .map((line) => {
          const quantity = left.get(line.lineItemId)!;
          const row = invoiceRow(number, line.lineItemId);
          const field = showFields(LINE, visit, { values: { quantity: Number(quantity) }, row, draft });
          const [available, name] = [lines.of({ quantity }), contentLineName(visit, line)];
          const about = `${line.productNumber} · ${moneyText(line.unitPrice, content.currency, visit.language)}`;
          const id = `quantity-${row}`;
          return html`<li>
            ${field('quantity', { id, label: `${available} ${name} ${about}` })}
            <label for="${id}"
              ><span class="quiet">${available}</span> ${name} <span class="quiet">${about}</span></label
            >
          </li>`;
        })}
    </ul>
  </fieldset>`;
}

function typedLines(visit: ShopVisit, form: FormRequest, invoiceNumber: number | string) {
  const prefix = `quantity.${invoiceRow(invoiceNumber, '')}`;
  const lines = form.fieldNames.flatMap((name) => {
    if (!name.startsWith(prefix)) return [];
    const lineItemId = name.slice(prefix.length);
    const { quantity } = readFields(LINE, form, visit, { row: invoiceRow(invoiceNumber, lineItemId) });
    return quantity && Number(quantity) !== 0 ? [{ lineItemId, quantity }] : [];
  });
  if (lines.length === 0) throw badRequest(visit.messages.orders.lines.noneChosen);
  return lines;
}
