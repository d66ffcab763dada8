import { expect, test } from 'vitest';
import { TAX_TREATMENTS } from '../../shops/taxes/treatments.ts';
import type { Address } from '../../shops/countries/address.ts';
import { ledgerOf } from './accounts.ts';
import { documentBookings, fiscalYearOf, paymentBookings, type BookedDocument } from './bookings.ts';
import { bookingRow, debtorRow, startOfFile } from './extf.ts';
import { toWindows1252, withUpperCharacters } from '../../kernel/windows-1252.ts';

const header = {
  createdAt: new Date('2026-11-18T10:20:30.456Z'),
  advisorNumber: 29_098,
  clientNumber: 55_003,
  fiscalYearStart: '2026-01-01',
  from: '2026-07-01',
  to: '2026-09-30',
  accountLength: 4,
  chartId: '03' as const,
};

test('the header is the one of format 700, version 13, with 125 columns', () => {
  const [first, titles, rest] = startOfFile('bookings', header).toString('latin1').split('\r\n');
  expect(first).toBe(
    '"EXTF";700;21;"Buchungsstapel";13;20261118102030456;;"RE";"Kontor";"";29098;55003;20260101;4;20260701;20260930;' +
      '"Kontor 2026-07-01 2026-09-30";"";1;0;0;"EUR";;"";;;"03";;;"";""',
  );
  expect(first!.split(';')).toHaveLength(31);
  expect(titles!.split(';')).toHaveLength(125);
  expect(rest).toBe('');
  const debtors = startOfFile('debtors', header).toString('latin1').split('\r\n');
  expect(debtors[0]).toContain('"EXTF";700;16;"Debitoren/Kreditoren";5;');
  expect(debtors[0]!.split(';')).toHaveLength(31);
  expect(debtors[1]!.split(';')).toHaveLength(254);
});

const address = {
  title: null,
  firstName: 'Zoë',
  middleName: null,
  lastName: 'Müller "Ü"',
  company: null,
  country: 'DE',
} as Address;
const invoice: BookedDocument = {
  documentId: 'D',
  kind: 'Invoice',
  number: 1001,
  issuedAt: new Date('2026-07-05T23:59:59Z'),
  address,
  customerNumber: '1234',
  orderNumber: 'ORD1/7',
  deliveryCountry: 'DE',
  sellerCountry: 'DE',
  sellerVatId: 'DE123456789',
  invoiceNumber: null,
  dueOn: '2026-07-19',
  vatNumber: null,
  content: {
    currency: 'EUR',
    taxType: 'GROSS',
    taxes: [
      { rate: 1900, treatment: 'domestic', amount: 11_900, tax: 1_900 },
      { rate: 700, treatment: 'domestic', amount: 107, tax: 7 },
      { rate: 1600, treatment: 'domestic', amount: 1_160, tax: 160 },
      { rate: 0, treatment: 'domestic', amount: 0, tax: 0 },
    ],
  },
};

test('an invoice is booked by rate on the debtor, on automatic accounts gross', () => {
  const bookings = documentBookings(invoice, ledgerOf({}));
  expect(bookings.map(({ amount, side, account, contra }) => [amount, side, account, contra])).toEqual([
    [11_900, 'S', '11234', '8400'],
    [107, 'S', '11234', '8300'],
    [1_000, 'S', '11234', '8200'],
    [160, 'S', '11234', '1770'],
  ]);
  const cells = bookingRow(bookings[0]!).toString('latin1').split(';');
  expect(cells).toHaveLength(125);
  expect(cells.slice(0, 14)).toEqual([
    '119,00',
    '"S"',
    '"EUR"',
    '',
    '',
    '',
    '11234',
    '8400',
    '',
    '0507',
    '"1001"',
    '"190726"',
    '',
    '"Rechnung 1001 Zoë Müller ""Ü"""',
  ]);
  expect(cells[113]).toBe('0');
  expect(cells[94]).toBe('"ORD1/7"');
});

test('a credit note is the reverse, under the number of its invoice', () => {
  const [booking] = documentBookings(
    { ...invoice, kind: 'CreditNote', number: 7, invoiceNumber: 1001, dueOn: null },
    ledgerOf({}),
  );
  expect(booking).toMatchObject({
    amount: 11_900,
    side: 'H',
    reference: '1001',
    secondReference: 'GS7',
    text: 'Gutschrift 7 Zoë Müller "Ü"',
  });
});

test.each([
  [
    'oss',
    'GR',
    2400,
    '8320',
    '4320',
    { taxKey: '240', euCountry: 'EL', euRate: 2400, euOrigin: 'DE123456789' },
  ],
  ['local', 'AT', 2000, '8320', '4320', { taxKey: '240', euCountry: 'AT', euRate: 2000 }],
  ['local', 'CH', 810, '8338', '4338', {}],
  ['intraCommunity', 'FR', 0, '8125', '4125', { euCountry: 'FR12345678901' }],
  ['reverseCharge', 'FR', 0, '8336', '4336', { euCountry: 'FR12345678901' }],
  ['export', 'CH', 0, '8120', '4120', {}],
  ['smallBusiness', 'DE', 0, '8195', '4185', {}],
] as const)('%s is booked on its account', (treatment, deliveryCountry, rate, skr03, skr04, facts) => {
  const document: BookedDocument = {
    ...invoice,
    deliveryCountry,
    vatNumber: 'FR12345678901',
    content: { currency: 'EUR', taxType: 'NET', taxes: [{ rate, treatment, amount: 1_000, tax: rate / 10 }] },
  };
  const [booking] = documentBookings(document, ledgerOf({ chart: 'SKR03' }));
  expect(booking).toMatchObject({ amount: 1_000 + rate / 10, contra: skr03, ...facts });
  expect(documentBookings(document, ledgerOf({ chart: 'SKR04' }))[0]!.contra).toBe(skr04);
  const own = ledgerOf({
    accountLength: 5,
    accounts: [{ treatment, country: deliveryCountry, account: '8999' }],
  });
  expect(documentBookings(document, own)[0]).toMatchObject({ contra: '89990', account: '101234' });
});

test('every treatment has an account', () => {
  for (const treatment of TAX_TREATMENTS) {
    const { account } = ledgerOf({}).revenue({ treatment, country: 'AT', rate: 0 });
    // Of a gift card that is sold, a liability.
    expect(account).toMatch(treatment === 'voucher' ? /^1700$/ : /^8\d{3}$/);
  }
});

test('payments and refunds are booked against the debtor', () => {
  const payment = {
    paymentId: 'P',
    at: new Date('2026-07-06T08:00:00Z'),
    kind: 'payment' as const,
    amount: 5_000,
    currency: 'EUR',
    isByProvider: true,
    isByGiftCard: false,
    orderNumber: 'ORD1/7',
    customerNumber: 'A-77',
    billingAddress: address,
    vatNumber: null,
    invoiceNumber: 1001,
  };
  const [paid] = paymentBookings(payment, ledgerOf({ debtors: 'collective', collectiveDebtor: '12345' }));
  expect(paid).toMatchObject({
    amount: 5_000,
    side: 'S',
    account: '1360',
    contra: '12345',
    reference: '1001',
  });
  const refund = { ...payment, kind: 'refund' as const, isByProvider: false, invoiceNumber: null };
  expect(paymentBookings(refund, ledgerOf({ chart: 'SKR04' }))[0]).toMatchObject({
    side: 'H',
    account: '1800',
    // A number that does not fit into the range shares an account.
    contra: '10000',
    reference: 'ORD1/7',
  });
});

test('debtors begin with the first account of the range, and never leave it', () => {
  const { debtor } = ledgerOf({});
  expect(['1', '59999', '60000', '0', 'x1'].map((number) => debtor(number))).toEqual([
    '10001',
    '69999',
    '10000',
    '10000',
    '10000',
  ]);
  const cells = debtorRow({
    account: '10001',
    company: 'Łódź & Söhne',
    firstName: 'A',
    lastName: 'B',
    vatNumber: 'PL1234567890',
    street: 'Straße 1',
    zipCode: '00-001',
    city: 'Łódź',
    country: 'PL',
    email: 'a@b.example',
    phone: '',
    customerNumber: '1',
  })
    .toString('latin1')
    .split(';');
  expect(cells).toHaveLength(254);
  expect(cells.slice(0, 10)).toEqual([
    '10001',
    '"Lódz & Söhne"',
    '',
    '',
    '',
    '',
    '"2"',
    '',
    '"PL"',
    '"1234567890"',
  ]);
  expect(cells.slice(14, 20)).toEqual(['"STR"', '"Straße 1"', '', '"00-001"', '"Lódz"', '"PL"']);
});

test('a distance sale names both countries, and its rate with two digits before the comma', () => {
  const document: BookedDocument = {
    ...invoice,
    deliveryCountry: 'FR',
    sellerVatId: null,
    content: {
      currency: 'EUR',
      taxType: 'NET',
      taxes: [{ rate: 550, treatment: 'oss', amount: 1_000, tax: 55 }],
    },
  };
  const [booking] = documentBookings(document, ledgerOf({}));
  const cells = bookingRow(booking!).toString('latin1').trimEnd().split(';');
  expect([cells[39], cells[40], cells[122], cells[123]]).toEqual(['"FR"', '05,50', '"DE"', '']);
});

test('Windows-1252 has its own characters, and others are replaced', () => {
  expect([...toWindows1252('€„“–ŠŽœ')]).toEqual([0x80, 0x84, 0x93, 0x96, 0x8a, 0x8e, 0x9c]);
  expect(toWindows1252('Őz ﬁ ẞ 日本 😀').toString('latin1')).toBe('Oz fi SS ?? ?');
  const known = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const text = withUpperCharacters(known.toString('latin1'));
  expect(text.slice(0x80, 0x86)).toBe('€\u0081‚ƒ„…');
  expect(toWindows1252(text)).toEqual(known);
});

test('a day is in the fiscal year that began before it', () => {
  expect(fiscalYearOf('2026-06-30', '07-01')).toBe('2025-07-01');
  expect(fiscalYearOf('2026-07-01', '07-01')).toBe('2026-07-01');
  expect(fiscalYearOf('2026-12-31')).toBe('2026-01-01');
});
