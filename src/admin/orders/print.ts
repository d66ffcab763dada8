import { html, type Markup } from '../../http/html.ts';
import { languageTag, textIn } from '../../http/locale.ts';
import { addressLines } from '../../orders/documents/address-lines.ts';
import { lineText } from '../../orders/line-text.ts';
import { unshippedLines } from '../../orders/quantities.ts';
import type { OrderRow } from '../../orders/queries.ts';
import { dayText } from '../components/format.ts';
import { PRINT_SCRIPT } from '../layout/assets.ts';
import type { AdminPage } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { chosenIds } from './bulk.ts';
import { pickList, type PackedLine } from './pick-list.ts';
import { findShipments, findWholeOrdersById } from './queries.ts';
import type { PageRequest } from '../../http/page-kit.ts';

/** Printable pages: the contents of each parcel, and a pick list for all of them. */
export function printPages(pages: ShopPages): void {
  pages.get('/orders/packing-slips', 'orders_read', async (visit, request) => {
    const packed = await loadPacked(visit, request);
    const main = html`<div class="slips">${packed.map((order) => packingSlip(visit, order))}</div>`;
    return printPage(visit, visit.messages.orders.bulk.packingSlips, packed, main);
  });

  pages.get('/orders/pick-list', 'orders_read', async (visit, request) => {
    const packed = await loadPacked(visit, request);
    const main = pickTable(visit, packed);
    return printPage(visit, visit.messages.orders.bulk.pickList, packed, main);
  });
}

interface PackedOrder {
  order: OrderRow;
  lines: PackedLine[];
}

/** The unsent part of each order; all of it when everything was sent. */
async function loadPacked({ db, shopId }: ShopVisit, { queryList }: PageRequest): Promise<PackedOrder[]> {
  const orderIds = chosenIds(queryList('id'));
  const [orders, shipments] = await Promise.all([
    findWholeOrdersById(db, shopId, orderIds),
    findShipments(db, shopId, orderIds),
  ]);
  return orders.map((order) => {
    const { content, orderNumber } = order;
    const sent = shipments.filter(({ orderId }) => orderId === order.orderId);
    const rest = unshippedLines(content, sent);
    const parts = rest.length > 0 ? rest : content.lines;
    const lines = parts.map(({ lineItemId, quantity }) => ({
      orderNumber,
      line: content.lines.find((line) => line.lineItemId === lineItemId)!,
      quantity,
    }));
    return { order, lines };
  });
}

function printPage(visit: ShopVisit, title: string, packed: readonly PackedOrder[], main: Markup): AdminPage {
  const messages = visit.messages.orders.bulk;
  const count = packed.length;
  return {
    title,
    menu: 'orders',
    breadcrumbs: [
      { href: adminPath(visit, '/orders'), text: visit.messages.layout.menuEntries.orders },
      // After printing a single order, the user continues with it.
      ...(count === 1 ? packed.map(({ order }) => orderStep(visit, order)) : []),
    ],
    actions: count > 0 && html`<button class="main with-script" data-print>${messages.print}</button>`,
    main: count > 0 ? main : html`<p class="empty">${messages.none}</p>`,
    scripts: [PRINT_SCRIPT],
  };
}

function orderStep(visit: ShopVisit, { orderId, orderNumber }: OrderRow) {
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
    <p class="lines">${recipient}</p>
    <h2>${messages.orders.title({ number: orderNumber })}</h2>
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
  </article>`;
}

function pickTable(visit: ShopVisit, packed: readonly PackedOrder[]): Markup {
  const messages = visit.messages.orders.bulk;
  const products = pickList(packed.flatMap(({ lines }) => lines));
  return html`<div class="card scroll">
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
