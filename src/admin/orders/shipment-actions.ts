import { Type } from 'typebox';
import { MAX_PARCELS, MAX_TRACKING_CODE } from '../../orders/manage-schema.ts';
import { UNDO_MINUTES, createShipment } from '../../orders/manage-shipments.ts';
import { badRequest } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import type { ManagedOrderAnswer } from '../../orders/manage-schema.ts';
import { isWaitingForPayment } from '../../orders/order-state.ts';
import { isProviderName } from '../../orders/payments/providers.ts';
import { recogniseCarrier } from '../../orders/recognise-carrier.ts';
import { carrierNames } from '../../orders/tracking.ts';
import { declareForm, optionsOf, readChecked, readFields, showFields } from '../components/declared-form.ts';
import type { Draft } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import type { OrderAction } from './action.ts';
import { LINE } from './line-form.ts';
import { goodsOf, lineName, moneyIn, payableAmount, type OrderView } from './order-view.ts';
import { isNothing, readyToShip } from './quantities.ts';
import type { FormRequest } from '../../http/page-kit.ts';

export const SHIPMENT = declareForm(createShipment, ({ orders: { shipping: messages } }) => ({
  carrier: {
    kind: 'choice',
    label: messages.carrier,
    hint: messages.carrierHint,
    empty: messages.recognised,
  },
}));

/** A shipment has a code for each of its parcels; the operation takes them with the carrier's pages. */
const PARCELS = declareForm(
  {
    body: Type.Object({
      trackingCodes: Type.Array(Type.String({ maxLength: MAX_TRACKING_CODE }), { maxItems: MAX_PARCELS }),
    }),
  },
  ({ orders: { shipping: messages } }) => ({
    trackingCodes: {
      kind: 'tags',
      label: messages.trackingCode,
      hint: messages.parcelsHint,
      input: 'trackingCode',
      autocomplete: 'off',
    },
  }),
);

export const SHIPMENT_OPTIONS = optionsOf(SHIPMENT, PARCELS);

export const ship: OrderAction = {
  name: 'ship',
  options: SHIPMENT_OPTIONS,
  isPossible: ({ order }) =>
    order.management.cancelledOn === null &&
    order.rejectedOn === null &&
    order.dispatchedOn === null &&
    !isNothing(readyToShip(order)),
  fields: (view, draft) => {
    const { visit, order } = view;
    const messages = visit.messages.orders.shipping;
    const left = readyToShip(order);
    const field = showFields(SHIPMENT, visit, { draft });
    return html`${isUnpaid(order) && unpaidNotice(visit, order, draft)}
      ${lineQuantityFields(view, left, left, draft)}
      <div class="row">
        ${showFields(PARCELS, visit, { draft })('trackingCodes')}
        ${field('carrier', { choices: carrierChoices(visit) })}
      </div>
      <p class="hint">${messages.tellsCustomer({ minutes: UNDO_MINUTES })}</p>`;
  },
  save: async (visit, form, order) => {
    if (isUnpaid(order) && isPaidThroughProvider(visit, order)) {
      throw badRequest(visit.messages.orders.shipping.recordFirst);
    }
    if (isUnpaid(order) && !isConfirmed(visit, form)) {
      throw badRequest(visit.messages.orders.shipping.confirmUnpaid);
    }
    const { carrier } = readFields(SHIPMENT, form, visit);
    const { trackingCodes } = readChecked(PARCELS, form, visit);
    const { management } = await visit.call(createShipment, {
      params: { orderId: order.orderId },
      body: { lines: typedLines(visit, form, order), ...parcelsOf(visit, { carrier, trackingCodes }) },
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

const UNPAID = declareForm(
  { body: Type.Object({ unpaid: Type.Boolean() }) },
  ({ orders: { shipping: messages } }) => ({ unpaid: { kind: 'tick', label: messages.shipUnpaid } }),
);

/** Asks whether unpaid goods are shipped. Without an answer they are not. */
export function unpaidField(visit: ShopVisit, text: string, draft: Draft | undefined): Markup {
  return html`<div class="problem">
    <p>${text}</p>
    ${showFields(UNPAID, visit, { draft })('unpaid')}
  </div>`;
}

export const isConfirmed = (visit: ShopVisit, form: FormRequest) => readFields(UNPAID, form, visit).unpaid;

/**
 * The parcels, by the chosen carrier or else the one that the tracking codes name: a shipment has one carrier. A code
 * without a carrier has no tracking page.
 */
export function parcelsOf(
  { messages: { orders } }: ShopVisit,
  { carrier, trackingCodes }: { carrier: string | null | undefined; trackingCodes: readonly string[] },
): { carrier: string | null; parcels: { trackingCode: string }[] } {
  const parcels = trackingCodes.map((trackingCode) => ({ trackingCode }));
  if (carrier || parcels.length === 0) return { carrier: carrier || null, parcels };
  const [first, ...others] = trackingCodes.map((code) => {
    const recognised = recogniseCarrier(code);
    if (recognised === undefined) throw badRequest(orders.shipping.chooseCarrier({ code }));
    return recognised;
  });
  if (others.some((other) => other !== first)) throw badRequest(orders.shipping.severalCarriers);
  return { carrier: first!, parcels };
}

/** A quantity field for each line, named after the line. */
export function lineQuantityFields(
  { visit, order }: OrderView,
  left: ReadonlyMap<string, number>,
  values: ReadonlyMap<string, number>,
  draft: Draft | undefined,
): Markup {
  const messages = visit.messages.orders.lines;
  const rows = goodsOf(order).filter(({ lineItemId }) => (left.get(lineItemId) ?? 0) > 0);
  return html`<ul class="quantities">
    ${rows.map((line) => {
      const { lineItemId, sku } = line;
      const available = messages.of({ quantity: left.get(lineItemId)! });
      const field = showFields(LINE, visit, {
        values: { quantity: values.get(lineItemId) ?? 0 },
        row: lineItemId,
        draft,
      });
      const id = `quantity-${lineItemId}`;
      return html`<li>
        ${field('quantity', { id, label: `${available} ${lineName(line)} ${sku}` })}
        <label for="${id}"
          ><span class="quiet">${available}</span> ${lineName(line)} <span class="quiet">${sku}</span></label
        >
      </li>`;
    })}
  </ul>`;
}

export function typedLines(visit: ShopVisit, form: FormRequest, order: ManagedOrderAnswer) {
  const lines = goodsOf(order).flatMap(({ lineItemId }) => {
    const { quantity } = readFields(LINE, form, visit, { row: lineItemId });
    return quantity && Number(quantity) !== 0 ? [{ lineItemId, quantity }] : [];
  });
  if (lines.length === 0) throw badRequest(visit.messages.orders.lines.noneChosen);
  return lines;
}

/** Only carriers whose tracking page is known: the settings have room for others. */
export const carrierChoices = ({ settings }: ShopVisit) =>
  carrierNames(settings).map((name) => ({ value: name, text: name }));
