import { finaliseCreditNote } from '../../orders/documents/routes.ts';
import { createOrderRefund } from '../../orders/manage-payments.ts';
import { badRequest } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { moneyText } from '../../http/price-text.ts';
import { linesToCredit } from '../../orders/documents/finalise.ts';
import type { DocumentRow } from '../../orders/documents/queries.ts';
import { declareForm, readFields, showFields } from '../components/declared-form.ts';
import type { Draft } from '../pages.ts';
import type { ShopVisit } from '../visit.ts';
import { sellerNotice } from './seller-notice.ts';
import type { OrderAction } from './action.ts';
import { contentLineName } from './chosen-lines.ts';
import { decimalText, typedDecimal } from '../components/decimal.ts';
import { readOrder, type OrderAmount, type OrderView } from './order-view.ts';
import type { FormRequest } from '../../http/page-kit.ts';

const CREDIT = declareForm(finaliseCreditNote, ({ form, orders: { documents: messages } }) => ({
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
    const invoiceNumber = form.field('invoiceNumber');
    const { note, refund } = readFields(CREDIT, form, visit);
    const shipping = { yes: true, no: false }[form.field('shipping')] ?? null;
    const { documentId, documentNumber, lineItemContainer } = await visit.call(finaliseCreditNote, {
      params: { orderId },
      body: {
        invoiceNumber: invoiceNumber || null,
        lines: typedLines(visit, form, invoiceNumber),
        note,
        shipping,
      },
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
  const { management } = await readOrder(visit, orderId);
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

const fieldName = (invoiceNumber: number | string, lineItemId: string) =>
  `credit-${invoiceNumber}-${lineItemId}`;

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
          const name = fieldName(number, line.lineItemId);
          const quantity = left.get(line.lineItemId)!;
          return html`<li>
            <input
              name="${name}"
              id="field-${name}"
              inputmode="decimal"
              value="${draft?.field(name) ?? decimalText(Number(quantity), visit.language)}"
              maxlength="18"
            />
            <label for="field-${name}"
              ><span class="quiet">${lines.of({ quantity })}</span> ${contentLineName(visit, line)}
              <span class="quiet"
                >${line.productNumber} · ${moneyText(line.unitPrice, content.currency, visit.language)}</span
              ></label
            >
          </li>`;
        })}
    </ul>
  </fieldset>`;
}

function typedLines({ messages, language }: ShopVisit, form: FormRequest, invoiceNumber: string) {
  const prefix = fieldName(invoiceNumber, '');
  const lines = form.fieldNames
    .filter((name) => name.startsWith(prefix))
    .map((name) => ({
      lineItemId: name.slice(prefix.length),
      quantity: typedDecimal(form.field(name), language),
    }))
    .filter(({ quantity }) => quantity !== '' && Number(quantity) !== 0);
  if (lines.length === 0) throw badRequest(messages.orders.lines.noneChosen);
  return lines;
}
