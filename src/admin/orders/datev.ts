import { csvLine } from '../../catalogue/products/csv-cells.ts';
import { badRequest } from '../../http/errors.ts';
import { newPauses } from '../../http/pauses.ts';
import type { ZipEntry } from '../../http/zip.ts';
import { toDecimal } from '../../kernel/money.ts';
import { ledgerOf, type Ledger } from '../../orders/datev/accounts.ts';
import {
  debtorOf,
  documentBookings,
  fiscalYearOf,
  paymentBookings,
  type BookedDocument,
  type BookedPayment,
} from '../../orders/datev/bookings.ts';
import {
  bookingRow,
  debtorRow,
  startOfFile,
  type BatchHeader,
  type Booking,
} from '../../orders/datev/extf.ts';
import { countPayments, findBookedDocuments, findBookedPayments } from '../../orders/datev/queries.ts';
import type { ShopVisit } from '../visit.ts';
import { countPeriodDocuments, type AccountingPeriod } from './accounting-queries.ts';
import { inParts } from './in-parts.ts';

/** Documents, and as many payments: more would be too large for the memory. */
const MAX_BOOKED = 50_000;
const ROWS_AT_ONCE = 200;
/** DATEV accepts 99,999 rows in a file; one of these is in memory at a time. */
const MAX_FILE_ROWS = 20_000;
const CURRENCY = 'EUR';

export interface DatevBatch {
  header: BatchHeader;
  ledger: Ledger;
}

/** DATEV needs the numbers of the accountant and the client. */
export function hasDatevNumbers({ accounting }: Pick<ShopVisit['settings'], 'accounting'>): boolean {
  return accounting.advisorNumber !== undefined && accounting.clientNumber !== undefined;
}

/** The header of the files of a period. Refuses a period that DATEV would not accept. */
export async function datevBatch(
  { db, shopId, settings, messages, language }: ShopVisit,
  period: AccountingPeriod,
  { from, to }: { from: string; to: string },
): Promise<DatevBatch> {
  const { advisorNumber, clientNumber, fiscalYearStart: start } = settings.accounting;
  if (advisorNumber === undefined || clientNumber === undefined) {
    throw badRequest(messages.accounting.datevUnset);
  }
  const fiscalYearStart = fiscalYearOf(from, start);
  if (fiscalYearOf(to, start) !== fiscalYearStart) throw badRequest(messages.accounting.datevYears);
  const [documents, payments] = await Promise.all([
    countPeriodDocuments(db, shopId, period, MAX_BOOKED + 1),
    countPayments(db, shopId, period, MAX_BOOKED + 1),
  ]);
  if (Math.max(documents, payments) > MAX_BOOKED) {
    throw badRequest(messages.accounting.datevTooMany({ most: MAX_BOOKED.toLocaleString(language) }));
  }
  const ledger = ledgerOf(settings.accounting);
  const { accountLength, chartId } = ledger;
  return {
    header: {
      createdAt: db.now,
      advisorNumber,
      clientNumber,
      fiscalYearStart,
      from,
      to,
      accountLength,
      chartId,
    },
    ledger,
  };
}

/** The bookings, in files of limited size, then the debtors, and a list of what DATEV cannot take. */
export async function* datevFiles(
  visit: ShopVisit,
  period: AccountingPeriod,
  { header, ledger }: DatevBatch,
): AsyncGenerator<ZipEntry> {
  const pause = newPauses();
  const at = header.createdAt;
  const debtors = new Map<string, Buffer>();
  const leftOut: string[] = [];
  let rows: Buffer[] = [];
  let files = 0;
  const bookingFile = (): ZipEntry => {
    const bytes = Buffer.concat([startOfFile('bookings', header), ...rows]);
    rows = [];
    return { name: `EXTF_Buchungsstapel_${String(++files).padStart(3, '0')}.csv`, bytes, at };
  };
  for await (const { bookings, debtor, left } of bookedRows(visit, period, ledger)) {
    if (left) leftOut.push(left);
    if (bookings.length > 0 && !debtors.has(debtor.account)) debtors.set(debtor.account, debtorRow(debtor));
    rows.push(...bookings.map(bookingRow));
    if (rows.length >= MAX_FILE_ROWS) yield bookingFile();
    await pause();
  }
  if (rows.length > 0 || files === 0) yield bookingFile();
  const known = Buffer.concat([startOfFile('debtors', header), ...debtors.values()]);
  yield { name: 'EXTF_DebKred_Stamm.csv', bytes: known, at };
  if (leftOut.length > 0) {
    const name = `${visit.messages.accounting.datevLeftOut}.csv`;
    yield { name, bytes: Buffer.from(`\u{FEFF}${leftOut.join('')}`), at };
  }
}

/** Documents first, then payments; those in another currency than euros, of which DATEV wants the rate, are left out. */
async function* bookedRows({ db, shopId }: ShopVisit, period: AccountingPeriod, ledger: Ledger) {
  const documents = inParts(period, (part) => findBookedDocuments(db, shopId, period, part), {
    limit: ROWS_AT_ONCE,
    placeOf: ({ issuedAt, documentId }) => ({ at: issuedAt, id: documentId }),
  });
  for await (const document of documents) {
    const { content, kind, number } = document;
    const gross = content.taxes.reduce(
      (sum, { amount, tax }) => sum + amount + (content.taxType === 'GROSS' ? 0 : tax),
      0,
    );
    yield bookedRow(document, content.currency, ledger, {
      address: document.address,
      bookings: () => documentBookings(document, ledger),
      left: [kind, String(number), String(toDecimal(gross, content.currency)), content.currency],
    });
  }
  const payments = inParts(period, (part) => findBookedPayments(db, shopId, period, part), {
    limit: ROWS_AT_ONCE,
    placeOf: ({ at, paymentId }) => ({ at, id: paymentId }),
  });
  for await (const payment of payments) {
    const { kind, orderNumber, amount, currency } = payment;
    yield bookedRow(payment, currency, ledger, {
      address: payment.billingAddress,
      bookings: () => paymentBookings(payment, ledger),
      left: [kind, orderNumber, String(toDecimal(amount, currency)), currency],
    });
  }
}

function bookedRow(
  { customerNumber, vatNumber }: Pick<BookedDocument | BookedPayment, 'customerNumber' | 'vatNumber'>,
  currency: string,
  ledger: Ledger,
  given: { address: BookedDocument['address']; bookings: () => Booking[]; left: string[] },
) {
  const isBooked = currency === CURRENCY;
  return {
    bookings: isBooked ? given.bookings() : [],
    debtor: debtorOf(given.address, { customerNumber, vatNumber, ledger }),
    left: isBooked ? undefined : csvLine(given.left),
  };
}
