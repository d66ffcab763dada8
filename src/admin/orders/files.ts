import { Readable } from 'node:stream';
import type { Database } from '../../db/database.ts';
import { csvLine, escapeFormula } from '../../catalogue/products/csv-cells.ts';
import { notFound } from '../../http/errors.ts';
import { newPauses } from '../../http/pauses.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { toDecimal } from '../../kernel/money.ts';
import { addresseeName } from '../../orders/documents/address-lines.ts';
import { printOf } from '../../orders/documents/pdf.ts';
import { toDocumentFacts, findInvoices } from '../../orders/documents/queries.ts';
import {
  findManagedOrders,
  findWholeManagedOrders,
  type ListedManagedOrder,
  type OrderFilter,
  type OrderSort,
} from '../../orders/list.ts';
import type { ManagedOrder } from '../../orders/queries.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { listState } from '../components/list-state.ts';
import { decimalText, usesComma } from '../components/decimal.ts';
import { adminMessagesIn, type AdminMessages, type Language } from '../messages.ts';
import type { ShopPages } from '../pages.ts';
import type { ShopVisit } from '../visit.ts';
import { columnFields, fieldTexts } from '../fields/field-columns.ts';
import { customFieldName } from '../fields/field-inputs.ts';
import { chosenIds, MAX_AT_ONCE } from './bulk.ts';
import { lineRows } from './line-rows.ts';
import { findOrderPage } from './orders.ts';

/** Files about many orders: their invoices for printing, and the list for a spreadsheet. */
export function orderFiles(pages: ShopPages): void {
  pages.file('/orders/files/:name', 'orders_read', async (visit, request) => {
    const { name } = request.params;
    if (name === 'invoices.pdf') {
      const ids = chosenIds(request.queryList('id'));
      const [first, ...others] = await findInvoices(visit.db, visit.shopId, ids, MAX_AT_ONCE);
      if (!first) throw notFound();
      return {
        type: 'application/pdf',
        content: await printOf([toDocumentFacts(first), ...others.map(toDocumentFacts)]),
      };
    }
    if (name === 'orders.csv') {
      const state = listState(request, []);
      const content = Readable.from(listText(visit, state), { objectMode: false });
      return { type: 'text/csv; charset=utf-8', content, fileName: name };
    }
    throw notFound();
  });
}

const ROWS_AT_ONCE = 200;
/** A spreadsheet holds a million rows; no one reads more than these. */
const MAX_ROWS = 50_000;

async function* listText(
  visit: ShopVisit,
  state: Parameters<typeof findOrderPage>[1],
): AsyncGenerator<string> {
  const pause = newPauses();
  const fields = columnFields(visit.settings, 'order');
  yield orderTitles(
    visit.messages,
    fields.map((field) => escapeFormula(customFieldName(field, visit))),
  );
  for (let offset = 0; offset < MAX_ROWS; offset += ROWS_AT_ONCE) {
    const { rows } = await findOrderPage(visit, { ...state, limit: ROWS_AT_ONCE, offset });
    const textOf = await fieldTexts(
      visit,
      fields,
      rows.map(({ orderId }) => orderId),
    );
    yield rows
      .map((row) =>
        csvLine([
          ...orderCells(row, visit.language),
          ...fields.map((field) => escapeFormula(textOf(field, row.orderId))),
        ]),
      )
      .join('');
    await pause();
    if (rows.length < ROWS_AT_ONCE) return;
  }
}

/** All orders of a shop, newest first; orders placed meanwhile are not included. */
export async function* orderFile(db: Database, shopId: string, language: Language): AsyncGenerator<string> {
  const pause = newPauses();
  yield orderTitles(adminMessagesIn(language));
  for await (const orders of everyPage(db, (filter, sort) => findManagedOrders(db, shopId, filter, sort))) {
    yield orderLines(orders, language);
    await pause();
  }
}

/** The same with one row per order line, preceded by the columns of the order. */
export async function* orderLineFile(
  db: Database,
  settings: Settings,
  language: Language,
): AsyncGenerator<string> {
  const messages = adminMessagesIn(language);
  const titles = messagesIn(settings.defaultLocale).documents;
  yield orderTitles(messages, [
    titles.article,
    titles.name,
    titles.quantity,
    messages.products.fields.unit,
    titles.unitPrice,
    titles.amount,
    `${titles.taxRate} %`,
  ]);
  const { shopId } = settings;
  const pause = newPauses();
  for await (const orders of everyPage(db, (filter, sort) =>
    findWholeManagedOrders(db, shopId, filter, sort),
  )) {
    for (const order of orders) {
      yield lineTexts(order, settings, language).join('');
      await pause();
    }
  }
}

async function* everyPage<Order>(
  db: Database,
  find: (filter: OrderFilter, sort: OrderSort) => Promise<{ orders: Order[] }>,
): AsyncGenerator<Order[]> {
  const filter: OrderFilter = {
    createdAfter: null,
    createdBefore: db.now,
    states: { asked: 0, set: 0 },
    currency: null,
    customerId: null,
    productId: null,
    updatedFrom: null,
  };
  for (let offset = 0; ; offset += ROWS_AT_ONCE) {
    const { orders } = await find(filter, { by: 'created', limit: ROWS_AT_ONCE, offset });
    yield orders;
    if (orders.length < ROWS_AT_ONCE) return;
  }
}

function orderTitles({ orders }: AdminMessages, more: readonly string[] = []): string {
  const titles = orders.columns;
  // Spreadsheets take a file for UTF-8 when it begins with this mark.
  return `\u{FEFF}${csvLine([
    titles.number,
    titles.date,
    titles.customer,
    titles.email,
    titles.country,
    titles.total,
    orders.currency,
    orders.totals.paid,
    orders.totals.refunded,
    orders.chips.shipped,
    orders.chips.cancelled,
    ...more,
  ])}`;
}

function orderLines(rows: readonly ListedManagedOrder[], language: Language): string {
  return rows.map((row) => csvLine(orderCells(row, language))).join('');
}

function lineTexts(order: ManagedOrder, settings: Settings, language: Language): string[] {
  const cells = orderCells(order, language);
  const money = (minor: number | null) => (minor === null ? '' : amountText(minor, order.currency, language));
  return lineRows(order.content, settings).map((row) =>
    csvLine([
      ...cells,
      escapeFormula(row.number),
      escapeFormula(row.name),
      usesComma(language) ? row.quantity.replace('.', ',') : row.quantity,
      row.unit,
      money(row.unitPrice),
      money(row.amount),
      row.taxRate === null ? '' : decimalText(row.taxRate / 100, language),
    ]),
  );
}

/** As a spreadsheet in this language reads a number: `14,34` in German. */
function amountText(minor: number, currency: string, language: Language): string {
  return decimalText(toDecimal(minor, currency), language);
}

function orderCells(order: Omit<ListedManagedOrder, 'isPartlyReturned'>, language: Language): string[] {
  const { billingAddress, shippingAddress, currency, content } = order;
  const day = (moment: Date | null) => moment?.toISOString().slice(0, 10) ?? '';
  const money = (minor: number) => amountText(minor, currency, language);
  return [
    escapeFormula(order.orderNumber),
    day(order.createdAt),
    escapeFormula(addresseeName(billingAddress)),
    escapeFormula(billingAddress.emailAddress ?? ''),
    (shippingAddress ?? billingAddress).country ?? '',
    money(content.grandTotal),
    currency,
    money(order.paidAmount),
    money(order.refundedAmount),
    day(order.dispatchedOn),
    day(order.cancelledAt),
  ];
}
