import { html, type Markup } from '../../http/html.ts';
import { addressLines } from '../../orders/documents/address-lines.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { waitText } from '../../pricing/waiting-text.ts';
import { typedText } from '../../orders/line-text.ts';
import { orderTokens } from '../../orders/order-link.ts';
import type { Address } from '../../shops/countries/address.ts';
import { isAnnounced } from '../../orders/quantities.ts';
import { undoEnd } from '../../orders/manage-shipments.ts';
import { buttonForm } from '../components/form.ts';
import { momentText } from '../components/format.ts';
import { adminPath } from '../visit.ts';
import { businessCard } from './business.ts';
import { undoPath } from './shipment-actions.ts';
import { amountsText, isReturnWaiting } from './return-actions.ts';
import {
  bundlePartsOf,
  goodsOf,
  lineName,
  linePicture,
  linesOf,
  moneyIn,
  payableAmount,
  taxLines,
  type OrderAmount,
  type OrderedGoods,
  type OrderLine,
  type OrderView,
} from './order-view.ts';
import { leftToShip, returnedQuantities } from './quantities.ts';
import type { ManagedOrderAnswer } from '../../orders/manage-schema.ts';
import { sum } from '../../pricing/shares.ts';
import { toMinor } from '../../kernel/money.ts';
import type { TaxType } from '../../http/price.ts';

/** The read-only parts of an order's page. */

export function linesCard(view: OrderView): Markup {
  const { visit, order } = view;
  const messages = visit.messages.orders.lines;
  const left = leftToShip(order);
  const returned = returnedQuantities(order);
  const isOpen = order.dispatchedOn === null && order.management.cancelledOn === null;
  return html`<section class="card">
    <h2>${messages.title}</h2>
    <ul class="order-lines">
      ${linesOf(order).map((line) => {
        const { lineItemId } = line;
        // The parts of a bundle say for themselves what became of them.
        const parts = bundlePartsOf(order, lineItemId);
        if (parts.length > 0)
          return html`${lineItem(view, line, line.quantity.amount, 0)} ${partList(view, parts, left)}`;
        return lineItem(view, line, isOpen ? (left.get(lineItemId) ?? 0) : 0, returned.get(lineItemId) ?? 0);
      })}
    </ul>
    ${totals(view)}
  </section>`;
}

/** Who gets a gift card that was sold, and when. */
function recipientText(
  { email, name, sendOn }: NonNullable<OrderLine['giftCard']>,
  words: { giftCardBuyer: string },
): string {
  const who = [name, email].filter(Boolean).join(', ') || words.giftCardBuyer;
  return sendOn === undefined ? who : `${who} · ${sendOn}`;
}

/** What a bundle consists of, and what of it is still to be sent. */
function partList(
  { visit, order }: OrderView,
  parts: readonly OrderedGoods[],
  left: ReadonlyMap<string, number>,
): Markup {
  const messages = visit.messages.orders.lines;
  return html`<li class="parts">
    <ul class="plain">
      ${parts.map((part) => {
        const rest = left.get(part.lineItemId) ?? 0;
        return html`<li>
          ${part.amount.toLocaleString(visit.language)} ×
          <a href="${adminPath(visit, `/products/${part.productId}`)}">${lineName(part)}</a>
          <span class="quiet"
            >${part.sku}${rest === 0 ? html` · ${messages.sent}` : rest < part.amount && html` · ${messages.left({ quantity: rest })}`}</span
          >
          ${awaited({ visit, order }, part.lineItemId)}
        </li>`;
      })}
    </ul>
  </li>`;
}

/** What of a line is not in stock yet, or that all of it has arrived. */
function awaited({ visit, order }: Pick<OrderView, 'visit' | 'order'>, lineItemId: string): Markup | false {
  const backorder = order.management.backorders?.find((one) => one.lineItemId === lineItemId);
  if (!backorder || order.management.cancelledOn !== null) return false;
  const { waiting, expectedOn } = backorder;
  const text =
    waiting > 0
      ? waitText({ quantity: String(waiting), expectedOn }, visit.locale)
      : messagesIn(visit.locale).backorders.ready;
  return html`<p class="quiet">${text}</p>`;
}

function lineItem({ visit, order }: OrderView, line: OrderLine, left: number, returned: number): Markup {
  const messages = visit.messages.orders.lines;
  const money = moneyIn(visit);
  const { quantity, sku, productId } = line;
  const isPartlySent = left > 0 && left < quantity.amount;
  const isSent = left === 0 && order.management.shipments.length > 0;
  return html`<li>
    ${linePicture(line)}
    <div class="grow">
      <a href="${adminPath(visit, `/products/${productId}`)}">${lineName(line)}</a>
      <p class="quiet">${sku}</p>
      ${
        line.customText !== undefined &&
        html`<p class="typed">${typedText(line.customText, line.customTextHeadline, visit.locale)}</p>`
      }
      ${line.giftCard !== undefined && html`<p class="typed">${recipientText(line.giftCard, messages)}</p>`}
      ${isPartlySent && html`<p class="quiet">${messages.left({ quantity: left })}</p>`}
      ${isSent && html`<p class="quiet">${messages.sent}</p>`} ${awaited({ visit, order }, line.lineItemId)}
      ${
        returned > 0 &&
        html`<p class="quiet">
          ${messages.returned({
            quantity: returned.toLocaleString(visit.language),
            ordered: quantity.amount.toLocaleString(visit.language),
          })}
        </p>`
      }
    </div>
    <span class="number quiet"
      >${quantity.amount.toLocaleString(visit.language)} × ${money(line.singleItemPrice)}</span
    >
    <span class="number">${money(line.lineItemPrice)}</span>
  </li>`;
}

function totals(view: OrderView): Markup {
  const { visit, order } = view;
  const messages = visit.messages.orders.totals;
  const money = moneyIn(visit);
  const { lineItemContainer, shippingData, paymentData, management } = order;
  const { couponLineItem, deposits, ecoParticipations } = lineItemContainer;
  const { paidAmount, refundedAmount, promotions } = management;
  const payable = payableAmount(order);
  const row = (name: string, text: string, kind = '') =>
    html`<div class="${kind}">
      <dt>${name}</dt>
      <dd>${text}</dd>
    </div>`;
  const otherDiscount = discountWithoutPromotions(order);
  return html`<dl class="totals">
    ${row(messages.subTotal, money(lineItemContainer.lineItemsSubTotal))}
    ${promotions
      .filter(({ code, amount }) => code === undefined && amount.amount !== 0)
      .map(({ name, amount }) => row(name, money(amount)))}
    ${otherDiscount.amount !== 0 && row(messages.discount, money(otherDiscount))}
    ${
      couponLineItem &&
      couponLineItem.lineItemPrice.amount !== 0 &&
      row(
        promotions.find(({ code }) => code !== undefined)?.name ?? messages.coupon,
        money(couponLineItem.lineItemPrice),
      )
    }
    ${[...deposits, ...ecoParticipations].map(({ name, lineItemPrice }) => row(name, money(lineItemPrice)))}
    ${shippingData && row(deliveryName(view, shippingData.shippingMethod.name), money(shippingData.price))}
    ${
      paymentData &&
      paymentData.price.amount !== 0 &&
      row(paymentData.paymentMethod?.name ?? messages.payment, money(paymentData.price))
    }
    ${taxLines(visit, taxesOf(order)).map(({ name, amount }) => row(name, amount, 'quiet'))}
    ${row(messages.total, money(lineItemContainer.grandTotal), 'total')}
    ${paidAmount.amount > 0 && row(messages.paid, money(paidAmount))}
    ${refundedAmount.amount > 0 && row(messages.refunded, money({ ...refundedAmount, amount: -refundedAmount.amount }))}
    ${payable.amount > 0 && row(messages.outstanding, money(payable), 'warning')}
  </dl>`;
}

/** The part of the discount that no promotion has made. */
function discountWithoutPromotions({
  lineItemContainer,
  management,
  currencyId,
}: ManagedOrderAnswer): OrderAmount {
  const named = management.promotions.flatMap(({ code, amount }) =>
    code === undefined ? amount.amount : [],
  );
  const discount = lineItemContainer.basketDiscount.lineItemPrice?.amount ?? 0;
  return { amount: Number((discount - sum(named)).toFixed(4)), currency: currencyId };
}

/** `Express (Free delivery: −€4.90)`: with the promotions that have made it cheaper. */
function deliveryName({ visit, order }: OrderView, method: string): string {
  const money = moneyIn(visit);
  const cheaper = order.management.promotions
    .filter(({ deliveryAmount }) => deliveryAmount.amount !== 0)
    .map(({ name, deliveryAmount }) =>
      visit.messages.orders.reducedBy({ name, amount: money(deliveryAmount) }),
    );
  return cheaper.length === 0 ? method : `${method} (${cheaper.join(', ')})`;
}

/** The taxes as contents store them: in minor units and basis points. */
function taxesOf({ currencyId, lineItemContainer, management }: ManagedOrderAnswer) {
  const minor = ({ amount }: OrderAmount) => toMinor(amount, currencyId)!;
  return {
    currency: currencyId,
    taxType: lineItemContainer.lineItemsSubTotal.taxType as TaxType,
    taxes: management.taxes.map(({ rate, treatment, amount, tax }) => ({
      rate: Math.round(rate * 100),
      ...(treatment && { treatment }),
      amount: minor(amount),
      tax: minor(tax),
    })),
  };
}

/** Parcels, returns and payments, if there are any. */
export function activityCards(view: OrderView): Markup {
  const { order } = view;
  const { shipments, returns, payments, paymentAttempts = [] } = order.management;
  return html`${shipments.length > 0 && shipmentsCard(view)} ${returns.length > 0 && returnsCard(view)}
  ${(payments.length > 0 || paymentAttempts.length > 0) && paymentsCard(view)}`;
}

const textOfParts = (
  { order }: OrderView,
  lines: readonly { lineItemId: string; quantity: number }[],
): string =>
  lines
    .map(({ lineItemId, quantity }) => {
      const line = goodsOf(order).find((one) => one.lineItemId === lineItemId);
      return `${quantity} × ${line ? lineName(line) : '?'}`;
    })
    .join(', ');

function shipmentsCard(view: OrderView): Markup {
  const { visit, order } = view;
  const messages = visit.messages.orders.shipping;
  return html`<section class="card">
    <h2>${messages.parcels}</h2>
    <ul class="plain">
      ${order.management.shipments.map(({ shipmentId, shippedOn, lines, carrier, parcels }) => {
        const minutesLeft = Math.ceil(
          (undoEnd(new Date(shippedOn)).getTime() - visit.db.now.getTime()) / 60_000,
        );
        const isComingBack = order.management.returns.some(
          (one) =>
            isAnnounced(one) &&
            one.lines.some(({ lineItemId }) => lines.some((line) => line.lineItemId === lineItemId)),
        );
        const isUndoable =
          visit.may('orders_write') && minutesLeft > 0 && !isComingBack && order.deliveredOn === null;
        return html`<li>
          <p>
            <strong>${momentText(new Date(shippedOn), visit.language)}</strong> ${carrier}
            ${parcels.map(({ trackingCode, trackingUrl }, index) => [
              index > 0 && ', ',
              trackingUrl === null
                ? trackingCode
                : html`<a href="${trackingUrl}" target="_blank" rel="noopener noreferrer"
                    >${trackingCode}</a
                  >`,
            ])}
          </p>
          <p class="quiet">${textOfParts(view, lines)}</p>
          ${
            isUndoable &&
            html`${buttonForm({ action: undoPath(visit, order.orderId, shipmentId), text: messages.undo })}
              <p class="hint">${messages.undoable({ minutes: minutesLeft })}</p>`
          }
        </li>`;
      })}
    </ul>
  </section>`;
}

function returnsCard(view: OrderView): Markup {
  const { visit, order } = view;
  const messages = visit.messages.orders.returns;
  return html`<section class="card">
    <h2>${messages.title}</h2>
    <ul class="plain">
      ${order.management.returns.map((returned) => {
        const { returnId, returnedOn, state, lines, unsentLines, reason, note } = returned;
        const goods = [textOfParts(view, lines), ...unsentLines.map(({ text }) => text)].filter(Boolean);
        return html`<li>
          <p>
            <strong>${messages.states[state]}</strong> ${momentText(new Date(returnedOn), visit.language)}
          </p>
          <p>${goods.join(', ')}</p>
          ${amountsText(visit, returned)}
          ${[reason, note].map((text) => text !== null && html`<p class="quiet">${text}</p>`)}
          ${
            visit.may('orders_write') &&
            isReturnWaiting(returned) &&
            html`<p>
              <a class="button" href="${adminPath(visit, `/orders/${order.orderId}/returns/${returnId}`)}"
                >${messages.next}</a
              >
            </p>`
          }
        </li>`;
      })}
    </ul>
  </section>`;
}

function paymentsCard({ visit, order }: OrderView): Markup {
  const messages = visit.messages.orders.payment;
  const money = moneyIn(visit);
  const { payments, paymentAttempts = [] } = order.management;
  return html`<section class="card">
    <h2>${messages.title}</h2>
    <ul class="plain">
      ${payments.map(
        ({ recordedOn, kind, amount, reference, note, state, goodwill }) =>
          html`<li class="split">
            <span
              >${messages.kinds[kind]}${state !== undefined && ` (${messages.states[state]})`}
              <span class="quiet">${momentText(new Date(recordedOn), visit.language)}</span>
              ${[reference, note, goodwill ? messages.goodwillOf({ reason: goodwill.reason ?? '' }) : null].filter((text) => text !== null).map((text) => html`<br /><span class="quiet">${text}</span>`)}</span
            >
            <span class="number"
              >${money(kind === 'refund' ? { ...amount, amount: -amount.amount } : amount)}</span
            >
          </li>`,
      )}
      ${paymentAttempts
        .filter(({ state }) => state !== 'paid')
        .map(
          ({ startedOn, provider, state, amount, error }) =>
            html`<li class="split">
              <span
                >${provider}: ${messages.attempts[state]}
                <span class="quiet">${momentText(new Date(startedOn), visit.language)}</span>
                ${error !== null && html`<br /><span class="quiet">${error}</span>`}</span
              >
              <span class="number quiet">${money(amount)}</span>
            </li>`,
        )}
    </ul>
  </section>`;
}

/** The customer, the delivery address, and the notes. */
export function sideCards(view: OrderView): Markup {
  const { visit, order } = view;
  const messages = visit.messages.orders;
  const { customerId, customerNumber, billingAddress, shippingAddress, customerComment, internalNote } =
    order;
  const { emailAddress, phoneNumber } = billingAddress;
  const token = orderTokens(visit.key).token(visit.shopId, order.orderId);
  const edit = (name: 'billing-address' | 'shipping-address' | 'note' | 'buyer', label: string) =>
    visit.may('orders_write') &&
    html`<a
      class="edit"
      href="${adminPath(visit, `/orders/${order.orderId}/${name}`)}"
      aria-label="${label}: ${messages.change}"
      >${messages.change}</a
    >`;
  const address = (lines: Address) =>
    html`<p class="lines">${addressLines(lines, visit.settings.country, visit.language).join('\n')}</p>`;
  return html`${
      customerComment !== null &&
      html`<section class="card">
        <h2>${messages.comment}</h2>
        <p class="lines">${customerComment}</p>
      </section>`
    }
    <section class="card">
      <div class="split">
        <h2>${messages.note.label}</h2>
        ${edit('note', messages.note.label)}
      </div>
      ${internalNote === null ? html`<p class="quiet">${messages.note.none}</p>` : html`<p class="lines">${internalNote}</p>`}
    </section>
    <section class="card">
      <h2>${messages.columns.customer}</h2>
      <p>
        ${
          visit.may('customers_read')
            ? html`<a href="${adminPath(visit, `/customers/${customerId}`)}"
                >${messages.customer({ number: customerNumber })}</a
              >`
            : messages.customer({ number: customerNumber })
        }
      </p>
      ${emailAddress !== null && html`<p><a href="mailto:${emailAddress}">${emailAddress}</a></p>`}
      ${view.emailProblem}
      ${phoneNumber !== null && html`<p><a href="tel:${phoneNumber}">${phoneNumber}</a></p>`}
      <p>
        <a href="${visit.storefront}/order/${token}" target="_blank" rel="noopener"
          >${messages.customerPage}</a
        >
      </p>
      <p class="hint">${messages.customerPageHint}</p>
    </section>
    <section class="card">
      <div class="split">
        <h2>${messages.address.shipping}</h2>
        ${edit('shipping-address', messages.address.shipping)}
      </div>
      ${address(shippingAddress ?? billingAddress)}
      ${order.shippingData && html`<p class="quiet">${order.shippingData.shippingMethod.name}</p>`}
    </section>
    <section class="card">
      <div class="split">
        <h2>${messages.address.billing}</h2>
        ${edit('billing-address', messages.address.billing)}
      </div>
      ${shippingAddress === null ? html`<p class="quiet">${messages.address.same}</p>` : address(billingAddress)}
      ${order.paymentData?.paymentMethod && html`<p class="quiet">${order.paymentData.paymentMethod.name}</p>`}
    </section>
    ${businessCard(view, edit('buyer', messages.business.title))}`;
}
