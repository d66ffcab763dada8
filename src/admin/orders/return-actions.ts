import { Type } from 'typebox';
import { finaliseCreditNote } from '../../orders/documents/routes.ts';
import { linesToCredit } from '../../orders/documents/finalise.ts';
import type { DocumentRow } from '../../orders/documents/queries.ts';
import { updateReturn } from '../../orders/manage-returns.ts';
import { createReturn } from '../../orders/manage-shipments.ts';
import type { ManagedOrderAnswer } from '../../orders/manage-schema.ts';
import { mayBecome, millionths } from '../../orders/quantities.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import type { FormRequest } from '../../http/page-kit.ts';
import { currencyDigits } from '../../kernel/money.ts';
import { decimalText } from '../components/decimal.ts';
import {
  declareForm,
  declareHidden,
  optionsOf,
  readFields,
  showFields,
} from '../components/declared-form.ts';
import type { Draft } from '../pages.ts';
import type { ShopVisit } from '../visit.ts';
import type { OrderAction, SavedAction } from './action.ts';
import { requireJustified } from './money-actions.ts';
import {
  goodsOf,
  lineName,
  moneyIn,
  readManagedOrder,
  type OrderReturn,
  type OrderView,
} from './order-view.ts';
import { isNothing, leftToReturn } from './quantities.ts';
import { lineQuantityFields, typedLines } from './shipment-actions.ts';

const RETURN = declareForm(createReturn, ({ orders: { returns: messages } }) => ({
  restock: { kind: 'tick', label: messages.restock },
  note: { label: messages.note },
}));

/** Goods returned without a request of the customer. The page then asks for the refund, with the amount filled in. */
export const recordReturn: OrderAction = {
  name: 'return',
  form: RETURN,
  isPossible: ({ order }) => !isNothing(leftToReturn(order)),
  fields: (view, draft) => {
    const { visit, order } = view;
    const field = showFields(RETURN, visit, { values: { restock: true }, draft });
    return html`${lineQuantityFields(view, leftToReturn(order), new Map(), draft)} ${field('restock')}
      ${field('note')}
      <p class="hint">${visit.messages.orders.returns.refundFollows}</p>`;
  },
  save: async (visit, form, order) => {
    await visit.call(createReturn, {
      params: { orderId: order.orderId },
      body: { lines: typedLines(visit, form, order), ...readFields(RETURN, form, visit) },
    });
    return { text: visit.messages.orders.returns.recorded };
  },
};

const STEPS = ['approved', 'rejected', 'received', 'refunded'] as const;
type Step = (typeof STEPS)[number] | 'receivedAndRefunded';

const stepsOf = (returned: Pick<OrderReturn, 'state' | 'lines'>) =>
  STEPS.filter((step) => mayBecome({ ...returned, lines: returned.lines as never }, step));

/** Whether a return waits for the merchant. One with nothing left to refund does not. */
export function isReturnWaiting(returned: OrderReturn): boolean {
  const steps = stepsOf(returned);
  return (
    steps.some((step) => step !== 'refunded') || (steps.length > 0 && returned.refundableAmount.amount > 0)
  );
}

const NEXT_STEP = declareForm(updateReturn, ({ orders: { returns: messages, payment } }) => ({
  restock: { kind: 'tick', label: messages.restock },
  refund: { kind: 'decimal', label: messages.refund },
  goodwill: { label: payment.goodwill },
  note: { kind: 'long text', label: messages.note, rows: 2 },
}));
/** The invoice that is credited along with the refund. */
const CREDIT_NOTE = declareForm(
  { body: Type.Object({ invoiceNumber: Type.String() }) },
  ({ orders: { documents, returns } }) => ({
    invoiceNumber: {
      kind: 'tick',
      label: documents.kinds.CreditNote,
      hint: returns.creditNoteHint,
      input: 'creditNote',
    },
  }),
);
const BUTTON = declareHidden({ state: 30 });
export const RETURN_OPTIONS = optionsOf(NEXT_STEP);

/** The buttons of a return. Items and money can be settled at once, except before a request is answered. */
function buttonsOf(returned: OrderReturn): Step[] {
  const steps: Step[] = stepsOf(returned);
  const isBoth =
    steps.includes('received') && returned.state !== 'requested' && returned.dueAmount.amount > 0;
  return isBoth ? ['receivedAndRefunded', ...steps] : steps;
}

/** A return that waits for the merchant: each button is a possible step. */
export function returnFields(view: OrderView, returned: OrderReturn, draft: Draft | undefined): Markup {
  const { visit, order } = view;
  const messages = visit.messages.orders.returns;
  const buttons = buttonsOf(returned);
  const { refundableAmount: left } = returned;
  const values = {
    restock: true,
    note: returned.note,
    refund: decimalText(left.amount, visit.language, currencyDigits(left.currency)),
  };
  const field = showFields(NEXT_STEP, visit, { values, draft });
  const isRefunded = buttons.some((step) => step === 'refunded' || step === 'receivedAndRefunded');
  return html`<ul class="plain">
      ${returned.lines.map(({ lineItemId, quantity }) => {
        const line = goodsOf(order).find((one) => one.lineItemId === lineItemId);
        return html`<li>${quantity} × ${line ? lineName(line) : lineItemId}</li>`;
      })}
      ${returned.unsentLines.map(({ text }) => html`<li>${text}</li>`)}
    </ul>
    ${returned.reason !== null && html`<p>${messages.reason({ text: returned.reason })}</p>`}
    ${amountsText(visit, returned)} ${buttons.includes('received') && field('restock')}
    ${
      isRefunded &&
      html`<div class="row">
          ${field('refund', { unit: order.currencyId })}
          ${field('goodwill', { hint: visit.messages.orders.payment.goodwillHint({ amount: moneyIn(visit)(left) }) })}
        </div>
        ${creditFields(view, returned, draft)}`
    }
    ${buttons.length > 0 && field('note', { hint: buttons.includes('approved') && messages.noteIsRead })}
    <div class="actions">
      ${buttons.map(
        (step, index) =>
          html`<button
            name="state"
            value="${step}"
            class="${index === 0 ? 'main' : step === 'rejected' ? 'danger' : ''}"
          >
            ${messages.steps[step]}
          </button>`,
      )}
    </div>`;
}

/** The amount to refund for a return, and the amount already refunded. */
export function amountsText(visit: ShopVisit, { dueAmount, refundedAmount }: OrderReturn): Markup | false {
  const messages = visit.messages.orders.returns;
  const money = moneyIn(visit);
  if (dueAmount.amount === 0 && refundedAmount.amount === 0) return false;
  return html`<p class="quiet">
    ${messages.due({ amount: money(dueAmount) })}
    ${refundedAmount.amount > 0 && messages.refundedSoFar({ amount: money(refundedAmount) })}
  </p>`;
}

/** The credit note over the items of the return, if one invoice has all of them. */
function creditFields({ visit, documents }: OrderView, returned: OrderReturn, draft: Draft | undefined) {
  const invoice = invoiceOf(documents, returned);
  if (!invoice) return false;
  const messages = visit.messages.orders.returns;
  return showFields(CREDIT_NOTE, visit, { values: { invoiceNumber: true }, draft })('invoiceNumber', {
    sends: String(invoice.number),
    label: messages.creditNote({ number: invoice.number }),
  });
}

function invoiceOf(documents: readonly DocumentRow[], { lines }: OrderReturn): DocumentRow | undefined {
  const isCreditable = (invoice: DocumentRow) => {
    const left = new Map(
      linesToCredit(invoice, documents).map(({ lineItemId, quantity }) => [lineItemId, millionths(quantity)]),
    );
    return lines.every(({ lineItemId, quantity }) => (left.get(lineItemId) ?? 0) >= millionths(quantity));
  };
  if (lines.length === 0) return undefined;
  return documents.find((document) => document.kind === 'Invoice' && isCreditable(document));
}

export async function saveReturn(
  visit: ShopVisit,
  form: FormRequest,
  order: ManagedOrderAnswer,
): Promise<SavedAction> {
  const { returnId } = form.params;
  const returned = order.management.returns.find((one) => one.returnId === returnId);
  if (!returned) throw notFound();
  const step = readFields(BUTTON, form, visit).state as Step;
  const { note, restock } = readFields(NEXT_STEP, form, visit);
  if (step === 'refunded') return refundReturn(visit, form, order, returned);
  const state = step === 'receivedAndRefunded' ? 'received' : step;
  const updated = await visit.call(updateReturn, {
    params: { orderId: order.orderId, returnId: returned.returnId },
    body: { state, note, ...(state === 'received' && { restock }) },
    query: { locale: visit.locale },
  });
  if (step !== 'receivedAndRefunded') return { text: visit.messages.orders.returns.saved };
  return refundReturn(visit, form, updated, returned);
}

/**
 * Creates the credit note of a return, if it is chosen, and refunds the money. A proposed amount that was left as it is
 * follows the credit note, so both are the same to the cent.
 */
async function refundReturn(
  visit: ShopVisit,
  form: FormRequest,
  order: ManagedOrderAnswer,
  { returnId, refundableAmount }: OrderReturn,
): Promise<SavedAction> {
  const { orders: messages } = visit.messages;
  const { orderId, currencyId: currency } = order;
  const { invoiceNumber } = readFields(CREDIT_NOTE, form, visit);
  const credit =
    invoiceNumber === ''
      ? undefined
      : await visit.call(finaliseCreditNote, { params: { orderId }, body: { returnId, invoiceNumber } });
  const credited = credit ? await readManagedOrder(visit, orderId) : order;
  const { refundableAmount: left } = credited.management.returns.find((one) => one.returnId === returnId)!;
  const { note, refund, goodwill } = readFields(NEXT_STEP, form, visit);
  const isAsProposed = refund !== null && Number(refund) === refundableAmount.amount;
  const amount = isAsProposed ? left.amount : (refund ?? '');
  if (!(credit && Number(amount) === 0)) {
    requireJustified(visit, credited, { amount, left, goodwill });
    await visit.call(updateReturn, {
      params: { orderId, returnId },
      body: { state: 'refunded', note, refund: amount, goodwill },
    });
  }
  if (credit) return { text: messages.documents.creditedAndRefunded({ number: credit.documentNumber }) };
  return {
    text: messages.payment.refunded({ amount: moneyIn(visit)({ amount: Number(amount), currency }) }),
  };
}
