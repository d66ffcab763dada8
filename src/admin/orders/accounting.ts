import path from 'node:path';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { csvLine, escapeFormula } from '../../catalogue/products/csv-cells.ts';
import { dayOf, isDate } from '../../http/dates.ts';
import { badRequest } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import type { PageRequest } from '../../http/page-kit.ts';
import { newPauses } from '../../http/pauses.ts';
import { createTurns } from '../../http/turns.ts';
import { zipArchive, type ZipEntry } from '../../http/zip.ts';
import { currencyDigits, toDecimal } from '../../kernel/money.ts';
import { orderState } from '../../orders/order-state.ts';
import { fullName } from '../../orders/documents/address-lines.ts';
import { filesOf, sha256Of } from '../../orders/documents/file.ts';
import { negated, taxRows, type TaxRow } from '../../orders/tax-rows.ts';
import type { Content } from '../../pricing/content.ts';
import type { Address } from '../../shops/countries/address.ts';
import { decimalText, usesComma } from '../components/decimal.ts';
import { textField } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import {
  countPeriodDocuments,
  findAccountedOrders,
  findCreditNotes,
  findPeriodDocuments,
  type AccountedCreditNote,
  type AccountedOrder,
  type AccountingPeriod,
} from './accounting-queries.ts';
import { datevBatch, datevFiles, hasDatevNumbers } from './datev.ts';
import { documentTitleIn } from './documents.ts';
import { inParts } from './in-parts.ts';
import { paymentChips } from './states.ts';

const DAY = 86_400_000;
const MAX_DAYS = 366;
/** Some hundred megabytes; the format of the archive ends at 4 GB. */
const MAX_DOCUMENTS = 10_000;
const ROWS_AT_ONCE = 200;
/** Files that are in memory at the same time. */
const FILES_AT_ONCE = 10;
/** Milliseconds: a slower download gives its place to the next one. */
const MAX_DOWNLOAD_TIME = 3_600_000;

/** Long downloads of a shop, one after the other; a few may wait. */
const AT_THE_SAME_TIME = { running: 1, waiting: 3 };

/** The files that an accountant needs of a period: the tax of every order, and the documents. */
export function accountingPages(pages: ShopPages): void {
  const inTurn = createTurns(AT_THE_SAME_TIME);

  /** The stream begins when it is the shop's turn, and its turn ends with the download. */
  const download = (shopId: string, parts: () => AsyncGenerator<string | Buffer>) =>
    new Promise<Readable>((resolve, reject) => {
      inTurn(shopId, async () => {
        const content = Readable.from(parts(), { objectMode: false });
        resolve(content);
        const timer = setTimeout(() => content.destroy(new Error('too slow')), MAX_DOWNLOAD_TIME);
        // A client that goes away ends the stream with an error, which is no failure of the service.
        await finished(content).catch(() => undefined);
        clearTimeout(timer);
      }).catch(reject);
    });

  pages.get('/orders/accounting', 'orders_read', async (visit, request) => {
    const messages = visit.messages.accounting;
    const { from, to } = typedPeriod(visit, request);
    return {
      title: messages.title,
      menu: 'orders',
      breadcrumbs: [{ href: adminPath(visit, '/orders'), text: visit.messages.layout.menuEntries.orders }],
      main: html`<form method="get" class="card" hx-boost="false">
        <p class="hint">${messages.intro}</p>
        <div class="row">
          ${textField({ name: 'from', label: messages.from, type: 'date', value: from })}
          ${textField({ name: 'to', label: messages.to, type: 'date', value: to })}
        </div>
        <p class="actions">
          <button class="main" formaction="${adminPath(visit, '/orders/accounting/orders.csv')}">
            ${messages.csv}
          </button>
          <button formaction="${adminPath(visit, '/orders/accounting/documents.zip')}">
            ${messages.zip}
          </button>
          ${
            hasDatevNumbers(visit.settings) &&
            html`<button formaction="${adminPath(visit, '/orders/accounting/datev.zip')}">
              ${messages.datev}
            </button>`
          }
          <a class="button" href="${adminPath(visit, '/reports/taxes')}"
            >${visit.messages.taxReports.title}</a
          >
        </p>
        <p class="hint">${messages.csvHint}</p>
        <p class="hint">${messages.zipHint({ most: MAX_DOCUMENTS.toLocaleString(visit.language) })}</p>
        <p class="hint">
          ${messages.datevHint} ${!hasDatevNumbers(visit.settings) && messages.datevUnset}
          <a href="${adminPath(visit, '/settings/invoices')}#accounting">${messages.datevSettings}</a>
        </p>
      </form>`,
    };
  });

  pages.file('/orders/accounting/orders.csv', 'orders_read', async (visit, request) => {
    const period = periodOf(visit, request);
    return {
      type: 'text/csv; charset=utf-8',
      content: await download(visit.shopId, () => accountingText(visit, period)),
      fileName: `${visit.messages.accounting.fileName}-${daysText(period)}.csv`,
    };
  });

  pages.file('/orders/accounting/documents.zip', 'orders_read', async (visit, request) => {
    const period = periodOf(visit, request);
    const { db, shopId, messages } = visit;
    if ((await countPeriodDocuments(db, shopId, period, MAX_DOCUMENTS + 1)) > MAX_DOCUMENTS) {
      throw badRequest(messages.accounting.tooMany({ most: MAX_DOCUMENTS.toLocaleString(visit.language) }));
    }
    return {
      type: 'application/zip',
      content: await download(shopId, () => zipArchive(documentFiles(visit, period))),
      fileName: `${messages.accounting.zipName}-${daysText(period)}.zip`,
    };
  });

  pages.file('/orders/accounting/datev.zip', 'orders_read', async (visit, request) => {
    const period = periodOf(visit, request);
    const days = { from: dayOf(period.from), to: dayOf(new Date(period.end.getTime() - DAY)) };
    const batch = await datevBatch(visit, period, days);
    return {
      type: 'application/zip',
      content: await download(visit.shopId, () => zipArchive(datevFiles(visit, period, batch))),
      fileName: `datev-${daysText(period)}.zip`,
    };
  });
}

/** The period of the fields: as typed, or the month before this one. */
function typedPeriod({ db }: Pick<ShopVisit, 'db'>, request: PageRequest): { from: string; to: string } {
  const firstOfMonth = (months: number) =>
    new Date(Date.UTC(db.now.getUTCFullYear(), db.now.getUTCMonth() - months, 1));
  const typed = (name: string) => {
    const text = request.query(name) ?? '';
    return isDate(text) ? text : undefined;
  };
  return {
    from: typed('from') ?? dayOf(firstOfMonth(1)),
    to: typed('to') ?? dayOf(new Date(firstOfMonth(0).getTime() - DAY)),
  };
}

function periodOf(visit: ShopVisit, request: PageRequest): AccountingPeriod {
  const { from, to } = typedPeriod(visit, request);
  const period = { from: new Date(from), end: new Date(Date.parse(to) + DAY) };
  const days = (period.end.getTime() - period.from.getTime()) / DAY;
  if (days < 1 || days > MAX_DAYS) {
    throw badRequest(visit.messages.accounting.badPeriod({ days: String(MAX_DAYS) }));
  }
  return period;
}

const daysText = ({ from, end }: AccountingPeriod) =>
  `${dayOf(from)}-${dayOf(new Date(end.getTime() - DAY))}`;

/** Orders first, then credit notes with negative amounts. */
async function* accountingText(visit: ShopVisit, period: AccountingPeriod): AsyncGenerator<string> {
  const { db, shopId } = visit;
  const pause = newPauses();
  const titles = visit.messages.accounting.columns;
  // Spreadsheets take a file for UTF-8 when it begins with this mark.
  yield `\u{FEFF}${line(visit, Object.values(titles))}`;
  const orders = inParts(period, (part) => findAccountedOrders(db, shopId, period, part), {
    limit: ROWS_AT_ONCE,
    placeOf: ({ createdAt, orderId }) => ({ at: createdAt, id: orderId }),
  });
  for await (const order of orders) {
    yield orderText(visit, order);
    await pause();
  }
  const notes = inParts(period, (part) => findCreditNotes(db, shopId, period, part), {
    limit: ROWS_AT_ONCE,
    placeOf: ({ issuedAt, documentId }) => ({ at: issuedAt, id: documentId }),
  });
  for await (const note of notes) {
    yield creditNoteText(visit, note);
    await pause();
  }
}

/**
 * Each document with its files, a few in memory at a time, and at the end their checksums: `sha256sum -c` reads them.
 */
async function* documentFiles(visit: ShopVisit, period: AccountingPeriod): AsyncGenerator<ZipEntry> {
  const documents = inParts(period, (part) => findPeriodDocuments(visit.db, visit.shopId, period, part), {
    limit: FILES_AT_ONCE,
    placeOf: ({ issuedAt, documentId }) => ({ at: issuedAt, id: documentId }),
  });
  const checksums: string[] = [];
  for await (const document of documents) {
    const title = documentTitleIn(visit, document).replaceAll(/[^\p{L}\p{N}]+/gu, '-');
    for (const { name: fileName, bytes } of await filesOf(document)) {
      const name = `${title}${path.extname(fileName)}`;
      checksums.push(`${sha256Of(bytes)}  ${name}\n`);
      yield { name, bytes, at: document.issuedAt };
    }
  }
  if (checksums.length === 0) return;
  yield { name: 'SHA256SUMS', bytes: Buffer.from(checksums.join('')), at: visit.db.now };
}

interface Booked {
  kind: string;
  orderNumber: string;
  orderedOn: string;
  documentNumbers: string;
  documentDates: string;
  creditedInvoice: string;
  address: Address;
  country: string;
  content: Pick<Content, 'currency'>;
  payment: Content['payment'];
  paymentState: string;
  paidOn: string;
}

function orderText(visit: ShopVisit, order: AccountedOrder): string {
  const { messages } = visit;
  const { billingAddress, shippingAddress, content, invoices, paidOn } = order;
  const states = paymentChips({
    ...order,
    state: orderState(order),
    paid: order.paidAmount,
    refunded: order.refundedAmount,
  });
  return rowsText(visit, taxRows(content), {
    kind: messages.accounting.kinds.order,
    orderNumber: order.orderNumber,
    orderedOn: dayOf(order.createdAt),
    documentNumbers: invoices.map(({ number }) => number).join(', '),
    documentDates: invoices.map(({ issuedAt }) => dayOf(new Date(issuedAt))).join(', '),
    creditedInvoice: '',
    address: billingAddress,
    country: (shippingAddress ?? billingAddress).country ?? '',
    content,
    payment: content.payment,
    paymentState: states.map(({ name }) => messages.orders.chips[name]).join(', '),
    paidOn: paidOn ? dayOf(paidOn) : '',
  });
}

function creditNoteText(visit: ShopVisit, note: AccountedCreditNote): string {
  const { terms, content } = note;
  return rowsText(visit, taxRows(content).map(negated), {
    kind: visit.messages.accounting.kinds.creditNote,
    orderNumber: terms.orderNumber,
    orderedOn: terms.orderedOn,
    documentNumbers: String(note.number),
    documentDates: dayOf(note.issuedAt),
    creditedInvoice: terms.invoice ? String(terms.invoice.number) : '',
    address: JSON.parse(note.address) as Address,
    country: terms.deliveryCountry,
    content,
    payment: note.payment,
    paymentState: '',
    paidOn: '',
  });
}

/** The columns are those of `messages.accounting.columns`, in the same order. */
function rowsText(visit: ShopVisit, rows: readonly TaxRow[], booked: Booked): string {
  const { language } = visit;
  const { currency } = booked.content;
  const { address } = booked;
  const money = (minor: number) =>
    decimalText(toDecimal(minor, currency), language, currencyDigits(currency));
  return rows
    .map(({ rate, net, tax, gross }) =>
      line(visit, [
        booked.kind,
        escapeFormula(booked.orderNumber),
        booked.orderedOn,
        booked.documentNumbers,
        booked.documentDates,
        booked.creditedInvoice,
        escapeFormula(fullName(address)),
        escapeFormula(address.company ?? ''),
        escapeFormula(address.vatId ?? ''),
        escapeFormula(booked.country),
        decimalText(rate / 100, language),
        money(net),
        money(tax),
        money(gross),
        currency,
        escapeFormula(paymentName(visit, booked.payment)),
        booked.paymentState,
        booked.paidOn,
      ]),
    )
    .join('');
}

function paymentName({ locale, settings }: ShopVisit, payment: Content['payment']): string {
  const named = payment?.method && textIn(payment.method.name, locale, settings.defaultLocale);
  return named ?? payment?.name ?? '';
}

/** Where the decimal sign is a comma, spreadsheets expect semicolons between the cells. */
const line = ({ language }: ShopVisit, cells: readonly string[]) =>
  csvLine(cells, usesComma(language) ? ';' : ',');
