import { formatsOf } from '../../http/formats.ts';
import { moneyText } from '../../http/price-text.ts';
import { taxesByRate, type Content } from '../../pricing/content.ts';
import { untaxedReasons } from '../../pricing/untaxed-text.ts';
import type { ShopVisit } from '../visit.ts';

type TaxedContent = Pick<Content, 'taxes' | 'taxType' | 'currency'>;

/** The taxes of an order by rate, and the reasons why parts of it have none. An order always has one line at least. */
export function taxLines(
  { language, messages }: Pick<ShopVisit, 'language' | 'messages'>,
  { taxes, taxType, currency }: TaxedContent,
): { name: string; amount: string }[] {
  const { addedTax, includedTax } = messages.orders.totals;
  const lineOf = ({ rate, tax }: { rate: number; tax: number }) => {
    const percent = formatsOf(language).percent.format(rate / 10_000);
    return {
      name: taxType === 'NET' ? addedTax({ rate: percent }) : includedTax({ rate: percent }),
      amount: moneyText(tax, currency, language),
    };
  };
  const reasons = untaxedReasons({ taxes, taxType }, language);
  const lines = [
    ...taxesByRate(taxes)
      .filter(({ tax }) => tax !== 0)
      .map(lineOf),
    ...reasons.map((name) => ({ name, amount: moneyText(0, currency, language) })),
  ];
  return lines.length > 0 ? lines : [lineOf({ rate: 0, tax: 0 })];
}
