import { Type } from 'typebox';

const moment = (description: string) => Type.String({ description, examples: ['2026-11-15T08:30:00.000Z'] });

const Sales = Type.Object(
  {
    currency: Type.String({ description: 'ISO 4217 code.', examples: ['EUR'] }),
    totalGrossRevenue: Type.Number({ description: 'With tax.', examples: [46.33] }),
    totalNetRevenue: Type.Number({ description: 'Without tax, not rounded.', examples: [38.9327731092437] }),
    unitsSold: Type.Optional(
      Type.Number({ description: 'Of the product that was asked for; else absent.', examples: [3] }),
    ),
    totalOrders: Type.Integer({ description: 'Number of orders.', examples: [2] }),
  },
  { title: 'sales' },
);

export const SalesSummary = Type.Object(
  {
    createdAfter: moment('Begin of the time that is summed up.'),
    createdBefore: moment('Its end.'),
    salesPerCurrency: Type.Array(Sales, { description: 'One entry per currency.' }),
  },
  { title: 'salesSummary' },
);
