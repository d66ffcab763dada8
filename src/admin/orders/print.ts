import { html, type Markup } from '../../http/html.ts';
import { languageTag, textIn } from '../../http/locale.ts';
import { addressLines } from '../../orders/documents/address-lines.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { anyText } from '../../catalogue/products/render.ts';
import { countryName } from '../../shops/countries/countries.ts';
import { registrationText } from '../../shops/legal/registration-text.ts';
import { lineText } from '../../orders/line-text.ts';
import { readyLines, waitingOfOrder } from '../../orders/backorders.ts';
import { findWaitingOf, type PartLine } from '../../orders/manage-queries.ts';
import { unshippedLines } from '../../orders/quantities.ts';
import { isWaitingForPayment, orderState } from '../../orders/order-state.ts';
import type { ManagedOrder } from '../../orders/queries.ts';
import { dayText } from '../components/format.ts';
import { PRINT_SCRIPT } from '../layout/assets.ts';
import type { AdminPage } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { chosenIds } from './bulk.ts';
import { pickList, type PackedLine, type PickedProduct } from './pick-list.ts';
import { findShipments, findWholeOrdersById } from './queries.ts';
import type { PageRequest } from '../../http/page-kit.ts';

/** Printable pages: the contents of each parcel, and a pick list for all of them. */
export function printPages(pages: ShopPages): void {
  pages.get('/orders/packing-slips', 'orders_read', async (visit, request) => {
    const packed = await loadPacked(visit, request);
    const main = html`<div class="slips">${packed.orders.map((order) => packingSlip(visit, order))}</div>`;
    return printPage(visit, visit.messages.orders.bulk.packingSlips, packed, main);
  });

  pages.get('/orders/pick-list', 'orders_read', async (visit, request) => {
    const packed = await loadPacked(visit, request);
    const main = pickTable(visit, packed.orders);
    return printPage(visit, visit.messages.orders.bulk.pickList, packed, main);
  });
}

interface PackedOrder {
  order: ManagedOrder;
  lines: PackedLine[];
  /** What is not in stock yet, and stays behind. */
  waiting: PackedLine[];
}

interface Packed {
  orders: PackedOrder[];
  /** Chosen orders that wait for their payment, so they are not packed. */
  unpaidNumbers: string[];
}

/** The unsent part of each order; all of it when everything was sent. A single unpaid order is printed on request. */
async function loadPacked({ db, shopId }: ShopVisit, { queryList }: PageRequest): Promise<Packed> {
  const orderIds = chosenIds(queryList('id'));
  const [orders, shipments, awaited] = await Promise.all([
    findWholeOrdersById(db, shopId, orderIds),
    findShipments(db, shopId, orderIds),
    findWaitingOf(db, shopId, orderIds),
  ]);
  const isLeftOut = (order: ManagedOrder) => orders.length > 1 && isWaitingForPayment(orderState(order));
  const packed = orders
    .filter((order) => !isLeftOut(order))
    .map((order) => {
      const { content, orderNumber } = order;
      const sent = shipments.filter(({ orderId }) => orderId === order.orderId);
      const rest = unshippedLines(content, sent);
      const backorders = awaited.filter(({ orderId }) => orderId === order.orderId);
      const parts = rest.length > 0 ? readyLines(rest, { backorders }) : content.lines;
      const packed = (some: readonly PartLine[]) =>
        some.map(({ lineItemId, quantity }) => ({
          orderNumber,
          line: content.lines.find((line) => line.lineItemId === lineItemId)!,
          quantity,
        }));
      const waiting = [...waitingOfOrder({ backorders })].map(([lineItemId, { quantity }]) => ({
        lineItemId,
        quantity,
      }));
      return { order, lines: packed(parts), waiting: packed(waiting) };
    });
  return { orders: packed, unpaidNumbers: orders.filter(isLeftOut).map(({ orderNumber }) => orderNumber) };
}

function printPage(
  visit: ShopVisit,
  title: string,
  { orders, unpaidNumbers }: Packed,
  main: Markup,
): AdminPage {
  const messages = visit.messages.orders.bulk;
  const count = orders.length;
  const leftOut =
    unpaidNumbers.length > 0 &&
    html`<p class="problem" role="status">${messages.leftOut({ numbers: unpaidNumbers.join(', ') })}</p>`;
  return {
    title,
    menu: 'orders',
    breadcrumbs: [
      { href: adminPath(visit, '/orders'), text: visit.messages.layout.menuEntries.orders },
      // After printing a single order, the user continues with it.
      ...(count === 1 ? orders.map(({ order }) => orderStep(visit, order)) : []),
    ],
    actions: count > 0 && html`<button class="main with-script" data-print>${messages.print}</button>`,
    main: html`${leftOut}
    ${count > 0 ? main : unpaidNumbers.length === 0 && html`<p class="empty">${messages.none}</p>`}`,
    scripts: [PRINT_SCRIPT],
  };
}

function orderStep(visit: ShopVisit, { orderId, orderNumber }: ManagedOrder) {
  return {
    href: adminPath(visit, `/orders/${orderId}`),
    text: visit.messages.orders.title({ number: orderNumber }),
  };
}

function packingSlip(visit: ShopVisit, { order, lines }: PackedOrder): Markup {
  const { settings, messages } = visit;
  const { locale, billingAddress, shippingAddress, orderNumber, createdAt, customerComment } = order;
  const address = shippingAddress ?? billingAddress;
  const recipient = addressLines(address, settings.country, languageTag(locale)).join('\n');
  return html`<article class="card slip">
    <div class="split">
      <strong>${textIn(settings.name, locale, settings.defaultLocale)}</strong>
      <span>${dayText(createdAt, visit.language)}</span>
    </div>
    ${senderLine(visit, order)}
    <p class="lines">${recipient}</p>
    <h2>${messages.orders.title({ number: orderNumber })}</h2>
    ${deliveryLine(visit, order)}
    <ul class="boxes">
      ${lines.map(
        ({ line, quantity }) =>
          html`<li>
            <span class="box"></span>
            <span class="grow">${lineText(line, quantity, locale, settings)}</span>
            <span class="quiet">${line.productNumber}</span>
          </li>`,
      )}
    </ul>
    ${customerComment !== null && html`<p class="lines quiet">${customerComment}</p>`}
    ${registrationLine(visit, order)}
  </article>`;
}

/** Where a parcel returns to that can't be delivered, with the country if it goes abroad. */
function senderLine(
  { settings }: ShopVisit,
  { billingAddress, shippingAddress }: ManagedOrder,
): Markup | false {
  const { invoicing, country, defaultLocale } = settings;
  const { company, street, zipCode, city } = invoicing;
  if (!street) return false;
  const isAbroad = (shippingAddress ?? billingAddress).country !== country;
  const lines = [
    company ?? textIn(settings.name, defaultLocale, defaultLocale),
    street,
    [zipCode, city].filter(Boolean).join(' '),
    isAbroad && countryName(country, languageTag(defaultLocale)),
  ].filter(Boolean);
  const { labelled, returnAddress } = messagesIn(defaultLocale).documents;
  return html`<p class="quiet">${labelled({ label: returnAddress, text: lines.join(', ') })}</p>`;
}

/** The numbers of the registers of producers in the country that the parcel goes to. */
function registrationLine({ settings }: ShopVisit, order: ManagedOrder): Markup | false {
  const { country } = order.shippingAddress ?? order.billingAddress;
  const texts = settings.producerRegistrations
    .filter((one) => one.country === country)
    .map((one) => registrationText(one, order.locale));
  return texts.length > 0 && html`<p class="quiet">${texts.join(' · ')}</p>`;
}

/** How the parcel is sent: the people who pack it read the language of the shop. */
function deliveryLine({ settings }: ShopVisit, { content }: ManagedOrder): Markup | false {
  const { defaultLocale } = settings;
  const name = content.shipping && anyText(content.shipping.name, defaultLocale, defaultLocale);
  const { labelled, shipping } = messagesIn(defaultLocale).documents;
  return name ? html`<p>${labelled({ label: shipping, text: name })}</p>` : false;
}

function pickTable(visit: ShopVisit, packed: readonly PackedOrder[]): Markup {
  const waiting = pickList(packed.flatMap((order) => order.waiting));
  return html`${productTable(visit, pickList(packed.flatMap(({ lines }) => lines)))}
  ${waiting.length > 0 && productTable(visit, waiting, visit.messages.orders.bulk.awaited)}`;
}

function productTable(visit: ShopVisit, products: readonly PickedProduct[], title?: string): Markup {
  const messages = visit.messages.orders.bulk;
  return html`<div class="card scroll">
    ${title !== undefined && html`<h2>${title}</h2>`}
    <table>
      <thead>
        <tr>
          <th scope="col"><span class="hidden">✓</span></th>
          <th scope="col">${messages.product}</th>
          <th scope="col">${messages.quantity}</th>
          <th scope="col">${messages.orders}</th>
        </tr>
      </thead>
      <tbody>
        ${products.map(
          ({ line, quantity, orderNumbers }) =>
            html`<tr>
              <td><span class="box"></span></td>
              <td>${line.productNumber}</td>
              <td>${lineText(line, quantity, visit.locale, visit.settings)}</td>
              <td class="quiet">${orderNumbers.join(', ')}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
