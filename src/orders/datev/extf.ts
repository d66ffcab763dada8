import { readJson } from '../../kernel/json-file.ts';
import type columnTitles from './columns.json';
import { toWindows1252 } from '../../kernel/windows-1252.ts';

/**
 * Files in DATEV's format for other programs (EXTF, version 700): a header, the titles of the columns, and rows with
 * semicolons, decimal commas, CRLF, in Windows-1252. Texts stand in quotes, numbers and dates do not.
 */

const titles = readJson(new URL('./columns.json', import.meta.url)) as typeof columnTitles;

/** A debit (S) or credit (H) of `account`, against `contra`. */
export interface Booking {
  /** Cents, positive. */
  amount: number;
  side: 'S' | 'H';
  account: string;
  contra: string;
  taxKey?: string | undefined;
  /** `2026-11-15` */
  date: string;
  /** The number of the invoice, by which DATEV settles open items. */
  reference: string;
  secondReference?: string | undefined;
  text: string;
  /** The VAT number of the buyer, or the country of a distance sale with its rate in basis points. */
  euCountry?: string | undefined;
  euRate?: number | undefined;
  /** Of a distance sale: the VAT number of the seller, or else the country that the goods leave from. */
  euOrigin?: string | undefined;
  orderNumber: string;
}

export interface Debtor {
  account: string;
  company: string;
  firstName: string;
  lastName: string;
  vatNumber: string;
  street: string;
  zipCode: string;
  city: string;
  country: string;
  email: string;
  phone: string;
  customerNumber: string;
}

export interface BatchHeader {
  createdAt: Date;
  advisorNumber: number;
  clientNumber: number;
  /** Days: `2026-01-01` */
  fiscalYearStart: string;
  from: string;
  to: string;
  accountLength: number;
  chartId: '03' | '04';
}

const FORMATS = {
  bookings: { category: 21, name: 'Buchungsstapel', version: 13 },
  debtors: { category: 16, name: 'Debitoren/Kreditoren', version: 5 },
} as const;

type FileKind = keyof typeof FORMATS;

/** The lines before the rows. */
export function startOfFile(kind: FileKind, header: BatchHeader): Buffer {
  return toWindows1252(headerLine(kind, header) + line(titles[kind]));
}

const line = (cells: readonly string[]) => `${cells.join(';')}\r\n`;

function headerLine(kind: FileKind, header: BatchHeader): string {
  const { category, name, version } = FORMATS[kind];
  const isBatch = kind === 'bookings';
  const cells = [
    text('EXTF', 4),
    '700',
    String(category),
    text(name, 30),
    String(version),
    header.createdAt.toISOString().replaceAll(/\D/g, ''),
    '',
    // Where it comes from: RE, as invoicing programs write.
    text('RE', 2),
    text('Kontor', 25),
    text('', 0),
    String(header.advisorNumber),
    String(header.clientNumber),
    digitsOf(header.fiscalYearStart),
    String(header.accountLength),
    isBatch ? digitsOf(header.from) : '',
    isBatch ? digitsOf(header.to) : '',
    text(isBatch ? `Kontor ${header.from} ${header.to}` : 'Kontor', 30),
    text('', 0),
    // Financial accounting, for all purposes; not locked, so that the accountant can still change it.
    isBatch ? '1' : '',
    isBatch ? '0' : '',
    isBatch ? '0' : '',
    text(isBatch ? 'EUR' : '', 3),
    '',
    text('', 0),
    '',
    '',
    text(header.chartId, 2),
    '',
    '',
    text('', 0),
    text('', 0),
  ];
  return line(cells);
}

const digitsOf = (day: string) => day.replaceAll('-', '');

/** A text in quotes, in one line, cut to its length. */
function text(value: string, length: number): string {
  const clean = value
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, length)
    .trim()
    .toWellFormed();
  return `"${clean.split('"').join('""')}"`;
}

/** References have letters, digits and a few signs. */
const reference = (value: string, length: number) =>
  text(value.replaceAll(/[^A-Za-z0-9$&%*+\-/]/g, ''), length);

/** `1234,56` */
function decimal(hundredths: number): string {
  const digits = String(hundredths).padStart(3, '0');
  return `${digits.slice(0, -2)},${digits.slice(-2)}`;
}

/** Places of the columns, counted from 0. */
const BOOKING = columnsOf('bookings', {
  amount: 'Umsatz (ohne Soll/Haben-Kz)',
  side: 'Soll/Haben-Kennzeichen',
  currency: 'WKZ Umsatz',
  account: 'Konto',
  contra: 'Gegenkonto (ohne BU-Schlüssel)',
  taxKey: 'BU-Schlüssel',
  date: 'Belegdatum',
  reference: 'Belegfeld 1',
  secondReference: 'Belegfeld 2',
  text: 'Buchungstext',
  euCountry: 'EU-Land u. UStID (Bestimmung)',
  euRate: 'EU-Steuersatz (Bestimmung)',
  orderNumber: 'Auftragsnummer',
  isLocked: 'Festschreibung',
  euOrigin: 'EU-Land u. UStID (Ursprung)',
});

const DEBTOR = columnsOf('debtors', {
  account: 'Konto',
  company: 'Name (Adressattyp Unternehmen)',
  lastName: 'Name (Adressattyp natürl. Person)',
  firstName: 'Vorname (Adressattyp natürl. Person)',
  kind: 'Adressattyp',
  euCountry: 'EU-Land',
  vatNumber: 'EU-UStID',
  addressKind: 'Adressart',
  street: 'Straße',
  zipCode: 'Postleitzahl',
  city: 'Ort',
  country: 'Land',
  phone: 'Telefon',
  email: 'E-Mail',
  customerNumber: 'Kundennummer',
});

function columnsOf<Name extends string>(
  kind: FileKind,
  names: Readonly<Record<Name, string>>,
): Readonly<Record<Name, number>> {
  const places = Object.entries<string>(names).map(([name, title]) => [name, titles[kind].indexOf(title)]);
  return Object.fromEntries(places) as Record<Name, number>;
}

function row<Name extends string>(
  kind: FileKind,
  places: Readonly<Record<Name, number>>,
  values: Readonly<Record<Name, string>>,
): Buffer {
  const cells = Array.from({ length: titles[kind].length }, () => '');
  for (const name of Object.keys(places) as Name[]) cells[places[name]] = values[name];
  return toWindows1252(line(cells));
}

export function bookingRow(booking: Booking): Buffer {
  const { amount, side, account, contra, taxKey = '', date, euCountry, euRate, euOrigin } = booking;
  return row('bookings', BOOKING, {
    amount: decimal(amount),
    side: text(side, 1),
    currency: text('EUR', 3),
    account,
    contra,
    taxKey: taxKey === '' ? '' : text(taxKey, 4),
    date: `${date.slice(8, 10)}${date.slice(5, 7)}`,
    reference: reference(booking.reference, 36),
    secondReference: booking.secondReference === undefined ? '' : reference(booking.secondReference, 12),
    text: text(booking.text, 60),
    euCountry: euCountry === undefined ? '' : text(euCountry, 15),
    // Two digits before the comma, as its format demands: 05,50.
    euRate: euRate === undefined ? '' : decimal(euRate).padStart(5, '0'),
    euOrigin: euOrigin === undefined ? '' : text(euOrigin, 15),
    orderNumber: text(booking.orderNumber, 30),
    isLocked: '0',
  });
}

export function debtorRow(debtor: Debtor): Buffer {
  const { account, company, firstName, lastName, vatNumber } = debtor;
  const isCompany = company !== '';
  const optional = (value: string, length: number) => (value === '' ? '' : text(value, length));
  return row('debtors', DEBTOR, {
    account,
    company: isCompany ? text(company, 50) : '',
    lastName: isCompany ? '' : text(lastName, 30),
    firstName: isCompany ? '' : optional(firstName, 30),
    // 1: a person, 2: a company.
    kind: text(isCompany ? '2' : '1', 1),
    euCountry: optional(vatNumber.slice(0, 2), 2),
    vatNumber: optional(vatNumber.slice(2), 13),
    addressKind: text('STR', 3),
    street: optional(debtor.street, 36),
    zipCode: optional(debtor.zipCode, 10),
    city: optional(debtor.city, 30),
    country: optional(debtor.country, 2),
    phone: optional(debtor.phone, 60),
    email: optional(debtor.email, 60),
    customerNumber: optional(debtor.customerNumber, 15),
  });
}
