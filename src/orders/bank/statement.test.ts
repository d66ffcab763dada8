import { expect, test } from 'vitest';
import { MAX_BLOCK, quickestBlock } from '../../../test/event-loop.ts';
import { toWindows1252 } from '../../kernel/windows-1252.ts';
import { matchEntries, referencesIn, type PayableOrder } from './match.ts';
import { readStatement } from './statement.ts';

const read = (text: string | Buffer) => readStatement(Buffer.from(text as string), { currency: 'EUR' });
const problemOf = (text: string | Buffer) =>
  read(text).then(
    () => 'read',
    (error: Error) => error.message,
  );

const camt = (
  entries: string,
  namespace = 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08',
) => `<?xml version="1.0"?>
<Document xmlns="${namespace}"><BkToCstmrStmt><Stmt><Id>1</Id>${entries}</Stmt></BkToCstmrStmt></Document>`;

const entry = (
  amount: string,
  details: string,
  { side = 'CRDT', status = '<Cd>BOOK</Cd>', more = '' } = {},
) => `
<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${side}</CdtDbtInd>${more}<Sts>${status}</Sts>
<BookgDt><Dt>2026-11-15</Dt></BookgDt><AcctSvcrRef>BANK-1</AcctSvcrRef><NtryDtls>${details}</NtryDtls></Ntry>`;

test('CAMT.053 has the booked credits with payer, text and reference', async () => {
  const one = `<TxDtls><Refs><EndToEndId>NOTPROVIDED</EndToEndId></Refs><RltdPties><Dbtr><Pty><Nm>Jonas &amp; Söhne</Nm></Pty></Dbtr>
    </RltdPties><RmtInf><Ustrd>Order ORD1/7</Ustrd><Ustrd>thank you &#x2603;</Ustrd></RmtInf></TxDtls>`;
  const credits = await read(
    camt(
      entry('46.33', one) +
        entry('5.00', one, { side: 'DBIT' }) +
        entry('6.00', one, { status: 'PDNG' }) +
        entry('7.00', one, { more: '<RvslInd>true</RvslInd>' }) +
        entry('8.00', one, { status: 'BOOK' }),
    ),
  );
  expect(credits.map(({ key: _key, ...credit }) => credit)).toEqual(
    [4_633, 800].map((amount) => ({
      bookedOn: '2026-11-15',
      amount,
      currency: 'EUR',
      payer: 'Jonas & Söhne',
      text: 'Order ORD1/7 thank you ☃',
      reference: 'BANK-1',
    })),
  );
});

test('an entry of several transfers is one credit for each of them', async () => {
  const transfer = (amount: string, text: string) =>
    `<TxDtls><Refs><AcctSvcrRef>T-${text}</AcctSvcrRef></Refs><Amt Ccy="EUR">${amount}</Amt><RmtInf><Ustrd>${text}</Ustrd></RmtInf></TxDtls>`;
  const credits = await read(camt(entry('30.00', transfer('10.00', 'A1') + transfer('20.00', 'A2'))));
  expect(credits.map(({ amount, text, reference }) => [amount, text, reference])).toEqual([
    [1_000, 'A1', 'T-A1'],
    [2_000, 'A2', 'T-A2'],
  ]);
});

test('tables are read as German banks export them', async () => {
  const sparkasse = `"Auftragskonto";"Buchungstag";"Valutadatum";"Buchungstext";"Verwendungszweck";"Kundenreferenz (End-to-End)";"Beguenstigter/Zahlungspflichtiger";"Betrag";"Waehrung";"Info"
"DE02";"15.11.26";"15.11.26";"GUTSCHR. UEBERWEISUNG";"Bestellung ORD1/7";"NOTPROVIDED";"Jörg Müller";"1.046,33";"EUR";"Umsatz gebucht"
"DE02";"15.11.26";"15.11.26";"LASTSCHRIFT";"Strom";"";"Werke";"-99,00";"EUR";"Umsatz gebucht"
`;
  const first = {
    bookedOn: '2026-11-15',
    amount: 104_633,
    currency: 'EUR',
    payer: 'Jörg Müller',
    text: 'Bestellung ORD1/7',
    reference: '',
  };
  expect(await read(sparkasse)).toMatchObject([first]);
  expect(await read(toWindows1252(sparkasse))).toMatchObject([first]);
  const dkb = `﻿"Girokonto";"DE02 1203"
"Kontostand vom 15.11.2026:";"1.000,00 €"

"Buchungsdatum";"Wertstellung";"Status";"Zahlungspflichtige*r";"Zahlungsempfänger*in";"Verwendungszweck";"Betrag (€)"
"15.11.26";"15.11.26";"Gebucht";"Jörg Müller";"Shop";"ORD1/7";"46,33"
`;
  expect(await read(dkb)).toMatchObject([{ amount: 4_633, payer: 'Jörg Müller', text: 'ORD1/7' }]);
  const ing = `Umsatzanzeige;Datei erstellt am: 15.11.2026

Buchung;Wertstellungsdatum;Auftraggeber/Empfänger;Buchungstext;Verwendungszweck;Saldo;Währung;Betrag;Währung
15.11.2026;15.11.2026;Jörg Müller;Gutschrift;ORD1/7;1.046,33;USD;46,33;EUR
`;
  expect(await read(ing)).toMatchObject([{ amount: 4_633, currency: 'EUR', text: 'ORD1/7' }]);
  const deutsche = `Buchungstag;Wert;Umsatzart;Begünstigter / Auftraggeber;Verwendungszweck;Kundenreferenz;Soll;Haben;Währung
15.11.2026;15.11.2026;SEPA;Jörg Müller;ORD1/7;E2E-1;;46,33;EUR
15.11.2026;15.11.2026;SEPA;Werke;Strom;;-99,00;;EUR
Kontostand;15.11.2026;;;;;1.000,00;;EUR
`;
  expect(await read(deutsche)).toMatchObject([{ amount: 4_633, text: 'ORD1/7 E2E-1', reference: 'E2E-1' }]);
  const english = `Date,Payee,Payment reference,Amount (EUR)\n2026-11-15,Jo,ORD1/7,"1,046.33"\n`;
  expect(await read(english)).toMatchObject([{ amount: 104_633, text: 'ORD1/7' }]);
});

test('a credit has the same key in every statement, and equal ones have their own', async () => {
  const rows = '15.11.2026;A;10,00\n15.11.2026;A;10,00\n15.11.2026;B;10,00\n';
  const table = `Buchungstag;Verwendungszweck;Betrag\n${rows}`;
  const keys = (await read(table)).map(({ key }) => key);
  expect(new Set(keys).size).toBe(3);
  expect((await read(table)).map(({ key }) => key)).toEqual(keys);
  expect((await read(`${table}16.11.2026;C;1,00\n`)).slice(0, 3).map(({ key }) => key)).toEqual(keys);
});

const bomb = `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;">]><Document>&lol2;</Document>`;

test.each([
  ['an empty file', '', 'empty'],
  ['blanks', ' \n ', 'empty'],
  ['entities', bomb, 'doctype'],
  ['an external entity', '<!DOCTYPE a SYSTEM "file:///etc/passwd"><Document/>', 'doctype'],
  ['an undefined entity', camt('<Ntry>&lol;</Ntry>'), 'xml'],
  ['an element that is not closed', camt('<Ntry>'), 'xml'],
  ['a tag without an end', `${camt('')}<a`, 'xml'],
  ['two roots', '<Document/><Document/>', 'xml'],
  ['depth', '<Document>'.repeat(60), 'xml'],
  ['another message', camt('', 'urn:iso:std:iso:20022:tech:xsd:pain.001.001.03'), 'notCamt'],
  ['a notification', camt('', 'urn:iso:std:iso:20022:tech:xsd:camt.054.001.08'), 'notCamt'],
  ['a page', '<html><body>hello</body></html>', 'notCamt'],
  ['an amount that is none', camt(entry('12,00', '')), 'amount'],
  ['a currency that is none', camt(entry('12.00', '').replace('EUR', 'XXY')), 'amount'],
  ['a table of something else', 'Name;Price\nTea;4\n', 'columns'],
  ['a broken quote', 'Buchungstag;Verwendungszweck;Betrag\n15.11.2026;"A;1,00\n', 'table'],
  ['an amount in words', 'Buchungstag;Verwendungszweck;Betrag\n15.11.2026;A;ten\n', 'amount'],
  ['bytes', Buffer.from([0, 1, 2, 3, 255, 254, 200]), 'columns'],
  [
    'broken UTF-8',
    Buffer.concat([Buffer.from(camt('').slice(0, -11)), Buffer.from([0xe4]), Buffer.from('</Document>')]),
    'encoding',
  ],
])('%s: %s', async (_name, text, problem) => {
  expect(await problemOf(text)).toBe(problem);
});

test('a hostile file never holds up others for 50 ms', async () => {
  const hostile = {
    entries: camt(entry('1.00', '<TxDtls><RmtInf><Ustrd>a</Ustrd></RmtInf></TxDtls>').repeat(9_000)),
    transfers: camt(entry('1.00', '<TxDtls><Amt Ccy="EUR">1</Amt></TxDtls>'.repeat(9_000))),
    elements: camt('<a/>'.repeat(300_000)),
    text: camt(`<Ntry>${'&amp;'.repeat(19_000)}</Ntry>`.repeat(20)),
    openings: '<'.repeat(2_000_000),
    table: `Buchungstag;Verwendungszweck;Betrag\n${'15.11.2026;Miete ORD1/7;-1,00\n'.repeat(40_000)}`,
    cells: ';'.repeat(2_000_000),
    quotes: `Buchungstag;Verwendungszweck;Betrag\n${'"'.repeat(2_000_000)}`,
  };
  for (const [name, text] of Object.entries(hostile)) {
    const bytes = Buffer.from(text);
    const ms = await quickestBlock(() => readStatement(bytes, { currency: 'EUR' }).catch(() => undefined));
    expect([name, ms < MAX_BLOCK]).toEqual([name, true]);
  }
}, 60_000);

const order = (orderNumber: string, payable: number): PayableOrder => ({
  orderId: `id-${orderNumber}`,
  orderNumber,
  currency: 'EUR',
  payable,
  customer: 'Jo',
});
const entryOf = (entryId: string, amount: number, text: string | null, currency = 'EUR') => ({
  entryId,
  amount,
  currency,
  text,
});

test('numbers of orders are found in what people write', () => {
  expect(referencesIn('Bestellung: ord2026/1014, danke!')).toEqual([
    'ord2026/1014',
    'ORD2026/1014',
    'ord2026',
    'ORD2026',
    '1014',
  ]);
  expect(referencesIn(null)).toEqual([]);
});

test('reference and sum are sure, one of both is possible', () => {
  const named = [order('A1', 100), order('A2', 200)];
  const waiting = [...named, order('A3', 300), order('A4', 300)];
  const match = (...entries: ReturnType<typeof entryOf>[]) =>
    matchEntries(entries, { named, waiting }).map(({ kind, orders }) => [
      kind,
      ...orders.map(({ orderNumber }) => orderNumber),
    ]);
  expect(match(entryOf('1', 100, 'order a1'))).toEqual([['sure', 'A1']]);
  expect(match(entryOf('1', 100, 'A1'), entryOf('2', 100, 'A1 again'))).toEqual([
    ['sure', 'A1'],
    ['possible', 'A1'],
  ]);
  expect(match(entryOf('1', 150, 'A1'))).toEqual([['possible', 'A1']]);
  expect(match(entryOf('1', 300, 'rent'))).toEqual([['possible', 'A3', 'A4']]);
  expect(match(entryOf('1', 100, 'A2'))).toEqual([['possible', 'A2', 'A1']]);
  expect(match(entryOf('1', 300, 'A1 A2'))).toEqual([['possible', 'A1', 'A2', 'A3']]);
  expect(match(entryOf('1', 999, 'rent'), entryOf('2', 100, 'A1', 'CHF'))).toEqual([['none'], ['none']]);
});
