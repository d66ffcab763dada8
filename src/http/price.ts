import { Type, type Static } from 'typebox';
import { formatMoney, toDecimal } from '../kernel/money.ts';

export const TAX_TYPES = ['GROSS', 'NET', 'NONE'] as const;
export type TaxType = (typeof TAX_TYPES)[number];

export const Price = Type.Object(
  {
    taxType: Type.String({
      description: 'Whether the amount contains tax.',
      enum: [...TAX_TYPES],
      examples: ['GROSS'],
    }),
    formatted: Type.String({ description: 'The amount as text with the sign.', examples: ['7.00 €'] }),
    amount: Type.Number({ description: 'The amount; may be negative.', examples: [7] }),
    currency: Type.String({ description: 'ISO 4217 code.', examples: ['EUR'] }),
  },
  { title: 'price' },
);
export type Price = Static<typeof Price>;

/** A price object of an amount in minor units. */
export function priceOf(minor: number, currency: string, taxType: TaxType, locale: string): Price {
  return {
    taxType,
    formatted: formatMoney(minor, currency, locale),
    amount: toDecimal(minor, currency),
    currency,
  };
}
