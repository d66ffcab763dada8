import { anyText } from '../../catalogue/products/render.ts';
import { unitText } from '../../http/amount-text.ts';
import { languageTag } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { formatMoney } from '../../kernel/money.ts';
import type { ContentLine } from '../../pricing/content.ts';
import { sum } from '../../pricing/shares.ts';
import { KILOGRAM, weightOf } from '../../pricing/quantity.ts';
import { inTaxType } from '../../catalogue/products/prices.ts';
import { unitSign } from '../../catalogue/products/units.ts';
import { countryName, isInEu } from '../../shops/countries/countries.ts';
import { sellerName } from '../../shops/legal/guarantee-notice.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import type { ManagedOrder } from '../queries.ts';
import { addressLines } from './address-lines.ts';
import { INK, mm, newSheet, PAPER, type TextStyle } from './sheet.ts';

type ProformaOrder = Pick<
  ManagedOrder,
  'orderId' | 'orderNumber' | 'createdAt' | 'locale' | 'content' | 'billingAddress' | 'shippingAddress'
>;

/** Whether the goods cross the border of the European Union, so that customs want to know what they are. */
export function leavesUnion(
  { billingAddress, shippingAddress }: Pick<ProformaOrder, 'billingAddress' | 'shippingAddress'>,
  { country }: Pick<Settings, 'country'>,
): boolean {
  const destination = (shippingAddress ?? billingAddress).country;
  return destination !== null && isInEu(country) && !isInEu(destination);
}

/** The value of a line for customs: what was paid for it, without discounts and VAT. */
export function customsValue(
  { amount, discountShare, couponShare, taxClass }: ContentLine,
  { taxType }: Pick<ProformaOrder['content'], 'taxType'>,
): number {
  const paid = amount - discountShare - couponShare;
  return taxType === 'GROSS' ? inTaxType(paid, taxClass.rate, 'GROSS', 'NET') : paid;
}

/** The weight of a line; undefined: it is not known. */
function kilogramsOf({ weight, quantity }: ContentLine): number | undefined {
  return weight
    ? Number(weightOf([{ quantity, product: { deliveryWeight: weight } }])) / Number(KILOGRAM)
    : undefined;
}

interface Column {
  key: 'position' | 'name' | 'hsCode' | 'origin' | 'quantity' | 'weight' | 'value';
  from: number;
  to: number;
  align: 'left' | 'right';
}

/** In millimetres from the left edge of the paper. */
const COLUMNS: readonly Column[] = [
  { key: 'position', from: 25, to: 32, align: 'left' },
  { key: 'name', from: 33, to: 88, align: 'left' },
  { key: 'hsCode', from: 90, to: 112, align: 'left' },
  { key: 'origin', from: 113, to: 126, align: 'left' },
  { key: 'quantity', from: 127, to: 145, align: 'right' },
  { key: 'weight', from: 146, to: 166, align: 'right' },
  { key: 'value', from: 167, to: 190, align: 'right' },
];
const CELL: TextStyle = { size: 8.5 };

/** The proforma invoice that accompanies goods to another customs area, in the language of the order. */
export async function proformaOf(order: ProformaOrder, settings: Settings): Promise<Buffer> {
  const { content, locale, orderNumber, createdAt } = order;
  const language = languageTag(locale);
  const documents = messagesIn(locale).documents;
  const words = { ...documents, ...documents.proforma };
  const money = (minor: number) => formatMoney(minor, content.currency, locale);
  const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 3 });
  const title = words.title({ number: orderNumber });
  const sheet = await newSheet({
    title,
    createdAt,
    id: order.orderId,
    language: documents.language,
    watermark: settings.sandbox ? documents.sandbox : undefined,
  });
  const { write, wrapped, rule, lineHeight, widthOf } = sheet;
  let y: number = PAPER.top;
  const reserve = (height: number) => {
    if (y + height <= PAPER.bottom) return;
    sheet.doc.addPage();
    y = PAPER.top;
  };
  const paragraph = (text: string, style: TextStyle = {}) => {
    for (const line of wrapped(text, PAPER.right - PAPER.left, style)) {
      reserve(lineHeight(style));
      write(line, PAPER.left, y, style);
      y += lineHeight(style);
    }
  };
  const block = (label: string, lines: readonly string[], x: number, top: number): number => {
    const width = mm(78);
    write(label, x, top, { size: 7.5, color: INK.soft });
    const rows = lines.flatMap((line) => wrapped(line, width, { size: 9.5 })).slice(0, 12);
    for (const [row, line] of rows.entries()) write(line, x, top + 12 + row * 13, { size: 9.5 });
    return top + 12 + rows.length * 13;
  };

  paragraph(title, { size: 14, font: 'bold' });
  y += 4;
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(createdAt);
  paragraph(documents.labelled({ label: words.orderDate, text: date }), { color: INK.soft });
  y += 8;
  const { invoicing, country } = settings;
  const seller = [
    sellerName(settings, locale),
    invoicing.street,
    [invoicing.zipCode, invoicing.city].filter(Boolean).join(' '),
    countryName(country, language),
    invoicing.vatId && `${words.vatId} ${invoicing.vatId}`,
    invoicing.phone,
  ].filter((line): line is string => Boolean(line));
  const recipient = addressLines(order.shippingAddress ?? order.billingAddress, country, language);
  y =
    Math.max(block(words.seller, seller, PAPER.left, y), block(words.recipient, recipient, mm(108), y)) + 14;

  const head = () => {
    for (const { key, from, to, align } of COLUMNS)
      write(words[key], mm(from), y, { size: 7.5, color: INK.soft, align, width: mm(to - from) });
    y += 13;
    rule(y, { color: INK.strong, weight: 0.8 });
    y += 5;
  };
  head();
  const weights = content.lines.map(kilogramsOf);
  for (const [index, line] of content.lines.entries()) {
    const weight = weights[index];
    const { unit } = line.orderUnit;
    const cells: Record<Column['key'], string> = {
      position: String(index + 1),
      name: [
        anyText(line.name, locale, settings.defaultLocale) ?? '',
        line.variation && anyText(line.variation, locale, settings.defaultLocale),
      ]
        .filter(Boolean)
        .join(', '),
      hsCode: line.hsCode ?? '–',
      origin: line.originCountry ?? '–',
      quantity: `${numbers.format(Number(line.quantity))} ${unitText(Number(line.quantity), unitSign(unit, locale, settings), locale)}`,
      weight: weight !== undefined ? `${numbers.format(weight)} kg` : '–',
      value: money(customsValue(line, content)),
    };
    const rows = COLUMNS.map(({ key, from, to }) => wrapped(cells[key], mm(to - from), CELL).slice(0, 30));
    const height = Math.max(...rows.map((lines) => lines.length)) * lineHeight(CELL);
    const before = y;
    reserve(height + 9);
    if (y < before) head();
    for (const [column, lines] of rows.entries()) {
      const { from, to, align } = COLUMNS[column]!;
      for (const [row, text] of lines.entries())
        write(text, mm(from), y + row * lineHeight(CELL), { ...CELL, align, width: mm(to - from) });
    }
    y += height + 4;
    rule(y);
    y += 5;
    await sheet.pause();
  }

  const goods = sum(content.lines.map((line) => customsValue(line, content)));
  const sums: [string, number, TextStyle][] = [
    [words.goods, goods, CELL],
    [words.charges, content.totalBeforeTax - goods, CELL],
    [documents.proforma.total, content.totalBeforeTax, { size: 11, font: 'bold' }],
  ];
  reserve(70);
  for (const [label, amount, style] of sums) {
    write(label, mm(80), y, { ...style, align: 'right', width: mm(164) - mm(80) - widthOf('0', style) });
    write(money(amount), mm(164), y, { ...style, align: 'right', width: PAPER.right - mm(164) });
    y += lineHeight(style) + 2;
  }
  y += 8;
  const known = weights.filter((weight) => weight !== undefined);
  paragraph(words.totalWeight({ weight: numbers.format(sum(known)) }));
  if (known.length < weights.length) paragraph(words.unknownWeight);
  y += 4;
  paragraph(words.purpose, { color: INK.soft });
  return sheet.finished((page, pages) => {
    write(words.page({ page, pages }), PAPER.left, mm(288), {
      size: 7,
      color: INK.soft,
      align: 'right',
      width: PAPER.right - PAPER.left,
    });
  });
}
