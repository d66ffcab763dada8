import { createShipment } from '../../orders/manage-shipments.ts';
import { badRequest } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import type { ManagedOrderAnswer } from '../../orders/manage-schema.ts';
import { carrierNames } from '../../orders/tracking.ts';
import { decimalText } from '../components/decimal.ts';
import { declareForm, readFields, showFields } from '../components/declared-form.ts';
import type { Draft } from '../pages.ts';
import type { ShopVisit } from '../visit.ts';
import type { OrderAction } from './action.ts';
import { typedDecimal } from './decimal.ts';
import { lineName } from './line-view.ts';
import { linesOf, type OrderView } from './order-view.ts';
import { isNothing, leftToShip } from './quantities.ts';
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
    return html`${lineQuantityFields(view, left, left, draft)}
      <div class="row">${carrierField(visit, draft)} ${field('trackingCode')}</div>
      <p class="hint">${messages.tellsCustomer}</p>`;
  },
  save: async (visit, form, order) => {
    await visit.call(createShipment, {
      params: { orderId: order.orderId },
      body: { lines: typedLines(visit, form, order), ...readFields(SHIPMENT, form, visit) },
    });
    return { text: visit.messages.orders.shipping.recorded };
  },
};

/** A quantity field for each line, named after the line. */
export function lineQuantityFields(
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

export function typedLines({ messages }: ShopVisit, form: FormRequest, order: ManagedOrderAnswer) {
  const lines = linesOf(order).flatMap(({ lineItemId }) => {
    const quantity = typedDecimal(form.field(quantityName(lineItemId)));
    return quantity === '' || Number(quantity) === 0 ? [] : [{ lineItemId, quantity }];
  });
  if (lines.length === 0) throw badRequest(messages.orders.lines.noneChosen);
  return lines;
}

/** Carriers with known tracking pages are suggested; any other name can be typed. */
export function carrierField({ messages, settings }: ShopVisit, draft: Draft | undefined): Markup {
  return html`<div class="field">
    <label for="field-carrier">${messages.orders.shipping.carrier}</label>
    <input
      name="carrier"
      id="field-carrier"
      list="carriers"
      maxlength="200"
      autocomplete="off"
      value="${draft?.field('carrier') ?? ''}"
    />
    <datalist id="carriers">
      ${carrierNames(settings).map((name) => html`<option value="${name}"></option>`)}
    </datalist>
  </div>`;
}
