import { setImmediate as breathe } from 'node:timers/promises';
import { discountParts } from '../../pricing/cart-promotions.ts';
import { taxesByRate, type ContentLine } from '../../pricing/content.ts';
import { sum } from '../../pricing/shares.ts';
import type { Localised } from '../../http/locale.ts';
import { messagesIn, type Messages } from '../../kernel/messages.ts';
import { formatMoney } from '../../kernel/money.ts';
import { anyText } from '../../catalogue/products/render.ts';
import { unitText } from '../../http/amount-text.ts';
import { addressLines } from './address-lines.ts';
import { electronicInvoice } from './electronic.ts';
import { exemptionTexts } from './electronic-model.ts';
import type { DocumentFacts } from './facts.ts';
import { paymentReference } from '../bank-transfer.ts';
import { typedText } from '../line-text.ts';
import { grouped } from './iban.ts';
import { INK, mm, newSheet, PAPER, type Sheet, type TextStyle } from './sheet.ts';
import { documentTitle } from './title.ts';

/** A printable document, in the language of its order. The same facts give the same bytes. */
export async function pdfOf(document: DocumentFacts): Promise<Buffer> {
  // It takes the processor for some time; waiting requests go first.
  await breathe();
  const sheet = await sheetFor(document);
  const page = await written(sheet, document);
  if (isHybrid(document)) attach(sheet, document);
  return sheet.finished((one, all) => foot(page, one, all));
}

/**
 * Whether the PDF carries the XML. Other formats are files beside it, and the PDF is only a copy of them: two originals
 * would be two invoices.
 */
const isHybrid = ({ terms: { electronic, format = 'zugferd' } }: DocumentFacts) =>
  electronic && format === 'zugferd';

/** Copies of several documents in one file for printing: each begins on a new page and counts its own pages. */
export async function printOf(documents: readonly [DocumentFacts, ...DocumentFacts[]]): Promise<Buffer> {
  const sheet = await sheetFor(documents[0]);
  const parts: { page: Page; before: number; pages: number }[] = [];
  const countPages = () => sheet.doc.bufferedPageRange().count;
  for (const [index, document] of documents.entries()) {
    await breathe();
    const before = index === 0 ? 0 : countPages();
    if (index > 0) sheet.doc.addPage();
    const page = await written(sheet, document);
    parts.push({ page, before, pages: countPages() - before });
  }
  return sheet.finished((one) => {
    const { page, before, pages } = parts.findLast((part) => part.before < one)!;
    foot(page, one - before, pages);
  });
}

function sheetFor({ kind, number, createdAt, documentId, terms }: DocumentFacts): Promise<Sheet> {
  return newSheet({
    title: documentTitle(kind, number, terms.locale),
    createdAt,
    id: documentId,
    language: messagesIn(terms.locale).documents.language,
    watermark: terms.sandbox && messagesIn(terms.locale).documents.sandbox,
  });
}

/** Writes all but the footer, from the top of the current page. */
async function written(sheet: Sheet, document: DocumentFacts): Promise<Page> {
  const { kind, number, terms } = document;
  const words = messagesIn(terms.locale).documents;
  const page: Page = { ...sheet, ...formats(document), document, words, y: PAPER.top };
  letterHead(page);
  dataBlock(page);
  await heading(page, documentTitle(kind, number, terms.locale));
  await table(page);
  sums(page);
  await page.pause();
  await closing(page);
  await page.pause();
  return page;
}

interface Page extends Sheet, Formats {
  document: DocumentFacts;
  words: Messages['documents'];
  /** The current vertical position. */
  y: number;
}

interface Formats {
  money: (minor: number) => string;
  date: (day: string) => string;
  percent: (rate: number) => string;
  quantity: (line: ContentLine) => string;
  text: (texts: Localised | null) => string;
}

function formats({ terms, content }: DocumentFacts): Formats {
  const tag = terms.locale.replace('_', '-');
  const dates = new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeZone: 'UTC' });
  const numbers = new Intl.NumberFormat(tag, { maximumFractionDigits: 10 });
  return {
    money: (minor) => formatMoney(minor, content.currency, terms.locale),
    date: (day) => dates.format(new Date(day)),
    percent: (rate) => `${numbers.format(rate / 100)} %`,
    quantity: ({ quantity, orderUnit }) =>
      `${numbers.format(Number(quantity))} ${unitText(Number(quantity), terms.units[orderUnit.unit] ?? '', terms.locale)}`,
    text: (texts) => anyText(texts ?? undefined, terms.locale, terms.defaultLocale) ?? '',
  };
}

/** The sender, and the address at the window of an envelope (DIN 5008, form B). */
function letterHead(page: Page): void {
  const { write, rule, wrapped, words, document } = page;
  const { seller } = document.terms;
  const whole = PAPER.right - PAPER.left;
  const large: TextStyle = { size: 15, font: 'bold' };
  // A name that is too long for one line is written smaller.
  const small: TextStyle = { size: 9, font: 'bold' };
  const style = wrapped(seller.name, whole, large).length === 1 ? large : small;
  for (const [row, line] of wrapped(seller.name, whole, style).slice(0, 2).entries()) {
    write(line, PAPER.left, mm(20) + row * 12, style);
  }
  rule(mm(29), { color: INK.strong, weight: 1 });

  const window = mm(80);
  const sender = [seller.name, seller.street, joined(seller.zipCode, seller.city)]
    .filter(Boolean)
    .join(' · ');
  write(wrapped(sender, window, { size: 6.5 })[0]!, PAPER.left, mm(50), { size: 6.5, color: INK.soft });
  const lines = addressLines(document.address, seller.country, words.language).flatMap((line) =>
    wrapped(line, window, { size: 10 }).slice(0, 3),
  );
  page.y = mm(56);
  for (const line of lines) {
    write(line, PAPER.left, page.y, { size: 10 });
    page.y += 12.6;
  }
}

function dataBlock(page: Page): void {
  const { write, wrapped, lineHeight, words, date, document } = page;
  const { kind, number, issuedAt, address, terms } = document;
  const rows: [string, string][] = [
    [words.number[kind], String(number)],
    [words.date, date(issuedAt.toISOString())],
    [words.orderNumber, terms.orderNumber],
    [words.orderDate, date(terms.orderedOn)],
    [words.customerNumber, terms.customerNumber],
    ...(terms.suppliedOn === null ? [] : [[words.deliveryDate, date(terms.suppliedOn)] as [string, string]]),
  ];
  const { vatNumber = address.vatId, buyerReference, purchaseOrderNumber } = terms.buyer ?? {};
  for (const [name, value] of [
    [words.buyerVatId, vatNumber],
    [words.buyerReference, buyerReference],
    [words.purchaseOrder, purchaseOrderNumber],
  ] as const) {
    if (value) rows.push([name, value]);
  }
  const left = mm(122);
  const middle = mm(150);
  let y = mm(50);
  for (const [name, value] of rows) {
    write(name, left, y, { size: 8.5, color: INK.soft });
    for (const line of wrapped(value, PAPER.right - middle, { size: 8.5 })) {
      write(line, middle, y, { size: 8.5, align: 'right', width: PAPER.right - middle });
      y += lineHeight({ size: 8.5 });
    }
    y += 1.5;
  }
  page.y = Math.max(mm(100), page.y + 12, y + 12);
}

async function heading(page: Page, title: string): Promise<void> {
  const { write, words, date, document } = page;
  const { terms } = document;
  write(title, PAPER.left, page.y, { size: 15, font: 'bold' });
  page.y += 23;
  if (terms.invoice)
    await paragraph(
      page,
      words.credits({ number: terms.invoice.number, date: date(terms.invoice.issuedOn) }),
    );
  if (terms.corrects) {
    const { number, issuedOn } = terms.corrects;
    await paragraph(page, words.corrects({ number, date: date(issuedOn) }));
  }
  if (terms.delivery) {
    const lines = addressLines(terms.delivery, terms.seller.country, words.language);
    await paragraph(page, words.labelled({ label: words.delivery, text: lines.join(', ') }), {
      color: INK.soft,
    });
  }
  page.y += 8;
}

interface Column {
  key: 'position' | 'article' | 'name' | 'quantity' | 'unitPrice' | 'taxRate' | 'amount';
  from: number;
  to: number;
  align: 'left' | 'right';
}

/** In millimetres from the left edge of the paper. */
const COLUMNS: readonly Column[] = [
  { key: 'position', from: 25, to: 33, align: 'left' },
  { key: 'article', from: 34, to: 57, align: 'left' },
  { key: 'name', from: 59, to: 112, align: 'left' },
  { key: 'quantity', from: 113, to: 132, align: 'right' },
  { key: 'unitPrice', from: 133, to: 154, align: 'right' },
  { key: 'taxRate', from: 155, to: 167, align: 'right' },
  { key: 'amount', from: 168, to: 190, align: 'right' },
];
const CELL: TextStyle = { size: 8.5 };
const NAME = COLUMNS.find(({ key }) => key === 'name')!;

function tableHead(page: Page): void {
  const { write, rule, words } = page;
  for (const { key, from, to, align } of COLUMNS) {
    write(words[key], mm(from), page.y, { size: 7.5, color: INK.soft, align, width: mm(to - from) });
  }
  page.y += 13;
  rule(page.y, { color: INK.strong, weight: 0.8 });
  page.y += 5;
}

async function table(page: Page): Promise<void> {
  const { wrapped, lineHeight, money, percent, quantity, text, document } = page;
  const { content, terms } = document;
  tableHead(page);
  let carried = 0;
  for (const [index, line] of content.lines.entries()) {
    const { priceQuantity, unit } = line.orderUnit;
    const perQuantity =
      priceQuantity === 1
        ? ''
        : `\n/ ${priceQuantity} ${unitText(priceQuantity, terms.units[unit] ?? '', terms.locale)}`;
    const cells: Record<Column['key'], string> = {
      position: String(index + 1),
      article: line.productNumber,
      name: text(line.name),
      quantity: quantity(line),
      unitPrice: `${money(line.quantityPrice)}${perQuantity}`,
      taxRate: percent(line.taxClass.rate),
      amount: money(line.amount),
    };
    // No row is higher than a page.
    const rows = COLUMNS.map(({ key, from, to }) => wrapped(cells[key], mm(to - from), CELL).slice(0, 30));
    const headline = text(line.customTextHeadline ?? null);
    const bundle = content.bundles?.find(({ lineItemId }) => lineItemId === line.bundleId);
    const details = [
      bundle && page.words.partOf({ name: text(bundle.name) }),
      text(line.variation),
      line.customText && typedText(line.customText, headline, terms.locale),
    ];
    const more = details
      .flatMap((detail) => (detail ? wrapped(detail, mm(NAME.to - NAME.from), { size: 7.5 }) : []))
      .filter((part) => part !== '')
      .slice(0, 12);
    const nameHeight = lineHeight(CELL) * rows[2]!.length + lineHeight({ size: 7.5 }) * more.length;
    const height = Math.max(nameHeight, ...rows.map((lines) => lines.length * lineHeight(CELL)));
    // Leaves room for the sum carried forward as well.
    if (page.y + height + 9 > PAPER.bottom - lineHeight(CELL) - 4) {
      carry(page, carried);
      nextPage(page);
      tableHead(page);
      carry(page, carried);
      page.y += 6;
    }
    for (const [column, lines] of rows.entries()) cell(page, COLUMNS[column]!, lines, CELL, page.y);
    cell(page, NAME, more, { size: 7.5, color: INK.soft }, page.y + lineHeight(CELL) * rows[2]!.length);
    page.y += height + 4;
    page.rule(page.y);
    page.y += 5;
    carried += line.amount;
    await page.pause();
  }
}

function cell(
  { write, lineHeight }: Page,
  column: Column,
  lines: readonly string[],
  style: TextStyle,
  y: number,
) {
  const { from, to, align } = column;
  for (const [index, line] of lines.entries()) {
    write(line, mm(from), y + index * lineHeight(style), { ...style, align, width: mm(to - from) });
  }
}

function carry(page: Page, minor: number): void {
  amountRow(page, page.words.carried, minor, { size: 8.5, color: INK.soft });
}

/** A name and an amount at the right. */
function amountRow(page: Page, name: string, minor: number, style: TextStyle = CELL): void {
  const { wrapped, widthOf, write, lineHeight, money } = page;
  const from = mm(80);
  const middle = Math.min(mm(164), PAPER.right - widthOf(money(minor), style) - mm(4));
  const lines = wrapped(name, middle - from, style);
  reserve(page, lines.length * lineHeight(style));
  write(money(minor), middle, page.y, { ...style, align: 'right', width: PAPER.right - middle });
  for (const line of lines) {
    write(line, from, page.y, { ...style, align: 'right', width: middle - from });
    page.y += lineHeight(style);
  }
  page.y += 1.5;
}

/** From the goods to the amount payable, and the tax of each rate. */
function sums(page: Page): void {
  const { words, text, percent, rule, document } = page;
  const { content, kind } = document;
  const { shipping, payment } = content;
  const extra = (key: 'deposit' | 'ecoParticipation') => sum(content.lines.map((line) => line[key]));
  const paymentName = payment?.method ? text(payment.method.name) : (payment?.name ?? '');
  const rows: [string, number][] = [
    ...discountParts(content).map(({ name, amount }): [string, number] => [
      name ? text(name) : words.basketDiscount,
      amount,
    ]),
    [words.coupon, content.coupon?.amount ?? 0],
    [words.deposit, extra('deposit')],
    [words.ecoParticipation, extra('ecoParticipation')],
  ];
  const added = rows.filter(([, amount]) => amount !== 0);
  if (shipping) added.push([named(words.shipping, text(shipping.name), words), shipping.price]);
  if (payment && payment.price !== 0) added.push([named(words.payment, paymentName, words), payment.price]);
  page.y += 2;
  if (added.length > 0) amountRow(page, words.subTotal, content.subTotal);
  for (const [name, amount] of added) amountRow(page, name, amount);

  // The sums stay together: rule, taxes and total.
  reserve(page, 30 + content.taxes.length * 14);
  if (content.taxType === 'NET') {
    amountRow(page, words.totalNet, content.totalBeforeTax);
    for (const { rate, tax } of taxesByRate(content.taxes))
      amountRow(page, words.tax({ rate: percent(rate) }), tax);
  }
  page.y += 2;
  rule(page.y, { from: mm(110), color: INK.strong, weight: 0.8 });
  page.y += 5;
  amountRow(page, words.total[kind], content.grandTotal, { size: 11, font: 'bold' });
  const { giftCards = 0, isPaid } = document.terms;
  if (giftCards > 0) {
    amountRow(page, words.giftCards, -giftCards);
    if (!isPaid) amountRow(page, words.payable, content.grandTotal - giftCards, { ...CELL, font: 'bold' });
  }
  page.y += 10;
  if (content.taxType !== 'NONE') taxTable(page);
}

/** The basis of each rate, in millimetres. */
const TAX_COLUMNS = [
  { from: 25, to: 47, align: 'left' },
  { from: 48, to: 73, align: 'right' },
  { from: 74, to: 97, align: 'right' },
  { from: 98, to: 123, align: 'right' },
] as const;

function taxTable(page: Page): void {
  const { write, rule, lineHeight, words, money, percent, document } = page;
  const { taxType } = document.content;
  const taxes = taxesByRate(document.content.taxes);
  const row = (cells: readonly string[], style: TextStyle) => {
    for (const [index, { from, to, align }] of TAX_COLUMNS.entries()) {
      write(cells[index]!, mm(from), page.y, { ...style, align, width: mm(to - from) });
    }
    page.y += lineHeight(style) + 1;
  };
  reserve(page, (taxes.length + 1) * 14);
  row([words.taxHead, words.net, words.taxAmount, words.gross], { size: 7.5, color: INK.soft });
  rule(page.y, { to: mm(123) });
  page.y += 3;
  for (const { rate, amount, tax } of taxes) {
    const net = taxType === 'GROSS' ? amount - tax : amount;
    row([percent(rate), money(net), money(tax), money(net + tax)], { size: 8 });
  }
  page.y += 8;
}

/** When and how to pay, and other required notes. */
async function closing(page: Page): Promise<void> {
  const { words, date, text, document } = page;
  const { kind, terms, content } = document;
  const { seller, dueOn, isPaid } = terms;
  const { payment } = content;
  const isFree = content.grandTotal <= 0;
  if (kind === 'CreditNote') await paragraph(page, words.credited);
  else {
    const method = payment?.method ? text(payment.method.name) : (payment?.name ?? '');
    if (method !== '') await paragraph(page, words.labelled({ label: words.paidBy, text: method }));
    if (isPaid) await paragraph(page, words.paid);
    else if (!isFree && dueOn !== null) await paragraph(page, words.due({ date: date(dueOn) }));
    if (!isPaid && !isFree && seller.bank) {
      const { name, iban, bic } = seller.bank;
      await paragraph(page, words.transfer({ reference: paymentReference(terms) }));
      await paragraph(
        page,
        [name, `IBAN ${grouped(iban)}`, bic && `BIC ${bic}`].filter(Boolean).join(' · '),
        {
          font: 'bold',
        },
      );
    }
  }
  for (const note of [...exemptionTexts(document), terms.note, terms.notes]) {
    if (note === null || note.trim() === '') continue;
    page.y += 4;
    await paragraph(page, note);
  }
}

/** Text over the whole width, on as many pages as needed. */
async function paragraph(page: Page, content: string, style: TextStyle = {}): Promise<void> {
  const { wrapped, write, lineHeight } = page;
  for (const line of wrapped(content, PAPER.right - PAPER.left, style)) {
    reserve(page, lineHeight(style));
    write(line, PAPER.left, page.y, style);
    page.y += lineHeight(style);
    await page.pause();
  }
  page.y += 2;
}

function reserve(page: Page, height: number): void {
  if (page.y + height > PAPER.bottom) nextPage(page);
}

function nextPage(page: Page): void {
  page.doc.addPage();
  page.y = PAPER.top;
}

/** The seller, on every page, and the page number. */
function foot({ write, wrapped, widthOf, rule, words, document }: Page, one: number, all: number): void {
  const { kind, number, terms } = document;
  const { seller } = terms;
  const { bank } = seller;
  const labelled = (name: string, value: string | undefined) => (value ? `${name} ${value}` : undefined);
  const columns = [
    [seller.name, seller.street, joined(seller.zipCode, seller.city)],
    [labelled(words.phone, seller.phone), seller.email, seller.registration],
    bank ? [bank.name ?? words.bank, `IBAN ${grouped(bank.iban)}`, labelled('BIC', bank.bic)] : [],
    [labelled(words.vatId, seller.vatId), labelled(words.taxNumber, seller.taxNumber)],
  ]
    .map((lines) => lines.filter((line): line is string => Boolean(line)))
    .filter((lines) => lines.length > 0);
  const top = mm(266);
  const style: TextStyle = { size: 7, color: INK.soft };
  rule(top);
  // Natural widths with the rest between them; or equal widths, if there is not enough room.
  const gaps = Math.max(columns.length - 1, 1);
  const room = PAPER.right - PAPER.left;
  const natural = columns.map((lines) => Math.max(...lines.map((line) => widthOf(line, style))) + 0.1);
  const fits = sum(natural) + gaps * mm(4) <= room;
  const widths = fits ? natural : columns.map(() => (room - gaps * mm(4)) / columns.length);
  let x: number = PAPER.left;
  for (const [index, lines] of columns.entries()) {
    const width = widths[index]!;
    for (const [row, line] of lines
      .flatMap((long) => wrapped(long, width, style))
      .slice(0, 5)
      .entries()) {
      write(line, x, top + 6 + row * 10, style);
    }
    x += width + (room - sum(widths)) / gaps;
  }
  write(words.page({ page: one, pages: all }), PAPER.left, mm(288), {
    ...style,
    align: 'right',
    width: PAPER.right - PAPER.left,
  });
  if (one > 1) {
    write(`${words[kind]} ${number}`, PAPER.left, mm(14), style);
    rule(mm(19));
  }
}

/**
 * The machine-readable invoice, as Factur-X and ZUGFeRD require: an embedded file, and a note of it in the metadata.
 */
function attach({ doc }: Sheet, document: DocumentFacts): void {
  const { createdAt } = document;
  doc.file(Buffer.from(electronicInvoice(document)), {
    name: 'factur-x.xml',
    type: 'text/xml',
    description: 'EN 16931',
    relationship: 'Alternative',
    creationDate: createdAt,
    modifiedDate: createdAt,
  } as Parameters<typeof doc.file>[1]);
  (doc as { appendXML(xml: string): void }).appendXML(FACTUR_X);
}

const FACTUR_X = `
  <rdf:Description rdf:about="" xmlns:fx="urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#">
    <fx:DocumentType>INVOICE</fx:DocumentType>
    <fx:DocumentFileName>factur-x.xml</fx:DocumentFileName>
    <fx:Version>1.0</fx:Version>
    <fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>
  </rdf:Description>
  <rdf:Description rdf:about=""
    xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
    xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#"
    xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
    <pdfaExtension:schemas>
      <rdf:Bag>
        <rdf:li rdf:parseType="Resource">
          <pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>
          <pdfaSchema:namespaceURI>urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#</pdfaSchema:namespaceURI>
          <pdfaSchema:prefix>fx</pdfaSchema:prefix>
          <pdfaSchema:property>
            <rdf:Seq>${[
              ['DocumentFileName', 'name of the embedded XML file'],
              ['DocumentType', 'INVOICE'],
              ['Version', 'version of the schema of the XML file'],
              ['ConformanceLevel', 'profile of the XML file'],
            ]
              .map(
                ([name, description]) => `
              <rdf:li rdf:parseType="Resource">
                <pdfaProperty:name>${name}</pdfaProperty:name>
                <pdfaProperty:valueType>Text</pdfaProperty:valueType>
                <pdfaProperty:category>external</pdfaProperty:category>
                <pdfaProperty:description>${description}</pdfaProperty:description>
              </rdf:li>`,
              )
              .join('')}
            </rdf:Seq>
          </pdfaSchema:property>
        </rdf:li>
      </rdf:Bag>
    </pdfaExtension:schemas>
  </rdf:Description>`;

const joined = (...parts: (string | undefined)[]) => parts.filter(Boolean).join(' ');
const named = (label: string, text: string, words: Messages['documents']) =>
  text === '' ? label : words.labelled({ label, text });
