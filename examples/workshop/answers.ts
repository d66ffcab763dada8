import type { LinePriceAnswer, LinePriceQuestion, TaxAnswer, TaxQuestion } from '@kontor/client/app';

/** Minor units for each character of an engraving. */
const PER_CHARACTER = 50;

/** Engraving costs more by the character, on each piece. */
export function linePrices({ currency, lines }: LinePriceQuestion): LinePriceAnswer {
  return {
    currency,
    prices: lines.flatMap(({ lineItemId, price, priceQuantity, customText }) => {
      const characters = (customText ?? '').match(/\S/gu)?.length ?? 0;
      const more = PER_CHARACTER * characters * priceQuantity;
      return characters === 0 ? [] : [{ lineItemId, price: price + more }];
    }),
  };
}

/** The sales tax of some states in basis points, without what counties add, by the first digits of their postal codes. */
const STATES = [
  { name: 'California sales tax', rate: 725, codes: /^9[0-6]/ },
  { name: 'New York sales tax', rate: 400, codes: /^1[0-4]/ },
];

/** Goods for another state, or for another country, are sold without tax. */
const NO_TAX = { name: 'No sales tax', rate: 0 };

/** One tax for everything, by where it goes. */
export function taxes({ destination: { country, zipCode }, lines }: TaxQuestion): TaxAnswer {
  const state = country === 'US' ? STATES.find(({ codes }) => codes.test(zipCode ?? '')) : undefined;
  const { name, rate } = state ?? NO_TAX;
  return {
    taxes: [{ name, rate }],
    lines: lines.map(({ lineItemId }) => ({ lineItemId, tax: 0 })),
    delivery: 0,
    payment: 0,
  };
}
