import { anyText } from '../../catalogue/products/render.ts';
import { unitSign } from '../../catalogue/products/units.ts';
import { formatsOf } from '../../http/formats.ts';
import type { Localised } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { typedText } from '../../orders/line-text.ts';
import { taxesByRate, type Content, type ContentLine, type ContentTax } from '../../pricing/content.ts';
import type { Settings } from '../../shops/settings/settings.ts';

/** One row of an order in a file for bookkeeping. Money in minor units. */
export interface LineRow {
  /** The product number; empty: it is not a product. */
  number: string;
  name: string;
  quantity: string;
  unit: string;
  unitPrice: number | null;
  amount: number;
  /** In basis points; null: it is spread over several rates, or is the tax itself. */
  taxRate: number | null;
}

/** All parts of an order, not only its products: the amounts of the rows add up to its total. */
export function lineRows(
  content: Content,
  settings: Pick<Settings, 'defaultLocale' | 'units'>,
): readonly LineRow[] {
  const locale = settings.defaultLocale;
  const messages = messagesIn(locale).documents;
  const text = (texts: Localised | null | undefined) => anyText(texts ?? undefined, locale, locale);
  const extra = (name: string, amount: number, taxRate: number | null = null): LineRow[] =>
    amount === 0 ? [] : [{ number: '', name, quantity: '', unit: '', unitPrice: null, amount, taxRate }];
  const productRow = (line: ContentLine): LineRow => {
    const more = [
      text(line.variation),
      line.customText && typedText(line.customText, text(line.customTextHeadline), locale),
    ].filter(Boolean);
    return {
      number: line.productNumber,
      name: `${text(line.name) ?? ''}${more.length > 0 ? ` (${more.join(', ')})` : ''}`,
      quantity: line.quantity,
      unit: unitSign(line.orderUnit.unit, locale, settings),
      unitPrice: line.unitPrice,
      amount: line.amount,
      taxRate: line.taxClass.rate,
    };
  };
  const { shipping, payment, coupon } = content;
  const label = (label: string, name: string | null) =>
    name ? messages.labelled({ label, text: name }) : label;
  return [
    ...content.lines.flatMap((line) => [
      productRow(line),
      ...extra(label(messages.deposit, text(line.name)), line.deposit, line.taxClass.rate),
      ...extra(label(messages.ecoParticipation, text(line.name)), line.ecoParticipation, line.taxClass.rate),
    ]),
    ...extra(messages.basketDiscount, content.basketDiscount),
    ...extra(messages.coupon, coupon?.amount ?? 0),
    ...extra(label(messages.shipping, text(shipping?.name)), shipping?.price ?? 0, onlyRate(shipping?.taxes)),
    ...extra(
      label(messages.payment, payment?.method ? text(payment.method.name) : (payment?.name ?? null)),
      payment?.price ?? 0,
      onlyRate(payment?.taxes),
    ),
    // In prices with tax it is included.
    ...(content.taxType === 'NET' ? taxesByRate(content.taxes) : []).flatMap(({ rate, tax }) =>
      extra(messages.tax({ rate: formatsOf(locale).percent.format(rate / 10_000) }), tax),
    ),
  ];
}

const onlyRate = (taxes: readonly ContentTax[] = []) => (taxes.length === 1 ? taxes[0]!.taxClass.rate : null);
