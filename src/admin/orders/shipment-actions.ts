import { updateReturn } from '../../orders/manage-returns.ts';
import { createReturn, createShipment } from '../../orders/manage-shipments.ts';
import { badRequest, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import type { ManagedOrderAnswer } from '../../orders/manage-schema.ts';
import { isWaitingForPayment } from '../../orders/order-state.ts';
import { isProviderName } from '../../orders/payments/providers.ts';
import { recogniseCarrier } from '../../orders/recognise-carrier.ts';
import { mayBecome } from '../../orders/returns.ts';
import { carrierNames } from '../../orders/tracking.ts';
import { UNDO_MINUTES } from '../../orders/undo-shipment.ts';
import { decimalText, typedDecimal } from '../components/decimal.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { choiceField, tickField } from '../components/form.ts';
import type { Draft } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import type { OrderAction, SavedAction } from './action.ts';
import { lineName } from './line-view.ts';
import { linesOf, moneyIn, payableAmount, type OrderReturn, type OrderView } from './order-view.ts';
import { isNothing, leftToReturn, leftToShip } from './quantities.ts';
import type { FormRequest } from '../../http/page-kit.ts';

const SHIPMENT = declareForm(createShipment, ({ orders: { shipping: messages } }) => ({
  carrier: { label: messages.carrier },
  trackingCode: { label: messages.trackingCode, autocomplete: 'off' },
}));

export const ship: OrderAction = {
  name: 'ship',
  form: SHIPMENT,
  isPossible: ({ order }) =>
    order.management.cancelledOn === null &&
    order.rejectedOn === null &&
    order.dispatchedOn === null &&
    !isNothing(leftToShip(order)),
  fields: (view, draft) => {
    const { visit, order } = view;
    const messages = visit.messages.orders.shipping;
    const left = leftToShip(order);
    const field = showFields(SHIPMENT, visit, { draft });
    return html`${isUnpaid(order) && unpaidNotice(visit, order, draft)}
      ${lineQuantityFields(view, left, left, draft)}
      <div class="row">${field('trackingCode')} ${carrierField(visit, draft)}</div>
      <p class="hint">${messages.tellsCustomer({ minutes: UNDO_MINUTES })}</p>`;
  },
  save: async (visit, form, order) => {
    if (isUnpaid(order) && isPaidThroughProvider(visit, order)) {
      throw badRequest(visit.messages.orders.shipping.recordFirst);
    }
    if (isUnpaid(order) && !isConfirmed(form)) {
      throw badRequest(visit.messages.orders.shipping.confirmUnpaid);
    }
    const fields = readFields(SHIPMENT, form, visit);
    const { management } = await visit.call(createShipment, {
      params: { orderId: order.orderId },
      body: { lines: typedLines(visit, form, order), ...fields, carrier: carrierOf(visit, fields) },
    });
    const { shipmentId } = management.shipments.at(-1)!;
    return {
      text: visit.messages.orders.shipping.recorded({ minutes: UNDO_MINUTES }),
      undo: { action: undoPath(visit, order.orderId, shipmentId), fields: {} },
    };
  },
};

export const undoPath = (visit: ShopVisit, orderId: string, shipmentId: string) =>
  adminPath(visit, `/orders/${orderId}/shipments/${shipmentId}/undo`);

const isUnpaid = ({ management }: ManagedOrderAnswer) => isWaitingForPayment(management.state);

/** The operation refuses to ship these before the money is there, so the form does not ask. */
function isPaidThroughProvider({ settings }: ShopVisit, { paymentData }: ManagedOrderAnswer): boolean {
  const methodId = paymentData?.paymentMethod?.id;
  const method = settings.paymentMethods.find(({ paymentMethodId }) => paymentMethodId === methodId);
  return method !== undefined && isProviderName(method.providerName);
}

function unpaidNotice(visit: ShopVisit, order: ManagedOrderAnswer, draft: Draft | undefined): Markup {
  const messages = visit.messages.orders.shipping;
  const text = messages.unpaid({ amount: moneyIn(visit)(payableAmount(order)) });
  return isPaidThroughProvider(visit, order)
    ? html`<p class="problem">${text} ${messages.recordFirst}</p>`
    : unpaidField(visit, text, draft);
}

/** Asks whether unpaid goods are shipped. Without an answer they are not. */
export function unpaidField({ messages }: ShopVisit, text: string, draft: Draft | undefined): Markup {
  return html`<div class="problem">
    <p>${text}</p>
    ${tickField({ name: 'unpaid', label: messages.orders.shipping.shipUnpaid, draft })}
  </div>`;
}

export const isConfirmed = (form: FormRequest) => form.fieldList('unpaid').includes('yes');

/** The chosen carrier, else the one that the tracking code names. A code without a carrier has no tracking page. */
export function carrierOf(
  { messages }: ShopVisit,
  { carrier, trackingCode }: { carrier?: string | null; trackingCode?: string | null },
): string | null {
  if (carrier || !trackingCode) return carrier || null;
  const recognised = recogniseCarrier(trackingCode);
  if (recognised === undefined) {
    throw badRequest(messages.orders.shipping.chooseCarrier({ code: trackingCode }));
  }
  return recognised;
}

const RETURN = declareForm(createReturn, ({ orders: { returns: messages } }) => ({
  restock: { kind: 'tick', label: messages.restock },
  refund: { kind: 'decimal', label: messages.refund },
  note: { label: messages.note },
}));

/** Goods returned without a request of the customer. */
export const recordReturn: OrderAction = {
  name: 'return',
  form: RETURN,
  isPossible: ({ order }) => !isNothing(leftToReturn(order)),
  fields: (view, draft) => {
    const { visit, order } = view;
    const hint = visit.messages.orders.returns.refundHint;
    const field = showFields(RETURN, visit, { values: { restock: true }, draft });
    return html`${lineQuantityFields(view, leftToReturn(order), new Map(), draft)} ${field('restock')}
      <div class="row">${field('refund', { unit: order.currencyId, hint })} ${field('note')}</div>`;
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

export const stepsOf = (returned: Pick<OrderReturn, 'state' | 'lines'>) =>
  STEPS.filter((step) => mayBecome({ ...returned, lines: returned.lines as never }, step));

const NEXT_STEP = declareForm(updateReturn, ({ orders: { returns: messages } }) => ({
  restock: { kind: 'tick', label: messages.restock },
  refund: { kind: 'decimal', label: messages.refund },
  note: { kind: 'long text', label: messages.note, rows: 2 },
}));
export const RETURN_OPTIONS = optionsOf(NEXT_STEP);

/** A return that waits for the merchant: each button is a possible step. */
export function returnFields(view: OrderView, returned: OrderReturn, draft: Draft | undefined): Markup {
  const { visit, order } = view;
  const messages = visit.messages.orders.returns;
  const steps = stepsOf(returned);
  const field = showFields(NEXT_STEP, visit, { values: { restock: true, note: returned.note }, draft });
  return html`<ul class="plain">
      ${returned.lines.map(({ lineItemId, quantity }) => {
        const line = linesOf(order).find((one) => one.lineItemId === lineItemId);
        return html`<li>${quantity} × ${line ? lineName(line) : lineItemId}</li>`;
      })}
      ${returned.unsentLines.map(({ text }) => html`<li>${text}</li>`)}
    </ul>
    ${returned.reason !== null && html`<p>${messages.reason({ text: returned.reason })}</p>`}
    ${steps.includes('received') && field('restock')}
    ${steps.includes('refunded') && field('refund', { unit: order.currencyId })}
    ${field('note', { hint: steps.includes('approved') && messages.noteIsRead })}
    <div class="actions">
      ${steps.map(
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

export async function saveReturn(
  visit: ShopVisit,
  form: FormRequest,
  order: ManagedOrderAnswer,
): Promise<SavedAction> {
  const { returnId } = form.params;
  const returned = order.management.returns.find((one) => one.returnId === returnId);
  if (!returned) throw notFound();
  const state = form.field('state') as (typeof STEPS)[number];
  const { note, restock, refund } = readFields(NEXT_STEP, form, visit);
  await visit.call(updateReturn, {
    params: { orderId: order.orderId, returnId: returned.returnId },
    body: {
      state,
      note,
      ...(state === 'received' && { restock }),
      ...(state === 'refunded' && { refund: refund ?? '' }),
    },
  });
  return { text: visit.messages.orders.returns.saved };
}

/** A quantity field for each line, named after the line. */
function lineQuantityFields(
  { visit, order }: OrderView,
  most: ReadonlyMap<string, number>,
  values: ReadonlyMap<string, number>,
  draft: Draft | undefined,
): Markup {
  const messages = visit.messages.orders.lines;
  const rows = linesOf(order).filter(({ lineItemId }) => (most.get(lineItemId) ?? 0) > 0);
  return html`<ul class="quantities">
    ${rows.map((line) => {
      const { lineItemId, sku } = line;
      const name = quantityName(lineItemId);
      return html`<li>
        <input
          name="${name}"
          id="field-${name}"
          inputmode="decimal"
          value="${draft?.field(name) ?? decimalText(values.get(lineItemId) ?? 0, visit.language)}"
          maxlength="12"
        />
        <label for="field-${name}"
          ><span class="quiet">${messages.of({ quantity: most.get(lineItemId)! })}</span> ${lineName(line)}
          <span class="quiet">${sku}</span></label
        >
      </li>`;
    })}
  </ul>`;
}

const quantityName = (lineItemId: string) => `quantity-${lineItemId}`;

export function typedLines({ messages, language }: ShopVisit, form: FormRequest, order: ManagedOrderAnswer) {
  const lines = linesOf(order).flatMap(({ lineItemId }) => {
    const quantity = typedDecimal(form.field(quantityName(lineItemId)), language);
    return quantity === '' || Number(quantity) === 0 ? [] : [{ lineItemId, quantity }];
  });
  if (lines.length === 0) throw badRequest(messages.orders.lines.noneChosen);
  return lines;
}

/** Only carriers whose tracking page is known: the settings have room for others. */
export function carrierField({ messages, settings }: ShopVisit, draft: Draft | undefined): Markup {
  const { carrier, recognised, carrierHint } = messages.orders.shipping;
  return choiceField({
    name: 'carrier',
    label: carrier,
    hint: carrierHint,
    choices: carrierNames(settings).map((name) => ({ value: name, text: name })),
    empty: recognised,
    draft,
  });
}
