import { dateText, dateTimeText } from '../../http/dates.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { isId } from '../../kernel/ids.ts';
import { otherPaymentMethods } from '../../orders/choose-payment.ts';
import { mayCancel, returnableLines, withdrawableLines } from '../../orders/customer-actions.ts';
import { documentFile } from '../../orders/documents/file.ts';
import { findDocument, findDocuments } from '../../orders/documents/queries.ts';
import { documentTitle } from '../../orders/documents/title.ts';
import { waitingOfOrder } from '../../orders/backorders.ts';
import { findReturnSteps } from '../../orders/history.ts';
import { orderDelivery } from '../../orders/order-delivery.ts';
import type { OrderTokens } from '../../orders/order-link.ts';
import { paymentState } from '../../orders/payments/payment-state.ts';
import { toOrder } from '../../orders/render.ts';
import { orderStatus, orderTimeline, type TimelineEntry } from '../../orders/timeline.ts';
import { returnedLines } from '../../orders/quantities.ts';
import { trackedParcels } from '../../orders/tracking.ts';
import { withdrawalEnd } from '../../orders/withdrawal-period.ts';
import { nextSteps } from '../checkout/confirmation.ts';
import { linesAndTotals, orderParties } from '../checkout/review-step.ts';
import { sentProducts } from '../../reviews/reviewable.ts';
import { downloadsSummary } from '../downloads/downloads-summary.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { isOfferedHere, payableOfOrder } from '../payment/offered.ts';
import { otherMethods } from '../payment/other-methods.ts';
import { paymentNotice } from '../payment/payment-notice.ts';
import { moneyText } from '../../http/price-text.ts';
import { shopPath, type Visit } from '../visit.ts';
import {
  openOrderByToken,
  orderPageWith,
  quantityList,
  describePart,
  type OpenedOrder,
} from './customer-order.ts';

/** An order has few documents; more are not listed. */
const MAX_DOCUMENTS = 50;

/**
 * The page of an order, linked from emails: its customer sees it without signing in, because the address contains an
 * unguessable token.
 */
export function orderPage(pages: Pages, tokens: OrderTokens): void {
  pages.get('/order/:token', async (visit, request) =>
    showOrder(visit, await openOrderByToken(visit, request, tokens)),
  );

  pages.file('/order/:token/documents/:documentId', async (visit, request) => {
    const { order } = await openOrderByToken(visit, request, tokens);
    const { db, shopId } = visit;
    const documentId = request.params['documentId']!;
    const document = isId(documentId) ? await findDocument(db, shopId, documentId) : undefined;
    if (document?.orderId !== order.orderId) throw notFound();
    const file = (await documentFile(db, shopId, documentId))!;
    return {
      type: 'application/pdf',
      content: file.bytes,
      headers: {
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex',
        'content-disposition': `attachment; filename="${file.name}"`,
      },
    };
  });
}

/** `problem` says why a request of the customer was not carried out. */
export async function showOrder(visit: Visit, opened: OpenedOrder, problem?: string): Promise<Page> {
  const { db, shopId, locale, settings, origin } = visit;
  const { order } = opened;
  const messages = messagesIn(locale).storefront.order;
  const [documents, returnSteps, payment, methods, downloads] = await Promise.all([
    findDocuments(db, shopId, order.orderId, { limit: MAX_DOCUMENTS, offset: 0, withPdf: false }),
    findReturnSteps(db, shopId, order.orderId),
    paymentState(db, shopId, order),
    otherPaymentMethods(db, shopId, opened, (method) => isOfferedHere(visit, method, payableOfOrder(order))),
    downloadsSummary(visit, opened),
  ]);
  const view = toOrder(order, { locale, origin, settings });
  const isUnpaid = payment.outstanding > 0 && !order.paidOn;
  const delivery = orderDelivery(order, locale);
  return orderPageWith(opened, '', {
    title: messages.title({ number: order.orderNumber }),
    ...(problem !== undefined && { status: 409 }),
    main: html`<h1>${messages.title({ number: order.orderNumber })}</h1>
      ${problem !== undefined && html`<div class="notice" role="alert"><p class="error">${problem}</p></div>`}
      <section class="todo now" aria-labelledby="now">
        <h2 id="now">${messages.status[orderStatus(opened)]}</h2>
        ${isUnpaid && (paymentNotice(visit, opened.token, order, payment) ?? nextSteps(visit, view, payment.outstanding))}
        ${otherMethods(visit, opened.token, methods)} ${parcels(visit, opened)}
        ${delivery !== undefined && html`<p>${delivery}</p>`} ${returnedList(visit, opened)}
      </section>
      ${downloads}
      <div class="columns">
        <section aria-labelledby="history">
          <h2 id="history">${messages.history}</h2>
          ${timeline(visit, opened, orderTimeline(opened, documents, returnSteps))}
        </section>
        <section class="todo" aria-labelledby="next">
          <h2 id="next">${messages.next}</h2>
          ${actions(visit, opened)}
        </section>
      </div>
      ${orderParties(visit, view, { hasLinks: false, delivery, pickup: order.content.shipping?.pickup })}
      ${linesAndTotals(visit, view, order.content, {
        payments: opened.activity.payments,
        left: payment.outstanding,
        waits: shownWaits(opened),
      })}`,
  });
}

/** The way of each parcel that is not marked as delivered. */
function parcels(visit: Visit, { order, activity, settings }: OpenedOrder): Markup[] {
  const messages = messagesIn(visit.locale).storefront.order;
  if (order.deliveredOn) return [];
  return activity.shipments.flatMap((shipment) =>
    trackedParcels(shipment, settings).flatMap(({ trackingCode, trackingUrl }) => {
      if (trackingUrl === null) return [];
      const parcel = [shipment.carrier, trackingCode].filter(Boolean).join(' ');
      return [
        html`<p>
          <a class="button" href="${trackingUrl}" rel="noreferrer"
            >${messages.track}<span class="visually-hidden">: ${parcel}</span></a
          ><br /><small>${parcel}</small>
        </p>`,
      ];
    }),
  );
}

/** Which items came back, and how many of how many. */
function returnedList(visit: Visit, opened: OpenedOrder): Markup | false {
  const { locale } = visit;
  const returned = returnedLines(opened);
  return (
    returned.length > 0 &&
    html`<ul class="parts">
      ${returned.map(
        ({ ordered, ...part }) =>
          html`<li>
            ${messagesIn(locale).storefront.order.returnedOf({
              items: describePart(visit, opened, part),
              ordered: Number(ordered).toLocaleString(locale.replace('_', '-')),
            })}
          </li>`,
      )}
    </ul>`
  );
}

function timeline(visit: Visit, opened: OpenedOrder, entries: readonly TimelineEntry[]): Markup {
  return html`<ol class="timeline">
    ${entries.map(
      (entry) =>
        html`<li>
          <time datetime="${entry.at.toISOString()}"
            >${
              entry.kind === 'return' && entry.state === 'withdrawn'
                ? dateTimeText(entry.at, visit.locale)
                : dateText(entry.at, visit.locale)
            }</time
          >
          <div>${entryText(visit, opened, entry)}</div>
        </li>`,
    )}
  </ol>`;
}

function entryText(visit: Visit, opened: OpenedOrder, entry: TimelineEntry): Markup {
  const { locale } = visit;
  const messages = messagesIn(locale).storefront.order;
  switch (entry.kind) {
    case 'sent': {
      const { lines, carrier } = entry.shipment;
      const tracked = trackedParcels(entry.shipment, opened.settings);
      return html`<strong>${messages.events.sent}</strong> ${quantityList(visit, opened, lines)}
        ${carrier !== null && html`<p>${messages.carrier}: ${carrier}</p>`}
        ${
          tracked.length > 0 &&
          html`<p>
            ${messages.trackingCode}:
            ${tracked.map(({ trackingCode, trackingUrl }, index) => [
              index > 0 && ', ',
              trackingUrl === null
                ? trackingCode
                : html`<a href="${trackingUrl}" rel="noreferrer">${trackingCode}</a>`,
            ])}
          </p>`
        }`;
    }
    case 'document': {
      const { documentId, kind, number } = entry.document;
      const href = shopPath(visit, `${opened.path}/documents/${documentId}`);
      return html`<strong>${documentTitle(kind, number, locale)}</strong>
        <p>
          <a href="${href}"
            >${messages.download}<span class="visually-hidden"
              >: ${documentTitle(kind, number, locale)}</span
            ></a
          >
        </p>`;
    }
    case 'refunded':
      return html`<strong
        >${messages.refunded({ amount: moneyText(entry.payment.amount, opened.order.currency, locale) })}</strong
      >`;
    case 'return': {
      const { state, returned } = entry;
      const isAnswer = state === 'approved' || state === 'rejected';
      return html`<strong>${messages.returns[state]}</strong>
        ${!isAnswer && quantityList(visit, opened, returned.lines, state === 'withdrawn' ? returned.unsentLines : [])}
        ${isAnswer && returned.state === state && returned.note !== null && html`<p>${returned.note}</p>`}
        ${state === 'approved' && sendBack(visit)}`;
    }
    case 'placed':
    case 'paid':
    case 'partlyPaid':
    case 'dispatched':
    case 'delivered':
    case 'cancelled':
      return html`<strong>${messages.events[entry.kind]}</strong>`;
  }
}

/** The return address for the goods. */
function sendBack({ settings, locale }: Visit): Markup | false {
  const { company, street, zipCode, city } = settings.invoicing;
  const lines = [company, street, [zipCode, city].filter(Boolean).join(' ')].filter(Boolean);
  return (
    street !== undefined &&
    html`<p>${messagesIn(locale).storefront.order.sendTo}</p>
      <address>${lines.map((line) => html`${line}<br />`)}</address>`
  );
}

/** The customer's current options for the order. Withdrawal is clearly labelled and always there, but is not the first. */
function actions(visit: Visit, opened: OpenedOrder): Markup {
  const { db, locale } = visit;
  const messages = messagesIn(locale).storefront.order;
  const link = (path: string, label: string) =>
    html`<p><a class="button quiet" href="${shopPath(visit, opened.path + path)}">${label}</a></p>`;
  const canWithdraw = withdrawableLines(opened, db.now).length > 0;
  const end = withdrawalEnd(opened);
  const canReview = visit.settings.reviews.open && sentProducts(opened).length > 0;
  return html`${canReview && link('/reviews', messagesIn(locale).storefront.reviews.ofOrder)}
    ${returnableLines(opened, db.now).length > 0 && link('/return', messages.return)}
    ${mayCancel(opened) && link('/cancel', messages.cancel)}
    <form method="post" action="${shopPath(visit, `${opened.path}/reorder`)}">
      <p><button class="quiet">${messages.reorder}</button></p>
    </form>
    ${
      canWithdraw &&
      html`${link('/withdraw', messagesIn(locale).storefront.withdrawal.start)}
      ${end !== undefined && html`<p><small>${messages.withdrawUntil({ date: dateText(lastDay(end), locale) })}</small></p>`}`
    }`;
}

/** The period ends at noon of the day after its last day, so that the last day is over everywhere. */
const lastDay = (end: Date) => new Date(end.getTime() - 86_400_000);

/** A cancelled order waits for nothing. */
const shownWaits = ({ order, activity }: OpenedOrder) =>
  order.cancelledAt ? new Map<string, never>() : waitingOfOrder(activity);
